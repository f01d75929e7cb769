"""What the errors on a validation set say, also after a choice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sklearn_sl.theory._binomial import errors_and_samples, log_level, lower_at, upper_at
from sklearn_sl.theory._domain import log_count, one_of, plain, unwarned
from sklearn_sl.theory._relative_entropy import largest_coin, least_coin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


# ---------------------------------------------------------------- validation


class ErrorInterval(NamedTuple):
    """A confidence interval of a probability of error; see :func:`validation_bound`.

    Attributes
    ----------
    lower : float or ndarray
        The lower bound; 0 if only the upper one was asked for.

    observed : float or ndarray
        The share of errors among the samples.

    upper : float or ndarray
        The upper bound.

    See Also
    --------
    validation_bound : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import validation_bound
    >>> lower, observed, upper = validation_bound(7, 200)
    >>> print(f"{lower:.4f} <= {observed:.4f} <= {upper:.4f}")
    0.0142 <= 0.0350 <= 0.0708
    """

    lower: float | np.ndarray
    observed: float | np.ndarray
    upper: float | np.ndarray


@unwarned
def validation_bound(
    n_errors: ArrayLike,
    n_samples: ArrayLike,
    delta: ArrayLike = 0.05,
    *,
    n_compared: ArrayLike = 1,
    sides: int = 2,
    method: str = "binomial",
) -> ErrorInterval:
    """Return what the errors on a validation set say about the probability of error.

    With probability at least ``1 - delta`` over the draw of the validation set, the interval
    contains the probability of error: that of one classifier which was fixed before, or, with
    ``n_compared=r``, those of all of ``r`` classifiers, so that the best of them on this very
    validation set may be chosen. By the union bound each end has the level ``delta / (sides r)``.

    Parameters
    ----------
    n_errors : int or array-like of int
        The number of errors on the validation set.

    n_samples : int or array-like of int
        The number of samples of the validation set, 1 or more.

    delta : float or array-like, default=0.05
        The probability with which the statement may fail, between 0 and 1.

    n_compared : int or array-like of int, default=1
        The number ``r`` of classifiers that were compared on the validation set.

    sides : {1, 2}, default=2
        2 for an interval; 1 for an upper bound alone, which is then smaller.

    method : {"binomial", "kl", "hoeffding"}, default="binomial"
        The exact bound of Clopper and Pearson, Chernoff's with the relative entropy, or Hoeffding's
        ``observed ± sqrt(log(sides r / delta) / (2 m))``, the loosest.

    Returns
    -------
    interval : ErrorInterval
        With ``lower``, ``observed`` and ``upper``, within [0, 1].

    See Also
    --------
    binomial_upper, kl_upper, hoeffding_deviation : The bounds.
    uniform_sample_size : How many validation samples are needed.

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", Journal of
       Machine Learning Research 6, 2005.

    Examples
    --------
    Seven errors on 200 samples, by a classifier and by the best one of a grid of 40:

    >>> from sklearn_sl.theory import validation_bound
    >>> for method in ("binomial", "kl", "hoeffding"):
    ...     one = validation_bound(7, 200, method=method)
    ...     best = validation_bound(7, 200, n_compared=40, method=method)
    ...     print(f"{method:9} {one.upper:.4f} {best.upper:.4f}")
    binomial  0.0708 0.0983
    kl        0.0821 0.1085
    hoeffding 0.1310 0.1708
    """
    one_of("sides", sides, (1, 2))
    lower, upper = one_of("method", method, METHODS) and METHODS[method]
    k, m = errors_and_samples(n_errors, n_samples, least=1)
    level = log_level(delta) - log_count("n_compared", n_compared) - math.log(sides)
    low = lower(k, m, level) if sides == 2 else plain(np.zeros(np.broadcast(k, m, level).shape))
    return ErrorInterval(low, plain(k / m), upper(k, m, level))


def _radius(m, level):
    """Return the deviation of Hoeffding's inequality."""
    return np.sqrt(-level / (2 * m))


# The lower and the upper bound from errors, samples and the logarithm of the level of one end.
METHODS = {
    "binomial": (lower_at, upper_at),
    "kl": (
        lambda k, m, level: least_coin(k / m, -level / m),
        lambda k, m, level: largest_coin(k / m, -level / m),
    ),
    "hoeffding": (
        lambda k, m, level: plain(np.maximum(k / m - _radius(m, level), 0.0)),
        lambda k, m, level: plain(np.minimum(k / m + _radius(m, level), 1.0)),
    ),
}
