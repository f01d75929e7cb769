"""The states of weights of experts: arrays that compiled trials change."""

import numpy as np

from sklearn_sl._state import CheckedState, check_number, check_shape
from sklearn_sl.online._trials import running_sum
from sklearn_sl.online.experts import _aggregating, _sharing
from sklearn_sl.theory._experts import anytime_average_bound, fixed_share_bound, horizon_rate

LEAST, OFFSET, GAP, LEFT = range(_aggregating.TAIL)
# The weights of numbers that are so far apart have no ratio but zero.
FAR = 1000.0
NOTHING, NO_HISTORY = np.empty(0), np.empty((0, 0))
# Positive parts below this would not keep all weights within the range of numbers.
SMALLEST_PART = 1e-100
# Nobody sees the end of more epochs, each of which is twice as long as the one before.
MOST_EPOCHS = 62


class WeightState(CheckedState):
    """Weights of ``n`` experts, and what each of them has lost.

    ``charged`` adds up what experts were charged while they abstained, ``absent`` what the learner
    lost meanwhile. Hooks: ``_compiled()`` returns the compiled weights, which change the arrays
    that ``_arrays`` names, and ``_check_arrays(width)`` complains of them, where ``width`` is the
    padded number of experts; ``log_weights()`` and ``_all_losses()`` read them.
    """

    _arrays = ()
    # How many trials there are before the weights begin anew.
    trials_left = np.inf

    def __init__(self, n_experts):
        self.n_experts = n_experts
        self.charged, self.absent = np.zeros(n_experts), np.zeros(n_experts)
        self.n_trials, self.squares = 0, 0.0

    def _check_state(self):
        n = check_number(self, "n_experts", 1)
        check_shape(self, "charged", (n,))
        check_shape(self, "absent", (n,))
        self._check_arrays(len(_aggregating.padded(self.charged, 0.0)))

    def copy(self):
        """Return a state that can go on alone."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        for name in {"charged", "absent", *self._arrays}:
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def play(self, losses, tables, answers, votes=False, history=NO_HISTORY):
        """Play trials, and return how many; see :func:`_aggregating.sweep`.

        There are few enough for a short while: Ctrl-C has to wait for the end.
        """
        return self._sweep(losses, tables, answers, votes, history, -np.inf, NOTHING)

    def play_losses(self, losses, answers, history, lowest):
        """Play trials in which the learner loses the weighted mean of losses."""
        tables = np.empty((0, 0, 0))
        return self._sweep(losses, tables, answers, False, history, lowest, self.absent)

    def _sweep(self, losses, tables, answers, votes, history, lowest, absent):
        return _aggregating.sweep(
            self._compiled(),
            losses,
            tables,
            votes,
            lowest,
            self.charged,
            absent,
            answers,
            history,
        )

    def note(self, squares):
        """Hear of the weighted means of squared losses in the trials that were played last."""
        self.n_trials += len(squares)
        self.squares = running_sum(self.squares, squares)

    def hedge_bound(self):
        """Return the bound on the regret of Hedge against each expert."""
        if self.n_experts == 1:
            return 0.0
        return self._complexity() / self.eta + self.eta / 2 * self.squares

    def _complexity(self):
        """Return the logarithm of one over what an expert had of all weights to begin with."""
        return np.log(self.n_experts)

    def available_weights(self, abstaining):
        """Return weights for rows in which some experts abstain: each sums to one, or is NaN."""
        logs = self._available_logs(abstaining)
        tops = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(tops), tops, 0))
        with np.errstate(invalid="ignore"):
            return weights / weights.sum(axis=1, keepdims=True)

    def _available_logs(self, abstaining):
        """Return logarithms of weights up to a constant; those who abstain have none."""
        return np.where(abstaining, -np.inf, self._relative_logs())

    def _relative_logs(self):
        """Return logarithms of weights up to a constant, finite even if weights vanish."""
        return self.log_weights()

    def summary(self):
        """Return the logarithms of the weights, the losses of the experts, and the rate."""
        return self.log_weights(), self.expert_losses(), float(self.eta)

    def expert_losses(self):
        """Return what each expert has lost in the trials in which it did not abstain."""
        return self._all_losses() - self.charged

    def _read(self, padded):
        return padded[: self.n_experts].copy()


class ExponentialState(WeightState):
    """Weights proportional to ``prior * exp(-eta * losses)``."""

    _arrays = ("costs", "tail")

    def __init__(self, n_experts, eta, prior=None):
        super().__init__(n_experts)
        self._eta = eta
        if prior is not None:
            self.charged = -np.log(prior) / eta
        self.costs = _aggregating.padded(self.charged, np.inf)
        self.tail = np.zeros(_aggregating.TAIL)
        self.tail[LEAST] = self.charged.min()

    def _check_arrays(self, width):
        check_shape(self, "costs", (width,))
        check_shape(self, "tail", (_aggregating.TAIL,))

    @property
    def eta(self):
        """The learning rate."""
        return self._eta

    def _compiled(self):
        return _aggregating.ExponentialWeights(self.n_experts, self.eta, self.costs, self.tail)

    def _all_losses(self):
        return self._read(self.costs) + self.tail[OFFSET]

    def log_weights(self):
        """Return the logarithms of weights that sum to one."""
        excess = self._read(self.costs) - self.tail[LEAST]
        if np.isfinite(self.eta):
            return normal(-self.eta * excess)
        with np.errstate(divide="ignore"):
            return np.log((excess == 0) / np.count_nonzero(excess == 0))

    def _relative_logs(self):
        if np.isfinite(self.eta):
            return self.log_weights()
        # By more than all numbers hold, for every difference.
        return -FAR * np.unique(self._read(self.costs), return_inverse=True)[1]


class LimitState(ExponentialState):
    """Exponential weights whose rate has grown without bound; see the compiled ones."""

    _arrays = ("costs", "tail", "logs")

    def __init__(self, n_experts):
        super().__init__(n_experts, np.inf)
        self.logs = np.zeros(n_experts)

    def _check_arrays(self, width):
        super()._check_arrays(width)
        check_shape(self, "logs", (self.n_experts,))

    def _compiled(self):
        return _aggregating.LimitWeights(self.n_experts, self.costs, self.tail, self.logs)

    def log_weights(self):
        """Return the logarithms of weights that sum to one."""
        return normal(self._logs_of_best(self._read(self.costs)))

    def _logs_of_best(self, costs):
        """Return the logarithms for the least costs of each row, and of nothing for others."""
        return np.where(costs == costs.min(axis=-1, keepdims=True), self.logs, -np.inf)

    def _available_logs(self, abstaining):
        costs = np.where(abstaining, np.inf, self._read(self.costs))
        return np.where(abstaining, -np.inf, self._logs_of_best(costs))


class AdaptiveState(ExponentialState):
    """Exponential weights with the learning rate of AdaHedge."""

    def __init__(self, n_experts):
        super().__init__(n_experts, None)

    @property
    def gap(self):
        """The sum of all differences between the losses of the learner and of the mixture."""
        return float(self.tail[GAP])

    @property
    def eta(self):
        """The learning rate of the next trial, infinite as long as there was no gap."""
        return np.log(self.n_experts) / self.gap if self.gap and self.n_experts > 1 else np.inf

    def hedge_bound(self):
        """Return the bound on the regret of AdaHedge."""
        return 2 * self.gap

    def _compiled(self):
        return _aggregating.AdaptiveWeights(self.n_experts, self.costs, self.tail)


class AnytimeState(ExponentialState):
    """Exponential weights with the learning rate ``2 sqrt(ln(n) / t)`` in trial ``t``."""

    def __init__(self, n_experts):
        super().__init__(n_experts, None)

    @property
    def n_played(self):
        """The number of trials so far."""
        return int(self.tail[GAP])

    @property
    def eta(self):
        """The learning rate of the next trial; a single expert has that of two."""
        return 2 * np.sqrt(np.log(max(self.n_experts, 2)) / (self.n_played + 1))

    def hedge_bound(self):
        """Return the bound on the regret for losses from zero to one."""
        return float(anytime_average_bound(self.n_played, self.n_experts))

    def _compiled(self):
        return _aggregating.AnytimeWeights(self.n_experts, self.costs, self.tail)


class DoublingState(ExponentialState):
    """Exponential weights that begin anew after 1, 2, 4, 8, ... trials, with a smaller rate.

    ``scale`` is the largest loss.
    """

    def __init__(self, n_experts, scale):
        super().__init__(n_experts, None)
        self.scale, self.epoch = scale, 0
        self.past, self.bound = np.zeros(n_experts), 0.0
        self._eta = self._rate()

    def _check_arrays(self, width):
        super()._check_arrays(width)
        check_shape(self, "past", (self.n_experts,))
        check_number(self, "epoch", 0, MOST_EPOCHS)
        check_number(self, "n_trials", 0, 2**self.epoch - 1)

    def _rate(self):
        return float(horizon_rate(2**self.epoch, self.n_experts)) / self.scale

    @property
    def trials_left(self):
        """How many trials there are before the weights begin anew."""
        return 2**self.epoch - self.n_trials

    def note(self, squares):
        """Hear of the weighted means of squared losses in the trials that were played last."""
        super().note(squares)
        if self.trials_left == 0:
            self.past, self.bound = self._all_losses(), self.hedge_bound()
            self.costs[: self.n_experts] = self.tail[:] = 0
            self.n_trials, self.squares = 0, 0.0
            self.epoch += 1
            self._eta = self._rate()

    def hedge_bound(self):
        """Return the bound on the regret of Hedge, a sum over all epochs that have begun."""
        return self.bound + (super().hedge_bound() if self.n_trials else 0.0)

    def _all_losses(self):
        return self.past + super()._all_losses()


class FixedShareState(WeightState):
    """Weights that share a part after each trial: fixed share."""

    _arrays = ("state", "tail")

    def __init__(self, n_experts, eta, alpha):
        super().__init__(n_experts)
        self.eta, self.alpha = eta, alpha
        start = np.full(n_experts, 1 / n_experts)
        self.state = np.stack([_aggregating.padded(row, 0.0) for row in (start, self.charged)])
        self.tail = np.zeros(_aggregating.TAIL)
        self.tail[LEFT] = 1.0

    def _check_arrays(self, width):
        check_shape(self, "state", (2, width))
        check_shape(self, "tail", (_aggregating.TAIL,))

    def _compiled(self):
        return _sharing.FixedShareWeights(
            self.n_experts, self.eta, self.alpha, self.state, self.tail
        )

    def _complexity(self):
        return float(fixed_share_bound(max(self.n_trials, 1), self.n_experts, 0, self.alpha))

    def _all_losses(self):
        return self._read(self.state[1])

    def log_weights(self):
        """Return the logarithms of weights that sum to one."""
        before = self._read(self.state[0]) / self.tail[LEFT]
        others = max(self.n_experts - 1, 1)
        alpha = self.alpha if self.n_experts > 1 else 0.0
        weights = (1 - alpha - alpha / others) * before + alpha / others
        with np.errstate(divide="ignore"):
            return normal(np.log(np.maximum(weights, 0)))


class VariableShareState(WeightState):
    """Weights that share the more the more their experts lose: variable share."""

    _arrays = ("costs", "tail", "sums")

    def __init__(self, n_experts, eta, alpha):
        super().__init__(n_experts)
        self.eta, self.alpha = eta, alpha
        self.costs = _aggregating.padded(self.charged, np.inf)
        self.sums = _aggregating.padded(self.charged, 0.0)
        self.tail = np.zeros(_aggregating.TAIL)

    def _check_arrays(self, width):
        for name in ("costs", "sums"):
            check_shape(self, name, (width,))
        check_shape(self, "tail", (_aggregating.TAIL,))

    def _compiled(self):
        return _sharing.VariableShareWeights(
            self.n_experts, self.eta, self.alpha, self.costs, self.tail, self.sums
        )

    def _all_losses(self):
        return self._read(self.sums)

    def log_weights(self):
        """Return the logarithms of weights that sum to one."""
        return normal(-self._read(self.costs))


class LogShareState(VariableShareState):
    """Weights that share so large a part that only their logarithms tell what is left of them."""

    def _compiled(self):
        return _sharing.LogShareWeights(
            self.n_experts, self.eta, self.alpha, self.costs, self.tail, self.sums
        )

    def _complexity(self):
        return float(fixed_share_bound(max(self.n_trials, 1), self.n_experts, 0, self.alpha))


def fixed_share_state(n_experts, eta, alpha):
    """Return a state of weights that share a part after each trial."""
    # Who keeps less than it gives to each of the others would be a difference of large numbers.
    keeps_less = n_experts > 1 and 1 - alpha < alpha / (n_experts - 1)
    return (LogShareState if keeps_less else FixedShareState)(n_experts, eta, alpha)


def shared_state(kind, n_experts, eta, alpha):
    """Return a state of weights that share, or plain ones if they share nothing."""
    if 0 < alpha < SMALLEST_PART:
        raise ValueError(f"alpha must be 0 or at least {SMALLEST_PART:g}; got {alpha:g}.")
    return kind(n_experts, eta, alpha) if alpha > 0 else ExponentialState(n_experts, eta)


def normal(log_weights):
    """Return logarithms of weights, shifted so that the weights sum to one."""
    log_weights = log_weights - log_weights.max()
    return log_weights - np.log(np.exp(log_weights).sum())
