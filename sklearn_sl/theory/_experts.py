"""Mistake and regret bounds of prediction with expert advice."""

from __future__ import annotations

from reprlib import repr as short
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import xlog1py, xlogy

from sklearn_sl.theory._domain import log_count, positive, real, vector, whole

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# The largest learning rates for which the weighted mean of the advice, and Vovk's prediction,
# lose no more than the mixture of all experts does.
RATES = {
    "square": {"average": 0.5, "vovk": 2.0},
    "entropic": {"average": 1.0, "vovk": 1.0},
    "hellinger": {"average": 1.0, "vovk": np.sqrt(2.0)},
}


def weighted_majority_bound(
    best_mistakes: ArrayLike,
    n_experts: ArrayLike,
    beta: ArrayLike = 1 / np.e,
    randomized: bool = False,
) -> float | np.ndarray:
    """Return an upper bound on the number of mistakes of the weighted majority of experts.

    Weights begin at one, and those of experts that are wrong are multiplied by ``beta``. The answer
    is the class with the largest weight. On a mistake the wrong experts have at least half of all
    weights, for two classes or more, so that the sum of weights falls to ``(1 + beta) / 2`` of
    itself or less. An expert with ``M*`` mistakes has the weight ``beta^M*``. So with ``n`` experts
    the number of mistakes is at most::

        (ln(1 / beta) M* + ln(n)) / ln(2 / (1 + beta))

    and ``2.63 M* + 2.63 ln(n)`` for ``beta = 1 / e``. A learner that follows an expert drawn by
    weight has no more *expected* mistakes than ``(ln(1 / beta) M* + ln(n)) / (1 - beta)``.

    Parameters
    ----------
    best_mistakes : int or array-like of int
        The number ``M*`` of mistakes of the best expert; or of any other.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    beta : float or array-like, default=1/e
        The factor, at least zero and below one.

    randomized : bool, default=False
        Whether an expert is drawn.

    Returns
    -------
    bound : float or ndarray
        No more mistakes, or expected mistakes, than these.

    See Also
    --------
    sklearn_sl.online.WeightedMajority : The learner.

    References
    ----------
    .. [1] N. Littlestone and M. Warmuth, "The weighted majority algorithm", Information and
       Computation 108, 1994.

    Examples
    --------
    >>> from sklearn_sl.theory import weighted_majority_bound
    >>> round(float(weighted_majority_bound(0, n_experts=8, beta=0.0)), 2)
    3.0
    >>> round(float(weighted_majority_bound(10, n_experts=100)), 2)
    38.45
    """
    mistakes = real("best_mistakes", best_mistakes, low=0)
    log_n, beta = log_count("n_experts", n_experts), real("beta", beta, low=0)
    if np.any(beta >= 1):
        raise ValueError(f"beta must be < 1; got {beta}.")
    cost = -xlogy(mistakes, beta) + log_n
    return cost / (1 - beta if randomized else log_fall(1 - beta))


def log_fall(lost):
    """Return ``ln(2 / (2 - lost))``, exact for the least losses of weight too."""
    return -np.log1p(-lost / 2)


def absolute_constant(eta):
    """Return Vovk's constant ``c`` of the absolute loss at a learning rate."""
    return 0.5 / log_fall(-np.expm1(-eta))


