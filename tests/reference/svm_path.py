"""The hinge-loss machine on a handful of samples, by trying all active sets."""

import itertools

import numpy as np

ZERO, MARGIN, FULL = range(3)


def solve(K, y, upper, fit_intercept=True):
    """Return signed dual coefficients that satisfy the optimality conditions.

    Each sample has ``alpha = 0``, ``alpha = upper``, or is at the margin: three to the
    power of the number of samples linear systems. Singular ones may be left out: some
    solution has a regular one.
    """
    for active_set in itertools.product((ZERO, MARGIN, FULL), repeat=len(y)):
        active_set = np.array(active_set)
        beta, low, high = _equations(K, y, upper, active_set, fit_intercept)
        if beta is not None and _is_optimal(K, y, upper, beta, low, high, active_set):
            return beta
    raise AssertionError("no active set is optimal")


def dual_objective(K, y, beta):
    """Return ``sum(alpha) - beta'K beta / 2``."""
    return y @ beta - beta @ K @ beta / 2


def primal_objective(K, y, upper, beta, b):
    """Return ``||f||**2 / 2 + sum_i upper_i max(0, 1 - y_i (f_i + b))``."""
    return beta @ K @ beta / 2 + upper @ np.maximum(0, 1 - y * (K @ beta + b))


def _equations(K, y, upper, active_set, fit_intercept):
    """Return ``beta`` and between which numbers the intercept may be, by the equations alone."""
    free = active_set == MARGIN
    n_free, n_border = free.sum(), int(fit_intercept)
    beta = np.where(active_set == FULL, y * upper, 0.0)
    if not n_free:
        free_intercept = (-np.inf, np.inf) if fit_intercept else (0.0, 0.0)
        return (None if n_border and abs(beta.sum()) > 1e-12 else beta), *free_intercept
    border = np.ones((n_free, n_border))
    system = np.block([[K[np.ix_(free, free)], border], [border.T, np.zeros((n_border,) * 2)]])
    if np.linalg.cond(system) > 1e10:
        return None, 0.0, 0.0
    side = np.append((y - K @ beta)[free], [-beta.sum()] * n_border)
    solution = np.linalg.solve(system, side)
    beta[free] = solution[:n_free]
    b = solution[n_free] if fit_intercept else 0.0
    return beta, b, b


def _is_optimal(K, y, upper, beta, low, high, active_set, tol=1e-10):
    """Return whether the inequalities hold for some intercept between ``low`` and ``high``."""
    alpha, offset = y * beta, y - K @ beta
    not_below = ((active_set == FULL) == (y < 0)) & (active_set != MARGIN)
    not_above = ((active_set == FULL) == (y > 0)) & (active_set != MARGIN)
    low = np.max(offset[not_below], initial=low)
    high = np.min(offset[not_above], initial=high)
    inside = np.all(alpha >= -tol) and np.all(alpha <= upper + tol)
    return bool(inside and low <= high + tol)
