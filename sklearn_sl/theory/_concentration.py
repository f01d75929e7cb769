"""Concentration: how far the mean of a sample may be from its expectation.

Each inequality is three functions. ``..._tail`` is the probability of a deviation,
``..._deviation`` the deviation that has a given probability, and ``..._sample_size`` the number of
samples after which a deviation has a given probability. The exact bounds of an error rate, and
those by relative entropy, depend on the rate itself: ``..._upper`` and ``..._lower``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from sklearn_sl._docstrings import inserter
from sklearn_sl.theory._domain import (
    one_of,
    plain,
    quick,
    quick_positive,
    quick_whole,
    real,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

described = inserter(
    n_samples="""
        n_samples : int or array-like of int
            The number ``m`` of independent samples, 0 or more.
    """,
    epsilon="""
        epsilon : float or array-like
            The deviation, 0 or more.
    """,
    delta="""
        delta : float or array-like
            The probability that may be left for a larger deviation, between 0 and 1.
    """,
    width="""
        width : float or array-like, default=1.0
            The width ``b - a`` of the range of the variables; :func:`rms_width` of several ranges.
    """,
    variance="""
        variance : float or array-like
            The variance of each variable, or an upper bound on it.
    """,
    bound="""
        bound : float or array-like, default=1.0
            No variable is further than this from its expectation; for ``sides=1``, none is that
            much above it.
    """,
    sample_variance="""
        variance : float or array-like
            The variance of the sample, with the divisor ``m - 1``.
    """,
    sensitivity="""
        sensitivity : float or array-like, default=1.0
            The number ``s``: one variable changes ``f`` by at most ``s / m``. If these changes
            ``c_i`` differ, ``m`` times the root of the mean of their squares.
    """,
    sides="""
        sides : {1, 2}, default=1
            1 for deviations upwards, or downwards; 2 for both.
    """,
    rate="""
        rate : float or array-like
            The observed share of errors, between 0 and 1.
    """,
    n_errors="""
        n_errors : int or array-like of int
            The number ``k`` of errors among the samples.
    """,
    tail="""
        probability : float or ndarray
            The bound on the probability, at most 1.
    """,
    deviation="""
        epsilon : float or ndarray
            The deviation. Without samples, or for ``delta = 0``, it is infinite.
    """,
    sample_size="""
        n_samples : float or ndarray
            The smallest whole number of samples; infinite for a deviation or a ``delta`` of 0.
    """,
)
unwarned = np.errstate(all="ignore")  # infinite results are documented


def log_inverse(delta, sides=1):
    """Return ``log(sides / delta)``, after checks."""
    one_of("sides", sides, (1, 2))
    return np.log(sides / quick("delta", delta, 0.0, 1.0))


def probability(log_bound):
    """Return ``min(1, exp(log_bound))``; where the logarithm is 0 / 0, nothing is known."""
    return plain(np.fmin(1.0, np.exp(log_bound)))


def after_samples(n_samples, deviation):
    """Return a deviation, infinite where there are no samples."""
    return plain(np.where(n_samples > 0, deviation, np.inf))


def round_up(size):
    """Return the next whole number; an excess of 1e-12 is rounding, and 0 / 0 needs no sample."""
    return plain(np.ceil(np.fmax(size, 0.0) * (1 - 1e-12)))


# ---------------------------------------------------------------- Hoeffding


@unwarned
@described
def hoeffding_tail(
    n_samples: ArrayLike, epsilon: ArrayLike, *, width: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return Hoeffding's bound on the probability that a mean is far from its expectation.

    For the mean of ``m`` independent variables with values in ``[a, b]``::

        P(mean - E mean >= epsilon) <= exp(-2 m epsilon^2 / (b - a)^2)

    and the same for deviations downwards, hence twice as much for both (``sides=2``).

    Parameters
    ----------
    {n_samples}

    {epsilon}

    {width}

    {sides}

    Returns
    -------
    {tail}

    See Also
    --------
    hoeffding_deviation : The deviation of a given probability.
    hoeffding_sample_size : The number of samples.
    bernstein_tail : Smaller if the variance is.
    binomial_tail : The exact probability for errors.

    References
    ----------
    .. [1] W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal of
       the American Statistical Association 58, 1963.

    Examples
    --------
    >>> from sklearn_sl.theory import hoeffding_tail
    >>> round(hoeffding_tail(100, 0.1), 4), round(hoeffding_tail(100, 0.1, sides=2), 4)
    (0.1353, 0.2707)
    """
    m, epsilon = quick_whole("n_samples", n_samples), quick("epsilon", epsilon, 0.0)
    one_of("sides", sides, (1, 2))
    return probability(math.log(sides) - 2 * m * (epsilon / quick_positive("width", width)) ** 2)


