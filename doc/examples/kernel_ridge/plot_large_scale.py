"""
How many landmarks are enough?
==============================

``solver="nystrom"`` and ``solver="cg"`` minimise the same objective as the exact solver,
over functions of some random samples, the landmarks. They never hold the Gram matrix. Both
reach the same minimum; the question is how many landmarks it takes to come close to the
exact solution.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.kernel_ridge import KernelRidge

rng = np.random.default_rng(0)


def surface(X):
    """Return a smooth function of the plane with detail at two scales."""
    return np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1]) + 0.3 * np.sin(10 * X.sum(axis=1))


X, X_test = rng.uniform(-1, 1, (3000, 2)), rng.uniform(-1, 1, (2000, 2))
y = surface(X) + 0.2 * rng.standard_normal(len(X))
y_test = surface(X_test)
settings = {"alpha": 0.1, "kernel": "rbf", "gamma": 10.0}


def error(model):
    """Return the root mean squared error against the noiseless function."""
    return np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))


exact = KernelRidge(**settings).fit(X, y)
print(f"exact: error {error(exact):.4f}, degrees of freedom {exact.dof_:.0f}")

# %%
# The degrees of freedom of the exact solution are the yardstick: with fewer landmarks than
# that no function of the landmarks can do the same, with a small multiple the difference
# vanishes. The shaded band is the range over ten random choices of landmarks.

sizes = np.array([10, 20, 40, 60, 80, 120, 160, 240, 320, 480])
errors = np.array(
    [
        [
            error(
                KernelRidge(**settings, solver="nystrom", n_components=m, random_state=seed).fit(
                    X, y
                )
            )
            for seed in range(10)
        ]
        for m in sizes
    ]
)
conjugate = [
    KernelRidge(**settings, solver="cg", n_components=m, random_state=0).fit(X, y)
    for m in sizes[::3]
]
for m, model in zip(sizes[::3], conjugate, strict=True):
    print(f"cg, {m} landmarks: {model.n_iter_} steps, residual {model.residual_norm_:.1e}")

fig, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
ax.fill_between(sizes, errors.min(axis=1), errors.max(axis=1), alpha=0.25)
ax.loglog(sizes, np.median(errors, axis=1), "o-", label='solver="nystrom", median of ten')
ax.loglog(
    sizes[::3], [error(model) for model in conjugate], "kx", markersize=9, label='solver="cg"'
)
ax.axhline(error(exact), color="C3", label="exact solution, n = 3000")
ax.axvline(exact.dof_, color="0.4", linestyle=":", label="degrees of freedom of the exact fit")
ax.set(xlabel="landmarks (n_components)", ylabel="error on the noiseless test function")
ax.set_title("Landmarks against the exact solution")
ax.legend()
plt.show()
