"""Relative entropy of two coins: its inversions, and the bounds by Chernoff's inequality."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from sklearn_sl.theory._concentration import (
    after_samples,
    described,
    from_log,
    log_inverse,
    round_up,
)
from sklearn_sl.theory._domain import plain, real, unwarned, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Newton's method doubles the number of correct digits, but begins where 1 - p may be tiny.
MOST_STEPS = 100
# The least distance of two coins, and the largest number below one.
TINY = 1e-300
ALMOST = 1 - 2.0**-53


@unwarned
def binary_kl(q: ArrayLike, p: ArrayLike) -> float | np.ndarray:
    """Return the relative entropy of two coins.

    ::

        kl(q || p) = q log(q / p) + (1 - q) log((1 - q) / (1 - p)) >= 2 (q - p)^2

    Parameters
    ----------
    q, p : float or array-like
        Probabilities; ``q`` is usually the observed one.

    Returns
    -------
    divergence : float or ndarray
        The relative entropy in natural units, infinite if ``p`` excludes what ``q`` has.

    See Also
    --------
    binary_kl_upper, binary_kl_lower : The inversions.

    Examples
    --------
    >>> from sklearn_sl.theory import binary_kl
    >>> round(binary_kl(0.1, 0.2), 4), binary_kl(0, 1)
    (0.0367, inf)
    """
    return plain(_kl(real("q", q, 0.0, 1.0), real("p", p, 0.0, 1.0)))


def _kl(q, p):
    """Return ``kl(q || p)``, precise for near arguments as well."""
    d = p - q
    ones = special.xlog1py(q, d / np.where(q > 0, q, 1.0))
    zeros = special.xlog1py(1 - q, -d / np.where(q < 1, 1 - q, 1.0))
    return np.abs(ones + zeros)  # negative, or zero up to rounding


@unwarned
def binary_kl_upper(q: ArrayLike, divergence: ArrayLike) -> float | np.ndarray:
    """Return the largest ``p`` with ``kl(q || p) <= divergence``.

    Parameters
    ----------
    q : float or array-like
        The observed probability.

    divergence : float or array-like
        The relative entropy, 0 or more.

    Returns
    -------
    p : float or ndarray
        Between ``q`` and 1.

    See Also
    --------
    binary_kl : The relative entropy.
    kl_upper : The confidence bound.

    Notes
    -----
    By Newton's method for ``p -> kl(q || p)``, which is convex: from the right of the root it
    never crosses it. It starts at the least of three upper bounds on the root.

    Examples
    --------
    >>> from sklearn_sl.theory import binary_kl, binary_kl_upper
    >>> round(binary_kl_upper(0.1, binary_kl(0.1, 0.2)), 12)
    0.2
    """
    return largest_coin(real("q", q, 0.0, 1.0), real("divergence", divergence, 0.0, np.inf))


def largest_coin(q, c):
    """Return the largest ``p`` with ``q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)) <= c``.

    That is to all digits but the last, also where the divergence of near coins has few.
    """
    if isinstance(q, float) and isinstance(c, float):
        return _one_largest_coin(q, c)
    q, c = np.broadcast_arrays(np.asarray(q, dtype=float), np.asarray(c, dtype=float))
    p = np.where(q > 0, q, -np.expm1(-c))
    inside = (q > 0) & (q < 1) & (c > 0)
    q, c = q[inside], c[inside]
    d = _above_the_root(q, c, np.log, np.log1p, np.expm1, np.sqrt, np.minimum)
    for _ in range(MOST_STEPS):
        within = np.clip(d, TINY, ALMOST * (1 - q))
        step = np.where(d < 1 - q, _newton_step(q, within, c, np.log1p), 0.0)
        d = d - step
        if np.all(np.abs(step) <= 1e-15 * (q + d)):
            break
    p[inside] = q + d
    return plain(p)


def _one_largest_coin(q, c):
    """Return ``largest_coin`` of two numbers."""
    if q <= 0 or q >= 1:
        return 1.0 if q > 0 else -math.expm1(-c)
    if c <= 0:
        return q
    d = _above_the_root(q, c, math.log, math.log1p, math.expm1, math.sqrt, min)
    for _ in range(MOST_STEPS):
        if d >= 1 - q:
            break
        step = _newton_step(q, max(TINY, min(d, ALMOST * (1 - q))), c, math.log1p)
        d -= step
        if abs(step) <= 1e-15 * (q + d):
            break
    return float(q + d)


def _above_the_root(q, c, log, log1p, expm1, sqrt, least):
    """Return a bound on the ``d`` with ``kl(q || q + d) = c``, for ``0 < q < 1``.

    It is the least that follows from ``kl >= d^2 / (2 (q + d))``, from ``kl >= 2 d^2``, and from
    the term of ``1 - p`` alone.
    """
    rest = 1 - q
    entropy = -q * log(q) - rest * log1p(-q)
    d = least(c + sqrt(c * (c + 2 * q)), sqrt(c / 2))
    return least(d, -q - expm1(-(c + entropy) / rest))


def _newton_step(q, d, c, log1p):
    """Return the step of Newton's method, which falls to the root: the divergence is convex."""
    rest = 1 - q
    excess = -q * log1p(d / q) - rest * log1p(-d / rest) - c
    return excess * (q + d) * (rest - d) / d


