"""Kernel ridge regression by one dense linear system per fit, and leaving out by fitting again."""

import numpy as np


def solve(K, y, alpha, weight=None, fit_intercept=False):
    """Return ``c`` and ``b`` with ``(K + alpha inv(W)) c + b = y`` and ``sum(c) = 0``."""
    n = len(K)
    weight = np.ones(n) if weight is None else np.asarray(weight, float)
    G = K + alpha * np.diag(1 / weight)
    if not fit_intercept:
        return np.linalg.solve(G, y), np.zeros(y.shape[1:])
    border = np.ones((n, 1))
    system = np.block([[G, border], [border.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.concatenate([y, np.zeros((1, *y.shape[1:]))]))
    return solution[:-1], solution[-1]


def objective(K, c, b, y, alpha, weight=None):
    """Return ``sum_i w_i (y_i - (K c)_i - b)**2 + alpha c'Kc`` of one target."""
    weight = np.ones(len(y)) if weight is None else weight
    return np.sum(weight * (y - K @ c - b) ** 2) + alpha * c @ K @ c


def smoother(K, alpha, weight=None, fit_intercept=False):
    """Return the matrix ``H`` with predictions ``H y``, from the predictions of unit vectors."""
    c, b = solve(K, np.eye(len(K)), alpha, weight, fit_intercept)
    return K @ c + b


def left_out(K, y, alpha, train, test, weight=None, fit_intercept=False):
    """Return the predictions at the rows ``test`` of the fit to the rows ``train``."""
    weight = None if weight is None else weight[train]
    c, b = solve(K[np.ix_(train, train)], y[train], alpha, weight, fit_intercept)
    return K[np.ix_(test, train)] @ c + b


def leave_one_out(K, y, alpha, weight=None, fit_intercept=False):
    """Return the prediction for each row of the fit to all others."""
    rows = np.arange(len(K))
    return np.concatenate(
        [left_out(K, y, alpha, rows[rows != i], [i], weight, fit_intercept) for i in rows]
    )
