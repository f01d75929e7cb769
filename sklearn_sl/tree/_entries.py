"""The stored entries of sparse samples, as trees are grown on them, and samples sent down trees."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from sklearn_sl._threads import in_order
from sklearn_sl.tree import _columns, _descend

# Entries that a thread sorts before it looks up.
SLICE = 2_000_000
# Fewer entries are sorted by one thread.
MANY = 500_000
# Numbers in a block of dense rows, unless a few rows have more: those that go down in step.
ROOM = 2**17
LANES = 8


def stored_once(X):
    """Return samples in CSR format, each entry stored once and no zeros.

    Entries that are stored several times are added up in their order, as in a dense matrix.
    """
    if not X.has_canonical_format:
        X = X.tocsc().tocsr()  # which sorts without a change of order among equals
        X.sum_duplicates()
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    return X


class StoredEntries:
    """The entries of sparse samples by column, in the order of their values, and by row.

    The rank of an entry is its place in its column, that of the first one among equals, and one
    more if it is positive, so that zeros have a rank of their own.

    Parameters
    ----------
    X : sparse matrix of shape (n_samples, n_features)
        Numbers in CSR format, each entry stored once and no zeros.

    n_threads : int, default=1
        The threads that sort.

    Attributes
    ----------
    column_first : ndarray of shape (n_features + 1,)
        Where the entries of each column begin.

    cells : ndarray of shape (n_entries,)
        For each entry ``rank << 32 | row``, those of a column in the order of their values.

    values : ndarray of shape (n_entries,)
        The values, in the same order.

    n_negative : ndarray of shape (n_features,)
        The number of negative entries, which is the rank of zero.

    nonempty : ndarray of int
        The columns that have entries.

    row_first : ndarray of shape (n_samples + 1,)
        Where the entries of each row begin.

    by_row : ndarray of shape (n_entries,)
        For each entry ``column << 32 | rank``, row by row.
    """

    def __init__(self, X, n_threads=1):
        columns, n_features = X.tocsc(), X.shape[1]
        self.column_first = columns.indptr.astype(np.int64)
        self.row_first = X.indptr.astype(np.int64)
        self.cells = np.empty(columns.nnz, dtype=np.uint64)
        self.values = np.empty(columns.nnz)
        self.n_negative = np.empty(n_features, dtype=np.int32)
        rows = columns.indices.astype(np.int32, copy=False)

        def sort(part, over):
            _columns.sort_columns(
                self.column_first,
                rows,
                columns.data,
                part.start,
                part.stop,
                self.cells,
                self.values,
                self.n_negative,
            )

        parts = self._parts()
        for _ in in_order(sort, parts, min(n_threads, len(parts)) if X.nnz >= MANY else 1):
            pass
        self._list()

    def _parts(self):
        """Return slices of the columns with about equally many entries."""
        n_parts = 1 + self.column_first[-1] // SLICE
        ends = np.arange(1, n_parts) * (self.column_first[-1] / n_parts)
        ends = [0, *np.searchsorted(self.column_first, ends), len(self.column_first) - 1]
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def _list(self):
        """List the entries row by row."""
        self.nonempty = np.flatnonzero(np.diff(self.column_first)).astype(np.int32)
        self.by_row = np.empty(len(self.cells), dtype=np.uint64)
        places = self.row_first[:-1].copy()
        for part in self._parts():
            _columns.list_rows(
                self.column_first, self.cells, part.start, part.stop, places, self.by_row
            )

    def subset(self, features, X):
        """Return the entries of some of the features, whose samples are ``X``."""
        part = object.__new__(StoredEntries)
        counts = np.diff(self.column_first)[features]
        part.column_first = np.concatenate([[0], np.cumsum(counts)])
        shift = np.repeat(self.column_first[:-1][features] - part.column_first[:-1], counts)
        chosen = shift + np.arange(len(shift))
        part.cells, part.values = self.cells[chosen], self.values[chosen]
        part.n_negative, part.row_first = self.n_negative[features], X.indptr.astype(np.int64)
        part._list()
        return part


def as_numbers(X):
    """Return samples as a matrix in C order, or a sparse one in CSR format, of float64."""
    if sp.issparse(X):
        return X.tocsr().astype(np.float64, copy=False)
    return np.ascontiguousarray(X, dtype=np.float64)


def dense_blocks(X, rows, columns=None):
    """Yield slices of rows, and these rows as a matrix that is good until the next one.

    Dense samples are one block. Sparse ones are written to as many dense rows as fit in the cache,
    or some of their columns are.
    """
    if not sp.issparse(X):
        yield rows, X[rows]
        return
    start, stop, _ = rows.indices(X.shape[0])
    place = np.arange(X.shape[1], dtype=np.int32)
    if columns is not None:
        place[:] = -1
        place[columns] = np.arange(len(columns))
    width = X.shape[1] if columns is None else max(len(columns), 1)
    height = max(1, ROOM // (LANES * width)) * LANES
    block = np.zeros((min(height, stop - start), width))
    for begin in range(start, stop, height):
        some = block[: min(height, stop - begin)]
        _descend.add_entries(X.indptr, X.indices, X.data, begin, place, some)
        yield slice(begin, begin + len(some)), some
        _descend.clear_entries(X.indptr, X.indices, begin, place, some)
