"""Rows of samples, dense or sparse: blocks of them, their identity and their order."""

import numpy as np
import scipy.sparse as sp

from sklearn_sl._hashes import add_hashes

# Numbers that are hashed at once, within the cache.
BLOCK = 2**15
# Numbers, zeros included, up to which an array is as good as a sparse matrix.
FEW_NUMBERS = 2**17
# An odd number whose multiples have bits that look random, 2^64 over the golden ratio.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)


def scramble(bits):
    """Return 64-bit integers that depend on all bits of others: the end of splitmix64."""
    bits = (bits ^ (bits >> _SHIFTS[0])) * _FACTORS[0]
    bits = (bits ^ (bits >> _SHIFTS[1])) * _FACTORS[1]
    return bits ^ (bits >> _SHIFTS[2])


def entry_hashes(values, columns):
    """Return the hashes of numbers in columns; zero, of either sign, has the hash zero."""
    values = np.where(np.isnan(values), np.nan, values)  # whose bits are always the same
    keys = scramble((columns.astype(np.uint64) + np.uint64(1)) * GOLDEN)
    return np.where(values != 0, scramble(values.view(np.uint64) ^ keys), np.uint64(0))


def row_hashes(X, y=None):
    """Return a 64-bit hash of the content of each row of samples and, if given, targets.

    Zeros add nothing to it, so that it is the same for dense and sparse samples.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Samples: numbers, or anything that has a name.

    y : ndarray of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets as numbers.

    Returns
    -------
    hashes : ndarray of shape (n_samples,)
        Unsigned integers.
    """
    n_features = X.shape[1]
    total = _sparse_sums(X) if sp.issparse(X) else _dense_sums(X, 0)
    if y is not None:
        y = as_columns(y)
        total = total + _dense_sums(y, n_features)
    return scramble(total)


def as_columns(y):
    """Return targets as a matrix."""
    return y[:, None] if y.ndim == 1 else y


def _dense_sums(X, first):
    if X.dtype.kind not in "biuf":
        X = np.stack([numbers_of(column) for column in X.T], axis=1)
    total = np.zeros(len(X), dtype=np.uint64)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        add_hashes(numbers_of(X[rows]), first, total[rows])
    return total


def _sparse_sums(X):
    X = sp.csr_array(X)
    X.sum_duplicates()
    entries = entry_hashes(numbers_of(X.data), X.indices)
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return ends[X.indptr[1:]] - ends[X.indptr[:-1]]


def numbers_of(column):
    """Return an array as float64; names are numbered in their order."""
    if column.dtype.kind not in "biuf":
        try:
            return column.astype(np.float64)
        except (TypeError, ValueError):
            return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)
    return np.ascontiguousarray(column, dtype=np.float64)


def first_of_equal(ordered):
    """Return the places of the first of equal numbers, which are neighbours."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def hashed_uniform(base, numbers):
    """Return random numbers from zero to one, each a function of a base and a number."""
    bits = scramble(np.uint64(base) + numbers.astype(np.uint64) * GOLDEN)
    return (bits >> np.uint64(11)) * 2.0**-53


def distinct_rows(X):
    """Return one row of each kind in the order of their content, and the kind of each row."""
    if sp.issparse(X):
        return _distinct_sparse_rows(X)
    order = np.argsort(X[:, 0], kind="stable")
    ties = X[order[1:], 0] == X[order[:-1], 0]
    if not ties.any():
        kind = np.empty(len(order), dtype=np.intp)
        kind[order] = np.arange(len(order))
        return order, kind
    order = np.lexsort(X.T[::-1])
    new = np.append(True, np.any(X[order[1:]] != X[order[:-1]], axis=1))
    kind = np.empty(len(order), dtype=np.intp)
    kind[order] = np.cumsum(new) - 1
    return order[new], kind


def _distinct_sparse_rows(X):
    X = X.copy()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:]))
    keys = [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]
    first = {}
    for row, key in enumerate(keys):
        first.setdefault(key, row)
    ranked = {key: rank for rank, key in enumerate(sorted(first))}
    chosen = np.array([first[key] for key in ranked], dtype=np.intp)
    return chosen, np.array([ranked[key] for key in keys], dtype=np.intp)


def added_up(X):
    """Return ``X`` with each entry of a sparse matrix stored once, as norms are sums over these."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def plain(X):
    """Return sparse samples as an array if there are few of them or few zeros, and others as is."""
    few = sp.issparse(X) and (np.prod(X.shape) <= FEW_NUMBERS or X.nnz > np.prod(X.shape) // 4)
    return X.toarray() if few else X


def dense(X):
    """Return a matrix of any storage as an array."""
    return X.toarray() if sp.issparse(X) else X


def n_rows(X):
    """Return the number of samples of an encoded input."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def slices(n, step):
    """Return slices that cut ``n`` items into pieces of ``step``."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
