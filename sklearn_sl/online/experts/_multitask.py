"""Several tasks whose best experts switch, but come from one small pool."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._state import check_shape
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._parameters import check_fixed
from sklearn_sl.online._protocol import OnlineClassifierMixin
from sklearn_sl.online.experts import _circadian
from sklearn_sl.theory._switching import multitask_bound, multitask_complexity, multitask_rates

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike

ADVICE = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}


@paragraphs
class SwitchingMultitaskExperts(
    EstimatorMixin, OnlineClassifierMixin, ClassifierMixin, BaseEstimator
):
    """Experts for several switching tasks, with a memory shared by all of them.

    Each row of ``X`` is the advice of ``n`` experts on a trial of one of ``s`` tasks. The best
    expert of a task changes from time to time, but only ``m`` experts are ever the best one, in
    any task. The learner has two kinds of weights: ``trust_`` is how likely an expert is one of
    those, and ``awake_`` is for each task how likely this expert is in charge at the moment. In a
    trial an expert has a share ``v`` that is proportional to their product. The share of the
    experts behind each class is its probability; the prediction is the most likely class, the
    first one of several. After a trial:

    - the awake part of an expert that was wrong is multiplied by ``exp(-eta)``, and all awake
      parts are multiplied so that the sum of their shares stays what it was; trust follows;
    - an expert that is awake in this task stays so with probability ``theta``, and one that is
      asleep wakes up with probability ``phi``.

    So an expert that has been good in one task is found quickly in another, or when it returns. A
    trial costs a few operations for each expert. These are the "Markov circadian specialists"
    of [1]_. With a single task it is prediction with long-term memory.

    **The theorem.** A learner that *draws* an expert by the shares makes an expected number of
    mistakes, ``expected_mistakes_``, that exceeds the mistakes of any sequence of experts with
    ``m`` modes and ``k`` switches by at most ``sqrt(2 C T)`` after ``T`` trials, with
    ``C <= m ln(n / m) + s (ln(m) + 1) + k (ln(m - 1) + 2 ln((T - s) / k) + 2)``.

    **Advice.** A number ``x`` is the class in place ``floor(x - threshold) + 1``, the first or
    last one if there is no such class; for two classes it is the second one if
    ``x >= threshold``. NaN is an expert that says nothing: its weights are not changed.

    Parameters
    ----------
    n_modes : int, default=2
        The number ``m`` of experts that are the best ones at some time. No more than there are
        experts; with one of them nothing switches.

    n_switches : int, default=10
        The number ``k`` of switches, in all tasks; less than ``T - s`` unless there are none.

    n_tasks : int, default=1
        The number ``s`` of tasks. There may be more or fewer; ``theta``, ``phi`` and ``eta`` are
        chosen for this number.

    horizon : int, default=1000
        The number ``T`` of trials, of all tasks, that they are chosen for.

    eta : float or "auto", default="auto"
        The learning rate; "auto" is ``sqrt(2 C / T)``.

    task_feature : int or None, default=None
        The column of ``X`` that says which task a trial belongs to, by any number, and NaN is a
        task as well; the experts are the other columns. None: there is one task.

    threshold : float, default=0.5
        How advice becomes a class.

    {max_iter}

    {keep_losses}

    Attributes
    ----------
    trust_ : ndarray of shape (n_experts,)
        How likely each expert is one of the modes, a distribution.

    awake_ : ndarray of shape (n_tasks, n_experts)
        How likely each expert is in charge of each task, if it is one of the modes.

    tasks_ : ndarray of shape (n_tasks,)
        The tasks, in the order in which they appeared.

    theta_ : float
        The probability to stay in charge, ``1 - k / (T - s)``.

    phi_ : float
        The probability to come in, ``k / ((m - 1) (T - s))``.

    {eta}

    n_modes_ : int
        The number of modes.

    {classes}

    expected_mistakes_ : float
        The expected number of mistakes of a learner that draws an expert in each trial.

    n_mistakes_ : int
        The number of mistakes of the predictions.

    cumulative_loss_ : float
        The same as ``expected_mistakes_``: the loss of a trial is the share of the experts that
        were wrong.

    {loss_curve}

    regret_bound_ : float
        ``expected_mistakes_`` exceeds the mistakes of every sequence with ``n_modes_`` modes and at
        most ``n_switches`` switches by no more than this; see :meth:`switching_bound` for others.

    {n_trials}

    {n_iter}

    converged_ : bool
        Whether the last pass of ``fit`` was without mistakes.

    {features_in}

    See Also
    --------
    sklearn_sl.datasets.make_multitask_experts : Such tasks.
    sklearn_sl.theory.multitask_bound : The theorem.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_multitask_experts
    >>> from sklearn_sl.online import SwitchingMultitaskExperts
    >>> X, y, best = make_multitask_experts(random_state=0)
    >>> model = SwitchingMultitaskExperts(
    ...     n_modes=3, n_switches=12, n_tasks=3, horizon=3000, task_feature=0
    ... ).fit(X, y)
    >>> mistakes_of_the_best = (X[range(3000), best + 1] != y).sum()
    >>> model.expected_mistakes_ - mistakes_of_the_best < model.regret_bound_
    np.True_
    """

    trust_: np.ndarray
    awake_: np.ndarray
    tasks_: np.ndarray
    theta_: float
    phi_: float
    eta_: float
    n_modes_: int
    expected_mistakes_: float
    n_iter_: int
    converged_: bool

    _has_scores = False
    _parameter_constraints = {
        "n_modes": [Interval(Integral, 1, None, closed="left")],
        "n_switches": [Interval(Integral, 0, None, closed="left")],
        "n_tasks": [Interval(Integral, 1, None, closed="left")],
        "horizon": [Interval(Integral, 1, None, closed="left")],
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "task_feature": [Interval(Integral, 0, None, closed="left"), None],
        "threshold": [Interval(Real, None, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
    }
    _mutable = ("_trust", "_awake")
    _fixed = ("n_modes", "n_tasks", "task_feature", "threshold")
    # A step for an expert costs as much as reading several numbers.
    _width = 4
    _sample_checks = ADVICE
    # Features are the advice of experts.
    _compare_grid = None

    def __init__(
        self,
        *,
        n_modes: int = 2,
        n_switches: int = 10,
        n_tasks: int = 1,
        horizon: int = 1000,
        eta: float | str = "auto",
        task_feature: int | None = None,
        threshold: float = 0.5,
        max_iter: int = 1,
        keep_losses: bool = False,
    ) -> None:
        self.n_modes = n_modes
        self.n_switches = n_switches
        self.n_tasks = n_tasks
        self.horizon = horizon
        self.eta = eta
        self.task_feature = task_feature
        self.threshold = threshold
        self.max_iter = max_iter
        self.keep_losses = keep_losses

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.classifier_tags.poor_score = True
        return tags

    # ------------------------------------------------------------ trials

    def _begin(self, X):
        n_experts = X.shape[1] - (self.task_feature is not None)
        if n_experts < 1 or (self.task_feature or 0) >= X.shape[1]:
            raise ValueError(
                f"X must have a column of tasks, task_feature={self.task_feature}, and one column "
                f"for each expert; got n_features={X.shape[1]}."
            )
        self.n_modes_, self._n_switches = min(self.n_modes, n_experts), self.n_switches
        # Not in every trial, so that experts stay with some probability.
        sizes = self.n_tasks, self.n_modes_, self._most_switches(self.horizon - 1, self.n_tasks)
        if self.n_modes_ > 1 and self.n_switches > sizes[-1]:
            raise ValueError(
                f"n_switches must be <= {sizes[-1]} for n_tasks={self.n_tasks} and "
                f"horizon={self.horizon}; got {self.n_switches}. Increase horizon, or decrease "
                "n_switches."
            )
        self.theta_, self.phi_ = map(float, multitask_rates(self.horizon, *sizes))
        self.eta_ = self.eta
        if self.eta == "auto":
            complexity = multitask_complexity(self.horizon, n_experts, *sizes)
            self.eta_ = float(np.sqrt(2 * complexity / self.horizon))
        lanes = _circadian.LANES
        self._trust = np.zeros((n_experts + lanes - 1) // lanes * lanes)
        self._trust[:n_experts] = 1 / n_experts
        self.tasks_, self._awake = np.empty(0), np.empty((0, len(self._trust)))

    def _check_arrays(self):
        n_experts = self.n_features_in_ - (self._began_with["task_feature"] is not None)
        lanes = _circadian.LANES
        n_places = (n_experts + lanes - 1) // lanes * lanes
        check_shape(self, "_trust", (n_places,))
        n_tasks = len(check_shape(self, "tasks_", (None,)))
        check_shape(self, "_awake", (n_tasks, n_places))

    def _most_switches(self, n_trials, n_tasks):
        """Return how many switches there can be, of those that are expected."""
        if self.n_modes_ == 1:
            return 0
        return min(self._n_switches, max(n_trials - n_tasks, 0))

    def _split(self, X):
        """Return the advice of the experts, the places of the trials' tasks, and the tasks.

        Those that are new have the places after those in ``tasks_``.
        """
        if self.task_feature is None:
            return self._padded(X), np.zeros(len(X), dtype=np.intp), np.zeros(1)
        ids = np.concatenate([self.tasks_, X[:, self.task_feature]])
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        ranks = np.empty(len(first), dtype=np.intp)
        ranks[np.argsort(first)] = np.arange(len(first))
        places = ranks[inverse.ravel()[len(self.tasks_) :]]
        advice = np.delete(X, self.task_feature, axis=1)
        return self._padded(advice), places, ids[np.sort(first)]

    def _padded(self, advice):
        """Return advice with experts at the end who say nothing."""
        missing = len(self._trust) - advice.shape[1]
        return np.pad(advice, ((0, 0), (0, missing)), constant_values=np.nan) if missing else advice

    def _answer(self, X, codes=None):
        """Return the shares behind each class; learn from the trials if their classes are told."""
        advice, places, tasks = self._split(X)
        awake = self._awake
        if len(tasks) > len(awake):
            fresh = np.full((len(tasks) - len(awake), awake.shape[1]), 1 / self.n_modes_)
            awake = np.concatenate([awake, fresh])
        answers = np.empty((len(X), len(self.classes_)))
        said = np.empty(len(self._trust))
        if codes is None:
            _circadian.answer(advice, places, self.threshold, self._trust, awake, said, answers)
            return answers
        rates = np.exp(-self.eta_), self.theta_, self.phi_
        _circadian.sweep(
            advice, places, codes, self.threshold, *rates, self._trust, awake, said, answers
        )
        self.tasks_, self._awake = tasks, awake
        return answers

    def _play(self, X, codes):
        return self._answer(X, codes), len(codes)

    def _losses(self, answers, codes):
        return 1 - answers[np.arange(len(codes)), codes]

    def _mistaken(self, answers, codes):
        return answers.argmax(axis=1) != codes

    def _predictions(self, answers):
        return self.classes_[answers.argmax(axis=1)]

    def _finish(self):
        n_experts = self.n_features_in_ - (self.task_feature is not None)
        self.trust_, self.awake_ = self._trust[:n_experts], self._awake[:, :n_experts]
        self.expected_mistakes_ = self.cumulative_loss_

    @property
    def regret_bound_(self) -> float:
        """The theorem's bound for the numbers of modes and switches that were expected."""
        n_tasks = max(len(self.tasks_), 1)
        switches = {0, self._most_switches(self.n_trials_, n_tasks)}
        # A sequence with fewer switches is cheaper, unless many of them are expected.
        return max(self._bound(self.n_trials_, n_tasks, self.n_modes_, k) for k in switches)

    def _bound(self, n_trials, n_tasks, n_modes, n_switches):
        if self.eta_ == 0:  # a single expert
            return 0.0
        rates = {"mu": 1 / self.n_modes_, "theta": self.theta_, "phi": self.phi_}
        sizes = n_trials, len(self.trust_), n_tasks, n_modes, n_switches
        return float(multitask_bound(*sizes, eta=self.eta_, **rates))

    # ------------------------------------------------------------ validation

    def _read_query(self, X):
        return validate_data(self, X, reset=False, **ADVICE)

    # ------------------------------------------------------------ answers

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of the experts behind each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Advice, with the tasks; a task that is new begins as all of them did.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The shares.
        """
        check_is_fitted(self)
        check_fixed(self)
        return self._answer(self._read_query(X))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the classes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Advice, with the tasks.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The most likely classes.
        """
        return self._predictions(self.predict_proba(X))

    def switching_bound(self, experts: ArrayLike, tasks: ArrayLike | None = None) -> float:
        """Return the theorem's bound on the regret against a sequence of experts.

        Parameters
        ----------
        experts : array-like of shape (n_trials,)
            The expert of each trial, for the trials that the learner has gone through.

        tasks : array-like of shape (n_trials,), default=None
            The task of each trial; None is a single one.

        Returns
        -------
        bound : float
            ``expected_mistakes_`` exceeds the mistakes of the sequence by no more than this. It is
            infinite for a sequence with switches if none were expected.
        """
        check_is_fitted(self)
        experts = np.asarray(experts)
        tasks = np.zeros(len(experts)) if tasks is None else np.asarray(tasks)
        if experts.shape != (self.n_trials_,) or tasks.shape != experts.shape:
            raise ValueError(
                f"experts and tasks must have one entry for each of the {self.n_trials_} trials."
            )
        order = np.argsort(tasks, kind="stable")
        same_task = np.diff(tasks[order]) == 0
        n_switches = np.count_nonzero(np.diff(experts[order])[same_task])
        n_modes, n_tasks = len(np.unique(experts)), len(np.unique(tasks))
        return self._bound(self.n_trials_, n_tasks, n_modes, n_switches)
