"""
Prediction intervals without refitting
======================================

Intervals by the jackknife+ need the fit without each training sample. For kernel ridge regression
these follow from one inverse matrix, for forests from the trees that did not draw the sample;
nothing is fitted again. Nine tenths of the new targets should lie in the bands.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.ensemble import RandomForestRegressor
from sklearn_sl.inspection import prediction_interval
from sklearn_sl.kernel_ridge import KernelRidgeCV

rng = np.random.default_rng(0)


def draw(n):
    """Return samples of a wave with noise."""
    x = rng.uniform(0, 6, n)
    return x[:, None], np.sin(2 * x) * np.exp(-x / 4) + 0.15 * rng.normal(size=n)


X, y = draw(120)
X_new, y_new = draw(2_000)
models = {
    "Kernel ridge": KernelRidgeCV(kernel="rbf", gamma=1.0),
    "Random forest": RandomForestRegressor(200, min_samples_leaf=5, random_state=0),
}

# %%
# The forest does not keep its training set, which is therefore passed again. The share in the
# titles is that of 2,000 new targets.

grid = np.linspace(0, 6, 200)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    model.fit(X, y)
    low, high = prediction_interval(model, grid, X_train=X, y_train=y, coverage=0.9).T
    lower, upper = prediction_interval(model, X_new, X_train=X, y_train=y, coverage=0.9).T
    covered = np.mean((lower <= y_new) & (y_new <= upper))
    ax.fill_between(grid[:, 0], low, high, alpha=0.25, label="90 % interval")
    ax.plot(grid[:, 0], model.predict(grid), label="prediction")
    ax.plot(X[:, 0], y, "k.", markersize=4, label="training samples")
    ax.set(title=f"{name} ({covered:.1%} covered)", xlabel="x")
axes[0].set_ylabel("y")
axes[0].legend(loc="lower right", fontsize="small")
plt.show()
