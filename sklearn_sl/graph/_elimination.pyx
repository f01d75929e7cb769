"""Potentials of a resistor network by elimination without a subtraction.

A vertex ``k`` with the conductances ``a_ki`` to others and ``g_k`` to the ground is taken out of
the network; with ``D_k = g_k + sum_i a_ki`` the others are then joined by
``a_ij + a_ki a_kj / D_k``, and to the ground by ``g_i + a_ki g_k / D_k`` (the star-mesh transform).
That is Cholesky's factorisation of the Laplacian, but as only positive numbers are added, every
pivot is as exact as the conductances are, however much these differ: a factorisation of the matrix
itself loses the sum of the small conductances of a vertex in its large ones.
"""


def list_rows(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
              const Py_ssize_t[::1] parent, Py_ssize_t start, Py_ssize_t budget,
              Py_ssize_t[::1] mark, Py_ssize_t[::1] filled, int[::1] rows):
    """Write the later vertices of each column of the factor, in their order.

    ``parent`` is the elimination tree of the symmetric pattern, ``filled`` where the next entry of
    each column goes, ``mark`` begins as -1. Begins with the row ``start``, and returns the next one
    after about ``budget`` entries.
    """
    cdef Py_ssize_t row = start, place, column
    with nogil:
        while row < parent.shape[0] and budget >= 0:
            mark[row] = row
            for place in range(indptr[row], indptr[row + 1]):
                column = indices[place]
                while column < row and mark[column] != row:
                    mark[column] = row
                    rows[filled[column]] = <int>row
                    filled[column] += 1
                    budget -= 1
                    column = parent[column]
            row += 1
    return row


def eliminate(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
              const double[::1] conductance, const double[::1] ground,
              const Py_ssize_t[::1] starts, const int[::1] rows, double[::1] joined,
              double[::1] grounded, double[::1] pivot, Py_ssize_t[::1] first,
              Py_ssize_t[::1] following, Py_ssize_t[::1] position, double[::1] column,
              Py_ssize_t vertex, double budget):
    """Take out the vertices from ``vertex`` on, until some ``budget`` of operations is spent.

    Written are the conductances ``joined`` (as the factor's columns) and ``grounded`` of each
    vertex at its end, and their sum ``pivot``. ``first``, ``following``, ``position`` and
    ``column`` hold which columns come next; they begin as -1, -1, 0 and 0. Returns the next vertex.
    """
    with nogil:
        while vertex < pivot.shape[0] and budget > 0:
            budget -= _take_out(indptr, indices, conductance, ground, starts, rows, joined,
                                grounded, pivot, first, following, position, column, vertex)
            vertex += 1
    return vertex


cdef double _take_out(const Py_ssize_t[::1] indptr, const Py_ssize_t[::1] indices,
                      const double[::1] conductance, const double[::1] ground,
                      const Py_ssize_t[::1] starts, const int[::1] rows, double[::1] joined,
                      double[::1] grounded, double[::1] pivot, Py_ssize_t[::1] first,
                      Py_ssize_t[::1] following, Py_ssize_t[::1] position, double[::1] column,
                      Py_ssize_t k) noexcept nogil:
    cdef double total = ground[k], share, work = starts[k + 1] - starts[k] + 1
    cdef Py_ssize_t earlier = first[k], after
    cdef Py_ssize_t e, at
    for e in range(indptr[k], indptr[k + 1]):
        if indices[e] > k:
            column[indices[e]] = conductance[e]
    while earlier != -1:
        after = following[earlier]
        at = position[earlier]
        share = joined[at] / pivot[earlier]
        total += share * grounded[earlier]
        for e in range(at + 1, starts[earlier + 1]):
            column[rows[e]] += share * joined[e]
        work += starts[earlier + 1] - at
        _queue(starts, rows, first, following, position, earlier, at + 1)
        earlier = after
    grounded[k] = total
    for e in range(starts[k], starts[k + 1]):
        joined[e] = column[rows[e]]
        column[rows[e]] = 0
        total += joined[e]
    pivot[k] = total
    _queue(starts, rows, first, following, position, k, starts[k])
    return work


cdef void _queue(const Py_ssize_t[::1] starts, const int[::1] rows, Py_ssize_t[::1] first,
                 Py_ssize_t[::1] following, Py_ssize_t[::1] position, Py_ssize_t k,
                 Py_ssize_t at) noexcept nogil:
    """Let column ``k`` wait for the vertex of its entry ``at``."""
    position[k] = at
    if at < starts[k + 1]:
        following[k] = first[rows[at]]
        first[rows[at]] = k


def potentials(const Py_ssize_t[::1] starts, const int[::1] rows, const double[::1] joined,
               const double[::1] pivot, double[::1] current):
    """Turn the currents into the vertices to their potentials, in place."""
    cdef Py_ssize_t k
    cdef Py_ssize_t e
    cdef double total
    with nogil:
        for k in range(pivot.shape[0]):
            total = current[k] / pivot[k]
            for e in range(starts[k], starts[k + 1]):
                current[rows[e]] += joined[e] * total
        for k in range(pivot.shape[0] - 1, -1, -1):
            total = current[k]
            for e in range(starts[k], starts[k + 1]):
                total += joined[e] * current[rows[e]]
            current[k] = total / pivot[k]
