"""Nearest samples and the distances of chosen pairs."""

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

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
        raise ValueError("The distances of samples overflow: scale the features (StandardScaler).")
    if 0 < largest < SMALLEST:
        raise ValueError("The distances of samples vanish: scale the features (StandardScaler).")


def check_lengths(lengths):
    """Raise unless distances are numbers, none negative."""
    # The largest float stands for samples that a search has not found.
    if not np.all((lengths >= 0) & (lengths < np.finfo(np.float64).max)):
        raise ValueError(
            "The metric has distances between samples that are negative, infinite or no numbers: "
            "scale the features, or choose another metric."
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
