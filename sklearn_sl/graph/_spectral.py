"""Two clusters of a graph by the second eigenvector of its Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse import linalg as sparse_linalg
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from sklearn_sl._laplacians._adjacency import degrees, edge_list, find_components
from sklearn_sl._laplacians._factor import Factor, Pattern
from sklearn_sl._laplacians._inverse import thin
from sklearn_sl._sklearn import Interval, Progress, StrOptions, fit_context
from sklearn_sl._threads import one_blas_thread
from sklearn_sl._warnings import warn
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import GraphMixin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Up to this order all eigenvectors are found at once; up to the smaller one by any solver.
DENSE, SMALL = 500, 20
# How often an iteration with the Laplacian itself begins again before one with its inverse.
RESTARTS = 60
# The relative residual of the inner solves, and the tolerance of the outer iteration.
INNER, OUTER = 1e-10, 1e-10
# An edge of this part of the degrees of both ends, or less, is lost in rounding.
WEAK = 4 * np.finfo(np.float64).eps
# What is left of a vector along the null space, relative to it.
ROUNDING = 1e-12
# Entries of the eigenvector that differ by this part of the largest one count as equal.
TIE = 1e-8
# A gap in the middle leaves at least this part of the vertices on each side.
CENTRAL = 0.25


# The second eigenvector ------------------------------------------------------------


@dataclass
class Eigenpair:
    """The second eigenpair of ``L u = lambda diag(size) u``, with ``u' diag(size) u = 1``."""

    value: float
    vector: np.ndarray
    residual: float
    n_iter: int


def second_eigenpair(W, size, solver, max_iter, progress):
    """Return the second :class:`Eigenpair` of the Laplacian of a graph, relative to sizes.

    With ``v = sqrt(size) u`` it is the smallest eigenpair of ``A = S^-1/2 L S^-1/2`` that is
    orthogonal to ``z = sqrt(size)``. If the graph is not connected, the eigenvalue is zero, and the
    vector has one value on each of two sets of components.

    Parameters
    ----------
    W : csr_array of shape (n_vertices, n_vertices)
        The adjacency.

    size : ndarray of shape (n_vertices,)
        The sizes of the vertices, positive.

    solver : {"auto", "dense", "lu", "lanczos"}
        How to find it.

    max_iter : int
        The most steps of "lanczos".

    progress : Progress
        Is told of the steps.
    """
    if len(size) == 1:
        return Eigenpair(0.0, np.zeros(1), 0.0, 1)
    component = strong_components(W)
    if component.max() > 0:
        u = two_valued(lighter_sides(component, size), size)
        n_iter = 1
    else:
        z = np.sqrt(size)
        unit = W.data.max()
        A = scaled_laplacian(W / unit, z)
        v, n_iter = _smallest(A, z / linalg.norm(z), solver, max_iter, progress)
        u = v / z
    value, residual = rayleigh(W, size, u)
    return Eigenpair(value, canonical_sign(u), residual, n_iter)


def scaled_laplacian(W, z):
    """Return ``Z^-1 L Z^-1`` for ``Z = diag(z)``."""
    inverse = sp.diags_array(1 / z)
    return sp.csr_array(sp.diags_array(degrees(W) / z**2) - inverse @ W @ inverse)


def rayleigh(W, size, u):
    """Return ``u'Lu / u'Su`` and the residual ``|Lu - lambda S u|``, relative to the norm.

    Both are in the coordinates ``S^1/2 u``.
    """
    d = degrees(W)
    rows, cols, weights = edge_list(W)
    value = float(weights @ (u[rows] - u[cols]) ** 2 / (size @ u**2))
    difference = (d * u - W @ u - value * size * u) / np.sqrt(size)
    norm = 2 * np.max(d / size) * np.sqrt(size @ u**2)
    return value, float(linalg.norm(difference) / norm) if norm else 0.0


