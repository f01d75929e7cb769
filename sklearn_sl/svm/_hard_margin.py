"""Hard margins: an infinite cost, as the limit that a finite one reaches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_sl.svm._solver import solve

# Bounds tried, in units of the inverse of the largest kernel value.
BOUNDS = 10.0 ** np.arange(0, 17, 2)
# Hulls that come this near, relative to the size of the samples, are said to touch.
TOUCHING = 1e-6


class NotSeparableError(ValueError):
    """The classes cannot be separated: a hard margin does not exist.

    Parameters
    ----------
    distance : float
        How near the convex hulls of the two classes come to each other in feature space, at the
        two points given by ``weights``; zero but for rounding.

    weights : ndarray of shape (n_samples,)
        The certificate: convex weights of the samples of either class, those of the second of
        the two classes with a minus sign, zero for all others.

    Attributes
    ----------
    distance, weights
        The same.

    Examples
    --------
    The first and the last point lie on both sides of the second, which is of the other class:

    >>> import numpy as np
    >>> from sklearn_sl.svm import SVC, NotSeparableError
    >>> try:
    ...     SVC(C=np.inf, kernel="linear").fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    ... except NotSeparableError as error:
    ...     print(error.weights.round(3))
    [ 0.5 -1.   0.5]
    """

    distance: Any
    weights: Any

    def __init__(self, distance: float, weights: np.ndarray) -> None:
        super().__init__(
            "C=inf requires classes that are separable by the kernel, but their convex "
            f"hulls come within {distance:.1e} of each other (the error's `weights` are the "
            "points where they do). Choose a finite C, or another kernel."
        )
        self.distance = distance
        self.weights = weights

    def among(self, rows: Any, n: Any) -> Any:
        """Return the same error for the samples ``rows`` of ``n``."""
        weights = np.zeros(n)
        weights[rows] = self.weights
        return NotSeparableError(self.distance, weights)


def solve_hard_margin(problem, gram, *, among=None, **options):
    """Solve a problem with infinite bounds, or raise if it has no solution.

    The error is about samples ``among`` others: their rows, and the number of all.

    A finite bound that no coefficient reaches might as well be infinite. As long as one is
    reached, the norm over the sum of the coefficients of one class is the distance of two points,
    one of either convex hull: once it vanishes, the classes are not separable. (Without an
    intercept it is the distance from the origin to the hull of the samples times their signs.)
    """
    size = kernel_size(gram)
    for solution, inside in growing(problem, gram, 1 / size, **options):
        if inside:
            return solution
        total = np.abs(solution.b).sum() / (2 if problem.intercept else 1)
        distance = np.sqrt(solution.squared_norm) / total
        if distance < TOUCHING * np.sqrt(size):
            break
        if not solution.converged:
            return solution
    error = NotSeparableError(distance, solution.b / total)
    raise error if among is None else error.among(*among)


def solve_hard_tube(problem, gram, *, among=None, **options):
    """Solve a regression with infinite bounds, or raise if no function stays within the tube."""
    unit = max(np.abs(problem.target).max(initial=0), problem.width, TOUCHING) / kernel_size(gram)
    for solution, inside in growing(problem, gram, unit, **options):
        if inside or not solution.converged:
            return solution
    raise ValueError(
        "C=inf requires a function within epsilon of all targets, but none was found "
        "for this kernel. Choose a finite C, a larger epsilon, or another kernel."
    )


def kernel_size(gram):
    """Return the largest kernel value, one for the zero kernel."""
    return np.abs(gram.diagonal).max(initial=0) or 1.0


def growing(problem, gram, unit, **options):
    """Yield solutions for growing bounds, and whether they are inside and might be infinite."""
    solution = None
    for bound in BOUNDS * unit:
        finite = replace(
            problem,
            lower=np.maximum(problem.lower, -bound),
            upper=np.minimum(problem.upper, bound),
        )
        solution = solve(finite, gram, start=solution, **options)
        inside = not (np.abs(solution.b) == bound).any()
        yield replace(solution, problem=problem), inside
