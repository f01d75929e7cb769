"""Sample sizes, accuracies and penalties by VC dimension."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy.special import betainc, binom, wrightomega
from sklearn.utils import check_random_state

from sklearn_sl.theory._domain import (
    integer,
    plain,
    positive,
    probability,
    real,
    short,
    single_probability,
    unwarned,
    whole,
)
from sklearn_sl.theory._sign_matrix import as_signs

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

LOG2 = math.log(2)
# Below this probability a sum of binomials is taken by its ratios instead.
UNDERFLOW = 1e-280
# Terms of a series that are a smaller share of the sum do not matter.
TINY = 1e-17


# ---------------------------------------------------------------- Sauer and Shelah


@unwarned
def sauer_shelah(
    n_points: ArrayLike,
    vc_dimension: ArrayLike,
    form: Literal["sum", "power"] = "sum",
    *,
    log: bool = False,
) -> float | np.ndarray:
    """Return the bound of Sauer and Shelah on the growth function.

    The number of patterns of a class of VC dimension ``d`` on ``m`` points is bounded by::

        Pi(m) <= sum_{i <= d} binomial(m, i) <= (e m / d)^d

    The second bound holds for ``m >= d >= 1``; for smaller ``m`` the function returns ``2^m``,
    which is exact. The sum is attained, for example by all sets of at most ``d`` points.

    Parameters
    ----------
    n_points : int or array-like of int
        The number ``m`` of points.

    vc_dimension : int or array-like of int
        The VC dimension ``d``.

    form : {"sum", "power"}, default="sum"
        Which of the two bounds.

    log : bool, default=False
        Whether to return the natural logarithm, which does not overflow.

    Returns
    -------
    bound : float or ndarray
        There are no more patterns; infinite where that exceeds float64.

    See Also
    --------
    growth_function : The exact number, for finite classes.

    References
    ----------
    .. [1] N. Sauer, "On the density of families of sets", Journal of Combinatorial Theory A 13,
       1972.

    .. [2] S. Shelah, "A combinatorial problem; stability and order for models and theories in
       infinitary languages", Pacific Journal of Mathematics 41, 1972.

    Examples
    --------
    Linear functions in dimension 20: the share of all labellings falls once there are more than
    twice as many points.

    >>> import numpy as np
    >>> from sklearn_sl.theory import sauer_shelah
    >>> m = np.array([20, 30, 40, 60])
    >>> (sauer_shelah(m, 20) / 2.0**m).round(3)
    array([1.   , 0.979, 0.563, 0.007])
    """
    m, d = whole("n_points", n_points, low=0), whole("vc_dimension", vc_dimension, low=0)
    if form not in ("sum", "power"):
        raise ValueError(f'form must be "sum" or "power"; got {form!r}.')
    logs = log_sauer(m, d) if form == "sum" else _log_power(m, d)
    if log:
        return plain(logs)
    bound = np.exp(logs)
    if form == "sum":  # a whole number
        bound = np.where(bound < 2**40, np.rint(bound), bound)
    return plain(bound)


def log_sauer(m, d):
    """Return the logarithm of how many subsets of ``m`` points have at most ``d`` points."""
    share = betainc(np.maximum(1.0, m - d), d + 1, 0.5)
    if not (np.ndim(m) or np.ndim(d)):
        if m <= d:
            return m * LOG2
        return m * LOG2 + math.log(share) if share >= UNDERFLOW else _log_by_ratio(m, d)
    m, d = np.broadcast_arrays(m, d)
    tiny = (m > d) & (share < UNDERFLOW)
    logs = m * LOG2 + np.log(np.where((m > d) & ~tiny, share, 1.0))
    if np.any(tiny):
        logs[tiny] = _log_by_ratios(m[tiny], d[tiny])
    return logs


def _log_by_ratio(m, d):
    """Return the same for ``d`` far below ``m / 2``: the largest binomial, times a series."""
    total = term = 1.0
    i = 0
    while term > total * TINY:
        term *= (d - i) / (m - d + 1 + i)
        total += term
        i += 1
    return float(_log_binomial(m, d)) + math.log(total)


def _log_by_ratios(m, d):
    """Return the same for vectors."""
    total, term, at, i = np.ones(len(m)), np.ones(len(m)), np.arange(len(m)), 0
    while len(at):
        term *= (d[at] - i) / (m[at] - d[at] + 1 + i)
        total[at] += term
        matters = term > total[at] * TINY
        at, term = at[matters], term[matters]
        i += 1
    return _log_binomial(m, d) + np.log(total)


def _log_binomial(m, d):
    """Return the logarithm of a binomial coefficient with ``0 <= d <= m / 2``."""
    count = binom(m, d)
    if np.all(np.isfinite(count)):
        return np.log(count)
    # What overflows has so large arguments that the series of Stirling is exact.
    n = np.maximum(d, 1.0)
    entropy = n * np.log(m / n) - (m - n) * np.log1p(-n / m)
    large = entropy - np.log(2 * np.pi * n * (1 - n / m)) / 2
    large += _stirling(m) - _stirling(n) - _stirling(m - n)
    return np.where(np.isfinite(count), np.log(count), large)


def _stirling(n):
    """Return what the approximation of Stirling lacks in ``log(n!)``."""
    return (1 - (1 / 30 - 1 / (105 * n**2)) / n**2) / (12 * n)


def _log_power(m, d):
    """Return the logarithm of ``(e m / d)^d``, and of ``2^m`` up to ``m = d``."""
    ratio = np.maximum(m, 1.0) / np.maximum(d, 1.0)
    return np.where(m > d, d * (1 + np.log(ratio)), m * LOG2)


# ---------------------------------------------------------------- the fundamental theorem


def _fundamental(setting, side, constant):
    """Check what the statements of the fundamental theorem share; return the constant."""
    if setting not in ("realizable", "agnostic"):
        raise ValueError(f'setting must be "realizable" or "agnostic"; got {setting!r}.')
    if side not in ("upper", "lower"):
        raise ValueError(f'side must be "upper" or "lower"; got {side!r}.')
    return positive("constant", constant)


@unwarned
def vc_sample_size(
    vc_dimension: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    *,
    setting: Literal["realizable", "agnostic"] = "realizable",
    side: Literal["upper", "lower"] = "upper",
    constant: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return a sample size of the fundamental theorem of statistical learning.

    To learn a class of VC dimension ``d`` up to an error of ``epsilon`` with probability
    ``1 - delta``, samples of the following sizes are sufficient (``side="upper"``) for some
    constant ``C``, and necessary (``side="lower"``) for another one::

        realizable, upper    C (d log(1/epsilon) + log(1/delta)) / epsilon
        realizable, lower    C (d + log(1/delta)) / epsilon
        agnostic, both       C (d + log(1/delta)) / epsilon^2

    In the realizable case some hypothesis makes no error; in the agnostic one ``epsilon`` is the
    excess of the error of the empirical minimiser over the smallest one. **The theorem says that
    there are such constants, not what they are.** With ``constant=1``, a unit, the sizes show how
    problems compare; bounds with known constants are :func:`vc_generalization_bound` and
    :func:`double_sample_bound`.

    Parameters
    ----------
    vc_dimension : int or array-like of int
        The VC dimension ``d``.

    epsilon : float or array-like
        The accuracy, in (0, 1].

    delta : float or array-like
        The probability of a failure, in (0, 1].

    setting : {"realizable", "agnostic"}, default="realizable"
        Whether some hypothesis makes no error.

    side : {"upper", "lower"}, default="upper"
        Whether the size is sufficient or necessary.

    constant : float or array-like, default=1.0
        The constant ``C``.

    Returns
    -------
    n_samples : float or ndarray
        The size, not rounded.

    See Also
    --------
    vc_accuracy : The same, solved for ``epsilon``.
    vc_confidence : The same, solved for ``delta``.

    References
    ----------
    .. [1] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, theorem 6.8.

    .. [2] A. Blumer, A. Ehrenfeucht, D. Haussler and M. Warmuth, "Learnability and the
       Vapnik-Chervonenkis dimension", Journal of the ACM 36, 1989.

    Examples
    --------
    Ten times the accuracy takes over ten times the samples, and a hundred times if no hypothesis is
    without error:

    >>> from sklearn_sl.theory import vc_sample_size
    >>> vc_sample_size(10, [0.1, 0.01], 0.05).round()
    array([ 260., 4905.])
    >>> vc_sample_size(10, [0.1, 0.01], 0.05, setting="agnostic").round()
    array([  1300., 129957.])
    """
    d = whole("vc_dimension", vc_dimension, low=0)
    epsilon, delta = probability("epsilon", epsilon), probability("delta", delta)
    constant = _fundamental(setting, side, constant)
    if setting == "agnostic":
        return plain(constant * (d - np.log(delta)) / epsilon**2)
    if side == "upper":
        d = d * -np.log(epsilon)
    return plain(constant * (d - np.log(delta)) / epsilon)


