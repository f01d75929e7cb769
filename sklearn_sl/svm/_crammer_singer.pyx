"""Coordinate ascent for the dual of the class-sensitive (Crammer-Singer) machine.

The dual of sample ``i`` is a point of a simplex, ``eta_ik >= 0`` with ``sum_k eta_ik =
mass_i``, and ``eta_ik`` is the share of class ``k`` in the sample's loss. The scores
``s_ik = 1[k != y_i] + f_k(x_i)`` are the slopes of the dual objective in ``eta``; a change
``d`` of ``eta_i`` moves the scores of all samples by ``s_jk -= K_ij d_k``. The point is
optimal where each sample has all its mass on its largest scores. Arrays are stored class
by class, so that every loop over the samples runs along memory.
"""

from cython cimport floating
from libc.math cimport INFINITY
from libc.stdint cimport int64_t


def violations(const double[:, ::1] eta, const double[:, ::1] score, double[:, ::1] work):
    """Write ``max_k s_ik - min_(k: eta_ik > 0) s_ik`` of each sample into ``work[0]``.

    ``work`` has two rows; the second is left with the smallest scores.
    """
    with nogil:
        _violations(eta, score, work)


def solve(const floating[:, ::1] K, const double[::1] curvature, const double[::1] mass,
          double tol, int64_t max_steps, double[:, ::1] eta, double[:, ::1] score,
          double[:, ::1] work, double[:, ::1] step):
    """Maximise the dual over the samples of ``K`` until no violation exceeds ``tol``.

    Each step takes the sample of the largest violation and solves its subproblem: ``eta_i``
    becomes the point of the simplex next to ``eta_i + s_i / curvature_i``, exact if the
    curvature is ``K_ii`` and an ascent if it is larger. ``eta`` and ``score`` are mutated;
    ``work`` and ``step`` (two rows each, of samples and of classes) are scratch.

    Returns the number of steps taken, ``max_steps`` at most.
    """
    cdef int64_t taken = 0
    cdef Py_ssize_t worst
    with nogil:
        while taken < max_steps:
            _violations(eta, score, work)
            worst = _largest(work)
            if work[0, worst] <= tol:
                break
            _project(worst, curvature[worst], mass[worst], eta, score, step)
            _move_scores(K, worst, step, score)
            taken += 1
    return taken


cdef void _violations(const double[:, ::1] eta, const double[:, ::1] score,
                      double[:, ::1] work) noexcept nogil:
    cdef Py_ssize_t n_classes = eta.shape[0], n = eta.shape[1], i, k
    cdef double *largest = &work[0, 0]
    cdef double *smallest = &work[1, 0]
    cdef const double *s
    cdef const double *share
    cdef double used
    for i in range(n):
        largest[i] = -INFINITY
        smallest[i] = INFINITY
    for k in range(n_classes):
        s, share = &score[k, 0], &eta[k, 0]
        for i in range(n):
            used = s[i] if share[i] > 0 else INFINITY
            smallest[i] = used if used < smallest[i] else smallest[i]
            largest[i] = s[i] if s[i] > largest[i] else largest[i]
    for i in range(n):
        largest[i] -= smallest[i]


cdef Py_ssize_t _largest(const double[:, ::1] work) noexcept nogil:
    cdef Py_ssize_t i, worst = 0
    for i in range(work.shape[1]):
        if work[0, i] > work[0, worst]:
            worst = i
    return worst


cdef void _project(Py_ssize_t i, double curvature, double mass, double[:, ::1] eta,
                   const double[:, ::1] score, double[:, ::1] step) noexcept nogil:
    """Project ``eta_i + s_i / curvature`` on the simplex; the change goes to ``step[0]``.

    The projection is ``max(target - level, 0)``. The level falls out of a fixed point: of all
    classes first, then of those above the last level, until none leaves.
    """
    cdef Py_ssize_t n_classes = eta.shape[0], k, n_before, n_above = n_classes + 1
    cdef double *target = &step[1, 0]
    cdef double top = -INFINITY, level = -INFINITY, total, share
    for k in range(n_classes):
        target[k] = eta[k, i] + score[k, i] / curvature
        top = max(top, target[k])
    while True:
        n_before, n_above, total = n_above, 0, 0.0
        for k in range(n_classes):
            # Relative to the top: a class that is alone above the level gets the very mass.
            if target[k] - top > level:
                n_above += 1
                total += target[k] - top
        if n_above >= n_before:  # more, by rounding, if one is at the very level
            break
        level = (total - mass) / n_above
    for k in range(n_classes):
        share = max(target[k] - top - level, 0.0)
        step[0, k] = share - eta[k, i]
        eta[k, i] = share


cdef void _move_scores(const floating[:, ::1] K, Py_ssize_t i, const double[:, ::1] step,
                       double[:, ::1] score) noexcept nogil:
    cdef Py_ssize_t n = K.shape[0], j, k
    cdef const floating *row = &K[i, 0]
    cdef double *s
    cdef double change
    for k in range(score.shape[0]):
        change = step[0, k]
        if change != 0:
            s = &score[k, 0]
            for j in range(n):
                s[j] -= change * row[j]
