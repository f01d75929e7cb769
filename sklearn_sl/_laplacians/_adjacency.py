"""Graphs as symmetric sparse matrices: the one form that everything else works on.

A graph of ``n`` vertices is a ``scipy.sparse.csr_array`` of shape ``(n, n)`` in float64: the
weights of the edges, symmetric, positive, in canonical format, without a diagonal. A self-loop
changes neither the Laplacian nor a harmonic function, so it is dropped.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from sklearn_sl._laplacians import _ordering

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, SparseLike

# Weights of the two directions of an edge may differ by rounding.
SYMMETRY = 1e-10
# One call of compiled code reads about so many entries: 50 ms or less.
READ = 5_000_000


def as_graph(graph: SparseLike | ArrayLike) -> sp.csr_array:
    """Return a graph as a symmetric sparse matrix of edge weights, or say why it is none.

    Self-loops and entries of zero are dropped: they change neither the Laplacian nor a harmonic
    function. A weight that differs between the two directions of an edge is an error, as what is
    meant cannot be guessed: ``(A + A.T) / 2`` and ``A.maximum(A.T)`` are two different graphs.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges, none negative. The edges of a networkx graph have the weight of
        their attribute "weight", or 1; its vertices are numbered in the order of its nodes.

    Returns
    -------
    adjacency : csr_array of shape (n_vertices, n_vertices)
        The weights in float64, symmetric and with an empty diagonal.

    See Also
    --------
    graph_from_edges : A graph from a list of pairs.

    Examples
    --------
    >>> from sklearn_sl.graph import as_graph
    >>> as_graph([[0, 2], [2, 0]]).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    adjacency = check_weights(_unwrapped(graph), "graph")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(
            f"graph must be a square matrix of edge weights; got shape {adjacency.shape}."
        )
    adjacency = _symmetric(without_loops(adjacency))
    with np.errstate(over="ignore"):
        if not np.isfinite(degrees(adjacency)).all():
            raise ValueError(
                "The sum of the edge weights at a vertex overflows: divide the weights of the "
                "graph by the largest one."
            )
    return adjacency


def check_weights(weights, name):
    """Return non-negative numbers as a csr_array of float64 in canonical format, a new one."""
    weights = check_array(
        weights,
        accept_sparse="csr",
        accept_large_sparse=True,
        dtype=np.float64,
        ensure_all_finite=True,
        input_name=name,
    )
    # A matrix in another format, or dense, has been copied already; never change what was given.
    weights = sp.csr_array(weights, copy=True)
    weights.sum_duplicates()
    if weights.nnz and weights.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed as {name}: edge weights must be >= 0; the smallest is "
            f"{weights.data.min():.3g}. Map similarities to positive numbers, or remove the "
            "negative edges."
        )
    weights.eliminate_zeros()
    return weights


def without_loops(adjacency):
    """Return a square csr_array without its diagonal."""
    if not adjacency.diagonal().any():
        return adjacency
    adjacency = adjacency.tocoo()
    keep = adjacency.row != adjacency.col
    entries = adjacency.data[keep], (adjacency.row[keep], adjacency.col[keep])
    return sp.csr_array(entries, shape=adjacency.shape)


def _unwrapped(graph):
    """Return the matrix of a networkx graph; anything else as it is."""
    if not (hasattr(graph, "adjacency") and hasattr(graph, "is_directed")):
        return graph
    import networkx

    if graph.is_directed():
        raise ValueError(
            "graph must be undirected, got a directed graph. Pass graph.to_undirected(), or a "
            "matrix of weights, such as (A + A.T) / 2."
        )
    if graph.number_of_nodes() == 0:
        raise ValueError("graph has 0 vertices: at least one is required.")
    return sp.csr_array(networkx.to_scipy_sparse_array(graph, dtype=np.float64, format="csr"))


