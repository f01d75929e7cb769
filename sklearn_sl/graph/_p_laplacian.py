"""Labels that minimise a p-seminorm on a graph, between minimum cuts and shortest paths."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._laplacians._adjacency import as_graph
from sklearn_sl._sklearn import Interval, Progress, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._p_harmonic import p_harmonic, p_mean
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._resistance import check_pairs
from sklearn_sl.graph._vertices import GraphClassifierMixin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike


@described
def p_resistance(
    graph: SparseLike | ArrayLike,
    p: float,
    pairs: ArrayLike,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
) -> np.ndarray:
    """Return the p-resistance between vertices.

    With the energy ``P_p(u) = sum of w_ij |u_i - u_j|^p`` over the edges it is ::

        r_p(a, b) = 1 / min {P_p(u) : u_a = 1, u_b = 0}

    For ``p = 2`` that is the effective resistance, for ``p -> 1`` one over the minimum cut between
    ``a`` and ``b``. With ``1 / w`` as the resistance of an edge, resistances ``r_i`` in series make
    ``(sum r_i^(1 / (p - 1)))^(p - 1)``, parallel ones make ``1 / sum(1 / r_i)`` for every ``p``,
    and ``r_p^(1 / (p - 1))`` satisfies the triangle inequality [1]_.

    Parameters
    ----------
    {graph}

    p : float
        The exponent, above 1.

    pairs : array-like of shape (n_pairs, 2)
        The pairs of vertices. Each of them is a problem of its own.

    tol : float, default=1e-6
        The relative error at most, by a duality gap.

    max_iter : int, default=200
        The largest number of linear systems for a pair; a warning tells if they were not enough.

    Returns
    -------
    resistance : ndarray of shape (n_pairs,)
        The resistances; infinite between two components, and where they exceed the largest number.

    See Also
    --------
    effective_resistance : The resistance for ``p = 2``, for many pairs at once.
    minimum_cut : The limit for ``p -> 1``.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, p_resistance
    >>> path = graph_from_edges([[0, 1], [1, 2], [2, 3]])
    >>> p_resistance(path, 3, [[0, 1], [0, 3]])
    array([1., 9.])
    """
    W = as_graph(graph)
    if not isinstance(p, Real) or not 1 < p < np.inf:
        raise ValueError(f"p must be a finite number > 1; got {p!r}.")
    if not isinstance(tol, Real) or not tol > 0:
        raise ValueError(f"tol must be a number > 0; got {tol!r}.")
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter must be an integer >= 1; got {max_iter!r}.")
    pairs = check_pairs(pairs, W.shape[0]).T
    return np.array([_p_resistance(W, p, a, b, tol, max_iter) for a, b in pairs])


def _p_resistance(W, p, a, b, tol, max_iter):
    if a == b:
        return 0.0
    labelled = np.zeros(W.shape[0], dtype=bool)
    labelled[[a, b]] = True
    values = np.zeros(W.shape[0])
    values[a] = 1.0
    solution = p_harmonic(W, values, labelled, p, tol=tol, max_iter=max_iter)
    solution.warn_unless(tol)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.exp(-solution.log_energy))


@described
class PLaplacianClassifier(EstimatorMixin, GraphClassifierMixin, ClassifierMixin, BaseEstimator):
    """Semi-supervised classification by minimum p-seminorm interpolation on a graph.

    For two classes the indicator ``u`` of the second one is extended from the labelled vertices to
    all others by ::

        u = argmin P_p(u),    P_p(u) = sum of w_ij |u_i - u_j|^p over the edges,

    subject to ``u = y`` at the labels. At every other vertex the currents
    ``w_ij |u_i - u_j|^(p - 1) sign(u_i - u_j)`` then add up to zero. For ``p = 2`` that is
    :class:`LaplacianInterpolationClassifier`. As ``p`` falls to 1, the values become those of a
    minimum cut (:class:`MinCutClassifier`): the structure of clusters counts, and few edges carry
    all the change. As ``p`` grows, the largest differences count: ``u`` changes as evenly as it can
    along the shortest ways between labels, and the boundary is half way.

    **Several classes.** One problem for each class against all others; the distributions are these
    solutions, divided by their sum. For ``p = 2`` the sum is one already.

    **Algorithm.** Newton's method with line search, on the differences for ``p >= 2`` and on the
    flow of the dual problem for ``p < 2``, while the exponent grows from 2 to what is asked for.
    Each step is a sparse linear system, solved by an elimination without subtraction, whose
    accuracy does not depend on how much the conductances differ, or, where that has much fill, by
    conjugate gradients that a sampled elimination preconditions [3]_. Each flow bounds the minimum
    from below, see ``duality_gap_``.

    **New samples** take the p-mean of their neighbours, the value that adds the least energy to the
    graph: ``argmin_t sum_j w_j |t - u_j|^p``.

    See the :ref:`user guide <graph>`.

    Parameters
    ----------
    p : float, default=2.0
        The exponent, above 1. From 1.01 to 100 the solutions are accurate; beyond, differences
        vanish in rounding errors.

    {affinity}

    {knn_parameters}

    tol : float, default=1e-6
        A fit ends when the duality gap is at most this part of the energy, and the last step moved
        no value by more than its square root.

    max_iter : int, default=200
        The largest number of linear systems for a class.

    {unlabelled}

    Attributes
    ----------
    {class_results}

    energy_ : float
        ``P_p`` of the solution, or its sum over the classes if there are more than two.

    duality_gap_ : float
        The least energy is not below ``energy_ - duality_gap_``. For any flow ``f`` that vertices
        without a label neither gain nor lose from, and ``q = p / (p - 1)``, the energy is at least
        ``(sum f_e (u_i - u_j))^p / (sum w_e |f_e / w_e|^q)^(p - 1)``, and the first sum depends on
        the labels alone.

    n_iter_ : int
        The number of linear systems that were solved, for all classes.

    {features_seen}

    See Also
    --------
    LaplacianInterpolationClassifier : The same for ``p = 2``, for large graphs.
    MinCutClassifier : The limit for ``p -> 1``.
    p_resistance : One over the least energy between two vertices.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    .. [2] M. Flores, J. Calder and G. Lerman, "Analysis and algorithms for lp-based
       semi-supervised learning on graphs", Applied and Computational Harmonic Analysis 60, 2022.

    .. [3] R. Kyng and S. Sachdeva, "Approximate Gaussian elimination for Laplacians: fast, sparse,
       and simple", FOCS 2016.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_sl.graph import PLaplacianClassifier
    >>> X, moon = make_moons(200, noise=0.05, random_state=0)
    >>> y = moon.copy()
    >>> y[4:] = -1
    >>> model = PLaplacianClassifier(p=1.5).fit(X, y)
    >>> model.duality_gap_ <= 1e-6 * model.energy_
    True
    >>> float((model.transduction_ == moon).mean())
    1.0
    """

    energy_: float
    duality_gap_: float
    n_iter_: int

    _parameter_constraints = {
        **GraphClassifierMixin._graph_constraints,
        "p": [Interval(Real, 1, np.inf, closed="neither")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    # With all labels given, there is nothing to spread.
    _compare_grid = None

    def __init__(
        self,
        p: float = 2.0,
        *,
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        tol: float = 1e-6,
        max_iter: int = 200,
        unlabelled: Any = "auto",
    ) -> None:
        self.p = p
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.tol = tol
        self.max_iter = max_iter
        self.unlabelled = unlabelled

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Extend the labels to the samples without one.

        Parameters
        ----------
        {labelled_samples}

        {sample_weight}

        Returns
        -------
        self : PLaplacianClassifier
            The fitted estimator.
        """
        vertices, Y, labelled = self._training_vertices(X, y, sample_weight)
        solutions = self._solve(vertices.W, Y[:, 1:] if Y.shape[1] <= 2 else Y, labelled)
        F = _distributions([solution.u for solution in solutions], Y)
        F[~vertices.reached] = self.prior_
        with np.errstate(over="ignore", under="ignore"):
            energies = np.exp([solution.log_energy for solution in solutions])
        self.energy_ = float(np.sum(energies))
        self.duality_gap_ = float(energies @ [solution.relative_gap for solution in solutions])
        self.n_iter_ = max(1, sum(solution.n_iter for solution in solutions))
        self._set_distributions(vertices, F)
        return self

    def _solve(self, W, Y, labelled):
        """Return the solution for each column of labels."""
        solutions = []
        with Progress(self, name="class", total=Y.shape[1]) as progress:
            for values in Y.T:
                with progress.step():
                    solution = p_harmonic(
                        W, values, labelled, self.p, tol=self.tol, max_iter=self.max_iter
                    )
                    solution.warn_unless(self.tol)
                    solutions.append(solution)
        return solutions

    def _extend(self, weights, values):
        if values.shape[1] == 1:
            return np.ones((weights.shape[0], 1))
        columns = values.T[1:] if values.shape[1] == 2 else values.T
        return _distributions([p_mean(weights, column, self.p) for column in columns], values)


def _distributions(columns, like):
    """Return rows that add up to one: from the second of two classes, or by division."""
    if like.shape[1] == 1:
        return np.ones_like(like)
    if like.shape[1] == 2:
        return np.column_stack([1 - columns[0], columns[0]])
    F = np.column_stack(columns)
    total = F.sum(axis=1, keepdims=True)
    # Where no class has a share at all, none is better than another.
    return np.where(total > 0, F / np.where(total > 0, total, 1.0), 1 / F.shape[1])
