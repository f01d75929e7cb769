"""Edges between samples: nearest neighbours, spanning trees, and the weights of edges.

Edges come as three arrays ``(i, j, length)`` with ``i < j``, each pair once.
"""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph
from sklearn.metrics import (
    pairwise_distances,
    pairwise_distances_argmin_min,
    pairwise_distances_chunked,
)
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from sklearn_sl._laplacians._adjacency import find_components, sparse_matrix
from sklearn_sl._memory import check_memory

METHODS = ("knn", "mutual_knn", "ball", "mst", "shortest_path_tree", "complete")
WEIGHTS = ("binary", "exponential", "gaussian")
# The neighbour whose distance is the scale of a sample, where the graph has no k of its own [1]_.
SCALE_NEIGHBOR = 7
# Numbers of the pairs whose distance is computed at once, such that they stay in the cache.
BLOCK = 2**16
# Multiplications of one search for neighbours, some 50 ms.
SEARCH = 5e8
# Numbers up to which the square of a difference is finite.
LARGEST = 0.25 * np.sqrt(np.finfo(np.float64).max)
# Numbers down to which the squares of differences are more than nothing.
SMALLEST = 1e-150
# Metrics that are found by squares, and silently wrong where these overflow.
SQUARED = ("euclidean", "l2", "sqeuclidean")
# Samples that are so many times farther from zero than from each other are moved there.
FAR = 100
TINY = np.finfo(np.float64).tiny
NO_EDGE = np.inf


def make_graph(X, methods, root=None, *, n_neighbors, radius, weight, scale, metric, n_jobs):
    """Return the adjacency of samples and the scale in use; see :class:`GraphBuilder`.

    The edges of several methods are united.
    """
    if metric in SQUARED:
        check_range(X)
    search = _Search(X, n_neighbors, metric, n_jobs)

    def edges_by(method):
        if method == "ball":
            return ball_edges(X, radius, metric, n_jobs)
        if method == "complete":
            return complete_edges(X, metric, n_jobs)
        if method == "mst":
            return search.spanning_tree()
        if method == "shortest_path_tree":
            return search.shortest_path_tree(root)
        return knn_edges(search.numbers, search.distances, mutual=method == "mutual_knn")

    edges, *others = map(edges_by, methods)
    if others:
        edges = unique_edges(*map(np.concatenate, zip(edges, *others)))
    check_lengths(edges[2])
    scale = scales(
        scale if weight != "binary" else 1.0,
        edges[2],
        lambda: search.distance_to(scale_rank(methods, n_neighbors)),
    )
    return weighted_graph(X.shape[0], edges, weight, scale), scale


def scale_rank(methods, n_neighbors):
    """Return which neighbour's distance is the scale of a sample."""
    return n_neighbors if {"knn", "mutual_knn"} & set(methods) else SCALE_NEIGHBOR


# ---------------------------------------------------------------- distances and neighbours


def pair_lengths(X, rows, cols):
    """Return the Euclidean distances of the pairs ``(X[rows], X[cols])``.

    Those of a neighbour search come from a matrix product, so that few digits are correct where
    samples are close: here they are norms of differences.
    """
    return paired_lengths(X, rows, X, cols)


