"""Rows of a dense or sparse matrix: what a linear learner does with one of them."""

from libc.stdint cimport int32_t, int64_t


cdef class Rows:
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features

    cdef double dot(self, Py_ssize_t row, const double* weights) noexcept nogil
    cdef void add(self, Py_ssize_t row, double factor, double* weights) noexcept nogil
    cdef double norm2(self, Py_ssize_t row) noexcept nogil
    cdef Py_ssize_t entries(
        self, Py_ssize_t row, const double** values, const int32_t** narrow, const int64_t** wide
    ) noexcept nogil


cdef class DenseRows(Rows):
    cdef const double[:, ::1] X


cdef class SparseRows(Rows):
    cdef const double[::1] data
    cdef const int64_t[::1] indptr
    cdef const int32_t[::1] narrow
    cdef const int64_t[::1] wide
    cdef bint is_wide
