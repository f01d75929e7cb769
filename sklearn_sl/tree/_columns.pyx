"""The columns of a node: which features it looks at, and its cells in the order of their values.

The cells are kept sorted, or sorted on demand. Of sparse samples only the entries that are stored
have cells; all rows without one are zero. The cells of a sparse column are gathered from the
column, for as many rows as there may be, or, where a node is small, from its rows.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

import numpy as np

from sklearn_sl.tree._cells cimport Node, mix, rank_of, sort_cells

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define SL_FETCH(place) __builtin_prefetch(place)
    #else
    #define SL_FETCH(place) ((void)(place))
    #endif
    """
    void SL_FETCH(const void*) noexcept nogil

# What it costs to list an entry of a row, in entries of columns that are looked through.
cdef enum:
    LISTING = 8
    # What a row costs beside its entries, in entries.
    ROW_COST = 4
    # So many rows at most are asked for before they are needed.
    MOST_FETCHED = 64

EMPTY = {
    kind: np.empty(0, dtype=kind) for kind in (np.uint8, np.int32, np.int64, np.uint64, np.float64)
}


cdef class Columns:
    """The columns of nodes: segments of ``rows``.

    In every column that is kept sorted the same segment of ``cells`` has these rows in the order
    of their values, numbered from the start of the segment.
    """

    def __init__(self, field, rules):
        cdef Py_ssize_t n = len(field.rows)
        self.rows = field.rows
        self.X, self.cells, self.n_categories = field.X, field.cells, field.n_categories
        self.n_features, self.max_features = field.X.shape[1], rules.max_features
        self.random_order, self.cell_cost = rules.random_order, field.cell_cost
        self.chosen = np.arange(self.n_features, dtype=np.int32)
        draws = self.max_features < self.n_features or self.random_order
        self.drawn = np.empty(self.n_features if draws else 0, dtype=np.int32)
        self.sparse, self.on_demand = field.entries is not None, field.on_demand
        self.ranks, self.short_ranks = field.ranks, field.short_ranks
        self.gathered_start = self.listed_start = -1
        if self.sparse:
            self._take_entries(field, n)
        else:
            self.gathered, self.spare = np.empty((2, n if self.on_demand else 0), dtype=np.uint64)

    def _take_entries(self, field, n):
        """Take the entries of sparse samples, and make room for those of a column and of rows."""
        entries = field.entries
        self.column_first, self.stored = entries.column_first, entries.cells
        self.stored_values, self.n_negative = entries.values, entries.n_negative
        self.row_first, self.entries = entries.row_first, entries.by_row
        self.nonempty, self.position = entries.nonempty, field.position
        cdef Py_ssize_t nnz = self.stored.shape[0], n_nonempty = self.nonempty.shape[0]
        self.row_length = nnz / max(self.row_first.shape[0] - 1, 1)
        self.scan_cost = nnz * (min(self.max_features, self.n_features) / self.n_features)
        # One cell more than rows, and one for zeros.
        self.gathered = np.empty(n + 2, dtype=np.uint64)
        self.spare = np.empty(max(n, n_nonempty) + 2, dtype=np.uint64)
        self.head = np.zeros(self.n_features, dtype=np.int32)
        most = int(min(self.scan_cost / LISTING, 2.0**31 - 2)) + 1
        self.link, self.linked = np.empty(most, np.int32), np.empty(most, np.uint64)
        self.listed = np.empty(min(most, n_nonempty) + 1, dtype=np.uint64)
        self.whole = np.empty(n if field.needs_whole_columns else 0, dtype=np.uint64)
        self.is_stored = np.zeros(n if field.needs_whole_columns else 0, dtype=np.uint8)

    cdef double cost(self, const Node* node) noexcept nogil:
        """Return about how many cells the work on a node looks at."""
        cdef double m = <double> (node.stop - node.start)
        if not self.sparse or self.whole.shape[0]:
            return m * (self.max_features if self.on_demand else self.n_features) * self.cell_cost
        return m * ROW_COST + min(self.scan_cost, LISTING * self.row_length * m)

    # ------------------------------------------------------------ the choice of features

    cdef Py_ssize_t n_chosen(self) noexcept nogil:
        """Return how many features are chosen; the list ends with -1 or is full."""
        cdef Py_ssize_t i
        for i in range(self.n_features):
            if self.chosen[i] < 0:
                return i
        return self.n_features

    cdef void choose(self, const Node* node) noexcept nogil:
        """Choose the features to look at: all, or so many at random, one of them not constant.

        The order decides between equal splits.
        """
        cdef Py_ssize_t i, j, d = self.n_features
        cdef uint64_t state = mix(node.seed)
        cdef int32_t other
        # Constants matter only where some features will be left out.
        cdef bint varies = self.max_features >= d
        if self.sparse:
            self._list_entries(node)
        if self.max_features >= d and not self.random_order:
            self._choose_all(node)
            return
        self._put_back()
        for i in range(d):
            if i >= self.max_features and varies:
                self.chosen[i] = -1
                return
            state = mix(state)
            j = i + <Py_ssize_t> (state % <uint64_t> (d - i))
            other = self.chosen[j]
            self.chosen[j] = self.chosen[i]
            self.chosen[i] = other
            self.drawn[i] = <int32_t> j
            self.n_drawn = i + 1
            if varies:
                continue
            if self.on_demand:  # with as few cells as tell
                varies = not self._is_constant(node, other)
            else:
                varies = not self.is_constant(node, other)

    cdef void _choose_all(self, const Node* node) noexcept nogil:
        """Choose all features in their order, but for those that are known to be zero.

        One feature is chosen at least, so that there is something to look at.
        """
        cdef Py_ssize_t i, n = self.n_features
        if not self.sparse:
            for i in range(n):
                self.chosen[i] = <int32_t> i
            return
        if self._is_listed(node):
            n = self.n_listed
            sort_cells(&self.listed[0], &self.spare[0], n, <uint32_t> (self.n_features - 1))
            for i in range(n):
                self.chosen[i] = <int32_t> rank_of(self.listed[i])
        else:
            n = self.nonempty.shape[0]
            for i in range(n):
                self.chosen[i] = self.nonempty[i]
        if n == 0:
            self.chosen[0], n = 0, 1
        if n < self.n_features:
            self.chosen[n] = -1

    cdef void _put_back(self) noexcept nogil:
        """Put the features in their order again."""
        cdef Py_ssize_t i
        if self.n_drawn < 0:
            for i in range(self.n_features):
                self.chosen[i] = <int32_t> i
            return
        for i in range(self.n_drawn):
            self.chosen[i] = <int32_t> i
            self.chosen[self.drawn[i]] = self.drawn[i]
        if self.n_drawn < self.n_features:
            self.chosen[self.n_drawn] = <int32_t> self.n_drawn

    # ------------------------------------------------------------ the cells of a column

    cdef bint _is_constant(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return whether all rows of a column that is sorted on demand have the same value."""
        cdef Py_ssize_t i, m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        cdef const uint64_t* cells
        if self.sparse:
            if self._is_listed(node) and self.head[feature] == 0:
                return True
            self.gather(node, feature)
            if self.n_below < m and self.n_above < m:  # zeros, or both signs
                return self.n_below + self.n_above == 0
            cells = &self.gathered[0 if self.n_below else 1]
            return rank_of(cells[0]) == rank_of(cells[m - 1])
        if self.short_ranks.shape[0]:
            for i in range(1, m):
                if self.short_ranks[feature, rows[i]] != self.short_ranks[feature, rows[0]]:
                    return False
            return True
        for i in range(1, m):
            if self.ranks[feature, rows[i]] != self.ranks[feature, rows[0]]:
                return False
        return True

    cdef uint64_t* _sorted_column(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return the cells of a node in a column that is sorted on demand."""
        cdef uint32_t highest
        if self.sparse:
            return self._whole_column(node, feature)
        if self.short_ranks.shape[0]:
            self._gather_short(node, feature)
            if not self.in_order:
                sort_cells(
                    &self.gathered[self.n_least], &self.spare[0],
                    node.stop - node.start - self.n_least, self.highest,
                )
                self.in_order = True
            return &self.gathered[0]
        highest = self._gather_ranks(node, feature)
        sort_cells(&self.gathered[0], &self.spare[0], node.stop - node.start, highest)
        return &self.gathered[0]

    cdef void fetch(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Ask for the short ranks of a column that is needed soon: they are far away in memory."""
        cdef Py_ssize_t i, m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        cdef const uint16_t* ranks
        if not self.short_ranks.shape[0]:
            return
        ranks = &self.short_ranks[feature, 0]
        for i in range(min(m, MOST_FETCHED)):
            SL_FETCH(ranks + rows[i])

    cdef void _gather_short(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Gather the cells of a node in a column of short ranks, those of rank zero first.

        The least value is a frequent one where columns have few values, as counts and pixels: its
        cells need not be sorted. Both parts are in the order of rows.
        """
        cdef Py_ssize_t i, m = node.stop - node.start, n_least = 0, n_others = 0
        cdef const int32_t* rows = &self.rows[node.start]
        cdef const uint16_t* ranks = &self.short_ranks[feature, 0]
        cdef uint64_t* least = &self.gathered[0]
        cdef uint64_t* others = &self.spare[0]
        cdef uint32_t lowest = 0xFFFFFFFF, highest = 0, rank
        cdef uint64_t cell
        if (
            self.gathered_feature == feature
            and self.gathered_start == node.start
            and self.gathered_stop == node.stop
        ):
            return
        self.gathered_feature = feature
        self.gathered_start, self.gathered_stop = node.start, node.stop
        for i in range(m):
            rank = ranks[rows[i]]
            cell = <uint64_t> rank << 32 | <uint64_t> i
            # Written in both places, and kept in one: nobody can predict in which.
            least[n_least] = cell
            others[n_others] = cell
            n_least += rank == 0
            n_others += rank != 0
            lowest = min(lowest, rank)
            highest = max(highest, rank)
        memcpy(least + n_least, others, n_others * sizeof(uint64_t))
        self.n_least, self.lowest, self.highest, self.in_order = n_least, lowest, highest, False

    cdef uint32_t _gather_ranks(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Gather the cells of a node in a column, in the order of rows; return the highest rank."""
        cdef Py_ssize_t i, m = node.stop - node.start
        cdef const int32_t* rows = &self.rows[node.start]
        cdef uint32_t highest = 0, rank
        for i in range(m):
            rank = self.ranks[feature, rows[i]]
            highest = max(highest, rank)
            self.gathered[i] = <uint64_t> rank << 32 | <uint64_t> i
        return highest

    cdef double value_of(
        self, const Node* node, Py_ssize_t feature, uint64_t cell
    ) noexcept nogil:
        """Return the value of a cell that is not missing."""
        cdef int64_t rank
        if not self.sparse:
            return self.X[self.rows[node.start + <uint32_t> cell], feature]
        rank = <int64_t> rank_of(cell) - self.n_negative[feature]
        if rank == 0:
            return 0.0
        # The rank of zero, which is not stored, is between those of the signs.
        return self.stored_values[
            self.column_first[feature] + rank_of(cell) - (1 if rank > 0 else 0)
        ]

    # ------------------------------------------------------------ sparse columns

    cdef void gather(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Gather the stored cells of a node in a column, sorted.

        In ``gathered`` there are ``n_below`` cells of negative values, a cell that has the rank of
        zeros and stands for no row, and ``n_above`` cells of positive values.
        """
        if (
            self.gathered_feature == feature
            and self.gathered_start == node.start
            and self.gathered_stop == node.stop
        ):
            return
        self.gathered_feature = feature
        self.gathered_start, self.gathered_stop = node.start, node.stop
        if self._is_listed(node):
            self._gather_listed(feature)
        else:
            self._gather_column(node, feature)

    cdef void _gather_column(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Gather the cells of a column whose rows are in the node."""
        cdef int64_t first = self.column_first[feature]
        cdef int64_t zero = first + self.n_negative[feature]
        cdef const int32_t* position = &self.position[0]
        cdef uint64_t* gathered = &self.gathered[0]
        cdef uint32_t start = <uint32_t> node.start, m = <uint32_t> (node.stop - node.start), row
        cdef uint64_t cell
        cdef Py_ssize_t n = 0
        cdef int64_t e
        for e in range(first, zero):
            cell = self.stored[e]
            # Rows before the node, and those that no node has, are large numbers.
            row = <uint32_t> position[<uint32_t> cell] - start
            gathered[n] = (cell >> 32) << 32 | row
            n += row < m
        self.n_below = n
        gathered[n] = <uint64_t> self.n_negative[feature] << 32
        n += 1
        for e in range(zero, self.column_first[feature + 1]):
            cell = self.stored[e]
            row = <uint32_t> position[<uint32_t> cell] - start
            gathered[n] = (cell >> 32) << 32 | row
            n += row < m
        self.n_above = n - 1 - self.n_below

    cdef uint64_t stored_cell(self, const Node* node, Py_ssize_t place) noexcept nogil:
        """Return the cell at a place among all those of the column that was gathered."""
        cdef Py_ssize_t first_above = node.stop - node.start - self.n_above
        if place < self.n_below:
            return self.gathered[place]
        if place < first_above:
            return self.gathered[self.n_below]
        return self.gathered[self.n_below + 1 + place - first_above]

    cdef bint _is_listed(self, const Node* node) noexcept nogil:
        return self.listed_start == node.start and self.listed_stop == node.stop

    cdef void _list_entries(self, const Node* node) noexcept nogil:
        """List the entries of a node's rows by features, if there are few; forget those before."""
        cdef const int32_t* rows = &self.rows[node.start]
        cdef Py_ssize_t i, m = node.stop - node.start, n = 0, most = self.link.shape[0] - 1
        cdef int64_t e
        cdef uint32_t feature
        for i in range(self.n_listed):
            self.head[rank_of(self.listed[i])] = 0
        self.listed_start, self.n_listed = -1, 0
        for i in range(m):
            n += self.row_first[rows[i] + 1] - self.row_first[rows[i]]
            if n > most:
                return
        self.listed_start, self.listed_stop, n = node.start, node.stop, 0
        for i in range(m - 1, -1, -1):  # the last one first, so that chains begin with the first
            for e in range(self.row_first[rows[i]], self.row_first[rows[i] + 1]):
                feature = rank_of(self.entries[e])
                if self.head[feature] == 0:
                    self.listed[self.n_listed] = <uint64_t> feature << 32
                    self.n_listed += 1
                n += 1
                self.linked[n] = self.entries[e] << 32 | <uint64_t> i
                self.link[n] = self.head[feature]
                self.head[feature] = <int32_t> n

    cdef void _gather_listed(self, Py_ssize_t feature) noexcept nogil:
        """Gather the cells of a feature from the list."""
        cdef uint64_t* gathered = &self.gathered[0]
        cdef uint32_t zero = <uint32_t> self.n_negative[feature], highest = 0, rank, previous = 0
        cdef bint sorted = True
        cdef Py_ssize_t n = 0, n_below = 0
        cdef int32_t here = self.head[feature]
        while here:
            gathered[n] = self.linked[here]
            rank = rank_of(gathered[n])
            sorted = sorted and previous <= rank
            previous, highest = rank, max(highest, rank)
            n += 1
            here = self.link[here]
        if not sorted:
            sort_cells(gathered, &self.spare[0], n, highest)
        if zero:
            while n_below < n and rank_of(gathered[n_below]) < zero:
                n_below += 1
        self.n_below, self.n_above = n_below, n - n_below
        memmove(
            gathered + n_below + 1, gathered + n_below, self.n_above * sizeof(uint64_t)
        )
        gathered[n_below] = <uint64_t> zero << 32

    cdef uint64_t* _whole_column(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return the cells of all rows, zeros between those of negative and positive values."""
        cdef Py_ssize_t i, m = node.stop - node.start, n
        cdef uint64_t* above
        self.gather(node, feature)
        n, above = self.n_below, &self.gathered[self.n_below + 1]
        memcpy(&self.whole[0], &self.gathered[0], n * sizeof(uint64_t))
        for i in range(n):
            self.is_stored[<uint32_t> self.gathered[i]] = 1
        for i in range(self.n_above):
            self.is_stored[<uint32_t> above[i]] = 1
        for i in range(m):
            if self.is_stored[i]:
                self.is_stored[i] = 0
                continue
            self.whole[n] = <uint64_t> self.n_negative[feature] << 32 | <uint64_t> i
            n += 1
        # No element of the array: where nothing is positive, its place is behind the last one.
        memcpy(&self.whole[0] + n, above, self.n_above * sizeof(uint64_t))
        return &self.whole[0]


# ---------------------------------------------------------------- sorting what is stored


def sort_columns(
    const int64_t[::1] first, const int32_t[::1] rows, const double[::1] data, Py_ssize_t begin,
    Py_ssize_t end, uint64_t[::1] cells, double[::1] values, int32_t[::1] n_negative,
):
    """Sort the entries of the columns from ``begin`` to ``end`` by their values, none of them zero.

    The rank of an entry is its place in the column, that of the first one among equals, and one
    more if it is positive: the rank of zeros is the number of negative entries.
    """
    cdef Py_ssize_t column, longest = 0
    for column in range(begin, end):
        longest = max(longest, first[column + 1] - first[column])
    cdef double[::1] spare_values = np.empty(longest)
    cdef int32_t[:, ::1] order = np.empty((2, longest), dtype=np.int32)
    with nogil:
        for column in range(begin, end):
            if first[column] < first[column + 1]:
                n_negative[column] = _sort_column(
                    &rows[first[column]], &data[first[column]], first[column + 1] - first[column],
                    &cells[first[column]], &values[first[column]], &spare_values[0],
                    &order[0, 0], &order[1, 0],
                )
            else:
                n_negative[column] = 0


cdef int32_t _sort_column(
    const int32_t* rows, const double* data, Py_ssize_t n, uint64_t* cells, double* values,
    double* spare, int32_t* order, int32_t* other,
) noexcept nogil:
    """Sort a column; return how many of its entries are negative."""
    cdef Py_ssize_t i, width = 1, begin
    cdef uint64_t rank = 0
    cdef int32_t n_negative = 0
    cdef bint sorted = True
    for i in range(n):
        order[i], values[i] = <int32_t> i, data[i]
        n_negative += data[i] < 0
        sorted = sorted and (i == 0 or data[i - 1] <= data[i])
    while width < n and not sorted:
        begin = 0
        while begin < n:
            _merge(
                values, order, begin, min(begin + width, n), min(begin + 2 * width, n), spare, other
            )
            begin += 2 * width
        memcpy(values, spare, n * sizeof(double))
        memcpy(order, other, n * sizeof(int32_t))
        width *= 2
    for i in range(n):
        if i == 0 or values[i] != values[i - 1]:
            rank = i + (i >= n_negative)
        cells[i] = rank << 32 | <uint32_t> rows[order[i]]
    return n_negative


cdef void _merge(
    const double* values, const int32_t* order, Py_ssize_t begin, Py_ssize_t middle,
    Py_ssize_t end, double* merged, int32_t* merged_order,
) noexcept nogil:
    cdef Py_ssize_t left = begin, right = middle, here
    cdef bint take_left
    for here in range(begin, end):
        take_left = right >= end or (left < middle and values[left] <= values[right])
        merged[here] = values[left] if take_left else values[right]
        merged_order[here] = order[left] if take_left else order[right]
        left += take_left
        right += not take_left


def list_rows(
    const int64_t[::1] first, const uint64_t[::1] cells, Py_ssize_t begin, Py_ssize_t end,
    int64_t[::1] places, uint64_t[::1] by_row,
):
    """Write ``column << 32 | rank`` of the entries of the columns from ``begin`` to ``end``.

    ``places`` are where the next entry of each row is written.
    """
    cdef Py_ssize_t column
    cdef int64_t e
    cdef uint32_t row
    with nogil:
        for column in range(begin, end):
            for e in range(first[column], first[column + 1]):
                row = <uint32_t> cells[e]
                by_row[places[row]] = <uint64_t> column << 32 | cells[e] >> 32
                places[row] += 1
