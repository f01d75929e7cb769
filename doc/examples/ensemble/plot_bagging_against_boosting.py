"""
Bagging against boosting: bias and variance
===========================================

Bagging and boosting both add up trees, for opposite reasons. Bagging averages trees that are each
right in the mean but restless: it takes away variance. Boosting adds up trees that are each too
simple: it takes away bias. :func:`~sklearn_sl.theory.bias_variance` measures both, by fits to many
training sets from a source whose truth is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ForwardStagewiseRegressor,
    RandomForestRegressor,
)
from sklearn_sl.theory import bias_variance
from sklearn_sl.tree import DecisionTreeRegressor

NOISE = 2.0


def truth(X):
    """Return Friedman's function of five features; the other three have no effect."""
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return wave + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def draw(rng):
    """Return a training set of 200 samples."""
    X = rng.uniform(size=(200, 8))
    return X, truth(X) + rng.normal(scale=NOISE, size=len(X))


full, stump = DecisionTreeRegressor(), DecisionTreeRegressor(max_depth=1)
models = {
    "full tree": full,
    "40 full trees, bagged": BaggingRegressor(full, n_estimators=40),
    "random forest of 40": RandomForestRegressor(n_estimators=40, max_features=1 / 3),
    "stump": stump,
    "40 stumps, bagged": BaggingRegressor(stump, n_estimators=40),
    "150 stumps, boosted": ForwardStagewiseRegressor(stump, n_estimators=150, learning_rate=0.2),
    "40 trees of depth 3, AdaBoost.R2": AdaBoostRegressor(n_estimators=40),
}

# %%
# Each model is fitted to 25 training sets, and its predictions at 300 points are compared with the
# truth.

points = np.random.default_rng(1).uniform(size=(300, 8))
parts = {
    name: bias_variance(
        model, draw, points, truth, noise_variance=NOISE**2, n_repeats=25, random_state=0
    )
    for name, model in models.items()
}

# %%
# The parts of the mean squared error add up. A bar ends at the error on new targets; its thin line
# is one standard error to either side.

COLOURS = {"noise": "#d5d9d9", "squared_bias": "#3f90da", "variance": "#ffa90e"}
fig, ax = plt.subplots(figsize=(10.5, 5), layout="constrained")
places = np.array([0.0, 1.0, 2.0, 3.5, 4.5, 5.5, 6.5])
left = np.zeros(len(models))
for part, colour in COLOURS.items():
    width = np.array([found.mean[part] for found in parts.values()])
    ax.barh(places, width, left=left, color=colour, label=part.replace("_", " "))
    for place, start, size in zip(places, left, width, strict=True):
        if part != "noise" and size > 0.6:
            ax.text(start + size / 2, place, f"{size:.1f}", ha="center", va="center")
    left += width
spread = [found.standard_error["total"] for found in parts.values()]
ax.errorbar(left, places, xerr=spread, fmt="none", color="0.2", capsize=3)
ax.set_yticks(places, list(models))
ax.invert_yaxis()
ax.set(xlabel="mean squared error", xlim=(0, 23))
ax.legend(loc="lower right")
plt.show()

# %%
# Bagging leaves the bias of its members about as it is, and takes most of their variance. This
# makes a good model of full trees, and none of stumps, whose error is nearly all bias. The forest,
# whose trees see a random third of the features at a node, has less variance still and more bias,
# which does not pay here. Boosting turns the same stumps into the best model of all, by taking away
# their bias. (It is a kind case: most of the truth is a sum of functions of one feature each, which
# is what stumps add up to.)
