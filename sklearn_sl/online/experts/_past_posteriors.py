"""Mixing past posteriors: experts that return are found again."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_entries, check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.experts import _aggregating, _posteriors, _shares
from sklearn_sl.online.experts._expert_weights import WeightState, normal
from sklearn_sl.online.experts._experts import ExpertsRegressorMixin
from sklearn_sl.theory._switching import past_posteriors_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

LAST, PAST, LOST = range(_posteriors.N_ROWS)
KINDS = {
    "start": _posteriors.START,
    "uniform": _posteriors.UNIFORM,
    "decaying": _posteriors.DECAYING,
}
# How many masses of ages there are at first.
FEWEST_MASSES = 1024


def age_masses(n_ages, decay, known=None):
    """Return sums of ``a^-decay`` over the ages up to 0, 1, ..., at least ``n_ages``.

    Those that are known already need not be computed. The table doubles its length each time, so
    that it does not matter how often it had to grow.
    """
    masses = np.zeros(1) if known is None else known
    while len(masses) <= n_ages:
        ages = np.arange(len(masses), max(2 * len(masses), FEWEST_MASSES), dtype=np.float64)
        terms = np.append(masses[-1], ages**-decay)
        masses = np.append(masses, np.add.accumulate(terms)[1:])
    return masses


def block_of_age(age, n_past):
    """Return the youngest and the oldest age in the block of an age.

    There are one or two blocks of each size 1, 2, 4, ..., which add up to all of the past.
    """
    size, youngest = 1, 1
    while True:
        n_blocks = 2 - n_past % 2
        if age < youngest + n_blocks * size:
            youngest += (age - youngest) // size * size
            return youngest, youngest + size - 1
        youngest += n_blocks * size
        n_past, size = (n_past - n_blocks) // 2, 2 * size


def block_sizes(n_past):
    """Return the sizes of the blocks of so many trials, the oldest first."""
    sizes, size = [], 1
    while n_past:
        n_blocks = 2 - n_past % 2
        sizes = [size] * n_blocks + sizes
        n_past, size = (n_past - n_blocks) // 2, 2 * size
    return sizes


def sequence_complexity(experts, n_experts, alpha, past, decay):
    """Return what a sequence of experts costs who mixes past posteriors, in nats.

    Each expert costs ``ln(n)`` once. To stay costs ``ln(1 / (1 - alpha))``. A shift costs one over
    the part of the posterior of the last trial in which the expert was followed, or of the start
    for a new one.
    """
    experts = np.asarray(experts)
    shifts = np.flatnonzero(np.diff(experts)) + 1
    with np.errstate(divide="ignore"):
        to_stay, to_shift = -np.log1p(-alpha), -np.log(alpha)
    n_stays = len(experts) - 1 - len(shifts)
    cost = np.log(n_experts) + (n_stays * to_stay if n_stays else 0.0)
    masses = age_masses(len(experts), decay) if past == "decaying" else None
    last_trial = {}
    for start, stop in zip([0, *shifts], [*shifts, len(experts)], strict=True):
        expert = experts[start]
        if start > 0:
            cost += to_shift
            if expert not in last_trial or past == "start":
                cost += np.log(n_experts)
            if past == "uniform":
                cost += np.log(start)
            elif past == "decaying":
                young, old = block_of_age(start - last_trial.get(expert, 0), start)
                mass = (masses[old] - masses[young - 1]) / (old - young + 1)
                cost += np.log(masses[start] / mass)
        last_trial[expert] = stop
    return float(cost)


class PastPosteriorState(WeightState):
    """Weights that mix in their past."""

    _arrays = ("charged", "state", "blocks", "sizes", "counts")

    def __init__(self, n_experts, eta, alpha, past, decay):
        super().__init__(n_experts)
        self.eta, self.alpha, self.past, self.decay = eta, alpha, past, decay
        start = _aggregating.padded(np.full(n_experts, 1 / n_experts), 0.0)
        self.state = np.zeros((_posteriors.N_ROWS, len(start)))
        self.state[LAST] = start
        self.blocks, self.sizes = np.zeros((1, len(start))), np.zeros(1, dtype=np.longlong)
        self.counts = np.zeros(2, dtype=np.longlong)
        self.masses = np.zeros(1)

    def _check_arrays(self, width):
        check_shape(self, "state", (_posteriors.N_ROWS, width))
        n_rows = len(check_shape(self, "blocks", (None, width)))
        check_shape(self, "sizes", (n_rows,), np.longlong)
        n_past, n_blocks = check_shape(self, "counts", (2,), np.longlong)
        check_shape(self, "masses", (None,))
        check_entries(n_past, "counts", 0, np.inf)
        check_entries(n_blocks, "counts", 0, n_rows)
        if not n_rows:
            raise ValueError("There must be a block.")
        if KINDS[self.past] == _posteriors.DECAYING and (
            self.sizes[:n_blocks].tolist() != block_sizes(int(n_past))
        ):
            raise ValueError(f"The sizes of blocks do not belong to a past of {n_past} trials.")

    def play(self, losses, *args):
        if self.past == "decaying":
            self._make_room(int(self.counts[0]) + len(losses))
        return super().play(losses, *args)

    def _make_room(self, n_past):
        """Let there be room for a past of so many trials."""
        self.masses = age_masses(n_past, self.decay, self.masses)
        # Two blocks of each size, and one that comes before others become one.
        missing = 2 * n_past.bit_length() + 1 - len(self.blocks)
        if missing > 0:
            self.blocks = np.pad(self.blocks, ((0, missing), (0, 0)))
            self.sizes = np.pad(self.sizes, (0, missing))

    def _compiled(self):
        return _posteriors.PastPosteriorWeights(
            self.n_experts,
            self.eta,
            self.alpha,
            KINDS[self.past],
            self.state,
            self.blocks,
            self.sizes,
            self.counts,
            self.masses,
        )

    def _all_losses(self):
        return self._read(self.state[LOST])

    def log_weights(self):
        """Return the logarithms of weights that sum to one."""
        weights = self._read(self.state[LAST])
        if self.counts[0]:
            weights = (1 - self.alpha) * weights + self.alpha * self._read(self.state[PAST])
        return normal(np.log(weights))


@paragraphs
class MixingPastPosteriors(EstimatorMixin, ExpertsRegressorMixin, RegressorMixin, BaseEstimator):
    """Tracks the best expert by mixing past posteriors, with a memory of earlier experts.

    In a trial the learner predicts the weighted average ``v.x`` of the advice of ``n`` experts. The
    posterior of the trial is proportional to ``v_i exp(-eta L(y, x_i))``. The weights of the next
    trial are ``1 - alpha`` times this posterior plus ``alpha`` times a mixture of all posteriors
    before, beginning with equal weights at the start. An expert that was good once had a large
    weight then, and some of it is still there when it becomes the best one again:
    :class:`FixedShare` would have to find it among all ``n``.

    **The past.** With ``past="uniform"`` all posteriors count alike. With "decaying" that of age
    ``a`` counts in proportion to ``a^-decay``; there, posteriors are kept in blocks of 1, 2, 4, ...
    trials of nearly the same age that count alike, two of each size at most, so that a trial costs
    about ``2 n log2(T)`` operations and no more memory. With "start" only equal weights are mixed
    in: that is fixed share, where each expert shares with itself as well.

    **The theorem.** The loss of the learner is at most that of any sequence of experts with ``k``
    shifts between ``m`` experts plus ``C / eta`` where, for the uniform past,
    ``C = m ln(n) + (T - 1) H(alpha) + k ln(T - 1)`` with ``alpha = k / (T - 1)`` and its entropy
    ``H``: an expert costs ``ln(n)`` only once. :meth:`sequence_regret` computes both sides for any
    sequence, :meth:`shifting_regret` for the best one with so many shifts. More is said about
    losses, rates, predictions and bounds in :class:`WeightedAverage`.

    **Abstaining experts.** NaN is an expert that abstains. The others predict without it, and its
    posterior is the weight that it had.

    Parameters
    ----------
    {estimators_as_experts}

    alpha : float or "auto", default=0.01
        The part of the past: zero, or at least 1e-100. "auto" is ``n_shifts / (horizon - 1)``.

    past : {"decaying", "uniform", "start"}, default="decaying"
        What is mixed in.

    decay : float, default=1.0
        How fast a past that decays is forgotten, at most 2; zero is the uniform past.

    {options_of_shares}

    Attributes
    ----------
    {weights_and_losses}

    regret_ : float
        The loss of the learner minus that of this expert, in the trials in which it did not
        abstain; it is negative where shifting pays.

    regret_bound_ : float or None
        The theorem's bound on ``regret_``, without shifts; None where :class:`WeightedAverage`
        has none.

    alpha_ : float
        The part of the past.

    {eta}

    {bounds}

    {trials_and_experts}

    See Also
    --------
    FixedShare : Without memory.
    SwitchingMultitaskExperts : For classes, and several tasks.
    sklearn_sl.theory.past_posteriors_bound : The theorem.

    References
    ----------
    .. [1] O. Bousquet and M. Warmuth, "Tracking a small set of experts by mixing past posteriors",
       Journal of Machine Learning Research 3, 2002.

    Examples
    --------
    Three of a thousand experts take turns in being the best one:

    >>> from sklearn_sl.datasets import make_switching_experts
    >>> from sklearn_sl.online import FixedShare, MixingPastPosteriors
    >>> advice, y, best = make_switching_experts(4000, 1000, 40, n_modes=3, random_state=0)
    >>> options = {"prediction": "vovk", "alpha": 0.01, "bounds": (0, 1)}
    >>> model = MixingPastPosteriors(**options).fit(advice, y)
    >>> round(model.cumulative_loss_, 1)
    122.6
    >>> regret, bound = model.sequence_regret(advice, y, best)
    >>> bool(regret <= bound)
    True
    >>> round(FixedShare(**options).fit(advice, y).cumulative_loss_, 1)
    192.1
    """

    alpha_: float

    _parameter_constraints = {
        **_shares.SHARE_CONSTRAINTS,
        "past": [StrOptions(set(KINDS))],
        "decay": [Interval(Real, 0, 2, closed="both")],
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        alpha: float | str = 0.01,
        past: Literal["decaying", "uniform", "start"] = "decaying",
        decay: float = 1.0,
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
        self.estimators = estimators
        self.alpha = alpha
        self.past = past
        self.decay = decay
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

    _rate_of_last_resort, _new_state = _shares.no_rate, _shares.new_state
    _regret_bounds, shifting_regret = _shares.regret_bounds, _shares.shifting_regret

    @property
    def _state_kind(self):
        return partial(PastPosteriorState, past=self.past, decay=self.decay)

    def _sequence_bounds(self, losses, n_shifts, charged=0.0):
        n_experts = self._state.n_experts
        complexity = past_posteriors_bound(
            self.n_trials_,
            n_experts,
            n_shifts,
            min(n_shifts + 1, n_experts),
            self.alpha_,
            self.past,
            self.decay,
        )
        return self._loss_bounds(losses, complexity)

    def sequence_regret(
        self, X: MatrixLike, y: ArrayLike, experts: ArrayLike
    ) -> tuple[float, float | None]:
        """Return the regret against a sequence of experts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (`n_trials_`, n_features)
            The advice in all trials so far, in which no expert abstained. With ``estimators`` the
            samples: experts that learn go through them once more, from the start.

        y : array-like of shape (`n_trials_`,)
            The outcomes.

        experts : array-like of shape (`n_trials_`,)
            The expert of each trial.

        Returns
        -------
        regret : float
            The loss of the learner minus that of the sequence.

        bound : float or None
            The theorem's bound on it; None where there is none, as for ``regret_bound_``.
        """
        losses, experts = _shares.losses_of_sequences(self, X, y), np.asarray(experts)
        if experts.shape != (self.n_trials_,) or not np.isin(experts, range(losses.shape[1])).all():
            raise ValueError(
                f"experts must be integers in [0, {losses.shape[1]}), one for each of the "
                f"{self.n_trials_} trials."
            )
        loss = float(losses[np.arange(self.n_trials_), experts].sum())
        complexity = sequence_complexity(
            experts, self._state.n_experts, self.alpha_, self.past, self.decay
        )
        return _shares.both_sides(self, loss, self._loss_bounds(loss, complexity))
