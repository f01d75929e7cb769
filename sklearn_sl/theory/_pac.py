"""Probably approximately correct learning of finite classes and of linear classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sklearn_sl._docstrings import inserter
from sklearn_sl.theory._concentration import after_samples, from_log, log_inverse, round_up
from sklearn_sl.theory._domain import log_size_of, one_of, plain, positive, real, unwarned, whole
from sklearn_sl.theory._intervals import missed, missing_rate

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

described = inserter(
    n_hypotheses="""
        n_hypotheses : int, array-like of int or None
            The number ``|H|`` of hypotheses, of any size; None if its logarithm is given.
    """,
    log_n_hypotheses="""
        log_n_hypotheses : float or array-like, default=None
            The natural logarithm of ``|H|``, instead of ``n_hypotheses``; see
            :func:`log_class_size`.
    """,
    n_samples="""
        n_samples : int or array-like of int
            The number ``m`` of independent samples, 0 or more.
    """,
    epsilon="""
        epsilon : float or array-like
            The accuracy, 0 or more.
    """,
    error="""
        epsilon : float or array-like
            The probability of error that is allowed, between 0 and 1.
    """,
    delta="""
        delta : float or array-like
            The probability with which the statement may fail, between 0 and 1.
    """,
    sides="""
        sides : {1, 2}, default=2
            2 for ``|L_S - L_D|``; 1 if the error alone is to be bounded from above, or from below.
    """,
    sharp="""
        sharp : bool, default=False
            Use ``(1 - epsilon)^m`` instead of the simpler and larger ``exp(-epsilon m)``.
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


# ---------------------------------------------------------------- finite classes, realisable


@unwarned
@described
def realizable_failure(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    epsilon: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sharp: bool = False,
) -> float | np.ndarray:
    """Return how probably some hypothesis without training errors has an error above ``epsilon``.

    For a finite class, over the draw of the ``m`` samples::

        P(some h in H: L_S(h) = 0, L_D(h) > epsilon) <= |H| (1 - epsilon)^m <= |H| exp(-epsilon m)

    If the class has a hypothesis that never errs, empirical risk minimisation finds one without
    training errors, so that this bounds the probability that it fails.

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {error}

    {log_n_hypotheses}

    {sharp}

    Returns
    -------
    {failure}

    See Also
    --------
    realizable_sample_size : The number of samples.
    agnostic_failure : If no hypothesis is perfect.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, corollary 2.3.

    Examples
    --------
    >>> from sklearn_sl.theory import realizable_failure
    >>> round(realizable_failure(1000, 100, 0.1), 4)
    0.0454
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    m = whole("n_samples", n_samples)
    return from_log(log_size - missing_rate(epsilon, sharp) * m)


@unwarned
@described
def realizable_error(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sharp: bool = False,
) -> float | np.ndarray:
    """Return a bound on the error of a hypothesis without training errors.

    For a finite class, with probability at least ``1 - delta``, all such hypotheses have::

        L_D(h) <= (log |H| + log(1 / delta)) / m

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {delta}

    {log_n_hypotheses}

    {sharp}

    Returns
    -------
    epsilon : float or ndarray
        The bound, at most 1.

    See Also
    --------
    realizable_failure : The theorem.

    Examples
    --------
    Conjunctions of 10,000 variables; the number of them has 4772 digits:

    >>> from sklearn_sl.theory import realizable_error
    >>> round(realizable_error(3**10000, 100_000, 0.05), 4)
    0.1099
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    m = whole("n_samples", n_samples)
    return plain(missed(after_samples(m, (log_size + log_inverse(delta)) / m), sharp))


