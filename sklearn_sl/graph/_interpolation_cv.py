"""Laplacian interpolation that chooses its graph by leaving out labels, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import ParameterGrid

from sklearn_sl._sklearn import StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._build import GraphBuilder
from sklearn_sl.graph._harmonic import (
    LabelledSamples,
    Problem,
    as_distributions,
    interpolate,
    leave_samples_out,
)
from sklearn_sl.graph._interpolation import (
    SOLVER_CONSTRAINTS,
    InterpolationClassifierMixin,
    InterpolationRegressorMixin,
    as_values,
    at_labelled,
    solver_options,
    squeezed,
)
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import GraphClassifierMixin, GraphMixin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# No score of probabilities is worse than that of this one.
LEAST = 1e-15
# What is searched by default.
AUTOMATIC = {"n_neighbors": [5, 10, 20]}


SEARCH_CONSTRAINTS = {
    "alphas": ["array-like"],
    "graph_grid": [dict, list, StrOptions({"auto"}), None],
    **SOLVER_CONSTRAINTS,
}


@dataclass
class GraphCandidate:
    """A graph and an alpha, with what they say of labels that they have not seen."""

    params: dict
    alpha: float
    vertices: Any
    problem: Problem
    left_out: np.ndarray
    score: float


def search(estimator, X, y, sample_weight, score_of):
    """Fit the best candidate and return its left-out values at the samples.

    The hooks ``_training_problem`` and ``_solve`` of the estimator make a problem and set what
    follows from its solution. ``score_of(left_out, labels, mass)`` is to be large.
    """
    grid, alphas = check_grid(estimator), check_alphas(estimator.alphas)
    table, best = [], None
    for params in grid:
        found = estimator._training_problem(X, y, sample_weight, alphas[0], **params)
        for alpha in alphas:
            # The same graph, and the other objective.
            candidate = judge(estimator, params, alpha, *found, score_of)
            table.append(candidate)
            if best is None or candidate.score > best.score:
                best = candidate
    estimator.cv_results_ = {
        "params": [{**row.params, "alpha": row.alpha} for row in table],
        "score": np.array([row.score for row in table]),
    }
    estimator.best_params_, estimator.best_score_ = best.params, best.score
    estimator.alpha_ = best.alpha
    estimator._solve(best.vertices, best.problem)
    return at_labelled(best.vertices.labelled, best.left_out, len(best.vertices.vertex))


def judge(estimator, params, alpha, vertices, problem, score_of):
    """Return the candidate of one graph and one alpha."""
    problem = problem.with_alpha(alpha)
    options, rows = solver_options(estimator, watched=False), vertices.labelled
    labels = as_values(vertices.labels, problem.Y.shape[1])
    samples = LabelledSamples(vertices.vertex[rows], labels, vertices.left_out_weight)
    U, _ = interpolate(problem, **options)
    left_out = leave_samples_out(problem, U, samples, **options)
    score = score_of(left_out, labels, vertices.weight[rows])
    return GraphCandidate(params, alpha, vertices, problem, left_out, score)


def check_grid(estimator):
    """Return the parameters of all graphs of ``graph_grid``, dicts."""
    grid = estimator.graph_grid
    if isinstance(grid, str):
        plain = isinstance(estimator.affinity, str) and not estimator._precomputed
        grid = AUTOMATIC if plain else None
    if grid is None:
        return [{}]
    if estimator._precomputed:
        raise ValueError("graph_grid must be None if affinity='precomputed'.")
    known = GraphBuilder().get_params().keys()
    points = list(ParameterGrid(grid))
    unknown = sorted({name for point in points for name in point} - known)
    if unknown:
        raise ValueError(
            f"graph_grid has unknown parameters: {', '.join(unknown)}. Valid are those of "
            f"GraphBuilder: {', '.join(sorted(known))}."
        )
    if not points:
        raise ValueError("graph_grid must have at least one candidate.")
    return points


def check_alphas(alphas):
    """Return the candidates for ``alpha`` as a list of numbers."""
    values = np.asarray(alphas, dtype=np.float64).ravel()
    if not len(values) or not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError(f"alphas must be finite numbers >= 0; got {alphas!r}.")
    return values.tolist()


@described
class LaplacianInterpolationClassifierCV(
    EstimatorMixin,
    InterpolationClassifierMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Classification by harmonic functions, with the graph chosen by leave-one-out.

    For each graph of ``graph_grid`` and each of ``alphas`` the distribution that every labelled
    vertex would have without its label is known in closed form, at the price of one solve for each
    label. The best candidate is kept: :class:`LaplacianInterpolationClassifier` with these
    parameters. See the :ref:`user guide <graph>`.

    Parameters
    ----------
    {candidates}

    {knn_parameters}

    scoring : {"neg_brier_score", "accuracy", "neg_log_loss"}, default="neg_brier_score"
        What is to be large: minus the mean squared distance of left-out distributions from the
        labels, the share of labels that are found, or the mean logarithm of their probabilities.
        Of equally good candidates the first one is taken.

    class_mass : {None, "prior"} or array-like of shape (n_classes,), default=None
        The shares of the classes among the samples without a label; see
        :class:`LaplacianInterpolationClassifier`. It plays no part in the choice.

    {several_solves}

    {unlabelled}

    {consensus_seed}

    Attributes
    ----------
    {choice}

    loo_distributions_ : ndarray of shape (n_samples, n_classes)
        The distributions that labelled samples have without their labels; NaN for others.

    {class_results}

    energy_, residual_, error_bound_ : float
        Certificates, as in :class:`LaplacianInterpolationClassifier`.

    energy_curve_ : ndarray of shape (`n_iter_`,)
        The energy after each sweep, for "consensus" only.

    hitting_time_ : ndarray of shape (n_samples,)
        How long random walks take to a label, as in :class:`LaplacianInterpolationClassifier`.

    solver_ : str
        The solver in use.

    n_iter_ : int
        The number of iterations of the last solve.

    {features_seen}

    See Also
    --------
    LaplacianInterpolationClassifier : The model for given parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_sl.graph import GraphBuilder, LaplacianInterpolationClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) < 100, y, -1)
    >>> model = LaplacianInterpolationClassifierCV(
    ...     graph_grid={"n_neighbors": [5, 10, 20]}, affinity=GraphBuilder(("knn", "mst"))
    ... )
    >>> model.fit(X, few).best_params_
    {'n_neighbors': 5}
    >>> round(float((model.transduction_ == y).mean()), 2)
    0.94
    """

    alpha_: float
    best_params_: dict[Any, Any]
    best_score_: float
    cv_results_: dict[Any, Any]
    loo_distributions_: np.ndarray

    _parameter_constraints = {
        **SEARCH_CONSTRAINTS,
        **GraphClassifierMixin._graph_constraints,
        "scoring": [StrOptions({"neg_brier_score", "accuracy", "neg_log_loss"})],
        "class_mass": [StrOptions({"prior"}), "array-like", None],
    }
    _compare_grid = {"graph_grid": [AUTOMATIC]}

    def __init__(
        self,
        alphas: ArrayLike = (0.0,),
        *,
        graph_grid: dict[Any, Any] | list[Any] | Literal["auto"] | None = "auto",
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        scoring: Literal["neg_brier_score", "accuracy", "neg_log_loss"] = "neg_brier_score",
        class_mass: Any = None,
        solver: Literal["auto", "cg", "lu", "amg", "consensus"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        unlabelled: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alphas = alphas
        self.graph_grid = graph_grid
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.scoring = scoring
        self.class_mass = class_mass
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.unlabelled = unlabelled
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the graph and spread the labels.

        Parameters
        ----------
        {labelled_samples}

        sample_weight : array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated samples, a weight of zero the same
            as a removed sample. A vertex of a given graph is left out with its whole weight, not
            one repetition at a time.

        Returns
        -------
        self : LaplacianInterpolationClassifierCV
            The fitted estimator.
        """
        left_out = search(self, X, y, sample_weight, self._score_of)
        self.loo_distributions_ = as_distributions(left_out)
        return self

    def _score_of(self, left_out, Y, mass):
        left_out = as_distributions(left_out)
        if self.scoring == "accuracy":
            rewards = Y[np.arange(len(Y)), left_out.argmax(axis=1)]
        elif self.scoring == "neg_log_loss":
            rewards = np.einsum("ij,ij->i", Y, np.log(np.maximum(left_out, LEAST)))
        else:
            rewards = -np.sum((left_out - Y) ** 2, axis=1)
        return float(mass @ rewards / mass.sum())


@described
class LaplacianInterpolationRegressorCV(
    EstimatorMixin,
    InterpolationRegressorMixin,
    RegressorMixin,
    BaseEstimator,
):
    """Regression by harmonic functions, with the graph chosen by leave-one-out.

    For each graph of ``graph_grid`` and each of ``alphas`` the value that every vertex with a
    target would have without it is known in closed form, at the price of one solve for each
    target. The best candidate is kept: :class:`LaplacianInterpolationRegressor` with these
    parameters. See the :ref:`user guide <graph>`.

    Parameters
    ----------
    {candidates}

    {knn_parameters}

    scoring : {"neg_mean_squared_error", "neg_mean_absolute_error"}, \
            default="neg_mean_squared_error"
        What is to be large. Of equally good candidates the first one is taken.

    {several_solves}

    {consensus_seed}

    Attributes
    ----------
    {choice}

    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The values that samples with a target have without it; NaN for others.

    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The value of each training sample.

    graph_ : csr_array of shape (n_vertices, n_vertices)
        The chosen graph.

    vertex_ : ndarray of shape (n_samples,)
        The vertex of each training sample, -1 for samples of weight zero.

    mean_ : float or ndarray of shape (n_targets,)
        The mean of the targets.

    component_without_label_ : ndarray of shape (n_samples,)
        Whether a sample is in a connected component without a target.

    energy_, residual_, error_bound_ : float
        Certificates, as in :class:`LaplacianInterpolationRegressor`.

    energy_curve_ : ndarray of shape (`n_iter_`,)
        The energy after each sweep, for "consensus" only.

    hitting_time_ : ndarray of shape (n_samples,)
        How long random walks take to a target, as in :class:`LaplacianInterpolationRegressor`.

    solver_ : str
        The solver in use.

    n_iter_ : int
        The number of iterations of the last solve.

    {features_seen}

    See Also
    --------
    LaplacianInterpolationRegressor : The model for given parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.graph import LaplacianInterpolationRegressorCV
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.where(np.arange(200) % 10 == 0, np.sin(6 * X[:, 0]), np.nan)
    >>> grid = {"n_neighbors": [2, 10, 50]}
    >>> LaplacianInterpolationRegressorCV(graph_grid=grid).fit(X, y).best_params_
    {'n_neighbors': 2}
    """

    alpha_: float
    best_params_: dict[Any, Any]
    best_score_: float
    cv_results_: dict[Any, Any]
    loo_predictions_: Any

    _parameter_constraints = {
        **SEARCH_CONSTRAINTS,
        **GraphMixin._graph_constraints,
        "scoring": [StrOptions({"neg_mean_squared_error", "neg_mean_absolute_error"})],
    }
    _compare_grid = {"graph_grid": [AUTOMATIC]}

    def __init__(
        self,
        alphas: ArrayLike = (0.0,),
        *,
        graph_grid: dict[Any, Any] | list[Any] | Literal["auto"] | None = "auto",
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        scoring: Literal[
            "neg_mean_squared_error", "neg_mean_absolute_error"
        ] = "neg_mean_squared_error",
        solver: Literal["auto", "cg", "lu", "amg", "consensus"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alphas = alphas
        self.graph_grid = graph_grid
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the graph and spread the targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, with and without targets; a symmetric matrix of edge weights, of shape
            (n_samples, n_samples), if the affinity is "precomputed".

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets; NaN, in all columns, marks samples without.

        sample_weight : array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated samples, a weight of zero the same
            as a removed sample. A vertex of a given graph is left out with its whole weight, not
            one repetition at a time.

        Returns
        -------
        self : LaplacianInterpolationRegressorCV
            The fitted estimator.
        """
        left_out = search(self, X, y, sample_weight, self._score_of)
        scale, shift = self._unit
        self.loo_predictions_ = squeezed(shift + scale * left_out, self._ravel)
        return self

    def _score_of(self, left_out, Y, mass):
        errors = np.abs(left_out - Y) * self._unit[0]
        with np.errstate(over="ignore"):
            losses = errors if self.scoring == "neg_mean_absolute_error" else errors**2
        return -float(mass @ losses.mean(axis=1) / mass.sum())
