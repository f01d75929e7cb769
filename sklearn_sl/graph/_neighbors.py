"""Nearest samples and the distances of chosen pairs."""

import numpy as np
from sklearn.metrics.pairwise import paired_euclidean_distances
from sklearn.neighbors import NearestNeighbors

# Pairs whose distance is computed at once.
BLOCK = 2**16


def pair_lengths(X, rows, cols):
    """Return the Euclidean distances of the pairs ``(X[rows], X[cols])``.

    Those of a neighbour search come from a matrix product, so that few digits are correct where
    samples are close: here they are norms of differences.
    """
    return _paired(X, rows, X, cols)


def _paired(A, rows, B, cols):
    lengths = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        lengths[part] = paired_euclidean_distances(A[rows[part]], B[cols[part]])
    return lengths


def distances_to(source, X, numbers):
    """Return the Euclidean distances of each row of ``source`` to the rows ``numbers`` of ``X``."""
    rows = np.repeat(np.arange(len(numbers)), numbers.shape[1])
    return _paired(source, rows, X, numbers.ravel()).reshape(numbers.shape)


def nearest(X, n_neighbors, metric, n_jobs=None, query=None):
    """Return distances and numbers of the nearest samples of ``X``, of each sample or query.

    A sample is no neighbour of itself. Where there are fewer samples, all of them are neighbours.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - (query is None))
    if k == 0:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.intp)
    search = NearestNeighbors(n_neighbors=k, metric=metric, n_jobs=n_jobs).fit(X)
    distances, numbers = search.kneighbors(query)
    if metric == "euclidean":
        distances = distances_to(X if query is None else query, X, numbers)
    return distances, numbers
