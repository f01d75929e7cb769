"""Hedge: stakes on experts, spread by their losses."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_scalar

from sklearn_sl._rows import slices
from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._trials import SLICE, running_sum
from sklearn_sl.online.experts._expert_weights import (
    NO_HISTORY,
    AdaptiveState,
    DoublingState,
    fixed_share_state,
    shared_state,
)
from sklearn_sl.online.experts._experts import ExpertsClassifierMixin
from sklearn_sl.online.experts._weighted_majority import VOTE_CONSTRAINTS
from sklearn_sl.theory._domain import positive, real
from sklearn_sl.theory._experts import horizon_rate

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

LARGEST = np.finfo(np.float64).max
RATES = {"adahedge", "doubling", "horizon"}
# Losses up to this, and down to its inverse, have squares that can be added up.
PLAIN = 1e100
# Sums of so large exponents are still numbers, however many trials there are.
LARGEST_EXPONENT = 1e290
# So many numbers stay in the memory of a core.
CACHED = 2**15


def hedge_state(n_experts, eta, horizon, share=0.0, scale=1.0):
    """Return the weights that a learning rate, given or chosen by itself, begins with."""
    if share > 0 and eta in ("adahedge", "doubling"):
        raise ValueError(f'share > 0 requires eta to be "horizon" or a float; got eta="{eta}".')
    if eta == "adahedge":
        return AdaptiveState(n_experts)
    if eta == "doubling":
        return DoublingState(n_experts, scale)
    if eta == "horizon":
        eta = float(horizon_rate(horizon, n_experts)) / scale
    return shared_state(fixed_share_state, n_experts, eta, share)


class HedgeRun(NamedTuple):
    """What Hedge did on a table of losses; see :func:`hedge`.

    Attributes
    ----------
    losses : ndarray of shape (n_trials,)
        The losses ``v.l`` of the trials.

    expert_losses : ndarray of shape (n_experts,)
        What each expert lost in the trials in which it did not abstain.

    weights : ndarray of shape (n_experts,)
        The weights after the last trial.

    weight_curve : ndarray of shape (n_trials, n_experts) or None
        The weights before each trial, if they were kept.

    best_expert : int
        The expert against whom the regret is largest.

    regret : float
        The loss of Hedge minus that of this expert, in the trials in which it did not abstain.

    regret_bound : float
        The theorem's bound on it.

    eta : float
        The last learning rate.

    See Also
    --------
    hedge : Computes it.

    Examples
    --------
    >>> from sklearn_sl.online import hedge
    >>> run = hedge([[0.0, 1.0], [0.0, 1.0]], eta=1.0)
    >>> run.losses.round(4), run.best_expert
    (array([0.5   , 0.2689]), 0)
    """

    losses: np.ndarray
    expert_losses: np.ndarray
    weights: np.ndarray
    weight_curve: np.ndarray | None
    best_expert: int
    regret: float
    regret_bound: float
    eta: float


def hedge(
    losses: ArrayLike,
    eta: float | Literal["adahedge", "doubling", "horizon"] = "adahedge",
    *,
    horizon: int | None = None,
    share: float = 0.0,
    scale: float = 1.0,
    keep_weights: bool = False,
) -> Any:
    """Play Hedge on a table of losses.

    In trial ``t`` Hedge spreads its stake over the experts by weights ``v``, and loses ``v.l`` if
    the row ``t`` of the table is ``l``. The weights are proportional to ``exp(-eta L)``, where
    ``L`` is what an expert has lost so far.

    Parameters
    ----------
    losses : array-like of shape (n_trials, n_experts)
        The losses of the experts, not negative unless for "adahedge"; NaN where an expert abstains.

    eta : float or {"adahedge", "doubling", "horizon"}, default="adahedge"
        The learning rate: a number; or "horizon", ``sqrt(2 ln(n) / T) / B`` for ``T`` trials and
        losses from zero to ``B``; or "doubling", which begins anew after 1, 2, 4, ... trials with
        the rate of so many; or "adahedge", which adapts itself, to losses of any range.

    horizon : int, default=None
        The number ``T`` of trials for "horizon"; None is that of the table.

    share : float, default=0.0
        The part of its weight that each expert gives to all others after each trial, so that Hedge
        can follow the best expert when it changes (fixed share). Needs a number or "horizon".

    scale : float, default=1.0
        The largest loss ``B``, which the rates of "horizon" and "doubling" are meant for.

    keep_weights : bool, default=False
        Whether to keep the weights of all trials.

    Returns
    -------
    run : HedgeRun
        Its ``losses``, the ``regret`` against the best expert, and the theorem's bound on it:
        ``ln(n) / eta + (eta / 2) sum v.l^2``, summed over all beginnings; for "adahedge" twice the
        sum of the differences between its losses and those of the mixture.

    See Also
    --------
    Hedge : Follows experts that say classes.
    best_expert : The best expert in hindsight.
    sklearn_sl.theory.hedge_bound : The theorem.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55, 1997.

    .. [2] S. de Rooij, T. van Erven, P. Grunwald and W. Koolen, "Follow the leader if you can,
       hedge if you must", Journal of Machine Learning Research 15, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.online import hedge
    >>> losses = np.random.default_rng(0).random((1000, 50)) ** np.linspace(1, 2, 50)
    >>> for eta in ("adahedge", "doubling", "horizon"):
    ...     run = hedge(losses, eta)
    ...     print(eta, round(run.regret), round(run.regret_bound))
    adahedge 12 18
    doubling 49 129
    horizon 36 54
    """
    losses = check_array(
        losses, dtype=np.float64, order="C", ensure_all_finite=False, input_name="losses"
    )
    _check_options(eta, horizon, share, scale)
    largest = _largest(losses)
    eta, unit = eta if isinstance(eta, str) else _plain_rate(eta, largest), _unit(largest)
    losses = losses if unit == 1 else losses / unit  # exact, as it is a power of two
    n_trials, n_experts = losses.shape
    state = hedge_state(n_experts, eta, horizon or n_trials, share, scale / unit)
    answers = np.empty((n_trials, 2))
    history = np.empty((n_trials, n_experts)) if keep_weights else NO_HISTORY
    lowest = -np.inf if eta == "adahedge" else 0.0
    start, step = 0, max(1, SLICE // (n_experts + 16))
    while start < n_trials:
        rows = slice(start, start + min(step, n_trials - start, state.trials_left))
        n_played = state.play_losses(losses[rows], answers[rows], history[rows], lowest)
        if n_played < rows.stop - start:
            _complain(losses[start + n_played], start + n_played)
        # While all experts abstain nothing is lost.
        np.copyto(answers[rows], 0, where=np.isnan(answers[rows]))
        state.note(answers[rows, 1])
        start = rows.stop
    expert_losses = state.expert_losses()
    regrets = running_sum(0.0, answers[:, 0]) - state.absent - expert_losses
    best = int(regrets.argmax())
    with np.errstate(over="ignore"):  # a bound, or a rate, may be beyond all numbers
        return HedgeRun(
            unit * answers[:, 0],
            unit * expert_losses,
            np.exp(state.log_weights()),
            history if keep_weights else None,
            best,
            float(unit * regrets[best]),
            float(unit * np.float64(state.hedge_bound())),
            float(np.float64(state.eta) / unit),
        )


def _largest(losses):
    """Return the largest size of a loss, zero if there is none, and infinite if one is."""
    largest = 0.0
    # A piece is read twice, but from the memory of the core.
    for rows in slices(len(losses), max(1, CACHED // losses.shape[1])):
        piece = losses[rows]
        top, bottom = piece.max(), piece.min()
        if np.isnan(top):
            top, bottom = np.fmax.reduce(piece, axis=None), np.fmin.reduce(piece, axis=None)
        largest = np.fmax(largest, np.fmax(top, -bottom))
    return largest


def _unit(largest):
    """Return the power of two in which the squares of losses are within the range of numbers."""
    if not np.isfinite(largest) or largest == 0 or 1 / PLAIN < largest < PLAIN:
        return 1.0
    return 2.0 ** (600 if largest > 1 else -600)


def _plain_rate(eta, largest):
    """Return the rate in the unit of the losses, or complain of one that no weight could follow."""
    unit = _unit(largest)
    with np.errstate(over="ignore"):
        rate = unit * eta
        if np.isfinite(largest) and not rate * (largest / unit) < LARGEST_EXPONENT:
            raise ValueError(
                f"eta={eta:g} times the largest loss, {largest:g}, exceeds the range of "
                "floating point numbers: choose a smaller eta."
            )
    return rate


def _check_options(eta, horizon, share, scale):
    if isinstance(eta, str):
        if eta not in RATES:
            raise ValueError(
                f"eta must be a positive float or one of {sorted(RATES)}; got {eta!r}."
            )
    else:
        positive("eta", check_scalar(eta, "eta", Real))
    if horizon is not None:
        check_scalar(horizon, "horizon", Integral, min_val=1)
    real("share", check_scalar(share, "share", Real), low=0, high=1)
    positive("scale", check_scalar(scale, "scale", Real))


def _complain(losses, trial):
    """Raise the error for a row of losses that cannot be played."""
    if np.any(losses < 0) and not np.any(np.isinf(losses)):
        raise ValueError(
            f"losses must be >= 0; got {np.nanmin(losses):g} in trial {trial}. Add a constant to "
            'all losses, or set eta="adahedge", which allows for negative ones.'
        )
    raise ValueError(
        f"losses must be finite, and their sums as well; those of trial {trial} are not. Divide "
        "all losses by a constant."
    )


@paragraphs
class Hedge(EstimatorMixin, ExpertsClassifierMixin, ClassifierMixin, BaseEstimator):
    """Hedge: follows an expert drawn at random, by weights that decrease with mistakes.

    In a trial the row of ``X`` is the advice of ``n`` experts, each of them a class. The learner
    follows an expert drawn with the probabilities ``v``, and so expects ``v.l`` mistakes, where
    ``l`` is one for experts that are wrong and else zero. The weights ``v`` are proportional to
    ``exp(-eta L)``, where ``L`` counts the mistakes of an expert so far.

    **The theorem.** The expected number of mistakes is at most that of the best expert plus
    ``ln(n) / eta + (eta / 2) sum v.l``, in ``T`` trials no more than ``sqrt(2 T ln(n))`` for the
    rate ``eta = sqrt(2 ln(n) / T)``: per trial, it comes as close to the best expert as one likes,
    or goes below. The default, AdaHedge, needs no horizon and no rate, and profits if an expert is
    good. ``expected_mistakes_`` is exact: nothing has to be drawn. In its trials the learner
    answers by the class with the largest weight, unless ``randomized``; ``predict`` always does.

    **Other losses** than mistakes are for :func:`hedge`, or :meth:`replay`.

    **Advice.** A number ``x`` is the class in place ``floor(x - threshold) + 1``, for two classes
    the second one if ``x >= threshold``. NaN is an expert that abstains: the others go on without
    it, and it keeps the ratio of its weight to theirs. (AdaHedge charges it what the learner
    loses.) The theorem then compares the learner with each expert in the trials in which it did not
    abstain.

    **Ties** go to the smaller class, also if all experts abstain.

    Parameters
    ----------
    estimators : list of estimators or of (name, estimator), default=None
        The experts, which are asked about the samples ``X``: classifiers, or regressors whose
        numbers are read as above. None: the columns of ``X`` are the advice.

    eta : float or {"adahedge", "doubling", "horizon"}, default="adahedge"
        The learning rate: a number; "horizon", the rate of the theorem; "doubling", which begins
        anew after 1, 2, 4, ... trials with the rate of so many; or "adahedge", ``ln(n)`` divided by
        the sum of all differences between the learner's losses and those of the mixture.

    horizon : int, default=None
        The number of trials, for "horizon"; None is the number of samples of ``fit``.

    share : float, default=0.0
        The part of its weight that each expert gives to all others after each trial (fixed share),
        so that the learner can follow the best expert when it changes: zero, or at least 1e-100.
        Needs a number or "horizon" for ``eta``.

    randomized : bool, default=False
        Whether the learner follows an expert drawn by weight in its trials. ``predict`` answers by
        the heaviest class in any case.

    threshold : float, default=0.5
        Where the classes that numbers stand for begin.

    {prefit}

    {block_size}

    {random_state}

    {keep_losses}

    {keep_weights}

    Attributes
    ----------
    {classes}

    weights_ : ndarray of shape (n_experts,)
        The probabilities of the experts.

    {log_weights}

    {weight_curve}

    expected_mistakes_ : float
        The expected number of mistakes of a learner that draws an expert in each trial.

    cumulative_loss_ : float
        The same.

    loss_curve_ : ndarray of shape (`n_trials_`,)
        The probability of a mistake in each trial, if ``keep_losses``.

    {n_mistakes}

    expert_losses_ : ndarray of shape (n_experts,)
        The number of mistakes of each expert in the trials in which it did not abstain.

    best_expert_ : int
        The expert against whom the learner's regret is largest: the one with the fewest mistakes,
        if none ever abstained.

    regret_ : float
        The expected mistakes of the learner minus those of this expert, in the trials in which it
        did not abstain.

    regret_bound_ : float
        The theorem's bound on ``regret_``, with the sum that occurred. For "doubling" a sum over
        all beginnings; for "adahedge" twice the sum of differences above. With ``share``,
        ``(T - 1) ln(1 / (1 - share)) / eta`` more.

    eta_ : float
        The learning rate of the next trial (of AdaHedge: infinite at first).

    {trials_and_experts}

    See Also
    --------
    hedge : The same for any table of losses.
    WeightedMajority : With a bound on the mistakes of the majority.
    WeightedAverage : If advice are numbers.
    sklearn_sl.theory.hedge_bound : The theorem.
    sklearn_sl.theory.adahedge_bound : What AdaHedge promises beforehand.

    References
    ----------
    .. [1] Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and
       an application to boosting", Journal of Computer and System Sciences 55, 1997.

    .. [2] S. de Rooij, T. van Erven, P. Grunwald and W. Koolen, "Follow the leader if you can,
       hedge if you must", Journal of Machine Learning Research 15, 2014.

    .. [3] Y. Freund, R. Schapire, Y. Singer and M. Warmuth, "Using and combining predictors that
       specialize", STOC 1997.

    Examples
    --------
    Classifiers that learn from a stream, each sample predicted before it is learned:

    >>> from sklearn.datasets import make_classification
    >>> from sklearn_sl.online import Hedge, PassiveAggressiveClassifier, Perceptron
    >>> X, y = make_classification(2000, random_state=0)
    >>> experts = [("plain", Perceptron()), ("averaged", Perceptron(average=True))]
    >>> experts += [(f"C={C}", PassiveAggressiveClassifier(C=C)) for C in (0.001, 0.01, 0.1)]
    >>> model = Hedge(experts).fit(X, y)
    >>> str(model.expert_names_[model.best_expert_])
    'C=0.01'
    >>> bool(model.regret_ <= model.regret_bound_)
    True
    """

    regret_bound_: float
    eta_: float

    _parameter_constraints = {
        **VOTE_CONSTRAINTS,
        "eta": [Interval(Real, 0, LARGEST, closed="right"), StrOptions(RATES)],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "share": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        eta: float | Literal["adahedge", "doubling", "horizon"] = "adahedge",
        horizon: int | None = None,
        share: float = 0.0,
        randomized: bool = False,
        threshold: float = 0.5,
        prefit: bool = False,
        block_size: int = 1,
        random_state: int | np.random.RandomState | None = None,
        keep_losses: bool = False,
        keep_weights: bool = False,
    ) -> None:
        self.estimators = estimators
        self.eta = eta
        self.horizon = horizon
        self.share = share
        self.randomized = randomized
        self.threshold = threshold
        self.prefit = prefit
        self.block_size = block_size
        self.random_state = random_state
        self.keep_losses = keep_losses
        self.keep_weights = keep_weights

    _shows_rate, _losses = True, ExpertsClassifierMixin._expected_losses

    def _new_state(self, n_experts):
        horizon = self._known_horizon('eta="horizon"') if self.eta == "horizon" else None
        return hedge_state(n_experts, self.eta, horizon, self.share)

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the weights of the experts that say each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The advice of the experts; NaN where they abstain. With ``estimators``, samples.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes)
            The probabilities with which an expert that is drawn by weight says each class; the
            same for all classes if all experts abstain.
        """
        return self._answers(X)[:, :-1]

    def replay(self, losses: ArrayLike, *, scale: float = 1.0, keep_weights: bool = False) -> Any:
        """Play on a table of losses, with the rate and the share of this learner.

        Parameters
        ----------
        losses : array-like of shape (n_trials, n_experts)
            The losses of the experts; NaN where an expert abstains.

        scale : float, default=1.0
            The largest loss; see :func:`hedge`.

        keep_weights : bool, default=False
            Whether to keep the weights of all trials.

        Returns
        -------
        run : HedgeRun
            What happened; see :func:`hedge`. The learner does not change.
        """
        return hedge(
            losses,
            self.eta,
            horizon=self.horizon,
            share=self.share,
            scale=scale,
            keep_weights=keep_weights,
        )
