"""From samples to vertices and back: what every estimator on graphs shares.

The vertices are the distinct samples of non-zero weight, in an order that follows from what they
hold. The weight of a vertex, its mass, is the sum of the weights of its samples; an edge between
vertices of the masses ``m`` and ``k`` counts as ``m k`` edges between single samples. So a sample
of weight two is the same as two samples, one of weight zero is none, and the order of the samples
does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from sklearn_sl._laplacians._adjacency import as_graph, check_weights, find_components
from sklearn_sl._rows import distinct_rows
from sklearn_sl._sklearn import Interval, StrOptions, check_sample_weight
from sklearn_sl._validation import distinct_labels, validate_data
from sklearn_sl._warnings import warn
from sklearn_sl.base import as_label_array, missing_labels, read_labels
from sklearn_sl.graph._build import GraphBuilder, build_graph, read_samples
from sklearn_sl.graph._edges import WEIGHTS
from sklearn_sl.graph._labelled_scores import accuracy_of_labelled
from sklearn_sl.graph._paragraphs import described

if TYPE_CHECKING:
    from sklearn_sl._typing import ArrayLike, MatrixLike

# Numbers, truth values and text of NumPy: labels as they are.
PLAIN = "biufU"
# Queries that are tied to the graph at once.
QUERIES = 4096


# ---------------------------------------------------------------- samples


@dataclass
class Vertices:
    """A graph, and which samples its vertices are.

    Attributes
    ----------
    W : csr_array of shape (n_vertices, n_vertices)
        The adjacency, masses multiplied in.
    mass : ndarray of shape (n_vertices,)
        The sum of the weights of a vertex's samples.
    vertex : ndarray of shape (n_samples,)
        The vertex of each sample, or -1 for a sample of weight zero.
    weight : ndarray of shape (n_samples,)
        The weight of each sample.
    builder : GraphBuilder or None
        What made the graph, without the graph itself; None for a given one.
    absent : {ndarray, sparse matrix} of n_absent rows
        The samples of weight zero; of a given graph their weights to the vertices.
    reached : ndarray of shape (n_vertices,)
        Whether the component of a vertex has a label; once labels are known.
    component : ndarray of shape (n_vertices,)
        The component of each vertex; once labels are known.
    label_mass : ndarray of shape (n_vertices,)
        The sum of the weights of a vertex's labelled samples; once labels are known.
    labelled : ndarray of int
        The labelled samples of positive weight; once labels are known.
    labels : ndarray
        Their classes as codes, or their numbers; once labels are known.
    left_out_weight : ndarray
        The weight that is left out with each of them; once labels are known.
    """

    W: sp.csr_array
    mass: np.ndarray
    vertex: np.ndarray
    weight: np.ndarray
    builder: GraphBuilder | None
    absent: np.ndarray | sp.csr_array
    reached: np.ndarray | None = None
    component: np.ndarray | None = None
    label_mass: np.ndarray | None = None
    labelled: np.ndarray | None = None
    labels: np.ndarray | None = None
    left_out_weight: np.ndarray | None = None

    @property
    def n_vertices(self):
        """Return the number of vertices."""
        return self.W.shape[0]

    def set_labels(self, label_mass, labelled, labels):
        """Set what is known of the labels, and what follows from where they are."""
        self.label_mass, self.labelled, self.labels = label_mass, labelled, labels
        n_components, self.component = find_components(self.W)
        known = np.zeros(n_components, dtype=bool)
        known[self.component[label_mass > 0]] = True
        self.reached = known[self.component]
        # A sample of integer weight is so many samples, one of which is left out; a vertex of a
        # given graph is left out with its weight.
        weight = self.weight[labelled]
        counts = self.builder is not None and np.all(weight == np.rint(weight))
        self.left_out_weight = np.ones(len(weight)) if counts else weight

    @property
    def unreached_samples(self):
        """Return which samples are in a component without a label."""
        return (self.vertex >= 0) & ~self.reached[np.maximum(self.vertex, 0)]


def scaled_by_mass(W, mass):
    """Return the graph with its weights multiplied by the masses of both ends."""
    if np.all(mass == 1):
        return W
    with np.errstate(over="ignore", under="ignore"):
        data = W.data * np.repeat(mass, np.diff(W.indptr)) * mass[W.indices]
    if not (np.isfinite(data).all() and data.all()):
        raise ValueError(
            "sample_weight makes the edge weights overflow or underflow: divide it by its mean."
        )
    return sp.csr_array((data, W.indices, W.indptr), shape=W.shape)


# ---------------------------------------------------------------- labels


def label_column(y, X):
    """Return class labels as a vector, one for each sample and each as it was given."""
    if type(y) is np.ndarray and y.shape == (X.shape[0],):
        return y if y.dtype.kind in PLAIN else as_label_array(y)
    check_consistent_length(X, y)
    return column_or_1d(as_label_array(y), warn=True)


def propagation_codes(estimator, X, y):
    """Return the classes and the :func:`label_codes` for scikit-learn's mark, the number -1."""
    check_target(estimator, y)
    y = label_column(y, X)
    warn_of_text_mark(y)
    # No text equals -1: all samples with labels of text are labelled.
    return label_codes(y, unlabelled=None if "-1" in _texts(y) else -1)


