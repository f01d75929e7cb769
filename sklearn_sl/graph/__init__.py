"""Learning on graphs: construction, Laplacians, resistances, and labels that follow the edges."""

from sklearn_sl.graph._adjacency import (
    as_graph,
    connected_components,
    cut_weight,
    graph_from_edges,
    laplacian,
    ratio_cut,
)

__all__ = [
    "as_graph",
    "connected_components",
    "cut_weight",
    "graph_from_edges",
    "laplacian",
    "ratio_cut",
]