def _smallest(A, z, solver, max_iter, progress):
    """Return the eigenvector of ``A`` of the smallest eigenvalue orthogonal to ``z``, and steps."""
    n = A.shape[0]
    if solver == "dense" or n <= (DENSE if solver == "auto" else SMALL):
        # Deflation: what lies along z is lifted above all other eigenvalues.
        lifted = A.toarray() + 3 * A.diagonal().max() * np.outer(z, z)
        _, V = linalg.eigh(lifted, subset_by_index=[0, 0])
        return V[:, 0] - z * (z @ V[:, 0]), 1
    # Any start will do that is not orthogonal to the eigenvector; the same in each run.
    v, n_iter = np.cos(2.4 * np.arange(n)), 0
    for operator, options in _operators(A, z, solver, max_iter, progress):
        operator.n_iter = n_iter
        v, done = operator.largest(v, options)
        n_iter = operator.n_iter
        if done:
            break
    return v, max(n_iter, 1)


def _operators(A, z, solver, max_iter, progress):
    """Return the operators to iterate with, each until it fails, and the options of ``eigsh``."""
    if solver in ("auto", "lu"):
        try:
            return [(_Factored(A, z, progress, only_if_thin=solver == "auto"), {"ncv": 12})]
        except (ValueError, MemoryError):  # too large, or too ill-conditioned
            if solver == "lu":
                raise
    return [
        (_Reflected(A, z, progress, max_iter), {"ncv": 40, "maxiter": RESTARTS}),
        (_ConjugateGradients(A, z, progress, max_iter), {"ncv": 12}),
    ]


class _OutOfSteps(Exception):
    """The budget of steps is spent."""


class _Operator:
    """A function of ``A`` whose largest eigenvector, orthogonal to ``z``, is the one we look for.

    ``apply`` raises :class:`_OutOfSteps` in the end; ``latest`` is the best vector so far.
    """

    def __init__(self, A, z, progress, max_iter=np.inf):
        self.A, self.z, self.progress, self.max_iter = A, z, progress, max_iter
        self.n_iter = 0

    def project(self, x):
        return x - self.z * (self.z @ x)

    def largest(self, start, options):
        """Return the eigenvector, or the best so far, and whether to be content with it."""
        self.latest = start = self.project(start)
        operator = sparse_linalg.LinearOperator(self.A.shape, self._step, dtype=np.float64)
        done = True
        try:
            options = {"v0": start, "tol": OUTER, **options}
            # Several threads of BLAS gain little on a few long vectors, and on a busy machine they
            # wait for one another; ARPACK lets no other thread of Python run meanwhile.
            with one_blas_thread():
                self.latest = sparse_linalg.eigsh(operator, k=1, which="LA", **options)[1][:, 0]
        except sparse_linalg.ArpackNoConvergence:
            done = False
        except _OutOfSteps:
            pass
        v = self.project(self.latest)
        return v / linalg.norm(v), done

    def _step(self, x):
        x = np.ravel(x)
        b = self.project(x)
        if linalg.norm(b) <= ROUNDING * linalg.norm(x):
            return np.zeros_like(b)
        if self.progress.stop or self.n_iter >= self.max_iter:
            raise _OutOfSteps
        with self.progress.step():
            return self.project(self.apply(b))


class _Reflected(_Operator):
    """The matrix itself, from its largest eigenvalue down: fast if the second one is not small."""

    def __init__(self, A, z, progress, max_iter):
        super().__init__(A, z, progress, max_iter)
        self.top = 2 * A.diagonal().max()

    def apply(self, x):
        self.n_iter += 1
        return self.top * x - self.A @ x


class _Factored(_Operator):
    """The inverse by a sparse Cholesky factor, one vertex grounded."""

    def __init__(self, A, z, progress, only_if_thin):
        super().__init__(A, z, progress)
        self.free = np.delete(np.arange(A.shape[0]), A.diagonal().argmax())
        A = sp.csr_array(A[self.free][:, self.free])
        self.factor = Factor(A, Pattern(A, thin(A) if only_if_thin else None))

    def apply(self, x):
        self.n_iter += 1
        self.latest = np.zeros_like(x)
        self.latest[self.free] = self.factor.solve(x[self.free, None])[:, 0]
        return self.latest


