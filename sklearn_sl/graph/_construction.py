"""Graphs of samples in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sklearn_sl._docstrings import inserter
from sklearn_sl._laplacians._adjacency import as_graph
from sklearn_sl.graph._build import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp

    from sklearn_sl._typing import MatrixLike

described = inserter(
    edge_weights="""
        weight : {"gaussian", "exponential", "binary"}, default="gaussian"
            The weight of an edge; see :class:`GraphBuilder`.

        scale : float, {"self-tuning", "median"}, default="median"
            The length at which weights decay; see :class:`GraphBuilder`.

        metric : str or callable, default="euclidean"
            The distance.
    """,
    adjacency="""
        adjacency : csr_array of shape (n_samples, n_samples)
            The symmetric weights of the edges.
    """,
    samples="""
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
    """,
)


@described
def knn_graph(
    X: MatrixLike,
    n_neighbors: int = 10,
    *,
    mode: Literal["union", "mutual"] = "union",
    weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
    scale: float | Literal["self-tuning", "median"] = "self-tuning",
    metric: str | Callable[..., Any] = "euclidean",
) -> sp.csr_array:
    """Return the graph in which each sample is joined with its nearest ones.

    Parameters
    ----------
    {samples}

    n_neighbors : int, default=10
        The number of neighbours, the sample itself not counted.

    mode : {"union", "mutual"}, default="union"
        Whether one of two samples must be a neighbour of the other, or each of the other.

    weight : {"gaussian", "exponential", "binary"}, default="gaussian"
        The weight of an edge; see :class:`GraphBuilder`.

    scale : float, {"self-tuning", "median"}, default="self-tuning"
        The length at which weights decay; see :class:`GraphBuilder`.

    metric : str or callable, default="euclidean"
        The distance.

    Returns
    -------
    {adjacency}

    Examples
    --------
    >>> from sklearn_sl.graph import knn_graph
    >>> X = [[-2, 0], [-1, -1], [0, 0], [1, 1], [2, 0]]
    >>> knn_graph(X, 2, weight="binary").toarray()
    array([[0., 1., 1., 0., 0.],
           [1., 0., 1., 0., 0.],
           [1., 1., 0., 1., 1.],
           [0., 0., 1., 0., 1.],
           [0., 0., 1., 1., 0.]])
    """
    if mode not in ("union", "mutual"):
        raise ValueError(f"mode must be 'union' or 'mutual'; got {mode!r}.")
    method = "knn" if mode == "union" else "mutual_knn"
    return (
        GraphBuilder(method, n_neighbors=n_neighbors, weight=weight, scale=scale, metric=metric)
        .fit(X)
        .graph_
    )


@described
def ball_graph(
    X: MatrixLike,
    radius: float,
    *,
    weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
    scale: float | Literal["self-tuning", "median"] = "median",
    metric: str | Callable[..., Any] = "euclidean",
) -> sp.csr_array:
    """Return the graph in which samples at a distance of at most ``radius`` are joined.

    Parameters
    ----------
    {samples}

    radius : float
        The largest length of an edge.

    {edge_weights}

    Returns
    -------
    {adjacency}

    Examples
    --------
    >>> from sklearn_sl.graph import ball_graph
    >>> ball_graph([[0.0], [1.0], [3.0]], radius=1.5, weight="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    return (
        GraphBuilder("ball", radius=radius, weight=weight, scale=scale, metric=metric).fit(X).graph_
    )


