"""The quadratic programs of support vector machines: four losses, one problem."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

# Coefficients this near to zero or to a bound, relative to the largest, are there.
NEAR_BOUND = 1e-12


@dataclass(frozen=True)
class Problem:
    """The dual of a support vector machine, in signed coefficients ``b``.

    Minimise ``1/2 b'(K + diag(ridge)) b - target'b + width ||b||_1`` subject to
    ``lower <= b <= upper``, where ``lower <= 0 <= upper``, and to ``sum(b) = 0`` if the machine
    has an intercept. The machine is ``f(x) = sum_i b_i K(x_i, x) + intercept``.
    """

    target: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    cost: np.ndarray
    width: float = 0.0
    squared: bool = False
    intercept: bool = True

    @property
    def ridge(self):
        """What a squared loss ``cost * slack**2`` adds to the diagonal: ``1 / (2 cost)``."""
        if not self.squared:
            return np.zeros(len(self.target))
        return np.divide(0.5, self.cost, out=np.zeros(len(self.target)), where=self.cost > 0)

    def of(self, rows):
        """Return the problem of some of the samples, or of all in another order."""
        names = ("target", "lower", "upper", "cost")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def free(self, b):
        """Return which coefficients can move both ways without a jump of their slope."""
        return (b > self.lower) & (b < self.upper) & ((b != 0) | (self.width == 0))

    def with_cost(self, factor):
        """Return the problem with a multiple of the cost."""
        if self.squared:
            return replace(self, cost=factor * self.cost)
        bounds = {"lower": factor * self.lower, "upper": factor * self.upper}
        return replace(self, cost=factor * self.cost, **bounds)

    def clipped(self, b):
        """Return coefficients that are within the bounds but for rounding errors, on them if near.

        Where one is moved, the sum is off by as much as it was.
        """
        near = 1 - 1e-12
        b = np.where(b > near * self.upper, self.upper, b)
        return np.where(b < near * self.lower, self.lower, b)

    def settled(self, b, near=NEAR_BOUND, size=0.0):
        """Return coefficients that are at zero or at a bound, not next to it by a rounding error.

        A coefficient next to its bound looks free, and would decide an intercept for which there
        is an interval. The errors are relative to the largest coefficient, or to the ``size`` of
        those that ``b`` was computed from: all may have become zero. A matrix has the coefficients
        of a solution in each row.
        """
        near = near * np.maximum(np.abs(b).max(axis=-1, keepdims=True, initial=0), size)
        return self.moved_to_bounds(b, near)

    def moved_to_bounds(self, b, near):
        """Return coefficients of which those this near to zero or to a bound are there."""
        for end in (self.lower, self.upper, 0.0):
            b = np.where(np.abs(b - end) <= near, end, b)
        return b

    def slopes(self, b, v):
        """Return what a move of each variable up gains, and what a move down costs, per unit."""
        upwards = downwards = v
        if self.width:
            upwards = np.where(b >= 0, v - self.width, v + self.width)
            downwards = np.where(b > 0, v - self.width, v + self.width)
        up = np.where(b < self.upper, upwards, -np.inf)
        down = np.where(b > self.lower, downwards, np.inf)
        return up, down

    def extremes(self, b, v):
        """Return the largest gain of a move up and the least cost of a move down.

        No pair of moves gains anything if the first is at most the second; their difference is
        the violation of the optimality conditions. Without an intercept the variables move
        alone: there is a slope of zero to move against.
        """
        up, down = self.slopes(b, v)
        most, least = up.max(initial=-np.inf), down.min(initial=np.inf)
        return (most, least) if self.intercept else (max(most, 0.0), min(least, 0.0))

    def violation(self, b, v):
        """Return by how much the optimality conditions are violated, zero at the optimum."""
        most, least = self.extremes(b, v)
        return max(most - least, 0.0)

    def best_intercept(self, b, v):
        """Return the intercept: the mean over the free vectors, or the middle of its interval.

        Where no vector is free every number between the two extremes minimises the loss.
        """
        if not self.intercept:
            return 0.0
        free = self.free(b) & (b != 0)
        if free.any():
            return float(np.mean(v[free] - self.width * np.sign(b[free])))
        ends = [end for end in self.extremes(b, v) if np.isfinite(end)]
        return float(np.mean(ends)) if ends else 0.0

    def slack(self, f):
        """Return by how much each sample misses its margin or its tube at the values ``f``."""
        if self.width or np.any((self.lower < 0) & (self.upper > 0)):
            return np.maximum(np.abs(self.target - f) - self.width, 0)
        return np.maximum(1 - self.target * f, 0)

    def losses(self, slack):
        """Return the loss of each sample; with a hard margin the slack is zero up to ``tol``."""
        slack = slack**2 if self.squared else slack
        with np.errstate(invalid="ignore"):
            return np.where((self.cost > 0) & np.isfinite(self.cost), self.cost * slack, 0.0)

    def losses_at(self, f):
        """Return the loss of each sample at the values ``f``."""
        return self.losses(self.slack(f))

    def dual_objective(self, b, v):
        """Return the dual objective, to be maximised."""
        return float(0.5 * b @ (self.target + v) - self.width * np.abs(b).sum())

    def squared_norm(self, b, v):
        """Return ``||f||**2 = b'Kb``."""
        return float(max(b @ (self.target - v - self.ridge * b), 0.0))

    def values(self, b, v, intercept):
        """Return the values ``f(x_i)`` of the machine at the training samples."""
        return self.target - v - self.ridge * b + intercept

    def primal_objective(self, b, v, intercept):
        """Return the primal objective, ``||f||**2 / 2`` and the losses."""
        losses = self.losses_at(self.values(b, v, intercept))
        return 0.5 * self.squared_norm(b, v) + float(losses.sum())


