"""The search by cross-validation of :class:`SVCCV` and :class:`SVRCV`.

Three methods of the model tell what it searches for: ``_machines(data, fold)`` returns the
functions that return the problem of each of its machines for a ``C``; ``_known(data, fold,
values)`` what the machines with these values at the tested samples predict; and
``_weight_of(data, trained)`` the weights in a fold.
"""

import threading
from contextlib import closing
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names, r2_score
from sklearn.model_selection import ParameterGrid

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._kernel_search import GramMatrices, kernel_folds
from sklearn_sl._memory import available_memory
from sklearn_sl._rows import slices
from sklearn_sl._scoring import score_of
from sklearn_sl._sklearn import Interval, StrOptions
from sklearn_sl._threads import in_order
from sklearn_sl._warnings import warn
from sklearn_sl.svm._gram import KernelGram, MatrixGram, SubGram
from sklearn_sl.svm._left_out import loo_values
from sklearn_sl.svm._many import Batch, solve_in_turn, solve_many

# The least and the largest C of a grid that is given by its size.
LEAST_C, LARGEST_C = 1e-3, 1e3
# The violation at which a machine trained without one sample is solved.
LOO_TOL = 1e-6
# The share of the available memory that Gram matrices may fill.
SHARE = 0.8
# The most coefficients, a sample's in a machine each, that one pass finds.
MOST_COEFFICIENTS = 2**21


SEARCH_PARAMETERS = {
    "Cs": ["array-like", Interval(Integral, 1, None, closed="left")],
    "kernel_grid": [dict, list, None],
    "cv": ["cv_object", StrOptions({"loo"})],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "n_jobs": [int, None],
}


@dataclass
class Fold:
    """A split: the weights of the samples it trains on, zero for the others, and what it tests.

    Where samples are left out ``alone``, every tested sample is trained on for all the others.
    """

    weight: np.ndarray
    tested: np.ndarray
    alone: bool = False


@dataclass
class Task:
    """A part of the search: one kernel, one fold, and some of the ``Cs``, ascending."""

    kernel: int
    fold: int
    costs: np.ndarray
    first: bool  # of its kernel


def tasks_of(n_kernels, folds, Cs):
    """Return the tasks, kernel by kernel; to leave out one by one is a task for each ``C``."""
    ascending = np.argsort(Cs, kind="stable")
    parts = np.split(ascending, len(Cs)) if folds[0].alone else [ascending]
    return [
        Task(kernel, fold, part, first=part is parts[0] and fold == 0)
        for kernel in range(n_kernels)
        for fold in range(len(folds))
        for part in parts
    ]


@dataclass
class Data:
    """The rows of positive weight of the training set, in the order that the solver has them.

    ``y`` and ``score_weight`` are what a scorer gets, ``target`` and ``weight`` what is fitted;
    all are of these rows, and ``X`` and ``labels`` of all.
    """

    X: object
    labels: np.ndarray
    rows: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    score_weight: np.ndarray | None

    @property
    def y(self):
        """The labels or targets of the rows."""
        return self.labels[self.rows]


def _folds(model, data):
    """Return the folds, or one for all samples if they are left out one by one."""
    every = np.arange(len(data.rows))
    if isinstance(model.cv, str):
        if len(every) < 2:
            raise ValueError(
                'cv="loo" requires at least two samples of positive weight; got '
                f"n_samples={len(every)}."
            )
        return [Fold(data.weight, every, alone=True)]
    return [
        Fold(model._weight_of(data, ~np.isin(every, removed)), removed[tested])
        for removed, tested in kernel_folds(model, data.X, data.labels, data.rows)
    ]


