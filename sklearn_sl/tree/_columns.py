"""The columns of a training set, each of them sorted once."""

from functools import cached_property

import numpy as np

from sklearn_sl._threads import in_order
from sklearn_sl.tree import _cells

# Rows are numbered by 31 bits of a cell.
MOST_ROWS = 2**31 - 1
# Fewer values are sorted by one thread.
MANY = 500_000


class SortedColumns:
    """A matrix, and the cells of its columns in the order of their values.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers; NaN is a missing value, and a categorical feature has its codes.

    n_categories : ndarray of shape (n_features,)
        The number of categories of a feature, zero for a number.

    n_threads : int, default=1
        The threads that sort.

    Attributes
    ----------
    cells : ndarray of shape (n_features, n_samples)
        For each column ``rank << 32 | row``, sorted; missing values have the rank
        ``_cells.MISSING``, and a categorical value has its code.
    """

    def __init__(self, X, n_categories, n_threads=1):
        if len(X) > MOST_ROWS:
            raise ValueError(f"A tree is grown on at most {MOST_ROWS} samples, got {len(X)}.")
        self.X = np.ascontiguousarray(X)
        self.n_categories = n_categories
        self.cells = np.empty(X.shape[::-1], dtype=np.uint64)

        def sort(feature, over):
            column = np.ascontiguousarray(self.X[:, feature])
            _cells.rank_cells(np.argsort(column), column, self.cells[feature])
            if n_categories[feature]:
                self._rank_by_code(feature, column)

        for _ in in_order(sort, range(X.shape[1]), n_threads if X.size >= MANY else 1):
            pass

    def _rank_by_code(self, feature, column):
        """Let the code of a category be its rank."""
        rows = self.cells[feature] & np.uint64(0xFFFFFFFF)
        codes = column[rows.astype(np.intp)]
        codes = np.where(np.isnan(codes), _cells.MISSING, codes).astype(np.uint64)
        self.cells[feature] = codes << np.uint64(32) | rows

    @cached_property
    def ranks(self):
        """The ranks of the values of each column, row by row; missing values have the highest."""
        ranks = np.empty(self.cells.shape, dtype=np.uint32)
        for column, cells in zip(ranks, self.cells, strict=True):
            column[cells.astype(np.uint32)] = cells >> np.uint64(32)
        return ranks

    @property
    def has_missing(self):
        """Whether a value is missing."""
        return bool((self.cells[:, -1] >> np.uint64(32) == _cells.MISSING).any())

    def cells_of(self, rows):
        """Return the cells of some rows, which increase, numbered by their place among them."""
        if len(rows) == len(self.X):
            return self.cells.copy()
        place = np.full(len(self.X), -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        cells = np.empty((len(self.cells), len(rows)), dtype=np.uint64)
        for feature, column in enumerate(self.cells):
            _cells.select_cells(column, place, cells[feature])
        return cells

    def subset(self, features, X):
        """Return some of the columns, which ``X`` has in this order, without sorting them again."""
        part = object.__new__(SortedColumns)
        part.X, part.cells = X, self.cells[features]
        part.n_categories = self.n_categories[features]
        return part