def weighted_average_bound(
    n_experts: ArrayLike,
    loss: Literal["square", "entropic", "hellinger"] = "square",
    prediction: Literal["average", "vovk"] = "average",
    eta: float | None = None,
    prior: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on the regret of the weighted average of experts.

    Weights begin with ``w_1``, which sum to one, and are multiplied by ``exp(-eta L)`` where ``L``
    is the loss of the expert in the trial. Outcomes and advice are between zero and one. If
    ``eta`` is small enough for the loss, no trial costs the learner more than the mixture
    ``-(1 / eta) ln(sum_i w_i exp(-eta L_i))`` of what it costs the experts, and then, against each
    expert ``i``, in any number of trials::

        L_A - L_i <= c ln(1 / w_1i),   c = 1 / eta

    The largest such ``eta`` depends on how the learner predicts: "average" is the weighted mean of
    the advice, "vovk" the substitution function of Vovk's aggregating algorithm.

    ============ ============= ============
    loss         eta (average) eta (vovk)
    ============ ============= ============
    "square"     1/2           2
    "entropic"   1             1
    "hellinger"  1             sqrt(2)
    ============ ============= ============

    The weighted mean with ``eta = 2`` for the square loss may exceed ``1/2 ln(n)``.

    Parameters
    ----------
    n_experts : int or array-like of int
        The number ``n`` of experts.

    loss : {"square", "entropic", "hellinger"}, default="square"
        The loss: ``(y - p)^2``, the relative entropy ``y ln(y/p) + (1-y) ln((1-y)/(1-p))``, or
        ``1 - sqrt(y p) - sqrt((1-y) (1-p))``.

    prediction : {"average", "vovk"}, default="average"
        How the learner predicts.

    eta : float, default=None
        The learning rate; None is the one of the table, larger ones are not possible.

    prior : array-like of shape (n_experts,), default=None
        The weights ``w_1``, whose sum is one; None is ``1 / n`` for all.

    Returns
    -------
    bound : float or ndarray
        No larger regret than this; for a prior, against each expert.

    See Also
    --------
    sklearn_sl.online.WeightedAverage : The learner.
    fixed_share_bound : Against sequences of experts.

    References
    ----------
    .. [1] J. Kivinen and M. Warmuth, "Averaging expert predictions", EuroCOLT 1999.

    .. [2] V. Vovk, "A game of prediction with expert advice", Journal of Computer and System
       Sciences 56, 1998.

    .. [3] D. Haussler, J. Kivinen and M. Warmuth, "Sequential prediction of individual sequences
       under general loss functions", IEEE Transactions on Information Theory 44, 1998.

    Examples
    --------
    >>> from sklearn_sl.theory import weighted_average_bound
    >>> round(float(weighted_average_bound(100)), 2)
    9.21
    >>> round(float(weighted_average_bound(100, prediction="vovk")), 2)
    2.3
    """
    if loss not in RATES:
        raise ValueError(f"loss must be one of {sorted(RATES)}; got {loss!r}.")
    if prediction not in RATES[loss]:
        raise ValueError(f'prediction must be "average" or "vovk"; got {prediction!r}.')
    log_n, most = log_count("n_experts", n_experts), RATES[loss][prediction]
    eta = positive("eta", most if eta is None else eta)
    if np.any(eta > most):
        raise ValueError(f"eta must be <= {most:g} for this bound; got {eta}.")
    if prior is None:
        return log_n / eta
    prior = vector("prior", prior, 0.0, 1.0)
    if prior.shape != (n_experts,) or not np.isclose(prior.sum(), 1):
        raise ValueError(
            f"prior must have one weight for each of {n_experts} experts, and its weights must sum "
            f"to 1; got shape {prior.shape} and sum {prior.sum():g}."
        )
    with np.errstate(divide="ignore"):
        return -np.log(prior) / eta


def hedge_bound(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    eta: ArrayLike | str | None = None,
    scale: ArrayLike = 1.0,
    squares: ArrayLike | None = None,
) -> float | np.ndarray:
    """Return an upper bound on the regret of Hedge.

    Hedge spreads its stakes over ``n`` experts by weights ``v``, and suffers ``v.l`` for losses
    ``l`` between zero and ``B``. The weights are proportional to ``exp(-eta L_i)``, where ``L_i``
    is what an expert lost before. Against every expert, for all ``eta > 0`` and ``m`` trials::

        regret <= ln(n) / eta + (eta / 2) sum_t v_t.l_t^2 <= ln(n) / eta + eta B^2 m / 2

    which for ``eta = sqrt(2 ln(n) / m) / B`` is ``B sqrt(2 m ln(n))``. Without knowing ``m``, Hedge
    begins anew after 1, 2, 4, 8, ... trials, with the learning rate for that number: the doubling
    trick.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``m`` of trials.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    eta : float, array-like or "doubling", default=None
        The learning rate; None is the one for ``m`` trials.

    scale : float or array-like, default=1.0
        The largest loss ``B``.

    squares : float or array-like, default=None
        The sum of all ``v.l^2``, if it is known; None is the largest one. Not with "doubling".

    Returns
    -------
    bound : float or ndarray
        No larger regret than this.

    See Also
    --------
    sklearn_sl.online.Hedge : The learner.
    adahedge_bound : For a learning rate that adapts itself.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55, 1997.

    .. [2] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006.

    Examples
    --------
    >>> from sklearn_sl.theory import hedge_bound
    >>> round(float(hedge_bound(1000, 10)), 2)
    67.86
    >>> round(float(hedge_bound(1000, 10, eta="doubling")), 2)
    159.51
    """
    m, n = whole("n_trials", n_trials, low=0), whole("n_experts", n_experts, low=1)
    scale = positive("scale", scale)
    if isinstance(eta, str):
        if eta != "doubling":
            raise ValueError(f'eta must be a number, None or "doubling"; got {eta!r}.')
        return scale * _doubling_bound(m, n)
    if eta is None:
        if squares is None:
            return scale * np.sqrt(2 * m * np.log(n))
        eta = horizon_rate(m, n) / scale
    eta = positive("eta", eta)
    squares = scale**2 * m if squares is None else real("squares", squares, low=0)
    return np.log(n) / eta + eta / 2 * squares


def horizon_rate(n_trials, n_experts):
    """Return the learning rate of Hedge for a number of trials; one where it does not matter."""
    rate = np.sqrt(2 * np.log(n_experts) / np.maximum(n_trials, 1))
    return np.where(rate > 0, rate, 1.0)


def _doubling_bound(m, n):
    """Return the sum of the bounds of epochs of 1, 2, 4, ... trials, the last one cut short."""
    length = 2.0 ** np.floor(np.log2(m + 1))
    rest = m + 1 - length
    whole_ones = (np.sqrt(length) - 1) / (np.sqrt(2) - 1)
    # With the rate sqrt(2 ln(n) / length) a part of an epoch costs this.
    part = np.where(rest > 0, (np.sqrt(length) + rest / np.sqrt(length)) / 2, 0.0)
    return np.sqrt(2 * np.log(n)) * (whole_ones + part)


def adahedge_bound(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    best_loss: ArrayLike | None = None,
    scale: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return an upper bound on the regret of AdaHedge.

    AdaHedge is Hedge whose learning rate is ``ln(n)`` divided by the sum ``Delta`` of all
    differences, so far, between its loss ``v.l`` and the loss of the mixture,
    ``-(1 / eta) ln(v.exp(-eta l))``. Its regret is never above ``2 Delta``. For losses between
    zero and ``B`` and a best expert with the loss ``L*`` in ``m`` trials it is at most::

        2 sqrt(B L* (1 - L* / (B m)) ln(n)) + B (16/3 ln(n) + 2)

    The learner has to know neither ``m`` nor ``B`` nor ``L*``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``m`` of trials.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    best_loss : float or array-like, default=None
        The loss ``L*`` of the best expert; None is the worst case, ``B m / 2``.

    scale : float or array-like, default=1.0
        The largest loss ``B``.

    Returns
    -------
    bound : float or ndarray
        No larger regret than this.

    See Also
    --------
    sklearn_sl.online.Hedge : The learner.
    hedge_bound : For learning rates that do not adapt themselves.

    References
    ----------
    .. [1] S. de Rooij, T. van Erven, P. Grunwald and W. Koolen, "Follow the leader if you can,
       hedge if you must", Journal of Machine Learning Research 15, 2014.

    Examples
    --------
    >>> from sklearn_sl.theory import adahedge_bound
    >>> adahedge_bound(10_000, 10, best_loss=[0, 100, 5000]).round(1)
    array([ 14.3,  44.5, 166. ])
    """
    m, n = whole("n_trials", n_trials, low=0), whole("n_experts", n_experts, low=1)
    scale = positive("scale", scale)
    loss = real("best_loss", m * scale / 2 if best_loss is None else best_loss, low=0)
    if np.any(loss > m * scale):
        raise ValueError(
            f"best_loss must be <= scale * n_trials; got best_loss={short(best_loss)}, "
            f"scale={scale} and n_trials={short(n_trials)}."
        )
    share = np.divide(loss, m * scale, out=np.zeros(np.broadcast(loss, m).shape), where=m > 0)
    spread = scale * loss * (1 - share) * np.log(n)
    return 2 * np.sqrt(spread) + scale * (16 / 3 * np.log(n) + 2)


def anytime_average_bound(
    n_trials: ArrayLike, n_experts: ArrayLike, scale: ArrayLike = 1.0
) -> float | np.ndarray:
    """Return an upper bound on the regret of an average whose learning rate falls with time.

    The learner predicts by the average of the advice of ``n`` experts with weights proportional to
    ``exp(-eta_t L_i)``, where ``L_i`` is what an expert lost before trial ``t``. Losses are between
    zero and ``B``, and convex in the prediction. For rates that do not increase, against every
    expert and after every number ``T`` of trials::

        regret <= ln(n) / eta_T + B^2 / 8 sum_t eta_t

    by Hoeffding's inequality in each trial, and because ``-(1 / eta) ln(sum_i exp(-eta L_i) / n)``
    falls with ``eta``. For ``eta_t = (2 / B) sqrt(ln(n) / t)``, with
    ``sum_t 1 / sqrt(t) <= 2 sqrt(T)``, this is at most ``B sqrt(T ln(n))``. The learner does not
    have to know ``T``; the best rate for a known ``T`` gives ``B sqrt(T ln(n) / 2)``. The rate
    ``sqrt(8 ln(n) / t) / B`` of [1]_ gives ``B (sqrt(2 T ln(n)) + sqrt(ln(n) / 8))``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    scale : float or array-like, default=1.0
        The largest loss ``B``.

    Returns
    -------
    bound : float or ndarray
        No larger regret than this.

    See Also
    --------
    sklearn_sl.online.WeightedAverage : The learner, with ``eta="anytime"``.
    adahedge_bound : For a learning rate that falls with the losses.

    References
    ----------
    .. [1] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006, section 2.3.

    .. [2] S. Bubeck, "Introduction to online optimization", lecture notes, Princeton University,
       2011.

    Examples
    --------
    >>> from sklearn_sl.theory import anytime_average_bound
    >>> anytime_average_bound([100, 10_000], 10).round(1)
    array([ 15.2, 151.7])
    """
    m, n = whole("n_trials", n_trials, low=0), whole("n_experts", n_experts, low=1)
    return positive("scale", scale) * np.sqrt(m * np.log(n))


def fixed_share_bound(
    n_trials: ArrayLike,
    n_experts: ArrayLike,
    n_shifts: ArrayLike,
    alpha: ArrayLike | None = None,
    c: ArrayLike = 1.0,
    simple: bool = False,
) -> float | np.ndarray:
    """Return an upper bound on the regret of fixed share against sequences of experts that shift.

    Fixed share multiplies weights by ``exp(-L / c)``; then each expert keeps ``1 - alpha`` of its
    weight, and the rest goes to all others. These weights are those of a mixture of all ``n^T``
    sequences of experts, in which a sequence with ``k`` shifts has the prior weight
    ``(1 / n) (1 - alpha)^(T - 1 - k) (alpha / (n - 1))^k``. So if the loss and ``c`` are those of
    :func:`weighted_average_bound`, against every sequence with ``k`` shifts::

        L_A - L* <= c ((T - 1) (H(a) + D(a, alpha)) + k ln(n - 1) + ln(n)),   a = k / (T - 1)

    where ``H`` is the entropy ``a ln(1/a) + (1-a) ln(1/(1-a))`` and ``D`` the relative entropy
    between ``a`` and ``alpha``, which is zero for the best ``alpha = a``. That is never above
    ``c (k ln((T - 1) / k) + k ln(n - 1) + ln(n) + k)``.

    Parameters
    ----------
    n_trials : int or array-like of int
        The number ``T`` of trials.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    n_shifts : int or array-like of int
        The number ``k`` of shifts, less than ``T``; zero if there is a single expert.

    alpha : float or array-like, default=None
        The part that is shared; None is the best one.

    c : float or array-like, default=1.0
        The constant of the loss, one divided by the learning rate.

    simple : bool, default=False
        Whether to return the last bound, for the best ``alpha``.

    Returns
    -------
    bound : float or ndarray
        No larger regret than this; infinite if ``alpha`` makes the number of shifts impossible.

    See Also
    --------
    sklearn_sl.online.FixedShare : The learner.
    variable_share_bound : If the learner shares the more it loses.
    sklearn_sl.online.best_shifting_sequence : Finds the best sequence.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from sklearn_sl.theory import fixed_share_bound
    >>> float(fixed_share_bound(800, 64, n_shifts=3).round(4))
    36.3369
    >>> float(fixed_share_bound(800, 64, n_shifts=3, simple=True).round(4))
    36.3425
    >>> float(fixed_share_bound(800, 64, n_shifts=3, alpha=0.024).round(4))
    47.1144
    """
    T, n, k = _shift_sizes(n_trials, n_experts, n_shifts)
    others = np.log(n) + xlogy(k, n - 1)
    best = np.divide(k, T - 1, out=np.zeros(np.broadcast(k, T).shape), where=T > 1)
    if simple:
        if alpha is not None:
            raise ValueError(
                "alpha must be None if simple=True: the simple bound is that of the best alpha."
            )
        return positive("c", c) * (others + k - xlogy(k, best))
    alpha = best if alpha is None else real("alpha", alpha, low=0, high=1)
    stays = T - 1 - k
    return positive("c", c) * (others - xlogy(k, alpha) - xlog1py(stays, -alpha))


def _shift_sizes(n_trials, n_experts, n_shifts):
    T, n = whole("n_trials", n_trials, low=1), whole("n_experts", n_experts, low=1)
    k = whole("n_shifts", n_shifts, low=0)
    if np.any(k >= T):
        raise ValueError(f"n_shifts must be < n_trials={short(n_trials)}; got {short(n_shifts)}.")
    if np.any((k > 0) & (n == 1)):
        raise ValueError(f"n_shifts must be 0 if n_experts=1; got {short(n_shifts)}.")
    return T, n, k


def variable_share_bound(
    best_loss: ArrayLike,
    n_experts: ArrayLike,
    n_shifts: ArrayLike,
    alpha: ArrayLike,
    c: ArrayLike = 1.0,
) -> float | np.ndarray:
    """Return an upper bound on the loss of variable share, by that of a shifting sequence.

    Variable share is fixed share in which an expert with the loss ``L`` keeps ``(1 - alpha)^L`` of
    its weight: who loses nothing shares nothing. For losses between zero and one, with ``c`` as in
    :func:`weighted_average_bound`, against every sequence with the loss ``L*`` and ``k`` shifts,
    in any number of trials::

        L_A <= L* + c (ln(1 / (1 - alpha)) L* + ln(n)
                       + k (ln(n - 1) + ln(1 / alpha) + ln(1 / (1 - alpha)) + 1 / c))

    Parameters
    ----------
    best_loss : float or array-like
        The loss ``L*`` of the sequence.

    n_experts : int or array-like of int
        The number ``n`` of experts.

    n_shifts : int or array-like of int
        The number ``k`` of its shifts; zero if there is a single expert.

    alpha : float or array-like
        The part that is shared at a loss of one.

    c : float or array-like, default=1.0
        The constant of the loss, one divided by the learning rate.

    Returns
    -------
    bound : float or ndarray
        No larger loss than this.

    See Also
    --------
    sklearn_sl.online.VariableShare : The learner.
    fixed_share_bound : If the learner shares in each trial.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from sklearn_sl.theory import variable_share_bound
    >>> float(variable_share_bound(6.7, n_experts=64, n_shifts=3, alpha=0.024, c=0.5).round(2))
    23.71
    """
    loss, k = real("best_loss", best_loss, low=0), whole("n_shifts", n_shifts, low=0)
    n, alpha = whole("n_experts", n_experts, low=1), real("alpha", alpha, low=0, high=1)
    if np.any((k > 0) & (n == 1)):
        raise ValueError(f"n_shifts must be 0 if n_experts=1; got {short(n_shifts)}.")
    kept = -xlog1py(loss + k, -alpha)
    c = positive("c", c)
    return loss + k + c * (kept + np.log(n) + xlogy(k, n - 1) - xlogy(k, alpha))
