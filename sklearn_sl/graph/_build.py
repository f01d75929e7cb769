"""Graphs from samples: who is joined with whom, and how strongly.

A builder first finds edges and their lengths, then turns lengths into weights. Edges come as three
arrays ``(i, j, length)`` with ``i < j``, each pair once.
"""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_sl._laplacians._adjacency import sparse_matrix
from sklearn_sl._memory import check_memory
from sklearn_sl._rows import added_up, row_hashes
from sklearn_sl._sklearn import Interval, StrOptions, fit_context, refuse_dataframes
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._neighbors import (
    SQUARED,
    blocks,
    check_lengths,
    check_range,
    distances_to,
    in_format_of,
    moved,
    nearest,
    origin_of,
    pair_lengths,
    paired_lengths,
)
from sklearn_sl.graph._spanning_tree import spanning_tree

METHODS = ("knn", "mutual_knn", "ball", "mst", "shortest_path_tree", "complete")
WEIGHTS = ("binary", "exponential", "gaussian")
# The neighbour whose distance is the scale of a sample, where the graph has no k of its own [1]_.
SCALE_NEIGHBOR = 7
TINY = np.finfo(np.float64).tiny


def read_samples(estimator, X, **checks):
    """Return validated samples, each entry of a sparse matrix stored once and by narrow indices."""
    checks = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", **checks}
    return with_narrow_indices(added_up(validate_data(estimator, X, **checks)))


def with_narrow_indices(X):
    """Return a sparse matrix with indices of 32 bits: distances of scikit-learn take no others."""
    if not sp.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        raise ValueError(
            f"A sparse matrix of {X.nnz} numbers and of the shape {X.shape[0]} x {X.shape[1]} has "
            "too many for indices of 32 bits: build the graph from fewer samples or features."
        )
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