@unwarned
@described
def realizable_sample_size(
    n_hypotheses: ArrayLike | None,
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sharp: bool = False,
) -> float | np.ndarray:
    """Return how many samples a finite class needs that has a perfect hypothesis.

    With at least this many, any hypothesis without training errors has an error of at most
    ``epsilon``, with probability at least ``1 - delta``, whatever the distribution::

        m >= log(|H| / delta) / epsilon

    Parameters
    ----------
    {n_hypotheses}

    {error}

    {delta}

    {log_n_hypotheses}

    {sharp}

    Returns
    -------
    {sample_size}

    See Also
    --------
    realizable_failure : The theorem.
    agnostic_sample_size : If no hypothesis is perfect.

    Examples
    --------
    >>> from sklearn_sl.theory import realizable_sample_size
    >>> realizable_sample_size([1000, 10**6], 0.1, 0.05)
    array([100., 169.])
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    return round_up((log_size + log_inverse(delta)) / missing_rate(epsilon, sharp))


# ---------------------------------------------------------------- finite classes, agnostic


@unwarned
@described
def uniform_failure(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    epsilon: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sides: int = 2,
) -> float | np.ndarray:
    """Return how probably some hypothesis has an observed error that is off by ``epsilon``.

    For a finite class and a loss in [0, 1], by Hoeffding's inequality and the union bound::

        P(some h in H: |L_S(h) - L_D(h)| > epsilon) <= 2 |H| exp(-2 m epsilon^2)

    The class may also be the ``r`` candidates that are compared on a validation set.

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {epsilon}

    {log_n_hypotheses}

    {sides}

    Returns
    -------
    {failure}

    See Also
    --------
    uniform_deviation, uniform_sample_size : Its inverses.
    agnostic_failure : What follows for empirical risk minimisation.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, section 4.2.

    Examples
    --------
    >>> from sklearn_sl.theory import uniform_failure
    >>> round(uniform_failure(1000, 600, 0.1), 4)
    0.0123
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    m, epsilon = whole("n_samples", n_samples), real("epsilon", epsilon, 0.0)
    one_of("sides", sides, (1, 2))
    return from_log(log_size + math.log(sides) - 2 * m * epsilon**2)


@unwarned
@described
def uniform_deviation(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sides: int = 2,
) -> float | np.ndarray:
    """Return how far observed errors of a finite class may be from the errors themselves.

    With probability at least ``1 - delta``, for all hypotheses at once::

        |L_S(h) - L_D(h)| <= sqrt(log(2 |H| / delta) / (2 m))

    With ``n_hypotheses=1`` this is the validation bound for a classifier that was fixed before;
    with ``n_hypotheses=r`` it holds for the best of ``r`` candidates on the same validation set.

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {delta}

    {log_n_hypotheses}

    {sides}

    Returns
    -------
    epsilon : float or ndarray
        The deviation, infinite without samples.

    See Also
    --------
    uniform_failure : The theorem.
    validation_bound : Sharper, from the number of errors.

    Examples
    --------
    One classifier, and the best of ten:

    >>> from sklearn_sl.theory import uniform_deviation
    >>> uniform_deviation([1, 10], 1000, 0.05).round(6)
    array([0.042947, 0.054733])
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    m = whole("n_samples", n_samples)
    return after_samples(m, np.sqrt((log_size + log_inverse(delta, sides)) / (2 * m)))


@unwarned
@described
def uniform_sample_size(
    n_hypotheses: ArrayLike | None,
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
    sides: int = 2,
) -> float | np.ndarray:
    """Return how many samples make a sample representative for a finite class.

    With probability at least ``1 - delta`` all observed errors are within ``epsilon`` of the errors
    themselves::

        m >= log(2 |H| / delta) / (2 epsilon^2)

    Parameters
    ----------
    {n_hypotheses}

    {epsilon}

    {delta}

    {log_n_hypotheses}

    {sides}

    Returns
    -------
    {sample_size}

    See Also
    --------
    uniform_failure : The theorem.

    Notes
    -----
    A lecture gives ``n log(2 / delta) / (2 epsilon^2)`` for the ``3^n`` conjunctions of ``n``
    variables, as a lower or an upper bound. It is neither: 161 for ``n = 2``, ``delta = 0.4`` and
    ``epsilon = 0.1``, where 191 are needed, and 1845 for ``n = 10`` and ``delta = 0.05``, where 734
    are.

    Examples
    --------
    >>> from sklearn_sl.theory import uniform_sample_size
    >>> uniform_sample_size([1000, 3**10], 0.1, 0.05)
    array([530., 734.])
    """
    log_size = log_size_of(n_hypotheses, log_n_hypotheses)
    epsilon = real("epsilon", epsilon, 0.0)
    return round_up((log_size + log_inverse(delta, sides)) / (2 * epsilon**2))


@described
def agnostic_failure(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    epsilon: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return how probably empirical risk minimisation is ``epsilon`` worse than the best.

    A sample that is representative up to ``epsilon / 2`` makes it at most ``epsilon`` worse, see
    :func:`erm_excess`. Hence for a finite class and a loss in [0, 1]::

        P(L_D(h_S) > min L_D + epsilon) <= 2 |H| exp(-m epsilon^2 / 2)

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {epsilon}

    {log_n_hypotheses}

    Returns
    -------
    {failure}

    See Also
    --------
    agnostic_excess, agnostic_sample_size : Its inverses.
    realizable_failure : If some hypothesis is perfect.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, corollary 4.6.

    Examples
    --------
    >>> from sklearn_sl.theory import agnostic_failure
    >>> round(agnostic_failure(1000, 2400, 0.1), 4)
    0.0123
    """
    half = plain(real("epsilon", epsilon, 0.0) / 2)
    return uniform_failure(n_hypotheses, n_samples, half, log_n_hypotheses=log_n_hypotheses)


