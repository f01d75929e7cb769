"""Support vector machines by one dense quadratic programme, solved exactly.

Every machine is the minimum of ``1/2 b'(K + R) b - p'b + width |b|_1`` over
``lower <= b <= upper`` and, with an intercept, ``sum(b) = 0``. The signed
coefficients are ``b_i = y_i alpha_i`` in classification and ``alpha_i -
alpha*_i`` in regression; the diagonal ``R`` is that of the squared losses.
"""

from typing import NamedTuple

import numpy as np


class Dual(NamedTuple):
    """The numbers of one quadratic programme."""

    K: np.ndarray
    p: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray
    width: float

    @property
    def matrix(self):
        """Return ``K + R``."""
        return self.K + np.diag(self.ridge)


# ---------------------------------------------------------------- the machines


def classification(K, sign, C, squared=False):
    """Return the dual of ``1/2 ||f||**2 + sum_i C_i xi_i`` (or ``xi_i**2``)."""
    C = np.broadcast_to(np.asarray(C, float), sign.shape)
    bound = np.full(len(sign), np.inf) if squared else C
    lower, upper = np.where(sign > 0, 0.0, -bound), np.where(sign > 0, bound, 0.0)
    return Dual(K, sign.astype(float), lower, upper, _ridge(C, squared), 0.0)


def regression(K, y, C, epsilon, squared=False):
    """Return the dual of ``1/2 ||f||**2 + sum_i C_i max(0, |y_i - f_i| - epsilon)`` or squared."""
    C = np.broadcast_to(np.asarray(C, float), y.shape)
    bound = np.full(len(y), np.inf) if squared else C
    return Dual(K, y.astype(float), -bound, bound, _ridge(C, squared), float(epsilon))


def _ridge(C, squared):
    return 1 / (2 * C) if squared else np.zeros(len(C))


def hinge(f, sign):
    """Return the slack of each sample of a classifier."""
    return np.maximum(0.0, 1.0 - sign * f)


def epsilon_insensitive(f, y, epsilon):
    """Return the slack of each sample of a regression."""
    return np.maximum(0.0, np.abs(y - f) - epsilon)


def primal_objective(K, beta, slack, C, squared=False):
    """Return ``1/2 b'Kb + sum_i C_i xi_i`` (or ``xi_i**2``); no slack costs nothing at all."""
    paid = slack > 0
    cost = np.broadcast_to(C, slack.shape)[paid] * slack[paid] ** (2 if squared else 1)
    return 0.5 * beta @ K @ beta + cost.sum()


def dual_objective(dual, beta):
    """Return ``p'b - width |b|_1 - 1/2 b'(K + R) b``, at most the primal objective."""
    linear = dual.p @ beta - dual.width * np.abs(beta).sum()
    return linear - 0.5 * beta @ dual.matrix @ beta


# ---------------------------------------------------------------- optimality


def slopes(dual, beta):
    """Return the derivative of the dual objective when a coefficient grows, and when it shrinks.

    The second is again the derivative by the coefficient, but from below. Where
    the box forbids the move they are minus and plus infinity.
    """
    gradient = dual.p - dual.matrix @ beta
    growing = gradient - np.where(beta >= 0, dual.width, -dual.width)
    shrinking = gradient - np.where(beta > 0, dual.width, -dual.width)
    growing = np.where(beta < dual.upper, growing, -np.inf)
    shrinking = np.where(beta > dual.lower, shrinking, np.inf)
    return growing, shrinking


def kkt_violation(dual, beta, fit_intercept=True):
    """Return how steeply the objective still climbs when one coefficient grows and one shrinks.

    Without an intercept either may stay where it is.
    """
    growing, shrinking = slopes(dual, beta)
    most, least = growing.max(), shrinking.min()
    if not fit_intercept:
        most, least = max(most, 0.0), min(least, 0.0)
    return max(0.0, most - least)


def intercepts(dual, beta):
    """Return the lowest and the highest intercept that the conditions of optimality allow.

    Both are the same number where a coefficient is strictly inside its box.
    """
    growing, shrinking = slopes(dual, beta)
    return growing.max(), shrinking.min()


def best_intercept(loss, kinks):
    """Return the minimum over ``b`` of a piecewise linear ``loss(b)``, tried at all its kinks."""
    return min(loss(b) for b in kinks)


# ---------------------------------------------------------------- the solver


def solve(dual, fit_intercept=True):
    """Return the coefficients and the intercept, the middle one where there are many."""
    beta = np.zeros(len(dual.p))
    used = np.flatnonzero(dual.lower < dual.upper)
    part = Dual(dual.K[np.ix_(used, used)], *(v[used] for v in dual[1:5]), dual.width)
    beta[used] = (
        _split_solve(part, fit_intercept) if dual.width else _plain_solve(part, fit_intercept)
    )
    if not fit_intercept:
        return beta, 0.0
    return beta, float(np.mean(intercepts(part, beta[used])))


def _plain_solve(dual, fit_intercept):
    normal = np.ones(len(dual.p)) if fit_intercept else None
    return minimise(dual.matrix, -dual.p, dual.lower, dual.upper, normal)


