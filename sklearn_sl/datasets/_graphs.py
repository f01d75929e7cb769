"""Graphs with labels: cliques in a chain, and an order of trials that is hard for a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from sklearn_sl._laplacians._adjacency import (
    as_graph,
    connected_components,
    graph_from_edges,
    laplacian,
)
from sklearn_sl.datasets._streams import at_least
from sklearn_sl.theory._domain import vector

if TYPE_CHECKING:
    import scipy.sparse as sp

    from sklearn_sl._typing import ArrayLike, SparseLike


def make_clique_chain(
    n_cliques: int = 4, size: int = 10, n_bridges: int | None = None
) -> tuple[sp.csr_array, np.ndarray]:
    """Make a graph of cliques, each of which is joined with the next one by few edges.

    Parameters
    ----------
    n_cliques : int, default=4
        The number of cliques.

    size : int, default=10
        The number of vertices of a clique.

    n_bridges : int or None, default=None
        The number of edges between cliques, which are spread evenly: at least one, and at most
        ``size``, from each clique to the next one. None is ``n_cliques - 1``.

    Returns
    -------
    adjacency : csr_array of shape (n_cliques * size, n_cliques * size)
        The symmetric adjacency; all edges have the weight one.

    clique : ndarray of shape (n_cliques * size,)
        The clique of each vertex, from 0.

    See Also
    --------
    make_two_cliques : With one bridge between two.
    sklearn_sl.theory.clique_chain_bound : How many labels are predicted wrongly.

    References
    ----------
    .. [1] M. Herbster and G. Lever, "Predicting the labelling of a graph via minimum p-seminorm
       interpolation", COLT 2009.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_clique_chain
    >>> adjacency, clique = make_clique_chain(n_cliques=2, size=2)
    >>> adjacency.toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.],
           [0., 0., 1., 0.]])
    >>> clique
    array([0, 0, 1, 1])
    """
    at_least(1, n_cliques=n_cliques, size=size)
    n_links = n_cliques - 1
    n_bridges = n_links if n_bridges is None else n_bridges
    at_least(0, n_bridges=n_bridges)
    if not n_links <= n_bridges <= n_links * size:
        raise ValueError(
            f"n_bridges must be in [{n_links}, {n_links * size}] for n_cliques={n_cliques} and "
            f"size={size}; got {n_bridges}."
        )
    first, second = np.triu_indices(size, k=1)
    inside = np.stack([first, second], axis=1)
    edges = [clique * size + inside for clique in range(n_cliques)]
    for link in range(n_links):
        rank = np.arange((n_bridges + n_links - 1 - link) // n_links)
        start = (link + 1) * size
        edges.append(np.stack([start - 1 - rank, start + rank], axis=1))
    graph = graph_from_edges(np.concatenate(edges), n_vertices=n_cliques * size)
    return graph, np.repeat(np.arange(n_cliques), size)


def make_two_cliques(size: int = 10) -> tuple[sp.csr_array, np.ndarray]:
    """Make two cliques that one edge joins.

    The edge is between the last vertex of the first clique and the first one of the second. If the
    first vertex of all has the label -1 and the last one 1, the interpolant of least energy is that
    of :func:`~sklearn_sl.theory.harmonic_clique_values`.

    Parameters
    ----------
    size : int, default=10
        The number of vertices of a clique.

    Returns
    -------
    adjacency : csr_array of shape (2 * size, 2 * size)
        The symmetric adjacency; all edges have the weight one.

    clique : ndarray of shape (2 * size,)
        The clique of each vertex, 0 or 1.

    See Also
    --------
    make_clique_chain : More cliques, and more edges between them.

    Examples
    --------
    >>> from sklearn_sl.datasets import make_two_cliques
    >>> adjacency, clique = make_two_cliques(5)
    >>> adjacency.nnz // 2, clique.tolist()
    (21, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    """
    return make_clique_chain(2, size)


def adversarial_vertex_order(graph: SparseLike | ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return an order of the vertices in which the interpolant of least energy is often wrong.

    The labels are given; the adversary chooses which vertex is asked for next. Among the vertices
    whose labels the interpolant of the labels so far has the wrong sign for, or is zero at, it
    takes the one whose label adds least to the energy: the mistakes and the energy that they cost
    are what :func:`~sklearn_sl.theory.graph_cover_bound` is about. If there is no such vertex, it
    takes the one where the interpolant is nearest to zero.

    The time grows with the cube of the number of vertices, the memory with its square.

    Parameters
    ----------
    graph : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        Weights of the edges; see :func:`~sklearn_sl.graph.as_graph`.

    y : array-like of shape (n_vertices,)
        The label -1 or 1 of each vertex.

    Returns
    -------
    order : ndarray of shape (n_vertices,)
        The vertices in the order of the trials.

    See Also
    --------
    sklearn_sl.graph.GraphOnlinePredictor : The learner that it is made for.

    Examples
    --------
    On a path with one cut the first vertex of each side is a mistake, and then every vertex that
    is nearer to the known vertices of the other side:

    >>> import numpy as np
    >>> from sklearn_sl.datasets import adversarial_vertex_order
    >>> from sklearn_sl.graph import GraphOnlinePredictor, graph_from_edges
    >>> path = graph_from_edges(np.stack([np.arange(31), np.arange(1, 32)], axis=1))
    >>> y = np.where(np.arange(32) < 10, -1, 1)
    >>> order = adversarial_vertex_order(path, y)
    >>> mistakes = [
    ...     GraphOnlinePredictor(path).fit(trials[:, None], y[trials]).n_mistakes_
    ...     for trials in (np.arange(32), order)
    ... ]
    >>> mistakes
    [2, 6]
    """
    W, y = as_graph(graph), vector("y", y)
    if len(y) != W.shape[0] or not np.all(np.abs(y) == 1):
        raise ValueError(f"y must have one label, -1 or 1, for each of {W.shape[0]} vertices.")
    L, component = laplacian(W).toarray(), connected_components(W)[1]
    u, green = np.zeros(len(y)), np.zeros_like(L)
    reached, left = np.zeros(len(y), dtype=bool), np.ones(len(y), dtype=bool)
    order = []
    for _ in range(len(y)):
        vertex = _hardest(u * y, np.diag(green), reached, left)
        order.append(vertex)
        left[vertex] = False
        if reached[vertex]:
            column = green[vertex] / green[vertex, vertex]
            u += (y[vertex] - u[vertex]) * column
            green -= np.outer(column, green[vertex])
            green[vertex] = green[:, vertex] = 0.0
            continue
        near = component == component[vertex]
        u[near], reached[near] = y[vertex], True
        near[vertex] = False
        if near.any():
            green[np.ix_(near, near)] = linalg.inv(L[np.ix_(near, near)])
    return np.array(order)


def _hardest(margin, variance, reached, left):
    """Return the vertex that is asked for next."""
    # Rounding must not make a tie of a margin that is zero.
    wrong = left & (margin <= 1e-12)
    if not wrong.any():
        return int(np.argmin(np.where(left, margin, np.inf)))
    cost = np.divide((1 - margin) ** 2, variance, out=np.zeros_like(margin), where=reached & left)
    return int(np.argmin(np.where(wrong, cost, np.inf)))