class _ConjugateGradients(_Operator):
    """The inverse by conjugate gradients with the diagonal as preconditioner."""

    def __init__(self, A, z, progress, max_iter):
        super().__init__(A, z, progress, max_iter)
        self.preconditioner = sp.diags_array(1 / A.diagonal())

    def _count(self, x):
        self.n_iter += 1

    def apply(self, x):
        self.latest, unsolved = sparse_linalg.cg(
            self.A,
            x,
            rtol=INNER,
            atol=0,
            maxiter=self.max_iter - self.n_iter,
            M=self.preconditioner,
            callback=self._count,
        )
        if unsolved:
            raise _OutOfSteps
        return self.latest


def canonical_sign(u):
    """Return ``u`` or ``-u``: the largest entry, the first of several, is positive."""
    largest = np.abs(u) >= (1 - TIE) * np.abs(u).max()
    return u if u[np.argmax(largest)] > 0 else -u


def strong_components(W):
    """Return the component of each vertex, by edges that are more than rounding."""
    d = degrees(W)
    rows, cols, weights = edge_list(W)
    strong = weights > WEAK * np.minimum(d[rows], d[cols])
    kept = sp.csr_array((weights[strong], (rows[strong], cols[strong])), shape=W.shape)
    return find_components(kept)[1]


def lighter_sides(component, size):
    """Return two sides of whole components: the largest first, each goes to the lighter side."""
    totals = np.bincount(component, weights=size)
    on_second, sums = np.zeros(len(totals), dtype=bool), [0.0, 0.0]
    for number in np.argsort(-totals, kind="stable"):
        on_second[number] = sums[1] < sums[0]
        sums[int(on_second[number])] += totals[number]
    return on_second[component]


def two_valued(second, size):
    """Return the vector of two values, orthogonal to ones, that encodes two sides.

    It is ``sqrt(|B| / |A|)`` on ``A`` and ``-sqrt(|A| / |B|)`` on ``B``, over the root of the total
    size. Then ``u'Lu`` is the ratio cut.
    """
    b, total = size[second].sum(), size.sum()
    a = total - b
    return np.where(second, -np.sqrt(a / b), np.sqrt(b / a)) / np.sqrt(total)


# The cut ---------------------------------------------------------------------------


def sweep(W, size, u):
    """Return the thresholds between entries of ``u``, and of each the cut, both sizes and the gap.

    ``O(n log n)`` for sorting and one pass over the edges: an edge is cut by all thresholds between
    its ends.
    """
    order = np.argsort(u, kind="stable")
    rank = np.empty(len(u), dtype=np.intp)
    rank[order] = np.arange(len(u))
    rows, cols, weights = edge_list(W)
    first, last = np.minimum(rank[rows], rank[cols]), np.maximum(rank[rows], rank[cols])
    changes = np.bincount(first, weights=weights, minlength=len(u))
    changes -= np.bincount(last, weights=weights, minlength=len(u))
    values = u[order]
    between = np.flatnonzero(np.diff(values) > TIE * np.abs(values).max())
    thresholds = (values[between] + values[between + 1]) / 2
    cuts = np.maximum(np.cumsum(changes)[between], 0)
    # Sizes can be so different that one side is nothing beside the other: no difference of sums.
    below, above = np.cumsum(size[order]), np.cumsum(size[order][::-1])[::-1]
    return thresholds, cuts, below[between], above[between + 1], np.diff(values)[between]


def choose_threshold(W, size, u, rule):
    """Return the number above which entries of ``u`` are on the second side."""
    if rule == "sign" or len(u) == 1:
        return float(TIE * np.abs(u).max())
    thresholds, cuts, below, above, gaps = sweep(W, size, u)
    smaller = np.minimum(below, above)
    if rule == "gap":
        central = smaller >= min(CENTRAL * size.sum(), smaller.max())
        return float(thresholds[np.argmax(np.where(central, gaps, -1))])
    ratios = cuts / below + cuts / above
    best = ratios <= ratios.min() * (1 + TIE)
    # Of several that are as good the one with the most even sides.
    return float(thresholds[np.argmax(np.where(best, smaller, -1))])