def unique_edges(i, j, length):
    """Return edges with ``i < j``, each once, in the order of ``(i, j)``."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    key = low * np.int64(high.max(initial=0) + 1) + high
    _, first = np.unique(key, return_index=True)
    return low[first], high[first], length[first]


# ---------------------------------------------------------------- edges


def knn_edges(numbers, distances, mutual):
    """Return the edges to the nearest samples: of either end, or of both."""
    n, k = numbers.shape
    i, j = np.repeat(np.arange(n), k), numbers.ravel()
    if mutual:
        directed = np.sort(i * np.int64(n) + j)
        both = np.isin(j * np.int64(n) + i, directed, assume_unique=True)
        i, j, distances = i[both], j[both], distances.ravel()[both]
    return unique_edges(i, j, distances.ravel())


def ball_edges(X, radius, metric, n_jobs):
    """Return the edges between samples at a distance of at most ``radius``."""
    if radius is None:
        raise ValueError("A ball has a radius: method='ball' needs the parameter radius.")
    i, j, length = in_ball(X, X, radius, metric, n_jobs)
    upper = i < j
    return unique_edges(i[upper], j[upper], length[upper])


def in_ball(query, X, radius, metric, n_jobs):
    """Return the pairs ``(query, sample, length)`` at a distance of at most ``radius``."""
    origin = origin_of(X) if metric == "euclidean" else 0.0
    search = NearestNeighbors(radius=radius, metric=metric, n_jobs=n_jobs).fit(moved(X, origin))
    found = sp.vstack(
        [
            search.radius_neighbors_graph(moved(query[part], origin), mode="distance")
            for part in blocks(query, X)
        ]
    ).tocoo()
    if metric == "euclidean":
        return found.row, found.col, paired_lengths(query, found.row, X, found.col)
    return found.row, found.col, found.data


def shortest_path_edges(n, edges, root):
    """Return the edges of the tree of shortest paths from ``root`` along the given edges."""
    i, j, length = edges
    if not len(i):
        return edges
    # A length of zero would be no edge.
    stored = sparse_matrix(np.maximum(length, TINY), i, j, n)
    _, parent = csgraph.dijkstra(stored, directed=False, indices=root, return_predecessors=True)
    child = np.flatnonzero(parent >= 0)
    lengths = sparse_matrix(length, i, j, n)
    low, high = np.minimum(child, parent[child]), np.maximum(child, parent[child])
    return unique_edges(low, high, np.asarray(lengths[low, high]).ravel())


def complete_edges(X, metric, n_jobs):
    """Return all pairs with their distances."""
    n = X.shape[0]
    check_memory(
        24 * n * n,
        f"A complete graph of {n} vertices",
        "use a graph of neighbours, such as method='knn'.",
    )
    i, j = np.triu_indices(n, k=1)
    if metric == "euclidean":
        return i, j, pair_lengths(X, i, j)
    rows = pairwise_distances_chunked(X, metric=metric, n_jobs=n_jobs)
    return i, j, np.vstack(list(rows))[i, j]


# ---------------------------------------------------------------- weights


def scales(scale, lengths, own):
    """Return the scale of the samples: one number, or one for each.

    Parameters
    ----------
    scale : float, "median" or "self-tuning"
    lengths : ndarray of the lengths of the edges
    own : callable that returns each sample's distance to its neighbour of some rank
    """
    if isinstance(scale, Real):
        return float(scale)
    values = lengths if scale == "median" else own()
    positive = values[values > 0]
    if scale == "median":
        return float(np.median(positive)) if len(positive) else 1.0
    # Samples amid copies of theirs have the smallest scale of the others.
    return np.where(values > 0, values, positive.min(initial=np.inf) if len(positive) else 1.0)


def exponents(weight, lengths, scale_i, scale_j):
    """Return minus the logarithm of the weights of edges between samples of two scales."""
    if weight == "binary":
        return np.zeros_like(lengths)
    # The square root of each scale: their product could overflow.
    ratio = (lengths / np.sqrt(scale_i)) / np.sqrt(scale_j)
    return ratio if weight == "exponential" else ratio**2


def _of(scale, samples):
    return scale if np.ndim(scale) == 0 else scale[samples]


def weighted_graph(n, edges, weight, scale):
    """Return the adjacency of edges ``(i, j, length)``; weights that underflow are no edges."""
    i, j, length = edges
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-exponents(weight, length, _of(scale, i), _of(scale, j)))
    weights[weights < TINY] = 0
    both = np.concatenate([i, j]), np.concatenate([j, i])
    adjacency = sparse_matrix(np.concatenate([weights, weights]), *both, n)
    adjacency.eliminate_zeros()
    return adjacency


# ---------------------------------------------------------------- the transformer

GRAPH = "the weights of a graph, whose columns are the training samples"


class GraphBuilder(
    EstimatorMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Makes a graph of samples, and ties new samples to it.

    The edges are chosen by ``method``, or by several whose edges are united. An edge of the length
    ``d`` between samples of the scales ``s`` and ``t`` has the weight ::

        binary        1
        exponential   exp(-d / sqrt(s t))
        gaussian      exp(-d^2 / (s t))

    ``fit_transform`` returns the symmetric adjacency of the training samples, ``transform`` the
    weights between new samples and the training samples: what estimators with
    ``affinity="precomputed"`` take in a pipeline. A new sample that equals a training sample is
    that vertex, and has its row.

    Parameters
    ----------
    method : str or tuple of str, default="knn"
        Which pairs are joined:

        - "knn": each sample with its ``n_neighbors`` nearest ones (the union of both directions);
        - "mutual_knn": samples that are among the nearest ones of each other;
        - "ball": samples at a distance of at most ``radius``;
        - "mst": the edges of the minimum spanning tree, so that the graph is connected;
        - "shortest_path_tree": the shortest paths from the sample nearest to the mean, along the
          edges of "knn" and "mst";
        - "complete": all pairs, in quadratic memory;
        - a tuple of these: the union, such as ``("knn", "mst")``, which is always connected.

    n_neighbors : int, default=10
        The number of neighbours; all samples where there are fewer.

    radius : float, default=None
        The radius of "ball".

    weight : {"gaussian", "exponential", "binary"}, default="gaussian"
        The weight of an edge.

    scale : float, {"self-tuning", "median"}, default="self-tuning"
        The length at which weights decay: a number; "median", the median length of the edges; or
        "self-tuning", for each sample its distance to the last of its ``n_neighbors`` nearest
        ones [1]_ (to the seventh one for methods without neighbours).

    metric : str or callable, default="euclidean"
        The distance, by a name that :class:`~sklearn.neighbors.NearestNeighbors` knows.

    n_jobs : int, default=None
        Threads of the neighbour search; None is scikit-learn's choice.

    Attributes
    ----------
    graph_ : csr_array of shape (n_samples, n_samples)
        The symmetric adjacency of the training samples.

    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training samples.

    scale_ : float or ndarray of shape (n_samples,)
        The scale in use.

    n_features_in_ : int
        Number of features seen during :term:`fit`.

    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X`
        has feature names that are all strings.

    See Also
    --------
    knn_graph : The adjacency of neighbours alone.

    References
    ----------
    .. [1] L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 2004.

    Examples
    --------
    >>> from sklearn_sl.graph import GraphBuilder
    >>> X = [[0.0], [1.0], [2.0], [9.0]]
    >>> GraphBuilder(n_neighbors=1, weight="binary").fit_transform(X).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.],
           [0., 0., 1., 0.]])
    """

    _parameter_constraints = {
        "method": [StrOptions(set(METHODS)), tuple, list],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "weight": [StrOptions(set(WEIGHTS))],
        "scale": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"median", "self-tuning"}),
        ],
        "metric": [str, callable],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        method="knn",
        *,
        n_neighbors=10,
        radius=None,
        weight="gaussian",
        scale="self-tuning",
        metric="euclidean",
        n_jobs=None,
    ):
        self.method = method
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.weight = weight
        self.scale = scale
        self.metric = metric
        self.n_jobs = n_jobs

    # Of the tree of shortest paths: None is the sample nearest to the mean.
    _root = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Make the graph.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        y : None
            Not used: the parameter is there for pipelines.

        Returns
        -------
        self : GraphBuilder
            The fitted transformer.
        """
        X = read_samples(self, X, copy=True)
        self._build(X)
        return self

    def fit_transform(self, X, y=None):
        """Make the graph and return its adjacency.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        y : None
            Not used: the parameter is there for pipelines.

        Returns
        -------
        adjacency : csr_array of shape (n_samples, n_samples)
            The symmetric weights of the edges.
        """
        refuse_dataframes(self, GRAPH)
        return self.fit(X).graph_.copy()

    def transform(self, X):
        """Return the weights between new samples and the training samples.

        A new sample is joined as a training sample would be, but only in its own direction: with
        its nearest training samples, with those in the ball, with the nearest one for trees. It
        always has a neighbour: the nearest sample where there is no other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            The new samples.

        Returns
        -------
        weights : csr_array of shape (n_queries, n_samples)
            The weights, zero where there is no edge.
        """
        check_is_fitted(self)
        refuse_dataframes(self, GRAPH)
        X = read_samples(self, X, reset=False)
        weights, vertex = self._attach(X)
        known = np.flatnonzero(vertex >= 0)
        if not len(known):
            return weights
        new = sp.diags_array((vertex < 0).astype(np.float64)) @ weights
        place = sp.csr_array(
            (np.ones(len(known)), (known, vertex[known])), shape=(X.shape[0], self.graph_.shape[0])
        )
        found = (new + place @ self.graph_).tocsr()
        found.eliminate_zeros()
        return found

    @property
    def _methods(self):
        chosen = (self.method,) if isinstance(self.method, str) else tuple(self.method)
        if not chosen or not all(method in METHODS for method in chosen):
            raise ValueError(
                f"method must be one or several of {', '.join(METHODS)}; got {self.method!r}."
            )
        return chosen

    def _build(self, X):
        """Set the graph of validated samples, which are kept as they are."""
        if self.metric in SQUARED:
            check_range(X)
        search = _Search(X, self.n_neighbors, self.metric, self.n_jobs)
        edges, *others = (self._edges(search, method) for method in self._methods)
        if others:
            edges = unique_edges(*map(np.concatenate, zip(edges, *others)))
        check_lengths(edges[2])
        self.scale_ = scales(
            self.scale if self.weight != "binary" else 1.0,
            edges[2],
            lambda: search.distance_to(self._scale_rank),
        )
        self.graph_ = weighted_graph(X.shape[0], edges, self.weight, self.scale_)
        self.X_fit_ = X
        keys = row_hashes(X)
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order], order
        self._n_features_out = X.shape[0]
        return self

    @property
    def _scale_rank(self):
        has_neighbors = {"knn", "mutual_knn"} & set(self._methods)
        return self.n_neighbors if has_neighbors else SCALE_NEIGHBOR

    def _edges(self, search, method):
        if method == "ball":
            return ball_edges(search.X, self.radius, self.metric, self.n_jobs)
        if method == "complete":
            return complete_edges(search.X, self.metric, self.n_jobs)
        if method == "mst":
            return search.spanning_tree()
        if method == "shortest_path_tree":
            return search.shortest_path_tree(self._root)
        return knn_edges(search.numbers, search.distances, mutual=method == "mutual_knn")

    def _attach(self, X):
        """Return the weights of new samples, and the vertices of those that are known already.

        In a row whose weights would all underflow only their ratios are right.
        """
        n = self.X_fit_.shape[0]
        X = in_format_of(self.X_fit_, X)
        rank = max(self.n_neighbors, self._scale_rank)
        distances, numbers = nearest(self.X_fit_, rank, self.metric, self.n_jobs, query=X)
        vertex = self._equal_rows(X)
        own = 1.0
        if np.ndim(self.scale_):
            own = distances[:, min(self._scale_rank, n) - 1]
            own = np.where(own > 0, own, self.scale_.min())
        row, col, length = self._ties(X, distances, numbers)
        exponent = exponents(
            self.weight,
            length,
            _of(own if np.ndim(self.scale_) else self.scale_, row),
            _of(self.scale_, col),
        )
        return _relative_weights(row, col, exponent, (X.shape[0], n)), vertex

    def _equal_rows(self, X):
        """Return which training sample each row is equal to, or -1."""
        keys, order = self._keys
        place = np.minimum(np.searchsorted(keys, row_hashes(X)), len(keys) - 1)
        differ = X != self.X_fit_[order[place]]
        same = differ.sum(axis=1) == 0 if sp.issparse(differ) else ~differ.any(axis=1)
        return np.where(np.asarray(same).ravel(), order[place], -1)

    def _ties(self, X, distances, numbers):
        """Return the edges ``(query, sample, length)`` of new samples."""
        m, n = X.shape[0], self.X_fit_.shape[0]
        ties = [(np.arange(m), numbers[:, 0], distances[:, 0])]
        methods = set(self._methods)
        if methods & {"knn", "mutual_knn"}:
            k = min(self.n_neighbors, n)
            ties.append(
                (np.repeat(np.arange(m), k), numbers[:, :k].ravel(), distances[:, :k].ravel())
            )
        if "ball" in methods:
            ties.append(in_ball(X, self.X_fit_, self.radius, self.metric, self.n_jobs))
        if "complete" in methods:
            check_memory(24 * m * n, "The weights of all pairs", "predict fewer samples at once.")
            ties.append(
                (
                    np.repeat(np.arange(m), n),
                    np.tile(np.arange(n), m),
                    self._all_distances(X).ravel(),
                )
            )
        row, col, length = map(np.concatenate, zip(*ties))
        _, first = np.unique(row * np.int64(n) + col, return_index=True)
        return row[first], col[first], length[first]

    def _all_distances(self, X):
        n = self.X_fit_.shape[0]
        if self.metric == "euclidean":
            return distances_to(X, self.X_fit_, np.tile(np.arange(n), (X.shape[0], 1)))
        rows = pairwise_distances_chunked(X, self.X_fit_, metric=self.metric, n_jobs=self.n_jobs)
        return np.vstack(list(rows))


class _Search:
    """The neighbours of the samples, looked for once and only if somebody asks."""

    def __init__(self, X, n_neighbors, metric, n_jobs):
        self.X, self.n_neighbors, self.metric, self.n_jobs = X, n_neighbors, metric, n_jobs
        self._found = None

    @property
    def distances(self):
        """Return the distances to the nearest samples."""
        return self._neighbors()[0]

    @property
    def numbers(self):
        """Return the numbers of the nearest samples."""
        return self._neighbors()[1]

    def _neighbors(self):
        if self._found is None:
            self._found = nearest(self.X, self.n_neighbors, self.metric, self.n_jobs)
        return self._found

    def distance_to(self, rank):
        """Return the distance of each sample to its neighbour of some rank, or to the last one."""
        distances = self.distances
        if rank > distances.shape[1] and distances.shape[1] < self.X.shape[0] - 1:
            distances = nearest(self.X, rank, self.metric, self.n_jobs)[0]
        if not distances.shape[1]:
            return np.ones(self.X.shape[0])
        return distances[:, min(rank, distances.shape[1]) - 1]

    def spanning_tree(self):
        """Return the edges of the minimum spanning tree."""
        return spanning_tree(self.X, self.distances, self.numbers, self.metric)

    def shortest_path_tree(self, root):
        """Return the edges of the tree of shortest paths along neighbours."""
        near = knn_edges(self.numbers, self.distances, mutual=False)
        edges = unique_edges(*map(np.concatenate, zip(near, self.spanning_tree())))
        n = self.X.shape[0]
        if root is not None and not (isinstance(root, Integral) and 0 <= root < n):
            raise ValueError(f"root must be a sample between 0 and {n - 1}, got {root!r}.")
        if root is None:
            center = np.asarray(self.X.mean(axis=0)).reshape(1, -1)
            center = in_format_of(self.X, center)
            root = int(nearest(self.X, 1, self.metric, self.n_jobs, query=center)[1][0, 0])
        return shortest_path_edges(n, edges, root)


def _relative_weights(row, col, exponent, shape):
    """Return ``exp(-exponent)`` as a sparse matrix in which no row vanishes."""
    least = np.full(shape[0], np.inf)
    np.minimum.at(least, row, exponent)
    lost = least > -np.log(TINY)
    with np.errstate(under="ignore", invalid="ignore"):
        shifted = np.where(lost[row], exponent - least[row], exponent)
        # The distance itself overflowed: all neighbours are equally far.
        shifted[np.isnan(shifted)] = 0
        weights = np.exp(-shifted) * np.where(lost[row], 2.0**-500, 1.0)
    found = sp.csr_array((weights, (row, col)), shape=shape)
    found.eliminate_zeros()
    return found
