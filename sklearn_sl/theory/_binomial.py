"""The binomial distribution of the number of errors: its tail, and the exact bounds on a rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from sklearn_sl.theory._concentration import described
from sklearn_sl.theory._domain import plain, real, unwarned, whole
from sklearn_sl.theory._relative_entropy import largest_coin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# Below some exp(-660) the inverse of the incomplete beta function has wrong digits, without a word.
LEAST = -500.0
# Newton's method needs a few, where it does not begin at all but the last digits.
MOST_STEPS = 50
# Of events that are rarer the number is a Poisson variable, and 1 - p has lost them.
RARE = 1e-8
# Tails below are computed by their logarithms.
TINY_TAIL = -500.0
TINY = 1e-300


@unwarned
@described
def binomial_tail(n_errors: ArrayLike, n_samples: ArrayLike, p: ArrayLike) -> float | np.ndarray:
    """Return the probability of at most ``k`` errors among ``m`` samples, exactly.

    ::

        P(Binomial(m, p) <= k) = sum_{i=0}^{k} binomial(m, i) p^i (1 - p)^(m - i)

    Parameters
    ----------
    {n_errors}

    {n_samples}

    p : float or array-like
        The probability of an error.

    Returns
    -------
    probability : float or ndarray
        The probability.

    See Also
    --------
    binomial_upper : The inversion.
    kl_tail : A bound in closed form.

    Examples
    --------
    How likely is a classifier that errs on 10 % to look like one that errs on 5 %?

    >>> from sklearn_sl.theory import binomial_tail
    >>> round(binomial_tail(5, 100, 0.1), 4)
    0.0576
    """
    k, m = errors_and_samples(n_errors, n_samples)
    p = real("p", p, 0.0, 1.0)
    # The incomplete beta function needs m - k > 0.
    return plain(np.where(k >= m, 1.0, special.betainc(np.fmax(m - k, 1.0), k + 1, 1 - p)))


def log_level(delta):
    """Return the logarithm of a probability, after checks."""
    return np.log(real("delta", delta, 0.0, 1.0))


def errors_and_samples(n_errors, n_samples, least=0):
    """Return the numbers of errors and of samples, after checks."""
    k, m = whole("n_errors", n_errors), whole("n_samples", n_samples, least)
    if np.any(k > m):
        raise ValueError(f"n_errors must be <= n_samples={n_samples!r}; got {n_errors!r}.")
    return k, m


@unwarned
@described
def binomial_upper(
    n_errors: ArrayLike, n_samples: ArrayLike, delta: ArrayLike
) -> float | np.ndarray:
    """Return the exact upper confidence bound on a probability of error (Clopper and Pearson).

    The largest ``p`` for which ``k`` or fewer errors among ``m`` samples are not rarer than
    ``delta``::

        max {p : P(Binomial(m, p) <= k) >= delta}

    Whatever the true probability is, the bound is below it with probability ``delta`` at most. Of
    all such bounds that grow with ``k`` it is the smallest. For an interval with both ends give
    ``delta / 2`` to each.

    Parameters
    ----------
    {n_errors}

    {n_samples}

    {delta}

    Returns
    -------
    upper : float or ndarray
        The bound; 1 without samples.

    See Also
    --------
    binomial_lower : The lower bound.
    binomial_sample_size : How many samples bring it down.
    hoeffding_deviation : Looser, and in closed form.

    References
    ----------
    .. [1] C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the
       case of the binomial", Biometrika 26, 1934.
    .. [2] J. Langford, "Tutorial on practical prediction theory for classification", Journal of
       Machine Learning Research 6, 2005.

    Examples
    --------
    No error on 100 test samples: the rule of three says 3 %.

    >>> from sklearn_sl.theory import binomial_upper, hoeffding_deviation
    >>> round(binomial_upper(0, 100, 0.05), 4), round(hoeffding_deviation(100, 0.05), 4)
    (0.0295, 0.1224)
    """
    return upper_at(*errors_and_samples(n_errors, n_samples), log_level(delta))


def upper_at(k, m, log_delta):
    """Return the upper bound for checked arguments, the level of which is a logarithm."""
    if not (np.ndim(k) or np.ndim(m) or np.ndim(log_delta)):
        if k >= m:
            return 1.0
        if k == 0:
            return -math.expm1(log_delta / m)
        p = special.betainccinv(k + 1, m - k, math.exp(log_delta))
        if log_delta >= LEAST and p == p:
            return float(p)
    k, m, log_delta = np.broadcast_arrays(k, m, log_delta)
    p = special.betainccinv(k + 1, np.fmax(m - k, 1.0), np.exp(log_delta))
    p = np.where(k == 0, -np.expm1(log_delta / m), p)
    p = np.where(k >= m, 1.0, p)
    far = _out_of_reach(k, m, log_delta, p)
    if np.any(far):
        p[far] = -np.expm1(_log_rest(k[far], m[far], log_delta[far]))
    return plain(p)


def _out_of_reach(k, m, log_delta, p):
    """Return where the inverse of the incomplete beta function is not to be trusted."""
    inner = (k > 0) & (k < m) & (log_delta > -np.inf)
    return inner & ((log_delta < LEAST) | np.isnan(p))


@unwarned
def _log_rest(k, m, log_delta):
    """Return ``u = log(1 - p)`` with ``P(Binomial(m, p) <= k) = exp(log_delta)``, ``0 < k < m``.

    The logarithm of the tail is increasing and concave in ``u``, so that Newton's method comes to
    the root from the left, after the first step from wherever it starts. It has all digits where
    the tail is too small for a number, and where ``p`` or ``1 - p`` is next to nothing.
    """
    p = largest_coin(k / m, -log_delta / m)  # by Chernoff's inequality
    alone = (log_delta - log_binomial(m, k)) / (m - k)  # by the last term of the tail
    u = np.where(p < 1 - 1e-9, np.log1p(-p), alone)
    for _ in range(MOST_STEPS):
        log_pmf, ratio = _tail_by_ratios(k, m, u)
        step = (log_pmf + np.log(ratio) - log_delta) * ratio / (m - k)
        u = np.fmin(u - step, -TINY)
        if np.all(np.abs(step) <= 1e-13 * np.abs(u)):
            break
    return u


def log_binomial(m, k):
    """Return the logarithm of a binomial coefficient."""
    return -np.log1p(m) - special.betaln(m - k + 1, k + 1)


def _tail_by_ratios(k, m, u):
    """Return ``ln P(X = k)`` and ``P(X <= k) / P(X = k)`` of a binomial variable, ``k < m p``."""
    p = -np.expm1(u)
    log_pmf = log_binomial(m, k) + k * np.log(p) + (m - k) * u
    odds = np.exp(u) / p
    term = ratio = np.ones_like(p)
    left = k.copy()
    while np.any(term > 1e-17 * ratio):
        term = term * left / (m - left + 1) * odds
        ratio = ratio + term
        left = np.maximum(left - 1, 0.0)
    return log_pmf, ratio


@unwarned
@described
def binomial_lower(
    n_errors: ArrayLike, n_samples: ArrayLike, delta: ArrayLike
) -> float | np.ndarray:
    """Return the exact lower confidence bound on a probability of error (Clopper and Pearson).

    ::

        min {p : P(Binomial(m, p) >= k) >= delta}

    Parameters
    ----------
    {n_errors}

    {n_samples}

    {delta}

    Returns
    -------
    lower : float or ndarray
        The bound; 0 without errors.

    See Also
    --------
    binomial_upper : The upper bound.

    Examples
    --------
    >>> from sklearn_sl.theory import binomial_lower, binomial_upper
    >>> round(binomial_lower(5, 100, 0.025), 4), round(binomial_upper(5, 100, 0.025), 4)
    (0.0164, 0.1128)
    """
    return lower_at(*errors_and_samples(n_errors, n_samples), log_level(delta))


def lower_at(k, m, log_delta):
    """Return the lower bound for checked arguments, the level of which is a logarithm.

    It is one minus the upper bound on the probability of the other samples, with its own digits.
    """
    if not (np.ndim(k) or np.ndim(m) or np.ndim(log_delta)):
        if k == 0:
            return 0.0
        if k >= m:
            return math.exp(log_delta / m)
        p = special.betaincinv(k, m - k + 1, math.exp(log_delta))
        if log_delta >= LEAST and p == p:
            return float(p)
    k, m, log_delta = np.broadcast_arrays(k, m, log_delta)
    p = special.betaincinv(np.fmax(k, 1.0), m - k + 1, np.exp(log_delta))
    p = np.where(k >= m, np.exp(log_delta / m), p)
    p = np.where(k == 0, 0.0, p)
    far = _out_of_reach(k, m, log_delta, p)
    if np.any(far):
        p[far] = np.exp(_log_rest((m - k)[far], m[far], log_delta[far]))
    return plain(p)


@unwarned
@described
def binomial_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, n_errors: ArrayLike = 0
) -> float | np.ndarray:
    """Return how many samples with ``k`` errors show that the probability is at most ``epsilon``.

    The smallest ``m`` with ``P(Binomial(m, epsilon) <= k) <= delta``: then :func:`binomial_upper`
    is at most ``epsilon``. Without errors it is ``log(delta) / log(1 - epsilon)``.

    Parameters
    ----------
    epsilon : float or array-like
        The probability of error to be certified, between 0 and 1.

    {delta}

    n_errors : int or array-like of int, default=0
        The number ``k`` of errors that the samples may have.

    Returns
    -------
    n_samples : float or ndarray
        The number of samples; infinite for an ``epsilon`` or a ``delta`` of 0.

    See Also
    --------
    binomial_upper : The bound.

    Examples
    --------
    >>> from sklearn_sl.theory import binomial_sample_size
    >>> binomial_sample_size(0.01, 0.05, [0, 1, 10])
    array([ 299.,  473., 1693.])
    """
    epsilon, delta = real("epsilon", epsilon, 0.0, 1.0), real("delta", delta, 0.0, 1.0)
    k = whole("n_errors", n_errors)
    if not (np.ndim(epsilon) or np.ndim(delta) or np.ndim(k)):
        if delta == 1 or not (0 < epsilon < 1 and delta > 0):
            return 0.0 if delta == 1 else float(k + 1) if epsilon * delta > 0 else math.inf
        size = _quick_size(float(epsilon), float(delta), float(k))
        if size is not None:
            return size
    # No arguments that have another answer than the formula.
    epsilon, delta, k = np.broadcast_arrays(epsilon, delta, k)
    regular = (0 < epsilon) & (epsilon < 1) & (0 < delta) & (delta < 1)
    size = np.where(delta == 1, 0.0, np.where((epsilon > 0) & (delta > 0), k + 1, np.inf))
    size[regular] = _binomial_sizes(epsilon[regular], np.log(delta[regular]), k[regular])
    return plain(size)


def _quick_size(epsilon, delta, k):
    """Return what :func:`_binomial_sizes` does, for numbers of Python where that is easy."""
    if k == 0:
        return float(math.ceil(math.log(delta) / math.log1p(-epsilon) * (1 - 1e-12)))
    if epsilon < 1e-8 or delta < 1e-200:
        return None
    enough, right = delta * (1 + 1e-12), 1 - epsilon
    a = math.ceil(special.btdtria(delta, k + 1, right) * (1 - 1e-12))
    if not a >= 1 or special.betainc(a, k + 1, right) > enough:
        return None
    if a > 1 and special.betainc(a - 1, k + 1, right) <= enough:
        a -= 1
        if a > 1 and special.betainc(a - 1, k + 1, right) <= enough:
            return None
    return k + a


def _binomial_sizes(epsilon, log_delta, k):
    """Return the numbers of samples for probabilities between 0 and 1."""
    # That of a Poisson variable, which is exact for rare events, corrected for others.
    poisson = special.gammainccinv(k + 1, np.exp(log_delta))
    m = np.fmax(k / 2 + (1 / epsilon - 0.5) * poisson, k + 1)
    tiny = log_delta < TINY_TAIL
    m[tiny] = k[tiny] + (k[tiny] - log_delta[tiny]) / epsilon[tiny]
    m = np.where(epsilon < RARE, np.ceil(np.where(tiny, m, poisson / epsilon)), m)
    m = np.where(k == 0, np.ceil(log_delta / np.log1p(-epsilon) * (1 - 1e-12)), m)
    at = np.flatnonzero((k > 0) & (tiny | (epsilon >= RARE)))
    m[at] = _smallest_size(m[at], epsilon[at], log_delta[at] + 1e-12, k[at])
    return m


def _smallest_size(m, epsilon, log_delta, k):
    """Return the smallest ``m`` with a tail of at most ``exp(log_delta)``, from a start near it.

    The logarithm of the tail is concave in ``m``: Newton's method comes to the root from the right,
    and ends within one of it. The last steps are by one, in case of rounding errors.
    """
    at = np.arange(len(m))
    for _ in range(MOST_STEPS):
        log_tail, slope = _tail_in_size(k[at], m[at], epsilon[at])
        step = (log_tail - log_delta[at]) / slope
        m[at] = np.fmax(m[at] - step, k[at] + 1)
        at = at[np.abs(step) > 0.1]
        if not len(at):
            break
    m = np.ceil(m * (1 - 1e-12))
    for direction in (1.0, -1.0):
        at = np.arange(len(m))
        for _ in range(MOST_STEPS):
            before = m[at] - (direction < 0)
            enough = _tail_in_size(k[at], before, epsilon[at])[0] <= log_delta[at]
            at = at[enough & (before > k[at]) if direction < 0 else ~enough]
            m[at] += direction
            if not len(at):
                break
    return m


def _tail_in_size(k, m, epsilon):
    """Return the logarithm of ``P(Binomial(m, epsilon) <= k)``, and its slope in ``m``.

    ``m`` need not be whole: the tail is ``I_{1 - epsilon}(m - k, k + 1)``.
    """
    a, b, u = np.fmax(m - k, 1e-3), k + 1, np.log1p(-epsilon)
    log_tail = np.log(special.betainc(a, b, 1 - epsilon))
    far = log_tail < TINY_TAIL
    if np.any(far):
        log_pmf, ratio = _tail_by_ratios(k[far], (a + k)[far], u[far])
        log_tail[far] = log_pmf + np.log(ratio)
    # The tail after one more sample is less by the following term.
    log_term = a * u + b * np.log(epsilon) - np.log(a) - special.betaln(a, b)
    return log_tail, np.log1p(-np.fmin(np.exp(log_term - log_tail), 1 - 1e-15))