@unwarned
@described
def hoeffding_deviation(
    n_samples: ArrayLike, delta: ArrayLike, *, width: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return the deviation to which Hoeffding's inequality gives the probability ``delta``.

    ::

        epsilon = (b - a) sqrt(log(sides / delta) / (2 m))

    With probability at least ``1 - delta`` the mean is no further than this from its expectation.

    Parameters
    ----------
    {n_samples}

    {delta}

    {width}

    {sides}

    Returns
    -------
    {deviation}

    See Also
    --------
    hoeffding_tail : The inequality.

    Examples
    --------
    A classifier is tested on 100 and on 1000 samples:

    >>> from sklearn_sl.theory import hoeffding_deviation
    >>> hoeffding_deviation([100, 1000], 0.05).round(5)
    array([0.12239, 0.0387 ])
    """
    m, scale = quick_whole("n_samples", n_samples), quick_positive("width", width)
    return after_samples(m, scale * np.sqrt(log_inverse(delta, sides) / (2 * m)))


@unwarned
@described
def hoeffding_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, *, width: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return how many samples Hoeffding's inequality asks for.

    ::

        m >= (b - a)^2 log(sides / delta) / (2 epsilon^2)

    Parameters
    ----------
    {epsilon}

    {delta}

    {width}

    {sides}

    Returns
    -------
    {sample_size}

    See Also
    --------
    hoeffding_tail : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import hoeffding_sample_size
    >>> hoeffding_sample_size([0.1, 0.01], 0.05, sides=2)
    array([  185., 18445.])
    """
    scale = quick_positive("width", width) / quick("epsilon", epsilon, 0.0)
    return round_up(log_inverse(delta, sides) * scale**2 / 2)


@described
def rms_width(low: ArrayLike, high: ArrayLike, axis: int = -1) -> float | np.ndarray:
    """Return the common width that stands for variables of different ranges.

    Hoeffding's inequality for independent variables with values in ``[a_i, b_i]`` is the one for a
    common range of the width::

        sqrt(mean_i (b_i - a_i)^2)

    Parameters
    ----------
    low, high : array-like
        The ends ``a_i`` and ``b_i``, one for each variable along ``axis``.

    axis : int, default=-1
        The axis of the variables.

    Returns
    -------
    width : float or ndarray
        To be given to :func:`hoeffding_tail` and the functions beside it.

    See Also
    --------
    hoeffding_tail : The inequality.

    Examples
    --------
    A hundred errors, of which each counts 0 or 1, and a hundred that count 0 or 1/10:

    >>> import numpy as np
    >>> from sklearn_sl.theory import hoeffding_deviation, rms_width
    >>> width = rms_width(0, np.repeat([1, 0.1], 100))
    >>> round(width, 4), round(hoeffding_deviation(200, 0.05, width=width), 4)
    (0.7106, 0.0615)
    """
    widths = np.atleast_1d(real("high", high) - real("low", low))
    if not np.all(widths >= 0):
        raise ValueError(f"low must be <= high; got {low!r} and {high!r}.")
    largest = widths.max(axis=axis, keepdims=True, initial=0.0)
    # Of the largest as a unit, so that squares neither overflow nor vanish.
    mean = np.mean((widths / np.where(largest > 0, largest, 1.0)) ** 2, axis=axis)
    return plain(np.sqrt(mean) * largest.squeeze(axis))


# ---------------------------------------------------------------- Bernstein


@unwarned
@described
def bernstein_tail(
    n_samples: ArrayLike,
    epsilon: ArrayLike,
    variance: ArrayLike,
    *,
    bound: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return Bernstein's bound on the probability that a mean is far from its expectation.

    For the mean of ``m`` independent variables of variance at most ``v``, none of which is more
    than ``b`` above its expectation::

        P(mean - E mean >= epsilon) <= exp(-m epsilon^2 / (2 v + 2 b epsilon / 3))

    Parameters
    ----------
    {n_samples}

    {epsilon}

    {variance}

    {bound}

    {sides}

    Returns
    -------
    {tail}

    See Also
    --------
    hoeffding_tail : Without the variance.
    empirical_bernstein_tail : With the variance of the sample.

    References
    ----------
    .. [1] S. Boucheron, G. Lugosi and P. Massart, "Concentration Inequalities", Oxford University
       Press, 2013, section 2.8.

    Examples
    --------
    Errors of probability 0.01 have the variance 0.0099:

    >>> from sklearn_sl.theory import bernstein_tail, hoeffding_tail
    >>> round(bernstein_tail(500, 0.03, 0.0099), 7), round(hoeffding_tail(500, 0.03), 4)
    (1.23e-05, 0.4066)
    """
    m, epsilon = quick_whole("n_samples", n_samples), quick("epsilon", epsilon, 0.0)
    v, b = quick("variance", variance, 0.0), quick_positive("bound", bound)
    one_of("sides", sides, (1, 2))
    return probability(math.log(sides) - m * epsilon / (2 * v / epsilon + 2 * b / 3))


@unwarned
@described
def bernstein_deviation(
    n_samples: ArrayLike,
    delta: ArrayLike,
    variance: ArrayLike,
    *,
    bound: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return the deviation to which Bernstein's inequality gives the probability ``delta``.

    With ``L = log(sides / delta)`` it is the root of ``m epsilon^2 = L (2 v + 2 b epsilon / 3)``::

        epsilon = (b L / 3 + sqrt((b L / 3)^2 + 2 m v L)) / m

    Parameters
    ----------
    {n_samples}

    {delta}

    {variance}

    {bound}

    {sides}

    Returns
    -------
    {deviation}

    See Also
    --------
    bernstein_tail : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import bernstein_deviation
    >>> bernstein_deviation(500, 0.05, [0.25, 0.01, 0.0]).round(4)
    array([0.0568, 0.0131, 0.004 ])
    """
    m, v = quick_whole("n_samples", n_samples), quick("variance", variance, 0.0)
    L = log_inverse(delta, sides)
    linear = quick_positive("bound", bound) * L / (3 * m)
    return after_samples(m, linear + np.sqrt(linear**2 + 2 * v * L / m))


@unwarned
@described
def bernstein_sample_size(
    epsilon: ArrayLike,
    delta: ArrayLike,
    variance: ArrayLike,
    *,
    bound: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return how many samples Bernstein's inequality asks for.

    ::

        m >= log(sides / delta) (2 v + 2 b epsilon / 3) / epsilon^2

    Parameters
    ----------
    {epsilon}

    {delta}

    {variance}

    {bound}

    {sides}

    Returns
    -------
    {sample_size}

    See Also
    --------
    bernstein_tail : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import bernstein_sample_size
    >>> bernstein_sample_size(0.01, 0.05, [0.25, 0.01, 0.0])
    array([15179.,   799.,   200.])
    """
    epsilon, v = quick("epsilon", epsilon, 0.0), quick("variance", variance, 0.0)
    needed = (2 * v / epsilon + 2 * quick_positive("bound", bound) / 3) / epsilon
    return round_up(log_inverse(delta, sides) * needed)


# ---------------------------------------------------------------- empirical Bernstein


@unwarned
@described
def empirical_bernstein_tail(
    n_samples: ArrayLike,
    epsilon: ArrayLike,
    variance: ArrayLike,
    *,
    width: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return the probability that the empirical Bernstein inequality leaves for a deviation.

    It is the ``delta`` for which :func:`empirical_bernstein_deviation` is ``epsilon``. As the
    variance is that of the sample, this is the level of a statement about the sample at hand, not
    the probability of an event that was fixed before.

    Parameters
    ----------
    {n_samples}

    {epsilon}

    {sample_variance}

    {width}

    {sides}

    Returns
    -------
    {tail}

    See Also
    --------
    empirical_bernstein_deviation : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import empirical_bernstein_tail
    >>> round(empirical_bernstein_tail(500, 0.03, 0.0099), 4)
    0.045
    """
    m, epsilon = quick_whole("n_samples", n_samples), quick("epsilon", epsilon, 0.0)
    one_of("sides", sides, (1, 2))
    root, linear = _empirical_terms(m, variance, width)
    # The positive root of linear s^2 + root s = epsilon; the probability is exp(-s^2).
    s = 2 * epsilon / (root + np.sqrt(root**2 + 4 * linear * epsilon))
    return probability(math.log(2 * sides) - s**2)


def _empirical_terms(m, variance, width):
    """Return the factors of ``sqrt(L)`` and of ``L`` in the empirical Bernstein inequality."""
    v, width = quick("variance", variance, 0.0), quick_positive("width", width)
    return np.sqrt(2 * v / m), 7 * width / (3 * np.fmax(m - 1, 0.0))


@unwarned
@described
def empirical_bernstein_deviation(
    n_samples: ArrayLike,
    delta: ArrayLike,
    variance: ArrayLike,
    *,
    width: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return how far a mean may be from its expectation, given the variance of the sample.

    For ``m >= 2`` independent variables of the same law, with values in a range of the width ``w``
    and the sample variance ``V``, with probability at least ``1 - delta``::

        |E mean - mean| <= sqrt(2 V L / m) + 7 w L / (3 (m - 1)),   L = log(2 sides / delta)

    for deviations in one direction, or in both with ``sides=2``. Nothing has to be known but the
    range.

    Parameters
    ----------
    {n_samples}

    {delta}

    {sample_variance}

    {width}

    {sides}

    Returns
    -------
    epsilon : float or ndarray
        The deviation, infinite for less than two samples.

    See Also
    --------
    bernstein_deviation : With the variance itself.
    empirical_bernstein_sample_size : The number of samples.

    References
    ----------
    .. [1] A. Maurer and M. Pontil, "Empirical Bernstein bounds and sample variance penalization",
       COLT 2009, theorem 4.

    Examples
    --------
    >>> from sklearn_sl.theory import empirical_bernstein_deviation
    >>> empirical_bernstein_deviation(500, 0.05, [0.25, 0.01, 0.0]).round(4)
    array([0.078 , 0.0294, 0.0172])
    """
    m, L = quick_whole("n_samples", n_samples), log_inverse(delta, sides) + math.log(2)
    root, linear = _empirical_terms(m, variance, width)
    return plain(np.where(m > 1, root * np.sqrt(L) + linear * L, np.inf))


@unwarned
@described
def empirical_bernstein_sample_size(
    epsilon: ArrayLike,
    delta: ArrayLike,
    variance: ArrayLike,
    *,
    width: ArrayLike = 1.0,
    sides: int = 1,
) -> float | np.ndarray:
    """Return how many samples the empirical Bernstein inequality asks for.

    The smallest ``m`` for which :func:`empirical_bernstein_deviation` is at most ``epsilon``, if
    the sample will have this variance.

    Parameters
    ----------
    {epsilon}

    {delta}

    {sample_variance}

    {width}

    {sides}

    Returns
    -------
    {sample_size}

    See Also
    --------
    empirical_bernstein_deviation : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import empirical_bernstein_sample_size
    >>> empirical_bernstein_sample_size(0.01, 0.05, [0.25, 0.01, 0.0])
    array([20130.,  2109.,   862.])
    """
    epsilon, v = quick("epsilon", epsilon, 0.0), quick("variance", variance, 0.0)
    L = log_inverse(delta, sides) + math.log(2)
    a, b = np.sqrt(2 * v * L), 7 * quick_positive("width", width) * L / 3
    # With k for both m and m - 1 the root is closed: k <= m <= k + 1.
    k = ((a + np.sqrt(a**2 + 4 * b * epsilon)) / (2 * epsilon)) ** 2
    m = np.fmax(np.ceil(k * (1 - 1e-12)), 2.0)
    enough = a / np.sqrt(m) + b / (m - 1) <= epsilon * (1 + 1e-12)
    return plain(np.where(enough, m, m + 1))


# ---------------------------------------------------------------- McDiarmid, union


@described
def mcdiarmid_tail(
    n_samples: ArrayLike, epsilon: ArrayLike, *, sensitivity: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return McDiarmid's bound for a function that no single variable changes by much.

    If one of ``m`` independent variables, with the others as they are, changes ``f`` by at most
    ``c_i``, then::

        P(f - E f >= epsilon) <= exp(-2 epsilon^2 / sum_i c_i^2)
                               = exp(-2 m epsilon^2 / s^2),   s = m sqrt(mean_i c_i^2)

    For a mean ``c_i = (b - a) / m``, and this is Hoeffding's inequality. It holds as well for
    the largest deviation of a mean over a class, however large the class is.

    Parameters
    ----------
    {n_samples}

    {epsilon}

    {sensitivity}

    {sides}

    Returns
    -------
    {tail}

    See Also
    --------
    hoeffding_tail : For means.

    References
    ----------
    .. [1] C. McDiarmid, "On the method of bounded differences", Surveys in Combinatorics, 1989.

    Examples
    --------
    The share of distinct values in a sample of 200 changes by at most 1/200 with one of them:

    >>> from sklearn_sl.theory import mcdiarmid_tail
    >>> round(mcdiarmid_tail(200, 0.1, sides=2), 4)
    0.0366
    """
    return hoeffding_tail(n_samples, epsilon, width=_sensitivity(sensitivity), sides=sides)


def _sensitivity(value):
    return plain(quick_positive("sensitivity", value))


@described
def mcdiarmid_deviation(
    n_samples: ArrayLike, delta: ArrayLike, *, sensitivity: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return the deviation to which McDiarmid's inequality gives the probability ``delta``.

    ::

        epsilon = s sqrt(log(sides / delta) / (2 m))

    Parameters
    ----------
    {n_samples}

    {delta}

    {sensitivity}

    {sides}

    Returns
    -------
    {deviation}

    See Also
    --------
    mcdiarmid_tail : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import mcdiarmid_deviation
    >>> round(mcdiarmid_deviation(200, 0.05, sensitivity=2.0), 4)
    0.1731
    """
    return hoeffding_deviation(n_samples, delta, width=_sensitivity(sensitivity), sides=sides)


@described
def mcdiarmid_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, *, sensitivity: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return how many samples McDiarmid's inequality asks for.

    ::

        m >= s^2 log(sides / delta) / (2 epsilon^2)

    Parameters
    ----------
    {epsilon}

    {delta}

    {sensitivity}

    {sides}

    Returns
    -------
    {sample_size}

    See Also
    --------
    mcdiarmid_tail : The inequality.

    Examples
    --------
    >>> from sklearn_sl.theory import mcdiarmid_sample_size
    >>> mcdiarmid_sample_size(0.1, 0.05, sensitivity=2.0)
    600.0
    """
    return hoeffding_sample_size(epsilon, delta, width=_sensitivity(sensitivity), sides=sides)


def union_bound(probability: ArrayLike, n_events: ArrayLike = 1) -> float | np.ndarray:
    """Return the union bound: the probability that at least one of several events occurs.

    ::

        P(E_1 or ... or E_n) <= P(E_1) + ... + P(E_n)

    whether or not the events depend on each other. For events of different probabilities give
    their sum.

    Parameters
    ----------
    probability : float or array-like
        The probability of each event, or a bound on it.

    n_events : int or array-like of int, default=1
        The number ``n`` of events.

    Returns
    -------
    probability : float or ndarray
        The bound, at most 1.

    See Also
    --------
    union_level : The other way round.

    Examples
    --------
    >>> from sklearn_sl.theory import hoeffding_tail, union_bound
    >>> round(union_bound(hoeffding_tail(1000, 0.1), n_events=1000), 10)
    2.0612e-06
    """
    p, n = quick("probability", probability, 0.0), quick_whole("n_events", n_events)
    return plain(np.minimum(1.0, n * p))


def union_level(delta: ArrayLike, n_events: ArrayLike) -> float | np.ndarray:
    """Return the probability that each of several events may have, ``delta / n``.

    Then, by the union bound, one of them occurs with probability ``delta`` at most.

    Parameters
    ----------
    delta : float or array-like
        The probability of any of them, between 0 and 1.

    n_events : int or array-like of int
        The number ``n`` of events, 1 or more.

    Returns
    -------
    delta : float or ndarray
        The level of each.

    See Also
    --------
    union_bound : The bound.

    Examples
    --------
    Five classifiers, each compared on the same 1000 validation samples:

    >>> from sklearn_sl.theory import hoeffding_deviation, union_level
    >>> round(hoeffding_deviation(1000, union_level(0.05, 5), sides=2), 4)
    0.0515
    """
    return plain(quick("delta", delta, 0.0, 1.0) / quick_whole("n_events", n_events, 1))


# ---------------------------------------------------------------- binomial


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
    p = quick("p", p, 0.0, 1.0)
    # The incomplete beta function needs m - k > 0.
    return plain(np.where(k >= m, 1.0, special.betainc(np.fmax(m - k, 1.0), k + 1, 1 - p)))


def errors_and_samples(n_errors, n_samples, least=0):
    """Return the numbers of errors and of samples, after checks."""
    k, m = quick_whole("n_errors", n_errors), quick_whole("n_samples", n_samples, least)
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
    return clopper_upper(*errors_and_samples(n_errors, n_samples), quick("delta", delta, 0.0, 1.0))


def clopper_upper(k, m, delta):
    """Return the upper bound for checked arguments."""
    p = special.betainccinv(k + 1, np.fmax(m - k, 1.0), delta)
    return plain(np.where(k >= m, 1.0, p))


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
    return clopper_lower(*errors_and_samples(n_errors, n_samples), quick("delta", delta, 0.0, 1.0))


def clopper_lower(k, m, delta):
    """Return the lower bound for checked arguments."""
    p = special.betaincinv(np.fmax(k, 1.0), m - k + 1, delta)
    return plain(np.where(k == 0, 0.0, p))


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
    epsilon, delta = quick("epsilon", epsilon, 0.0, 1.0), quick("delta", delta, 0.0, 1.0)
    k = quick_whole("n_errors", n_errors)
    if not (np.ndim(epsilon) or np.ndim(delta) or np.ndim(k)):
        return _binomial_size(float(epsilon), float(delta), float(k))
    # No arguments that have another answer than the formula.
    epsilon, delta, k = np.broadcast_arrays(epsilon, delta, k)
    regular = (0 < epsilon) & (epsilon < 1) & (0 < delta) & (delta < 1)
    size = np.where(delta == 1, 0.0, np.where(epsilon * delta > 0, k + 1, np.inf))
    size[regular] = _binomial_sizes(epsilon[regular], delta[regular], k[regular])
    return size


def _binomial_size(epsilon, delta, k):
    """Return what :func:`_binomial_sizes` does, and the edges, for numbers of Python."""
    if delta == 1:
        return 0.0
    if not (epsilon > 0 and delta > 0):
        return math.inf
    if epsilon == 1:
        return k + 1
    if epsilon < 1e-8:
        return float(math.ceil(special.gammainccinv(k + 1, delta) / epsilon))
    delta_up, right = delta * (1 + 1e-12), 1 - epsilon
    a = math.ceil(special.btdtria(delta, k + 1, right) * (1 - 1e-12))
    if special.betainc(a, k + 1, right) > delta_up:
        return k + a + 1
    return k + a - bool(a > 1 and special.betainc(a - 1, k + 1, right) <= delta_up)


def _binomial_sizes(epsilon, delta, k):
    """Return the numbers of samples for probabilities between 0 and 1."""
    # P(Binomial(k + a, epsilon) <= k) = I_{1 - epsilon}(a, k + 1), which falls in a.
    a = np.ceil(special.btdtria(delta, k + 1, 1 - epsilon) * (1 - 1e-12))
    # The inversion may be off by one.
    delta_up, right = delta * (1 + 1e-12), 1 - epsilon
    a = a + (special.betainc(a, k + 1, right) > delta_up)
    m = k + a - (special.betainc(np.fmax(a - 1, 0.5), k + 1, right) <= delta_up) * (a > 1)
    # Of so rare events the number is a Poisson variable, and 1 - epsilon has lost them.
    rare = epsilon < 1e-8
    if np.any(rare):
        m = np.where(rare, np.ceil(special.gammainccinv(k + 1, delta) / epsilon), m)
    return m


# ---------------------------------------------------------------- relative entropy


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
    return plain(_kl(quick("q", q, 0.0, 1.0), quick("p", p, 0.0, 1.0)))


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
    return _kl_upper(quick("q", q, 0.0, 1.0), quick("divergence", divergence, 0.0, np.inf))


def _kl_upper(q, c):
    """Return the largest ``p`` with ``kl(q || p) <= c``, for checked arguments."""
    if np.ndim(q) or np.ndim(c):
        return _kl_roots(*np.broadcast_arrays(q, c))
    return _kl_root(float(q), float(c))


def _kl_root(q, c):
    """Return what :func:`_kl_roots` does, for numbers of Python."""
    if q == 0.0:
        return -math.expm1(-c)
    if c == 0.0 or q == 1.0:
        return q
    entropy = -q * math.log(q) - (1 - q) * math.log1p(-q)
    p = min(q + c + math.sqrt(c * (c + 2 * q)), -math.expm1(-(c + entropy) / (1 - q)))
    p = min(p, q + math.sqrt(c / 2))
    for _ in range(50):
        if not q < p < 1:
            break
        d = p - q
        excess = -q * math.log1p(d / q) - (1 - q) * math.log1p(-d / (1 - q)) - c
        step = excess * p * (1 - p) / d
        p -= step
        if step <= 1e-15 * p:
            break
    return min(max(p, q), 1.0)


def _kl_roots(q, c):
    """Return the largest ``p`` with ``kl(q || p) <= c``, for arrays of one shape."""
    entropy = special.entr(q) + special.entr(1 - q)
    p = np.fmin(q + c + np.sqrt(c * (c + 2 * q)), -np.expm1(-(c + entropy) / (1 - q)))
    p = np.fmin(p, q + np.sqrt(c / 2))
    for _ in range(50):
        d = p - q
        excess = -q * np.log1p(d / q) - (1 - q) * np.log1p(-d / (1 - q)) - c
        step = np.where((q < p) & (p < 1), excess * p * (1 - p) / d, 0.0)
        p = p - step
        if not np.any(step > 1e-15 * p):
            break
    p = np.where(q == 0, -np.expm1(-c), np.where((c == 0) | (q == 1), q, p))
    return np.clip(p, q, 1.0)


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
    q, c = quick("q", q, 0.0, 1.0), quick("divergence", divergence, 0.0, np.inf)
    return _kl_lower(q, c)


def _kl_lower(q, c):
    """Return the smallest ``p`` with ``kl(q || p) <= c``, the mirror image of the largest."""
    return plain(np.fmin(1 - _kl_upper(1 - q, c), q))  # 1 - (1 - q) may be above q


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
    m = quick_whole("n_samples", n_samples)
    return probability(-m * _kl(quick("rate", rate, 0.0, 1.0), quick("p", p, 0.0, 1.0)))


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
    return _kl_upper(quick("rate", rate, 0.0, 1.0), _divergence_of(n_samples, delta))


def _divergence_of(n_samples, delta):
    """Return the divergence that Chernoff's bound gives the probability ``delta``."""
    m = quick_whole("n_samples", n_samples)
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
    return _kl_lower(quick("rate", rate, 0.0, 1.0), _divergence_of(n_samples, delta))


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
    rate = quick("rate", rate, 0.0, 1.0)
    p = np.fmin(rate + quick("epsilon", epsilon, 0.0), 1.0)
    return round_up(log_inverse(delta) / _kl(rate, p))
