"""
The whole surface of leave-one-out errors
=========================================

One eigendecomposition per kernel gives the exact leave-one-out error of every penalty, so
:class:`~sklearn_sl.kernel_ridge.KernelRidgeCV` can look at a fine grid where a search that
refits would look at a coarse one, and the model it chooses needs no further fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.kernel_ridge import KernelRidge, KernelRidgeCV


def wave(x):
    """Return a wave with kinks: no single width of the kernel suits all of it."""
    return np.abs(np.sin(9 * x))


rng = np.random.default_rng(0)
X = rng.uniform(0, 1, (120, 1))
y = wave(X[:, 0]) + 0.2 * rng.standard_normal(120)
alphas, gammas = np.logspace(-4, 2, 49), np.logspace(0, 4, 41)

model = KernelRidgeCV(alphas, kernel="rbf", kernel_grid={"gamma": gammas}).fit(X, y)
gamma = model.best_kernel_params_["gamma"]
errors = -model.score_path_
print(f"{errors.size} models, the best: alpha={model.alpha_:.3g}, gamma={gamma:.3g}")
print(f"leave-one-out error {-model.best_score_:.4f}, degrees of freedom {model.dof_:.1f}")

# %%
# The formula is exact: refitting without each of the samples gives the same predictions.

refitted = [
    KernelRidge(model.alpha_, kernel="rbf", gamma=gamma)
    .fit(np.delete(X, i, axis=0), np.delete(y, i))
    .predict(X[[i]])[0]
    for i in range(len(y))
]
print("largest difference to refitting:", np.abs(refitted - model.loo_predictions_).max())

# %%
# Left, the surface, with the choice. Middle, the cut through it at the chosen width: the
# error on the training set falls with the penalty for ever, the left-out one does not.
# Right, the chosen model.

at_gamma = list(gammas).index(gamma)
train = [
    np.mean((y - KernelRidge(a, kernel="rbf", gamma=gamma).fit(X, y).predict(X)) ** 2)
    for a in alphas
]
fig, (surface, cut, fitted) = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
picture = surface.pcolormesh(alphas, gammas, errors, norm="log", cmap="viridis_r")
surface.plot(model.alpha_, gamma, "r*", markersize=14, label="chosen")
surface.set(xscale="log", yscale="log", xlabel="alpha", ylabel="gamma")
surface.set_title("Leave-one-out error")
surface.legend(loc="lower right")
fig.colorbar(picture, ax=surface, label="mean squared error")

cut.loglog(alphas, train, label="training set")
cut.loglog(alphas, errors[at_gamma], label="leave-one-out")
cut.axvline(model.alpha_, color="r", linestyle=":", label="chosen")
cut.set(xlabel="alpha", ylabel="mean squared error", title=f"At gamma = {gamma:.3g}")
cut.legend()

grid = np.linspace(0, 1, 300)[:, None]
fitted.plot(X[:, 0], y, ".", color="0.6", label="data")
fitted.plot(grid[:, 0], wave(grid[:, 0]), "k--", linewidth=1, label="truth")
fitted.plot(grid[:, 0], model.predict(grid), "r", label="chosen model")
fitted.set(xlabel="x", ylabel="y", title="The chosen model")
fitted.legend(loc="lower left")
plt.show()
