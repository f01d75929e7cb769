"""Exp3 and Exp3-IX: exponential weights of estimated losses."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import FREE, at_start
from sklearn_sl.online.bandits import _bandit_replay
from sklearn_sl.online.bandits._bandit import CONSTRAINTS, LOSS, PATH, BanditMixin
from sklearn_sl.theory._bandits import exp3_bound, exp3ix_bound

if TYPE_CHECKING:
    pass


class ExponentialBanditMixin(BanditMixin):
    """Exponential weights of estimated losses.

    ``_gammas(etas)`` returns what is added to the probabilities in the estimates.
    """

    _mutable = ("_estimates", "_weights")

    def _seed(self, random_state):
        seed = check_random_state(random_state).randint(2**31 - 1)
        self._rng = np.random.default_rng(seed)

    def _begin_arms(self, n_arms):
        self._estimates, self._weights = np.zeros(n_arms), np.ones(n_arms)
        log = np.log(n_arms)
        if self.eta != "auto":
            self._rate = float(self.eta)
        elif self.horizon is not None:
            self._rate = float(np.sqrt(2 * log / (self.horizon * n_arms)))
        else:
            self._rate = float(np.sqrt(log / n_arms))

    @property
    def _is_anytime(self):
        return at_start(self, "eta") == "auto" and at_start(self, "horizon") is None

    def _etas(self, n_rounds):
        """Return the rates of the next rounds, and of the one after them."""
        rounds = np.arange(self.n_rounds_ + 1, self.n_rounds_ + n_rounds + 2, dtype=np.float64)
        if self._is_anytime:
            return self._rate / np.sqrt(rounds)
        rounds.fill(self._rate)
        return rounds

    def _choose(self):
        return _bandit_replay.choose_exp3(self._rng.random(), self._weights)

    def _learn(self, arm, loss):
        etas = self._etas(1)
        gammas = self._gammas(etas[:-1])
        _bandit_replay.learn_exp3(arm, loss, self._low, self._span, etas, gammas, *self._state)

    def _replay(self, losses, arms):
        etas = self._etas(len(losses))
        _bandit_replay.replay_exp3(
            losses,
            self._rng.random(len(losses)),
            self._low,
            self._span,
            etas,
            self._gammas(etas[:-1]),
            *self._state,
            self._totals,
            arms,
        )

    @property
    def _state(self):
        return self._estimates, self._weights, self._tail, self.n_pulls_

    @property
    def probabilities_(self) -> np.ndarray:
        """The probabilities with which the next arm is drawn, or was if it is selected."""
        return self._weights / self._weights.sum()

    @property
    def eta_(self) -> float:
        """The rate of the next round, or the current one if an arm is selected."""
        return float(self._etas(0)[0])

    @property
    def estimated_losses_(self) -> np.ndarray:
        """The sums of the estimated losses of each arm."""
        return self._low * self.n_rounds_ + self._span * self._estimates

    @property
    def estimated_regret_(self) -> float:
        """``cumulative_loss_`` minus the least estimated loss of an arm."""
        return float(self._tail[LOSS] - self.estimated_losses_.min())

    @property
    def path_bound_(self) -> float:
        """What ``estimated_regret_`` cannot exceed."""
        if self.n_arms_ == 1 or self.n_rounds_ == 0:
            return self._span * float(self._tail[PATH])
        last = self._rate / np.sqrt(self.n_rounds_) if self._is_anytime else self._rate
        return self._span * float(np.log(self.n_arms_) / last + self._tail[PATH])


@paragraphs
class Exp3(ExponentialBanditMixin, EstimatorMixin, BaseEstimator):
    """Exponential weights for a bandit, whose losses an adversary has fixed beforehand.

    In each round one of ``n`` arms is drawn with the probabilities ``v_i``, and its loss is seen,
    but not that of the others. From it estimates ``l_i`` of all losses are made up, the loss
    divided by ``v_i`` for the chosen arm and zero for the others, which are right on average. The
    probabilities become ``v_i exp(-eta l_i) / Z``. There is no other exploration.

    **The theorem.** For losses in [0, 1] the expected regret after ``m`` rounds, the loss of the
    learner minus that of the best arm, is at most ``ln(n) / eta + eta m n / 2``. In every single
    run, the loss of the learner minus the *estimated* loss of any arm is at most
    ``ln(n) / eta + eta / 2 sum_t l_t^2 v_t`` with the estimates and probabilities of the chosen
    arms: ``estimated_regret_`` never exceeds ``path_bound_``.

    The weights are kept as exponents: a run can be of any length.

    Parameters
    ----------
    {n_arms}

    eta : float or "auto", default="auto"
        The rate, for losses scaled to [0, 1]. "auto" is ``sqrt(2 ln(n) / (m n))`` with
        ``m = horizon``, or ``sqrt(ln(n) / (n t))`` in round ``t`` without a horizon.

    horizon : int or None, default=None
        How many rounds there will be, if that is known; the game may go on after them.

    {low}

    {high}

    {random_state}

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_arms,)
        The probabilities of the next draw.

    {rounds_and_arms}

    regret_bound_ : float
        The theorem's bound on the expectation of ``regret_``; a single run can exceed it.

    eta_ : float
        The rate of the next round.

    estimated_losses_ : ndarray of shape (n_arms,)
        The sums of the estimated losses.

    estimated_regret_ : float
        ``cumulative_loss_`` minus the least of ``estimated_losses_``.

    path_bound_ : float
        ``estimated_regret_`` is at most this, in every run.

    See Also
    --------
    Exp3IX : A bound that holds with high probability.
    UCB1 : For losses that are drawn from one distribution for each arm.
    sklearn_sl.theory.exp3_bound : The theorem.

    References
    ----------
    .. [1] P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed
       bandit problem", SIAM Journal on Computing 32, 2002.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_bandit_losses
    >>> from sklearn_sl.online import Exp3
    >>> losses = make_bandit_losses(5000, n_arms=10, random_state=0)
    >>> bandit = Exp3(horizon=5000, random_state=0).replay(losses)
    >>> bandit.regret_ < bandit.regret_bound_
    True
    >>> bandit.estimated_regret_ <= bandit.path_bound_
    True

    One round after the other:

    >>> bandit = Exp3(n_arms=10, horizon=5000, random_state=0)
    >>> for row in losses:
    ...     arm = bandit.select()
    ...     _ = bandit.update(arm, row[arm])
    >>> int(bandit.n_pulls_.sum())
    5000
    """

    n_pulls_: np.ndarray
    n_rounds_: int
    n_arms_: int
    arms_: np.ndarray

    _parameter_constraints = {
        **CONSTRAINTS,
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        eta: float | str = "auto",
        horizon: int | None = None,
        low: float = 0.0,
        high: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_arms = n_arms
        self.eta = eta
        self.horizon = horizon
        self.low = low
        self.high = high
        self.random_state = random_state

    def _gammas(self, etas):
        return np.zeros_like(etas)

    @property
    def regret_bound_(self) -> float:
        """The theorem's bound on the expected regret."""
        eta = None if self._is_anytime or self.n_arms_ == 1 else self._rate
        return self._span * float(exp3_bound(self.n_rounds_, self.n_arms_, eta, self._is_anytime))


