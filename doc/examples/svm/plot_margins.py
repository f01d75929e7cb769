"""
Margins and support vectors
===========================

A support vector machine trades the width of its margin for the samples that fall short of it.
The price of falling short is ``C``: a small one buys a wide margin that many samples violate, a
large one a narrow margin that follows the samples. Only the support vectors, the marked samples,
have a say in where the boundary is.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.inspection import SupportVectorDisplay
from sklearn_sl.svm import SVC

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 30)
X = rng.normal(size=(60, 2)) + 1.15 * y[:, None] * [1.0, 0.5]

# %%
# Circles are support vectors on the margin, squares those that are short of it. Between the
# dashed lines, ``f = -1`` and ``f = 1``, the value of the machine is less than one in size; for the
# linear kernel the distance from the solid line to a dashed one is ``margin_``. The classes
# overlap, so no line separates them, and the margin of a large ``C`` only weighs the slack of one
# sample against that of another. The Gaussian kernel can separate them, and does so in the end, by
# winding its boundary around single samples.

costs = [0.02, 0.5, 50.0]
fig, rows = plt.subplots(2, 3, figsize=(13, 8.4), sharex=True, sharey=True, layout="constrained")
for axes, kernel in zip(rows, [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}], strict=True):
    for ax, C in zip(axes, costs, strict=True):
        model = SVC(C=C, **kernel).fit(X, y)
        first = ax is rows[0, 0]
        SupportVectorDisplay.from_estimator(model, X, y, ax=ax, eps=0.05, legend=first)
        ax.set_title(
            f"{kernel['kernel']}, C = {C:g}: margin {model.margin_[0]:.2f}, "
            f"{len(model.support_)} support vectors",
            fontsize="medium",
        )
        ax.label_outer()
        print(f"{kernel['kernel']:6} C={C:<5g} duality gap {model.duality_gap_[0]:.1e}")
plt.show()

# %%
# Without overlap the margin can be hard. ``C=np.inf`` asks for it, and the answer is the
# perpendicular bisector of the shortest segment between the convex hulls of the two classes,
# whose length is twice the margin. The end points of that segment are the averages of the
# support vectors of either class, weighted by their coefficients.

apart = X + 1.2 * y[:, None] * [1.0, 0.2]
hard = SVC(C=np.inf, kernel="linear").fit(apart, y)
weight = np.zeros(len(y))
weight[hard.support_] = hard.dual_coef_[0] / hard.dual_coef_[0][hard.dual_coef_[0] > 0].sum()
ends = np.array([-np.minimum(weight, 0) @ apart, np.maximum(weight, 0) @ apart])
print("length of the segment:", np.linalg.norm(ends[1] - ends[0]))
print("twice the margin:     ", 2 * hard.margin_[0])

_, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
SupportVectorDisplay.from_estimator(hard, apart, y, ax=ax, eps=0.05)
ax.plot(*ends.T, "k-", linewidth=2.5, label="shortest segment between the hulls")
ax.set(title="The optimal separating hyperplane", aspect="equal")
ax.legend(loc="lower right", fontsize="x-small")
plt.show()
