"""Laplacian interpolation: labels that spread along the edges of a graph."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._harmonic import (
    SOLVERS,
    LabelledSamples,
    Problem,
    as_distributions,
    harmonic_values,
    interpolate,
    leave_samples_out,
)
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import (
    GraphClassifierMixin,
    GraphMixin,
    check_target,
    flag_unreached,
)

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

TINY = np.finfo(np.float64).tiny


ALPHA_CONSTRAINT = {"alpha": [Interval(Real, 0, None, closed="left")]}
SOLVER_CONSTRAINTS = {
    "solver": [StrOptions(set(SOLVERS))],
    "tol": [Interval(Real, 0, 1, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}


# ---------------------------------------------------------------- one fit


def solver_options(estimator, watched=True):
    """Return the solver's options; a consensus is only waited for if it is watched."""
    direct = estimator.solver == "consensus" and not watched
    return {
        "solver": "auto" if direct else estimator.solver,
        "tol": estimator.tol,
        "max_iter": estimator.max_iter,
        "rng": check_random_state(estimator.random_state),
    }


def solve_and_keep(estimator, vertices, problem, scale=1.0, shares=False):
    """Return the values of all vertices; set the certificates and what leaving out needs.

    The values are in units of ``scale``.
    """
    curve = []
    with Progress(estimator, name="sweep", total=estimator.max_iter) as progress:

        def watch(energy):
            with progress.step():
                curve.append(energy)
            return progress.stop

        found = harmonic_values(problem, shares, watch=watch, **solver_options(estimator))
        if not curve:
            with progress.step():
                pass
    with np.errstate(over="ignore"):
        unit = np.float64(scale) ** 2
        estimator.energy_ = float(found.energy * unit)
        if found.solver == "consensus":
            estimator.energy_curve_ = np.array(curve) * unit
    estimator.residual_, estimator.error_bound_ = found.residual * scale, found.error_bound * scale
    estimator.solver_, estimator.n_iter_ = found.solver, found.n_iter
    at_samples = found.hitting_time[np.maximum(vertices.vertex, 0)]
    estimator.hitting_time_ = np.where(vertices.vertex >= 0, at_samples, np.nan)
    held = estimator._held = problem.held
    estimator._labels, estimator._label_mass = problem.Y[held], problem.label_mass[held]
    estimator._component = problem.component
    estimator._labelled, estimator._sample_labels = vertices.labelled, vertices.labels
    estimator._left_out_weight = vertices.left_out_weight
    return found.U


def left_out_at_samples(estimator):
    """Return the values that the fitted samples have without their labels; NaN without a label."""
    n, held = estimator.graph_.shape[0], estimator._held
    Y, label_mass = np.zeros((n, estimator._labels.shape[1])), np.zeros(n)
    Y[held], label_mass[held] = estimator._labels, estimator._label_mass
    alpha = estimator.alpha_ if hasattr(estimator, "alpha_") else estimator.alpha
    problem = Problem(estimator.graph_, Y, label_mass, estimator._component, alpha)
    rows = estimator._labelled
    samples = LabelledSamples(
        estimator.vertex_[rows],
        as_values(estimator._sample_labels, Y.shape[1]),
        estimator._left_out_weight,
    )
    options = solver_options(estimator, watched=False)
    left_out = leave_samples_out(problem, interpolate(problem, **options)[0], samples, **options)
    return at_labelled(rows, left_out, len(estimator.vertex_))


def at_labelled(rows, values, n_samples):
    """Return the values of some rows at all samples, NaN elsewhere."""
    at_samples = np.full((n_samples, values.shape[1]), np.nan)
    at_samples[rows] = values
    return at_samples


def as_values(labels, n_values):
    """Return numbers, or classes, given as codes, as indicators."""
    return np.eye(n_values)[labels] if labels.ndim == 1 else labels


