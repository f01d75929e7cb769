"""
The whole path in C
===================

The coefficients of a support vector machine with the hinge loss are piecewise linear in ``C``.
:func:`~sklearn_sl.svm.svm_path` with ``method="exact"`` finds the breakpoints, and with them the
machine of every ``C`` of an interval, at a cost that is that of a few fits.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_sl.kernels import Gaussian
from sklearn_sl.svm import SVC, svm_path


def rings(n, rng):
    """Return noisy samples: one class around the other."""
    X = rng.normal(size=(n, 2))
    radius = np.linalg.norm(X, axis=1) + 0.35 * rng.normal(size=n)
    return X, np.where(radius > 1.1, 1, -1)


rng = np.random.default_rng(2)
X, y = rings(50, rng)
X_test, y_test = rings(5000, rng)
path = svm_path(X, y, [0.02, 20.0], gamma=1.0, method="exact")
print(f"{len(path.breakpoints)} breakpoints, violation {path.exact.kkt_violation.max():.1e}")

# %%
# The solution between the breakpoints is that of a fit.

dual_coef, intercept = path.at(0.7)
model = SVC(C=0.7, gamma=1.0).fit(X, y)
kernel = Gaussian(gamma=1.0)
difference = kernel(X_test, X) @ dual_coef + intercept - model.decision_function(X_test)
print("largest difference to a fit:", np.abs(difference).max())

# %%
# Left, the multipliers: a sample begins at its bound, which is the diagonal, leaves it when it
# reaches the margin, and ends at zero if it gets beyond. Each kink is a breakpoint, a tick on the
# axis. Middle, the two terms of the objective: as ``C`` grows the slack falls and the norm rises,
# never the other way. Right, the errors of the machines of a thousand values of ``C``, none of
# which was fitted.

Cs = np.geomspace(0.02, 20, 1000)
dual_coef, intercept = path.at(Cs)
values = dual_coef @ kernel(X) + intercept[:, None]
norm = np.sum(dual_coef * (dual_coef @ kernel(X)), axis=1)
slack = np.maximum(1 - y * values, 0).sum(axis=1)
test_values = dual_coef @ kernel(X, X_test) + intercept[:, None]
train_error = np.mean(np.where(values > 0, 1, -1) != y, axis=1)
test_error = np.mean(np.where(test_values > 0, 1, -1) != y_test, axis=1)

fig, (coefficients, terms, errors) = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
linear = np.linspace(0.02, 3, 500)
alpha = y * path.at(linear)[0]
coefficients.plot(linear, linear, "k--", linewidth=0.8, label="bound, $\\alpha_i = C$")
for multiplier, sign in zip(alpha.T, y, strict=True):
    coefficients.plot(linear, multiplier, color="C0" if sign > 0 else "C1", linewidth=0.9)
ticks = path.breakpoints[path.breakpoints < 3]
coefficients.plot(ticks, np.full(len(ticks), -0.05), "k|", markersize=5, label="breakpoints")
coefficients.set(xlabel="C", ylabel="multipliers $\\alpha_i$", title="Piecewise linear in C")
coefficients.legend(loc="upper left")

terms.loglog(Cs, norm, label=r"$\|f\|^2 = 1 / \mathrm{margin}^2$")
terms.loglog(Cs, slack, label=r"slack $\sum_i \xi_i$")
terms.set(xlabel="C", title="The two terms of the objective")
terms.legend()

errors.semilogx(Cs, 100 * train_error, label="training set")
errors.semilogx(Cs, 100 * test_error, label="test set")
best = np.argmin(test_error)
errors.plot(Cs[best], 100 * test_error[best], "ko", label=f"least, at C = {Cs[best]:.2g}")
errors.set(xlabel="C", ylabel="errors, %", title="Errors along the path")
errors.legend()
plt.show()