def label_codes(y, unlabelled):
    """Return the classes, and the number of each label's class, -1 where there is no label.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    unlabelled : the mark of an unlabelled sample; None if there is none; "auto" is -1, unless the
        labels are -1 and 1 alone, which are two classes; a warning says so.
    """
    check_known(y)
    marked = _marked(y, unlabelled)
    labels = y[~marked]
    if labels.dtype.kind not in PLAIN:
        labels = read_labels(labels)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(
            "Input y contains NaN: to mark samples as unlabelled, replace it by the value of "
            "unlabelled, for example np.where(np.isnan(y), -1, y)."
        )
    if labels.dtype.kind not in "biuU":
        assert_all_finite(labels, input_name="y")
    if marked.all():
        raise ValueError(
            "All samples in y are unlabelled, marked by "
            f"{-1 if _is_auto(unlabelled) else unlabelled!r}: at least one label is required."
        )
    classes = distinct_labels(labels)
    codes = np.full(len(y), -1, dtype=np.intp)
    codes[~marked] = np.searchsorted(classes, labels)
    return classes, codes


def check_known(y):
    """Raise if a label is None, or a missing value of pandas: these cannot be compared."""
    if y.dtype.kind == "O" and any(not isinstance(label, Real) for label in missing_labels(y)):
        raise ValueError(
            "y contains missing labels (None or NA): to mark samples as unlabelled, replace them "
            "by the value of unlabelled, for example y.fillna(-1)."
        )


def _texts(y):
    """Return the labels that are text."""
    if y.dtype.kind in "US":
        return set(np.unique(y).astype(str).tolist())
    return {label for label in y if isinstance(label, str)} if y.dtype.kind == "O" else set()


def warn_of_text_mark(y):
    """Warn if text looks like -1, the mark of samples without a label; "-1" and "1" are classes."""
    texts = _texts(y)
    if "-1" in texts and not texts <= {"-1", "1", "+1"}:
        warn(
            'y contains the string "-1", which is treated as a class. To mark samples as '
            "unlabelled, use the number -1 in an array of dtype=object (arrays of strings convert "
            "numbers to strings).",
        )


def _is_auto(unlabelled):
    return isinstance(unlabelled, str) and unlabelled == "auto"


def _marked(y, unlabelled):
    """Return which samples have no label."""
    nothing = np.zeros(len(y), dtype=bool)
    if unlabelled is None:
        return nothing
    mark = -1 if _is_auto(unlabelled) else unlabelled
    if _is_auto(unlabelled):
        warn_of_text_mark(y)
    elif not isinstance(mark, str | bytes) and str(mark) in _texts(y):
        raise ValueError(
            f"y contains the string {str(mark)!r}, but unlabelled={mark!r} is a number and matches "
            "no string (arrays of strings convert numbers to strings). Use an array of "
            f"dtype=object, or set unlabelled={str(mark)!r}."
        )
    if (y.dtype.kind in "US") != isinstance(mark, str | bytes) and y.dtype.kind != "O":
        return nothing
    if isinstance(mark, Real) and np.isnan(mark):
        return np.array([isinstance(label, Real) and np.isnan(label) for label in y])
    marked = np.asarray(y == mark, dtype=bool)
    if _is_auto(unlabelled) and marked.any() and np.all(y[~marked] == 1) and not marked.all():
        warn(
            "The only labels are -1 and 1, which are treated as two classes. If -1 marks "
            "unlabelled samples, set unlabelled=-1; if it is a class, set unlabelled=None.",
        )
        return nothing
    return marked


