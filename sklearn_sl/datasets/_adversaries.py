"""Adaptive adversaries: streams that are chosen as a learner answers, to force mistakes."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_sl.online._progressive import progressive_predict


class BisectionAdversary:
    """Forces every learner of thresholds on the real line to make a mistake in every round.

    A threshold ``theta`` says 1 for ``x > theta`` and -1 for ``x < theta``. The adversary keeps an
    interval of thresholds that agree with all its answers, asks for its midpoint, says the
    opposite of the prediction, and keeps the half that agrees. So there is no bound on mistakes
    for thresholds on the real line: it takes a grid, see
    :class:`~sklearn_sl.online.GridThresholdHalving`.

    Points are fractions, so that the interval never shrinks to nothing. A learner that computes in
    double precision cannot tell them apart after some fifty rounds.

    Parameters
    ----------
    low : int, float or Fraction, default=0
        The lower end of the interval to begin with.

    high : int, float or Fraction, default=1
        The upper end.

    Attributes
    ----------
    classes : tuple
        -1 and 1.

    low, high : Fraction
        The ends of the interval: all thresholds between them agree with the answers.

    See Also
    --------
    play : Plays a game with a learner.
    ExpertAdversary : For experts, one of which is always right.

    References
    ----------
    .. [1] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    >>> from sklearn_sl.datasets import BisectionAdversary
    >>> adversary = BisectionAdversary()
    >>> for prediction in (1, 1, -1):
    ...     print(adversary.next(), adversary.answer(prediction))
    1/2 -1
    3/4 -1
    7/8 1
    >>> adversary.threshold
    Fraction(13, 16)
    """

    low: Any
    high: Any

    classes = (-1, 1)

    def __init__(self, low: Any = 0, high: Any = 1) -> None:
        self.low, self.high = Fraction(low), Fraction(high)
        if not self.low < self.high:
            raise ValueError(f"low must be < high={high!r}; got {low!r}.")

    @property
    def threshold(self):
        """A threshold that agrees with all answers."""
        return (self.low + self.high) / 2

    def next(self) -> Any:
        """Return the next point.

        Returns
        -------
        x : Fraction
            The midpoint of the interval.
        """
        return self.threshold

    def answer(self, prediction: int) -> int:
        """Return the class of the point, and go on to the next round.

        Parameters
        ----------
        prediction : int
            What the learner says.

        Returns
        -------
        y : int
            The other class.
        """
        if prediction == 1:
            self.low = self.next()
            return -1
        self.high = self.next()
        return 1


class ExpertAdversary:
    """Forces ``log2 n`` mistakes on every learner from ``n`` experts, one of which is always right.

    In each round one half of the experts that were always right says 0, the other half 1, and the
    adversary says the opposite of the prediction. At least ``floor(m / 2)`` out of ``m`` stay
    right, so that ``floor(log2 n)`` rounds are mistakes of every deterministic learner.
    When one expert is left, the adversary says what that one says.

    Parameters
    ----------
    n_experts : int
        The number ``n`` of experts.

    Attributes
    ----------
    classes : tuple
        0 and 1.

    right : ndarray of shape (n_experts,)
        Which experts were always right.

    See Also
    --------
    play : Plays a game with a learner.
    sklearn_sl.online.Halving : Is never wrong more often.

    References
    ----------
    .. [1] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006.

    Examples
    --------
    >>> from sklearn_sl.datasets import ExpertAdversary, play
    >>> from sklearn_sl.online import Halving
    >>> learner = Halving()
    >>> play(ExpertAdversary(16), learner, n_rounds=10).n_mistakes
    4
    >>> learner.n_mistakes_, learner.bound_
    (4, 4.0)
    """

    right: np.ndarray

    classes = (0, 1)

    def __init__(self, n_experts: int) -> None:
        if not isinstance(n_experts, Integral) or n_experts < 1:
            raise ValueError(f"n_experts must be an integer >= 1; got {n_experts!r}.")
        self.n_experts = n_experts
        self.right = np.ones(n_experts, dtype=bool)

    def next(self) -> np.ndarray:
        """Return the advice of the experts.

        Returns
        -------
        x : ndarray of shape (n_experts,)
            0 and 1. Experts that were wrong say 0.
        """
        places = np.flatnonzero(self.right)
        advice = np.zeros(self.n_experts)
        advice[places[len(places) // 2 :]] = 1
        return advice

    def answer(self, prediction: int) -> int:
        """Return the outcome, and go on to the next round.

        Parameters
        ----------
        prediction : int
            What the learner says.

        Returns
        -------
        y : int
            The other one, if an expert that was always right says so.
        """
        advice = self.next()
        outcome = 0 if prediction == 1 else 1
        if not np.any(self.right & (advice == outcome)):
            outcome = 1 - outcome
        self.right &= advice == outcome
        return outcome


class OpposingAdversary:
    """Says the opposite of whatever a learner predicts from two experts that never agree.

    The first expert says 0, the second one 1, in every round. A deterministic learner is wrong in
    all of ``m`` rounds, while the better expert is wrong in ``m / 2`` of them at most. So no such
    learner makes fewer than twice the mistakes of the best expert: ``M - c min_i M_i`` is at least
    ``(1 - c / 2) m``, which is linear for every ``c < 2``. Learners that draw their predictions are
    not covered: the adversary has to know what they say.

    Attributes
    ----------
    classes : tuple
        0 and 1.

    n_wrong : list of int
        How often each expert was wrong.

    See Also
    --------
    play : Plays a game with a learner.
    ExpertAdversary : For experts, one of which is always right.
    sklearn_sl.theory.two_regret_bound : How near to twice a learner comes.

    References
    ----------
    .. [1] N. Cesa-Bianchi and G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006.

    Examples
    --------
    >>> from sklearn_sl.datasets import OpposingAdversary, play
    >>> from sklearn_sl.online import WeightedMajority
    >>> adversary = OpposingAdversary()
    >>> play(adversary, WeightedMajority(), n_rounds=100).n_mistakes
    100
    >>> adversary.n_wrong
    [50, 50]
    """

    n_wrong: list[int]

    classes = (0, 1)

    def __init__(self) -> None:
        self.n_wrong = [0, 0]

    def next(self) -> np.ndarray:
        """Return the advice of the experts.

        Returns
        -------
        x : ndarray of shape (2,)
            0 and 1.
        """
        return np.array([0.0, 1.0])

    def answer(self, prediction: int) -> int:
        """Return the outcome, and go on to the next round.

        Parameters
        ----------
        prediction : int
            What the learner says.

        Returns
        -------
        y : int
            The other class.
        """
        outcome = 0 if prediction == 1 else 1
        self.n_wrong[1 - outcome] += 1
        return outcome


class Game(NamedTuple):
    """What happened between an adversary and a learner; see :func:`play`.

    Attributes
    ----------
    X : list
        What the adversary asked.

    y : list
        What it said.

    predictions : list
        What the learner predicted before.

    n_mistakes : int
        How often the learner was wrong.

    See Also
    --------
    play : Plays it.

    Examples
    --------
    >>> from sklearn_sl.datasets import BisectionAdversary, play
    >>> game = play(BisectionAdversary(), lambda X, y, x: 1, n_rounds=3)
    >>> game.y, game.n_mistakes
    ([-1, -1, -1], 3)
    """

    X: list
    y: list
    predictions: list
    n_mistakes: int


def play(adversary: Any, learner: Any, n_rounds: int) -> Any:
    """Let a learner play against an adversary.

    Parameters
    ----------
    adversary : object with ``next``, ``answer`` and ``classes``
        :class:`BisectionAdversary`, :class:`ExpertAdversary` or one like them. It is changed.

    learner : estimator with ``partial_fit``, or callable
        An estimator goes on from the state that it has, and learns after each round. One of
        scikit-learn that has seen nothing predicts the first class. A callable
        ``learner(X, y, x)`` returns its prediction for ``x`` after the rounds ``X`` and ``y``; it
        gets points as they are, so that it can be exact.

    n_rounds : int
        The number of rounds.

    Returns
    -------
    game : Game
        The points ``X``, the classes ``y``, the ``predictions`` and ``n_mistakes``.

    See Also
    --------
    sklearn_sl.online.progressive_predict : Streams that do not depend on the learner.

    Examples
    --------
    >>> from sklearn_sl.datasets import BisectionAdversary, play
    >>> from sklearn_sl.online import GridThresholdHalving, Perceptron
    >>> play(BisectionAdversary(), Perceptron(), n_rounds=40).n_mistakes
    40

    A learner on a grid of 15 points, asked for points of the grid only, is wrong no more than four
    times. Later points are no longer on the grid:

    >>> adversary = BisectionAdversary(-1 / 14, 15 / 14)
    >>> play(adversary, GridThresholdHalving(14, on_empty="raise"), n_rounds=4).n_mistakes
    4
    """
    X, y, predictions = [], [], []
    predict = learner if callable(learner) else _Pupil(learner, adversary.classes)
    for _ in range(n_rounds):
        x = adversary.next()
        predictions.append(predict(X, y, x))
        X.append(x)
        y.append(adversary.answer(predictions[-1]))
    if isinstance(predict, _Pupil):
        predict.learn(X, y)
    n_mistakes = sum(bool(said != true) for said, true in zip(predictions, y, strict=True))
    return Game(X, y, predictions, n_mistakes)


class _Pupil:
    """An estimator that learns from each round before it predicts the next one."""

    def __init__(self, estimator, classes):
        self.estimator, self.classes = estimator, np.array(classes)
        self.n_learned = 0

    def learn(self, X, y):
        """Learn from the last round, if it has not been learned."""
        if len(X) > self.n_learned:
            self.estimator.partial_fit(_row(X[-1]), y[-1:], classes=self.classes)
            self.n_learned = len(X)

    def __call__(self, X, y, x):
        self.learn(X, y)
        try:
            check_is_fitted(self.estimator)
            return self.estimator.predict(_row(x))[0]
        except NotFittedError:
            # Whatever the outcome would be, the prediction comes before it.
            twin = deepcopy(self.estimator)
            return progressive_predict(twin, _row(x), self.classes[:1], classes=self.classes)[0]


def _row(x):
    """Return a point as the only row of a matrix."""
    return np.array(x, dtype=np.float64).reshape(1, -1)
