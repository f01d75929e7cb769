"""PAC-Bayes bounds for weighted votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sklearn_sl.theory._domain import (
    LARGEST,
    any_of,
    plain,
    probability,
    real,
    unwarned,
    vector,
    whole,
)
from sklearn_sl.theory._relative_entropy import largest_coin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


@unwarned
def pac_bayes_bound(
    gibbs_error: ArrayLike,
    n_samples: ArrayLike,
    divergence: ArrayLike = 0.0,
    delta: ArrayLike = 0.05,
) -> float | np.ndarray:
    """Return an upper bound on the error of a randomised classifier.

    A Gibbs classifier draws one of the hypotheses for each sample, with weights ``rho`` that may
    have been chosen with the sample of ``m``. Let ``pi`` be weights that have not. With probability
    ``1 - delta``, for all ``rho`` at once, its mean error ``e_S`` on the sample and its error ``e``
    satisfy::

        kl(e_S || e) <= (KL(rho || pi) + ln(2 sqrt(m) / delta)) / m

    The bound is the largest such ``e``.

    Parameters
    ----------
    gibbs_error : float or array-like
        The mean error ``e_S`` of the hypotheses on the sample, weighted by ``rho``.

    n_samples : int or array-like
        The number ``m`` of samples.

    divergence : float or array-like, default=0.0
        ``KL(rho || pi)``, in nats.

    delta : float or array-like, default=0.05
        The probability of failure, in (0, 1].

    Returns
    -------
    bound : float or ndarray
        The bound on the error of the Gibbs classifier. That of the weighted vote is at most
        twice as large.

    See Also
    --------
    vote_bound : For the members of an ensemble with samples of their own, such as those out of the
        bag.
    c_bound : A smaller factor than two if the members disagree.

    References
    ----------
    .. [1] M. Seeger, "PAC-Bayesian generalisation error bounds for Gaussian process
       classification", Journal of Machine Learning Research 3, 2002.

    .. [2] A. Maurer, "A note on the PAC Bayesian theorem", arXiv:cs/0411099, 2004.

    Examples
    --------
    >>> from sklearn_sl.theory import pac_bayes_bound
    >>> round(pac_bayes_bound(0.1, n_samples=1000, divergence=3.0), 4)
    0.1481
    """
    error = real("gibbs_error", gibbs_error, 0.0, 1.0)
    m, kl = whole("n_samples", n_samples, 1), real("divergence", divergence, 0.0)
    c = (kl + np.log(2 * np.sqrt(m) / probability("delta", delta))) / m
    return largest_coin(error, plain(c))


class VoteBound(NamedTuple):
    """Bounds on the errors of a vote and its members; see :func:`vote_bound`.

    Attributes
    ----------
    gibbs_error : float
        The weighted mean of the validation errors of the members.

    divergence : float
        That of the weights from the prior ones, in nats.

    gibbs_bound : float
        On the weighted mean of the errors of the members.

    bound : float
        On the error of the weighted vote, twice as large, and at most one.

    See Also
    --------
    vote_bound : Computes it.

    Examples
    --------
    >>> from sklearn_sl.theory import vote_bound
    >>> result = vote_bound([0.1, 0.12, 0.11], n_validation=[400, 380, 410])
    >>> round(result.gibbs_error, 3), round(result.gibbs_bound, 3), round(result.bound, 3)
    (0.11, 0.177, 0.355)
    """

    gibbs_error: float
    divergence: float
    gibbs_bound: float
    bound: float


def vote_bound(
    errors: ArrayLike,
    n_validation: ArrayLike,
    weights: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    delta: float = 0.05,
) -> Any:
    """Return an upper bound on the error of a weighted vote, by validation errors of its members.

    Each member has samples that it was not fitted to: those out of its bag, in a forest. Let ``n``
    be the least number of them, ``e_S`` the mean of the validation errors, weighted by ``rho``, and
    ``pi`` prior weights. Then with probability ``1 - delta`` the weighted mean ``e`` of the errors
    of the members satisfies ``kl(e_S || e) <= (KL(rho || pi) + ln(2 sqrt(n) / delta)) / n``. Where
    the vote is wrong, members with at least half of the weight are wrong, so that its error is at
    most ``2 e``.

    Nothing is assumed about the members, which may be as dependent as trees on the same data are.
    The factor of two is lost even where their mistakes cancel out, so that the bound is often above
    what one validation set would give.

    Parameters
    ----------
    errors : array-like of shape (n_members,)
        The validation errors of the members.

    n_validation : int or array-like of shape (n_members,)
        The numbers of their validation samples.

    weights : array-like of shape (n_members,), default=None
        The weights ``rho`` of the vote, which are divided by their sum; None stands for equal
        weights.

    prior : array-like of shape (n_members,), default=None
        The weights ``pi``, fixed before the validation samples are seen; None stands for equal
        weights.

    delta : float, default=0.05
        The probability of failure, in (0, 1].

    Returns
    -------
    result : VoteBound
        The ``bound`` on the error of the vote, ``gibbs_bound``, ``gibbs_error`` and
        ``divergence``.

    See Also
    --------
    pac_bayes_bound : With the same samples for all members.

    References
    ----------
    .. [1] S. Lorenzen, C. Igel and Y. Seldin, "On PAC-Bayesian bounds for random forests", Machine
       Learning 108, 2019.

    Examples
    --------
    >>> from sklearn_sl.theory import vote_bound
    >>> result = vote_bound([0.05, 0.07, 0.06], n_validation=3000)
    >>> round(result.bound, 3)
    0.157
    """
    errors = vector("errors", errors, 0.0, 1.0)
    n = np.min(whole("n_validation", n_validation, 1))
    if np.ndim(n_validation) and np.shape(n_validation) != errors.shape:
        raise ValueError(
            f"n_validation must be a number or have one for each of {len(errors)} errors; got "
            f"shape {np.shape(n_validation)}."
        )
    rho, pi = _shares("weights", weights, errors), _shares("prior", prior, errors)
    if np.any(rho[pi == 0]):
        raise ValueError("prior must be > 0 where weights are.")
    used = rho > 0
    divergence = max(0.0, float(np.sum(rho[used] * np.log(rho[used] / pi[used]))))
    gibbs = float(np.clip(rho @ errors, 0.0, 1.0))
    bound = plain(pac_bayes_bound(gibbs, float(n), divergence, delta))
    return VoteBound(gibbs, divergence, bound, min(1.0, 2 * bound))


def _shares(name, value, errors):
    """Return weights that sum to one."""
    if value is None:
        return np.full(len(errors), 1 / len(errors))
    value = vector(name, value, 0.0, LARGEST)
    if value.shape != errors.shape or not value.sum() > 0:
        raise ValueError(f"{name} must be {len(errors)} numbers >= 0 that are not all zero.")
    return value / value.sum()


@unwarned
def c_bound(gibbs_error: ArrayLike, disagreement: ArrayLike) -> float | np.ndarray:
    """Return the C-bound on the error of a weighted vote of two classes.

    Let ``M`` be the share of the weight that is right minus the share that is wrong, so that
    ``E M = 1 - 2 e`` with the mean error ``e`` of the members, and ``E M^2 = 1 - 2 d`` with the
    probability ``d`` that two members drawn by weight disagree. If ``e < 1/2``, Cantelli's
    inequality gives::

        P(M <= 0) <= 1 - (1 - 2 e)^2 / (1 - 2 d)

    The more the members disagree at the same error, the better the vote. Both arguments are
    expectations: with bounds or estimates in their places it is one as well.

    Parameters
    ----------
    gibbs_error : float or array-like
        ``e``, below 1/2.

    disagreement : float or array-like
        ``d``, at most ``2 e (1 - e)`` by Jensen's inequality.

    Returns
    -------
    bound : float or ndarray
        The bound on the error of the vote.

    See Also
    --------
    vote_bound : The error of the members from their validation errors.

    References
    ----------
    .. [1] P. Germain, A. Lacasse, F. Laviolette, M. Marchand and J.-F. Roy, "Risk bounds for the
       majority vote: from a PAC-Bayesian analysis to a learning algorithm", Journal of Machine
       Learning Research 16, 2015.

    Examples
    --------
    Members that err in 30 % of all cases, independently of each other or always together:

    >>> from sklearn_sl.theory import c_bound
    >>> round(c_bound(0.3, 0.4), 3), round(c_bound(0.3, 0.0), 3)
    (0.2, 0.84)
    """
    e = real("gibbs_error", gibbs_error, 0.0, 0.5)
    d = real("disagreement", disagreement, 0.0, 0.5)
    if any_of(e == 0.5):
        raise ValueError(f"gibbs_error must be < 0.5; got {gibbs_error}.")
    if any_of(d > 2 * e * (1 - e) + 1e-12):
        raise ValueError("disagreement must be <= 2 e (1 - e) for the mean error e.")
    return plain(np.maximum(0.0, 1 - (1 - 2 * e) ** 2 / (1 - 2 * d)))