def paired_lengths(A, rows, B, cols):
    """Return the Euclidean distances of the pairs ``(A[rows], B[cols])``."""
    lengths, step = np.empty(len(rows)), max(BLOCK // max(A.shape[1], 1), 1)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        with np.errstate(over="ignore"):
            lengths[part] = row_norms(A[rows[part]] - B[cols[part]])
    return lengths


def distances_to(source, X, numbers):
    """Return the Euclidean distances of each row of ``source`` to the rows ``numbers`` of ``X``."""
    rows = np.repeat(np.arange(len(numbers)), numbers.shape[1])
    return paired_lengths(source, rows, X, numbers.ravel()).reshape(numbers.shape)


def check_range(X):
    """Raise if squared distances of samples can overflow, or all of them vanish.

    A query that is too far away for numbers has all samples as equally far neighbours.
    """
    values = X.data if sp.issparse(X) else X
    largest = np.abs(values).max(initial=0.0)
    if largest > LARGEST / np.sqrt(X.shape[1]):
        raise ValueError(
            "The distances between samples overflow: scale the features (StandardScaler)."
        )
    if 0 < largest < SMALLEST:
        raise ValueError(
            "The distances between samples underflow: scale the features (StandardScaler)."
        )


def check_lengths(lengths):
    """Raise unless distances are numbers, none negative."""
    # The largest float stands for samples that a search has not found.
    if not np.all((lengths >= 0) & (lengths < np.finfo(np.float64).max)):
        raise ValueError(
            "metric returned distances between samples that are negative, infinite or NaN: scale "
            "the features, or choose another metric."
        )


def in_format_of(known, X):
    """Return ``X``, sparse if known samples are sparse and dense if they are dense."""
    if sp.issparse(known) == sp.issparse(X):
        return X
    return type(known)(X) if sp.issparse(known) else X.toarray()


def origin_of(X):
    """Return what to subtract from samples, such that products of them tell them apart."""
    if sp.issparse(X) or np.ptp(X, axis=0).max() * FAR > np.abs(X).max():
        return 0.0
    return X[0]


def nearest(X, n_neighbors, metric, n_jobs=None, query=None):
    """Return distances and numbers of the nearest samples of ``X``, of each sample or query.

    A sample is no neighbour of itself. Where there are fewer samples, all of them are neighbours.
    """
    n = X.shape[0]
    if metric in SQUARED:
        check_range(X)
    k = min(n_neighbors, n - (query is None))
    if k == 0:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.intp)
    distances, numbers = _by_blocks(X, k, metric, n_jobs, query)
    if metric == "euclidean":
        distances = distances_to(X if query is None else query, X, numbers)
    # Equally far ones by their numbers: not by how many queries there are.
    order = np.lexsort((numbers, distances), axis=1)
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(numbers, order, axis=1)


def blocks(query, X):
    """Return slices of the queries, short enough for one search of all samples each."""
    step = max(int(SEARCH / (X.shape[0] * max(X.shape[1], 1))), 16)
    n = query.shape[0]
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _by_blocks(X, k, metric, n_jobs, query):
    """Return what scikit-learn finds, for a few queries at a time: Ctrl-C is heard in between."""
    origin = origin_of(X) if metric == "euclidean" else 0.0
    itself = int(query is None)
    query = X if query is None else query
    search = NearestNeighbors(n_neighbors=k + itself, metric=metric, n_jobs=n_jobs)
    # In an order of their own the samples come nearer and nearer to a query, each one a new
    # neighbour; shuffled, hardly any does: a third less time.
    order = np.random.RandomState(0).permutation(X.shape[0])
    search.fit(moved(X[order], origin))
    distances = np.empty((query.shape[0], k))
    numbers = np.empty((query.shape[0], k), dtype=np.intp)
    for part in blocks(query, X):
        found = search.kneighbors(moved(query[part], origin))
        found = found[0], order[found[1]]
        if itself:
            check_lengths(found[0])
            others = found[1] != np.arange(part.start, part.stop)[:, None]
            # A sample amid copies of its own need not be among what is found.
            others[:, -1] &= ~others.all(axis=1)
            found = (values[others].reshape(-1, k) for values in found)
        distances[part], numbers[part] = found
    return distances, numbers


def moved(X, origin):
    """Return the samples as seen from the origin."""
    return X - origin if np.ndim(origin) else X


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
            raise ValueError(f"root must be a row of X, an integer in [0, {n}); got {root!r}.")
        if root is None:
            center = np.asarray(self.X.mean(axis=0)).reshape(1, -1)
            center = in_format_of(self.X, center)
            root = int(nearest(self.X, 1, self.metric, self.n_jobs, query=center)[1][0, 0])
        return shortest_path_edges(n, edges, root)


# ---------------------------------------------------------------- edges