@paragraphs
class Exp3IX(ExponentialBanditMixin, EstimatorMixin, BaseEstimator):
    """Exponential weights with implicit exploration: a bound that holds with high probability.

    As :class:`Exp3`, but the loss of the chosen arm is divided by ``v_i + gamma``: the estimates
    are too low on average, by little, and vary much less. With :class:`Exp3` an arm that has faded
    is seldom found again when it becomes the best one, and a single run can end in disaster.

    **The theorem.** For losses in [0, 1] that were fixed beforehand, the regret exceeds
    ``regret_bound_`` with probability ``delta`` at most; with ``gamma = eta / 2`` and the best
    ``eta`` it is ``2 sqrt(2 m n ln(n)) + (sqrt(m n / (2 ln(n))) + 1) ln(2 / delta)``. In every
    single run ``estimated_regret_`` is at most ``path_bound_``, which is ``ln(n) / eta`` plus the
    sum of ``l_t (eta l_t v_t / 2 + gamma)`` over the rounds, with the estimates ``l_t`` and
    probabilities ``v_t`` of the chosen arms.

    Parameters
    ----------
    {n_arms}

    eta : float or "auto", default="auto"
        The rate, for losses scaled to [0, 1]. "auto" is ``sqrt(2 ln(n) / (m n))`` with
        ``m = horizon``, or ``sqrt(ln(n) / (n t))`` in round ``t`` without a horizon.

    gamma : float or "auto", default="auto"
        What is added to the probabilities; "auto" is half of ``eta``.

    horizon : int or None, default=None
        How many rounds there will be, if that is known; the game may go on after them.

    delta : float, default=0.05
        With what probability ``regret_bound_`` may fail. It changes nothing else.

    {low}

    {high}

    {random_state}

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_arms,)
        The probabilities of the next draw.

    {rounds_and_arms}

    regret_bound_ : float or None
        The theorem's bound on ``regret_``. None if there is a ``gamma`` but no rate of one value.

    eta_ : float
        The rate of the next round.

    estimated_losses_ : ndarray of shape (n_arms,)
        The sums of the estimated losses.

    estimated_regret_ : float
        ``cumulative_loss_`` minus the least of ``estimated_losses_``.

    path_bound_ : float
        ``estimated_regret_`` is at most this, in every run.

    See Also
    --------
    Exp3 : Without the exploration.
    sklearn_sl.theory.exp3ix_bound : The theorem.

    References
    ----------
    .. [1] G. Neu, "Explore no more: improved high-probability regret bounds for non-stochastic
       bandits", NeurIPS 2015.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_bandit_losses
    >>> from sklearn_sl.online import Exp3IX
    >>> losses = make_bandit_losses(5000, n_arms=10, random_state=0)
    >>> bandit = Exp3IX(horizon=5000, delta=0.01, random_state=0).replay(losses)
    >>> bandit.regret_ < bandit.regret_bound_
    True
    """

    n_pulls_: np.ndarray
    n_rounds_: int
    n_arms_: int
    arms_: np.ndarray

    _parameter_constraints = {
        **Exp3._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "delta": [Interval(Real, 0, 1, closed="neither")],
    }
    _free = FREE | {"delta"}

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        eta: float | str = "auto",
        gamma: float | str = "auto",
        horizon: int | None = None,
        delta: float = 0.05,
        low: float = 0.0,
        high: float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_arms = n_arms
        self.eta = eta
        self.gamma = gamma
        self.horizon = horizon
        self.delta = delta
        self.low = low
        self.high = high
        self.random_state = random_state

    def _gammas(self, etas):
        gamma = at_start(self, "gamma")
        return etas / 2 if gamma == "auto" else np.full_like(etas, gamma)

    @property
    def regret_bound_(self) -> float | None:
        """The theorem's bound, which fails with probability ``delta`` at most."""
        gamma = at_start(self, "gamma")
        gamma = None if gamma == "auto" else gamma
        if self._is_anytime and gamma is not None:
            return None
        eta = None if self._is_anytime or self.n_arms_ == 1 else self._rate
        bound = exp3ix_bound(self.n_rounds_, self.n_arms_, self.delta, eta, gamma, self._is_anytime)
        return self._span * float(bound)