@unwarned
def vc_accuracy(
    n_samples: ArrayLike,
    vc_dimension: ArrayLike,
    delta: ArrayLike,
    *,
    setting: Literal["realizable", "agnostic"] = "realizable",
    side: Literal["upper", "lower"] = "upper",
    constant: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return the accuracy at which :func:`vc_sample_size` is the given sample size.

    Parameters
    ----------
    n_samples : float or array-like
        The sample size, positive.

    vc_dimension : int or array-like of int
        The VC dimension ``d``.

    delta : float or array-like
        The probability of a failure, in (0, 1].

    setting : {"realizable", "agnostic"}, default="realizable"
        Whether some hypothesis makes no error.

    side : {"upper", "lower"}, default="upper"
        Whether the size is sufficient or necessary.

    constant : float or array-like, default=1.0
        The constant ``C``.

    Returns
    -------
    epsilon : float or ndarray
        The accuracy. The theorem says nothing where it exceeds one.

    See Also
    --------
    vc_sample_size : The theorem.

    Examples
    --------
    >>> from sklearn_sl.theory import vc_accuracy, vc_sample_size
    >>> round(vc_accuracy(vc_sample_size(10, 0.01, 0.05), 10, 0.05), 9)
    0.01
    """
    m, d = positive("n_samples", n_samples), whole("vc_dimension", vc_dimension, low=0)
    confidence = -np.log(probability("delta", delta))
    rate = m / _fundamental(setting, side, constant)
    if setting == "agnostic":
        return plain(np.sqrt((d + confidence) / rate))
    if side == "lower":
        return plain((d + confidence) / rate)
    # rate * epsilon + d log(epsilon) = confidence, by the omega function of Wright
    known = np.maximum(1.0, d)
    slope = rate / known
    solved = wrightomega(np.log(slope) + confidence / known) / slope
    return plain(np.where(d > 0, solved, confidence / rate))


@unwarned
def vc_confidence(
    n_samples: ArrayLike,
    vc_dimension: ArrayLike,
    epsilon: ArrayLike,
    *,
    setting: Literal["realizable", "agnostic"] = "realizable",
    side: Literal["upper", "lower"] = "upper",
    constant: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return the probability of a failure at which :func:`vc_sample_size` is the given sample size.

    Parameters
    ----------
    n_samples : float or array-like
        The sample size, positive.

    vc_dimension : int or array-like of int
        The VC dimension ``d``.

    epsilon : float or array-like
        The accuracy, in (0, 1].

    setting : {"realizable", "agnostic"}, default="realizable"
        Whether some hypothesis makes no error.

    side : {"upper", "lower"}, default="upper"
        Whether the size is sufficient or necessary.

    constant : float or array-like, default=1.0
        The constant ``C``.

    Returns
    -------
    delta : float or ndarray
        The probability, one where the theorem is vacuous.

    See Also
    --------
    vc_sample_size : The theorem.

    Examples
    --------
    >>> from sklearn_sl.theory import vc_confidence, vc_sample_size
    >>> round(vc_confidence(vc_sample_size(10, 0.01, 0.05), 10, 0.01), 9)
    0.05
    """
    m, d = positive("n_samples", n_samples), whole("vc_dimension", vc_dimension, low=0)
    epsilon = probability("epsilon", epsilon)
    rate = m / _fundamental(setting, side, constant)
    if setting == "agnostic":
        exponent = rate * epsilon**2 - d
    else:
        exponent = rate * epsilon - (d * -np.log(epsilon) if side == "upper" else d)
    return plain(np.exp(-np.maximum(0.0, exponent)))


# ---------------------------------------------------------------- bounds with their constants


@unwarned
def vc_generalization_bound(
    n_samples: ArrayLike,
    vc_dimension: ArrayLike,
    delta: ArrayLike,
    *,
    training_error: ArrayLike = 0.0,
    constant: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return a bound on the error of every hypothesis of a class, by its training error.

    With probability ``1 - delta`` over ``m`` independent samples, for all hypotheses ``h`` of a
    class of VC dimension ``d`` at once, with ``Pi`` bounded by :func:`sauer_shelah`::

        L_D(h) <= L_S(h) + sqrt(8 (log Pi(2m) + log(4 / delta)) / m)

    This is proved as it stands, for every law of the samples. There is also
    ``L_D(h) <= L_S(h) + C sqrt((d + log(1/delta)) / (2m))``, without the logarithm of ``m``, for
    some constant ``C`` that the theorem does not tell; it is used if ``constant`` is given.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number ``m`` of samples, at least one.

    vc_dimension : int or array-like of int
        The VC dimension ``d``.

    delta : float or array-like
        The probability that the bound fails, in (0, 1].

    training_error : float or array-like, default=0.0
        The share ``L_S(h)`` of errors on the samples.

    constant : float or array-like, default=None
        The constant ``C`` of the second form. None: the first form.

    Returns
    -------
    bound : float or ndarray
        It is vacuous where it exceeds one.

    See Also
    --------
    double_sample_bound : Better if the training error is zero.
    structural_risk_penalty : The term of structural risk minimisation.

    References
    ----------
    .. [1] V. Vapnik and A. Chervonenkis, "On the uniform convergence of relative frequencies of
       events to their probabilities", Theory of Probability and its Applications 16, 1971.

    .. [2] S. Shalev-Shwartz and S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press, 2014, chapter 6.

    Examples
    --------
    For half-spaces in ten dimensions it takes thousands of samples to say anything at all:

    >>> from sklearn_sl.theory import vc_generalization_bound
    >>> vc_generalization_bound([1_000, 10_000, 100_000], 11, 0.05).round(2)
    array([0.75, 0.28, 0.1 ])
    """
    m, d = whole("n_samples", n_samples, low=1), whole("vc_dimension", vc_dimension, low=0)
    delta = probability("delta", delta)
    training_error = real("training_error", training_error, 0.0, 1.0)
    if constant is not None:
        term = positive("constant", constant) * np.sqrt((d - np.log(delta)) / (2 * m))
    else:
        term = np.sqrt(8 * (log_sauer(2 * m, d) + np.log(4 / delta)) / m)
    return plain(training_error + term)


@unwarned
def double_sample_bound(
    n_samples: ArrayLike, vc_dimension: ArrayLike, epsilon: ArrayLike
) -> float | np.ndarray:
    """Return a bound on the probability that a hypothesis with a large error is consistent.

    The two-sample trick: if a hypothesis with an error above ``epsilon`` makes none on ``m``
    samples, it is likely to make ``epsilon m / 2`` on ``m`` others. Now the hypotheses matter by
    their patterns on ``2m`` points alone, and random exchanges between both halves give::

        P(some h: L_S(h) = 0 and L_D(h) > epsilon) <= 2 Pi(2m) exp(-epsilon m / 4)

    for ``epsilon m >= 8``; ``Pi`` is bounded by :func:`sauer_shelah`.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number ``m`` of samples, at least one.

    vc_dimension : int or array-like of int
        The VC dimension of the class.

    epsilon : float or array-like
        The error, in (0, 1].

    Returns
    -------
    probability : float or ndarray
        The bound, one where the theorem is vacuous.

    See Also
    --------
    two_sample_trick : The same events in a simulation.

    References
    ----------
    .. [1] A. Blumer, A. Ehrenfeucht, D. Haussler and M. Warmuth, "Learnability and the
       Vapnik-Chervonenkis dimension", Journal of the ACM 36, 1989.

    Examples
    --------
    >>> from sklearn_sl.theory import double_sample_bound
    >>> double_sample_bound([700, 1_000, 1_300], 3, 0.1).round(3)
    array([1.   , 0.037, 0.   ])
    """
    m, d = whole("n_samples", n_samples, low=1), whole("vc_dimension", vc_dimension, low=0)
    epsilon = probability("epsilon", epsilon)
    exponent = np.maximum(0.0, epsilon * m / 4 - LOG2 - log_sauer(2 * m, d))
    return plain(np.where(epsilon * m >= 8, np.exp(-exponent), 1.0))


@unwarned
def structural_risk_penalty(
    n_samples: ArrayLike,
    vc_dimension: ArrayLike,
    delta: ArrayLike,
    *,
    constant: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return the penalty of structural risk minimisation for the size of a class.

    Of several classes, for each of which the training error is minimised, choose the one with the
    least sum of its training error and::

        C sqrt((d / m) log(m / d) + log(1/delta) / m)

    The error exceeds that of the best hypothesis of the class by at most this, for some constant
    ``C`` that the theorem leaves open: ``constant=1`` is a unit. For ``d = 0`` the first term is
    zero. It holds, and grows with ``d``, for ``d < m``; the choice makes sense up to ``m / e``.

    Parameters
    ----------
    n_samples : int or array-like of int
        The number ``m`` of samples.

    vc_dimension : int or array-like of int
        The VC dimension ``d`` of each class, below ``m``.

    delta : float or array-like
        The probability of a failure, in (0, 1].

    constant : float or array-like, default=1.0
        The constant ``C``.

    Returns
    -------
    penalty : float or ndarray
        What to add to the training error.

    See Also
    --------
    vc_generalization_bound : A bound whose constant is known.

    References
    ----------
    .. [1] V. Vapnik, "Statistical Learning Theory", Wiley, 1998.

    Examples
    --------
    Polynomials of degree 0 to 4 as classifiers on the line, with their training errors:

    >>> import numpy as np
    >>> from sklearn_sl.theory import structural_risk_penalty
    >>> training_errors = np.array([0.45, 0.2, 0.05, 0.04, 0.04])
    >>> risks = training_errors + structural_risk_penalty(1000, np.arange(1, 6), 0.05)
    >>> int(np.argmin(risks))
    2
    """
    m, d = whole("n_samples", n_samples, low=1), whole("vc_dimension", vc_dimension, low=0)
    if not np.all(d < m):
        raise ValueError(
            f"vc_dimension must be < n_samples={short(n_samples)}; got {short(vc_dimension)}."
        )
    confidence = -np.log(probability("delta", delta))
    patterns = d * np.log(m / np.maximum(1.0, d))
    return plain(positive("constant", constant) * np.sqrt((patterns + confidence) / m))


# ---------------------------------------------------------------- the two-sample trick


class TwoSamples(NamedTuple):
    """The events of the two-sample trick in a simulation; see :func:`two_sample_trick`.

    Attributes
    ----------
    consistent : float
        How often some hypothesis with an error above ``epsilon`` made none on the first sample.

    split : float
        How often some such hypothesis made none on the first and at least ``epsilon m / 2`` errors
        on the second sample. By the lemma at least half of ``consistent``, but for chance.

    bound : float
        The bound of the theorem on ``consistent``, with the number of hypotheses for ``Pi(2m)``
        where that is smaller.

    n_repeats : int
        The number of pairs of samples.

    See Also
    --------
    two_sample_trick : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import two_sample_trick
    >>> two_sample_trick([[1, 1], [1, -1]], 0, [0.9, 0.1], 100, 0.08, random_state=0).bound
    0.5413411329464508
    """

    consistent: float
    split: float
    bound: float
    n_repeats: int


def two_sample_trick(
    signs: ArrayLike,
    target: int,
    probabilities: ArrayLike,
    n_samples: int,
    epsilon: float,
    *,
    n_repeats: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> TwoSamples:
    """Simulate the two-sample trick, the heart of the proof that finite VC dimension is enough.

    Pairs of samples ``S`` and ``T`` of size ``m`` are drawn from a law on finitely many points,
    with the labels of one of the hypotheses. The lemma says, for ``epsilon m >= 8``::

        P(some h: L_D(h) > epsilon, L_S(h) = 0)
            <= 2 P(some h: L_D(h) > epsilon, L_S(h) = 0 and L_T(h) >= epsilon / 2)
            <= 2 Pi(2m) exp(-epsilon m / 4)

    Parameters
    ----------
    signs : array-like of shape (n_hypotheses, n_points)
        The labels of the hypotheses, either -1 and 1, or 0 and 1, or booleans.

    target : int
        The row with the true labels.

    probabilities : array-like of shape (n_points,)
        The law of the points; the sum is one.

    n_samples : int
        The size ``m`` of each sample, at least ``8 / epsilon``.

    epsilon : float
        Hypotheses with a larger error are bad.

    n_repeats : int, default=1000
        The number of pairs.

    random_state : int, RandomState instance or None, default=None
        For the draws.

    Returns
    -------
    shares : TwoSamples
        How often each of the two events happened, and the ``bound``.

    See Also
    --------
    double_sample_bound : The bound for infinite classes.

    References
    ----------
    .. [1] A. Blumer, A. Ehrenfeucht, D. Haussler and M. Warmuth, "Learnability and the
       Vapnik-Chervonenkis dimension", Journal of the ACM 36, 1989.

    Examples
    --------
    Thresholds on 50 points, of which those that are far from the true one are bad:

    >>> import numpy as np
    >>> from sklearn_sl.theory import two_sample_trick
    >>> places = np.arange(50)
    >>> signs = np.where(places >= np.arange(51)[:, None], 1, -1)
    >>> shares = two_sample_trick(signs, 25, np.full(50, 0.02), 80, 0.1, random_state=0)
    >>> shares.consistent <= 2 * shares.split
    True
    """
    signs, p = as_signs(signs), law("probabilities", probabilities)
    if p.shape != signs.shape[1:]:
        raise ValueError(
            f"probabilities must have one entry for each of {signs.shape[1]} points; got shape "
            f"{p.shape}."
        )
    if integer("target", target, low=0) >= len(signs):
        raise ValueError(f"target must be a row of signs, which has {len(signs)}; got {target!r}.")
    m, epsilon = integer("n_samples", n_samples, low=1), single_probability("epsilon", epsilon)
    if m * epsilon < 8:
        raise ValueError(f"n_samples must be >= 8 / epsilon = {8 / epsilon:g}; got {m}.")
    n_repeats = integer("n_repeats", n_repeats, low=1)
    wrong = signs != signs[int(target)]
    bad = wrong[wrong @ p > epsilon].astype(np.float64).T
    rng = check_random_state(random_state)
    first, second = (rng.multinomial(m, p, size=n_repeats) @ bad for _ in range(2))
    consistent = first == 0
    split = consistent & (second >= epsilon * m / 2)
    bound = min(2 * len(np.unique(signs, axis=0)) * math.exp(-epsilon * m / 4), 1.0)
    shares = (float(event.any(axis=1).mean()) for event in (consistent, split))
    return TwoSamples(*shares, bound, n_repeats)


def law(name, value):
    """Return non-negative numbers whose sum is one, or raise a ValueError."""
    numbers = real(name, value, 0.0, 1.0)
    if not math.isclose(numbers.sum(), 1.0, rel_tol=1e-9):
        raise ValueError(f"{name} must have the sum 1; got {numbers.sum():g}.")
    return numbers / numbers.sum()
