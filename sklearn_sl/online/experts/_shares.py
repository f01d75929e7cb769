"""Fixed share and variable share: experts of which the best one changes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.experts._expert_weights import (
    VariableShareState,
    fixed_share_state,
    shared_state,
)
from sklearn_sl.online.experts._experts import EXPERT_CONSTRAINTS, ExpertsRegressorMixin
from sklearn_sl.online.experts._oracles import best_shifting_sequence
from sklearn_sl.online.experts._weighted_average import LOSS_CONSTRAINTS
from sklearn_sl.theory._experts import fixed_share_bound, variable_share_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

SHARE_CONSTRAINTS = {
    **EXPERT_CONSTRAINTS,
    **LOSS_CONSTRAINTS,
    "alpha": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
    "n_shifts": [Interval(Integral, 0, None, closed="left"), None],
    "horizon": [Interval(Integral, 1, None, closed="left"), None],
}


# ---------------------------------------------------------------- what these learners share


def no_rate(learner):
    """Complain of a loss for which no learning rate is known."""
    raise ValueError(
        'eta="auto" is not available for loss="absolute": set eta to a positive float.'
    )


def new_state(learner, n_experts):
    """Return weights that share a part of themselves after each trial."""
    learner.alpha_ = part_of(learner)
    return shared_state(learner._state_kind, n_experts, learner.eta_, learner.alpha_)


def part_of(learner):
    """Return the part that is shared."""
    if learner.alpha != "auto":
        return float(learner.alpha)
    if learner.n_shifts is None:
        raise ValueError('alpha="auto" requires n_shifts, the expected number of shifts.')
    horizon = learner._known_horizon('alpha="auto"')
    return min(1.0, learner.n_shifts / max(horizon - 1, 1))


def regret_bounds(learner):
    """Return bounds on the regret against each expert: a sequence without shifts."""
    losses = learner._state.expert_losses()
    bounds = learner._sequence_bounds(losses, 0, learner._state.charged)
    return None if bounds is None else bounds - losses


def shifting_regret(
    self: Any, X: MatrixLike, y: ArrayLike, n_shifts: int
) -> tuple[float, float | None]:
    """Return the regret against the best sequence of experts that shifts so often.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (`n_trials_`, n_features)
        The advice in all trials so far, in which no expert abstained. With ``estimators`` the
        samples: experts that learn go through them once more, from the start.

    y : array-like of shape (`n_trials_`,)
        The outcomes.

    n_shifts : int
        The largest number of shifts.

    Returns
    -------
    regret : float
        The loss of the learner minus the least loss of a sequence of experts with at most so
        many shifts.

    bound : float or None
        The theorem's bound on it; None where there is none, as for ``regret_bound_``.
    """
    best = best_shifting_sequence(losses_of_sequences(self, X, y), n_shifts)
    # It may shift less often, which a large alpha makes more expensive.
    n_shifts = np.count_nonzero(np.diff(best.experts))
    return both_sides(self, best.loss, self._sequence_bounds(best.loss, n_shifts))


def losses_of_sequences(learner, X, y):
    """Return the loss of each expert in each trial that was played."""
    check_is_fitted(learner)
    losses = learner._losses_of_advice(X, y)
    if len(losses) != learner.n_trials_:
        raise ValueError(
            f"X and y must hold the {learner.n_trials_} trials that the learner was fitted on; "
            f"got {len(losses)}."
        )
    if np.isnan(losses).any():
        raise ValueError(
            "X contains NaN: the loss of a sequence is not defined where experts abstain."
        )
    return losses


def both_sides(learner, loss, bound):
    """Return the regret against what lost so much, and its bound by that of the loss."""
    if bound is not None:
        bound = learner._unit * float(bound - loss)
    return learner.cumulative_loss_ - learner._unit * loss, bound


def store_parameters(
    self: Any,
    estimators: Any = None,
    *,
    alpha: float | str = 0.01,
    n_shifts: int | None = None,
    horizon: int | None = None,
    loss: Any = "square",
    prediction: Literal["average", "vovk"] = "average",
    eta: float | str = "auto",
    bounds: Any = None,
    prefit: bool = False,
    block_size: int = 1,
    keep_losses: bool = False,
    keep_weights: bool = False,
) -> None:
    """Store the parameters: the constructor of both learners."""
    self.estimators = estimators
    self.alpha = alpha
    self.n_shifts = n_shifts
    self.horizon = horizon
    self.loss = loss
    self.prediction = prediction
    self.eta = eta
    self.bounds = bounds
    self.prefit = prefit
    self.block_size = block_size
    self.keep_losses = keep_losses
    self.keep_weights = keep_weights


@paragraphs
class FixedShare(EstimatorMixin, ExpertsRegressorMixin, RegressorMixin, BaseEstimator):
    """Tracks the best expert by a weighted average with fixed share.

    In a trial the learner predicts the weighted average ``v.x`` of the advice of ``n`` experts.
    Then weights are multiplied by ``exp(-eta L(y, x_i))``, and each expert gives the part ``alpha``
    of what it has to all others, in equal parts. So an expert that begins to do well has some
    weight to begin with, however bad it was before.

    **The theorem.** The weights are those of a mixture of all ``n^T`` sequences of experts, and the
    loss of the learner is at most that of the best sequence with ``k`` shifts plus
    ``(k ln((T-1)/k) + k ln(n-1) + ln(n) + k) / eta`` for ``alpha = k / (T - 1)``;
    :meth:`shifting_regret` computes both sides. With ``alpha=0`` this is :class:`WeightedAverage`,
    where more is said about losses, rates, predictions and bounds.

    **Abstaining experts.** NaN is an expert that abstains. The others predict without it, and it
    keeps the ratio of its weight to theirs; then all of them share.

    Parameters
    ----------
    {estimators_as_experts}

    alpha : float or "auto", default=0.01
        The part that is shared: zero, or at least 1e-100. "auto" is
        ``n_shifts / (horizon - 1)``.

    {options_of_shares}

    Attributes
    ----------
    {weights_and_losses}

    regret_ : float
        The loss of the learner minus that of this expert, in the trials in which it did not
        abstain; it is negative where shifting pays. See :meth:`shifting_regret`.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``, without shifts; None where :class:`WeightedAverage`
        has none.

    alpha_ : float
        The part that is shared.

    {eta}

    {bounds}

    {trials_and_experts}

    See Also
    --------
    VariableShare : Shares the more, the more is lost.
    WeightedAverage : Does not share.
    best_shifting_sequence : Finds the best sequence in hindsight.
    sklearn_sl.theory.fixed_share_bound : The theorem.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    Sixty-four experts, of which the best one changes three times in 800 trials:

    >>> from sklearn_sl.datasets import make_switching_experts
    >>> from sklearn_sl.online import FixedShare, WeightedAverage
    >>> advice, y, _ = make_switching_experts(random_state=0)
    >>> options = {"prediction": "vovk", "bounds": (0, 1)}
    >>> model = FixedShare(alpha="auto", n_shifts=3, **options).fit(advice, y)
    >>> regret, bound = model.shifting_regret(advice, y, n_shifts=3)
    >>> round(model.cumulative_loss_, 1), round(regret, 1), round(bound, 1)
    (19.1, 12.6, 18.2)
    >>> round(WeightedAverage(**options).fit(advice, y).cumulative_loss_, 1)
    50.9
    """

    alpha_: float

    _parameter_constraints = SHARE_CONSTRAINTS
    _state_kind = staticmethod(fixed_share_state)

    __init__ = store_parameters
    _rate_of_last_resort, _new_state, _regret_bounds = no_rate, new_state, regret_bounds
    shifting_regret = shifting_regret

    def _sequence_bounds(self, losses, n_shifts, charged=0.0):
        n_experts = self._state.n_experts
        complexity = fixed_share_bound(self.n_trials_, n_experts, n_shifts, self.alpha_)
        return self._loss_bounds(losses, complexity)


@paragraphs
class VariableShare(EstimatorMixin, ExpertsRegressorMixin, RegressorMixin, BaseEstimator):
    """Tracks the best expert by a weighted average with variable share.

    As :class:`FixedShare`, but an expert with the loss ``L``, from zero to one, keeps
    ``(1 - alpha)^L`` of its weight, and the rest goes to all others in equal parts. An expert that
    loses nothing shares nothing: once the learner follows a perfect expert, no trial costs it
    anything.

    **The theorem.** With the loss ``L*`` of the best sequence with ``k`` shifts the learner has, in
    any number of trials, at most the loss ``(1 + a / eta) L* + (ln(n) + k b) / eta`` where
    ``a = ln(1 / (1 - alpha))`` and ``b = ln(n - 1) + ln(1 / alpha) + a + eta``;
    :meth:`shifting_regret` computes both sides.

    **Abstaining experts.** NaN is an expert that abstains. The others predict without it. It is
    charged a loss for which it keeps the ratio of its weight to theirs; then all of them share.

    Parameters
    ----------
    {estimators_as_experts}

    alpha : float or "auto", default=0.01
        The part that is shared at a loss of one. "auto" is ``n_shifts / (horizon - 1)``.

    {n_shifts}

    {horizon}

    loss : {"square", "absolute", "entropic", "hellinger"} or MixableLoss, default="square"
        As in :class:`WeightedAverage`. The theorem is about losses
        that are at most one, which the entropic loss is not.

    {prediction}

    {eta_or_auto}

    {bounds_of_outcomes}

    {prefit_classifiers}

    {block_size_classifiers}

    {keep_losses}

    {keep_weights}

    Attributes
    ----------
    {weights_and_losses}

    regret_ : float
        The loss of the learner minus that of this expert, in the trials in which it did not
        abstain; it is negative where shifting pays. See :meth:`shifting_regret`.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``, without shifts; None where :class:`WeightedAverage`
        has none, and for the entropic loss.

    alpha_ : float
        The part that is shared.

    {eta}

    {bounds}

    {trials_and_experts}

    See Also
    --------
    FixedShare : Shares in each trial.
    best_shifting_sequence : Finds the best sequence in hindsight.
    sklearn_sl.theory.variable_share_bound : The theorem.

    References
    ----------
    .. [1] M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_switching_experts
    >>> from sklearn_sl.online import VariableShare
    >>> advice, y, _ = make_switching_experts(random_state=0)
    >>> model = VariableShare(alpha=0.024, prediction="vovk", bounds=(0, 1)).fit(advice, y)
    >>> regret, bound = model.shifting_regret(advice, y, n_shifts=3)
    >>> round(model.cumulative_loss_, 1), round(regret, 1), round(bound, 1)
    (20.6, 14.0, 17.0)
    """

    alpha_: float

    _parameter_constraints = SHARE_CONSTRAINTS
    _state_kind = VariableShareState

    __init__ = store_parameters
    _rate_of_last_resort, _new_state, _regret_bounds = no_rate, new_state, regret_bounds
    shifting_regret = shifting_regret

    def _sequence_bounds(self, losses, n_shifts, charged=0.0):
        if not self._loss.bounded:
            return None
        n_experts, suffered = self._state.n_experts, losses + charged
        # The theorem for a constant of one, without the losses themselves.
        bound = variable_share_bound(suffered, n_experts, n_shifts, self.alpha_)
        complexity = bound - suffered - n_shifts
        return self._loss_bounds(losses + n_shifts, complexity)