@described
def mst_graph(
    X: MatrixLike,
    *,
    weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
    scale: float | Literal["self-tuning", "median"] = "median",
    metric: str | Callable[..., Any] = "euclidean",
) -> sp.csr_array:
    """Return the minimum spanning tree of the samples.

    Parameters
    ----------
    {samples}

    {edge_weights}

    Returns
    -------
    {adjacency}

    Examples
    --------
    >>> from sklearn_sl.graph import mst_graph
    >>> mst_graph([[0.0], [1.0], [5.0]], weight="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    return GraphBuilder("mst", weight=weight, scale=scale, metric=metric).fit(X).graph_


@described
def shortest_path_tree(
    X: MatrixLike,
    root: int | None = None,
    *,
    n_neighbors: int = 10,
    weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
    scale: float | Literal["self-tuning", "median"] = "median",
    metric: str | Callable[..., Any] = "euclidean",
) -> sp.csr_array:
    """Return the tree of shortest paths from one sample to all others.

    The paths go along the edges between nearest samples and of the minimum spanning tree: among
    all pairs the shortest path would be the straight one, and the tree a star.

    Parameters
    ----------
    {samples}

    root : int, default=None
        The sample from which the paths begin; the one nearest to the mean if None.

    n_neighbors : int, default=10
        The number of neighbours along which paths go.

    {edge_weights}

    Returns
    -------
    {adjacency}

    Examples
    --------
    >>> from sklearn_sl.graph import shortest_path_tree
    >>> X = [[0.0], [1.0], [2.0]]
    >>> shortest_path_tree(X, root=0, n_neighbors=1, weight="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    builder = GraphBuilder(
        "shortest_path_tree", n_neighbors=n_neighbors, weight=weight, scale=scale, metric=metric
    )
    builder._root = root
    return builder.fit(X).graph_


@described
def complete_graph(
    X: MatrixLike,
    *,
    weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
    scale: float | Literal["self-tuning", "median"] = "median",
    metric: str | Callable[..., Any] = "euclidean",
) -> sp.csr_array:
    """Return the graph in which all samples are joined, by weights that fall with the distance.

    It takes quadratic memory.

    Parameters
    ----------
    {samples}

    {edge_weights}

    Returns
    -------
    {adjacency}

    Examples
    --------
    >>> from sklearn_sl.graph import complete_graph
    >>> complete_graph([[0.0], [1.0], [2.0]], scale=1.0).toarray().round(3)
    array([[0.   , 0.368, 0.018],
           [0.368, 0.   , 0.368],
           [0.018, 0.368, 0.   ]])
    """
    return GraphBuilder("complete", weight=weight, scale=scale, metric=metric).fit(X).graph_


def combine_graphs(
    *graphs: Any, rule: Literal["union", "intersection", "sum"] = "union"
) -> sp.csr_array:
    """Return the union or the intersection of graphs on the same vertices.

    Parameters
    ----------
    *graphs : sparse matrix, array-like of shape (n_vertices, n_vertices) or networkx.Graph
        The graphs; see :func:`as_graph`.

    rule : {"union", "intersection", "sum"}, default="union"
        The weight of an edge: its largest one, its smallest one (none if it is missing
        somewhere), or the sum.

    Returns
    -------
    adjacency : csr_array of shape (n_vertices, n_vertices)
        The symmetric weights of the edges.

    Examples
    --------
    >>> from sklearn_sl.graph import combine_graphs, knn_graph, mst_graph
    >>> X = [[0.0], [1.0], [5.0], [6.0]]
    >>> pairs = knn_graph(X, 1, weight="binary")
    >>> combine_graphs(pairs, mst_graph(X, weight="binary")).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.],
           [0., 0., 1., 0.]])
    """
    rules = {
        "union": lambda a, b: a.maximum(b),
        "intersection": lambda a, b: a.minimum(b),
        "sum": lambda a, b: a + b,
    }
    if rule not in tuple(rules):
        raise ValueError(f"rule must be 'union', 'intersection' or 'sum'; got {rule!r}.")
    if not graphs:
        raise ValueError("combine_graphs needs at least one graph.")
    combined, *others = [as_graph(graph) for graph in graphs]
    for other in others:
        if other.shape != combined.shape:
            raise ValueError(
                f"All graphs must have the same number of vertices; got {combined.shape[0]} and "
                f"{other.shape[0]}."
            )
        combined = rules[rule](combined, other).tocsr()
    return as_graph(combined)
