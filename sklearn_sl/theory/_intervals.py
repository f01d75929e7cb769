"""An event that no sample shows, and what follows for learners of intervals and boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_sl._docstrings import inserter
from sklearn_sl.theory._concentration import after_samples, from_log, log_inverse, round_up
from sklearn_sl.theory._domain import plain, real, unwarned, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

described = inserter(
    n_samples="""
        n_samples : int or array-like of int
            The number ``m`` of independent samples, 0 or more.
    """,
    error="""
        epsilon : float or array-like
            The probability of error that is allowed, between 0 and 1.
    """,
    delta="""
        delta : float or array-like
            The probability with which the statement may fail, between 0 and 1.
    """,
    sharp="""
        sharp : bool, default=False
            Use ``(1 - epsilon)^m`` instead of the simpler and larger ``exp(-epsilon m)``.
    """,
    n_ends="""
        n_ends : int or array-like of int, default=1
            The number of ends that are learnt: 1 for ``[0, b]``, 2 for an interval, ``2 d`` for a
            box in ``d`` dimensions.
    """,
    failure="""
        delta : float or ndarray
            The bound on the probability, at most 1.
    """,
    sample_size="""
        n_samples : float or ndarray
            The smallest whole number of samples; infinite for an ``epsilon`` or a ``delta`` of 0.
    """,
)


def missing_rate(epsilon, sharp):
    """Return ``r`` of the bound ``exp(-r m)`` on missing an event of probability ``epsilon``."""
    epsilon = real("epsilon", epsilon, 0.0, 1.0)
    # A certain event is missed by no sample at all: a rate that any number of samples multiplies.
    return np.fmin(-np.log1p(-epsilon), 1e300) if sharp else epsilon


def missed(rate, sharp):
    """Return the probability of an event that is missed at a rate, at most 1."""
    return -np.expm1(-rate) if sharp else np.fmin(rate, 1.0)


# ---------------------------------------------------------------- an event that is not seen


@unwarned
@described
def miss_probability(
    n_samples: ArrayLike, epsilon: ArrayLike, *, sharp: bool = True
) -> float | np.ndarray:
    """Return the probability that no sample shows an event of probability ``epsilon``.

    ::

        (1 - epsilon)^m <= exp(-epsilon m)

    This is why learning can only be *approximately* correct: what is rarer than ``1 / m`` is
    probably not in the sample.

    Parameters
    ----------
    {n_samples}

    {error}

    sharp : bool, default=True
        Return ``(1 - epsilon)^m`` itself, not the bound.

    Returns
    -------
    probability : float or ndarray
        The probability.

    See Also
    --------
    missed_mass : How probable a missed event may be.
    miss_sample_size : How many samples show it.

    Examples
    --------
    >>> from sklearn_sl.theory import miss_probability
    >>> round(miss_probability(100, 0.01), 4), round(miss_probability(100, 0.01, sharp=False), 4)
    (0.366, 0.3679)
    """
    m = whole("n_samples", n_samples)
    return from_log(-missing_rate(epsilon, sharp) * m)


@unwarned
@described
def missed_mass(
    n_samples: ArrayLike, delta: ArrayLike, *, sharp: bool = True
) -> float | np.ndarray:
    """Return the largest probability of an event that is missed with probability ``delta``.

    ::

        epsilon = 1 - delta^(1/m) <= log(1 / delta) / m

    Parameters
    ----------
    {n_samples}

    {delta}

    sharp : bool, default=True
        Return the left-hand side, not the right-hand side.

    Returns
    -------
    epsilon : float or ndarray
        The probability, at most 1.

    See Also
    --------
    miss_probability : The inverse.

    Examples
    --------
    >>> from sklearn_sl.theory import missed_mass
    >>> missed_mass([10, 100, 1000], 0.05).round(4)
    array([0.2589, 0.0295, 0.003 ])
    """
    m = whole("n_samples", n_samples)
    return plain(missed(after_samples(m, log_inverse(delta) / m), sharp))


@unwarned
@described
def miss_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, *, sharp: bool = True
) -> float | np.ndarray:
    """Return how many samples reveal an event with probability at least ``1 - delta``.

    ::

        m >= log(1 / delta) / log(1 / (1 - epsilon)),  or  log(1 / delta) / epsilon

    Parameters
    ----------
    {error}

    {delta}

    sharp : bool, default=True
        Return the first number, not the second, which is larger.

    Returns
    -------
    {sample_size}

    See Also
    --------
    miss_probability : The probability.

    Examples
    --------
    >>> from sklearn_sl.theory import miss_sample_size
    >>> miss_sample_size([0.1, 0.01], 0.05)
    array([ 29., 299.])
    """
    return round_up(log_inverse(delta) / missing_rate(epsilon, sharp))


# ---------------------------------------------------------------- intervals and boxes


@unwarned
@described
def interval_failure(
    n_samples: ArrayLike, epsilon: ArrayLike, n_ends: ArrayLike = 1, *, sharp: bool = False
) -> float | np.ndarray:
    """Return how probably the smallest interval of the positive samples errs by ``epsilon``.

    The learner returns ``[0, b]`` with the largest positive sample ``b``, or the interval from the
    smallest to the largest, or the smallest box. It errs only on what lies between an end and the
    true one. If it errs with a probability above ``epsilon``, then for one of the ``e`` ends no
    sample was in the outermost part of probability ``epsilon / e``::

        P(L_D > epsilon) <= e (1 - epsilon / e)^m <= e exp(-epsilon m / e)

    Parameters
    ----------
    {n_samples}

    {error}

    {n_ends}

    {sharp}

    Returns
    -------
    {failure}

    See Also
    --------
    interval_error, interval_sample_size : Its inverses.

    Notes
    -----
    Some lectures have ``m >= log(2 / delta) / epsilon`` for two ends. That makes the error at
    *each* end at most ``epsilon``: 37 samples for ``epsilon = 0.1`` and ``delta = 0.05``, after
    which the sum of both is larger than ``epsilon`` with probability 0.103. For the error itself
    it takes ``2 log(2 / delta) / epsilon``, 74 samples.

    References
    ----------
    .. [1] M. Kearns and U. Vazirani, "An Introduction to Computational Learning Theory", MIT Press,
       1994, chapter 1.

    Examples
    --------
    >>> from sklearn_sl.theory import interval_failure
    >>> interval_failure([10, 30, 100], 0.1, sharp=True).round(4)
    array([0.3487, 0.0424, 0.    ])
    """
    m, ends = whole("n_samples", n_samples), whole("n_ends", n_ends, 1)
    missing = missing_rate(plain(real("epsilon", epsilon, 0.0, 1.0) / ends), sharp)
    return from_log(np.log(ends) - missing * m)


@unwarned
@described
def interval_error(
    n_samples: ArrayLike, delta: ArrayLike, n_ends: ArrayLike = 1, *, sharp: bool = False
) -> float | np.ndarray:
    """Return a bound on the error of the smallest interval of the positive samples.

    With probability at least ``1 - delta``, for ``e`` ends::

        L_D <= e log(e / delta) / m

    Parameters
    ----------
    {n_samples}

    {delta}

    {n_ends}

    {sharp}

    Returns
    -------
    epsilon : float or ndarray
        The bound, at most 1.

    See Also
    --------
    interval_failure : The theorem.

    Examples
    --------
    >>> from sklearn_sl.theory import interval_error
    >>> interval_error(100, 0.05, [1, 2, 4]).round(4)
    array([0.03  , 0.0738, 0.1753])
    """
    m, ends = whole("n_samples", n_samples), whole("n_ends", n_ends, 1)
    rate = after_samples(m, (np.log(ends) + log_inverse(delta)) / m)
    return plain(np.fmin(ends * missed(rate, sharp), 1.0))


@unwarned
@described
def interval_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, n_ends: ArrayLike = 1, *, sharp: bool = False
) -> float | np.ndarray:
    """Return how many samples the smallest interval of the positive samples needs.

    ::

        m >= (e / epsilon) log(e / delta)

    Parameters
    ----------
    {error}

    {delta}

    {n_ends}

    {sharp}

    Returns
    -------
    {sample_size}

    See Also
    --------
    interval_failure : The theorem.

    Examples
    --------
    ``[0, b]``, an interval, a rectangle:

    >>> from sklearn_sl.theory import interval_sample_size
    >>> interval_sample_size(0.1, 0.05, [1, 2, 4])
    array([ 30.,  74., 176.])
    """
    ends = whole("n_ends", n_ends, 1)
    missing = missing_rate(plain(real("epsilon", epsilon, 0.0, 1.0) / ends), sharp)
    return round_up((np.log(ends) + log_inverse(delta)) / missing)
