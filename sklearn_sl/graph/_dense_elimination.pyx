"""Steps of a blocked elimination without subtractions (Grassmann, Taksar and Heyman).

An array ``M`` of ``n`` rows holds ``D - A``, minus the weights ``loss`` of the ways that end the
walk, and minus the right-hand sides; ``D`` is not needed. All entries are negative or zero, so that
every update adds numbers of one sign. Elimination writes ``D - A = L U`` with a unit upper triangle
``U``. Its entries are between 0 and -1, its products can be smaller than any normal number, and
these are zero here. BLAS reads the C-ordered array as its transpose.
"""

from scipy.linalg.cython_blas cimport dgemm, dtrsm


cdef extern from "_flush.h" nogil:
    unsigned long long flush_denormals()
    void restore_denormals(unsigned long long before)


cdef double ONE = 1, MINUS = -1


def factor_rows(double[:, ::1] M, double[::1] outside, Py_ssize_t start, Py_ssize_t stop):
    """Eliminate the rows ``start:stop``, from whose tile on the diagonal ``outside`` leads out.

    The tile becomes its factors ``L`` and ``U``, the columns on the right of it those of ``U``.
    """
    cdef int order = stop - start, n_cols = M.shape[1] - stop, stride = M.shape[1]
    cdef unsigned long long before
    with nogil:
        before = flush_denormals()
        _factor_tile(M, outside, start, stop)
        dtrsm("R", "U", "N", "N", &n_cols, &order, &ONE, &M[start, start], &stride,
              &M[start, stop], &stride)
        restore_denormals(before)


cdef void _factor_tile(double[:, ::1] M, double[::1] outside,
                       Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t k, i, j
    cdef double pivot, weight
    for k in range(start, stop):
        pivot = outside[k - start]
        for j in range(k + 1, stop):
            pivot -= M[k, j]
        if pivot == 0:  # nothing leads on: no label is reached, and any pivot will do
            pivot = 1
        M[k, k] = pivot
        outside[k - start] /= pivot
        for j in range(k + 1, stop):
            M[k, j] /= pivot
        for i in range(k + 1, stop):
            weight = M[i, k]
            outside[i - start] -= weight * outside[k - start]
            for j in range(k + 1, stop):
                M[i, j] -= weight * M[k, j]


def factor_columns(double[:, ::1] M, Py_ssize_t start, Py_ssize_t stop, bint symmetric):
    """Write the columns ``start:stop`` of ``L`` below the tile on the diagonal.

    Of a symmetric matrix they follow from ``U``, and what was there is not looked at.
    """
    cdef int order = stop - start, n_rows = M.shape[0] - stop, stride = M.shape[1]
    cdef Py_ssize_t i, k
    cdef unsigned long long before
    if n_rows == 0:
        return
    with nogil:
        before = flush_denormals()
        if symmetric:
            for i in range(stop, M.shape[0]):
                for k in range(start, stop):
                    M[i, k] = M[k, k] * M[k, i]
        else:
            dtrsm("L", "L", "N", "U", &order, &n_rows, &ONE, &M[start, start], &stride,
                  &M[stop, start], &stride)
        restore_denormals(before)


def update(double[:, ::1] M, Py_ssize_t start, Py_ssize_t stop,
           Py_ssize_t row, Py_ssize_t last_row, Py_ssize_t col):
    """Subtract ``L[row:last_row, start:stop] U[start:stop, col:]`` from its place in ``M``."""
    cdef int n_rows = last_row - row, n_cols = M.shape[1] - col
    cdef int depth = stop - start, stride = M.shape[1]
    cdef unsigned long long before
    with nogil:
        before = flush_denormals()
        dgemm("N", "N", &n_cols, &n_rows, &depth, &MINUS, &M[start, col], &stride,
              &M[row, start], &stride, &ONE, &M[row, col], &stride)
        restore_denormals(before)


def substitute(const double[:, ::1] M, Py_ssize_t start, Py_ssize_t stop, double[:, ::1] x):
    """Write the rows ``start:stop`` of ``U^-1 x``, whose later rows are known."""
    cdef int n_sides = x.shape[1], order = stop - start, stride = M.shape[1]
    cdef int n_later = M.shape[0] - stop
    cdef unsigned long long before
    with nogil:
        before = flush_denormals()
        if n_later:
            dgemm("N", "N", &n_sides, &order, &n_later, &MINUS, &x[stop, 0], &n_sides,
                  <double*>&M[start, stop], &stride, &ONE, &x[start, 0], &n_sides)
        dtrsm("R", "L", "N", "U", &n_sides, &order, &ONE, <double*>&M[start, start], &stride,
              &x[start, 0], &n_sides)
        restore_denormals(before)
