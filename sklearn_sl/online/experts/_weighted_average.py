"""The weighted average of experts, and Vovk's aggregating algorithm."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.experts._expert_weights import AdaptiveState, AnytimeState, ExponentialState
from sklearn_sl.online.experts._experts import EXPERT_CONSTRAINTS, ExpertsRegressorMixin
from sklearn_sl.online.experts._mixable import LOSSES, MixableLoss

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

# What all learners of this kind have among their parameters.
LOSS_CONSTRAINTS = {
    "loss": [StrOptions(set(LOSSES)), MixableLoss],
    "prediction": [StrOptions({"average", "vovk"})],
    "eta": [Interval(Real, 0, np.finfo(np.float64).max, closed="right"), StrOptions({"auto"})],
    "bounds": [tuple, list, None],
}
# Rates that adapt themselves, and the states that do it.
ADAPTIVE = {"anytime": AnytimeState, "adahedge": AdaptiveState}


@paragraphs
class WeightedAverage(EstimatorMixin, ExpertsRegressorMixin, RegressorMixin, BaseEstimator):
    """Predicts by the weighted average of the advice of experts.

    In a trial the row ``x`` of ``X`` is the advice of ``n`` experts, and ``y`` is the outcome. The
    learner predicts ``v.x``. Then the weights become ``v_i exp(-eta L(y, x_i))``, divided by their
    sum. They live as logarithms, so that no number of trials makes them vanish.

    **The theorem.** For a loss and a learning rate that go together, the loss of the learner in
    any number of trials is at most that of the best expert plus ``ln(n) / eta``; with a prior, plus
    ``ln(1 / prior_i) / eta`` for each expert ``i``. For the square loss ``eta`` is 1/2, the
    bound ``2 ln(n)``; for the entropic loss 1. ``prediction="vovk"`` predicts by the substitution
    function of Vovk's aggregating algorithm instead, which permits larger rates: for the square
    loss 2, the bound ``1/2 ln(n)``. Outcomes and advice are from zero to one here. They are mapped
    to this interval from ``bounds``, and losses back: the square loss is multiplied by the square
    of the range, its bound as well.

    **Abstaining experts.** NaN is an expert that abstains. The others predict without it, and it
    keeps the ratio of its weight to theirs. The theorem then compares the learner with each expert
    in the trials in which that one did not abstain. If all of them abstain, the prediction is the
    middle of the bounds.

    Parameters
    ----------
    estimators : list of estimators or of (name, estimator), default=None
        The experts, which are asked about the samples ``X``: regressors, or classifiers of the two
        bounds, whose probabilities are taken. None: the columns of ``X`` are the advice.

    loss : {"square", "absolute", "entropic", "hellinger"} or MixableLoss, default="square"
        ``(y - p)^2``, ``|y - p|``, the relative entropy ``y ln(y/p) + (1-y) ln((1-y)/(1-p))``, or
        ``1 - sqrt(y p) - sqrt((1-y) (1-p))``. For the entropic loss, advice that is closer than
        ``1e-10`` to zero or one is taken for this far from it.

    {prediction}

    eta : float or {"auto", "anytime", "adahedge"}, default="auto"
        The learning rate. "auto" is the largest one of the theorem. The absolute loss has none: for
        the average it is then "adahedge", and for Vovk's prediction 1. Two rates adapt themselves,
        for the average and any convex loss, without a horizon: "anytime" is ``2 sqrt(ln(n) / t)``
        in trial ``t``, for losses up to one, with a regret of at most ``sqrt(T ln(n))`` after every
        number ``T`` of trials; "adahedge" falls with the losses, see :class:`Hedge`, and profits
        if an expert is good. The bounds of "auto" do not grow with ``T``, but for the absolute
        loss.

    prior : array-like of shape (n_experts,), default=None
        Positive weights to begin with, divided by their sum; None is the same for all.

    bounds : tuple (low, high), default=None
        The range of outcomes. An outcome outside raises an error; advice outside is moved to the
        nearer bound, which makes no loss larger. None takes the range of the outcomes of ``fit``,
        or of the first ``partial_fit``.

    {prefit}

    {block_size}

    {keep_losses}

    {keep_weights}

    Attributes
    ----------
    {weights}

    {log_weights}

    {weight_curve}

    {cumulative_loss_of_learner}

    {loss_curve}

    {expert_losses}

    best_expert_ : int
        The expert against whom the learner's regret is largest: the one with the least loss, if
        none ever abstained.

    regret_ : float
        The loss of the learner minus that of this expert, in the trials in which it did not
        abstain.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``. If ``eta`` is larger than the theorem permits,
        ``ln(n) / eta + eta T / 8`` in ``T`` trials for the losses named above but the entropic one;
        else None. With "anytime" ``sqrt(T ln(n))``, with "adahedge" twice what AdaHedge measures.
        For the absolute loss with Vovk's prediction ``(c eta - 1) L + c ln(n)`` for the loss ``L``
        of the best expert, with ``c = 1 / (2 ln(2 / (1 + exp(-eta))))``, if all outcomes were at
        the bounds.

    eta_ : float
        The learning rate (of the next trial, if it adapts itself; infinite at first).

    {bounds}

    {trials_and_experts}

    See Also
    --------
    FixedShare : If the best expert changes.
    Hedge : If advice are classes, or losses are all that is known.
    MixableLoss : A loss of one's own.
    sklearn_sl.theory.weighted_average_bound : The theorem.
    sklearn_sl.theory.anytime_average_bound : The one of the rate "anytime".

    References
    ----------
    .. [1] J. Kivinen and M. Warmuth, "Averaging expert predictions", EuroCOLT 1999.

    .. [2] V. Vovk, "A game of prediction with expert advice", Journal of Computer and System
       Sciences 56, 1998.

    .. [3] Y. Freund, R. Schapire, Y. Singer and M. Warmuth, "Using and combining predictors that
       specialize", STOC 1997.

    .. [4] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006. Rates that fall with time.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import WeightedAverage
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500)
    >>> advice = np.clip(y[:, None] + rng.normal(size=(500, 20)) * np.linspace(0.1, 1, 20), 0, 1)
    >>> model = WeightedAverage(bounds=(0, 1)).fit(advice, y)
    >>> model.best_expert_, bool(model.regret_ <= model.regret_bound_)
    (0, True)

    Models of scikit-learn that learn from a stream, each sample predicted before it is learned:

    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import SGDRegressor
    >>> X, y = make_regression(200, 5, noise=10, random_state=0)
    >>> experts = [(f"alpha={a}", SGDRegressor(alpha=a, random_state=0)) for a in (1e-4, 1e-2, 1)]
    >>> model = WeightedAverage(experts).fit(X, y)
    >>> str(model.expert_names_[model.best_expert_])
    'alpha=0.0001'
    """

    eta_: float

    _parameter_constraints = {
        **EXPERT_CONSTRAINTS,
        **LOSS_CONSTRAINTS,
        "eta": [LOSS_CONSTRAINTS["eta"][0], StrOptions({"auto", *ADAPTIVE})],
        "prior": ["array-like", None],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        loss: Any = "square",
        prediction: Literal["average", "vovk"] = "average",
        eta: float | str = "auto",
        prior: ArrayLike | None = None,
        bounds: Any = None,
        prefit: bool = False,
        block_size: int = 1,
        keep_losses: bool = False,
        keep_weights: bool = False,
    ) -> None:
        self.estimators = estimators
        self.loss = loss
        self.prediction = prediction
        self.eta = eta
        self.prior = prior
        self.bounds = bounds
        self.prefit = prefit
        self.block_size = block_size
        self.keep_losses = keep_losses
        self.keep_weights = keep_weights

    _shows_rate = True

    def _check_options(self):
        if self.eta not in ADAPTIVE:
            super()._check_options()
            return
        if self.prediction != "average":
            raise ValueError(
                f'eta="{self.eta}" requires prediction="average"; got '
                f'prediction="{self.prediction}".'
            )
        bounded = self.eta == "anytime"
        if not self._loss.convex or (bounded and not self._loss.bounded):
            valid = [f'"{k}"' for k, v in LOSSES.items() if v.convex and (v.bounded or not bounded)]
            raise ValueError(
                f'eta="{self.eta}" requires a convex loss{" of at most one" if bounded else ""}: '
                f"{', '.join(valid)}; got loss={self.loss!r}. Set eta to a positive float."
            )
        self.eta_ = np.inf

    def _rate_of_last_resort(self):
        return np.inf

    def _new_state(self, n_experts):
        prior = self._read_prior(n_experts)
        self._complexities = np.log(n_experts) if prior is None else -np.log(prior)
        if np.isinf(self.eta_):
            if prior is not None:
                raise ValueError(
                    "prior requires a fixed learning rate: set eta to a positive float."
                )
            return ADAPTIVE.get(self.eta, AdaptiveState)(n_experts)
        return ExponentialState(n_experts, self.eta_, prior)

    def _read_prior(self, n_experts):
        if self.prior is None:
            return None
        prior = np.asarray(self.prior, dtype=np.float64)
        if prior.shape != (n_experts,):
            raise ValueError(
                f"prior must have the shape ({n_experts},), one weight per expert; got "
                f"{prior.shape}."
            )
        if not (np.all(prior > 0) and np.isfinite(prior.sum())):
            raise ValueError("prior must contain positive finite numbers only.")
        return prior / prior.sum()

    def _regret_bounds(self):
        n_experts = self._state.n_experts
        if isinstance(self._state, AdaptiveState | AnytimeState):
            return np.full(n_experts, self._state.hedge_bound())
        losses = self._state.expert_losses()
        bounds = self._loss_bounds(losses, self._complexities)
        return None if bounds is None else bounds - losses