class InterpolationClassifierMixin(GraphClassifierMixin):
    """Classes by interpolation of their indicators: what fitting and leaving out share."""

    energy_: float
    energy_curve_: np.ndarray
    residual_: float
    error_bound_: float
    hitting_time_: np.ndarray
    solver_: str
    n_iter_: int

    def _training_problem(self, X, y, sample_weight, alpha, **graph_params):
        """Return the vertices and the problem of the shares of classes at them."""
        vertices, Y, _ = self._training_vertices(X, y, sample_weight, **graph_params)
        return vertices, Problem(vertices.W, Y, vertices.label_mass, vertices.component, alpha)

    def _solve(self, vertices, problem):
        """Set the distributions and the certificates."""
        F = solve_and_keep(self, vertices, problem, shares=True)
        self._set_distributions(vertices, self._with_class_mass(F, vertices, problem))

    def _with_class_mass(self, F, vertices, problem):
        """Return the distributions, scaled to the wanted shares of the classes."""
        if self.class_mass is None:
            return F
        shares = check_shares(self.class_mass, self.prior_)
        free = problem.reached & ~problem.labelled
        present = vertices.mass[free] @ F[free]
        factors = np.divide(shares, present, out=np.zeros_like(shares), where=present > 0)
        scaled = F[free] * factors
        totals = scaled.sum(axis=1, keepdims=True)
        F = F.copy()
        F[free] = np.divide(scaled, totals, out=F[free], where=totals > 0)
        return F

    def leave_one_out(self) -> np.ndarray:
        """Return the distributions that the labelled samples would have without their labels.

        In closed form: the graph is reduced to its labelled vertices, on which leaving out one
        label takes one division. That needs a solve for each label. The labels of other samples
        that are equal stay; a sample of integer weight is so many samples, one of which is left
        out. A vertex of a given graph is left out with its weight.

        Returns
        -------
        distributions : ndarray of shape (n_samples, n_classes)
            Before any class mass normalisation; NaN for samples without a label.
        """
        check_is_fitted(self)
        return as_distributions(left_out_at_samples(self))


@described
class InterpolationRegressorMixin(GraphMixin, MultiOutputMixin):
    """Numbers by interpolation: what fitting and leaving out share."""

    transduction_: Any
    mean_: float | np.ndarray
    component_without_label_: np.ndarray
    energy_: float
    energy_curve_: np.ndarray
    residual_: float
    error_bound_: float
    hitting_time_: np.ndarray
    solver_: str
    n_iter_: int

    def _training_problem(self, X, y, sample_weight, alpha, **graph_params):
        """Return the vertices and the problem of targets measured from their mean, in one unit."""
        check_target(self, y)
        vertices = self._graph_vertices(X, sample_weight, **graph_params)
        y = check_targets(y)
        check_consistent_length(vertices.vertex, y)
        self._ravel, y = y.ndim == 1, y.reshape(len(y), -1)
        given = (vertices.vertex >= 0) & ~np.isnan(y[:, 0])
        if not given.any():
            raise ValueError(
                "y has no targets: all samples of positive weight are NaN. At least one target is "
                "required."
            )
        at, weight = vertices.vertex[given], vertices.weight[given]
        label_mass = np.bincount(at, weights=weight, minlength=vertices.n_vertices)
        scale = max(np.abs(y[given]).max(), TINY)
        shift = weight @ (y[given] / scale) / weight.sum()
        centred = y[given] / scale - shift
        unit = max(np.abs(centred).max(), TINY)
        if not np.isfinite(float(scale) * float(unit)):
            raise ValueError(
                "The differences of the targets overflow: divide y by its largest absolute value."
            )
        Y = np.column_stack(
            [np.bincount(at, weights=weight * c, minlength=vertices.n_vertices) for c in centred.T]
        )
        Y /= unit * np.where(label_mass > 0, label_mass, 1)[:, None]
        vertices.set_labels(label_mass, np.flatnonzero(given), centred / unit)
        self._unit = scale * unit, scale * shift
        return vertices, Problem(vertices.W, Y, vertices.label_mass, vertices.component, alpha)

    def _solve(self, vertices, problem):
        """Set the values and the certificates."""
        scale, shift = self._unit
        U = solve_and_keep(self, vertices, problem, scale)
        self.mean_ = float(shift[0]) if self._ravel else shift
        self._default = shift
        self.component_without_label_ = flag_unreached(vertices)
        self.transduction_ = squeezed(self._keep(vertices, shift + scale * U), self._ravel)

    def predict(self, X: MatrixLike) -> Any:
        """Return the values at samples.

        A sample that equals a training sample has the value of that vertex, any other one the mean
        over its neighbours in the graph, by the weights of its edges. One without a neighbour has
        the mean of the targets.

        Parameters
        ----------
        {queries}

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The values.
        """
        return squeezed(self._values_at(X), self._ravel)

    def leave_one_out(self) -> Any:
        """Return the values that the samples with a target would have without it.

        In closed form: the graph is reduced to its labelled vertices, on which leaving out one
        target takes one division. That needs a solve for each target. The targets of other samples
        that are equal stay; a sample of integer weight is so many samples, one of which is left
        out. A vertex of a given graph is left out with its weight.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_targets)
            NaN for samples without a target.
        """
        check_is_fitted(self)
        scale, shift = self._unit
        return squeezed(shift + scale * left_out_at_samples(self), self._ravel)


