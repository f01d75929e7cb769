"""
How many trees?
===============

A tree of a forest has not seen a third of the samples. Judged by these, the forest tests itself,
at no further cost: ``oob_curve_`` has the out-of-bag error of the first tree, of the first two, and
so on. It tells when more trees stop to help, and ``truncate`` keeps as many as are needed, without
fitting anything again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split

from sklearn_sl.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_sl.inspection import OutOfBagDisplay

forests = {
    "Digits, classification": (
        RandomForestClassifier(n_estimators=300, oob_score=True, random_state=0),
        load_digits(return_X_y=True),
    ),
    "Diabetes, regression": (
        RandomForestRegressor(n_estimators=300, max_features=1 / 3, oob_score=True, random_state=0),
        load_diabetes(return_X_y=True),
    ),
}


def test_curve(forest, X, y):
    """Return the errors of the first trees on a test set, for each number of them."""
    if hasattr(forest, "classes_"):
        shares = np.cumsum([tree.predict_proba(X) for tree in forest], axis=0)
        return np.mean(forest.classes_[shares.argmax(axis=2)] != y, axis=1)
    sums = np.cumsum([tree.predict(X) for tree in forest], axis=0)
    means = sums / np.arange(1, len(forest) + 1)[:, None]
    return np.mean((means - y) ** 2, axis=1)


# %%
# :class:`~sklearn_sl.inspection.OutOfBagDisplay` draws the curve. The band is one standard error to
# either side. ``choose_n_estimators(rule="1se")`` takes the smallest forest whose error is at most
# one standard error above the least, the circle. The error on a test set, which the forest has not
# used, is there to compare with.

fig, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
for ax, (title, (forest, (X, y))) in zip(axes, forests.items(), strict=True):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    display = OutOfBagDisplay.from_estimator(forest.fit(X_train, y_train), ax=ax)
    ax.plot(
        display.n_estimators,
        test_curve(forest, X_test, y_test),
        color="#e76300",
        linestyle="dashed",
        label="test set",
    )
    ax.set(title=title, xlabel="trees", ylabel=display.loss_name, ylim=(0, None))
    ax.legend(loc="upper right")
    scores = [model.score(X_test, y_test) for model in (forest.truncate(display.chosen), forest)]
    print(f"{title}: test score of {display.chosen} trees {scores[0]:.3f}, of 300 {scores[1]:.3f}")
plt.show()

# %%
# At the beginning the out-of-bag error is far above that on the test set. It is not wrong, but the
# error of smaller forests: of ten trees, a sample is judged by the three or four that have not seen
# it. With a hundred trees this no longer matters, and the two agree.
#
# The rule of one standard error gives away some accuracy on purpose: a standard error of a few
# hundred samples is large, as the regression shows. It is a choice for small and fast models; if
# only the error counts, keep all trees, since more of them do no harm.