def choose_by_cross_validation(model, data, candidates, progress):
    """Return the best ``C`` and kernel, and set the attributes of the search."""
    Cs = check_costs(model.Cs)
    points = grid_points(model.kernel_grid, Cs)
    model.cv_results_ = results_of(points, _scores_of(model, data, candidates, Cs, progress))
    model.best_index_ = best_index(model.cv_results_["mean_test_score"])
    model.best_score_ = float(model.cv_results_["mean_test_score"][model.best_index_])
    model.best_params_, kernel, _ = points[model.best_index_]
    model.C_ = model.best_params_["C"]
    return model.C_, candidates[kernel][1]


def _scores_of(model, data, candidates, Cs, progress):
    """Return the scores of all candidates, of shape (kernels, Cs, folds); NaN if stopped."""
    folds, scorer = _folds(model, data), _scorer(model)
    tasks = tasks_of(len(candidates), folds, Cs)
    scores, unsolved = np.full((len(candidates), len(Cs), len(folds)), np.nan), 0
    with closing(_results(model, data, candidates, folds, Cs, tasks)) as results:
        for task in tasks:
            # A search that is told to stop has the kernels so far, one at least.
            if progress.stop and task.first and task.kernel:
                break
            with progress.step():
                values, failed = next(results)
                scores[task.kernel, task.costs, task.fold] = [
                    _score(model, scorer, data, folds[task.fold], some) for some in values
                ]
            unsolved += failed
            _tell(model, task, candidates, scores)
    _warn_of_unsolved(model, unsolved, scores.size)
    return scores


def _scorer(model):
    scoring = model.scoring or ("accuracy" if is_classifier(model) else "r2")
    if isinstance(scoring, str) and scoring in UNCHECKED:
        return UNCHECKED[scoring]
    return check_scoring(model, scoring=scoring)


def _score(model, scorer, data, fold, values):
    weight = None if data.score_weight is None else data.score_weight[fold.tested]
    known = model._known(data, fold, values)
    return score_of(scorer, known, data.y[fold.tested], weight)


