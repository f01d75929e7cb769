"""Trials of the ellipsoid."""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t, int64_t
from scipy.linalg.cython_blas cimport dnrm2

from sklearn_sl.online.linear._rows cimport Rows, sl_add, sl_dot

# The entries of the tail of an ellipsoid.
cdef enum:
    LOG_VOLUME = 0  # relative to the unit ball
    FACTOR_SCALE = 1
    N_UPDATES = 2
    EXHAUSTED = 3  # whether an update was left out for the volume

ELLIPSOID_TAIL = 4
# Half-widths below this, relative to the product of the norms, are lost in rounding.
cdef double ROUNDING = 2.0**-52


def sweep_ellipsoid(
    Rows rows,
    const double[::1] targets,
    double least_volume,
    double log_ratio,
    double[::1] center,
    double[:, ::1] factor,
    double[::1] tail,
    double[:, ::1] buffers,
    double[:, ::1] scores,
    Py_ssize_t column,
):
    """Play one trial per row with the ellipsoid ``{w + B v: ||v|| <= 1}``, ``B = scale * factor``.

    The score is ``w.x``. On a mistake, ``y w.x <= 0``, with ``u = B'x / ||B'x||`` and ``b = B u``::

        w += y b / (d + 1),   B = sqrt(d^2 / (d^2 - 1)) (B - (1 - sqrt((d - 1) / (d + 1))) b u')

    which is the least ellipsoid around the half with ``y v.x >= y w.x``. For ``d = 1`` the interval
    becomes one half of it.

    Parameters
    ----------
    rows : Rows
        The samples, dense.

    targets : ndarray of shape (n_rows,)
        1 and -1.

    least_volume : float
        The logarithm of the least volume that an update may leave.

    log_ratio : float
        By what an update changes the logarithm of the volume.

    center : ndarray of shape (d,)
        The center ``w``, changed in place; ``d`` is the number of features, or one more, for a
        feature that is always one.

    factor : ndarray of shape (d, d)
        Changed in place.

    tail : ndarray of shape (ELLIPSOID_TAIL,)
        Changed in place.

    buffers : ndarray of shape (2, d)
        Scratch.

    scores : ndarray of shape (n_rows, n_scores)
        The scores before the updates are written to one of its columns.

    column : int
        Which one.

    Returns
    -------
    n_played : int
        The number of trials; less than all if the score of the next row is not finite.
    """
    cdef Py_ssize_t row, j, played = rows.n_rows, last = rows.n_features
    cdef int d = <int>center.shape[0], one = 1
    cdef bint intercept = d > last
    cdef const double* values
    cdef const int32_t* narrow
    cdef const int64_t* wide
    cdef double* w = &center[0]
    cdef double* x = &buffers[0, 0]
    cdef double* u = &buffers[1, 0]
    cdef double score, width, length, step, along, shrink
    shrink = sqrt((d - 1.0) / (d + 1.0)) - 1.0
    with nogil:
        for row in range(rows.n_rows):
            score = rows.dot(row, w)
            if intercept:
                score += w[last]
            scores[row, column] = score
            if not isfinite(score):
                played = row
                break
            if targets[row] * score > 0:
                continue
            if tail[LOG_VOLUME] + log_ratio < least_volume:
                tail[EXHAUSTED] = 1
                continue
            rows.entries(row, &values, &narrow, &wide)
            for j in range(last):
                x[j] = values[j]
            if intercept:
                x[last] = 1.0
            # Only the direction of a sample matters.
            length = dnrm2(&d, x, &one)
            if not length > 0:
                continue
            if not isfinite(length):
                played = row
                break
            for j in range(d):
                x[j] /= length
            # Two passes over the factor; threads of BLAS would wait for one another.
            for j in range(d):
                u[j] = 0.0
            for j in range(d):
                sl_add(d, x[j], &factor[j, 0], u)
            width = dnrm2(&d, u, &one)
            if not tail[FACTOR_SCALE] * width > ROUNDING * dnrm2(&d, w, &one):
                continue
            for j in range(d):
                u[j] /= width
            step = targets[row] * tail[FACTOR_SCALE] / (d + 1.0)
            for j in range(d):
                along = sl_dot(d, &factor[j, 0], u)
                w[j] += step * along
                if d > 1:
                    sl_add(d, shrink * along, u, &factor[j, 0])
            tail[FACTOR_SCALE] *= d / sqrt((d - 1.0) * (d + 1.0)) if d > 1 else 0.5
            tail[LOG_VOLUME] += log_ratio
            tail[N_UPDATES] += 1
    return played
