"""
Three importances of a feature
==============================

``feature_importances_`` of a forest sums up the impurity that the splits of a feature take away
*from the training set*. A feature with many values can always split something, so it looks
important even if it is pure noise. The out-of-bag permutation importance asks another question:
how much worse are the trees, on samples that they have not seen, if the values of the feature are
shuffled? It needs no held-out samples and no further fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from sklearn_sl.ensemble import RandomForestClassifier

rng = np.random.default_rng(0)
n = 1200
features = {
    "dose (continuous)": rng.normal(size=n),
    "age group (4 values)": rng.integers(4, size=n),
    "smoker (2 values)": rng.integers(2, size=n),
    "noise, 2 values": rng.integers(2, size=n),
    "noise, 20 values": rng.integers(20, size=n),
    "noise, all different": rng.normal(size=n),
}
X = np.column_stack(list(features.values())).astype(float)
log_odds = 1.2 * X[:, 0] + 0.6 * (X[:, 1] - 1.5) + 1.2 * (X[:, 2] - 0.5)
y = (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Of six features three have an effect on the class. The held-out importance, by
# ``sklearn.inspection.permutation_importance`` on as many samples again, is there to compare with.

forest = RandomForestClassifier(n_estimators=200, oob_score=True, random_state=0).fit(X, y)
out_of_bag = forest.oob_permutation_importance(X, y, n_repeats=3, random_state=0)
held_out = permutation_importance(forest, X_test, y_test, n_repeats=10, random_state=0)
print(f"accuracy: out of bag {forest.oob_score_:.2f}, held out {forest.score(X_test, y_test):.2f}")

# %%
# An error bar of the out-of-bag importance is the standard error of its mean over the trees, one of
# the held-out importance the spread of its permutations. The impurity has none.

kinds = {
    "impurity, training set\n(feature_importances_)": (forest.feature_importances_, None),
    "permutation, out of bag\n(increase of a tree's error)": (
        out_of_bag.importances_mean,
        out_of_bag.importances_std / np.sqrt(len(forest)),
    ),
    "permutation, held out\n(decrease of the forest's accuracy)": (
        held_out.importances_mean,
        held_out.importances_std,
    ),
}
fig, axes = plt.subplots(1, 3, figsize=(13, 4.3), sharey=True, layout="constrained")
colours = ["#3f90da"] * 3 + ["#bd1f01"] * 3
for ax, (title, (importance, spread)) in zip(axes, kinds.items(), strict=True):
    ax.barh(list(features), importance, xerr=spread, color=colours, capsize=3)
    ax.axvline(0, color="0.35", linewidth=1)
    ax.set(title=title, xlabel="importance")
axes[0].invert_yaxis()
plt.show()

# %%
# By impurity the two kinds of noise with many values, in red, are ahead of age and smoking, which
# have an effect. Out of bag and held out the three that have an effect come first, and noise is
# about zero; shuffled noise may do better by chance, so that some importances are negative. The two
# permutation importances are in different units: the first is an increase of the error of single
# trees, the second of the forest, which has other trees to rely on.
#
# Two warnings. The trees share one training set, so the error bars out of bag tell how sure the
# mean over trees is, not what another training set would give. And shuffling breaks up what belongs
# together: if two features say the same, each of them looks unimportant by either permutation,
# because the other one is still there.
