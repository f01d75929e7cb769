"""
The pruning path
================

One tree contains many: its subtrees of weakest-link pruning, of which each is the best for some
price of a leaf. :class:`~sklearn_sl.tree.DecisionTreeClassifierCV` scores all of them by
cross-validation, and :class:`~sklearn_sl.inspection.PruningPathDisplay` shows the scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold

from sklearn_sl.inspection import PruningPathDisplay
from sklearn_sl.tree import DecisionTreeClassifierCV, DecisionTreeRegressorCV

searches = {
    "Breast cancer, classification": (
        DecisionTreeClassifierCV(cv=StratifiedKFold(10, shuffle=True, random_state=0)),
        load_breast_cancer(return_X_y=True),
    ),
    "Diabetes, regression": (
        DecisionTreeRegressorCV(cv=KFold(10, shuffle=True, random_state=0)),
        load_diabetes(return_X_y=True),
    ),
}

# %%
# The training error falls with every leaf. The cross-validated error falls, is flat for a while,
# and rises. ``rule="min"`` takes the least of it, the circle. ``rule="1se"`` takes the smallest
# tree below the dotted line, one standard error above the least, the square: here a tree about as
# good, and easier to read.

fig, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
for ax, (title, (search, (X, y))) in zip(axes, searches.items(), strict=True):
    best = search.fit(X, y)
    display = PruningPathDisplay.from_estimator(best, ax=ax)
    display.chosen_line_.set_label(f'rule="min": {best.get_n_leaves()} leaves')
    small = search.set_params(rule="1se").fit(X, y).get_n_leaves()
    here = np.flatnonzero(display.n_leaves == small)
    ax.plot(
        small,
        display.error[here],
        "s",
        color="#832db6",
        markersize=10,
        markerfacecolor="none",
        label=f'rule="1se": {small} leaves',
    )
    ax.set(title=title, ylim=(0, 1.5))
    ax.legend(loc="best", fontsize="small")
plt.show()

# %%
# The numbers of the picture are in ``cp_table_``, the table of R's rpart.

print("complexity  splits  training  cross-validated")
for row in best.cp_table_[:6]:
    print("{:10.4f}  {:6d}  {:8.3f}  {:7.3f} ± {:.3f}".format(*row))
