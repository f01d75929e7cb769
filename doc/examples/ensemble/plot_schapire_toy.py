"""
Three rounds of AdaBoost
========================

Ten points in the plane, which no vertical or horizontal line separates. AdaBoost asks for the best
line three times. In between it gives more weight to the points that were wrong, so that the next
line has to care for them; the vote of the three has no error left. This is the example by which
Robert Schapire explains boosting.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from sklearn_sl.ensemble import AdaBoostClassifier, DecisionStump

X = np.array([[1, 5], [2, 3], [3, 2], [4, 6], [4, 7], [5, 9], [6, 5], [6, 7], [8, 5], [8, 8]])
y = np.array([1, 1, -1, -1, 1, 1, -1, 1, -1, -1])

model = AdaBoostClassifier(DecisionStump(), n_estimators=3).fit(X, y)

# %%
# The weights are not kept by the model, but they follow from the votes: after ``t`` rounds the
# weight of a point is proportional to ``exp(-y f(x))``, where ``f`` is the sum of the members so
# far, each multiplied by its ``alpha``. ``estimator_weights_`` has twice these ``alpha``, as in
# scikit-learn.

alphas = model.estimator_weights_ / 2
answers = np.array([stump.predict(X) for stump in model.estimators_])
f = np.cumsum(alphas[:, None] * answers, axis=0)
weights = np.exp(-y * np.vstack([np.zeros(len(y)), f]))
weights /= weights.sum(axis=1, keepdims=True)

# %%
# The area of a point is its weight. Orange ones are of the class -1, blue ones of the class +1, and
# the background is what is predicted there. Points that the line of a round gets wrong are circled:
# they are the large ones of the next picture.

COLOURS, POINTS = {-1: "#f6c9a8", 1: "#b5d3ec"}, {-1: "#c8590a", 1: "#14578f"}
MARKS = {-1: "s", 1: "o"}


def draw_points(ax, weight, wrong):
    """Draw the samples, their areas proportional to the weights, and circles around some."""
    for label, colour in POINTS.items():
        mine = y == label
        ax.scatter(*X[mine].T, s=2600 * weight[mine], color=colour, marker=MARKS[label], zorder=3)
    size = 3600 * weight[wrong] + 140
    ax.scatter(*X[wrong].T, s=size, facecolor="none", edgecolor="0.1", linewidth=1.4, zorder=4)
    ax.set(xlim=(0, 9.5), ylim=(0.5, 10), aspect="equal", xticks=[], yticks=[])


fig, axes = plt.subplots(1, 4, figsize=(15, 4.7), layout="constrained")
for t, stump in enumerate(model.estimators_):
    ax = axes[t]
    across = stump.feature_ == 0
    for label, (low, high) in zip(
        (stump.left_class_, stump.right_class_),
        ((-20, stump.threshold_), (stump.threshold_, 20)),
        strict=True,
    ):
        corner, width, height = (
            ((low, -20), high - low, 40) if across else ((-20, low), 40, high - low)
        )
        ax.add_patch(Rectangle(corner, width, height, color=COLOURS[int(label)], linewidth=0))
    line = ax.axvline if across else ax.axhline
    line(stump.threshold_, color="0.2", linewidth=2)
    draw_points(ax, weights[t], answers[t] != y)
    ax.set_title(
        f"Round {t + 1}\n$\\varepsilon$ = {model.estimator_errors_[t]:.3f},  "
        f"$\\alpha$ = {alphas[t]:.3f}"
    )

across, up = np.meshgrid(np.linspace(0, 9.5, 400), np.linspace(0.5, 10, 400))
predicted = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
axes[3].contourf(across, up, predicted, levels=[-2, 0, 2], colors=[COLOURS[-1], COLOURS[1]])
for stump in model.estimators_:
    line = axes[3].axvline if stump.feature_ == 0 else axes[3].axhline
    line(stump.threshold_, color="0.2", linewidth=0.8, linestyle="dotted")
axes[3].contour(across, up, predicted, levels=[0], colors="0.2", linewidths=2)
draw_points(axes[3], weights[0], f[-1] * y <= 0)
axes[3].set_title(f"The vote\ntraining error {model.training_errors_[-1]:.0%}")
handles = [
    Line2D([], [], linestyle="none", marker=MARKS[label], color=POINTS[label], markersize=9)
    for label in (-1, 1)
]
circle = Line2D([], [], linestyle="none", marker="o", color="0.1", fillstyle="none", markersize=12)
fig.legend(
    [*handles, circle, Line2D([], [], color="0.2", linewidth=2)],
    ["class -1", "class +1", "wrong in this round", "boundary"],
    loc="outside lower center",
    ncols=4,
)
plt.show()

# %%
# The numbers are fractions: the errors are 3/10, 3/14 and 3/22. After a round the points that were
# wrong have half of the weight together, so that the same member again would be no better than a
# coin.

for t in range(3):
    before, after = weights[t : t + 2, answers[t] != y].sum(axis=1)
    print(f"round {t + 1}: wrong with the weight {before:.3f}, which becomes {after:.3f}")
