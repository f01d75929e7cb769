"""The class-sensitive support vector machine, slowly: coordinate ascent one sample at a time."""

import numpy as np
from scipy.optimize import minimize


def margins(f, y):
    """Return ``s_ik = 1[k != y_i] + f_ik``."""
    return f + (np.arange(f.shape[1]) != y[:, None])


def losses(f, y):
    """Return the hinge ``max_k s_ik - f_{i,y_i}`` of each sample."""
    return margins(f, y).max(axis=1) - f[np.arange(len(y)), y]


def primal(K, tau, y, price):
    """Return ``1/2 sum_k ||w_k||^2 + sum_i C_i xi_i`` of ``w_k = sum_i tau_ik phi(x_i)``."""
    return np.sum(tau * (K @ tau)) / 2 + price @ losses(K @ tau, y)


def dual(K, tau, y):
    """Return ``sum_i tau_{i,y_i} - 1/2 sum_k tau_k' K tau_k``."""
    return tau[np.arange(len(y)), y].sum() - np.sum(tau * (K @ tau)) / 2


def upper_bounds(y, price, n_classes):
    """Return ``C_i 1[k = y_i]``."""
    return price[:, None] * (np.arange(n_classes) == y[:, None])


def violation(K, tau, y, price):
    """Return the largest ``max_k s_ik - min_(k: tau_ik below its bound) s_ik``."""
    s = margins(K @ tau, y)
    below = tau < upper_bounds(y, price, tau.shape[1])
    return np.max(s.max(axis=1) - np.where(below, s, np.inf).min(axis=1))


def to_simplex(point, mass):
    """Return the nearest point with non-negative entries that sum to ``mass``, by sorting."""
    descending = np.sort(point)[::-1]
    levels = (np.cumsum(descending) - mass) / np.arange(1, len(point) + 1)
    level = levels[np.flatnonzero(descending > levels)[-1]]
    return np.maximum(point - level, 0)


def solve(K, y, price, n_classes, tol=1e-10, max_passes=100_000):
    """Return ``tau`` by cyclic passes, each sample's subproblem solved exactly."""
    upper = upper_bounds(y, price, n_classes)
    tau = np.zeros_like(upper)
    for _ in range(max_passes):
        for i in range(len(y)):
            s = margins(K[[i]] @ tau, y[[i]])[0]
            tau[i] = upper[i] - to_simplex(upper[i] - tau[i] + s / K[i, i], price[i])
        if violation(K, tau, y, price) <= tol:
            return tau
    raise AssertionError("the passes did not suffice")


def solve_by_programming(K, y, price, n_classes):
    """Return ``tau`` by a general-purpose method for constrained problems."""
    n, upper = len(y), upper_bounds(y, price, n_classes)
    result = minimize(
        lambda t: -dual(K, t.reshape(n, -1), y),
        np.zeros(upper.size),
        jac=lambda t: (K @ t.reshape(n, -1) - (np.arange(n_classes) == y[:, None])).ravel(),
        bounds=[(None, bound) for bound in upper.ravel()],
        constraints={
            "type": "eq",
            "fun": lambda t: t.reshape(n, -1).sum(axis=1),
            "jac": lambda t: np.kron(np.eye(n), np.ones(n_classes)),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert result.success, result.message
    return result.x.reshape(n, -1)
