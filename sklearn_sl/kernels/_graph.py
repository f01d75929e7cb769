"""Kernels on the vertices of a graph: inverses and exponentials of its Laplacian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import ive
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.utils.validation import check_array

from sklearn_sl._laplacians._adjacency import as_graph, degrees, laplacian
from sklearn_sl._rows import slices
from sklearn_sl.kernels._base import APART
from sklearn_sl.kernels._path_tree import Positions
from sklearn_sl.kernels._structured import StructuredKernel, check_real

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, SparseLike

# A table of the kernel values of all pairs of vertices may have so many numbers, 256 MB; a larger
# one is made a few rows at a time.
LARGEST_TABLE = 2**25
# So many columns of n numbers are computed at once, and so many by products with a sparse matrix.
WIDTH, NARROW = 64, 16
# The longest series of Chebyshev polynomials.
MOST_TERMS = 200_000


class VertexKernel(StructuredKernel):
    """A kernel on the vertices of a graph, by columns of a function of its Laplacian.

    A subclass has ``_make_matrix(W)``, an object with the methods ``columns(vertices)`` and
    ``slopes(vertices)``, columns of the kernel matrix of the whole graph and of its derivative by
    the logarithm of the parameter, and ``diagonal(vertices)``. It may hold a factor of the
    Laplacian, and is kept until the graph or a parameter changes, but neither cloned nor pickled.
    """

    def _inputs(self, X):
        n = self._adjacency().shape[0]
        numbers = check_array(X, dtype=[np.float64, np.float32], ensure_2d=False, input_name="X")
        vertices = numbers.reshape(-1)
        whole = np.all((vertices >= 0) & (vertices < n) & (vertices == np.floor(vertices)))
        if numbers.size != len(numbers) or not whole:
            raise ValueError(
                f"X of {type(self).__name__} must be one column of vertices of the graph, integers "
                f"in [0, {n})."
            )
        return Positions(vertices)

    def _tiles(self, X, Y):
        columns = self._matrix().columns
        # Solves for one column do not depend on what else is asked for.
        apart = APART.get()
        right, right_place = np.unique(Y.places, return_inverse=True)
        n_pairs = len(np.unique(X.places)) * len(right)
        known = {}

        def tables(rows):
            if n_pairs <= LARGEST_TABLE:
                rows = slice(0, len(X.places))
            if (rows.start, rows.stop) not in known:
                known.clear()
                left, left_place = np.unique(X.places[rows], return_inverse=True)
                table = values_of(columns, left, right, apart)
                known[rows.start, rows.stop] = rows.start, left_place, table
            return known[rows.start, rows.stop]

        def fill(rows, cols, out):
            begin, left_place, table = tables(rows)
            i = left_place[rows.start - begin : rows.stop - begin]
            out[...] = table[np.ix_(i, right_place[cols])]

        return fill

    def _diagonal(self, X):
        return self._matrix().diagonal(X.places)

    def _gradient(self, X, K):
        if not self.n_dims:
            return np.empty((*K.shape, 0))
        vertices, place = np.unique(X.places, return_inverse=True)
        table = values_of(self._matrix().slopes, vertices, vertices)
        return table[np.ix_(place, place)][:, :, None]

    def _adjacency(self):
        return as_graph(self.graph)

    def _matrix(self):
        """Return the matrix of the whole graph, in the form of its columns."""
        params = self.get_params(deep=False)
        key = {name: value for name, value in params.items() if name != "graph"}
        W = self._adjacency()
        known = self.__dict__.get("_known")
        if known is None or known[0] != key or not same_graph(known[1], W):
            known = self._known = key, W, self._make_matrix(W)
        return known[2]

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_known"}

    def __eq__(self, other):
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        rest = all(mine[name] == theirs[name] for name in mine if name != "graph")
        return rest and same_graph(self._adjacency(), other._adjacency())

    def __repr__(self):
        n = self._adjacency().shape[0]
        rest = "".join(
            f", {name}={value:.3g}"
            for name, value in self.get_params(deep=False).items()
            if name != "graph" and not name.endswith("_bounds")
        )
        return f"{type(self).__name__}({n} vertices{rest})"


def same_graph(A, B):
    """Return whether two graphs have the same vertices, edges and weights."""
    return A.shape == B.shape and all(
        np.array_equal(getattr(A, part), getattr(B, part)) for part in ("indptr", "indices", "data")
    )


def values_of(columns, left, right, apart=False):
    """Return the part of a symmetric matrix at two lists of vertices.

    The shorter list gives the columns, unless they are computed one by one, ``apart``.
    """
    if not apart and len(left) < len(right):
        return values_of(columns, right, left, apart=False).T
    table = np.empty((len(left), len(right)))
    for part in slices(len(right), 1 if apart else WIDTH):
        table[:, part] = columns(right[part])[left]
    return table


def laplacian_inverse(W, **options):
    """Return a :class:`LaplacianInverse`; its compiled modules are loaded when one is needed."""
    from sklearn_sl._laplacians._inverse import LaplacianInverse

    return LaplacianInverse(W, **options)


class LaplacianKernel(VertexKernel):
    """The pseudo-inverse ``L^+`` of the Laplacian of a graph, a kernel on its vertices.

    It is the reproducing kernel of the functions on the vertices whose sum is zero in each
    connected component, with the squared norm ``u'Lu``, the sum of ``w_ij (u_i - u_j)^2`` over the
    edges. The squared distance that it gives is the effective resistance, ``r(p, q) = K(p, p) +
    K(q, q) - 2 K(p, q)``, and ``K(v, v)`` is at most the largest of these. Between two components
    it is zero. Add a constant, ``LaplacianKernel(graph) + c``, for functions with any sum: with a
    large ``c`` their interpolation is Laplacian interpolation, the harmonic function.

    Only the columns of the vertices in question are computed, by a sparse factorisation, or by
    conjugate gradients where the factor would be nearly full.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`~sklearn_sl.graph.as_graph`.

    See Also
    --------
    RegularizedLaplacianKernel : Positive definite.
    sklearn_sl.graph.effective_resistance : The distances.

    References
    ----------
    .. [1] M. Herbster, M. Pontil and L. Wainer, "Online learning over graphs", ICML 2005.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges
    >>> from sklearn_sl.kernels import LaplacianKernel
    >>> path = graph_from_edges([[0, 1], [1, 2]])
    >>> LaplacianKernel(path)([[0], [1], [2]]).round(4)
    array([[ 0.5556, -0.1111, -0.4444],
           [-0.1111,  0.2222, -0.1111],
           [-0.4444, -0.1111,  0.5556]])
    """

    def __init__(self, graph: SparseLike | ArrayLike) -> None:
        self.graph = graph

    def _make_matrix(self, W):
        return laplacian_inverse(W)


class RegularizedLaplacianKernel(VertexKernel):
    """The kernel ``(L + epsilon I)^-1`` on the vertices of a graph with the Laplacian ``L``.

    The squared norm of a function is ``u'Lu + epsilon ||u||^2``. The kernel is positive definite,
    and positive within a connected component. The interpolant of least norm of labels -1 and 1 is
    the same whether they must be reached exactly or may be exceeded, ``y_i u_i >= 1``: every label
    is a support vector of the hard-margin machine without intercept.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`~sklearn_sl.graph.as_graph`.

    epsilon : float, default=1.0
        What is added to the diagonal, positive.

    epsilon_bounds : pair of floats > 0 or "fixed", default=(1e-5, 1e5)
        The range in which a Gaussian process may choose ``epsilon``.

    See Also
    --------
    LaplacianKernel : The limit for a small ``epsilon``, but for a large constant.

    References
    ----------
    .. [1] A. J. Smola and R. Kondor, "Kernels and regularization on graphs", COLT 2003.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges
    >>> from sklearn_sl.kernels import RegularizedLaplacianKernel
    >>> path = graph_from_edges([[0, 1], [1, 2]])
    >>> RegularizedLaplacianKernel(path, epsilon=1.0)([[0], [1], [2]])
    array([[0.625, 0.25 , 0.125],
           [0.25 , 0.5  , 0.25 ],
           [0.125, 0.25 , 0.625]])
    """

    def __init__(
        self,
        graph: SparseLike | ArrayLike,
        epsilon: float = 1.0,
        epsilon_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
    ) -> None:
        self.graph = graph
        self.epsilon = epsilon
        self.epsilon_bounds = epsilon_bounds

    @property
    def hyperparameter_epsilon(self):
        """What is added to the diagonal."""
        return Hyperparameter("epsilon", "numeric", self.epsilon_bounds)

    def _make_matrix(self, W):
        check_real(self, "epsilon", lambda epsilon: 0 < epsilon < np.inf, "(0, inf)")
        return laplacian_inverse(W, shift=float(self.epsilon))


class DiffusionKernel(VertexKernel):
    """The diffusion (heat) kernel ``exp(-t L)`` on the vertices of a graph, ``L`` its Laplacian.

    ``K(i, j)`` is the share of the heat of vertex ``j`` that is at vertex ``i`` after the time
    ``t``, and the probability that the random walk in continuous time, with the rates ``w_ij``,
    goes there. It is positive definite, and its rows sum to one.

    Only the columns of the vertices in question are computed, by a series of Chebyshev polynomials
    of ``L``: about ``9 sqrt(t d)`` products with the matrix for a largest degree of ``d``.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`~sklearn_sl.graph.as_graph`.

    t : float, default=1.0
        The time, positive.

    t_bounds : pair of floats > 0 or "fixed", default=(1e-5, 1e5)
        The range in which a Gaussian process may choose ``t``.

    References
    ----------
    .. [1] R. Kondor and J. Lafferty, "Diffusion kernels on graphs and other discrete structures",
       ICML 2002.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges
    >>> from sklearn_sl.kernels import DiffusionKernel
    >>> path = graph_from_edges([[0, 1], [1, 2]])
    >>> DiffusionKernel(path, t=1.0)([[0], [1], [2]]).round(4)
    array([[0.5256, 0.3167, 0.1577],
           [0.3167, 0.3665, 0.3167],
           [0.1577, 0.3167, 0.5256]])
    """

    def __init__(
        self,
        graph: SparseLike | ArrayLike,
        t: float = 1.0,
        t_bounds: tuple[Any, ...] | str = (1e-5, 1e5),
    ) -> None:
        self.graph = graph
        self.t = t
        self.t_bounds = t_bounds

    @property
    def hyperparameter_t(self):
        """The time."""
        return Hyperparameter("t", "numeric", self.t_bounds)

    def _make_matrix(self, W):
        check_real(self, "t", lambda t: 0 < t < np.inf, "(0, inf)")
        return Diffusion(W, float(self.t))


class Diffusion:
    """``exp(-t L)``, a few columns at a time.

    The eigenvalues of ``L`` lie between 0 and ``s``, the largest sum of the degrees of two
    neighbours. With ``x = 2 L / s - I`` and the modified Bessel functions ``I_k`` ::

        exp(-t L) = exp(-h) (I_0(h) + 2 sum_k (-1)^k I_k(h) T_k(x)),    h = t s / 2
    """

    def __init__(self, W, t):
        self.W, self.t, self.laplacian, degree = W, t, laplacian(W), degrees(W)
        rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
        span = np.max(degree[rows] + degree[W.indices], initial=0.0)
        self.coefficients = _series(t * span / 2)
        # Twice x, as the polynomials have it; a graph without edges has one term only.
        self.step = self.laplacian * (4 / (span or 1)) - 2 * sp.eye_array(W.shape[0], format="csr")

    def columns(self, vertices):
        """Return columns of ``exp(-t L)``, shape (n_vertices, n_columns)."""
        return np.hstack([self._columns(vertices[part]) for part in slices(len(vertices), NARROW)])

    def _columns(self, vertices):
        now = np.zeros((self.step.shape[0], len(vertices)))
        now[vertices, np.arange(len(vertices))] = 1
        total, before = self.coefficients[0] * now, None
        for coefficient in self.coefficients[1:]:
            after = self.step @ now
            if before is None:
                after /= 2
            else:
                after -= before
            total += coefficient * after
            before, now = now, after
        return total

    def slopes(self, vertices):
        """Return columns of the derivative by the logarithm of ``t``."""
        return -self.t * (self.laplacian @ self.columns(vertices))

    def diagonal(self, vertices):
        """Return entries of the diagonal: squared norms of columns after half the time."""
        half, values = Diffusion(self.W, self.t / 2), np.empty(len(vertices))
        for part in slices(len(vertices), WIDTH):
            values[part] = np.sum(half.columns(vertices[part]) ** 2, axis=0)
        return values


def _series(h):
    """Return the coefficients of the series for ``exp(-h (1 + x))``, until they are nothing."""
    n_terms = 9 * np.sqrt(h) + 60
    if n_terms > MOST_TERMS:
        raise ValueError(
            "DiffusionKernel: t is too large for the weights of the graph: the kernel is "
            "numerically constant. Decrease t, or use LaplacianKernel."
        )
    terms = ive(np.arange(int(n_terms)), h)
    terms = terms[: np.flatnonzero(terms > 1e-18)[-1] + 1]
    terms[1:] *= 2
    terms[1::2] *= -1
    return terms
