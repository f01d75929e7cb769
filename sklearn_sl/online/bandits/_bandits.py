"""Bandits: only the loss of the arm that was chosen is seen."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from sklearn_sl._sklearn import Interval, StrOptions, fit_context
from sklearn_sl._state import check_number, check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import FREE, at_start, check_parameters, remember_parameters
from sklearn_sl.online.bandits import _bandit_replay
from sklearn_sl.theory._bandits import exp3_bound, exp3ix_bound, ucb1_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

BASE, PATH, LOSS = range(_bandit_replay.TAIL)
# Numbers that a slice of a replay reads.
SLICE = 2**21


def importance_weighted_loss(loss: ArrayLike, arm: ArrayLike, probabilities: Any) -> Any:
    """Return what a loss that was seen says about the losses of all arms.

    An arm ``i`` is drawn with probability ``v_i`` and its loss ``l_i`` is seen. The estimates
    ``l_i / v_i`` for this arm and zero for all others are made up, but their mean over the draws
    is ``l_i`` for each arm, and that of their squares is ``l_i^2 / v_i``.

    Parameters
    ----------
    loss : float or array-like of shape (n_rounds,)
        The losses that were seen.

    arm : int or array-like of shape (n_rounds,)
        The arms that they belong to.

    probabilities : array-like of shape (n_arms,) or (n_rounds, n_arms)
        With what probabilities the arms were drawn.

    Returns
    -------
    estimates : ndarray of shape (n_arms,) or (n_rounds, n_arms)
        An unbiased estimate of the loss of each arm.

    See Also
    --------
    Exp3 : Learns from these estimates.
    sklearn_sl.theory.german_tank_estimate : Another one that is right on average.

    Examples
    --------
    >>> from sklearn_sl.online import importance_weighted_loss
    >>> importance_weighted_loss(0.5, 1, [0.75, 0.25])
    array([0., 2.])
    """
    probabilities = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
    chosen = np.asarray(arm)[..., None]
    if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= probabilities.shape[-1])):
        raise ValueError(f"arm must be in [0, {probabilities.shape[-1]}); got {arm!r}.")
    loss, chosen = np.broadcast_arrays(np.asarray(loss, dtype=np.float64)[..., None], chosen)
    estimates = np.zeros(np.broadcast_shapes(probabilities.shape, (*chosen.shape[:-1], 1)))
    chances = np.take_along_axis(np.broadcast_to(probabilities, estimates.shape), chosen, axis=-1)
    if not np.all((chances > 0) & (chances <= 1)):
        raise ValueError("An arm that was drawn has a probability in (0, 1].")
    np.put_along_axis(estimates, chosen, loss / chances, axis=-1)
    return estimates


class BanditMixin:
    """Rounds of a bandit: ``select``, then ``update``; or ``replay`` of many rounds at once.

    Hooks:

    - ``_begin_arms(n_arms)`` sets the state of a learner that has seen nothing;
    - ``_choose()`` returns an arm;
    - ``_learn(arm, loss)`` changes the state in place;
    - ``_replay(losses, arms)`` does both for each row and writes the arms.

    ``_mutable`` names the attributes that are changed in place.
    """

    _mutable = ()
    _fixed = ()
    _free = FREE

    def _begin(self, n_arms, random_state):
        remember_parameters(self)
        if not 0 < self._span < np.inf:
            raise ValueError(
                f"low must be less than high, and high - low must be finite; got "
                f"low={self.low} and high={self.high}."
            )
        self.n_arms_, self.n_rounds_ = n_arms, 0
        self.n_pulls_ = np.zeros(n_arms, dtype=np.longlong)
        self._tail = np.zeros(_bandit_replay.TAIL)
        # The losses of each arm; None once there was a round in which only one of them was seen.
        self._totals = np.zeros(n_arms)
        self._pending = None
        self._seed(random_state)
        self._begin_arms(n_arms)

    def _check_state(self):
        if "n_rounds_" not in vars(self):
            return
        n_arms = check_number(self, "n_arms_", 1)
        check_number(self, "n_rounds_", 0)
        check_shape(self, "n_pulls_", (n_arms,), np.longlong)
        check_shape(self, "_tail", (_bandit_replay.TAIL,))
        for name in self._mutable if self._totals is None else ("_totals", *self._mutable):
            check_shape(self, name, (n_arms,))
        if self._pending is not None:
            check_number(self, "_pending", 0, n_arms - 1)

    def _seed(self, random_state):
        """Set what random numbers are drawn from."""

    @property
    def _low(self):
        return at_start(self, "low")

    @property
    def _span(self):
        return at_start(self, "high") - self._low

    def select(self) -> int:
        """Choose the arm of the next round.

        Returns
        -------
        arm : int
            The arm, from zero. Its loss must be told by :meth:`update` before another arm can be
            selected.
        """
        if not hasattr(self, "n_rounds_"):
            self._validate_params()
            if self.n_arms is None:
                raise ValueError("select needs to know the number of arms: set n_arms.")
            self._begin(self.n_arms, self.random_state if hasattr(self, "random_state") else None)
        check_parameters(self)
        if self._pending is not None:
            raise RuntimeError(
                f"Arm {self._pending} was selected, but update has not been called with its loss."
            )
        self._pending = self._choose()
        return self._pending

    def update(self, arm: int, loss: float) -> Self:
        """Tell the loss of the arm that was selected.

        Parameters
        ----------
        arm : int
            What :meth:`select` returned.

        loss : float
            Its loss, between ``low`` and ``high``.

        Returns
        -------
        self : object
            The learner.
        """
        if getattr(self, "_pending", None) is None:
            raise RuntimeError("update was called before select: no arm has been selected.")
        check_parameters(self)
        if arm != self._pending:
            raise ValueError(
                f"update was called with the loss of arm {arm!r}, but arm {self._pending} was "
                "selected. The loss of another arm would spoil the estimates."
            )
        if not (isinstance(loss, Real) and self.low <= loss <= self.high):
            raise ValueError(
                f"loss must be in [low, high] = [{self.low}, {self.high}]; got {loss!r}."
            )
        self._learn(self._pending, float(loss))
        self._pending = self._totals = None
        self.n_rounds_ += 1
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def replay(
        self,
        losses: ArrayLike,
        random_state: int | np.random.RandomState | None = None,
        resume: bool = False,
    ) -> Self:
        """Play all rounds of a game whose losses are known to us, but not to the learner.

        Of each row only the loss of the chosen arm is learned from. The arms are those that
        :meth:`select` would have chosen, and the state afterwards is the same to the last bit.

        Parameters
        ----------
        losses : array-like of shape (n_rounds, n_arms)
            The losses, between ``low`` and ``high``.

        random_state : int, RandomState instance or None, default=None
            In place of the parameter of this name, if it is not None and the learner starts
            afresh. It makes no difference to a learner that draws nothing.

        resume : bool, default=False
            Whether to go on from the state that the learner is in. If not, it starts from scratch.

        Returns
        -------
        self : object
            The learner.
        """
        if resume and hasattr(self, "n_rounds_"):
            check_parameters(self)
        losses = check_array(losses, dtype=np.float64, order="C", input_name="losses")
        low, high = losses.min(), losses.max()
        if low < self.low or high > self.high:
            raise ValueError(
                f"Losses must lie between low={self.low} and high={self.high}, but there are "
                f"losses between {low:g} and {high:g}."
            )
        if resume and hasattr(self, "n_rounds_"):
            if self._pending is not None:
                raise RuntimeError(f"Arm {self._pending} was selected: call update before replay.")
            self._copy_state()
        else:
            if random_state is None:
                random_state = getattr(self, "random_state", None)
            self._begin(losses.shape[1] if self.n_arms is None else self.n_arms, random_state)
        if losses.shape[1] != self.n_arms_:
            raise ValueError(f"There are {self.n_arms_} arms, but {losses.shape[1]} columns.")
        known = self._totals is not None
        if not known:
            self._totals = np.zeros(self.n_arms_)
        self.arms_ = np.empty(len(losses), dtype=np.intp)
        step = max(1, SLICE // (self.n_arms_ + 8))
        for start in range(0, len(losses), step):
            part = losses[start : start + step]
            self._replay(part, self.arms_[start : start + step])
            self.n_rounds_ += len(part)
        if not known:
            self._totals = None
        return self

    def _copy_state(self):
        """Let what is changed in place be copies, so that the old state can return."""
        for name in ("n_pulls_", "_tail", "_totals", "_rng", *self._mutable):
            if hasattr(self, name):
                setattr(self, name, copy.deepcopy(getattr(self, name)))

    # ------------------------------------------------------------ the account

    @property
    def cumulative_loss_(self) -> float:
        """The sum of the losses of the chosen arms."""
        return float(self._tail[LOSS])

    @property
    def regret_(self) -> float | None:
        """``cumulative_loss_`` minus the loss of the best arm, if that is known."""
        if self._totals is None:
            return None
        return float(self._tail[LOSS] - self._totals.min())

    @property
    def best_arm_(self) -> int | None:
        """The arm with the least loss, if that is known."""
        return None if self._totals is None else int(self._totals.argmin())


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

    {n_pulls}

    {n_rounds}

    {n_arms_or_none}

    {arms}

    {cumulative_loss_of_arms}

    {regret}

    {best_arm}

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
        "n_arms": [Interval(Integral, 1, None, closed="left"), None],
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "low": [Interval(Real, None, None, closed="neither")],
        "high": [Interval(Real, None, None, closed="neither")],
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

    {n_pulls}

    {n_rounds}

    {n_arms_or_none}

    {arms}

    {cumulative_loss_of_arms}

    {regret}

    {best_arm}

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


@paragraphs
class UCB1(BanditMixin, EstimatorMixin, BaseEstimator):
    """Upper confidence bounds, for losses that are drawn from one distribution for each arm.

    Each arm is chosen once, in order. Then, after ``t`` rounds, the arm is chosen for which the
    mean loss so far minus ``sqrt(2 ln(t) / n_i)`` is least, where ``n_i`` is how often it was
    chosen: the one that might be the best. (With rewards, one minus the losses, this is the arm of
    the largest upper confidence bound.) The first of several such arms is taken. Nothing is drawn.

    **The theorem.** If the losses of each arm are independent draws in [0, 1], with means that
    exceed the least one by ``Delta_i``, the expected regret after ``m`` rounds is at most
    ``8 sum_i ln(m) / Delta_i + (1 + pi^2 / 3) sum_i Delta_i``, and
    ``2 sqrt(8 m (n - 1) ln(m)) + (1 + pi^2 / 3) (n - 1)`` whatever the gaps. An adversary can make
    it lose: see :class:`Exp3`.

    Parameters
    ----------
    {n_arms}

    {low}

    {high}

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_arms,)
        One for the arm that is chosen next, zero for the others.

    {n_pulls}

    {n_rounds}

    {n_arms_or_none}

    {arms}

    mean_losses_ : ndarray of shape (n_arms,)
        The mean loss of each arm when it was chosen; NaN if it never was.

    {cumulative_loss_of_arms}

    {regret}

    {best_arm}

    regret_bound_ : float
        The theorem's bound for any gaps, on the expectation of :meth:`pseudo_regret`.

    See Also
    --------
    Exp3 : For losses that an adversary has fixed.
    sklearn_sl.theory.ucb1_bound : The theorem.

    References
    ----------
    .. [1] P. Auer, N. Cesa-Bianchi and P. Fischer, "Finite-time analysis of the multiarmed bandit
       problem", Machine Learning 47, 2002.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_bandit_losses
    >>> from sklearn_sl.online import UCB1
    >>> from sklearn_sl.theory import ucb1_bound
    >>> losses = make_bandit_losses(5000, means=[0.3, 0.5, 0.5], random_state=0)
    >>> bandit = UCB1().replay(losses)
    >>> bandit.n_pulls_.argmax(), bandit.best_arm_
    (np.int64(0), 0)
    >>> bandit.pseudo_regret([0.3, 0.5, 0.5]) < ucb1_bound(5000, [0.0, 0.2, 0.2])
    True
    """

    n_pulls_: np.ndarray
    n_rounds_: int
    n_arms_: int
    arms_: np.ndarray

    _parameter_constraints = {
        name: Exp3._parameter_constraints[name] for name in ("n_arms", "low", "high")
    }
    _mutable = ("_sums",)

    def __init__(self, n_arms: int | None = None, *, low: float = 0.0, high: float = 1.0) -> None:
        self.n_arms = n_arms
        self.low = low
        self.high = high

    def _begin_arms(self, n_arms):
        self._sums = np.zeros(n_arms)

    def _choose(self):
        return _bandit_replay.choose_ucb1(self.n_rounds_, self._sums, self.n_pulls_)

    def _learn(self, arm, loss):
        _bandit_replay.learn_ucb1(arm, loss, self._low, self._span, *self._state)

    def _replay(self, losses, arms):
        _bandit_replay.replay_ucb1(
            losses, self._low, self._span, self.n_rounds_, *self._state, self._totals, arms
        )

    @property
    def _state(self):
        return self._sums, self._tail, self.n_pulls_

    @property
    def probabilities_(self) -> np.ndarray:
        """One for the next arm."""
        probabilities = np.zeros(self.n_arms_)
        probabilities[self._choose() if self._pending is None else self._pending] = 1.0
        return probabilities

    @property
    def mean_losses_(self) -> np.ndarray:
        """The mean of the losses that were seen of each arm."""
        means = np.full(self.n_arms_, np.nan)
        np.divide(self._sums, self.n_pulls_, out=means, where=self.n_pulls_ > 0)
        return self._low + self._span * means

    @property
    def regret_bound_(self) -> float:
        """The theorem's bound whatever the gaps."""
        return self._span * ucb1_bound(max(self.n_rounds_, 1), n_arms=self.n_arms_)

    def pseudo_regret(self, means: ArrayLike) -> float:
        """Return the mean loss of the chosen arms minus that of the best arm.

        Parameters
        ----------
        means : array-like of shape (n_arms,)
            The means of the distributions.

        Returns
        -------
        regret : float
            ``sum_i n_i Delta_i``, whose expectation the theorem bounds.
        """
        means = np.asarray(means, dtype=np.float64)
        return float(self.n_pulls_ @ (means - means.min()))
