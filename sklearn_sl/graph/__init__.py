"""Learning on graphs: construction, Laplacians, resistances, and labels that follow the edges."""

from sklearn_sl._laplacians._adjacency import (
    as_graph,
    connected_components,
    cut_weight,
    graph_from_edges,
    laplacian,
    ratio_cut,
)
from sklearn_sl.graph._build import GraphBuilder
from sklearn_sl.graph._construction import (
    ball_graph,
    combine_graphs,
    complete_graph,
    knn_graph,
    mst_graph,
    shortest_path_tree,
)
from sklearn_sl.graph._eigenfunctions import EigenfunctionClassifier
from sklearn_sl.graph._interpolation import (
    LaplacianInterpolationClassifier,
    LaplacianInterpolationRegressor,
)
from sklearn_sl.graph._interpolation_cv import (
    LaplacianInterpolationClassifierCV,
    LaplacianInterpolationRegressorCV,
)
from sklearn_sl.graph._label_propagation import LabelPropagation, LabelSpreading
from sklearn_sl.graph._labelled_scores import labelled_scorer
from sklearn_sl.graph._min_cut import MinCutClassifier, minimum_cut
from sklearn_sl.graph._online import GraphOnlinePredictor
from sklearn_sl.graph._p_laplacian import PLaplacianClassifier, p_resistance
from sklearn_sl.graph._resistance import (
    commute_time,
    effective_resistance,
    kirchhoff_index,
    resistance_cover,
    resistance_diameter,
    vertex_resistance,
)
from sklearn_sl.graph._spectral import SpectralBisection

__all__ = [
    "EigenfunctionClassifier",
    "GraphBuilder",
    "GraphOnlinePredictor",
    "LabelPropagation",
    "LabelSpreading",
    "LaplacianInterpolationClassifier",
    "LaplacianInterpolationClassifierCV",
    "LaplacianInterpolationRegressor",
    "LaplacianInterpolationRegressorCV",
    "MinCutClassifier",
    "PLaplacianClassifier",
    "SpectralBisection",
    "as_graph",
    "ball_graph",
    "combine_graphs",
    "commute_time",
    "complete_graph",
    "connected_components",
    "cut_weight",
    "effective_resistance",
    "graph_from_edges",
    "kirchhoff_index",
    "knn_graph",
    "labelled_scorer",
    "laplacian",
    "minimum_cut",
    "mst_graph",
    "p_resistance",
    "ratio_cut",
    "resistance_cover",
    "resistance_diameter",
    "shortest_path_tree",
    "vertex_resistance",
]
