"""Online learning of tasks whose hypothesis, a function of a kernel, changes now and then."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.kernels._base import Kernel
from sklearn_sl.kernels._path_tree import PathTree, Positions, largest_value
from sklearn_sl.online._paragraphs import paragraphs
from sklearn_sl.online._trials import fit_passes
from sklearn_sl.online.matrix._matrix_completion import (
    NAMES,
    make_side,
    needs_nonnegative,
    theorem_step,
)
from sklearn_sl.online.matrix._matrix_exponent import MatrixExponentMixin, Side
from sklearn_sl.theory._matrix_completion import (
    multitask_kernel_bound,
    multitask_kernel_complexity,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@paragraphs
class SwitchingMultitaskKernel(EstimatorMixin, MatrixExponentMixin, ClassifierMixin, BaseEstimator):
    """Online learning of switching tasks that share a few hypotheses of a kernel.

    In each task the hypothesis changes now and then, and hypotheses come back, in the same task or
    in another one. It is the completion of a matrix: rows are inputs, compared by the kernel, and
    columns are points in time, compared by the path-tree kernel
    :class:`~sklearn_sl.kernels.PathTree`, with the timelines of all tasks laid end to end, each of
    them padded to a power of two. See :class:`MatrixCompletion` for the learner; the margin is ``1
    / sqrt(m)`` for ``m`` hypotheses, the quasi-dimension ``C / m``, and there are ``2 T`` rows and
    columns in ``T`` trials.

    **The theorem.** For every sequence of hypotheses ``h`` with values -1 and 1 the expected number
    of mistakes exceeds that of the sequence by at most ``regret_bound_``, if its complexity ::

        sum_h ||h||^2 X^2 + 2 (s + k - 1) m height^2 + 2 m^2

    is at most ``C``, for ``s`` tasks and ``k`` changes, where ``X^2`` is the largest kernel value
    and the height is that of the tree. It takes very many trials until that says something.

    **Time.** A prediction is for the next trial of the task. ``fit`` starts from scratch, goes
    through the trials once, and knows their number beforehand. ``partial_fit`` goes on; without a
    ``horizon`` its step is that for the trials so far, and timelines double when they are full.

    **Cost.** An answer takes some ten products with the kernel matrices of the updates, so that
    ``T`` trials take ``O(T^3)`` operations. After ``max_basis`` updates there are no more.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        What compares inputs: a name such as "rbf" or "linear", a kernel of
        :mod:`sklearn_sl.kernels` or scikit-learn, or a function of two inputs.

    n_modes : int, default=2
        The number ``m`` of hypotheses.

    n_switches : int, default=1
        An estimate of the number ``k`` of changes, in all tasks.

    complexity : float or None, default=None
        An estimate of the complexity ``C``; None is that of hypotheses with ``||h|| X = 1``, and
        not more than ``2 T m``, with which nothing is promised.

    eta : float or "auto", default="auto"
        The step; "auto" is that of the theorem, ``sqrt(C log(2 T) / (2 T m))``.

    gamma : float, "median" or None, default=None
        The parameter of the kernels "rbf", "poly", "laplacian" and "chi2"; None is one over the
        number of features.

    task_column : int or None, default=None
        Which column of X tells the task, by any number; None if there is one task.

    radius : float or None, default=None
        The largest kernel value ``X^2``; None is the largest one that is met: in all samples of
        ``fit``, or so far.

    horizon : int or None, default=None
        The number ``T`` of trials of all tasks. None is that of ``fit``; in ``partial_fit`` the
        number of trials so far.

    max_basis : int, default=2000
        The largest number of updates.

    {keep_losses}

    random_state : int, RandomState instance or None, default=None
        For the predictions that ``n_mistakes_`` counts; nothing else is random.

    Attributes
    ----------
    {classes}

    expected_mistakes_ : float
        The expected number of mistakes of all trials, exactly.

    n_mistakes_ : int
        The number of mistakes of predictions drawn at random.

    cumulative_loss_ : float
        The sum of the losses of all trials, their probabilities of a mistake; the same as
        ``expected_mistakes_``.

    {loss_curve}

    {n_trials}

    n_updates_ : int
        The number of trials with an update.

    n_skipped_ : int
        The number of updates that were not made for lack of ``max_basis``.

    n_tasks_ : int
        The number of tasks.

    complexity_ : float
        The complexity ``C``.

    dimension_ : float
        The quasi-dimension ``C / m``.

    eta_ : float
        The last step.

    radius_ : float
        The largest kernel value.

    regret_bound_ : float or None
        The theorem's bound on ``expected_mistakes_`` minus the mistakes of a sequence of
        hypotheses. None if it does not apply: more than two classes, another step, an unknown
        horizon or a past one, or skipped updates.

    converged_ : bool
        Whether there was no update in ``fit``.

    n_iter_ : int
        One: time does not come back.

    {features_in}

    See Also
    --------
    MatrixCompletion : The learner for any matrix.
    sklearn_sl.datasets.make_switching_tasks : Makes such tasks.

    References
    ----------
    .. [1] M. Herbster, S. Pasteris and L. Tse, "Online multitask learning with long-term memory",
       NeurIPS 2020.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_switching_tasks
    >>> from sklearn_sl.online import SwitchingMultitaskKernel
    >>> X, y, modes = make_switching_tasks(200, n_tasks=2, n_shifts=3, random_state=0)
    >>> model = SwitchingMultitaskKernel("linear", n_modes=2, n_switches=6, task_column=-1)
    >>> print(f"{model.fit(X, y).expected_mistakes_:.0f} of {model.n_trials_}")
    58 of 200
    """

    regret_bound_: float | None
    dimension_: float
    eta_: float
    n_tasks_: int
    complexity_: float
    radius_: float

    _parameter_constraints = {
        "kernel": [StrOptions(NAMES), callable],
        "n_modes": [Interval(Integral, 1, None, closed="left")],
        "n_switches": [Interval(Integral, 0, None, closed="left")],
        "complexity": [Interval(Real, 0, None, closed="neither"), None],
        "eta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"median"}), None],
        "task_column": [Integral, None],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "max_basis": [Interval(Integral, 1, None, closed="left")],
        "keep_losses": ["boolean"],
        "random_state": ["random_state"],
    }

    _fixed = ("kernel", "gamma", "n_modes", "n_switches", "complexity", "task_column")

    def __init__(
        self,
        kernel: str | Any | Callable[..., Any] = "rbf",
        n_modes: int = 2,
        n_switches: int = 1,
        complexity: float | None = None,
        eta: float | str = "auto",
        *,
        gamma: float | str | None = None,
        task_column: int | None = None,
        radius: float | None = None,
        horizon: int | None = None,
        max_basis: int = 2000,
        keep_losses: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_modes = n_modes
        self.n_switches = n_switches
        self.complexity = complexity
        self.eta = eta
        self.gamma = gamma
        self.task_column = task_column
        self.radius = radius
        self.horizon = horizon
        self.max_basis = max_basis
        self.keep_losses = keep_losses
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = needs_nonnegative(self.kernel)
        return tags

    def _fit_trials(self, X, codes):
        fit_passes(self, X, codes, 1)

    @property
    def _margin_(self):
        return 1 / np.sqrt(self.n_modes)

    # ------------------------------------------------------------ inputs and time

    def _split(self, X):
        """Return the inputs, and the tasks as a list."""
        X = X + 0.0  # minus zero is zero
        if self.task_column is None:
            return X, [0.0] * len(X)
        n_features = X.shape[1]
        if not -n_features <= self.task_column < n_features:
            raise ValueError(
                f"task_column must be in [-{n_features}, {n_features}) for X with {n_features} "
                f"features; got {self.task_column}."
            )
        return np.delete(X, self.task_column, axis=1), X[:, self.task_column].tolist()

    def _make_sides(self, X):
        inputs, _ = self._split(X)
        length = self.horizon + 1 if self.horizon and self.task_column is None else 1
        self._timelines = Timelines(1, 1).grown(1, length)
        rows = make_side(
            self.kernel, inputs, self.radius, self.max_basis, counts=False, gamma=self.gamma
        )
        return rows, Side(self._timelines, 2, self._timelines.radius, self.max_basis, counts=False)

    def _begin(self, X):
        super()._begin(X)
        self._horizon = self.horizon
        self._numbers, self._counts = {}, []

    def _foresee(self, X, n_passes):
        inputs, tasks = self._split(X)
        if self._horizon is None:
            self._horizon = len(X)
        self._rows.meet(inputs, self._rows.own(inputs))
        counts = np.unique(tasks, return_counts=True)[1]
        self._make_room(len(counts), counts.max() + 1)

    def _items(self, X):
        inputs, tasks = self._split(X)
        numbers, counts = dict(self._numbers), list(self._counts)
        points = np.empty((len(X), 2))
        for i, task in enumerate(tasks):
            number = numbers.setdefault(task, len(numbers))
            counts += [0] * (number == len(counts))
            points[i] = number, counts[number]
            counts[number] += 1
        self._numbers, self._counts = numbers, counts
        return np.ascontiguousarray(inputs), points

    def _trial(self, row, col, signs, trial, scores):
        number, time = col[0].astype(int).tolist()
        self._make_room(number + 1, time + 1)
        super()._trial(row, col, signs, trial, scores)
        self._make_room(number + 1, time + 2)  # for a prediction of the next trial

    def _make_room(self, n_tasks, length):
        timelines = self._timelines.grown(n_tasks, length)
        if timelines is not self._timelines:
            self._timelines = timelines
            self._cols.change_kernel(timelines, timelines.radius)

    def _scores(self, X):
        inputs, tasks = self._split(X)
        inputs, n_tasks = np.ascontiguousarray(inputs), len(self._counts)
        numbers = np.array([self._numbers.get(task, n_tasks) for task in tasks])
        points = np.column_stack([numbers, np.array([*self._counts, 0])[numbers]]).astype(float)
        scores = np.empty((len(X), self._n_vectors()))
        old = numbers < n_tasks
        if old.any():
            scores[old] = self._query(inputs[old], points[old], self._cols)
        if not old.all():
            # A task that is new has a timeline after all others.
            timelines, side = self._timelines.grown(n_tasks + 1, 1), self._cols.copy()
            side.change_kernel(timelines, timelines.radius)
            scores[~old] = self._query(inputs[~old], points[~old], side)
        return scores

    # ------------------------------------------------------------ parameters of the theorem

    def _complexity(self):
        if self.complexity is not None:
            return self.complexity
        return multitask_kernel_complexity(
            np.ones(self.n_modes),
            self._timelines.n_leaves,
            self.n_switches,
            self._timelines.n_tasks,
        )

    def _tuning(self, trial):
        n_trials = self._horizon or trial
        size = 2 * n_trials
        dimension = min(self._complexity() / self.n_modes, size)
        step = theorem_step(dimension, size, n_trials) if self.eta == "auto" else self.eta
        return dimension / size, step

    def _finish(self):
        super()._finish()
        self.n_tasks_ = len(self._counts)
        self.radius_ = self._rows.radius
        self.complexity_ = self._complexity()
        start, self.eta_ = self._tuning(self.n_trials_)
        self.dimension_ = start * 2 * (self._horizon or self.n_trials_)
        self.regret_bound_ = None
        known = self._horizon is not None and self.n_trials_ <= self._horizon
        if self.eta == "auto" and known and len(self.classes_) == 2 and not self.n_skipped_:
            self.regret_bound_ = float(multitask_kernel_bound(self._horizon, self.complexity_))


class Timelines(Kernel):
    """The path-tree kernel of points in time ``(task, time)``, with timelines end to end.

    Parameters
    ----------
    n_tasks : int
        The number of timelines.

    length : int
        The number of points of one of them, a power of two.
    """

    def __init__(self, n_tasks, length):
        self.n_tasks = n_tasks
        self.length = length

    @property
    def n_leaves(self):
        """The number of leaves of the tree."""
        return max(2, self.n_tasks * self.length)

    @property
    def radius(self):
        """The largest value of the kernel."""
        return largest_value(self.n_leaves)

    def grown(self, n_tasks, length):
        """Return timelines with at least so many tasks and points; the same if there are enough."""
        if n_tasks <= self.n_tasks and length <= self.length:
            return self
        return Timelines(
            max(n_tasks, self.n_tasks), max(self.length, 1 << int(length - 1).bit_length())
        )

    def _inputs(self, points):
        return Positions(points[:, 0] * self.length + points[:, 1])

    def _tiles(self, X, Y):
        return PathTree(self.n_leaves)._tiles(X, Y)

    def _diagonal(self, X):
        return PathTree(self.n_leaves)._diagonal(X)
