"""UCB1: the arm that may be the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online.bandits import _bandit_replay
from sklearn_sl.online.bandits._bandit import CONSTRAINTS, BanditMixin
from sklearn_sl.theory._bandits import ucb1_bound

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike


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

    _parameter_constraints = CONSTRAINTS
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
