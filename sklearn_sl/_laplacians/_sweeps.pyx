"""Conjugate gradients and relaxation on the system of a grounded graph.

The matrix is symmetric with a unit diagonal and no positive entry beside it: ``I - L - L'`` with a
strictly lower triangular ``L >= 0``. It comes as the rows of ``L + L'``: row ``i`` has its columns
below ``i`` at ``indptr[i]..middle[i]`` and those above at ``middle[i]..indptr[i + 1]``.
"""

from libc.stdint cimport int32_t, int64_t


cdef extern from "_sweeps_loops.h" nogil:
    enum: SL_MOST_SIDES
    ctypedef struct sl_matrix:
        Py_ssize_t n
        const int64_t *indptr
        const int64_t *middle
        const int32_t *indices
        const double *data
    ctypedef void (*sl_backward_t)(
        const sl_matrix *, const double *, const double *, double *, double *) noexcept
    ctypedef void (*sl_forward_t)(
        const sl_matrix *, const double *, const double *, double *, double *) noexcept
    ctypedef void (*sl_advance_t)(
        Py_ssize_t, const double *, const double *, const double *, const double *, double *,
        double *, double *) noexcept
    sl_backward_t sl_backward_for(int)
    sl_forward_t sl_forward_for(int)
    sl_advance_t sl_advance_for(int)

MOST_SIDES = SL_MOST_SIDES


def find_middle(const int64_t[::1] indptr, const int32_t[::1] indices, int64_t[::1] middle):
    """Write where the columns above the diagonal begin; columns are sorted in each row."""
    cdef Py_ssize_t i
    cdef int64_t k
    with nogil:
        for i in range(middle.shape[0]):
            k = indptr[i]
            while k < indptr[i + 1] and indices[k] < i:
                k += 1
            middle[i] = k


cdef sl_matrix _matrix(
    const int64_t[::1] indptr, const int64_t[::1] middle, const int32_t[::1] indices,
    const double[::1] data,
) noexcept:
    cdef sl_matrix A
    A.n, A.indptr = middle.shape[0], &indptr[0]
    A.middle = &middle[0] if middle.shape[0] else NULL
    A.indices = &indices[0] if indices.shape[0] else NULL
    A.data = &data[0] if data.shape[0] else NULL
    return A


def solve_lower(
    const int64_t[::1] indptr, const int64_t[::1] middle, const int32_t[::1] indices,
    const double[::1] data, const double[:, ::1] b, const double[:, ::1] zeros,
    double[:, ::1] x,
):
    """Write ``(I - L)^-1 b``."""
    cdef sl_matrix A = _matrix(indptr, middle, indices, data)
    cdef double product[SL_MOST_SIDES]
    if A.n:
        with nogil:
            sl_forward_for(<int>b.shape[1])(&A, &b[0, 0], &zeros[0, 0], &x[0, 0], product)


def solve_upper(
    const int64_t[::1] indptr, const int64_t[::1] middle, const int32_t[::1] indices,
    const double[::1] data, const double[:, ::1] b, double[:, ::1] scratch, double[:, ::1] x,
):
    """Write ``(I - L')^-1 b``; ``scratch`` is overwritten."""
    cdef sl_matrix A = _matrix(indptr, middle, indices, data)
    cdef double beta[SL_MOST_SIDES]
    cdef Py_ssize_t c
    for c in range(b.shape[1]):
        beta[c] = 0.0
    if A.n:
        with nogil:
            sl_backward_for(<int>b.shape[1])(&A, &b[0, 0], beta, &scratch[0, 0], &x[0, 0])


def conjugate_gradients(
    const int64_t[::1] indptr, const int64_t[::1] middle, const int32_t[::1] indices,
    const double[::1] data, const double[::1] target, Py_ssize_t n_steps,
    double[:, ::1] p, double[:, ::1] t, double[:, ::1] s, double[:, ::1] r, double[:, ::1] y,
    double[::1] beta, double[::1] norm, double[::1] gain,
):
    """Take steps of conjugate gradients, preconditioned by both triangles, for all sides at once.

    In the unknowns ``y = (I - L') x`` the matrix is ``(I - L)^-1 (I - L - L') (I - L')^-1``, whose
    product with ``p`` is ``t + (I - L)^-1 (p - t)`` for ``t = (I - L')^-1 p``: one pass over the
    entries, as for a product without a preconditioner (Eisenstat's trick).

    ``r`` is the residual in these unknowns, ``norm`` its squared norms, ``beta`` the coefficients
    of the next direction (zeros at first). To ``gain`` is added by how much the squared error in
    the norm of the energy falls. All of them are updated. Ends when no squared norm is above its
    ``target``; returns the number of steps taken.
    """
    cdef Py_ssize_t c, n_taken = 0, n = p.shape[0], n_sides = p.shape[1]
    cdef double alpha[SL_MOST_SIDES]
    cdef double product[SL_MOST_SIDES]
    cdef double before
    cdef bint done
    cdef sl_matrix A = _matrix(indptr, middle, indices, data)
    cdef sl_backward_t backward = sl_backward_for(<int>n_sides)
    cdef sl_forward_t forward = sl_forward_for(<int>n_sides)
    cdef sl_advance_t advance = sl_advance_for(<int>n_sides)
    with nogil:
        while n_taken < n_steps:
            done = True
            for c in range(n_sides):
                done = done and not norm[c] > target[c]
            if done:
                break
            n_taken += 1
            backward(&A, &r[0, 0], &beta[0], &p[0, 0], &t[0, 0])
            forward(&A, &p[0, 0], &t[0, 0], &s[0, 0], product)
            for c in range(n_sides):
                # A side that is solved to the last bit stands still.
                alpha[c] = norm[c] / product[c] if product[c] > 0 else 0.0
                beta[c] = norm[c]
                gain[c] += alpha[c] * norm[c]
            advance(n, alpha, &p[0, 0], &t[0, 0], &s[0, 0], &y[0, 0], &r[0, 0], &norm[0])
            for c in range(n_sides):
                before = beta[c]
                beta[c] = norm[c] / before if before > 0 else 0.0
    return n_taken


def relax(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] walk,
    const double[:, ::1] drift, const int64_t[::1] order, double[:, ::1] u,
):
    """Put vertices one after the other at the mean of their neighbours.

    Vertex ``i`` moves to ``drift[i] + sum_j walk_ij u_j``, the sum over its stored neighbours.
    Returns the largest change of a number.
    """
    cdef Py_ssize_t v, c, i, n_sides = u.shape[1]
    cdef int64_t k
    cdef double value, change, largest = 0.0
    with nogil:
        for v in range(order.shape[0]):
            i = order[v]
            for c in range(n_sides):
                value = drift[i, c]
                for k in range(indptr[i], indptr[i + 1]):
                    value += walk[k] * u[indices[k], c]
                change = value - u[i, c]
                if change < 0:
                    change = -change
                if change > largest:
                    largest = change
                u[i, c] = value
    return largest


def energy(
    const int64_t[::1] indptr, const int32_t[::1] indices, const double[::1] data,
    const double[:, ::1] u,
):
    """Return the sum of ``w_ij |u_i - u_j|^2`` over the edges, each of which is stored twice."""
    cdef Py_ssize_t i, j, c
    cdef int64_t k
    cdef double squares, difference, total = 0.0
    with nogil:
        for i in range(u.shape[0]):
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if j > i:
                    continue
                squares = 0.0
                for c in range(u.shape[1]):
                    difference = u[i, c] - u[j, c]
                    squares += difference * difference
                total += data[k] * squares
    return total