def unique_edges(i, j, length):
    """Return edges with ``i < j``, each once, in the order of ``(i, j)``."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    key = low * np.int64(high.max(initial=0) + 1) + high
    _, first = np.unique(key, return_index=True)
    return low[first], high[first], length[first]


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
        raise ValueError("method='ball' requires radius; got None.")
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


# ---------------------------------------------------------------- the spanning tree


def spanning_tree(X, distances, numbers, metric):
    """Return the edges ``(i, j, length)`` of the minimum spanning tree of the rows of ``X``.

    By the rounds of Boruvka: each component takes its shortest edge to another one, so that there
    are half as many components after each round. A sample's nearest one outside of its component
    is looked up among its neighbours. A sample all of whose neighbours are inside has none closer
    than the last of them; where that could still be the shortest edge of its component, the
    samples outside are searched.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, n_features)
    distances, numbers : ndarrays of shape (n, k)
        The nearest neighbours, in the order of their distance.
    metric : str or callable
    """
    n = X.shape[0]
    component, n_components = np.arange(n), n
    taken = [], [], []
    while n_components > 1:
        i, j, length = _shortest_exits(X, distances, numbers, component, metric)
        i, j, length = _without_cycles(i, j, length, component, n_components)
        for kept, new in zip(taken, (i, j, length)):
            kept.append(new)
        joined = sparse_matrix(np.ones(len(i)), component[i], component[j], n_components)
        n_components, label = find_components(joined)
        component = label[component]
    if not taken[0]:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)
    i, j, length = map(np.concatenate, taken)
    return np.minimum(i, j), np.maximum(i, j), length


def _shortest_exits(X, distances, numbers, component, metric):
    """Return the shortest edge out of each component."""
    n, k = numbers.shape
    outside = component[numbers] != component[:, None] if k else np.zeros((n, 0), dtype=bool)
    rank = outside.argmax(axis=1) if k else np.zeros(n, dtype=np.intp)
    leaves = outside.any(axis=1)
    length, target = np.full(n, NO_EDGE), np.full(n, -1)
    length[leaves] = distances[leaves, rank[leaves]]
    target[leaves] = numbers[leaves, rank[leaves]]
    best = np.full(component.max() + 1, NO_EDGE)
    np.minimum.at(best, component, length)
    least = distances[:, -1] if k else np.zeros(n)
    doubtful = ~leaves & (least < best[component])
    for number in np.unique(component[doubtful]):
        inside = component == number
        asking = np.flatnonzero(inside & doubtful)
        others = np.flatnonzero(~inside)
        target[asking], length[asking] = _nearest_of(X, asking, others, metric)
    # The shortest edge of each component; equal lengths by the numbers of their ends.
    low, high = np.minimum(np.arange(n), target), np.maximum(np.arange(n), target)
    order = np.lexsort([high, low, length, component])
    first = np.ones(n, dtype=bool)
    first[1:] = component[order][1:] != component[order][:-1]
    chosen = order[first]
    return chosen, target[chosen], length[chosen]


def _nearest_of(X, asking, others, metric):
    """Return the nearest one of some rows to each of others, and its distance."""
    origin = origin_of(X) if metric == "euclidean" else 0.0
    near, far = moved(X[asking], origin), moved(X[others], origin)
    found = [
        pairwise_distances_argmin_min(near[part], far, metric=metric)[0]
        for part in blocks(near, far)
    ]
    target = others[np.concatenate(found)]
    if metric == "euclidean":
        return target, pair_lengths(X, asking, target)
    step = 1024
    length = [
        np.diagonal(pairwise_distances(X[asking[s : s + step]], X[target[s : s + step]], metric))
        for s in range(0, len(asking), step)
    ]
    return target, np.concatenate(length)


def _without_cycles(i, j, length, component, n_components):
    """Return the chosen edges without those that close a cycle, as equal lengths may."""
    a, b = component[i], component[j]
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort([np.maximum(i, j), np.minimum(i, j), high, low])
    low, high = low[order], high[order]
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    order, low, high = order[first], low[first], high[first]
    # A forest of least total rank: ranks are distinct, so the choice is the same in any order.
    rank = np.empty(len(order))
    rank[np.lexsort([np.minimum(i, j)[order], length[order]])] = np.arange(1, len(order) + 1)
    forest = csgraph.minimum_spanning_tree(sparse_matrix(rank, low, high, n_components))
    kept = np.isin(rank, forest.data)
    return i[order[kept]], j[order[kept]], length[order[kept]]


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


def at_samples(scale, samples):
    """Return the scales of some samples: the one number, or their own."""
    return scale if np.ndim(scale) == 0 else scale[samples]


def weighted_graph(n, edges, weight, scale):
    """Return the adjacency of edges ``(i, j, length)``; weights that underflow are no edges."""
    i, j, length = edges
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-exponents(weight, length, at_samples(scale, i), at_samples(scale, j)))
    weights[weights < TINY] = 0
    both = np.concatenate([i, j]), np.concatenate([j, i])
    adjacency = sparse_matrix(np.concatenate([weights, weights]), *both, n)
    adjacency.eliminate_zeros()
    return adjacency
