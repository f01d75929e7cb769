"""The steps of a blocked Cholesky factorisation, on tiles of one big array.

A factor ``L`` is the lower triangle of a C-ordered array, whose rows may lie
further apart than they are long. BLAS reads such an array as the Fortran-ordered
upper triangle ``U = L'``: hence the letters in the calls. Every entry is one or
two BLAS calls; the loop over the tiles, and with it the answer to Ctrl-C, is in
Python.
"""

from cython cimport floating
from scipy.linalg.cython_blas cimport (
    dgemm, dsymm, dsymv, dsyrk, dtrsm, dtrsv, sgemm, ssymm, ssymv, ssyrk, strsm, strsv,
)
from scipy.linalg.cython_lapack cimport dpotrf, spotrf


def factor(floating[:, ::1] store, Py_ssize_t offset, Py_ssize_t start, Py_ssize_t stop):
    """Factor the diagonal tile ``start:stop`` of ``L`` in place.

    ``L`` begins at row ``offset`` of ``store``. Returns zero, or the order of the
    first leading minor of the tile that is not positive.
    """
    cdef int order = stop - start, stride = store.shape[1], info = 0
    cdef floating *tile = &store[offset + start, start]
    with nogil:
        if floating is double:
            dpotrf("U", &order, tile, &stride, &info)
        else:
            spotrf("U", &order, tile, &stride, &info)
    return info


def solve_below(floating[:, ::1] store, Py_ssize_t offset,
                Py_ssize_t row, Py_ssize_t last_row, Py_ssize_t start, Py_ssize_t stop):
    """Replace the tile ``T = L[row:last_row, start:stop]`` by ``T inv(D)'``, D its factor."""
    cdef int order = stop - start, n_rows = last_row - row, stride = store.shape[1]
    cdef floating one = 1
    cdef floating *diagonal = &store[offset + start, start]
    cdef floating *tile = &store[offset + row, start]
    with nogil:
        if floating is double:
            dtrsm("L", "U", "T", "N", &order, &n_rows, &one, diagonal, &stride, tile, &stride)
        else:
            strsm("L", "U", "T", "N", &order, &n_rows, &one, diagonal, &stride, tile, &stride)


def update_diagonal(floating[:, ::1] store, Py_ssize_t offset,
                    Py_ssize_t row, Py_ssize_t last_row, Py_ssize_t start, Py_ssize_t stop):
    """Subtract ``P P'`` from the diagonal tile of the rows, ``P`` their panel ``start:stop``."""
    cdef int order = last_row - row, depth = stop - start, stride = store.shape[1]
    cdef floating one = 1, minus = -1
    cdef floating *panel = &store[offset + row, start]
    cdef floating *tile = &store[offset + row, row]
    with nogil:
        if floating is double:
            dsyrk("U", "T", &order, &depth, &minus, panel, &stride, &one, tile, &stride)
        else:
            ssyrk("U", "T", &order, &depth, &minus, panel, &stride, &one, tile, &stride)


def update_below(floating[:, ::1] store, Py_ssize_t offset, Py_ssize_t row, Py_ssize_t last_row,
                 Py_ssize_t col, Py_ssize_t last_col, Py_ssize_t start, Py_ssize_t stop):
    """Subtract ``P Q'`` from the tile rows x cols; ``P``, ``Q`` their panels ``start:stop``."""
    cdef int n_rows = last_row - row, n_cols = last_col - col
    cdef int depth = stop - start, stride = store.shape[1]
    cdef floating one = 1, minus = -1
    cdef floating *left = &store[offset + row, start]
    cdef floating *right = &store[offset + col, start]
    cdef floating *tile = &store[offset + row, col]
    with nogil:
        if floating is double:
            dgemm("T", "N", &n_cols, &n_rows, &depth, &minus, right, &stride, left, &stride,
                  &one, tile, &stride)
        else:
            sgemm("T", "N", &n_cols, &n_rows, &depth, &minus, right, &stride, left, &stride,
                  &one, tile, &stride)


def substitute(const floating[:, ::1] store, Py_ssize_t offset, floating[:, ::1] columns):
    """Solve ``L L' x = b`` in place; each row of ``columns`` is one right-hand side."""
    cdef int order = columns.shape[1], n_sides = columns.shape[0], stride = store.shape[1], step = 1
    cdef floating one = 1
    cdef floating *lower = <floating *> &store[offset, 0]
    cdef floating *sides = &columns[0, 0]
    with nogil:
        if floating is double:
            if n_sides == 1:
                dtrsv("U", "T", "N", &order, lower, &stride, sides, &step)
                dtrsv("U", "N", "N", &order, lower, &stride, sides, &step)
            else:
                dtrsm("L", "U", "T", "N", &order, &n_sides, &one, lower, &stride, sides, &order)
                dtrsm("L", "U", "N", "N", &order, &n_sides, &one, lower, &stride, sides, &order)
        else:
            if n_sides == 1:
                strsv("U", "T", "N", &order, lower, &stride, sides, &step)
                strsv("U", "N", "N", &order, lower, &stride, sides, &step)
            else:
                strsm("L", "U", "T", "N", &order, &n_sides, &one, lower, &stride, sides, &order)
                strsm("L", "U", "N", "N", &order, &n_sides, &one, lower, &stride, sides, &order)


def substitute_forward(const floating[:, ::1] store, Py_ssize_t offset, Py_ssize_t start,
                       floating[:, ::1] columns):
    """Solve ``L[start:, start:] x = b`` in place; each row of ``columns`` is one side."""
    cdef int order = columns.shape[1], n_sides = columns.shape[0], stride = store.shape[1]
    cdef floating one = 1
    cdef floating *lower = <floating *> &store[offset + start, start]
    cdef floating *sides = &columns[0, 0]
    with nogil:
        if floating is double:
            dtrsm("L", "U", "T", "N", &order, &n_sides, &one, lower, &stride, sides, &order)
        else:
            strsm("L", "U", "T", "N", &order, &n_sides, &one, lower, &stride, sides, &order)


def multiply(const floating[:, ::1] store, const floating[:, ::1] columns, floating[:, ::1] out):
    """Write ``K x`` for the symmetric ``K`` in the upper triangle of the first rows of ``store``.

    Each row of ``columns`` is one ``x``; ``out`` is overwritten.
    """
    cdef int order = columns.shape[1], n_sides = columns.shape[0], stride = store.shape[1], one = 1
    cdef floating unit = 1, zero = 0
    cdef floating *matrix = <floating *> &store[0, 0]
    cdef floating *x = <floating *> &columns[0, 0]
    cdef floating *y = &out[0, 0]
    with nogil:
        if floating is double:
            if n_sides == 1:
                dsymv("L", &order, &unit, matrix, &stride, x, &one, &zero, y, &one)
            else:
                dsymm("L", "L", &order, &n_sides, &unit, matrix, &stride, x, &order,
                      &zero, y, &order)
        else:
            if n_sides == 1:
                ssymv("L", &order, &unit, matrix, &stride, x, &one, &zero, y, &one)
            else:
                ssymm("L", "L", &order, &n_sides, &unit, matrix, &stride, x, &order,
                      &zero, y, &order)
