"""Mistake bounds of linear online learners, by margins and hinge losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl.theory._domain import real, vector

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


def perceptron_bound(
    radius: ArrayLike, norm: ArrayLike, hinge_loss: ArrayLike = 0.0
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the perceptron.

    On each mistake the perceptron adds ``y_t x_t`` to its weights, with ``||x_t|| <= R`` on the
    mistakes. For every vector ``u``, with the hinge loss ``D = sum_t max(0, 1 - y_t u.x_t)`` on
    all trials, or on the mistakes alone, the number ``M`` of mistakes satisfies::

        M - D <= R ||u|| sqrt(M),   that is   M <= ((R ||u|| + sqrt(R^2 ||u||^2 + 4 D)) / 2)^2

    because ``u.w`` grows by at least one minus the hinge loss on a mistake, and ``||w||^2`` by at
    most ``R^2``. Without loss this is Novikoff's theorem, ``M <= (R ||u||)^2 = (R / gamma)^2`` for
    a separation with the margin ``gamma = 1 / ||u||``.

    Parameters
    ----------
    radius : float or array-like
        The largest norm ``R`` of a sample, with the constant 1 if there is an intercept.

    norm : float or array-like
        The norm of ``u``, with the intercept.

    hinge_loss : float or array-like, default=0.0
        The hinge loss ``D`` of ``u``.

    Returns
    -------
    bound : float or ndarray
        No more mistakes than these.

    See Also
    --------
    best_perceptron_bound : The least one among the multiples of a vector.

    References
    ----------
    .. [1] A. Novikoff, "On convergence proofs for perceptrons", Proc. Symposium on the
       Mathematical Theory of Automata 12, 1962.

    .. [2] Y. Freund and R. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn_sl.theory import perceptron_bound
    >>> float(perceptron_bound(radius=2.0, norm=5.0))
    100.0
    >>> float(perceptron_bound(radius=2.0, norm=5.0, hinge_loss=11.0))
    121.0
    """
    product = real("radius", radius, low=0) * real("norm", norm, low=0)
    return most_mistakes(product, real("hinge_loss", hinge_loss, low=0))


def most_mistakes(product, loss):
    """Return the bound for the product of radius and norm."""
    return ((product + np.sqrt(product * product + 4 * loss)) / 2) ** 2


def best_perceptron_bound(
    margins: ArrayLike, radius: float, norm: float, repeats: int = 1
) -> tuple[float, float]:
    """Return the least bound on mistakes among the multiples ``c u`` of a vector, and ``c``.

    Parameters
    ----------
    margins : array-like of shape (n_trials,)
        The margins ``y_t u.x_t`` of a vector ``u``, with its intercept.

    radius : float
        The largest norm of a sample; see :func:`perceptron_bound`.

    norm : float
        The norm of ``u``.

    repeats : int, default=1
        How often the trials were gone through.

    Returns
    -------
    bound : float
        No more mistakes than this.

    factor : float
        The multiple ``c`` for which it holds; zero if no positive one gives more than the number
        of trials.

    See Also
    --------
    perceptron_bound : The bound for one vector.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999.

    Examples
    --------
    A vector that separates a hundred trials by a margin of one half. Its double has no loss and
    the bound 17.64; a shorter multiple, with some loss, has less:

    >>> import numpy as np
    >>> from sklearn_sl.theory import best_perceptron_bound
    >>> margins = np.linspace(0.5, 1.0, 100)
    >>> bound, factor = best_perceptron_bound(margins, radius=3.0, norm=0.7)
    >>> round(bound, 2), round(factor, 2)
    (15.34, 1.74)
    """
    radius, norm = real("radius", radius, low=0), real("norm", norm, low=0)

    def bound(norm, lacks):
        return most_mistakes(radius * norm, repeats * lacks.sum())

    return least_bound(bound, vector("margins", margins), norm, repeats)


def least_bound(bound, margins, norm, repeats):
    """Return the least value of ``bound`` among the multiples of a vector, and the multiple.

    ``bound(norm, lacks)``, which is told the norm of a multiple and its hinge losses, has no local
    minimum but the least one. The multiple that has just no loss, if all margins are positive, is
    looked at, too; a multiple of zero goes with the number of trials. A bound that exceeds the
    range of numbers is none.
    """
    lacks = np.empty_like(margins)

    def at(log_factor):
        factor = np.exp(log_factor)
        np.subtract(1, np.multiply(factor, margins, out=lacks), out=lacks)
        value = float(bound(factor * norm, np.maximum(0, lacks, out=lacks)))
        return value if value < np.inf else np.inf

    least, useful = margins.min(), margins[margins > 0]
    starts = [-np.log(least)] if least > 0 else []
    with np.errstate(over="ignore", invalid="ignore"):
        if useful.size and norm > 0:
            low, high = -np.log(useful.max()) - 1, -np.log(lower_percentile(useful)) + 1
            # The bound is flat where it is least: that place need not be known better than this.
            starts.append(minimum_between(at, low, high, 1e-3))
        found = [(at(start), float(np.exp(start))) for start in starts]
    return min([(float(len(margins) * repeats), 0.0), *found])


def lower_percentile(values):
    """Return what ``np.quantile(values, 0.01)`` returns, in a tenth of its time."""
    place = 0.01 * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    low, high = np.partition(values, (below, above))[[below, above]]
    rest = place - below
    return low + (high - low) * rest if rest < 0.5 else high - (high - low) * (1 - rest)


def minimum_between(function, low, high, tolerance):
    """Return where a function has its minimum between two places, within a tolerance.

    Brent's method of parabolas and golden sections, as in ``scipy.optimize.fminbound``, whose
    options take longer than these few steps.
    """
    golden, least_step = 0.5 * (3.0 - math.sqrt(5.0)), math.sqrt(2.2e-16)
    low, high = float(low), float(high)
    best = second = third = low + golden * (high - low)
    at_best = at_second = at_third = function(best)
    step = before = 0.0
    for _ in range(500):
        middle = 0.5 * (low + high)
        close = least_step * abs(best) + tolerance / 3.0
        if abs(best - middle) <= 2.0 * close - 0.5 * (high - low):
            break
        sections = True
        if abs(before) > close:
            r = (best - second) * (at_best - at_third)
            q = (best - third) * (at_best - at_second)
            p = (best - third) * q - (best - second) * r
            q = 2.0 * (q - r)
            p, q = (-p if q > 0.0 else p), abs(q)
            r, before = before, step
            if abs(p) < abs(0.5 * q * r) and q * (low - best) < p < q * (high - best):
                sections, step = False, (p + 0.0) / q
                place = best + step
                if place - low < 2.0 * close or high - place < 2.0 * close:
                    step = close if middle >= best else -close
        if sections:
            before = low - best if best >= middle else high - best
            step = golden * before
        place = best + (1.0 if step >= 0 else -1.0) * max(abs(step), close)
        value = function(place)
        if value <= at_best:
            low, high = (best, high) if place >= best else (low, best)
            third, at_third, second, at_second = second, at_second, best, at_best
            best, at_best = place, value
            continue
        low, high = (place, high) if place < best else (low, place)
        if value <= at_second or second == best:
            third, at_third, second, at_second = second, at_second, place, value
        elif value <= at_third or third in (best, second):
            third, at_third = place, value
    return best
