cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sklearn_sl.tree._cells cimport Node, Rival
from sklearn_sl.tree._columns cimport Columns
from sklearn_sl.tree._splits cimport SplitSearch


@cython.final
cdef class Division:
    cdef Columns columns
    cdef SplitSearch search
    cdef int32_t[::1] rows
    cdef const double[::1] own_weight
    cdef Py_ssize_t n_surrogates
    # one entry a row
    cdef uint32_t[::1] fate
    cdef uint64_t[::1] scratch
    cdef uint8_t[::1] side
    cdef uint8_t[::1] group_left
    # of all nodes
    cdef Rival[::1] surrogates
    cdef int32_t[::1] subsets
    cdef readonly Py_ssize_t n_substitutes, n_subset_entries

    cdef Py_ssize_t divide_rows(self, const Node* node) noexcept nogil
    cdef void set_sides(self, const Node* node) noexcept nogil
    cdef void _set_stored_sides(self, const Node* node) noexcept nogil
    cdef double _row_weight(self, const Node* node, Py_ssize_t i) noexcept nogil
    cdef void _set_category_sides(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n,
    ) noexcept nogil
    cdef int64_t _store_subset(self, Py_ssize_t n_groups) noexcept nogil
    cdef void partition_features(
        self, const Node* node, Py_ssize_t first, Py_ssize_t last,
    ) noexcept nogil
    cdef void _find_surrogates(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n, double left_mass,
        double right_mass,
    ) noexcept nogil
    cdef void _rate(
        self, Rival* rival, double agreeing, double majority, double known,
    ) noexcept nogil
    cdef void _agreeing_threshold(
        self, const Node* node, Py_ssize_t feature, double majority, double known, Rival* rival,
    ) noexcept nogil
    cdef Py_ssize_t _side_masses(
        self, const Node* node, Py_ssize_t feature, double* all_left, double* all_right,
    ) noexcept nogil
    cdef void _agreeing_subset(
        self, const Node* node, Py_ssize_t feature, double majority, double known, Rival* rival,
    ) noexcept nogil
    cdef void _store_agreeing_subset(self, const Node* node, Rival* rival) noexcept nogil
    cdef void _follow_surrogates(
        self, const Node* node, const uint64_t* cells, Py_ssize_t n, Py_ssize_t m,
    ) noexcept nogil
    cdef uint8_t _surrogate_side(self, const Rival* rival, Py_ssize_t row) noexcept nogil
