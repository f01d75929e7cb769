"""Majority votes and resampling: why many classifiers err less than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from sklearn_sl.theory._domain import real, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


class CrowdBound(NamedTuple):
    """Two bounds on the error of a majority vote, the sharper first; see :func:`crowd_bound`.

    Attributes
    ----------
    chernoff : float or ndarray
        ``exp(-(mu - T)^2 / (2 mu))`` with ``mu = (2T + 1)(1/2 + gamma)``.

    exponential : float or ndarray
        ``exp(-4/5 gamma^2 T)``, never below ``chernoff``.

    See Also
    --------
    crowd_bound : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import crowd_bound
    >>> chernoff, exponential = crowd_bound(101, 0.2)
    >>> print(f"{chernoff:.5f} {exponential:.5f}")
    0.04830 0.20190
    """

    chernoff: float
    exponential: float


def crowd_error(n_members: ArrayLike, gamma: ArrayLike) -> float | np.ndarray:
    """Return the probability that the majority of independent classifiers is wrong.

    Of ``2T + 1`` classifiers each is right with probability ``1/2 + gamma``, independently. At most
    ``T`` of them are right, and so the majority is wrong, with probability::

        sum_{i=0}^{T} binomial(2T + 1, i) (1/2 + gamma)^i (1/2 - gamma)^(2T + 1 - i)

    For ``gamma > 0`` it tends to zero as the crowd grows, for ``gamma < 0`` to one (Condorcet's
    jury theorem [1]_). Members that learned from the same sample are not independent: a forest or
    a bagged ensemble errs more than this.

    Parameters
    ----------
    n_members : int or array-like of int
        The number ``2T + 1`` of classifiers, odd.

    gamma : float or array-like
        How much better than a coin a member is, between -1/2 and 1/2.

    Returns
    -------
    error : float or ndarray
        The probability of a wrong vote, for the arguments broadcast together.

    See Also
    --------
    crowd_bound : Bounds in closed form.

    References
    ----------
    .. [1] N. de Condorcet, "Essai sur l'application de l'analyse à la probabilité des décisions
       rendues à la pluralité des voix", Paris, 1785.

    Examples
    --------
    >>> from sklearn_sl.theory import crowd_error
    >>> crowd_error([1, 21, 101], 0.1).round(4)
    array([0.4   , 0.1744, 0.0209])
    """
    n_members, gamma = _odd(n_members), real("gamma", gamma, -0.5, 0.5)
    half = (n_members + 1) / 2
    return special.betainc(half, half, 0.5 - gamma)  # the binomial tail up to half - 1


def crowd_bound(n_members: ArrayLike, gamma: ArrayLike) -> Any:
    """Return two upper bounds on :func:`crowd_error`.

    Chernoff's bound for the number of classifiers that are right, whose mean is
    ``mu = (2T + 1)(1/2 + gamma)``, and what is left of it after some simplification::

        error <= exp(-(mu - T)^2 / (2 mu)) <= exp(-4/5 gamma^2 T)

    Both hold for every ``T >= 0`` and every ``gamma`` in [0, 1/2].

    Parameters
    ----------
    n_members : int or array-like of int
        The number ``2T + 1`` of classifiers, odd.

    gamma : float or array-like
        How much better than a coin a member is, between 0 and 1/2.

    Returns
    -------
    bound : CrowdBound
        Both bounds, ``chernoff`` and ``exponential``, for the arguments broadcast together.

    See Also
    --------
    crowd_error : The probability itself.
    chernoff_lower_tail : The first bound, of any sum.

    Notes
    -----
    The second inequality: with ``n = 2 T gamma <= T`` and ``a = 1/2 + gamma`` it says that
    ``2 n^2 (T + n + a) <= 5 T (n + a)^2``. The left side is at most ``4 T n^2 + 2 a n^2``, and
    ``2 a n^2 <= 10 T a n``.

    References
    ----------
    .. [1] M. Mitzenmacher and E. Upfal, "Probability and Computing", Cambridge University Press,
       2005, theorem 4.5.

    Examples
    --------
    >>> from sklearn_sl.theory import crowd_bound, crowd_error
    >>> bound = crowd_bound(21, 0.1)
    >>> print(f"{crowd_error(21, 0.1):.5f} {bound.chernoff:.5f} {bound.exponential:.5f}")
    0.17438 0.76471 0.92312
    """
    n_members, gamma = _odd(n_members), real("gamma", gamma, 0.0, 0.5)
    T = (n_members - 1) / 2
    return CrowdBound(
        chernoff_lower_tail(n_members * (0.5 + gamma), T), np.exp(-0.8 * gamma**2 * T)
    )


def _odd(n_members):
    number = whole("n_members", n_members, low=1)
    if not np.all(number % 2 == 1):
        raise ValueError(f"n_members must be odd, so that no vote is a tie; got {n_members!r}.")
    return number


def chernoff_lower_tail(mu: ArrayLike, k: ArrayLike) -> float | np.ndarray:
    """Return Chernoff's bound on the probability that a sum is far below its mean.

    For a sum ``X`` of independent random variables with values in [0, 1] and with the mean
    ``mu = E X``::

        P(X <= k) <= exp(-(mu - k)^2 / (2 mu)),   0 <= k <= mu

    Parameters
    ----------
    mu : float or array-like
        The mean of the sum, not negative.

    k : float or array-like
        The threshold, between 0 and ``mu``.

    Returns
    -------
    bound : float or ndarray
        The bound, for the arguments broadcast together.

    References
    ----------
    .. [1] C. McDiarmid, "Concentration", in Probabilistic Methods for Algorithmic Discrete
       Mathematics, Springer, 1998, theorem 2.3.

    Examples
    --------
    At most 40 heads in 100 tosses of a coin, against the probability itself:

    >>> from scipy.stats import binom
    >>> from sklearn_sl.theory import chernoff_lower_tail
    >>> print(f"{binom.cdf(40, 100, 0.5):.4f} {chernoff_lower_tail(50, 40):.4f}")
    0.0284 0.3679
    """
    mu, k = real("mu", mu), real("k", k)
    if not np.all((0 <= k) & (k <= mu)):
        raise ValueError(f"k must be in [0, mu={mu}]; got {k}.")
    # A sum of mean zero is zero: then mu = k = 0, and the bound is one.
    return np.exp(-((mu - k) ** 2) / (2 * np.where(mu > 0, mu, 1.0)))


def bootstrap_absence(n_samples: ArrayLike, n_draws: ArrayLike | None = None) -> float | np.ndarray:
    """Return the probability that a sample is absent from a bootstrap resample.

    Each of ``M`` draws with replacement misses a given one of ``m`` samples with probability
    ``1 - 1/m``, so all of them do with probability ``(1 - 1/m)^M``. For ``M = m`` this rises to
    ``1/e = 0.368``: a resample has 63 % of the samples, and the others are out of the bag.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number ``m`` of samples.

    n_draws : int or array-like of int, default=None
        The number ``M`` of draws, ``n_samples`` by default.

    Returns
    -------
    probability : float or ndarray
        The probability of absence, for the arguments broadcast together. It is also the expected
        share of the samples that are out of the bag.

    References
    ----------
    .. [1] L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn_sl.theory import bootstrap_absence
    >>> bootstrap_absence([10, 100, 1000]).round(4)
    array([0.3487, 0.366 , 0.3677])
    """
    m = whole("n_samples", n_samples, low=1)
    M = m if n_draws is None else whole("n_draws", n_draws, low=0)
    return np.exp(special.xlog1py(M, -1.0 / m))