# ---------------------------------------------------------------- estimators


class GraphMixin:
    """The parameters ``affinity, n_neighbors, weight, scale`` and the graph that they make."""

    graph_: sp.csr_array
    vertex_: np.ndarray

    _graph_constraints = {
        "affinity": [StrOptions({"knn", "precomputed"}), GraphBuilder],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weight": [StrOptions(set(WEIGHTS))],
        "scale": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"median", "self-tuning"}),
        ],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.positive_only = self._precomputed
        if self._precomputed and tags.classifier_tags is not None:
            # What scikit-learn's checks pass for a graph says nothing about the classes.
            tags.classifier_tags.poor_score = True
        if self._precomputed and tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        return tags

    @property
    def _precomputed(self):
        return isinstance(self.affinity, str) and self.affinity == "precomputed"

    def _graph_vertices(self, X, sample_weight=None, **graph_params):
        """Return the :class:`Vertices` of samples, or of a given graph.

        ``graph_params`` replace parameters of the graph.
        """
        if self._precomputed:
            return self._given_vertices(X, sample_weight)
        X = read_samples(self, X)
        weight = self._sample_weight(sample_weight, X)
        present = np.flatnonzero(weight > 0)
        first, kind = distinct_rows(X[present])
        vertex = np.full(X.shape[0], -1, dtype=np.intp)
        vertex[present] = kind
        if not isinstance(self.affinity, GraphBuilder):
            own = {name: getattr(self, name) for name in ("n_neighbors", "weight", "scale")}
            graph_params = {**own, **graph_params}
        graph, builder = build_graph(self.affinity, X[present[first]], **graph_params)
        mass = np.bincount(kind, weights=weight[present], minlength=len(first))
        W = scaled_by_mass(graph, mass)
        return Vertices(W, mass, vertex, weight, builder, X[vertex < 0])

    def _given_vertices(self, X, sample_weight):
        A = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        W = as_graph(A)
        weight = self._sample_weight(sample_weight, W)
        present = np.flatnonzero(weight > 0)
        vertex = np.full(W.shape[0], -1, dtype=np.intp)
        vertex[present] = np.arange(len(present))
        absent = W[np.flatnonzero(weight == 0)][:, present]
        if absent.shape[0]:
            W = W[present][:, present]
        mass = weight[present]
        return Vertices(scaled_by_mass(W, mass), mass, vertex, weight, None, absent)

    def _sample_weight(self, sample_weight, X):
        if sample_weight is None:
            return np.ones(X.shape[0])
        return check_sample_weight(sample_weight, X, dtype=np.float64)

    # ------------------------------------------------------------ values at samples

    def _keep(self, vertices, values):
        """Keep the graph and the values of its vertices for predictions; set public attributes.

        Returns the values at all samples.
        """
        self.graph_ = vertices.W
        self.vertex_ = vertices.vertex
        self._mass, self._values = vertices.mass, values
        self._builder = vertices.builder
        at_samples = values[np.maximum(vertices.vertex, 0)]
        absent = vertices.vertex < 0
        if absent.any():  # these are as if they were new
            at_new = self._average if self._precomputed else self._at_queries
            at_samples[absent] = at_new(vertices.absent)
        return at_samples

    def _values_at(self, X):
        """Return the values at new samples, or at rows of weights to the vertices."""
        check_is_fitted(self)
        if self._precomputed:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            weights = check_weights(X, "X")
            if np.any(self.vertex_ < 0):
                weights = weights[:, np.flatnonzero(self.vertex_ >= 0)]
            return self._average(weights)
        return self._at_queries(read_samples(self, X, reset=False))

    def _at_queries(self, X):
        found = []
        for start in range(0, X.shape[0], QUERIES):
            weights, vertex = self._builder._attach(X[start : start + QUERIES])
            values = self._average(weights)
            known = vertex >= 0
            values[known] = self._values[vertex[known]]
            found.append(values)
        return np.concatenate(found)

    def _average(self, weights):
        """Return the values that follow from weights between new samples and the vertices."""
        # Only ratios count: huge and tiny weights must not overflow or vanish in the sum.
        weights = _divided_by_largest(sp.csr_array(weights))
        weights.data *= self._mass[weights.indices] / self._mass.max()
        weights = _divided_by_largest(weights)
        total = np.asarray(weights.sum(axis=1)).ravel()
        tied = total > 0
        weights.data /= np.repeat(total, np.diff(weights.indptr))
        values = self._extend(weights, self._values)
        values[~tied] = self._default
        return values

    def _extend(self, weights, values):
        """Return the values of new samples, whose ``weights`` add up to one in each row."""
        return weights @ values