def margin_problem(sign, cost, *, squared=False, intercept=True):
    """Return the problem of a classifier: the hinge loss, or its square.

    ``min ||f||**2 / 2 + sum_i cost_i slack_i`` (or ``slack_i**2``), where ``slack_i = max(0,
    1 - sign_i f(x_i))``. Here ``b_i = sign_i alpha_i``; an infinite cost is a hard margin.
    """
    bound = np.where(cost > 0, np.inf, 0.0) if squared else cost
    return Problem(
        target=sign,
        lower=np.where(sign < 0, -bound, 0.0),
        upper=np.where(sign > 0, bound, 0.0),
        cost=cost,
        squared=squared,
        intercept=intercept,
    )


def tube_problem(y, cost, epsilon, *, squared=False, intercept=True):
    """Return the problem of a regression: the epsilon-insensitive loss, or its square.

    ``min ||f||**2 / 2 + sum_i cost_i slack_i`` (or ``slack_i**2``), where ``slack_i = max(0,
    |y_i - f(x_i)| - epsilon)``. Here ``b_i`` is the difference of the two multipliers.
    """
    bound = np.where(cost > 0, np.inf, 0.0) if squared else cost
    return Problem(
        target=y,
        lower=-bound,
        upper=bound,
        cost=cost,
        width=float(epsilon),
        squared=squared,
        intercept=intercept,
    )


@dataclass
class DualSolution:
    """A solution of a :class:`Problem`, with what certifies it."""

    problem: Problem
    b: np.ndarray
    v: np.ndarray
    n_iter: int
    violation: float
    converged: bool

    @cached_property
    def intercept(self):
        """The intercept of the machine."""
        return self.problem.best_intercept(self.b, self.v)

    @property
    def dual_objective(self):
        """The dual objective."""
        return self.problem.dual_objective(self.b, self.v)

    @property
    def primal_objective(self):
        """The primal objective."""
        return self.problem.primal_objective(self.b, self.v, self.intercept)

    @property
    def squared_norm(self):
        """The squared norm of the machine in the Hilbert space of the kernel."""
        return self.problem.squared_norm(self.b, self.v)

    @property
    def values(self):
        """The values of the machine at the training samples."""
        return self.problem.values(self.b, self.v, self.intercept)


@dataclass
class Solutions:
    """Solutions of several problems, in arrays of one number each, but for the coefficients.

    ``b`` has the coefficients of all of them, one problem after the other.
    """

    b: np.ndarray
    intercept: np.ndarray
    dual_objective: np.ndarray
    primal_objective: np.ndarray
    squared_norm: np.ndarray
    violation: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray

    @classmethod
    def of(cls, solutions):
        """Return what a list of :class:`DualSolution` says."""
        names = [field.name for field in fields(cls)][1:]
        numbers = {name: np.array([getattr(s, name) for s in solutions]) for name in names}
        return cls(b=np.concatenate([s.b for s in solutions]), **numbers)

    def certificates(self):
        """Return the intercepts and what certifies the solutions, by the names of attributes."""
        with np.errstate(divide="ignore"):
            margin = 1 / np.sqrt(self.squared_norm)
        return {
            "intercept_": self.intercept,
            "dual_objective_": self.dual_objective,
            "primal_objective_": self.primal_objective,
            # Weak duality, but for rounding.
            "duality_gap_": np.maximum(self.primal_objective - self.dual_objective, 0),
            "kkt_violation_": self.violation,
            "margin_": margin,
            "n_iter_": np.maximum(self.n_iter, 1).astype(np.int32),
        }
