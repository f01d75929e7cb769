"""Rows of a dense or sparse matrix: what a linear learner does with one of them.

A loop over trials is written once, in terms of :class:`Rows`, for both kinds of matrices.
"""

from scipy.linalg.cython_blas cimport daxpy


cdef extern from "_rows_dot.h" nogil:
    double sl_dot(Py_ssize_t n, const double* x, const double* w)


cdef class Rows:
    """The rows of a matrix, in order."""

    cdef double dot(self, Py_ssize_t row, const double* weights) noexcept nogil:
        """Return the inner product of a row and weights; not finite if an entry is not."""
        return 0.0

    cdef void add(self, Py_ssize_t row, double factor, double* weights) noexcept nogil:
        """Add a multiple of a row to weights."""

    cdef double norm2(self, Py_ssize_t row) noexcept nogil:
        """Return the squared Euclidean norm of a row."""
        return 0.0

    cdef Py_ssize_t entries(
        self, Py_ssize_t row, const double** values, const int32_t** narrow, const int64_t** wide
    ) noexcept nogil:
        """Return how many entries of a row are stored; set where they and their columns are.

        The columns are 0, 1, ... if both ``narrow`` and ``wide`` are set to NULL.
        """
        return 0


cdef class DenseRows(Rows):
    """The rows of a dense matrix.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), C order
        The matrix.
    """

    def __init__(self, const double[:, ::1] X):
        self.X = X
        self.n_rows, self.n_features = X.shape[0], X.shape[1]

    cdef double dot(self, Py_ssize_t row, const double* weights) noexcept nogil:
        return sl_dot(self.n_features, &self.X[row, 0], weights)

    cdef void add(self, Py_ssize_t row, double factor, double* weights) noexcept nogil:
        cdef int n = <int>self.n_features, one = 1
        daxpy(&n, &factor, <double*>&self.X[row, 0], &one, weights, &one)

    cdef double norm2(self, Py_ssize_t row) noexcept nogil:
        return sl_dot(self.n_features, &self.X[row, 0], &self.X[row, 0])

    cdef Py_ssize_t entries(
        self, Py_ssize_t row, const double** values, const int32_t** narrow, const int64_t** wide
    ) noexcept nogil:
        values[0] = &self.X[row, 0]
        narrow[0] = NULL
        wide[0] = NULL
        return self.n_features


cdef class SparseRows(Rows):
    """The rows of a compressed sparse matrix, without duplicates.

    Parameters
    ----------
    data : ndarray of shape (n_stored,)
        The entries.

    narrow, wide : ndarray of shape (n_stored,)
        Their columns, as integers of 32 or of 64 bits; the other one is empty.

    indptr : ndarray of shape (n_rows + 1,)
        Where the rows begin: row ``i`` is at ``indptr[i] - indptr[0]``.

    n_features : int
        The number of columns.
    """

    def __init__(
        self,
        const double[::1] data,
        const int32_t[::1] narrow,
        const int64_t[::1] wide,
        const int64_t[::1] indptr,
        Py_ssize_t n_features,
    ):
        self.data, self.narrow, self.wide, self.indptr = data, narrow, wide, indptr
        self.is_wide = wide.shape[0] > 0
        self.n_rows, self.n_features = indptr.shape[0] - 1, n_features

    cdef double dot(self, Py_ssize_t row, const double* weights) noexcept nogil:
        cdef Py_ssize_t k
        cdef Py_ssize_t start = self.indptr[row] - self.indptr[0]
        cdef Py_ssize_t stop = self.indptr[row + 1] - self.indptr[0]
        cdef double total = 0.0
        if self.is_wide:
            for k in range(start, stop):
                total += self.data[k] * weights[self.wide[k]]
        else:
            for k in range(start, stop):
                total += self.data[k] * weights[self.narrow[k]]
        return total

    cdef void add(self, Py_ssize_t row, double factor, double* weights) noexcept nogil:
        cdef Py_ssize_t k
        cdef Py_ssize_t start = self.indptr[row] - self.indptr[0]
        cdef Py_ssize_t stop = self.indptr[row + 1] - self.indptr[0]
        if self.is_wide:
            for k in range(start, stop):
                weights[self.wide[k]] += factor * self.data[k]
        else:
            for k in range(start, stop):
                weights[self.narrow[k]] += factor * self.data[k]

    cdef double norm2(self, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(
            self.indptr[row] - self.indptr[0], self.indptr[row + 1] - self.indptr[0]
        ):
            total += self.data[k] * self.data[k]
        return total

    cdef Py_ssize_t entries(
        self, Py_ssize_t row, const double** values, const int32_t** narrow, const int64_t** wide
    ) noexcept nogil:
        cdef Py_ssize_t start = self.indptr[row] - self.indptr[0]
        cdef Py_ssize_t n = self.indptr[row + 1] - self.indptr[row]
        values[0] = NULL
        narrow[0] = NULL
        wide[0] = NULL
        if n > 0:
            values[0] = &self.data[start]
            if self.is_wide:
                wide[0] = &self.wide[start]
            else:
                narrow[0] = &self.narrow[start]
        return n