def _results(model, data, candidates, folds, Cs, tasks):
    """Yield the results of the tasks in their order, by as many threads as the user wants."""
    # Leaving out one by one does not look up from its work: a thread could not be stopped.
    n_threads = 1 if folds[0].alone else min(effective_n_jobs(model.n_jobs), len(tasks))
    machines = [model._machines(data, fold) for fold in folds]
    kernels = [kernel for _, kernel in candidates]
    grams = Grams(data, kernels, n_threads, len(tasks) // len(kernels))
    if grams.resident and model.max_iter < 0 and not folds[0].alone:
        machines = [batch_of(some) if len(some) > 1 else some for some in machines]

    def work(task, over):
        fold = folds[task.fold]
        options = model._solver_options | {
            "watch": lambda violation: over(),
        }
        gram = grams[task.kernel]
        return left_out_values(machines[task.fold], gram, fold, Cs[task.costs], options, over)

    with closing(in_order(work, tasks, n_threads)) as results:
        for task, result in zip(tasks, results, strict=True):
            grams.drop_before(task.kernel)
            yield result


def _tell(model, task, candidates, scores):
    if model.verbose:
        best = np.max(scores[task.kernel, task.costs, task.fold])
        print(
            f"[{type(model).__name__}] kernel {task.kernel + 1}/{len(candidates)} "
            f"{candidates[task.kernel][0]}, fold {task.fold + 1}/{scores.shape[2]}: "
            f"best score {best:.4g}"
        )


def _warn_of_unsolved(model, unsolved, total):
    if unsolved:
        warn(
            f"SMO stopped at max_iter={model.max_iter}, above tol={model.tol:.2e}, in some of "
            f"the {total} fits of the search. Scale the features (StandardScaler), leave out "
            "the largest C, or increase max_iter.",
            ConvergenceWarning,
        )


class Grams:
    """The Gram matrices of the candidates for the solver, in memory while they are needed.

    Matrices that do not fit into memory are evaluated piece by piece, as the solver goes.
    """

    def __init__(self, data, kernels, n_threads, tasks_per_kernel):
        self.kernels = kernels
        X, rows = data.X, data.rows
        if kernels[0] is None:
            check_symmetric_gram(X)
        self.X = X[rows].astype(np.float64) if X.dtype == np.float32 else X[rows]
        self.matrices = GramMatrices(self.X, rows, kernels, np.float64)
        self._made, self._lock = {}, threading.Lock()
        at_once = min(len(kernels), 1 + -(-n_threads // tasks_per_kernel))
        needed = 8 * len(rows) ** 2 * (at_once + n_threads + self.matrices.shared)
        self.resident = kernels[0] is None or fits(needed)

    def __getitem__(self, number):
        with self._lock:
            if number not in self._made:
                self._made[number] = self._make(self.kernels[number])
            return self._made[number]

    def _make(self, kernel):
        if not self.resident:
            return KernelGram(kernel, self.X)
        return MatrixGram(self.matrices[kernel].astype(np.float64, copy=False))

    def drop_before(self, number):
        """Forget the matrices that no task needs any more."""
        with self._lock:
            for old in [made for made in self._made if made < number]:
                del self._made[old]


def fits(n_bytes):
    """Return whether arrays of this size fit into memory, as far as anybody knows."""
    if n_bytes < 2**26:  # not worth asking the operating system
        return True
    available = available_memory()
    return available is None or n_bytes < SHARE * available


def left_out_values(machines, gram, fold, Cs, options, over):
    """Return the values at the tested samples, and how many problems were not solved.

    The machines are a list of functions of ``C``, or a batch of their problems for ``C = 1``.
    The values have the shape (number of ``Cs``, of tested samples, of machines). Once ``over()``
    is true they are not needed any more.
    """
    values = np.empty((len(Cs), len(fold.tested), len(machines)))
    unsolved = 0
    if isinstance(machines, Batch):
        for some in slices(len(Cs), max(1, MOST_COEFFICIENTS // (gram.n * len(machines)))):
            if not over():
                values[some], failed = values_of_many(machines, Cs[some], gram, fold, options)
                unsolved += failed
        return values, unsolved
    for column, problem_at in enumerate(machines):
        solutions = solve_in_turn(map(problem_at, Cs), gram, **options)
        for k, solution in enumerate(solutions):
            if over():
                break
            unsolved += not solution.converged
            # A sample that cannot move has no part in the solution: its value is one left out.
            at_all = left_out_alone(solution, gram, options) if fold.alone else solution.values
            values[k, :, column] = at_all[fold.tested]
    return values, unsolved


def batch_of(machines):
    """Return the problems of many machines for ``C = 1``, all in one."""
    problems = [problem_at(1.0) for problem_at in machines]
    places = [np.flatnonzero(problem.lower < problem.upper) for problem in problems]
    parts = [problem.of(rows) for problem, rows in zip(problems, places, strict=True)]
    return Batch.of(parts, places)


def values_of_many(batch, Cs, gram, fold, options):
    """Return the same by one pass: many small machines gain more from it than from good starts."""
    n_machines = len(batch)
    batch = batch.with_costs(Cs)
    solutions = solve_many(batch, gram, n_jobs=1, **options)
    b = np.zeros((gram.n, len(batch)))
    b[batch.rows, batch.each(np.arange(len(batch)))] = solutions.b
    support = np.flatnonzero(b.any(axis=1))
    values = gram.product(support, b[support], at=fold.tested)
    values = (values + solutions.intercept).reshape(len(values), n_machines, len(Cs))
    return values.transpose(2, 0, 1), int(np.sum(~solutions.converged))


def left_out_alone(solution, gram, options):
    """Return the value at each sample of the machine trained without it."""
    problem = solution.problem
    rows = np.flatnonzero(problem.lower < problem.upper)
    part = problem.of(rows)
    own = replace(solution, problem=part, b=solution.b[rows], v=solution.v[rows])
    tol = min(LOO_TOL, options["tol"])
    values = solution.values
    values[rows] = loo_values(part, SubGram(gram, rows), own, tol=tol, max_iter=options["max_iter"])
    return values


def check_costs(Cs):
    """Return the values of ``C`` as a vector, or raise."""
    if isinstance(Cs, Integral):
        return np.logspace(np.log10(LEAST_C), np.log10(LARGEST_C), Cs)
    Cs = np.asarray(Cs, dtype=np.float64)
    if Cs.ndim != 1 or not len(Cs) or not (np.isfinite(Cs).all() and (Cs > 0).all()):
        raise ValueError(
            "Cs must be an int, the number of values, or an array-like of positive finite "
            f"floats; got {Cs}."
        )
    return Cs


def grid_points(kernel_grid, Cs):
    """Return ``(params, number of the kernel, number of the C)``, in the order of GridSearchCV."""
    grids = [{}] if kernel_grid is None else kernel_grid
    points, first = [], 0
    for grid in [grids] if isinstance(grids, dict) else grids:
        if "C" in grid:
            raise ValueError('kernel_grid must not contain "C": pass the values of C as Cs.')
        names = sorted(grid)
        shape = tuple(len(grid[name]) for name in names)
        places = {name: range(size) for name, size in zip(names, shape, strict=True)}
        for place in ParameterGrid({**places, "C": range(len(Cs))}):
            params = {name: grid[name][place[name]] for name in names}
            number = np.ravel_multi_index([place[name] for name in names], shape) if names else 0
            points.append(({"C": float(Cs[place["C"]]), **params}, first + number, place["C"]))
        first += int(np.prod(shape))
    return points


def results_of(points, scores):
    """Return the scores, of shape (kernels, Cs, folds), in the form of GridSearchCV."""
    table = np.array([scores[kernel, cost] for _, kernel, cost in points])
    mean = table.mean(axis=1)
    worst = np.nanmin(mean) - 1 if np.isfinite(mean).any() else 0.0
    level = np.where(among_the_best(mean), np.nanmax(mean, initial=-np.inf), mean)
    ranks = rankdata(-np.nan_to_num(level, nan=worst), method="min")
    return {
        "params": [params for params, _, _ in points],
        **{f"split{k}_test_score": column for k, column in enumerate(table.T)},
        "mean_test_score": mean,
        "std_test_score": table.std(axis=1),
        "rank_test_score": ranks.astype(np.int32),
    }


def best_index(mean_scores):
    """Return the first of the best candidates."""
    if np.isnan(mean_scores).all():
        raise ValueError(
            "The score is NaN for all of Cs and kernel_grid: use fewer folds in cv, or another "
            "scoring."
        )
    return int(np.argmax(among_the_best(mean_scores)))


def among_the_best(scores):
    """Return which scores equal the best but for rounding errors.

    Where no coefficient is at its bound any more a larger C gives the same machine, by other
    roundings.
    """
    best = np.nanmax(scores, initial=-np.inf)
    near = 1e-9 * max(abs(best), 1.0) if np.isfinite(best) else 0.0
    return scores >= best - near


def accuracy(model, X, y, sample_weight=None):
    """Score by the share of correct predictions: as in scikit-learn, without its checks."""
    return np.average(model.predict(X) == y, weights=sample_weight)


def r2(model, X, y, sample_weight=None):
    """Score by the coefficient of determination: as in scikit-learn, without its checks."""
    predicted = model.predict(X)
    if len(y) < 2:  # not defined, and a warning says so
        return r2_score(y, predicted, sample_weight=sample_weight)
    weight = 1.0 if sample_weight is None else sample_weight
    lost = np.sum(weight * (y - predicted) ** 2)
    total = np.sum(weight * (y - np.average(y, weights=sample_weight)) ** 2)
    if lost == 0:
        return 1.0
    return float(1 - lost / total) if total else 0.0


# The checks of scikit-learn's scorers take as long as a small fit.
UNCHECKED = {"accuracy": accuracy, "r2": r2}
