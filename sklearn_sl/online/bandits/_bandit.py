"""What bandits share: arms that are chosen one by one, or replayed on a table of losses."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_array

from sklearn_sl._sklearn import Interval, fit_context
from sklearn_sl._state import check_number, check_shape
from sklearn_sl.online._parameters import FREE, at_start, check_parameters, remember_parameters
from sklearn_sl.online.bandits import _bandit_replay

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

BASE, PATH, LOSS = range(_bandit_replay.TAIL)
# Numbers that a slice of a replay reads.
SLICE = 2**21
CONSTRAINTS = {
    "n_arms": [Interval(Integral, 1, None, closed="left"), None],
    "low": [Interval(Real, None, None, closed="neither")],
    "high": [Interval(Real, None, None, closed="neither")],
}


def importance_weighted_loss(loss: ArrayLike, arm: ArrayLike, probabilities: Any) -> Any:
    """Return unbiased estimates of the losses of all arms from the observed loss of one.

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
        raise ValueError(
            "probabilities must be in (0, 1] for the arms that were drawn; got values between "
            f"{chances.min():g} and {chances.max():g}."
        )
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
                "selected. Pass the arm that select returned."
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
                f"losses must be in [low, high] = [{self.low}, {self.high}]; got values between "
                f"{low:g} and {high:g}. Set low and high to a range that contains all losses."
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
            raise ValueError(
                f"losses must have {self.n_arms_} columns, one for each arm; got {losses.shape[1]}."
            )
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
