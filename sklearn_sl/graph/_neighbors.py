"""Nearest samples and the distances of chosen pairs."""

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

# Numbers of the pairs whose distance is computed at once, such that they stay in the cache.
BLOCK = 2**16
# Numbers up to which the square of a difference is finite.
LARGEST = 0.25 * np.sqrt(np.finfo(np.float64).max)


def pair_lengths(X, rows, cols):
    """Return the Euclidean distances of the pairs ``(X[rows], X[cols])``.

    Those of a neighbour search come from a matrix product, so that few digits are correct where
    samples are close: here they are norms of differences.
    """
    return _paired(X, rows, X, cols)


def _paired(A, rows, B, cols):
    lengths, step = np.empty(len(rows)), max(BLOCK // max(A.shape[1], 1), 1)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        with np.errstate(over="ignore"):
            lengths[part] = row_norms(A[rows[part]] - B[cols[part]])
    return lengths


def distances_to(source, X, numbers):
    """Return the Euclidean distances of each row of ``source`` to the rows ``numbers`` of ``X``."""
    rows = np.repeat(np.arange(len(numbers)), numbers.shape[1])
    return _paired(source, rows, X, numbers.ravel()).reshape(numbers.shape)


def check_range(X):
    """Raise if squared distances of samples can overflow.

    A query that is too far away for numbers has all samples as equally far neighbours.
    """
    values = X.data if sp.issparse(X) else X
    largest = np.abs(values).max(initial=0.0)
    if largest > LARGEST / np.sqrt(X.shape[1]):
        raise ValueError("The distances of samples overflow: scale the features (StandardScaler).")


def nearest(X, n_neighbors, metric, n_jobs=None, query=None):
    """Return distances and numbers of the nearest samples of ``X``, of each sample or query.

    A sample is no neighbour of itself. Where there are fewer samples, all of them are neighbours.
    """
    n = X.shape[0]
    if metric == "euclidean":
        check_range(X)
    k = min(n_neighbors, n - (query is None))
    if k == 0:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.intp)
    search = NearestNeighbors(n_neighbors=k, metric=metric, n_jobs=n_jobs).fit(X)
    distances, numbers = search.kneighbors(query)
    if metric == "euclidean":
        distances = distances_to(X if query is None else query, X, numbers)
        order = np.argsort(distances, axis=1, kind="stable")
        distances = np.take_along_axis(distances, order, axis=1)
        numbers = np.take_along_axis(numbers, order, axis=1)
    return distances, numbers