def _divided_by_largest(weights):
    """Return rows of weights, each divided by its largest one, in a new csr_array."""
    largest = np.asarray(weights.max(axis=1).todense()).ravel()
    data = weights.data / np.repeat(np.where(largest > 0, largest, 1), np.diff(weights.indptr))
    return sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


@described
class GraphClassifierMixin(GraphMixin):
    """Classes at the vertices of a graph: distributions of labels, also at new samples."""

    classes_: np.ndarray
    transduction_: np.ndarray
    label_distributions_: np.ndarray
    prior_: np.ndarray
    component_without_label_: np.ndarray

    _graph_constraints = {**GraphMixin._graph_constraints, "unlabelled": "no_validation"}

    def _training_vertices(self, X, y, sample_weight, **graph_params):
        """Return the vertices, their label distributions and which of them have a label.

        Sets ``classes_`` and ``prior_``.
        """
        check_target(self, y)
        vertices = self._graph_vertices(X, sample_weight, **graph_params)
        y = label_column(y, vertices.vertex)
        present = np.flatnonzero(vertices.vertex >= 0)
        self.classes_, codes = label_codes(y[present], self.unlabelled)
        given = codes >= 0
        totals = sp.csr_array(
            (
                vertices.weight[present[given]],
                (vertices.vertex[present[given]], codes[given]),
            ),
            shape=(vertices.n_vertices, len(self.classes_)),
        ).toarray()
        vertices.set_labels(totals.sum(axis=1), present[given], codes[given])
        labelled = vertices.label_mass > 0
        self.prior_ = self._default = totals.sum(axis=0) / totals.sum()
        Y = totals / np.where(labelled, vertices.label_mass, 1)[:, None]
        return vertices, Y, labelled

    def _set_distributions(self, vertices, F):
        """Set what follows from the distribution of labels at each vertex.

        Warns of components without a label.
        """
        self.component_without_label_ = flag_unreached(vertices)
        self.label_distributions_ = self._keep(vertices, F)
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Return the distribution of labels at samples.

        A sample that equals a training sample has the distribution of that vertex, any other one
        the mean over its neighbours in the graph, by the weights of its edges. One without a
        neighbour has the shares of the classes among the labels, ``prior_``.

        Parameters
        ----------
        {queries}

        Returns
        -------
        distributions : ndarray of shape (n_samples, n_classes)
            Rows add up to one.
        """
        return self._values_at(X)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Return the most likely class of samples.

        Parameters
        ----------
        {queries}

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The classes; the first one of several that are equally likely.
        """
        most_likely = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_likely]

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on the samples that have a label.

        Samples that are marked as unlabelled are left out: their label is unknown, not wrong. For
        other scores see :func:`sklearn_sl.graph.labelled_scorer`.

        Parameters
        ----------
        {queries}

        y : array-like of shape (n_samples,)
            The labels.

        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        score : float
            The share of the labels that are predicted.
        """
        return accuracy_of_labelled(self, X, y, sample_weight)


def check_target(estimator, y):
    """Raise if there are no targets at all."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )


def flag_unreached(vertices):
    """Return which samples are in a component without a label, and warn if there are any."""
    unreached = vertices.unreached_samples
    if unreached.any():
        n_components = len(np.unique(vertices.component[~vertices.reached]))
        warn(
            f"{n_components} connected component(s) of the graph, with {unreached.sum()} of "
            f"{len(unreached)} samples, have no label: these samples get the mean of all labels "
            "(see component_without_label_). To connect them, increase n_neighbors or use a graph "
            'with a spanning tree, such as GraphBuilder(("knn", "mst")).',
        )
    return unreached