@described
def agnostic_excess(
    n_hypotheses: ArrayLike | None,
    n_samples: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return how much worse than the best hypothesis empirical risk minimisation may be.

    With probability at least ``1 - delta``, for a finite class and a loss in [0, 1]::

        L_D(h_S) <= min_h L_D(h) + 2 sqrt((log |H| + log(2 / delta)) / (2 m))

    Parameters
    ----------
    {n_hypotheses}

    {n_samples}

    {delta}

    {log_n_hypotheses}

    Returns
    -------
    epsilon : float or ndarray
        The excess, infinite without samples.

    See Also
    --------
    agnostic_failure : The theorem.

    Examples
    --------
    >>> from sklearn_sl.theory import agnostic_excess
    >>> round(agnostic_excess(1000, 1000, 0.05), 5)
    0.14558
    """
    return 2 * uniform_deviation(n_hypotheses, n_samples, delta, log_n_hypotheses=log_n_hypotheses)


@described
def agnostic_sample_size(
    n_hypotheses: ArrayLike | None,
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    log_n_hypotheses: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return how many samples a finite class needs for the best hypothesis, up to ``epsilon``.

    With probability at least ``1 - delta`` empirical risk minimisation is at most ``epsilon`` worse
    than the best of the class, whatever the distribution::

        m >= 2 log(2 |H| / delta) / epsilon^2

    Parameters
    ----------
    {n_hypotheses}

    {epsilon}

    {delta}

    {log_n_hypotheses}

    Returns
    -------
    {sample_size}

    See Also
    --------
    agnostic_failure : The theorem.
    realizable_sample_size : If some hypothesis is perfect.

    Examples
    --------
    >>> from sklearn_sl.theory import agnostic_sample_size
    >>> agnostic_sample_size([1000, 10**6], 0.1, 0.05)
    array([2120., 3501.])
    """
    half = plain(real("epsilon", epsilon, 0.0) / 2)
    return uniform_sample_size(n_hypotheses, half, delta, log_n_hypotheses=log_n_hypotheses)


class ErmErrors(NamedTuple):
    """The error of empirical risk minimisation in two parts; see :func:`erm_excess`.

    Attributes
    ----------
    approximation : float or ndarray
        The error of the best hypothesis, ``min_h L_D(h)``.

    estimation : float or ndarray
        How much worse the choice is, ``L_D(h_S) - min_h L_D(h)``; for the worst choice if several
        hypotheses have the smallest observed error.

    gap : float or ndarray
        The largest ``|L_S(h) - L_D(h)|``: the sample is representative up to this.

    See Also
    --------
    erm_excess : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import erm_excess
    >>> errors = erm_excess([0.10, 0.15, 0.3], [0.2, 0.1, 0.4])
    >>> [round(part, 2) for part in errors]
    [0.1, 0.1, 0.1]
    """

    approximation: float | np.ndarray
    estimation: float | np.ndarray
    gap: float | np.ndarray


def erm_excess(observed: ArrayLike, errors: ArrayLike) -> ErmErrors:
    """Return the parts of the error of empirical risk minimisation in a finite class.

    The error of the chosen hypothesis is the error of the best one and an excess::

        L_D(h_S) = min_h L_D(h) + (L_D(h_S) - min_h L_D(h)),   h_S in argmin_h L_S(h)

    If the sample is representative, ``|L_S(h) - L_D(h)| <= gap`` for all hypotheses, then the
    excess is at most ``2 gap``.

    Parameters
    ----------
    observed : array-like of shape (..., n_hypotheses)
        The errors ``L_S(h)`` on a sample, or on several samples.

    errors : array-like of shape (..., n_hypotheses)
        The errors ``L_D(h)`` themselves.

    Returns
    -------
    parts : ErmErrors
        With ``approximation``, ``estimation`` and ``gap``.

    See Also
    --------
    error_decomposition : For an estimator, by simulation.
    agnostic_excess : The bound that follows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import agnostic_excess, erm_excess
    >>> errors = np.linspace(0.2, 0.5, 31)
    >>> observed = np.random.default_rng(0).binomial(100, errors) / 100
    >>> parts = erm_excess(observed, errors)
    >>> parts.estimation <= 2 * parts.gap <= agnostic_excess(31, 100, 0.05)
    True
    """
    observed, errors = real("observed", observed), real("errors", errors)
    if not observed.ndim or observed.shape[-1:] != errors.shape[-1:] or not observed.shape[-1]:
        raise ValueError(
            "observed and errors must have an entry for each hypothesis; got the shapes "
            f"{observed.shape} and {errors.shape}."
        )
    best = errors.min(axis=-1)
    least = observed == observed.min(axis=-1, keepdims=True)
    chosen = np.where(least, errors, -np.inf).max(axis=-1)
    gap = np.abs(observed - errors).max(axis=-1)
    return ErmErrors(plain(best), plain(chosen - best), plain(gap))


# ---------------------------------------------------------------- the sizes of classes

# The natural logarithm of the number of hypotheses, as a function of the parameter.
FAMILIES = {
    "conjunctions": lambda n: n * math.log(3),
    "conjunctions or false": lambda n: np.logaddexp(n * math.log(3), 0.0),
    "monotone conjunctions": lambda n: n * math.log(2),
    "boolean functions": lambda n: np.exp2(n) * math.log(2),
    "dnf formulas": lambda n: 3.0**n * math.log(2),
    "programs": lambda n: n * math.log(2) + np.log(2.0 - np.exp2(-n)),
    "float64 parameters": lambda n: 64 * n * math.log(2),
}


@unwarned
def log_class_size(family: str, size: ArrayLike) -> float | np.ndarray:
    """Return the natural logarithm of the number of hypotheses of a finite class.

    Parameters
    ----------
    family : str
        One of:

        - ``"conjunctions"`` of ``n`` boolean variables: ``3^n``, each variable is there, negated
          or absent. Disjunctions are as many.
        - ``"conjunctions or false"``: ``3^n + 1``, with the contradictory one.
        - ``"monotone conjunctions"``: ``2^n``, without negations.
        - ``"boolean functions"`` of ``n`` variables: ``2^(2^n)``.
        - ``"dnf formulas"``: ``2^(3^n)``, the sets of conjunctions. Different ones may be the same
          function, so that this counts more than there are functions.
        - ``"programs"`` of at most ``b`` bits: ``2^(b + 1) - 1``.
        - ``"float64 parameters"``: ``2^(64 n)``, what a computer can tell apart of any class with
          ``n`` real parameters.

    size : int or array-like of int
        The number ``n`` of variables or parameters, or ``b`` of bits.

    Returns
    -------
    log_size : float or ndarray
        The logarithm, for ``log_n_hypotheses`` of the bounds.

    See Also
    --------
    count_disjunctions : Conjunctions and disjunctions with a given number of literals.
    agnostic_sample_size : What one needs it for.

    Examples
    --------
    Conjunctions are easy to learn, arbitrary boolean functions are not:

    >>> from sklearn_sl.theory import log_class_size, uniform_sample_size
    >>> for family in ("conjunctions", "boolean functions"):
    ...     log_size = log_class_size(family, [5, 10, 20])
    ...     print(uniform_sample_size(None, 0.1, 0.05, log_n_hypotheses=log_size))
    [ 460.  734. 1284.]
    [1.294000e+03 3.567400e+04 3.634106e+07]
    """
    count = FAMILIES[one_of("family", family, FAMILIES)]
    return plain(count(whole("size", size)))


# ---------------------------------------------------------------- large margins


@unwarned
@described
def linear_margin_deviation(
    n_samples: ArrayLike, delta: ArrayLike, margin: ArrayLike, *, radius: ArrayLike = 1.0
) -> float | np.ndarray:
    """Return how much the error of a linear classifier may exceed its share of small margins.

    With probability at least ``1 - delta``, for all ``w`` of norm at most 1, in a space of any
    dimension or in that of a kernel, if no sample is longer than ``R``::

        P(y <w, x> <= 0) <= share of samples with y <w, x> < gamma
                            + 2 R / (gamma sqrt(m)) + sqrt(log(1 / delta) / (2 m))

    ``gamma`` is fixed before the samples are seen.

    Parameters
    ----------
    {n_samples}

    {delta}

    margin : float or array-like
        The margin ``gamma``, more than 0.

    radius : float or array-like, default=1.0
        The length ``R`` of the longest sample.

    Returns
    -------
    epsilon : float or ndarray
        The deviation, infinite without samples.

    See Also
    --------
    linear_margin_sample_size : The number of samples.
    margin_bound : The margins of boosting, with a constant that is open.

    Notes
    -----
    The ramp that falls from 1 at margin 0 to 0 at margin ``gamma`` lies between both shares, and
    has the slope ``1 / gamma``. The mean of its largest deviation over the class is at most twice
    the Rademacher complexity, which is at most ``R / (gamma sqrt(m))``; McDiarmid's inequality
    gives the last term.

    References
    ----------
    .. [1] M. Mohri, A. Rostamizadeh and A. Talwalkar, "Foundations of Machine Learning", 2nd
       edition, MIT Press, 2018, section 5.4.

    Examples
    --------
    >>> from sklearn_sl.theory import linear_margin_deviation
    >>> linear_margin_deviation([1000, 10**4, 10**5], 0.05, 0.2).round(3)
    array([0.355, 0.112, 0.035])
    """
    m, delta_term = whole("n_samples", n_samples), log_inverse(delta)
    complexity = 2 * real("radius", radius, 0.0) / positive("margin", margin)
    return after_samples(m, (complexity + np.sqrt(delta_term / 2)) / np.sqrt(m))


@unwarned
@described
def linear_margin_sample_size(
    epsilon: ArrayLike, delta: ArrayLike, margin: ArrayLike, *, radius: ArrayLike = 1.0
) -> float | np.ndarray:
    """Return how many samples a linear classifier with a large margin needs.

    With probability at least ``1 - delta`` its error is at most ``epsilon`` above the share of its
    training samples with a margin below ``gamma``::

        m >= ((2 R / gamma + sqrt(log(1 / delta) / 2)) / epsilon)^2

    Parameters
    ----------
    {epsilon}

    {delta}

    margin : float or array-like
        The margin ``gamma`` that the training samples have, more than 0.

    radius : float or array-like, default=1.0
        The length ``R`` of the longest sample.

    Returns
    -------
    {sample_size}

    See Also
    --------
    linear_margin_deviation : The theorem.

    Examples
    --------
    >>> from sklearn_sl.theory import linear_margin_sample_size
    >>> linear_margin_sample_size(0.1, 0.05, [0.5, 0.2, 0.1])
    array([ 2729., 12598., 45046.])
    """
    complexity = 2 * real("radius", radius, 0.0) / positive("margin", margin)
    epsilon = real("epsilon", epsilon, 0.0)
    return round_up(((complexity + np.sqrt(log_inverse(delta) / 2)) / epsilon) ** 2)


@unwarned
@described
def online_to_batch_sample_size(
    n_mistakes: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> float | np.ndarray:
    """Return how many samples make a learner with a mistake bound accurate.

    A learner that makes at most ``B`` mistakes goes once through ``m`` samples, and one of its
    hypotheses is drawn at random. Its expected probability of error is at most ``B / m``, so that
    by Markov's inequality it exceeds ``epsilon`` with probability at most ``B / (m epsilon)``::

        m >= B / (epsilon delta)

    Parameters
    ----------
    n_mistakes : float or array-like
        The bound ``B`` on the number of mistakes, such as :func:`perceptron_bound`.

    {error}

    {delta}

    Returns
    -------
    {sample_size}

    See Also
    --------
    sklearn_sl.online.online_to_batch : Draws the hypothesis.

    References
    ----------
    .. [1] N. Littlestone, "From on-line to batch learning", COLT 1989.

    Examples
    --------
    The perceptron with a margin of a tenth of the radius makes at most 100 mistakes:

    >>> from sklearn_sl.theory import online_to_batch_sample_size
    >>> online_to_batch_sample_size(100, 0.1, 0.05)
    20000.0
    """
    B = real("n_mistakes", n_mistakes, 0.0)
    return round_up(B / real("epsilon", epsilon, 0.0, 1.0) / real("delta", delta, 0.0, 1.0))