def _symmetric(adjacency):
    """Return the matrix, symmetric to the last bit; raise unless it nearly is."""
    transposed = adjacency.T.tocsr()
    transposed.sort_indices()
    same_places = np.array_equal(adjacency.indptr, transposed.indptr) and np.array_equal(
        adjacency.indices, transposed.indices
    )
    if same_places:
        differ = np.abs(adjacency.data - transposed.data)
        if not np.any(differ):
            return adjacency
        if np.all(differ <= SYMMETRY * np.maximum(adjacency.data, transposed.data)):
            adjacency.data = 0.5 * adjacency.data + 0.5 * transposed.data
            return adjacency
    raise ValueError(
        "graph must be symmetric, got a directed graph. Pass (A + A.T) / 2, or A.maximum(A.T) for "
        "the union and A.minimum(A.T) for the intersection of both directions."
    )


def graph_from_edges(
    edges: ArrayLike, weights: ArrayLike | None = None, *, n_vertices: int | None = None
) -> sp.csr_array:
    """Return the graph with the given edges.

    An edge that is listed several times, in whatever direction, has the sum of its weights, as
    parallel conductances add up.

    Parameters
    ----------
    edges : array-like of shape (n_edges, 2)
        Pairs of vertices, numbered from 0.

    weights : array-like of shape (n_edges,), default=None
        The weight of each edge, none negative; 1 each if None.

    n_vertices : int, default=None
        The number of vertices; one more than the largest number in ``edges`` if None.

    Returns
    -------
    adjacency : csr_array of shape (n_vertices, n_vertices)
        The symmetric matrix of the weights.

    See Also
    --------
    as_graph : A graph from a matrix or from networkx.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges
    >>> graph_from_edges([[0, 1], [1, 2]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    edges = check_array(edges, dtype=None, ensure_min_samples=0, input_name="edges")
    whole = edges.dtype.kind in "iu" or (
        edges.dtype.kind == "f" and np.array_equal(edges, np.rint(edges))
    )
    if edges.shape[1] != 2 or not whole:
        raise ValueError(
            f"edges must be an integer array of shape (n_edges, 2); got shape {edges.shape} and "
            f"dtype {edges.dtype}."
        )
    edges = edges.astype(np.int64)
    least = int(edges.max(initial=-1)) + 1
    n_vertices = least if n_vertices is None else n_vertices
    if not isinstance(n_vertices, numbers.Integral):
        raise ValueError(f"n_vertices must be an integer; got {n_vertices!r}.")
    if n_vertices < max(least, 1):
        raise ValueError(
            f"n_vertices must be >= {max(least, 1)} for these edges; got {n_vertices!r}."
        )
    if edges.min(initial=0) < 0:
        raise ValueError(f"edges must be numbers of vertices >= 0; got {edges.min()}.")
    if weights is None:
        weights = np.ones(len(edges))
    weights = check_array(
        weights, ensure_2d=False, ensure_min_samples=0, dtype=np.float64, input_name="weights"
    )
    if weights.shape != (len(edges),):
        raise ValueError(
            f"weights must have the shape ({len(edges)},), one for each edge; got {weights.shape}."
        )
    rows, cols = edges.T
    half = sparse_matrix(weights, rows, cols, n_vertices)
    return as_graph(half + half.T)


def connected_components(graph: SparseLike | ArrayLike) -> tuple[int, np.ndarray]:
    """Return the number of connected components, and the component of each vertex.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`as_graph`.

    Returns
    -------
    n_components : int
        How many there are.

    component : ndarray of shape (n_vertices,)
        The number of each vertex's component, from 0.

    Examples
    --------
    >>> from sklearn_sl.graph import connected_components, graph_from_edges
    >>> connected_components(graph_from_edges([[0, 2], [1, 3]]))
    (2, array([0, 1, 0, 1]))
    """
    n_components, component = find_components(as_graph(graph))
    return n_components, component.astype(np.int64)


def find_components(W):
    """Return the number of components of a sparse pattern, and the component of each vertex.

    They are those of ``scipy.sparse.csgraph``, where other threads, and Ctrl-C, have to wait.
    """
    indptr, indices = (array.astype(np.intp, copy=False) for array in (W.indptr, W.indices))
    component, row = np.arange(W.shape[0], dtype=np.intc), 0
    while row < len(component):
        row = _ordering.join_neighbours(indptr, indices, row, READ, component)
    return _ordering.number_trees(component), component


def laplacian(graph: SparseLike | ArrayLike, normalization: Any = None) -> sp.csr_array:
    """Return the Laplacian of a graph, sparse.

    With the degrees ``d_i = sum_j w_ij`` and ``D = diag(d)``::

        None           L = D - W             u'Lu = sum of w_ij (u_i - u_j)^2 over the edges
        "symmetric"    I - D^-1/2 W D^-1/2
        "random_walk"  I - D^-1 W            one minus the transitions of the random walk

    A vertex without an edge has a row of zeros in all of them.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`as_graph`.

    normalization : {None, "symmetric", "random_walk"}, default=None
        Which Laplacian.

    Returns
    -------
    laplacian : csr_array of shape (n_vertices, n_vertices)
        The Laplacian.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, laplacian
    >>> laplacian(graph_from_edges([[0, 1], [1, 2]])).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    W = as_graph(graph)
    d = degrees(W)
    if normalization is None:
        return (sp.diags_array(d) - W).tocsr()
    if normalization not in ("symmetric", "random_walk"):
        raise ValueError(
            f"normalization must be None, 'symmetric' or 'random_walk'; got {normalization!r}."
        )
    at_row = np.repeat(d, np.diff(W.indptr))
    if normalization == "symmetric":
        W.data = W.data / np.sqrt(at_row) / np.sqrt(d[W.indices])
    else:
        W.data = W.data / at_row
    return (sp.diags_array((d > 0).astype(np.float64)) - W).tocsr()