@unwarned
def binary_kl_lower(q: ArrayLike, divergence: ArrayLike) -> float | np.ndarray:
    """Return the smallest ``p`` with ``kl(q || p) <= divergence``.

    Parameters
    ----------
    q : float or array-like
        The observed probability.

    divergence : float or array-like
        The relative entropy, 0 or more.

    Returns
    -------
    p : float or ndarray
        Between 0 and ``q``.

    See Also
    --------
    binary_kl_upper : The largest one, of which it is the mirror image.

    Examples
    --------
    >>> from sklearn_sl.theory import binary_kl, binary_kl_lower
    >>> round(binary_kl_lower(0.2, binary_kl(0.2, 0.1)), 12)
    0.1
    """
    q, c = real("q", q, 0.0, 1.0), real("divergence", divergence, 0.0, np.inf)
    return least_coin(q, c)


def least_coin(q, c):
    """Return the smallest ``p`` with ``kl(q || p) <= c``, the mirror image of the largest."""
    return plain(np.fmin(1 - largest_coin(1 - q, c), q))  # 1 - (1 - q) may be above q


@unwarned
@described
def kl_tail(n_samples: ArrayLike, rate: ArrayLike, p: ArrayLike) -> float | np.ndarray:
    """Return Chernoff's bound on an error rate that is far from the probability of error.

    For ``q <= p``, and by symmetry with ``>=`` for ``q >= p``::

        P(Binomial(m, p) <= q m) <= exp(-m kl(q || p)) <= exp(-2 m (q - p)^2)

    Parameters
    ----------
    {n_samples}

    {rate}

    p : float or array-like
        The probability of an error.

    Returns
    -------
    {tail}

    See Also
    --------
    binomial_tail : The probability itself.
    hoeffding_tail : What is left of it after Pinsker's inequality.
    kl_upper : The inversion.

    References
    ----------
    .. [1] H. Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis based on the
       sum of observations", Annals of Mathematical Statistics 23, 1952.

    Examples
    --------
    >>> from sklearn_sl.theory import binomial_tail, hoeffding_tail, kl_tail
    >>> m, k, p = 100, 5, 0.1
    >>> tails = binomial_tail(k, m, p), kl_tail(m, k / m, p), hoeffding_tail(m, p - k / m)
    >>> [round(tail, 4) for tail in tails]
    [0.0576, 0.1881, 0.6065]
    """
    m = whole("n_samples", n_samples)
    return from_log(-m * _kl(real("rate", rate, 0.0, 1.0), real("p", p, 0.0, 1.0)))


@unwarned
@described
def kl_upper(rate: ArrayLike, n_samples: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Return the upper confidence bound on a probability of error by relative entropy.

    With probability at least ``1 - delta``, for a mean of ``m`` independent variables in [0, 1]
    as well as for errors::

        p <= max {p : kl(rate || p) <= log(1 / delta) / m}

    It is between the exact bound, :func:`binomial_upper`, and Hoeffding's.

    Parameters
    ----------
    {rate}

    {n_samples}

    {delta}

    Returns
    -------
    upper : float or ndarray
        The bound; 1 without samples.

    See Also
    --------
    kl_lower : The lower bound.
    binomial_upper : The exact bound.

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", Journal of
       Machine Learning Research 6, 2005, corollary 3.7.

    Examples
    --------
    >>> from sklearn_sl.theory import binomial_upper, hoeffding_deviation, kl_upper
    >>> bounds = binomial_upper(5, 100, 0.05), kl_upper(0.05, 100, 0.05)
    >>> [round(bound, 4) for bound in (*bounds, 0.05 + hoeffding_deviation(100, 0.05))]
    [0.1023, 0.1215, 0.1724]
    """
    return largest_coin(real("rate", rate, 0.0, 1.0), _divergence_of(n_samples, delta))


def _divergence_of(n_samples, delta):
    """Return the divergence that Chernoff's bound gives the probability ``delta``."""
    m = whole("n_samples", n_samples)
    return after_samples(m, log_inverse(delta) / m)


@unwarned
@described
def kl_lower(rate: ArrayLike, n_samples: ArrayLike, delta: ArrayLike) -> float | np.ndarray:
    """Return the lower confidence bound on a probability of error by relative entropy.

    Parameters
    ----------
    {rate}

    {n_samples}

    {delta}

    Returns
    -------
    lower : float or ndarray
        The bound; 0 without samples.

    See Also
    --------
    kl_upper : The upper bound, of which it is the mirror image.

    Examples
    --------
    >>> from sklearn_sl.theory import kl_lower
    >>> round(kl_lower(0.05, 100, 0.05), 4)
    0.0134
    """
    return least_coin(real("rate", rate, 0.0, 1.0), _divergence_of(n_samples, delta))


@unwarned
@described
def kl_sample_size(epsilon: ArrayLike, delta: ArrayLike, rate: ArrayLike) -> float | np.ndarray:
    """Return how many samples show that a probability is at most ``epsilon`` above its estimate.

    The smallest ``m`` for which :func:`kl_upper` is at most ``rate + epsilon``, if the share of
    errors will be ``rate``::

        m >= log(1 / delta) / kl(rate || rate + epsilon)

    Parameters
    ----------
    {epsilon}

    {delta}

    {rate}

    Returns
    -------
    {sample_size}

    See Also
    --------
    kl_upper : The bound.
    binomial_sample_size : The exact number.

    Examples
    --------
    The smaller the error, the fewer samples it takes:

    >>> from sklearn_sl.theory import kl_sample_size
    >>> kl_sample_size(0.02, 0.05, [0.5, 0.1, 0.02, 0.0])
    array([3742., 1503.,  473.,  149.])
    """
    rate = real("rate", rate, 0.0, 1.0)
    p = np.fmin(rate + real("epsilon", epsilon, 0.0), 1.0)
    return round_up(log_inverse(delta) / _kl(rate, p))