def cut_and_ratio(W, size, second):
    """Return the weight of the cut edges, and that over the sizes of the sides."""
    rows, cols, weights = edge_list(W)
    cut = float(weights[second[rows] != second[cols]].sum())
    if second.all() or not second.any():
        return cut, float("inf")
    return cut, float(cut / size[second].sum() + cut / size[~second].sum())


# The estimator ---------------------------------------------------------------------


@described
class SpectralBisection(EstimatorMixin, GraphMixin, ClusterMixin, BaseEstimator):
    r"""Bisects a graph by the second eigenvector of its Laplacian.

    The best split into :math:`A` and :math:`B` has the least ratio cut

    .. math::

        \mathrm{RatioCut}(A, B) = \mathrm{cut}(A, B) \left(\frac1{|A|} + \frac1{|B|}\right)
        = \frac{u^\top L u}{u^\top u} \quad\text{for}\quad
        u_i = \sqrt{|B| / |A|} \text{ on } A,\; -\sqrt{|A| / |B|} \text{ on } B ,

    which is hard to find. Over all :math:`u` orthogonal to the ones, and not only those of two
    values, the minimiser is the second eigenvector of :math:`L`, and the minimum its eigenvalue
    :math:`\lambda_2` [1]_. So no ratio cut is less than :math:`\lambda_2`: ``ratio_cut_`` exceeds
    the least one by at most what it exceeds ``eigenvalue_`` by. A threshold makes two sides of the
    eigenvector.

    If the graph is not connected, :math:`\lambda_2 = 0`, and the sides are whole components: the
    largest first, each goes to the side that is smaller so far.

    Parameters
    ----------
    threshold : {"sign", "gap", "sweep"}, default="sweep"
        How the eigenvector is split: at zero; at the largest gap that leaves at least a quarter of
        the vertices on each side; or where the ratio cut is the least of all thresholds. Entries of
        zero are on the side of the negative ones.

    normalization : {None, "symmetric"}, default=None
        What the size of a side is: the number of its vertices, or, with "symmetric", the sum of
        their degrees. Then :math:`L u = \lambda D u`, and the ratio cut is the normalised cut.

    affinity : {"knn", "precomputed"} or GraphBuilder, default="knn"
        The graph of the samples: of neighbours; given as ``X`` itself, a symmetric matrix of edge
        weights; or what a :class:`GraphBuilder` makes.

    n_neighbors : int, default=10
        The number of neighbours of "knn".

    weight : {"binary", "exponential", "gaussian"}, default="gaussian"
        The weights of the edges of "knn", as in :class:`GraphBuilder`.

    scale : float, "median" or "self-tuning", default="self-tuning"
        The scale of the lengths of the edges of "knn", as in :class:`GraphBuilder`.

    solver : {"auto", "dense", "lu", "lanczos"}, default="auto"
        How the eigenvector is found. "dense" finds all of them. "lu" iterates with the inverse of
        the Laplacian by a sparse factorisation, which is the fastest if the graph is like one in
        the plane, and fills the memory if it is not. "lanczos" iterates with the Laplacian itself,
        and if the second eigenvalue is too near to the third for that, with its inverse by
        conjugate gradients. "auto" is "dense" up to 500 vertices, then "lu" for graphs with a
        thin factor, else "lanczos". Up to 20 vertices all are "dense".

    max_iter : int, default=100000
        The most steps of "lanczos", each a product with the Laplacian.

    tol : float, default=1e-6
        A residual of the eigenvector above this gives a warning.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The side of each sample, 0 or 1.

    fiedler_vector_ : ndarray of shape (n_samples,)
        The entry of each sample's vertex in the second eigenvector. The squares, times the sizes
        of the vertices, add up to one; the largest entry is positive.

    eigenvalue_ : float
        The second eigenvalue :math:`\lambda_2`: certificate that no ratio cut is less.

    threshold_ : float
        Entries above this number are on side 1.

    cut_ : float
        The weight of the edges that are cut.

    ratio_cut_ : float
        The ratio cut, or the normalised cut, of the two sides; infinite if one is empty, as for a
        single vertex.

    residual_ : float
        Certificate: the norm of :math:`L u - \lambda u`, relative to the largest that the norm of
        the Laplacian can be.

    n_iter_ : int
        The steps taken: products with the Laplacian, or solves with its factor, or 1.

    graph_ : csr_array of shape (n_vertices, n_vertices)
        The graph. Samples that are equal are one vertex; the weights of edges are multiplied by the
        weights of the samples at both ends.

    vertex_ : ndarray of shape (n_samples,)
        The vertex of each sample; -1 for a sample of weight zero.

    {features_seen}

    See Also
    --------
    ratio_cut : The ratio cut of any two sides.
    EigenfunctionClassifier : Labels by many eigenfunctions, for millions of samples.

    References
    ----------
    .. [1] U. von Luxburg (2007). A tutorial on spectral clustering. Statistics and Computing 17.

    Examples
    --------
    >>> from sklearn_sl.graph import SpectralBisection, graph_from_edges
    >>> triangles = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]
    >>> graph = graph_from_edges([*triangles, [2, 3]])
    >>> model = SpectralBisection(affinity="precomputed").fit(graph)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> print(f"{model.eigenvalue_:.3f} <= {model.ratio_cut_:.3f}")
    0.438 <= 0.667
    """

    labels_: np.ndarray
    fiedler_vector_: np.ndarray
    eigenvalue_: float
    threshold_: float
    cut_: float
    ratio_cut_: float
    residual_: float
    n_iter_: int

    _parameter_constraints = {
        "threshold": [StrOptions({"sign", "gap", "sweep"})],
        "normalization": [StrOptions({"symmetric"}), None],
        **GraphMixin._graph_constraints,
        "solver": [StrOptions({"auto", "dense", "lu", "lanczos"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        threshold: Literal["sign", "gap", "sweep"] = "sweep",
        *,
        normalization: Any = None,
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["binary", "exponential", "gaussian"] = "gaussian",
        scale: float | str = "self-tuning",
        solver: Literal["auto", "dense", "lu", "lanczos"] = "auto",
        max_iter: int = 100_000,
        tol: float = 1e-6,
    ) -> None:
        self.threshold = threshold
        self.normalization = normalization
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Split the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; a symmetric matrix of edge weights, of shape (n_samples, n_samples), if the
            affinity is "precomputed".

        y : None
            Ignored.

        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights: an integer weight is the same as repeated rows, a weight of zero the same as a
            removed row.

        Returns
        -------
        self : SpectralBisection
            The fitted estimator.
        """
        vertices = self._graph_vertices(X, sample_weight)
        W, size = vertices.W, vertices.mass
        if self.normalization == "symmetric":
            d = degrees(W)
            # A vertex without an edge is a component of its own; it needs some size.
            size = np.where(d > 0, d, size)
        with Progress(self, name="step", total=None) as progress:
            pair = second_eigenpair(W, size, self.solver, self.max_iter, progress)
        if pair.residual > self.tol:
            warn(
                f"The second eigenvector did not converge: its residual is {pair.residual:.1e}, "
                f'above tol={self.tol:.1e}. Increase max_iter, or use solver="lu".',
                ConvergenceWarning,
            )
        self.residual_, self.n_iter_ = pair.residual, pair.n_iter
        self.threshold_ = choose_threshold(W, size, pair.vector, self.threshold)
        self.cut_, self.ratio_cut_ = cut_and_ratio(W, size, pair.vector > self.threshold_)
        # What the eigenvalue exceeds a ratio cut by is rounding.
        self.eigenvalue_ = min(pair.value, self.ratio_cut_)
        self._default = 0.0
        self.fiedler_vector_ = self._keep(vertices, pair.vector)
        self.labels_ = self._sides(self.fiedler_vector_)
        return self

    def _sides(self, values):
        return (values > self.threshold_).astype(np.int64)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the side of samples, new or not.

        A sample that is no vertex has the mean of the eigenvector over its neighbours, by the
        weights of its edges; one without a neighbour has zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples; weights between samples and training samples, of shape
            (n_samples, n_training_samples), if the affinity is "precomputed".

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The side of each sample, 0 or 1.
        """
        values = self._values_at(X)
        return self._sides(values)