def sparse_matrix(values, rows, cols, n):
    """Return the square csr_array of ``n`` rows with these entries.

    Its indices are narrow where they can be: older functions of csgraph take no others.
    """
    if n < 2**31 and len(values) < 2**31:
        rows, cols = np.asarray(rows, dtype=np.int32), np.asarray(cols, dtype=np.int32)
    return sp.csr_array((values, (rows, cols)), shape=(n, n))


def degrees(W):
    """Return the sum of the weights at each vertex of a csr_array."""
    return np.asarray(W.sum(axis=1)).ravel()


def edge_list(W):
    """Return the edges ``i < j`` of a symmetric csr_array: two index arrays and the weights."""
    upper = sp.triu(W, k=1, format="coo")
    return upper.row.astype(np.intp), upper.col.astype(np.intp), upper.data


def _two_sides(W, side):
    """Return whether each vertex is on the second of two sides, or say what is wrong."""
    side = np.asarray(side)
    if side.shape != (W.shape[0],):
        raise ValueError(
            f"side must have the shape ({W.shape[0]},), one for each vertex; got {side.shape}."
        )
    sides, number = np.unique(side, return_inverse=True)
    if len(sides) > 2:
        raise ValueError(f"side must have at most two different values; got {len(sides)}.")
    return number == 1


def cut_weight(graph: SparseLike | ArrayLike, side: ArrayLike) -> float:
    """Return the weight of the edges between two sets of vertices.

    For ``u`` of -1 and 1 that is ``u'Lu / 4``.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`as_graph`.

    side : array-like of shape (n_vertices,)
        The side of each vertex: at most two different values.

    Returns
    -------
    weight : float
        The sum of the weights of the edges that are cut.

    Examples
    --------
    >>> from sklearn_sl.graph import cut_weight, graph_from_edges
    >>> cut_weight(graph_from_edges([[0, 1], [1, 2]]), [-1, -1, 1])
    1.0
    """
    W = as_graph(graph)
    side = _two_sides(W, side)
    rows, cols, weights = edge_list(W)
    return float(weights[side[rows] != side[cols]].sum())


def ratio_cut(graph: SparseLike | ArrayLike, side: ArrayLike) -> float:
    """Return the cut over the sizes of its sides: ``cut(A, B) (1 / |A| + 1 / |B|)``.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`as_graph`.

    side : array-like of shape (n_vertices,)
        The side of each vertex, two different values.

    Returns
    -------
    ratio : float
        The ratio cut; infinite if one side is empty.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, ratio_cut
    >>> ratio_cut(graph_from_edges([[0, 1], [1, 2]]), [-1, -1, 1])
    1.5
    """
    W = as_graph(graph)
    second = int(np.count_nonzero(_two_sides(W, side)))
    if second == 0:
        return float("inf")
    return cut_weight(W, side) * (1 / second + 1 / (W.shape[0] - second))
