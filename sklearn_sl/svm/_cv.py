"""Support vector machines that choose ``C`` and the kernel by cross-validation."""

import threading
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import ParameterGrid

from sklearn_sl._kernel_machine import check_symmetric_gram
from sklearn_sl._kernel_search import GramMatrices, KernelSearchMixin
from sklearn_sl._memory import available_memory
from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl._threads import in_order
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin, class_factors
from sklearn_sl.svm._classify import ClassificationMixin, pairs_of
from sklearn_sl.svm._gram import KernelGram, MatrixGram, SubGram
from sklearn_sl.svm._loo import loo_values
from sklearn_sl.svm._many import solve_many
from sklearn_sl.svm._problem import margin_problem
from sklearn_sl.svm._regress import RegressionMixin
from sklearn_sl.svm._sequence import solve_in_turn
from sklearn_sl.svm._solver import go_on, is_polished, solve

# The least and the largest C of a grid that is given by its size.
LEAST_C, LARGEST_C = 1e-3, 1e3
# The violation at which a machine trained without one sample is solved.
LOO_TOL = 1e-6
# The share of the available memory that Gram matrices may fill.
SHARE = 0.8


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


class SearchMixin(KernelSearchMixin):
    """The search of :class:`SVCCV` and :class:`SVRCV`.

    A subclass gives ``_machines(data, fold)``, the functions that return the problem of each of
    its machines for a ``C``; ``_known(data, fold, values)``, what the machines with these values
    at the tested samples say; and ``_weight_of(data, trained)``, the weights in a fold.
    """

    _parameter_constraints = {
        "Cs": ["array-like", Interval(Integral, 1, None, closed="left")],
        "kernel_grid": [dict, list, None],
        "cv": ["cv_object", StrOptions({"loo"})],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "n_jobs": [int, None],
    }

    def _folds(self, data):
        """Return the folds, or one for all samples if they are left out one by one."""
        every = np.arange(len(data.rows))
        if isinstance(self.cv, str):
            if len(every) < 2:
                raise ValueError(
                    "Leaving one sample out needs at least two samples of positive weight, but "
                    f"there is only n_samples={len(every)}."
                )
            return [Fold(data.weight, every, alone=True)]
        return [
            Fold(self._weight_of(data, ~np.isin(every, removed)), removed[tested])
            for removed, tested in self._split_folds(data.X, data.labels, data.rows)
        ]

    def _search(self, data, candidates, progress):
        """Return the best ``C`` and kernel, and set the attributes of the search."""
        Cs = check_costs(self.Cs)
        points = grid_points(self.kernel_grid, Cs)
        self.cv_results_ = results_of(points, self._scores_of(data, candidates, Cs, progress))
        self.best_index_ = best_index(self.cv_results_["mean_test_score"])
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_, kernel, _ = points[self.best_index_]
        self.C_ = self.best_params_["C"]
        return self.C_, candidates[kernel][1]

    def _scores_of(self, data, candidates, Cs, progress):
        """Return the scores of all candidates, of shape (kernels, Cs, folds); NaN if stopped."""
        folds, scorer = self._folds(data), self._scorer()
        tasks = tasks_of(len(candidates), folds, Cs)
        scores, unsolved = np.full((len(candidates), len(Cs), len(folds)), np.nan), 0
        with closing(self._results(data, candidates, folds, Cs, tasks)) as results:
            for task in tasks:
                # A search that is told to stop has the kernels so far, one at least.
                if progress.stop and task.first and task.kernel:
                    break
                with progress.step():
                    values, failed = next(results)
                    scores[task.kernel, task.costs, task.fold] = [
                        self._score(scorer, data, folds[task.fold], some) for some in values
                    ]
                unsolved += failed
                self._tell(task, candidates, scores)
        self._warn_of_unsolved(unsolved, scores.size)
        return scores

    def _scorer(self):
        scoring = self.scoring or ("accuracy" if is_classifier(self) else "r2")
        return accuracy if scoring == "accuracy" else check_scoring(self, scoring=scoring)

    def _score(self, scorer, data, fold, values):
        weight = None if data.score_weight is None else data.score_weight[fold.tested]
        known = self._known(data, fold, values)
        return score_of(scorer, known, data.y[fold.tested], weight)

    def _results(self, data, candidates, folds, Cs, tasks):
        """Yield the results of the tasks in their order, by as many threads as the user wants."""
        # Leaving out one by one does not look up from its work: a thread could not be stopped.
        n_threads = 1 if folds[0].alone else min(effective_n_jobs(self.n_jobs), len(tasks))
        machines = [self._machines(data, fold) for fold in folds]
        kernels = [kernel for _, kernel in candidates]
        grams = Grams(data, kernels, n_threads, len(tasks) // len(kernels))

        def work(task, over):
            fold = folds[task.fold]
            options = self._solver_options | {
                "polish": is_polished(np.count_nonzero(fold.weight), self.tol),
                "watch": lambda violation: over(),
            }
            gram = grams[task.kernel]
            return left_out_values(machines[task.fold], gram, fold, Cs[task.costs], options, over)

        with closing(in_order(work, tasks, n_threads)) as results:
            for task, result in zip(tasks, results, strict=True):
                grams.drop_before(task.kernel)
                yield result

    def _tell(self, task, candidates, scores):
        if self.verbose:
            best = np.max(scores[task.kernel, task.costs, task.fold])
            print(
                f"[{type(self).__name__}] kernel {task.kernel + 1}/{len(candidates)} "
                f"{candidates[task.kernel][0]}, fold {task.fold + 1}/{scores.shape[2]}: "
                f"best score {best:.4g}"
            )

    def _warn_of_unsolved(self, unsolved, total):
        if unsolved:
            warn(
                f"SMO stopped at max_iter={self.max_iter}, above tol={self.tol:.2e}, in some of "
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

    The values have the shape (number of ``Cs``, of tested samples, of machines). Once ``over()``
    is true nobody wants them any more.
    """
    values = np.empty((len(Cs), len(fold.tested), len(machines)))
    unsolved = 0
    if len(machines) > 1 and not fold.alone and hasattr(gram, "K") and options["max_iter"] < 0:
        for k, C in enumerate(Cs):
            if not over():
                values[k], failed = values_of_many(machines, gram, fold, C, options)
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


def values_of_many(machines, gram, fold, C, options):
    """Return the same for one ``C``: many small machines gain more from a pass over them all."""
    problems = [problem_at(C) for problem_at in machines]
    places = [np.flatnonzero(problem.lower < problem.upper) for problem in problems]
    parts = [problem.of(rows) for problem, rows in zip(problems, places, strict=True)]
    solutions = solve_many(parts, places, gram, gram.K, n_jobs=1, **options)
    b = np.zeros((gram.n, len(machines)))
    for column, (rows, solution) in enumerate(zip(places, solutions, strict=True)):
        b[rows, column] = solution.b
    support = np.flatnonzero(b.any(axis=1))
    values = gram.product(support, b[support], at=fold.tested)
    intercept = np.array([solution.intercept for solution in solutions])
    return values + intercept, sum(not solution.converged for solution in solutions)


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
        raise ValueError(f"Cs must be positive finite numbers, or how many, got {Cs}.")
    return Cs


def grid_points(kernel_grid, Cs):
    """Return ``(params, number of the kernel, number of the C)``, in the order of GridSearchCV."""
    grids = [{}] if kernel_grid is None else kernel_grid
    points, first = [], 0
    for grid in [grids] if isinstance(grids, dict) else grids:
        if "C" in grid:
            raise ValueError("kernel_grid has C: give its values as Cs.")
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
        raise ValueError("No candidate has a score: it is NaN for all of them.")
    return int(np.argmax(among_the_best(mean_scores)))


def among_the_best(scores):
    """Return which scores equal the best but for rounding errors.

    Where no coefficient is at its bound any more a larger C gives the same machine, by other
    roundings.
    """
    best = np.nanmax(scores, initial=-np.inf)
    near = 1e-9 * max(abs(best), 1.0) if np.isfinite(best) else 0.0
    return scores >= best - near


def accuracy(answers, X, y, sample_weight=None):
    """Score by the share of right answers: what scikit-learn does, without its checks."""
    return np.average(answers.predict(X) == y, weights=sample_weight)


class SVCCV(EstimatorMixin, SearchMixin, ClassificationMixin, ClassifierMixin, BaseEstimator):
    """:class:`SVC` with ``C`` and the kernel chosen by cross-validation.

    The results are those of :class:`~sklearn.model_selection.GridSearchCV`, for a fraction of the
    work: radial kernels share one matrix of distances, all folds and all ``C`` share the Gram
    matrix of a kernel, and the solver for each ``C`` starts from the solution for the ``C``
    before. The values at the held-out samples come with the solution. The best model is fitted to
    all samples.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        The values of ``C`` to choose from, positive and finite. A number asks for so many from
        0.001 to 1000, evenly spaced on a logarithmic scale.

    kernel : str, kernel object or callable, default="rbf"
        The kernel, as in :class:`SVC`.

    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from, as for
        :class:`~sklearn.model_selection.ParameterGrid`: for a named kernel lists of ``gamma``,
        ``degree``, ``coef0`` and even ``kernel``, for a kernel object its own parameters.

    degree : float, default=3
        The degree of "poly".

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels, as in :class:`SVC`. What depends on data is computed
        from all samples, once.

    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

    cv : int, "loo", splitter or iterable, default=None
        The folds: stratified if a number, as in :func:`sklearn.model_selection.check_cv`, and the
        score is the mean of the scores of the folds. None is five stratified folds of shuffled
        samples, whatever their order. "loo" leaves out each sample, of whatever
        weight, exactly and without refits; it has one score of all predictions, and the weights
        of "balanced" classes stay those of all samples.

    scoring : str or callable, default=None
        The score of held-out predictions, which needs no probabilities; None is the accuracy.
        Sample weights are passed on to it, the weights of classes are not.

    class_weight : dict or "balanced", default=None
        Weights of the classes, as in :class:`SVC`; "balanced" anew for each fold.

    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss, as in :class:`SVC`.

    fit_intercept : bool, default=True
        Whether to fit the intercept.

    decision_function_shape : {"ovo", "ovr"}, default="ovr"
        Whether ``decision_function`` returns a score for each class or for each pair of classes.

    break_ties : bool, default=False
        Whether ``predict`` follows the scores of "ovr" where several classes win the same number
        of duels.

    tol : float, default=1e-3
        The violation of the optimality conditions at which to stop. With up to 512 samples and
        the default or less, a few Newton steps go on from there to rounding errors, so that the
        answer does not depend on the order of rows or on whether rows are repeated or weighted. A
        larger ``tol`` stops there, sooner.

    max_iter : int, default=-1
        The most steps of the solver for one problem. -1 is ten million, or a hundred per sample
        if that is more.

    shrinking : bool, default=True
        Whether the solver leaves out, for a while, the samples that violate nothing.

    cache_size : float, default=200
        The most memory for the kernel values of a fit, in MB. The search holds the Gram matrix of
        all samples besides, if memory allows.

    n_jobs : int, default=None
        The number of threads that solve folds side by side; None is 1 unless in a
        :obj:`joblib.parallel_backend` context. ``cv="loo"`` has one thread.

    verbose : bool, default=False
        Whether to print the best score of each fold.

    Attributes
    ----------
    C_ : float
        The chosen ``C``.

    kernel_ : kernel object or None
        The chosen kernel, every parameter a number; None if precomputed.

    best_params_ : dict
        The choice: "C" and the point of ``kernel_grid``. Of equal scores the first in the order
        of ``cv_results_`` is chosen.

    best_score_ : float
        The score of the choice.

    best_index_ : int
        Its place in ``cv_results_``.

    cv_results_ : dict
        "params", "split0_test_score" and so on for the folds, "mean_test_score",
        "std_test_score" and "rank_test_score", in the order of
        :class:`~sklearn.model_selection.GridSearchCV`: the values of ``C`` in the outer loop.

    classes_ : ndarray of shape (n_classes,)
        The classes; one whose samples all have weight zero is not there.

    class_weight_ : ndarray of shape (n_classes,)
        The weight of each class.

    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set, class by class.

    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        The support vectors; empty if the kernel is "precomputed".

    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.

    dual_coef_ : {ndarray, sparse matrix} of shape (n_classes - 1, n_SV)
        The coefficients, as in :class:`SVC`.

    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The intercepts.

    coef_ : {ndarray, sparse matrix} of shape (n_classes * (n_classes - 1) / 2, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The two objectives of the fit to all samples, for each pair of classes.

    duality_gap_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The violation of the optimality conditions.

    margin_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        ``1 / ||f||``, the distance from the separating hyperplane to ``f = 1``.

    n_iter_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        The steps taken.

    converged_ : bool
        Whether the violation of the fit to all samples is at most ``tol``.

    fit_status_ : int
        0 if converged, 1 otherwise.

    shape_fit_ : tuple of int
        The shape of the training set.

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.

    See Also
    --------
    SVC : The model for given parameters.
    SVRCV : The regression.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_sl.svm import SVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV([0.1, 1.0, 10.0], kernel_grid={"gamma": [0.01, 0.1, 1.0]}).fit(X, y)
    >>> model.best_params_
    {'C': 1.0, 'gamma': 1.0}
    >>> round(model.best_score_, 2), len(model.cv_results_["params"])
    (0.97, 9)
    """

    _parameter_constraints = {
        **ClassificationMixin._parameter_constraints,
        **SearchMixin._parameter_constraints,
    }
    del _parameter_constraints["C"]

    def __init__(
        self,
        Cs=10,
        *,
        kernel="rbf",
        kernel_grid=None,
        degree=3,
        gamma="scale",
        coef0=0.0,
        kernel_params=None,
        cv=None,
        scoring=None,
        class_weight=None,
        loss="hinge",
        fit_intercept=True,
        decision_function_shape="ovr",
        break_ties=False,
        tol=1e-3,
        max_iter=-1,
        shrinking=True,
        cache_size=200,
        n_jobs=None,
        verbose=False,
    ):
        self.Cs = Cs
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose the parameters and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Training data; a matrix of kernel values if the kernel is
            "precomputed"; strings or sets if the kernel compares these.

        y : array-like of shape (n_samples,)
            Class labels.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights, of the fit and of the score.

        Returns
        -------
        self : SVCCV
            The fitted estimator.
        """
        X, y, weight, own_weight = self._labelled_data(X, y, sample_weight)
        used, codes = self._class_order(y, weight)
        score_weight = None if own_weight is None else own_weight[used]
        data = Data(X, y, used, codes, weight[used], score_weight)
        pairs = pairs_of(codes, len(self.classes_))
        with Progress(self, name="fold", total=None) as progress:
            C, kernel = self._search(data, self._kernel_candidates(X, own_weight), progress)
            gram = self._gram_of(kernel, X, used)
            solutions = self._solve_pairs(gram, codes, C * data.weight, pairs, go_on)
        self._expand(X, kernel, used, codes, pairs, solutions)
        self._certify(solutions)
        return self

    def _weight_of(self, data, trained):
        if self.class_weight != "balanced":
            return np.where(trained, data.weight, 0.0)
        own = None if data.score_weight is None else data.score_weight[trained]
        weight = np.zeros(len(trained))
        weight[trained] = class_factors("balanced", data.target[trained], own)
        return weight if own is None else weight * data.score_weight

    def _machines(self, data, fold):
        codes = data.target
        present = np.unique(codes[fold.weight > 0])
        if len(present) < 2:
            raise ValueError("A split trains on samples of one class only: choose another cv.")

        def problem_at(C, first, second):
            sign = 1.0 * (codes == first) - 1.0 * (codes == second)
            return margin_problem(
                sign,
                C * np.where(sign, fold.weight, 0.0),
                squared=self.loss == "squared_hinge",
                intercept=self.fit_intercept,
            )

        pairs = combinations(present, 2)
        return [partial(problem_at, first=first, second=second) for first, second in pairs]

    def _known(self, data, fold, values):
        present = np.unique(data.target[fold.weight > 0])
        if len(present) == 2:  # the machine of two classes is positive for the second
            values = -values
        winners = present[self._winners(values, len(present))]
        scores = self._scores(values, len(present))
        return KnownClassifier(self.classes_[winners], self.classes_[present], decisions=scores)


class SVRCV(EstimatorMixin, SearchMixin, RegressionMixin, RegressorMixin, BaseEstimator):
    """:class:`SVR` with ``C`` and the kernel chosen by cross-validation.

    The search is that of :class:`SVCCV`: the results are those of
    :class:`~sklearn.model_selection.GridSearchCV`, for a fraction of the work. The best model is
    fitted to all samples.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        The values of ``C`` to choose from, positive and finite. A number asks for so many from
        0.001 to 1000, evenly spaced on a logarithmic scale.

    kernel : str, kernel object or callable, default="rbf"
        The kernel, as in :class:`SVC`.

    kernel_grid : dict or list of dict, default=None
        Kernel parameters to choose from, as for
        :class:`~sklearn.model_selection.ParameterGrid`: for a named kernel lists of ``gamma``,
        ``degree``, ``coef0`` and even ``kernel``, for a kernel object its own parameters.

    degree : float, default=3
        The degree of "poly".

    gamma : {"scale", "auto", "median"} or float, default="scale"
        The ``gamma`` of the named kernels, as in :class:`SVC`. What depends on data is computed
        from all samples, once.

    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".

    kernel_params : dict, default=None
        Further arguments of a kernel given as a function.

    cv : int, "loo", splitter or iterable, default=None
        The folds, as in :func:`sklearn.model_selection.check_cv`; the score is the mean of the
        scores of the folds. None is five folds of shuffled samples, whatever their order. "loo"
        leaves out each sample, of whatever weight, exactly and without refits, and has one score
        of all predictions.

    scoring : str or callable, default=None
        The score of held-out predictions; None is the coefficient of determination. Sample
        weights are passed on to it.

    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing.

    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss, as in :class:`SVR`.

    fit_intercept : bool, default=True
        Whether to fit the intercept.

    tol : float, default=1e-3
        The violation of the optimality conditions at which to stop. With up to 512 samples and
        the default or less, a few Newton steps go on from there to rounding errors, so that the
        answer does not depend on the order of rows or on whether rows are repeated or weighted. A
        larger ``tol`` stops there, sooner.

    max_iter : int, default=-1
        The most steps of the solver for one problem. -1 is ten million, or a hundred per sample
        if that is more.

    shrinking : bool, default=True
        Whether the solver leaves out, for a while, the samples that violate nothing.

    cache_size : float, default=200
        The most memory for the kernel values of a fit, in MB. The search holds the Gram matrix of
        all samples besides, if memory allows.

    n_jobs : int, default=None
        The number of threads that solve folds side by side; None is 1 unless in a
        :obj:`joblib.parallel_backend` context. ``cv="loo"`` has one thread.

    verbose : bool, default=False
        Whether to print the best score of each fold.

    Attributes
    ----------
    C_ : float
        The chosen ``C``.

    kernel_ : kernel object or None
        The chosen kernel, every parameter a number; None if precomputed.

    best_params_ : dict
        The choice: "C" and the point of ``kernel_grid``. Of equal scores the first in the order
        of ``cv_results_`` is chosen.

    best_score_ : float
        The score of the choice.

    best_index_ : int
        Its place in ``cv_results_``.

    cv_results_ : dict
        "params", "split0_test_score" and so on for the folds, "mean_test_score",
        "std_test_score" and "rank_test_score", in the order of
        :class:`~sklearn.model_selection.GridSearchCV`: the values of ``C`` in the outer loop.

    support_ : ndarray of shape (n_SV,)
        The support vectors as rows of the training set.

    support_vectors_ : {ndarray, sparse matrix} of shape (n_SV, n_features)
        The support vectors; empty if the kernel is "precomputed".

    n_support_ : ndarray of shape (1,)
        The number of support vectors.

    dual_coef_ : {ndarray, sparse matrix} of shape (1, n_SV)
        The coefficients of the support vectors.

    intercept_ : ndarray of shape (1,)
        The intercept.

    coef_ : {ndarray, sparse matrix} of shape (1, n_features)
        The weights of the features; for a linear kernel only.

    dual_objective_, primal_objective_ : float
        The two objectives of the fit to all samples. The optimum lies between them.

    duality_gap_ : float
        Their difference: a bound on what is missing to the optimum.

    kkt_violation_ : float
        The violation of the optimality conditions.

    margin_ : float
        ``1 / ||f||``.

    n_iter_ : int
        The steps taken.

    converged_ : bool
        Whether the violation of the fit to all samples is at most ``tol``.

    fit_status_ : int
        0 if converged, 1 otherwise.

    shape_fit_ : tuple of int
        The shape of the training set.

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.

    See Also
    --------
    SVR : The model for given parameters.
    SVCCV : The classifier.
    sklearn_sl.kernel_ridge.KernelRidgeCV : The same with squared errors, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.svm import SVRCV
    >>> X = np.linspace(0, 3, 60)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> model = SVRCV([1.0, 100.0], kernel_grid={"gamma": [0.1, 1.0]}, epsilon=0.01, cv="loo")
    >>> model.fit(X, y).best_params_
    {'C': 100.0, 'gamma': 1.0}
    >>> bool(model.best_score_ > 0.999)
    True
    """

    _parameter_constraints = {
        **RegressionMixin._parameter_constraints,
        **SearchMixin._parameter_constraints,
    }
    del _parameter_constraints["C"]

    def __init__(
        self,
        Cs=10,
        *,
        kernel="rbf",
        kernel_grid=None,
        degree=3,
        gamma="scale",
        coef0=0.0,
        kernel_params=None,
        cv=None,
        scoring=None,
        epsilon=0.1,
        loss="epsilon_insensitive",
        fit_intercept=True,
        tol=1e-3,
        max_iter=-1,
        shrinking=True,
        cache_size=200,
        n_jobs=None,
        verbose=False,
    ):
        self.Cs = Cs
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cv = cv
        self.scoring = scoring
        self.epsilon = epsilon
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Choose the parameters and fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence
            Training data; a matrix of kernel values if the kernel is
            "precomputed"; strings or sets if the kernel compares these.

        y : array-like of shape (n_samples,)
            Targets.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights, of the fit and of the score.

        Returns
        -------
        self : SVRCV
            The fitted estimator.
        """
        X, y, used, weight, own_weight = self._targets(X, y, sample_weight)
        score_weight = None if own_weight is None else own_weight[used]
        data = Data(X, y, used, y[used], weight[used], score_weight)
        with Progress(self, name="fold", total=None) as progress:
            C, kernel = self._search(data, self._kernel_candidates(X, own_weight), progress)
            problem = self._tube(data.target, C * data.weight)
            gram = self._gram_of(kernel, X, used)
            solution = solve(problem, gram, watch=go_on, **self._solver_options)
        self._expand(X, kernel, used, solution)
        self._certify_one(solution)
        return self

    def _weight_of(self, data, trained):
        return np.where(trained, data.weight, 0.0)

    def _machines(self, data, fold):
        return [lambda C: self._tube(data.target, C * fold.weight)]

    def _known(self, data, fold, values):
        return KnownRegressor(values[:, 0])
