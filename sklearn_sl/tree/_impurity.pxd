cimport cython
from libc.stdint cimport int32_t

from sklearn_sl.tree._cells cimport Node
from sklearn_sl.tree._medians cimport Medians


@cython.final
cdef class Impurity:
    cdef int32_t[::1] rows
    cdef const double[:, ::1] y
    cdef const int32_t[:, ::1] codes
    cdef const int32_t[::1] first_channel
    cdef const double[::1] weight
    cdef bint classify, weighted
    cdef int criterion
    cdef Py_ssize_t n_outputs, n_channels
    # for the absolute error
    cdef Medians medians

    cdef bint measure(self, Node* node, double* value) noexcept nogil
    cdef bint _measure_classes(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value,
    ) noexcept nogil
    cdef bint _one_class(self, const int32_t* rows, Py_ssize_t m) noexcept nogil
    cdef bint _measure_targets(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value,
    ) noexcept nogil
    cdef bint _measure_medians(
        self, const int32_t* rows, Py_ssize_t m, Node* node, double* value,
    ) noexcept nogil
    cdef double _excess(
        self, const int32_t* rows, Py_ssize_t m, const Node* node, double value,
    ) noexcept nogil
    cdef double _mean_deviation(
        self, const int32_t* rows, Py_ssize_t m, const Node* node, double value,
    ) noexcept nogil
