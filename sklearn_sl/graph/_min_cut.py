"""Labellings of a graph that cut the least weight, by maximum flows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_sl._laplacians._adjacency import as_graph
from sklearn_sl._sklearn import Progress, fit_context
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph import _max_flow
from sklearn_sl.graph._paragraphs import described
from sklearn_sl.graph._vertices import GraphClassifierMixin

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike, SparseLike

# Arcs of one call: some 50 ms.
CALL = 5_000_000
# An arc of which no more than this part is left is full: sums of weights are rounded.
SLACK = 2.0**-40


@dataclass
class MinimumCut:
    """A minimum cut between two sets of vertices, with a maximum flow as its certificate.

    Attributes
    ----------
    value : float
        The weight of the cut.

    flow_value : float
        What the flow brings from the sources to the sinks. No cut has less weight than any flow
        brings, so that both are optimal if they are equal, but for rounding.

    source_side : ndarray of shape (n_vertices,)
        The vertices on the side of the sources in every minimum cut. They are a minimum cut.

    sink_side : ndarray of shape (n_vertices,)
        The vertices on the side of the sinks in every minimum cut. They are a minimum cut.

    unique : bool
        Whether there is only one minimum cut: each vertex is on one of the two sides.

    flow : csr_array of shape (n_vertices, n_vertices)
        The flow from row to column, negative if it goes the other way.
    """

    value: float
    flow_value: float
    source_side: np.ndarray
    sink_side: np.ndarray
    unique: bool
    flow: sp.csr_array


@described
def minimum_cut(graph: SparseLike | ArrayLike, source_set: ArrayLike, sink_set: ArrayLike) -> Any:
    """Return a cut of the least weight between two sets of vertices.

    That is ``min sum of w_ij |u_i - u_j|`` over the edges among the ``u`` in {0, 1} that are 1 at
    the sources and 0 at the sinks. The linear program over [0, 1] has the same minimum, and its
    dual is the maximum flow through the edges, each of which takes no more than its weight [1]_.
    The flow is found by Dinic's algorithm [2]_, for real weights. Minimum cuts are closed under
    union and intersection, so one has the fewest vertices on the side of the sources, and another
    one the fewest on that of the sinks. Weights that differ by less than their rounding errors,
    1e-12 of them, are taken as equal.

    Parameters
    ----------
    {graph}

    source_set : array-like of int
        The vertices on one side.

    sink_set : array-like of int
        The vertices on the other side.

    Returns
    -------
    cut : MinimumCut
        The weight ``value`` of the cut, the ``flow_value``, the ``source_side`` and ``sink_side``
        of the two extreme cuts as Boolean arrays, whether the cut is ``unique``, and the ``flow``
        as a sparse matrix.

    See Also
    --------
    MinCutClassifier : Classification by minimum cuts.
    cut_weight : The weight of any cut.

    References
    ----------
    .. [1] L. R. Ford and D. R. Fulkerson, "Maximal flow through a network", Canadian Journal of
       Mathematics 8, 1956.

    .. [2] E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
       estimation", Soviet Mathematics Doklady 11, 1970.

    Examples
    --------
    >>> from sklearn_sl.graph import graph_from_edges, minimum_cut
    >>> path = graph_from_edges([[0, 1], [1, 2], [2, 3]], [2.0, 0.5, 0.5])
    >>> cut = minimum_cut(path, [0], [3])
    >>> cut.value, cut.flow_value, cut.unique
    (0.5, 0.5, False)
    >>> cut.source_side, cut.sink_side
    (array([ True,  True, False, False]), array([False, False, False,  True]))
    """
    W = as_graph(graph)
    sources = _vertex_set(source_set, W.shape[0], "source_set")
    sinks = _vertex_set(sink_set, W.shape[0], "sink_set")
    both = np.intersect1d(sources, sinks)
    if len(both):
        raise ValueError(
            f"source_set and sink_set must be disjoint; both contain vertex {both[0]}."
        )
    return _minimum_cut(Arcs(W), sources, sinks)


def _vertex_set(vertices, n_vertices, name):
    """Return the different vertices of a set, or say what is wrong."""
    vertices = np.asarray(vertices)
    if vertices.ndim != 1 or not len(vertices) or vertices.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a non-empty 1-D array of integers.")
    if vertices.min() < 0 or vertices.max() >= n_vertices:
        raise ValueError(f"{name} must be vertices in [0, {n_vertices}).")
    return np.unique(vertices).astype(np.intp)


# ---------------------------------------------------------------- flows


class Arcs:
    """A graph as what the compiled code takes: two arcs for each edge."""

    def __init__(self, W):
        W = W.sorted_indices()
        self.ways = W.indptr.astype(np.intp), W.indices.astype(np.intp)
        # The place of (j, i) at the place of (i, j).
        numbered = sp.csr_array((np.arange(W.nnz), W.indices, W.indptr), shape=W.shape)
        self.opposite = numbered.T.tocsr().data.astype(np.intp)
        # Products with the masses of samples may be rounded differently in the two directions.
        both = np.minimum(W.data, W.data[self.opposite])
        self.W = sp.csr_array((both, W.indices, W.indptr), shape=W.shape)

    def levels(self, flow, start, direction, slack=0.0):
        """Return how far each vertex is from (1) or to (-1) some vertices; -1: not connected."""
        n = self.W.shape[0]
        level, queue = np.full(n, -1, dtype=np.intp), np.empty(n, dtype=np.intp)
        level[start], queue[: len(start)] = 0, start
        ends = np.array([0, len(start)], dtype=np.intp)
        done = False
        while not done:
            done = _max_flow.find_levels(
                *self.ways, self.W.data, flow, direction, slack, level, queue, ends, CALL
            )
        return level

    def maximum_flow(self, sources, sinks):
        """Return a maximum flow between two sets, arc by arc."""
        flow = np.zeros(self.W.nnz)
        path = np.empty(self.W.shape[0], dtype=np.intp)
        while True:
            level = self.levels(flow, sinks, -1.0)
            if np.all(level[sources] == -1):
                return flow
            arc, progress, done = self.ways[0][:-1].copy(), np.zeros(2, dtype=np.intp), False
            while not done:
                done = _max_flow.augment(
                    *self.ways,
                    self.opposite,
                    self.W.data,
                    level,
                    sources,
                    flow,
                    arc,
                    path,
                    progress,
                    CALL,
                )


def _minimum_cut(arcs, sources, sinks):
    """Return the minimum cut between two sets of vertices, one of which may be empty."""
    W = arcs.W
    flow = arcs.maximum_flow(sources, sinks)
    source_side = arcs.levels(flow, sources, 1.0, SLACK) >= 0
    sink_side = arcs.levels(flow, sinks, -1.0, SLACK) >= 0
    matrix = sp.csr_array((flow, W.indices, W.indptr), shape=W.shape)
    return MinimumCut(
        value=_weight_between(W, source_side),
        flow_value=float(matrix[sources].sum()),
        source_side=source_side,
        sink_side=sink_side,
        unique=bool(np.all(source_side | sink_side)),
        flow=matrix,
    )


# ---------------------------------------------------------------- classification


@described
class MinCutClassifier(EstimatorMixin, GraphClassifierMixin, ClassifierMixin, BaseEstimator):
    """Semi-supervised classification by a minimum cut of a graph.

    For two classes, of all labellings that agree with the labels that are given, it is one with ::

        min sum of w_ij |u_i - u_j| over the edges,    u in {-1, 1}^n,

    by a maximum flow, which proves it [1]_. There can be several minimum cuts: one has the smallest
    possible first side, another one the smallest possible second side. Vertices on which they
    differ have one half of each class, and are flagged in ``ambiguous_``.

    **Several classes.** To cut a graph into more than two parts at the least weight is NP-hard. For
    each class the minimum cut that isolates its labels from all others is found, and a vertex
    belongs to the classes whose isolating cuts can have it on their side, in equal shares; one that
    no cut takes goes to the class that is the most expensive to isolate. The weight of that
    labelling is at most ``2 - 2 / n_classes`` times the least one (Dahlhaus et al. [2]_), as ::

        flow_value_ <= least weight <= cut_weight_ <= (2 - 2 / n_classes) flow_value_

    where ``flow_value_`` is half the sum of the flows of all classes. For two classes all are
    equal.

    **New samples** have the shares of the classes among their neighbours, by the weights of the
    edges; the class with the largest share is the one whose choice cuts the least.

    A vertex whose samples have different labels has the most frequent one, or none if there are
    several. See the :ref:`user guide <graph>`.

    Parameters
    ----------
    {affinity}

    {knn_parameters}

    {unlabelled}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.

    transduction_ : ndarray of shape (n_samples,)
        The class of each training sample.

    label_distributions_ : ndarray of shape (n_samples, n_classes)
        The distribution of labels at each training sample.

    graph_ : csr_array of shape (n_vertices, n_vertices)
        The graph. Its vertices are the distinct samples of non-zero weight.

    vertex_ : ndarray of shape (n_samples,)
        The vertex of each training sample, -1 for samples of weight zero.

    prior_ : ndarray of shape (n_classes,)
        The shares of the classes among the labels.

    component_without_label_ : ndarray of shape (n_samples,)
        Whether a sample is in a connected component without a label; these have the distribution
        ``prior_``.

    cut_weight_ : float
        The weight of the edges between the classes.

    flow_value_ : float
        Half the sum of the maximum flows that isolate the classes: no labelling cuts less.

    isolating_weights_ : ndarray of shape (n_classes,)
        The weight of the minimum cut that isolates each class.

    unique_ : bool
        Whether all isolating cuts are the only minimum ones, on the components with a label. For
        two classes: whether there is only one labelling of the least weight.

    ambiguous_ : ndarray of shape (n_samples,)
        The samples on which minimum cuts differ.

    {features_seen}

    See Also
    --------
    minimum_cut : The cut between two sets of vertices.
    PLaplacianClassifier : A family that has minimum cuts as a limit.

    References
    ----------
    .. [1] A. Blum and S. Chawla, "Learning from labeled and unlabeled data using graph mincuts",
       ICML 2001.

    .. [2] E. Dahlhaus, D. S. Johnson, C. H. Papadimitriou, P. D. Seymour and M. Yannakakis, "The
       complexity of multiterminal cuts", SIAM Journal on Computing 23, 1994.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn_sl.graph import MinCutClassifier
    >>> X, moon = make_moons(200, noise=0.05, random_state=0)
    >>> y = moon.copy()
    >>> y[20:] = -1
    >>> model = MinCutClassifier().fit(X, y)
    >>> model.unique_, bool(abs(model.cut_weight_ - model.flow_value_) < 1e-9)
    (True, True)
    >>> float((model.transduction_ == moon).mean())
    1.0
    """

    cut_weight_: float
    flow_value_: float
    isolating_weights_: np.ndarray
    unique_: bool
    ambiguous_: np.ndarray

    _parameter_constraints = {**GraphClassifierMixin._graph_constraints}
    # With all labels given, there is nothing to spread.
    _compare_grid = None

    def __init__(
        self,
        *,
        affinity: Any = "knn",
        n_neighbors: int = 10,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        unlabelled: Any = "auto",
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.scale = scale
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
        self : MinCutClassifier
            The fitted estimator.
        """
        vertices, Y, _ = self._training_vertices(X, y, sample_weight)
        cuts = self._isolate(Arcs(vertices.W), _certain_labels(Y))
        self.isolating_weights_ = np.array([cut.value for cut in cuts])
        self.flow_value_ = sum(cut.flow_value for cut in cuts) / 2
        can_have = np.column_stack([~cut.sink_side for cut in cuts])
        ambiguous = vertices.reached & (can_have.sum(axis=1) > 1)
        decided = [cut.source_side | cut.sink_side for cut in cuts]
        self.unique_ = bool(np.all(decided, axis=0)[vertices.reached].all())
        F = self._shares(can_have)
        self.cut_weight_ = _weight_between(vertices.W, F.argmax(axis=1))
        F[~vertices.reached] = self.prior_
        present = vertices.vertex >= 0
        self.ambiguous_ = present & ambiguous[np.maximum(vertices.vertex, 0)]
        self._set_distributions(vertices, F)
        return self

    def _isolate(self, arcs, labels):
        """Return the minimum cut around the labels of each class."""
        n_classes = len(self.classes_)
        n_cuts = 1 if n_classes == 2 else n_classes
        cuts = []
        with Progress(self, name="class", total=n_cuts) as progress:
            for number in range(n_cuts):
                with progress.step():
                    own = np.flatnonzero(labels == number)
                    others = np.flatnonzero((labels >= 0) & (labels != number))
                    cuts.append(_minimum_cut(arcs, own, others))
        if n_classes == 2:
            cuts.append(_seen_from_sinks(cuts[0]))
        return cuts

    def _shares(self, can_have):
        """Return the distribution of each vertex, from the classes that it can be in.

        The first of these classes is what the bound on the weight is for: taking a side off another
        leaves both as light as they were.
        """
        nowhere = ~can_have.any(axis=1)
        can_have[nowhere, self.isolating_weights_.argmax()] = True
        return can_have / can_have.sum(axis=1, keepdims=True)


def _seen_from_sinks(cut):
    """Return the cut with its two sides exchanged."""
    sides = {"source_side": cut.sink_side, "sink_side": cut.source_side}
    return replace(cut, **sides, flow=-cut.flow)


def _certain_labels(Y):
    """Return the most frequent label of each vertex, or -1 if there are several or none."""
    largest = Y.max(axis=1)
    certain = (Y == largest[:, None]).sum(axis=1) == 1
    if Y.shape[1] == 1:
        certain = largest > 0
    return np.where(certain, Y.argmax(axis=1), -1)


def _weight_between(W, labels):
    """Return the weight of the edges between different labels."""
    W = W.tocoo()
    return float(W.data[labels[W.row] != labels[W.col]].sum() / 2)
