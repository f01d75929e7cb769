"""Graphs from samples as a transformer, which also ties new samples to the graph."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics import pairwise_distances_chunked
from sklearn.utils.validation import check_is_fitted

from sklearn_sl._memory import check_memory
from sklearn_sl._rows import added_up, row_hashes
from sklearn_sl._sklearn import Interval, StrOptions, fit_context, refuse_dataframes
from sklearn_sl._validation import validate_data
from sklearn_sl.base import EstimatorMixin
from sklearn_sl.graph._edges import (
    METHODS,
    WEIGHTS,
    at_samples,
    distances_to,
    exponents,
    in_ball,
    in_format_of,
    make_graph,
    nearest,
    scale_rank,
)
from sklearn_sl.graph._paragraphs import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_sl._typing import MatrixLike, SparseLike

TINY = np.finfo(np.float64).tiny


def read_samples(estimator, X, **checks):
    """Return validated samples, each entry of a sparse matrix stored once and by narrow indices."""
    checks = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", **checks}
    X = validate_data(estimator, X, **checks)
    return with_narrow_indices(added_up(X)) if sp.issparse(X) else X


def with_narrow_indices(X):
    """Return a sparse matrix with indices of 32 bits: distances of scikit-learn take no others."""
    if X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        raise ValueError(
            f"X has {X.nnz} stored values and the shape {X.shape}: too large for 32-bit indices. "
            "Use fewer samples or features."
        )
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


GRAPH = "the weights of a graph, whose columns are the training samples"


@described
class GraphBuilder(
    EstimatorMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Builds a graph of samples, and connects new samples to it.

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

    {features_seen}

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

    graph_: sp.csr_array
    X_fit_: np.ndarray | SparseLike
    scale_: float | np.ndarray

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
        method: str | tuple[Any, ...] = "knn",
        *,
        n_neighbors: int = 10,
        radius: float | None = None,
        weight: Literal["gaussian", "exponential", "binary"] = "gaussian",
        scale: float | Literal["self-tuning", "median"] = "self-tuning",
        metric: str | Callable[..., Any] = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
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
    def fit(self, X: MatrixLike, y: None = None) -> Self:
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
        self.graph_ = self._build(X)
        return self

    def fit_transform(self, X: MatrixLike, y: None = None) -> sp.csr_array:
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

    def transform(self, X: MatrixLike) -> sp.csr_array:
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
                f"method must be one of {', '.join(METHODS)}, or a tuple of these; got "
                f"{self.method!r}."
            )
        return chosen

    def _build(self, X):
        """Return the graph of validated samples; keep them and what ties new ones to them."""
        params = self.get_params(deep=False)
        del params["method"]
        graph, self.scale_ = make_graph(X, self._methods, self._root, **params)
        self.X_fit_ = X
        keys = row_hashes(X)
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order], order
        self._n_features_out = X.shape[0]
        return graph

    def _attach(self, X):
        """Return the weights of new samples, and the vertices of those that are known already.

        In a row whose weights would all underflow only their ratios are right.
        """
        n = self.X_fit_.shape[0]
        X = in_format_of(self.X_fit_, X)
        own_rank = scale_rank(self._methods, self.n_neighbors)
        rank = max(self.n_neighbors, own_rank)
        distances, numbers = nearest(self.X_fit_, rank, self.metric, self.n_jobs, query=X)
        vertex = self._equal_rows(X)
        own = 1.0
        if np.ndim(self.scale_):
            own = distances[:, min(own_rank, n) - 1]
            own = np.where(own > 0, own, self.scale_.min())
        row, col, length = self._ties(X, distances, numbers)
        exponent = exponents(
            self.weight,
            length,
            at_samples(own if np.ndim(self.scale_) else self.scale_, row),
            at_samples(self.scale_, col),
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


def build_graph(affinity, X, **params):
    """Return the graph of validated samples, and its :class:`GraphBuilder` without the graph.

    ``affinity`` is a builder, or "knn"; ``params`` replace parameters.
    """
    builder = clone(affinity) if isinstance(affinity, GraphBuilder) else GraphBuilder(affinity)
    builder.set_params(**params)._validate_params()
    return builder._build(X), builder


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
