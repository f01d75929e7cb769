"""The minimum spanning tree of samples, without a matrix of all their distances."""

import numpy as np
from scipy.sparse import csgraph
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

from sklearn_sl._laplacians._adjacency import sparse_matrix
from sklearn_sl.graph._neighbors import blocks, moved, origin_of, pair_lengths

NO_EDGE = np.inf


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
        n_components, label = csgraph.connected_components(joined, directed=False)
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
