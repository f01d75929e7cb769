"""
The recursive partition
=======================

A tree cuts the plane into rectangles, one split at a time, and is constant in each of them. Grown
to the end it gives every noisy sample a rectangle of its own. Pruned, it keeps the cuts that pay
for themselves.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from sklearn_sl.tree import DecisionTreeClassifierCV

rng = np.random.default_rng(4)


def rooms(n):
    """Return samples of two classes in four rooms of the unit square, with 15 % of noise."""
    X = rng.random((n, 2))
    inside = (X[:, 0] < 0.55) & (X[:, 1] > 0.4) | (X[:, 0] > 0.75) & (X[:, 1] < 0.6)
    return X, np.where(rng.random(n) < 0.15, ~inside, inside).astype(int)


X, y = rooms(300)
X_test, y_test = rooms(10_000)

# %%
# The search grows one tree and chooses how far to prune it by cross-validation; ``prune(0)`` is the
# tree that it began with.

pruned = DecisionTreeClassifierCV(rule="1se", cv=10).fit(X, y)
full = pruned.prune(0.0)

# %%
# To draw a tree is to follow it: a node has a rectangle, its split is a line across, and its
# children have the two halves. The first splits have the thickest lines.

COLOURS = ["#f6c9a8", "#b5d3ec"]
POINTS = ["#c8590a", "#14578f"]


def draw(ax, tree, node=0, low=(0.0, 0.0), high=(1.0, 1.0)):
    """Draw the rectangles of the leaves below a node, and the splits that make them."""
    if tree.children_left[node] < 0:
        colour = COLOURS[tree.value[node, 0].argmax()]
        ax.add_patch(Rectangle(low, *np.subtract(high, low), color=colour, linewidth=0))
        return
    feature, threshold = tree.feature[node], tree.threshold[node]
    upper, lower = np.array(high), np.array(low)
    upper[feature] = lower[feature] = threshold
    draw(ax, tree, tree.children_left[node], low, tuple(upper))
    draw(ax, tree, tree.children_right[node], tuple(lower), high)
    ends = np.transpose([lower, upper])
    ax.plot(*ends, color="0.2", linewidth=max(3.0 - 0.6 * tree.depth[node], 0.6))


fig, axes = plt.subplots(1, 2, figsize=(12, 6.2), sharey=True, layout="constrained")
for ax, model, name in zip(axes, [full, pruned], ["Full tree", "Pruned tree"], strict=True):
    draw(ax, model.tree_)
    for label, colour in enumerate(POINTS):
        ax.scatter(*X[y == label].T, s=14, color=colour, edgecolor="white", linewidth=0.3, zorder=3)
    wrong = 1 - model.score(X, y), 1 - model.score(X_test, y_test)
    ax.set_title(
        f"{name}, {model.get_n_leaves()} leaves\n"
        f"error: training {wrong[0]:.1%}, test {wrong[1]:.1%}"
    )
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="feature 0")
axes[0].set_ylabel("feature 1")
dots = [Line2D([], [], marker="o", linestyle="none", color=colour) for colour in POINTS]
boxes = [Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS]
fig.legend(
    dots + boxes + [Line2D([], [], color="0.2")],
    ["class 0", "class 1", "predicted 0", "predicted 1", "split"],
    loc="outside lower center",
    ncols=5,
)
plt.show()

# %%
# The noise is 15 %, so no tree can have a lower test error but by chance. The full tree repeats the
# noise of its samples, which costs almost as much again.