@described
class LaplacianInterpolationClassifier(
    EstimatorMixin, InterpolationClassifierMixin, ClassifierMixin, BaseEstimator
):
    """Semi-supervised classification by harmonic functions on a graph.

    With the indicators ``Y`` of the classes at labelled vertices, the distributions ``U`` of all
    vertices minimise the energy ``trace(U'LU) = sum of w_ij |U_i - U_j|^2 over the edges``, where
    ``L`` is the Laplacian of the graph ::

        alpha = 0    subject to  U = Y  at the labelled vertices
        alpha > 0    alpha trace(U'LU) + sum over labelled i of c_i |U_i - Y_i|^2

    With ``alpha = 0`` each vertex without a label is the mean of its neighbours, and ``U_ik`` is
    the probability that a random walk from vertex ``i`` meets its first label in class ``k``. The
    system is solved, sparse and for all classes at once, to a residual that is reported. See the
    :ref:`user guide <graph>`.

    Parameters
    ----------
    alpha : float, default=0.0
        How little the labels are trusted; 0 keeps them.

    {affinity}

    {knn_parameters}

    class_mass : {None, "prior"} or array-like of shape (n_classes,), default=None
        The shares of the classes among the samples without a label. If they are given, or "prior",
        the shares among the labels, the distributions of these samples are scaled class by class
        such that they have these shares on average, before their rows are made to add up to one
        (class mass normalisation [1]_).

    solver : {"auto", "cg", "lu", "amg", "consensus"}, default="auto"
        Conjugate gradients preconditioned by both triangles of the matrix, a sparse
        factorisation, conjugate gradients preconditioned by algebraic multigrid (needs pyamg), or
        the slow but local rule that a vertex chosen at random takes the mean of its neighbours.
        "auto" is "lu" for small systems, and for those on which "cg" is slow and the factor takes
        no more work than some hundred iterations, such as trees; for all others "cg".

    tol : float, default=1e-6
        The relative residual at which iterations end; for "consensus" the largest change in a
        sweep.

    max_iter : int, default=10000
        The most iterations, or sweeps of "consensus".

    {unlabelled}

    {consensus_seed}

    Attributes
    ----------
    {class_results}

    energy_ : float
        The energy of the solution, before any class mass normalisation.

    energy_curve_ : ndarray of shape (`n_iter_`,)
        The energy after each sweep, for "consensus" only. It never increases.

    residual_ : float
        The largest difference between a vertex and what its neighbours and its label make of it.

    error_bound_ : float
        A number that no entry of the solution is wrong by more than: ``residual_``, and what it
        may be off by rounding, times the longest hitting time.

    hitting_time_ : ndarray of shape (n_samples,)
        How many steps a random walk from each sample takes on average until it meets a label, from
        above: the true number is at most that, and hardly less, unless it is infinite because
        numbers do not tell. Zero at kept labels, NaN for samples of weight zero.

    solver_ : str
        The solver in use.

    n_iter_ : int
        The number of iterations.

    {features_seen}

    See Also
    --------
    LaplacianInterpolationClassifierCV : Chooses the graph and ``alpha`` by leave-one-out.
    LabelPropagation : The same on scikit-learn's graphs, with scikit-learn's parameters.

    References
    ----------
    .. [1] X. Zhu, Z. Ghahramani and J. Lafferty, "Semi-supervised learning using Gaussian fields
       and harmonic functions", ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_sl.graph import LaplacianInterpolationClassifier
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> few = np.full(200, -1)
    >>> few[[0, 1]] = y[[0, 1]]  # one label of each moon
    >>> model = LaplacianInterpolationClassifier().fit(X, few)
    >>> float((model.transduction_ == y).mean())
    1.0
    """

    _compare_grid = {"n_neighbors": [5, 10, 20]}
    _parameter_constraints = {
        **ALPHA_CONSTRAINT,
        **GraphClassifierMixin._graph_constraints,
        **SOLVER_CONSTRAINTS,
        "class_mass": [StrOptions({"prior"}), "array-like", None],
    }

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        class_mass: Any = None,
        solver: Literal["auto", "cg", "lu", "amg", "consensus"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        unlabelled: Any = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.class_mass = class_mass
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.unlabelled = unlabelled
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Spread the labels.

        Parameters
        ----------
        {labelled_samples}

        {sample_weight}

        Returns
        -------
        self : LaplacianInterpolationClassifier
            The fitted estimator.
        """
        vertices, problem = self._training_problem(X, y, sample_weight, self.alpha)
        self._solve(vertices, problem)
        return self


@described
class LaplacianInterpolationRegressor(
    EstimatorMixin, InterpolationRegressorMixin, RegressorMixin, BaseEstimator
):
    """Semi-supervised regression by harmonic functions on a graph.

    With the targets ``y`` at labelled vertices, the values ``u`` of all vertices minimise the
    energy ``u'Lu = sum of w_ij (u_i - u_j)^2 over the edges``, where ``L`` is the Laplacian of the
    graph ::

        alpha = 0    subject to  u = y  at the labelled vertices
        alpha > 0    alpha u'Lu + sum over labelled i of c_i (u_i - y_i)^2

    With ``alpha = 0`` each vertex without a target is the mean of its neighbours: the voltage of a
    network of resistors. See the :ref:`user guide <graph>`.

    Parameters
    ----------
    alpha : float, default=0.0
        How little the targets are trusted; 0 keeps them.

    {affinity}

    {knn_parameters}

    solver : {"auto", "cg", "lu", "amg", "consensus"}, default="auto"
        How the system is solved; see :class:`LaplacianInterpolationClassifier`.

    tol : float, default=1e-6
        The relative residual at which iterations end; for "consensus" the largest change in a
        sweep, in units of the range of the targets.

    max_iter : int, default=10000
        The most iterations, or sweeps of "consensus".

    {consensus_seed}

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        The value of each training sample.

    graph_ : csr_array of shape (n_vertices, n_vertices)
        The graph. Its vertices are the distinct samples of non-zero weight, in an order of their
        own: ``graph_[vertex_][:, vertex_]`` is in the order of the samples, if all have weights.

    vertex_ : ndarray of shape (n_samples,)
        The vertex of each training sample, -1 for samples of weight zero.

    mean_ : float or ndarray of shape (n_targets,)
        The mean of the targets.

    component_without_label_ : ndarray of shape (n_samples,)
        Whether a sample is in a connected component without a target; these have the value
        ``mean_``.

    energy_ : float
        The energy of the solution, summed over the targets.

    energy_curve_ : ndarray of shape (`n_iter_`,)
        The energy after each sweep, for "consensus" only. It never increases.

    residual_ : float
        The largest difference between a vertex and what its neighbours and its target make of it.

    error_bound_ : float
        A number that no value of the solution is wrong by more than.

    hitting_time_ : ndarray of shape (n_samples,)
        How many steps a random walk from each sample takes on average until it meets a target, from
        above: the true number is at most that, and hardly less, unless it is infinite because
        numbers do not tell. Zero at kept targets, NaN for samples of weight zero.

    solver_ : str
        The solver in use.

    n_iter_ : int
        The number of iterations.

    {features_seen}

    See Also
    --------
    LaplacianInterpolationRegressorCV : Chooses the graph and ``alpha`` by leave-one-out.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sl.graph import LaplacianInterpolationRegressor, graph_from_edges
    >>> path = graph_from_edges([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    >>> model = LaplacianInterpolationRegressor(affinity="precomputed")
    >>> model.fit(path, [0, np.nan, np.nan, np.nan, np.nan, 1]).transduction_
    array([0. , 0.2, 0.4, 0.6, 0.8, 1. ])
    """

    _compare_grid = {"n_neighbors": [5, 10, 20]}
    _parameter_constraints = {
        **ALPHA_CONSTRAINT,
        **GraphMixin._graph_constraints,
        **SOLVER_CONSTRAINTS,
    }

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        solver: Literal["auto", "cg", "lu", "amg", "consensus"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Spread the targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples, with and without targets; a symmetric matrix of edge weights, of shape
            (n_samples, n_samples), if the affinity is "precomputed".

        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets; NaN, in all columns, marks samples without.

        {sample_weight}

        Returns
        -------
        self : LaplacianInterpolationRegressor
            The fitted estimator.
        """
        vertices, problem = self._training_problem(X, y, sample_weight, self.alpha)
        self._solve(vertices, problem)
        return self


# ---------------------------------------------------------------- functions


def check_targets(y):
    """Return targets as floats in which a row is a number or NaN throughout."""
    y = check_array(
        y, ensure_2d=False, dtype=np.float64, ensure_all_finite="allow-nan", input_name="y"
    )
    missing = np.isnan(y)
    if y.ndim > 1 and np.any(missing.any(axis=1) != missing.all(axis=1)):
        raise ValueError(
            "y has samples with only some of their targets. NaN in y marks samples without any "
            "target: fit one model for each target."
        )
    return y


def check_shares(class_mass, prior):
    """Return the wanted shares of the classes, which add up to one."""
    if isinstance(class_mass, str):
        return prior
    shares = check_array(class_mass, ensure_2d=False, dtype=np.float64, input_name="class_mass")
    if shares.shape != prior.shape or shares.min() < 0 or not shares.sum() > 0:
        raise ValueError(
            f"class_mass must be {len(prior)} non-negative numbers, one for each class, with a "
            f"positive sum; got {class_mass!r}."
        )
    return shares / shares.sum()


def squeezed(values, ravel):
    """Return a column as a vector if the targets were a vector."""
    return values[:, 0] if ravel else values
