"""Bounds for boosting: of the training error by rounds, and of the test error by margins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_sl._sklearn import check_sample_weight
from sklearn_sl.theory._domain import positive, real, vector, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# By how much a margin may exceed one, for rounding errors.
ROUNDING = 1e-9
# The numbers of halves of 1, 2, 3, ... points.
CENTRAL = np.array([math.comb(m, m // 2) for m in range(1, 100)], dtype=np.float64)


class AdaBoostBound(NamedTuple):
    """The bound on the training error of AdaBoost, by rounds; see :func:`adaboost_bound`.

    Attributes
    ----------
    normalisers : ndarray of shape (n_rounds,)
        The factors ``Z_t``.

    product : ndarray of shape (n_rounds,)
        ``Z_1 ... Z_t``, the mean exponential loss on the training set after each round, and a
        bound on its error.

    exponential : ndarray of shape (n_rounds,)
        A simpler bound, never below ``product``.

    See Also
    --------
    adaboost_bound : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import adaboost_bound
    >>> normalisers, product, exponential = adaboost_bound([0.1, 0.2])
    >>> normalisers, product, exponential.round(3)
    (array([0.6, 0.8]), array([0.6 , 0.48]), array([0.726, 0.607]))
    """

    normalisers: np.ndarray
    product: np.ndarray
    exponential: np.ndarray


def adaboost_bound(errors: ArrayLike, alphas: ArrayLike | None = None) -> Any:
    """Return an upper bound on the training error of AdaBoost after each round.

    Let ``f = sum_t alpha_t h_t`` with ``h_t(x)`` in {-1, 1}, let ``eps_t`` be the error of ``h_t``
    under the weights of round ``t``, and ``gamma_t = 1/2 - eps_t``. The weights are multiplied by
    ``exp(-alpha_t y_i h_t(x_i))`` and divided by their sum, which is::

        Z_t = eps_t exp(alpha_t) + (1 - eps_t) exp(-alpha_t)

    so that for the weights ``D`` of the first round::

        training error <= sum_i D_i exp(-y_i f(x_i)) = prod_t Z_t

    AdaBoost minimises each factor: ``alpha_t = 1/2 log((1 - eps_t) / eps_t)`` gives
    ``Z_t = 2 sqrt(eps_t (1 - eps_t))``, and then ``prod_t Z_t <= exp(-2 sum_t gamma_t^2)``.

    Parameters
    ----------
    errors : array-like of shape (n_rounds,)
        The weighted errors ``eps_t``, between 0 and 1. After an error of zero the bound is zero.

    alphas : array-like of shape (n_rounds,), default=None
        The coefficients, if they are not those of AdaBoost: shrunk by a learning rate, for
        example. A coefficient ``log((1 - eps) / eps)``, as scikit-learn has it, is *twice* the
        ``alpha`` of this formula. An infinite one goes with an error of zero.

    Returns
    -------
    bound : AdaBoostBound
        The ``normalisers``, their running ``product``, and the ``exponential`` bound on it,
        ``exp(-2 sum_t gamma_t^2)``. For given ``alphas`` the last one is
        ``exp(sum_t (alpha_t^2 / 2 - 2 alpha_t gamma_t))``, by Hoeffding's lemma; it is least for
        ``alpha_t = 2 gamma_t``, where it is the former.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55, 1997.

    .. [2] R. Schapire and Y. Singer, "Improved boosting algorithms using confidence-rated
       predictions", Machine Learning 37, 1999.

    Examples
    --------
    An edge of 0.1 in every round leaves no error on 1000 samples after 339 rounds, when the bound
    falls below one in a thousand:

    >>> import numpy as np
    >>> from sklearn_sl.theory import adaboost_bound
    >>> bound = adaboost_bound(np.full(500, 0.4))
    >>> int(np.argmax(bound.product < 1 / 1000)) + 1
    339
    """
    errors = vector("errors", errors, 0.0, 1.0)
    gammas = 0.5 - errors
    if alphas is None:
        normalisers = 2 * np.sqrt(errors * (1 - errors))
        exponents = -2 * gammas**2
    else:
        alphas = vector("alphas", alphas, -np.inf, np.inf)
        if alphas.shape != errors.shape:
            raise ValueError(
                f"alphas must have one value for each of {len(errors)} errors; got {len(alphas)}."
            )
        normalisers = _share_times_exp(errors, alphas) + _share_times_exp(1 - errors, -alphas)
        exponents = alphas * (alphas / 2 - 2 * gammas)
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.cumprod(normalisers)
        exponential = np.exp(np.cumsum(exponents))
    return AdaBoostBound(normalisers, product, exponential)


def _share_times_exp(share, exponent):
    """Return ``share * exp(exponent)``, zero for no share even if the exponent is infinite."""
    with np.errstate(over="ignore"):
        return np.multiply(share, np.exp(exponent), out=np.zeros_like(share), where=share > 0)


def margin_bound(
    margins: ArrayLike,
    theta: ArrayLike,
    vc_dimension: float,
    constant: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return the margin bound on the generalisation error of a vote: the sum of its two terms.

    The margin of a sample is ``y_i f(x_i) / sum_t |alpha_t|``, between -1 and 1. With high
    probability over the ``m`` training samples, for every ``theta > 0`` at once, the test error of
    a vote of classifiers from a class of VC dimension ``d`` is at most::

        share of the training margins <= theta + O(sqrt(d / m) / theta)

    however many classifiers vote. **The theorem does not specify the constant in O().** So the
    sum is to be reported and compared (between numbers of rounds, learning rates, classes) but
    certifies nothing: the default ``constant=1`` is a unit, not a value that was proved, and the
    term for the confidence, of the order of ``1 / sqrt(m)``, is left out.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        The normalised margins of the training samples, between -1 and 1.

    theta : float or array-like
        The margins to ask for, positive.

    vc_dimension : float
        The VC dimension ``d`` of the base classifiers, or a bound on it.

    constant : float, default=1.0
        The factor of the second term, which the theorem leaves open.

    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. An integer is a number of repetitions: ``m`` is their sum.

    Returns
    -------
    bound : float or ndarray
        The sum of both terms for each of ``theta``. It says nothing where it exceeds one.

    See Also
    --------
    vote_margin_bound : A bound that certifies, as all its constants are known.
    stump_vc_dimension : The VC dimension of decision stumps.

    References
    ----------
    .. [1] R. Schapire, Y. Freund, P. Bartlett and W. S. Lee, "Boosting the margin: a new
       explanation for the effectiveness of voting methods", Annals of Statistics 26, 1998. It has
       a factor ``log(m / d)`` in the second term.

    .. [2] V. Koltchinskii and D. Panchenko, "Empirical margin distributions and bounding the
       generalization error of combined classifiers", Annals of Statistics 30, 2002. Without it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import margin_bound, stump_vc_dimension
    >>> margins = np.linspace(0.1, 0.5, 10_000)
    >>> margin_bound(margins, [0.05, 0.1, 0.3], stump_vc_dimension(8)).round(3)
    array([0.447, 0.224, 0.575])
    """
    margins = vector("margins", margins, -1 - ROUNDING, 1 + ROUNDING)
    theta, d = positive("theta", theta), positive("vc_dimension", vc_dimension)
    constant = positive("constant", constant)
    weight = check_sample_weight(sample_weight, margins, dtype=np.float64)
    weight = np.ones_like(margins) if weight is None else weight
    order = np.argsort(margins)
    below = np.append(0.0, np.cumsum(weight[order]))
    m = below[-1]
    share = below[np.searchsorted(margins[order], theta, side="right")] / m
    return share + constant * np.sqrt(d / m) / theta