def _split_solve(dual, fit_intercept):
    """Write ``b = u - v`` with ``u, v >= 0``, so that ``|b|_1`` becomes ``sum(u + v)``."""
    n, Q = len(dual.p), dual.matrix
    normal = np.concatenate([np.ones(n), -np.ones(n)]) if fit_intercept else None
    parts = minimise(
        np.block([[Q, -Q], [-Q, Q]]),
        np.concatenate([dual.width - dual.p, dual.width + dual.p]),
        np.zeros(2 * n),
        np.concatenate([dual.upper, -dual.lower]),
        normal,
    )
    return parts[:n] - parts[n:]


def minimise(Q, c, lower, upper, normal=None):
    """Return the minimum of ``1/2 z'Qz + c'z`` over ``lower <= z <= upper``, ``normal'z = 0``.

    An interior-point method finds which bounds hold; the others then solve a
    linear system. Each variable has a finite bound at least on one side, or ``Q``
    is positive definite in it.
    """
    normal = np.zeros((0, len(c))) if normal is None else normal[None, :]
    z, low, high = _interior_point(Q, c, lower, upper, normal)
    at_lower, at_upper = z - lower < low, upper - z < high
    return _with_bounds(Q, c, normal, z, lower, upper, at_lower, at_upper)


def _interior_point(Q, c, lower, upper, normal, n_steps=100):
    """Follow the central path; return the point and the multipliers of its bounds."""
    m = len(normal)
    has_low, has_high = np.isfinite(lower), np.isfinite(upper)
    z = _strictly_inside(lower, upper)
    scale = 1.0 + np.abs(c).max()
    low, high, y = scale * has_low, scale * has_high, np.zeros(m)
    n_bounds = has_low.sum() + has_high.sum()
    for _ in range(n_steps):
        gap_low = np.where(has_low, z - lower, 1.0)
        gap_high = np.where(has_high, upper - z, 1.0)
        mu = (low @ gap_low + high @ gap_high) / max(n_bounds, 1)
        stationarity = Q @ z + c - normal.T @ y - low + high
        balance = normal @ z
        if mu < 1e-13 * scale:
            break
        target = 0.1 * mu
        system = np.block(
            [[Q + np.diag(low / gap_low + high / gap_high), -normal.T], [normal, np.zeros((m, m))]]
        )
        push = np.where(has_low, target / gap_low - low, 0) - np.where(
            has_high, target / gap_high - high, 0
        )
        step = np.linalg.solve(system, np.concatenate([push - stationarity, -balance]))
        dz, dy = step[: len(c)], step[len(c) :]
        d_low = np.where(has_low, target / gap_low - low - low / gap_low * dz, 0)
        d_high = np.where(has_high, target / gap_high - high + high / gap_high * dz, 0)
        length = min(
            _longest(gap_low[has_low], dz[has_low]),
            _longest(gap_high[has_high], -dz[has_high]),
            _longest(low[has_low], d_low[has_low]),
            _longest(high[has_high], d_high[has_high]),
        )
        z, y = z + length * dz, y + length * dy
        low, high = low + length * d_low, high + length * d_high
    return z, low, high


def _strictly_inside(lower, upper):
    """Return a point inside the box, a step of one from a bound whose partner is infinite."""
    start = np.zeros(len(lower))
    both = np.isfinite(lower) & np.isfinite(upper)
    start[both] = (lower[both] + upper[both]) / 2
    only_low, only_high = np.isfinite(lower) & ~both, np.isfinite(upper) & ~both
    start[only_low], start[only_high] = lower[only_low] + 1.0, upper[only_high] - 1.0
    return start


def _longest(values, change):
    """Return the step, at most one, that keeps positive values positive."""
    falling = change < 0
    return min(1.0, 0.99 * np.min(-values[falling] / change[falling], initial=np.inf))


def _with_bounds(Q, c, normal, z, lower, upper, at_lower, at_upper):
    """Put the variables on their bounds and solve for the others; keep ``z`` where that fails."""
    exact = np.where(at_lower, lower, np.where(at_upper, upper, z))
    free = ~(at_lower | at_upper)
    if free.any():
        k, m = free.sum(), len(normal)
        system = np.block(
            [[Q[np.ix_(free, free)], -normal[:, free].T], [normal[:, free], np.zeros((m, m))]]
        )
        right = np.concatenate(
            [-c[free] - Q[np.ix_(free, ~free)] @ exact[~free], -normal[:, ~free] @ exact[~free]]
        )
        # The smallest correction: where Q is singular, the answer stays close to z.
        start = np.concatenate([z[free], np.zeros(m)])
        correction = np.linalg.lstsq(system, right - system @ start, rcond=None)[0]
        exact[free] = (start + correction)[:k]
    inside = (exact >= lower).all() and (exact <= upper).all()
    balanced = np.abs(normal @ exact).sum() <= 1e-9 * (1 + np.abs(exact).max())
    return exact if inside and balanced else np.clip(z, lower, upper)
