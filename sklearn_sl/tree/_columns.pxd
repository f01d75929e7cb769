cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from sklearn_sl.tree._cells cimport Node


@cython.final
cdef class Columns:
    cdef int32_t[::1] rows
    cdef const double[:, ::1] X
    cdef uint64_t[:, ::1] cells
    cdef const int32_t[::1] n_categories
    cdef Py_ssize_t n_features, max_features
    cdef bint random_order
    cdef double cell_cost
    # the features of the node at hand, and which places were swapped to draw them
    cdef int32_t[::1] chosen, drawn
    cdef Py_ssize_t n_drawn
    # instead of cells that are kept sorted: ranks, and cells that are sorted on demand
    cdef bint on_demand
    cdef const uint32_t[:, ::1] ranks
    cdef const uint16_t[:, ::1] short_ranks
    cdef uint64_t[::1] gathered, spare
    # of the column that was gathered from short ranks: how many rows have rank zero, the extreme
    # ranks, and whether the other cells are sorted
    cdef Py_ssize_t n_least
    cdef uint32_t lowest, highest
    cdef bint in_order
    # or stored entries alone: their cells by column, their values, and their ranks by row
    cdef bint sparse
    cdef const int64_t[::1] column_first, row_first
    cdef const uint64_t[::1] stored, entries
    cdef const double[::1] stored_values
    cdef const int32_t[::1] n_negative, nonempty
    # where each row is among those of all nodes
    cdef int32_t[::1] position
    # the column that was gathered: cells of negative values, one for zeros, and positive ones
    cdef int64_t gathered_start, gathered_stop, gathered_feature
    cdef Py_ssize_t n_below, n_above
    # the entries of the rows of a node, in a chain for each feature
    cdef int64_t listed_start, listed_stop
    cdef Py_ssize_t n_listed
    cdef double row_length, scan_cost
    cdef int32_t[::1] head, link
    cdef uint64_t[::1] linked, listed
    # the cells of a column with all of its zeros
    cdef uint64_t[::1] whole
    cdef uint8_t[::1] is_stored

    cdef double cost(self, const Node* node) noexcept nogil
    cdef Py_ssize_t n_chosen(self) noexcept nogil
    cdef void choose(self, const Node* node) noexcept nogil
    cdef void _choose_all(self, const Node* node) noexcept nogil
    cdef void _put_back(self) noexcept nogil
    cdef bint _is_constant(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef uint64_t* _sorted_column(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef void fetch(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef void _gather_short(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef uint32_t _gather_ranks(self, const Node* node, Py_ssize_t feature) noexcept nogil

    # Columns that are kept sorted need so little that a call would take longer.
    cdef inline bint is_constant(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return whether all rows have the same value: then cells are partitioned no more."""
        if self.short_ranks.shape[0]:
            self._gather_short(node, feature)
            return self.lowest == self.highest
        if self.on_demand:
            return self._is_constant(node, feature)
        return self.cells[feature, node.start] >> 32 == self.cells[feature, node.stop - 1] >> 32

    cdef inline uint64_t* column(self, const Node* node, Py_ssize_t feature) noexcept nogil:
        """Return the cells of a node in a column, sorted; on demand only until the next call."""
        if self.on_demand:
            return self._sorted_column(node, feature)
        return &self.cells[feature, node.start]

    cdef double value_of(
        self, const Node* node, Py_ssize_t feature, uint64_t cell,
    ) noexcept nogil
    cdef uint64_t stored_cell(self, const Node* node, Py_ssize_t place) noexcept nogil
    cdef void gather(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef void _gather_column(self, const Node* node, Py_ssize_t feature) noexcept nogil
    cdef void _gather_listed(self, Py_ssize_t feature) noexcept nogil
    cdef bint _is_listed(self, const Node* node) noexcept nogil
    cdef void _list_entries(self, const Node* node) noexcept nogil
    cdef uint64_t* _whole_column(self, const Node* node, Py_ssize_t feature) noexcept nogil
