"""Rows of a dense or sparse matrix: what a linear learner does with one of them."""

cimport cython
from libc.stdint cimport int32_t, int64_t


cdef extern from "_rows_loops.h" nogil:
    double sl_dot(Py_ssize_t n, const double* x, const double* w)
    void sl_add(Py_ssize_t n, double factor, const double* x, double* w)
    void sl_ask_for(Py_ssize_t n, const double* x)


@cython.final
cdef class Rows:
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features
    # What the pointers point to.
    cdef object owners
    cdef const double* data
    # Where the rows of a sparse matrix begin, counted from the first one; NULL if it is dense.
    cdef const int64_t* indptr
    # Its columns; one of them is NULL.
    cdef const int32_t* narrow
    cdef const int64_t* wide

    cdef inline void ask_for(self, Py_ssize_t row) noexcept nogil:
        """Let the processor fetch a row that will be needed soon."""
        cdef Py_ssize_t start = row * self.n_features, stop = start + self.n_features
        if self.indptr != NULL:
            start = self.indptr[row] - self.indptr[0]
            stop = self.indptr[row + 1] - self.indptr[0]
        sl_ask_for(stop - start, self.data + start)

    cdef inline double dot(self, Py_ssize_t row, const double* weights) noexcept nogil:
        """Return the inner product of a row and weights; not finite if an entry is not."""
        cdef Py_ssize_t k, start, stop
        cdef double total = 0.0
        if self.indptr == NULL:
            return sl_dot(self.n_features, self.data + row * self.n_features, weights)
        start = self.indptr[row] - self.indptr[0]
        stop = self.indptr[row + 1] - self.indptr[0]
        if self.wide != NULL:
            for k in range(start, stop):
                total += self.data[k] * weights[self.wide[k]]
        else:
            for k in range(start, stop):
                total += self.data[k] * weights[self.narrow[k]]
        return total

    cdef inline void add(self, Py_ssize_t row, double factor, double* weights) noexcept nogil:
        """Add a multiple of a row to weights."""
        cdef Py_ssize_t k, start, stop
        if self.indptr == NULL:
            sl_add(self.n_features, factor, self.data + row * self.n_features, weights)
            return
        start = self.indptr[row] - self.indptr[0]
        stop = self.indptr[row + 1] - self.indptr[0]
        if self.wide != NULL:
            for k in range(start, stop):
                weights[self.wide[k]] += factor * self.data[k]
        else:
            for k in range(start, stop):
                weights[self.narrow[k]] += factor * self.data[k]

    cdef inline double norm2(self, Py_ssize_t row) noexcept nogil:
        """Return the squared Euclidean norm of a row."""
        cdef const double* values
        cdef const int32_t* narrow
        cdef const int64_t* wide
        cdef Py_ssize_t n = self.entries(row, &values, &narrow, &wide)
        return sl_dot(n, values, values)

    cdef inline Py_ssize_t entries(
        self, Py_ssize_t row, const double** values, const int32_t** narrow, const int64_t** wide
    ) noexcept nogil:
        """Return how many entries of a row are stored; set where they and their columns are.

        The columns are 0, 1, ... if both ``narrow`` and ``wide`` are set to NULL.
        """
        cdef Py_ssize_t start
        narrow[0] = NULL
        wide[0] = NULL
        if self.indptr == NULL:
            values[0] = self.data + row * self.n_features
            return self.n_features
        start = self.indptr[row] - self.indptr[0]
        values[0] = self.data + start
        if self.wide != NULL:
            wide[0] = self.wide + start
        else:
            narrow[0] = self.narrow + start
        return self.indptr[row + 1] - self.indptr[row]


cdef inline Py_ssize_t column_of(
    Py_ssize_t entry, const int32_t* narrow, const int64_t* wide
) noexcept nogil:
    """Return the column of a stored entry; see ``Rows.entries``."""
    return narrow[entry] if narrow != NULL else wide[entry] if wide != NULL else entry
