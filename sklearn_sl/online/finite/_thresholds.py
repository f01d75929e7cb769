"""Halving on the thresholds of a grid, with two numbers in place of a list of hypotheses."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import FREE
from sklearn_sl.online.finite import _version_space
from sklearn_sl.online.finite._finite import WHEN_EMPTY, ClassAnswersMixin
from sklearn_sl.theory._finite_class import grid_threshold_bound


@paragraphs
class GridThresholdHalving(EstimatorMixin, ClassAnswersMixin, ClassifierMixin, BaseEstimator):
    """The halving algorithm for thresholds between the points of a grid.

    A threshold ``theta`` says the second class where ``x >= theta``. On a grid of ``n`` steps the
    ``n + 2`` thresholds that differ lie between neighbouring points, below all and above all of
    them. Those that have made no mistake are an interval, so that its ends are all there is to
    store, in integers: the answers are those of :class:`Halving` on all thresholds, in the time
    of a comparison. If one threshold is always right, there are at most ``log2(n + 2)`` mistakes.

    The learner looks at one feature. Numbers are moved to the nearest point of the grid from
    ``low`` to ``high``, the upper one of two. Ties go to the second class.

    **Multi-class.** For ordered classes there is a threshold for each class but the first, that
    says whether the class is at least this one. The answer is the number of them that say so, and
    the bound adds up.

    Parameters
    ----------
    n_steps : int, default=100
        The number ``n`` of steps of the grid.

    low : float, default=0.0
        The first point of the grid.

    high : float, default=1.0
        The last point of the grid.

    feature : int, default=0
        Which column of ``X`` to look at.

    on_empty : {"restart", "keep", "raise"}, default="restart"
        What to do when a trial leaves no threshold: "restart" begins again with all, "keep" takes
        the trial for noise and removes none, "raise" raises an error.

    {max_iter}

    {keep_losses}

    Attributes
    ----------
    {classes}

    thresholds_ : ndarray of shape (n_classes - 1,)
        From where on the majority says that the class is at least the second one, the third one,
        and so on.

    intervals_ : ndarray of shape (n_classes - 1, 2)
        The least and the largest thresholds that are left.

    n_consistent_ : ndarray of shape (n_classes - 1,)
        How many are left.

    n_contradictions_ : ndarray of shape (n_classes - 1,)
        The number of trials that would have left none. With "restart" no threshold has made less
        mistakes than this.

    realizable_ : bool
        Whether there was no such trial.

    {n_mistakes}

    bound_ : float
        No more mistakes than these: for each threshold ``log2(n + 2)`` if there was no
        contradiction, ``(r + 1) (log2(n + 2) + 1) - 1`` with ``r`` restarts; with "keep" one more
        for each contradiction.

    {account_of_mistakes}

    See Also
    --------
    Halving : For any list of hypotheses.
    sklearn_sl.theory.grid_threshold_bound : The theorem.
    sklearn_sl.datasets.BisectionAdversary : Why there must be a grid.

    References
    ----------
    .. [1] S. Shalev-Shwartz, "Online learning and online convex optimization", Foundations and
       Trends in Machine Learning 4, 2012.

    Examples
    --------
    A billion thresholds:

    >>> import numpy as np
    >>> from sklearn_sl.online import GridThresholdHalving
    >>> X = np.random.default_rng(0).uniform(size=(100_000, 1))
    >>> model = GridThresholdHalving(n_steps=10**9).fit(X, X[:, 0] >= 0.3)
    >>> model.n_mistakes_, round(model.bound_, 1), model.thresholds_.round(3)
    (5, 29.9, array([0.3]))
    """

    bound_: float
    thresholds_: np.ndarray
    intervals_: np.ndarray
    n_consistent_: np.ndarray
    n_contradictions_: np.ndarray
    realizable_: bool

    _parameter_constraints = {
        # Twice a place must be an integer of 64 bits, and a place a double.
        "n_steps": [Interval(Integral, 1, 2**52, closed="both")],
        "low": [Interval(Real, None, None, closed="neither")],
        "high": [Interval(Real, None, None, closed="neither")],
        "feature": [Interval(Integral, 0, None, closed="left")],
        "on_empty": [StrOptions(set(WHEN_EMPTY))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_ends", "_n_empty")
    _fixed = ("n_steps", "low", "high", "feature")

    def __init__(
        self,
        n_steps: int = 100,
        *,
        low: float = 0.0,
        high: float = 1.0,
        feature: int = 0,
        on_empty: Literal["restart", "keep", "raise"] = "restart",
        max_iter: int = 1,
        keep_losses: bool = False,
    ) -> None:
        self.n_steps = n_steps
        self.low = low
        self.high = high
        self.feature = feature
        self.on_empty = on_empty
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    @property
    def _free(self):
        # As long as there was no contradiction it makes no difference.
        return FREE if self._n_empty.any() else FREE | {"on_empty"}

    def _begin(self, X):
        span = self.high - self.low
        if not (span > 0 and np.isfinite([self.low - span, self.high + span]).all()):
            raise ValueError(
                "low must be less than high, and low - (high - low) and high + (high - low) must "
                f"be finite; got low={self.low!r} and high={self.high!r}."
            )
        if self.feature >= X.shape[1]:
            raise ValueError(
                f"feature must be in [0, {X.shape[1]}), the number of features of X; got "
                f"{self.feature!r}."
            )
        n_thresholds = len(self.classes_) - 1
        self._ends = np.tile(
            np.array([-1, 2 * self.n_steps + 1], dtype=np.int64), (n_thresholds, 1)
        )
        self._n_empty = np.zeros(n_thresholds, dtype=np.intp)

    def _check_arrays(self):
        n_thresholds = len(self.classes_) - 1
        check_shape(self, "_ends", (n_thresholds, 2), np.int64)
        check_shape(self, "_n_empty", (n_thresholds,), np.intp)

    def _places(self, X):
        """Return the nearest points of the grid."""
        x = X[:, [self.feature]].toarray()[:, 0] if sp.issparse(X) else X[:, self.feature]
        x = np.clip(x.astype(np.float64), self.low, self.high)
        share = (x - self.low) / (self.high - self.low)
        return np.clip(np.floor(share * self.n_steps + 0.5), 0, self.n_steps).astype(np.int64)

    def _trials(self, X, codes, answers):
        return _version_space.sweep_grid(
            self._places(X),
            codes,
            self.n_steps,
            WHEN_EMPTY[self.on_empty],
            *self._changed_arrays(codes),
            answers,
        )

    def _finish(self):
        self.intervals_ = self.low + self._ends * ((self.high - self.low) / (2 * self.n_steps))
        self.thresholds_ = self.intervals_.mean(axis=1)
        self.n_consistent_ = (self._ends[:, 1] - self._ends[:, 0]) // 2 + 1
        self.n_contradictions_ = self._n_empty.copy()
        self.realizable_ = not self._n_empty.any()
        restarts = self._n_empty if self.on_empty == "restart" else np.zeros_like(self._n_empty)
        ignored = (self._n_empty - restarts).sum()
        self.bound_ = float(grid_threshold_bound(self.n_steps, restarts).sum() + ignored)
