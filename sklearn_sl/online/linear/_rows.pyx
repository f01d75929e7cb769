"""Rows of a dense or sparse matrix: what a linear learner does with one of them.

A loop over trials is written once, in terms of :class:`Rows`, for both kinds of matrices.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t


@cython.final
cdef class Rows:
    """The rows of a matrix, in order; see the functions that make them."""


def dense_rows(const double[:, ::1] X):
    """Return the rows of a dense matrix.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), C order
        The matrix, with at least one feature.

    Returns
    -------
    rows : Rows
        Its rows.
    """
    cdef Rows rows = Rows.__new__(Rows)
    rows.owners = X.base
    rows.n_rows, rows.n_features = X.shape[0], X.shape[1]
    rows.data = &X[0, 0] if X.shape[0] > 0 else NULL
    return rows


def sparse_rows(
    const double[::1] data,
    const int32_t[::1] narrow,
    const int64_t[::1] wide,
    const int64_t[::1] indptr,
    Py_ssize_t n_features,
):
    """Return the rows of a compressed sparse matrix without duplicates.

    Parameters
    ----------
    data : ndarray of shape (n_stored,)
        The entries.

    narrow, wide : ndarray of shape (n_stored,)
        Their columns, as integers of 32 or of 64 bits; the other one is None.

    indptr : ndarray of shape (n_rows + 1,)
        Where the rows begin: row ``i`` is at ``indptr[i] - indptr[0]``.

    n_features : int
        The number of columns.

    Returns
    -------
    rows : Rows
        Its rows.
    """
    cdef Rows rows = Rows.__new__(Rows)
    rows.n_rows, rows.n_features = indptr.shape[0] - 1, n_features
    rows.owners = (data.base, indptr.base)
    rows.indptr = &indptr[0]
    if data.shape[0] == 0:
        return rows
    rows.data = &data[0]
    if narrow is not None:
        rows.owners += (narrow.base,)
        rows.narrow = &narrow[0]
    else:
        rows.owners += (wide.base,)
        rows.wide = &wide[0]
    return rows
