"""Concentration: how far the mean of a sample may be from its expectation.

Each inequality is three functions. ``..._tail`` is the probability of a deviation,
``..._deviation`` the deviation that has a given probability, and ``..._sample_size`` the number of
samples after which a deviation has a given probability.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl._docstrings import inserter
from sklearn_sl.theory._domain import one_of, plain, positive, real, unwarned, whole

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
            The probability of a larger deviation, between 0 and 1.
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


def log_inverse(delta, sides=1):
    """Return ``log(sides / delta)``, after checks."""
    one_of("sides", sides, (1, 2))
    return np.log(sides / real("delta", delta, 0.0, 1.0))


def from_log(log_bound):
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
    m, epsilon = whole("n_samples", n_samples), real("epsilon", epsilon, 0.0)
    one_of("sides", sides, (1, 2))
    return from_log(math.log(sides) - 2 * m * (epsilon / positive("width", width)) ** 2)


@unwarned
@described
def hoeffding_deviation(
    n_samples: ArrayLike, delta: ArrayLike, *, width: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return the deviation that Hoeffding's inequality allows with probability ``delta``.

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
    m, scale = whole("n_samples", n_samples), positive("width", width)
    return after_samples(m, scale * np.sqrt(log_inverse(delta, sides) / (2 * m)))


@unwarned
@described
def hoeffding_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, *, width: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return how many samples Hoeffding's inequality requires.

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
    scale = positive("width", width) / real("epsilon", epsilon, 0.0)
    return round_up(log_inverse(delta, sides) * scale**2 / 2)


@described
def rms_width(low: ArrayLike, high: ArrayLike, axis: int = -1) -> float | np.ndarray:
    """Return the width that represents variables of different ranges.

    For independent variables with values in ``[a_i, b_i]``, Hoeffding's inequality holds with the
    common width::

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
        To be passed to :func:`hoeffding_tail` and its inverses.

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
    m, epsilon = whole("n_samples", n_samples), real("epsilon", epsilon, 0.0)
    v, b = real("variance", variance, 0.0), positive("bound", bound)
    one_of("sides", sides, (1, 2))
    return from_log(math.log(sides) - m * epsilon / (2 * v / epsilon + 2 * b / 3))


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
    """Return the deviation that Bernstein's inequality allows with probability ``delta``.

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
    m, v = whole("n_samples", n_samples), real("variance", variance, 0.0)
    L = log_inverse(delta, sides)
    linear = positive("bound", bound) * L / (3 * m)
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
    """Return how many samples Bernstein's inequality requires.

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
    epsilon, v = real("epsilon", epsilon, 0.0), real("variance", variance, 0.0)
    needed = (2 * v / epsilon + 2 * positive("bound", bound) / 3) / epsilon
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
    """Return the level at which the empirical Bernstein inequality gives a deviation.

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
    m, epsilon = whole("n_samples", n_samples), real("epsilon", epsilon, 0.0)
    one_of("sides", sides, (1, 2))
    root, linear = _empirical_terms(m, variance, width)
    # The positive root of linear s^2 + root s = epsilon; the probability is exp(-s^2).
    s = 2 * epsilon / (root + np.sqrt(root**2 + 4 * linear * epsilon))
    return from_log(math.log(2 * sides) - s**2)


def _empirical_terms(m, variance, width):
    """Return the factors of ``sqrt(L)`` and of ``L`` in the empirical Bernstein inequality."""
    v, width = real("variance", variance, 0.0), positive("width", width)
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
    m, L = whole("n_samples", n_samples), log_inverse(delta, sides) + math.log(2)
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
    """Return how many samples the empirical Bernstein inequality requires.

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
    epsilon, v = real("epsilon", epsilon, 0.0), real("variance", variance, 0.0)
    L = log_inverse(delta, sides) + math.log(2)
    a, b = np.sqrt(2 * v * L), 7 * positive("width", width) * L / 3
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
    return plain(positive("sensitivity", value))


@described
def mcdiarmid_deviation(
    n_samples: ArrayLike, delta: ArrayLike, *, sensitivity: ArrayLike = 1.0, sides: int = 1
) -> float | np.ndarray:
    """Return the deviation that McDiarmid's inequality allows with probability ``delta``.

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
    """Return how many samples McDiarmid's inequality requires.

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

    whether or not the events depend on each other. For events of different probabilities pass
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
    union_level : The inverse.

    Examples
    --------
    >>> from sklearn_sl.theory import hoeffding_tail, union_bound
    >>> round(union_bound(hoeffding_tail(1000, 0.1), n_events=1000), 10)
    2.0612e-06
    """
    p, n = real("probability", probability, 0.0), whole("n_events", n_events)
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
    return plain(real("delta", delta, 0.0, 1.0) / whole("n_events", n_events, 1))
