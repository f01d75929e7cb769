"""Inner products and squared distances that depend on their two rows alone, to the last bit."""

from libc.stddef cimport ptrdiff_t

cdef extern from "_pair_loops.h" nogil:
    void sl_products(
        ptrdiff_t n, ptrdiff_t n_features, const double* left, const double* panel,
        ptrdiff_t n_lanes, double* out, ptrdiff_t stride,
    )
    void sl_distances(
        ptrdiff_t n, ptrdiff_t n_features, const double* left, const double* panel,
        ptrdiff_t n_lanes, double* out, ptrdiff_t stride,
    )

cdef enum:
    WIDTH = 8

LANES = WIDTH


def compare(
    const double[:, ::1] left,
    const double[:, ::1] right,
    bint distances,
    double[:, ::1] panel,
    double[:, :] out,
):
    """Write ``left[i].right[j]``, or ``-||left[i] - right[j]||**2``, to ``out[i, j]``.

    The sum over the features goes from the first to the last; a distance is never infinite.
    ``panel`` is room for ``n_features`` by ``LANES`` numbers, finite ones; the rows of ``out`` are
    contiguous.
    """
    cdef Py_ssize_t n = left.shape[0], m = right.shape[0], n_features = left.shape[1]
    cdef Py_ssize_t stride = out.strides[0] // sizeof(double), start = 0, n_lanes, lane, k
    if n == 0 or m == 0 or n_features == 0:
        out[:] = 0.0
        return
    with nogil:
        while start < m:
            n_lanes = min(<Py_ssize_t>WIDTH, m - start)
            for lane in range(n_lanes):
                for k in range(n_features):
                    panel[k, lane] = right[start + lane, k]
            if distances:
                sl_distances(
                    n, n_features, &left[0, 0], &panel[0, 0], n_lanes, &out[0, start], stride
                )
            else:
                sl_products(
                    n, n_features, &left[0, 0], &panel[0, 0], n_lanes, &out[0, start], stride
                )
            start += WIDTH