def vote_margin_bound(
    margins: ArrayLike, log_growth: float, delta: float = 0.05, n_margins: int = 30
) -> float:
    """Return an upper bound on the error of a vote by its margins, all constants included.

    The margin of a sample is ``y_i f(x_i) / sum_t |alpha_t|``, between -1 and 1, for two classes.
    Let base classifiers label ``m`` points in at most ``exp(log_growth)`` ways. With probability
    ``1 - delta`` over ``m`` independent samples, for all votes and ``theta = 1, 1/2, 1/4, ...`` at
    once, the error of a vote is at most::

        share of the training margins <= theta + (2 / theta) sqrt(2 log_growth / m)
                                               + sqrt(log(k (k + 1) / delta) / (2 m))

    for the ``k``-th ``theta``. The bound is the smallest of these. It does not depend on how many
    classifiers vote, but takes many thousand samples to be below one half.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        The normalised margins of the training samples, between -1 and 1.

    log_growth : float
        The natural logarithm of the number of labellings. For stumps on ``d`` features it is
        ``log(2 (d (m - 1) + 1))``; for a class of VC dimension ``d`` see :func:`sauer_shelah`.

    delta : float, default=0.05
        The probability of failure, in (0, 1].

    n_margins : int, default=30
        How many values of ``theta`` are tried.

    Returns
    -------
    bound : float
        No larger error than this. It says nothing where it exceeds one.

    See Also
    --------
    margin_bound : With a smaller second term, whose constant is open.

    Notes
    -----
    The ramp that falls from 1 at margin 0 to 0 at margin ``theta`` has the slope ``1 / theta``. Its
    mean deviates by at most twice the Rademacher complexity of the votes, over ``theta``, and
    McDiarmid's term. Votes are as complex as their base classifiers, whose complexity is at most
    ``sqrt(2 log_growth / m)`` by Massart's lemma. The shares ``delta / (k (k + 1))`` sum to
    ``delta``.

    References
    ----------
    .. [1] M. Mohri, A. Rostamizadeh and A. Talwalkar, "Foundations of Machine Learning", 2nd
       edition, MIT Press, 2018, sections 3.1, 5.4 and 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.theory import vote_margin_bound
    >>> m, d = 10**6, 8
    >>> margins = np.linspace(0.1, 0.5, m)
    >>> round(vote_margin_bound(margins, np.log(2 * (d * (m - 1) + 1))), 3)
    0.156
    """
    margins = vector("margins", margins, -1 - ROUNDING, 1 + ROUNDING)
    growth = real("log_growth", log_growth, 0.0)
    delta = positive("delta", real("delta", delta, 0.0, 1.0))
    k = np.arange(1, whole("n_margins", n_margins, 1) + 1)
    theta, m = 2.0 ** (1 - k), len(margins)
    share = np.searchsorted(np.sort(margins), theta, side="right") / m
    confidence = np.sqrt(np.log(k * (k + 1) / delta) / (2 * m))
    return float(np.min(share + 2 / theta * np.sqrt(2 * growth / m) + confidence))


def stump_vc_dimension(n_features: ArrayLike) -> int | np.ndarray:
    """Return the VC dimension of decision stumps.

    Stumps ask one question, ``x_j <= z``, and answer 1 or -1 either way. A feature can set apart at
    most two of the subsets of ``k`` out of ``m`` points, the lowest and the highest ``k``, so to
    set apart all the subsets of one half of the points takes ``d`` features with::

        binomial(m, floor(m / 2)) <= 2 d

    This is also enough [1]_: the VC dimension is the largest such ``m``. It is never above
    ``2 (log2(d) + 1)``.

    Parameters
    ----------
    n_features : int or array-like of int
        The number ``d`` of features, all of them real numbers.

    Returns
    -------
    dimension : int or ndarray of int
        The largest number of points that stumps can label in every way.

    References
    ----------
    .. [1] J.-S. Leboeuf, F. LeBlanc and M. Marchand, "Decision trees as partitioning machines to
       characterize their generalization properties", NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.theory import stump_vc_dimension
    >>> stump_vc_dimension([1, 2, 3, 1024])
    array([ 2,  3,  4, 13])
    """
    return np.searchsorted(CENTRAL, 2 * whole("n_features", n_features, low=1), side="right")
