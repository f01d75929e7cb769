"""
Leave-one-out estimates against the test error
==============================================

How good is a support vector machine on samples it has not seen? Leaving out each sample in turn
is an almost unbiased answer, and one fit contains much of it: a sample that is no support vector
is classified correctly without it, and one that has been misclassified stays so.
:meth:`SVC.loo_error <sklearn_sl.svm.SVC.loo_error>` has four ways to make use of this.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.svm import SVC


def waves(n, rng):
    """Return samples on either side of a wave, with some labels flipped."""
    X = rng.uniform(-2, 2, (n, 2))
    y = np.where(X[:, 1] > np.sin(2 * X[:, 0]), 1, -1)
    return X, np.where(rng.random(n) < 0.08, -y, y)


rng = np.random.default_rng(0)
samples = [waves(100, rng) for _ in range(10)]
X_test, y_test = waves(10_000, rng)

# %%
# ``"exact"`` is the error of the machines that are trained without one of the samples. It costs
# as much as a few fits, since only support vectors have to be left out and most of the machines
# without them are one linear solve away. ``"xi-alpha"`` counts as errors all samples for which one
# fit cannot rule it out, and is an upper bound. So is ``"n_sv"``, the share of the support
# vectors. ``"span"`` takes the states of the other samples for unchanged: no bound, but close.

methods = ["n_sv", "xi-alpha", "span", "exact"]


def errors(X, y, C):
    """Return the four estimates, the test error and the training error of one fit."""
    model = SVC(C=C, gamma=1.0).fit(X, y)
    estimates = [model.loo_error(X, y, method=method) for method in methods]
    return [*estimates, 1 - model.score(X_test, y_test), 1 - model.score(X, y)]


costs = np.geomspace(0.1, 1000, 13)
curves = np.array([[errors(X, y, C) for C in costs] for X, y in samples])
bounds, exact = curves[:, :, :2], curves[:, :, 3]
holds = np.mean(exact[:, :, None] <= bounds, axis=(0, 1))
print(f"exact is below n_sv in {holds[0]:.0%} of the fits, below xi-alpha in {holds[1]:.0%}")

# %%
# The picture has the means over ten training sets; the bands are the ranges of the exact
# leave-one-out error and of the test error. The training error promises more and more as ``C``
# grows. Leave-one-out follows the test error, almost without bias: it is that of machines trained
# on one sample less. A single training set of a hundred samples says so with some noise, as the
# wide band shows, which no way of counting can remove.

n_sv, xi_alpha, span, exact, test, train = curves.mean(axis=0).T
fig, ax = plt.subplots(figsize=(8, 5.2), layout="constrained")
for column, color in [(3, "C0"), (4, "k")]:
    low, high = curves[:, :, column].min(axis=0), curves[:, :, column].max(axis=0)
    ax.fill_between(costs, low, high, color=color, alpha=0.12, linewidth=0)
ax.semilogx(costs, n_sv, color="C4", label="support vectors / samples")
ax.semilogx(costs, xi_alpha, color="C1", label="xi-alpha bound")
ax.semilogx(costs, span, "x", color="C2", markersize=7, label="span estimate")
ax.semilogx(costs, exact, color="C0", linewidth=2, label="exact leave-one-out")
ax.semilogx(costs, test, "k--", linewidth=1.5, label="test error")
ax.semilogx(costs, train, color="0.6", label="training error")
ax.set(xlabel="C", ylabel="error", title="One fit each, and what it says about the next sample")
ax.set_ylim(0, 1)
ax.legend()
plt.show()
