"""
Small trees against full trees
==============================

Is a pruned tree better, or only smaller? Five data sets are split into a training and a test set,
twenty times. On each training set a tree is grown to the end, and pruned twice: to the least
cross-validated error, and by the rule of one standard error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.model_selection import ShuffleSplit

from sklearn_sl.tree import DecisionTreeClassifierCV, DecisionTreeRegressorCV

noisy = make_classification(600, 8, n_informative=3, flip_y=0.4, class_sep=1.5, random_state=1)
problems = {
    "iris": (DecisionTreeClassifierCV, *load_iris(return_X_y=True)),
    "wine": (DecisionTreeClassifierCV, *load_wine(return_X_y=True)),
    "breast cancer": (DecisionTreeClassifierCV, *load_breast_cancer(return_X_y=True)),
    "noisy labels": (DecisionTreeClassifierCV, *noisy),
    "diabetes": (DecisionTreeRegressorCV, *load_diabetes(return_X_y=True)),
}

# %%
# All three come from one search: ``prune(0)`` is the tree that it began with, and the table says
# which tree is the smallest within one standard error of the best. (``rule="1se"`` does the same.)


def small_tree(search):
    """Return the smallest tree whose error is within one standard error of the least."""
    table = search.cp_table_  # the smallest tree first
    least = table[np.argmin(table["xerror"])]
    good = table["xerror"] <= least["xerror"] + least["xstd"]
    return search.prune(n_leaves=int(table["n_splits"][good][0]) + 1)


def compare(Search, X, y):
    """Return the test scores and the leaves of full, best and small tree for twenty splits."""
    scores, leaves = [], []
    for train, test in ShuffleSplit(20, test_size=0.3, random_state=0).split(X):
        search = Search(cv=10).fit(X[train], y[train])
        trees = [search.prune(0.0), search, small_tree(search)]
        scores.append([tree.score(X[test], y[test]) for tree in trees])
        leaves.append([tree.get_n_leaves() for tree in trees])
    return np.array(scores), np.array(leaves)


results = {name: compare(*problem) for name, problem in problems.items()}
for name, (scores, leaves) in results.items():
    mean = "  ".join(f"{1 - score:.3f}" for score in scores.mean(axis=0))
    print(f"{name:14} mean errors {mean}, leaves {np.median(leaves, axis=0).astype(int)}")

# %%
# The error is the misclassification rate, for the diabetes the mean squared error relative to the
# variance; in the picture it is divided by the mean error of the full tree. Where classes are
# clear, as with the flowers, the wines and the tumours, the trees are about as good as each other,
# and the small ones have a fraction of the leaves. Few samples let the rules prune too much: the
# wines pay for it. Where there is noise, the full tree has learned it, and pruning takes a third of
# the error away; of the diabetes the full tree knew less than the mean does, with an error above
# one. Between the two rules the errors decide for ``"min"``, if only by a little, and the sizes for
# ``"1se"``.

NAMES = ["full tree", 'pruned, rule="min"', 'pruned, rule="1se"']
COLOURS = ["0.7", "#3f90da", "#c79adf"]
fig, (errors, sizes) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
for k, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True)):
    box = {
        "positions": np.arange(len(results)) + 0.26 * (k - 1),
        "widths": 0.2,
        "patch_artist": True,
        "manage_ticks": False,
        "boxprops": {"facecolor": colour, "linewidth": 0.8},
        "medianprops": {"color": "black"},
        "flierprops": {"marker": ".", "markersize": 4},
        "label": name,
    }
    ratios = [(1 - scores[:, k]) / (1 - scores[:, 0]).mean() for scores, _ in results.values()]
    errors.boxplot(ratios, **box)
    sizes.boxplot([leaves[:, k] for _, leaves in results.values()], **box)
for ax in (errors, sizes):
    ax.set_xticks(range(len(results)), list(results))
errors.axhline(1, color="0.4", linestyle=":", linewidth=1, zorder=0)
errors.set(title="Test errors of 20 splits", ylabel="error / mean error of the full tree")
errors.set_ylim(0, None)
errors.legend(loc="upper right")
sizes.set(title="Sizes", ylabel="leaves", yscale="log")
sizes.set_yticks([2, 5, 10, 20, 50, 100, 200, 500], [2, 5, 10, 20, 50, 100, 200, 500])
sizes.minorticks_off()
plt.show()
