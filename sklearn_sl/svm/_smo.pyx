"""Sequential minimal optimisation of a box-constrained quadratic program on a resident Gram matrix.

The problem, for the signed coefficients ``b`` of a kernel expansion, is ::

    minimise  1/2 b'Kb - p'b + width ||b||_1
    subject to  lower <= b <= upper,  sum(b) constant,

with ``lower <= 0 <= upper``. Classification, regression and one-class machines are this problem
with other numbers. ``v = p - Kb`` is the negative gradient of its smooth part; moving ``b[k]`` up
gains ``v[k] + up[k]`` per unit, moving it down costs ``v[k] + lo[k]``. At the optimum no pair
gains: ``max(v + up) <= min(v + lo)``, and the difference of the two is the violation.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t
from libc.string cimport memcpy

cdef extern from "_smo_loops.h":
    enum: LANES "SL_LANES"
    Py_ssize_t sl_advance_f(
        Py_ssize_t, const float *, const float *, double, double, double *, const double *,
        const double *, double, double *, double *) noexcept nogil
    Py_ssize_t sl_advance_d(
        Py_ssize_t, const double *, const double *, double, double, double *, const double *,
        const double *, double, double *, double *) noexcept nogil
    Py_ssize_t sl_partner_f(
        Py_ssize_t, const float *, const double *, double, double, const double *,
        const double *, double) noexcept nogil
    Py_ssize_t sl_partner_d(
        Py_ssize_t, const double *, const double *, double, double, const double *,
        const double *, double) noexcept nogil
    void sl_subtract_f(Py_ssize_t, const float **, const double *, double *) noexcept nogil
    void sl_subtract_d(Py_ssize_t, const double **, const double *, double *) noexcept nogil

cdef extern from "_row_loops.h":
    void sl_row_products(
        Py_ssize_t, const double *, const double *, Py_ssize_t, double *) noexcept nogil
    void sl_row_squares(
        Py_ssize_t, const double *, const double *, Py_ssize_t, double *) noexcept nogil
    void sl_row_exp(Py_ssize_t, double *) noexcept nogil
    void sl_row_power(Py_ssize_t, double *, double, double, int) noexcept nogil
    double sl_row_dot(Py_ssize_t, const double *, const double *) noexcept nogil

ctypedef fused real:
    float
    double

# Below this size the bookkeeping of shrinking costs more than it saves.
cdef Py_ssize_t SMALLEST_SHRUNK = 256
# Variables whose violations differ by less than this part of the tolerance are equals: the first of
# them is taken.
cdef double GRAIN = 1e-3
# A subproblem is solved until its violation has fallen by this factor; then it is chosen anew.
cdef double PROGRESS = 0.1

# Arrays and rows of the Gram matrix are padded to a multiple of this many numbers.
PADDING = LANES

cdef struct Variables:
    # A view of the variables of one problem; every pointer has room for `padded` numbers.
    Py_ssize_t padded
    double *b
    double *v
    double *lower
    double *upper
    double *width
    double *diagonal
    double *up
    double *lo

# Where the rows of kernel matrices come from: a function of the points' products or of their
# squared distances, or a matrix in memory.
cpdef enum Source:
    PRODUCTS
    POWERS
    GAUSSIAN
    MATRIX_OF_FLOATS
    MATRIX

cdef struct Samples:
    # Samples group by group. `starts` and `panel_starts` say where the groups begin, and end.
    Source source
    const Py_ssize_t *starts
    # Points, side by side in panels that begin anew with each group, and the map of their products.
    const double *points
    const double *panels
    const Py_ssize_t *panel_starts
    Py_ssize_t n_features
    double gamma
    double coef0
    int degree
    # The kernel values within groups, if several problems share them: rows in the order in which
    # they were needed, `slots` says where, -1 is nowhere yet; and how many each group has.
    double *own
    const Py_ssize_t *own_starts
    Py_ssize_t *slots
    Py_ssize_t *filled
    # Or a matrix, and the row that each sample has there.
    const float *floats
    const double *doubles
    Py_ssize_t stride
    const Py_ssize_t *members

cdef struct Rows:
    # The matrix of one problem, whose rows are computed when they are first needed, and stored in
    # that order; `slots` says where, -1 is nowhere yet. The samples are those of one or two groups;
    # an extra variable with a kernel of zero may come last.
    double *values
    Py_ssize_t stride
    Py_ssize_t n
    Py_ssize_t *slots
    Py_ssize_t filled
    const double *diagonal
    Py_ssize_t work
    const Samples *samples
    Py_ssize_t first
    Py_ssize_t n_first
    Py_ssize_t second
    Py_ssize_t n_second
    double *buffer
    # Or some rows and columns of a larger one.
    Rows *whole
    const Py_ssize_t *chosen


cdef inline Py_ssize_t _padded(Py_ssize_t n) noexcept nogil:
    return (n + LANES - 1) // LANES * LANES


cdef void _evaluate(
    const Samples *samples, Py_ssize_t sample, Py_ssize_t group, double *out
) noexcept nogil:
    """Write the kernel values of a sample with all of a group, and of its padding."""
    cdef Py_ssize_t n_panels = samples.panel_starts[group + 1] - samples.panel_starts[group]
    cdef Py_ssize_t d = samples.n_features, n = n_panels * LANES
    cdef const double *point = samples.points + sample * d
    cdef const double *panels = samples.panels + samples.panel_starts[group] * d * LANES
    if samples.source == GAUSSIAN:
        sl_row_squares(d, point, panels, n_panels, out)
        sl_row_exp(n, out)
    else:
        sl_row_products(d, point, panels, n_panels, out)
        if samples.source == POWERS:
            sl_row_power(n, out, samples.gamma, samples.coef0, samples.degree)


cdef void _copy(
    const Samples *samples, Py_ssize_t sample, Py_ssize_t group, Py_ssize_t count, double *out
) noexcept nogil:
    """Copy the kernel values of a sample with all of a group."""
    cdef const Py_ssize_t *members = samples.members + samples.starts[group]
    cdef Py_ssize_t j, first = members[0], start = samples.members[sample] * samples.stride
    cdef bint run = members[count - 1] - first == count - 1
    if samples.source == MATRIX:
        if run:
            memcpy(out, samples.doubles + start + first, count * sizeof(double))
        else:
            for j in range(count):
                out[j] = samples.doubles[start + members[j]]
    elif run:
        for j in range(count):
            out[j] = samples.floats[start + first + j]
    else:
        for j in range(count):
            out[j] = samples.floats[start + members[j]]


cdef void _segment(
    Rows *rows, Py_ssize_t sample, Py_ssize_t own, Py_ssize_t group, Py_ssize_t count, double *out
) noexcept nogil:
    """Write the kernel values of a sample of ``own`` with all of another group or of its own."""
    cdef const Samples *samples = rows.samples
    cdef double *shared
    if not count:
        return
    if samples.source == MATRIX or samples.source == MATRIX_OF_FLOATS:
        _copy(samples, sample, group, count, out)
        rows.work += count
        return
    if own == group and samples.own != NULL:
        shared = samples.own + samples.own_starts[group]
        if samples.slots[sample] >= 0:
            shared += samples.slots[sample] * _padded(count)
        else:
            samples.slots[sample] = samples.filled[group]
            shared += samples.filled[group] * _padded(count)
            samples.filled[group] += 1
            _evaluate(samples, sample, group, shared)
            rows.work += count * (2 + samples.n_features // 4)
        memcpy(out, shared, count * sizeof(double))
        return
    _evaluate(samples, sample, group, rows.buffer)
    rows.work += count * (2 + samples.n_features // 4)
    memcpy(out, rows.buffer, count * sizeof(double))


cdef void _fill(Rows *rows, Py_ssize_t i) noexcept nogil:
    """Compute a row that is needed for the first time."""
    cdef double *row = rows.values + rows.filled * rows.stride
    cdef const double *source
    cdef Py_ssize_t j, group, sample, n = rows.n_first + rows.n_second
    rows.slots[i] = rows.filled
    rows.filled += 1
    if rows.whole != NULL:
        source = _row(rows.whole.values, rows.whole.stride, rows.whole, rows.chosen[i])
        for j in range(rows.n):
            row[j] = source[rows.chosen[j]]
        n = rows.n
    elif i < n:
        group = rows.first if i < rows.n_first else rows.second
        sample = rows.samples.starts[group] + (i if i < rows.n_first else i - rows.n_first)
        _segment(rows, sample, group, rows.first, rows.n_first, row)
        _segment(rows, sample, group, rows.second, rows.n_second, row + rows.n_first)
        row[i] = rows.diagonal[i]
    else:
        n = 0
    for j in range(n, rows.stride):
        row[j] = 0


cdef inline const real *_row(
    const real *K, Py_ssize_t stride, Rows *rows, Py_ssize_t i
) noexcept nogil:
    """Return a row, computed now if need be; without ``rows`` all are there, in their order."""
    if rows == NULL:
        return K + i * stride
    if rows.slots[i] < 0:
        _fill(rows, i)
    return K + rows.slots[i] * stride


cdef inline void _bar(Variables *x, Py_ssize_t k) noexcept nogil:
    """Set what a move of ``b[k]`` up or down adds to its slope."""
    cdef double b = x.b[k], width = x.width[k]
    x.up[k] = -INFINITY if b >= x.upper[k] else (-width if b >= 0 else width)
    x.lo[k] = INFINITY if b <= x.lower[k] else (-width if b > 0 else width)


cdef inline double _room(double b, double bound, double width) noexcept nogil:
    """Return how far ``b`` can move towards ``bound`` before its slope jumps."""
    if width > 0 and b * bound < 0:
        return fabs(b)
    return fabs(bound - b)


cdef inline double _moved(double b, double bound, double step, double room) noexcept nogil:
    """Return ``b`` after a step towards ``bound``: a clipped step lands on its end exactly."""
    if step < room:
        return b + step if bound > b else b - step
    return 0.0 if room < fabs(bound - b) else bound


cdef inline Py_ssize_t _advance(
    Variables *x, const real *Ka, const real *Kb, double a, double b, double grain, double *most,
    double *least
) noexcept nogil:
    if real is float:
        return sl_advance_f(x.padded, Ka, Kb, a, b, x.v, x.up, x.lo, grain, most, least)
    else:
        return sl_advance_d(x.padded, Ka, Kb, a, b, x.v, x.up, x.lo, grain, most, least)


cdef inline Py_ssize_t _partner(
    Variables *x, const real *Ki, double own, double most, double flat
) noexcept nogil:
    if real is float:
        return sl_partner_f(x.padded, Ki, x.diagonal, own, most, x.v, x.lo, flat)
    else:
        return sl_partner_d(x.padded, Ki, x.diagonal, own, most, x.v, x.lo, flat)


cdef inline Py_ssize_t _extremes(
    const real *K, Rows *rows, Variables *x, double grain, double *most, double *least
) noexcept nogil:
    """Find the extremes of a gradient that does not change."""
    # Any numbers do for a row that is multiplied by zero, but there may be none in K yet.
    cdef const real *row = K if rows == NULL else <const real *>x.diagonal
    return _advance(x, row, row, 0.0, 0.0, grain, most, least)


cdef Py_ssize_t _steps(
    const real *K, Py_ssize_t stride, Rows *rows, Variables *x, double tol, double flat,
    Py_ssize_t max_steps, double *violation
) noexcept nogil:
    """Take SMO steps on all variables until the violation is at most ``tol``."""
    cdef Py_ssize_t i, j, step
    cdef double most, least, curvature, length, room_i, room_j, grain = GRAIN * tol
    cdef const real *Ki
    cdef const real *Kj
    i = _extremes(K, rows, x, grain, &most, &least)
    for step in range(max_steps):
        violation[0] = most - least
        if not most - least > tol:
            return step
        Ki = _row(K, stride, rows, i)
        j = _partner(x, Ki, x.diagonal[i], x.v[i] + x.up[i], flat)
        if j < 0:
            return step
        Kj = _row(K, stride, rows, j)
        curvature = x.diagonal[i] + x.diagonal[j] - 2.0 * Ki[j]
        length = (x.v[i] + x.up[i] - x.v[j] - x.lo[j]) / (curvature if curvature > flat else flat)
        room_i = _room(x.b[i], x.upper[i], x.width[i])
        room_j = _room(x.b[j], x.lower[j], x.width[j])
        length = min(length, room_i, room_j)
        x.b[i] = _moved(x.b[i], x.upper[i], length, room_i)
        x.b[j] = _moved(x.b[j], x.lower[j], length, room_j)
        _bar(x, i)
        _bar(x, j)
        i = _advance(x, Ki, Kj, length, -length, grain, &most, &least)
    violation[0] = most - least
    return max_steps


cdef void _subtract_rows(
    const real *K, Py_ssize_t stride, Py_ssize_t padded, const Py_ssize_t *rows,
    const double *factors, Py_ssize_t count, double *v
) noexcept nogil:
    """Subtract multiples of rows of ``K`` from ``v``, four rows in one pass over it."""
    cdef const real *four[4]
    cdef double by[4]
    cdef Py_ssize_t first, lane
    for first in range(0, count, 4):
        for lane in range(4):
            four[lane] = K + rows[min(first + lane, count - 1)] * stride
            by[lane] = factors[first + lane] if first + lane < count else 0.0
        if real is float:
            sl_subtract_f(padded, four, by, v)
        else:
            sl_subtract_d(padded, four, by, v)


cdef Py_ssize_t _violating(
    const Variables *x, Py_ssize_t n, double most, double least, Py_ssize_t *chosen
) noexcept nogil:
    """List the variables that could be one of a violating pair."""
    cdef Py_ssize_t k, count = 0
    for k in range(n):
        if x.v[k] + x.up[k] > least or x.v[k] + x.lo[k] < most:
            chosen[count] = k
            count += 1
    return count


cdef void _gather(
    const real *K, Py_ssize_t stride, Rows *rows, const Variables *x, const Py_ssize_t *chosen,
    Py_ssize_t count, real *small, Rows *few, Variables *part
) noexcept nogil:
    """Copy the subproblem of the chosen variables; rows that are not needed yet are not copied."""
    cdef Py_ssize_t i, j
    cdef const real *row
    cdef real *copy
    part.padded = _padded(count)
    if rows != NULL:
        few.whole, few.chosen, few.n, few.stride = rows, chosen, count, part.padded
        few.filled = 0
        for i in range(count):
            few.slots[i] = -1
    for i in range(count if rows == NULL else 0):
        row = K + chosen[i] * stride
        copy = small + i * part.padded
        for j in range(count):
            copy[j] = row[chosen[j]]
        for j in range(count, part.padded):
            copy[j] = 0
    for i in range(part.padded):
        part.b[i] = x.b[chosen[i]] if i < count else 0.0
        part.v[i] = x.v[chosen[i]] if i < count else 0.0
        part.lower[i] = x.lower[chosen[i]] if i < count else 0.0
        part.upper[i] = x.upper[chosen[i]] if i < count else 0.0
        part.width[i] = x.width[chosen[i]] if i < count else 0.0
        part.diagonal[i] = x.diagonal[chosen[i]] if i < count else 0.0
        _bar(part, i)


cdef Py_ssize_t _scatter(
    Variables *x, const Variables *part, Py_ssize_t *chosen, Py_ssize_t count, double *moves
) noexcept nogil:
    """Copy the solution of a subproblem back; list the variables that moved, and how far."""
    cdef Py_ssize_t k, moved = 0
    for k in range(count):
        if part.b[k] != x.b[chosen[k]]:
            moves[moved] = part.b[k] - x.b[chosen[k]]
            x.b[chosen[k]] = part.b[k]
            _bar(x, chosen[k])
            chosen[moved] = chosen[k]
            moved += 1
    return moved


cdef Py_ssize_t _shrinking_steps(
    const real *K, Rows *rows, Py_ssize_t n, Variables *x, Variables *part, real *small, Rows *few,
    double *moves, Py_ssize_t *chosen, double tol, double flat, Py_ssize_t max_steps,
    Py_ssize_t max_work, double *violation
) noexcept nogil:
    """Take SMO steps on the violating variables only, once they are few."""
    cdef Py_ssize_t steps = 0, work = 0, count, moved, taken, budget
    cdef double most, least, goal, inner
    cdef Rows *inner_rows = NULL if rows == NULL else few
    while True:
        _extremes(K, rows, x, 0.0, &most, &least)
        violation[0] = most - least
        if not most - least > tol or steps >= max_steps or work >= max_work:
            return steps
        count = _violating(x, n, most, least, chosen)
        goal = PROGRESS * (most - least)
        if 2 * count > n:
            budget = min(max_steps - steps, (max_work - work) // n + 1)
            taken = _steps(K, x.padded, rows, x, max(goal, tol), flat, budget, &inner)
            work += taken * n
        else:
            _gather(K, x.padded, rows, x, chosen, count, small, few, part)
            budget = min(max_steps - steps, (max_work - work) // count + 1)
            # A little below tol, lest rounding in the update below puts it above again.
            taken = _steps(
                small, part.padded, inner_rows, part, max(goal, 0.9 * tol), flat, budget, &inner)
            moved = _scatter(x, part, chosen, count, moves)
            if rows != NULL:  # of which only the places matter from here on
                for count in range(moved):
                    chosen[count] = rows.slots[chosen[count]]
            _subtract_rows(K, x.padded, x.padded, chosen, moves, moved, x.v)
            work += (taken + part.padded) * part.padded + moved * n
        if not taken:
            return steps
        steps += taken


cdef void _view(double[:, ::1] state, Variables *x) noexcept nogil:
    """Point at the rows of ``state``."""
    x.padded = state.shape[1]
    x.b, x.v, x.lower, x.upper = &state[0, 0], &state[1, 0], &state[2, 0], &state[3, 0]
    x.width, x.diagonal, x.up, x.lo = &state[4, 0], &state[5, 0], &state[6, 0], &state[7, 0]


def solve(
    const real[:, ::1] K, double[:, ::1] state, double tol, double flat, bint shrinking,
    Py_ssize_t max_steps, Py_ssize_t max_work, double[::1] violation,
):
    """Take SMO steps on a problem whose Gram matrix is at hand.

    Parameters
    ----------
    K : array of shape (n, padded)
        The Gram matrix.
    state : array of shape (8, padded), changed in place
        The rows are ``b``, ``v``, ``lower``, ``upper``, ``width``, the diagonal of the Gram
        matrix, and two rows of scratch. The padding has ``lower = b = upper = 0``.
    tol : float
        The violation at which to stop.
    flat : float
        The least curvature of a step.
    shrinking : bool
        Whether to leave out, for a while, the variables that violate nothing.
    max_steps, max_work : int
        The most steps, and about the most numbers read from ``K``, before returning.
    violation : array of shape (1,), changed in place
        The violation reached.

    Returns
    -------
    steps : int
        The number of steps taken; zero if no step is left to take.
    """
    cdef Py_ssize_t n = K.shape[0], k, steps
    cdef Variables x, part
    cdef real[:, ::1] small
    cdef double[:, ::1] small_state
    cdef double[::1] moves
    cdef Py_ssize_t[::1] chosen
    _view(state, &x)
    for k in range(x.padded):
        _bar(&x, k)
    if not shrinking or n < SMALLEST_SHRUNK:
        with nogil:
            steps = _steps(
                &K[0, 0], x.padded, NULL, &x, tol, flat, min(max_steps, max_work // n + 1),
                &violation[0])
        return steps
    padded = (n // 2 + LANES - 1) // LANES * LANES
    small = np.empty((n // 2, padded), dtype=np.float32 if real is float else np.float64)
    small_state, moves, chosen = np.empty((8, padded)), np.empty(n), np.empty(n, dtype=np.intp)
    _view(small_state, &part)
    with nogil:
        steps = _shrinking_steps(
            &K[0, 0], NULL, n, &x, &part, &small[0, 0], NULL, &moves[0], &chosen[0], tol, flat,
            max_steps, max_work, &violation[0])
    return steps


def compact(
    real[::1] store, const Py_ssize_t[::1] kept, Py_ssize_t first, Py_ssize_t old, Py_ssize_t new
):
    """Move rows and columns of a square matrix to its front, in place.

    Parameters
    ----------
    store : array, changed in place
        The matrix, row after row.
    kept : array of int, ascending
        The rows and columns to keep, counted from ``first``.
    first : int
        The rows and columns before this one stay where they are, and are not copied.
    old, new : int
        The distance of rows before and after, ``new <= old``.
    """
    cdef Py_ssize_t i, j, n = kept.shape[0]
    cdef real *target
    cdef const real *source
    with nogil:
        for i in range(n):
            # Never before its source is read: kept[i] >= i, and rows come closer together.
            target = &store[0] + (first + i) * new + first
            source = &store[0] + (first + kept[i]) * old + first
            for j in range(n):
                target[j] = source[kept[j]]


cdef class Machines:
    """SMO on many problems over one set of samples, one problem after the other.

    The samples come in groups; a problem has the samples of one group or of two. Rows of its
    kernel matrix are computed when they are first needed, and within a group for all problems at
    once.

    Parameters
    ----------
    source : Source
        Where kernel values come from.
    starts : array of int of shape (n_groups + 1,)
        Where the groups begin, and the number of samples.
    values : array
        The points, of shape (n_samples, n_features), group by group; or the kernel matrix of what
        the ``members`` are rows of.
    members : array of int of shape (n_samples,)
        The row that each sample has in a matrix.
    panels : array
        Room for the points in panels: for each group as many points as its size, rounded up to a
        multiple of ``PADDING``. Empty for a matrix.
    gamma, coef0, degree : float, float, int
        Powers are ``(gamma x't + coef0)**degree``.
    own : array
        Room for the square matrices of the groups, their rows padded; or empty, if no group is
        part of several problems.
    pairs : array of int of shape (n_problems, 2)
        The groups of each problem; the second is -1 if there is but one.
    extra : bool
        Whether the variables may move alone: there is one more, with a kernel of zero.
    problems : array of shape (6, n_variables), changed in place
        For each sample of each problem ``b``, ``v``, ``lower``, ``upper``, ``width`` and the
        diagonal of the kernel matrix with its ridge. At the start ``b`` is zero, ``v`` the target.
    steps, violations : arrays of shape (n_problems,), changed in place
        The steps taken, and the violations reached.
    """

    cdef Samples samples
    cdef Rows rows, few
    cdef Variables x, part
    cdef Py_ssize_t problem, start, extra
    cdef bint begun
    cdef list kept
    cdef const Py_ssize_t[:, ::1] pairs
    cdef const Py_ssize_t[::1] starts, own_starts, panel_starts
    cdef double[:, ::1] problems
    cdef int64_t[::1] steps
    cdef double[::1] violations, moves
    cdef Py_ssize_t[::1] chosen

    def __init__(
        self, Source source, const Py_ssize_t[::1] starts, values, const Py_ssize_t[::1] members,
        double[::1] panels, double gamma, double coef0, int degree, double[::1] own,
        const Py_ssize_t[:, ::1] pairs, bint extra, double[:, ::1] problems, int64_t[::1] steps,
        double[::1] violations,
    ):
        cdef const double[:, ::1] doubles
        cdef const float[:, ::1] floats
        cdef Py_ssize_t problem, largest = 0, n_groups = starts.shape[0] - 1
        sizes = np.diff(starts)
        padded = -(-sizes // LANES) * LANES
        self.starts, self.pairs, self.extra = starts, pairs, extra
        self.problems, self.steps, self.violations = problems, steps, violations
        self.panel_starts = np.append(0, np.cumsum(padded // LANES))
        self.own_starts = np.append(0, np.cumsum(sizes * padded))
        self.samples.source = source
        self.samples.starts = &self.starts[0]
        self.samples.panel_starts = &self.panel_starts[0]
        self.samples.own_starts = &self.own_starts[0]
        self.kept = [values, members, panels, own]
        if source == MATRIX_OF_FLOATS:
            floats = values
            self.samples.floats, self.samples.stride = &floats[0, 0], floats.shape[1]
        else:
            doubles = values
            self.samples.doubles, self.samples.stride = &doubles[0, 0], doubles.shape[1]
        if members.shape[0]:
            self.samples.members = &members[0]
        else:
            self.samples.points, self.samples.n_features = &doubles[0, 0], doubles.shape[1]
            self.samples.gamma, self.samples.coef0 = gamma, coef0
            self.samples.degree = degree
            self.samples.panels = &panels[0]
            _pack(self.samples, n_groups, &panels[0])
        self.samples.own = &own[0] if own.shape[0] else NULL
        for problem in range(pairs.shape[0]):
            largest = max(largest, self._size(problem) + extra)
        self._make_room(largest, members.shape[0] == 0)

    cdef Py_ssize_t _size(self, Py_ssize_t problem):
        """Return the number of samples of a problem."""
        cdef Py_ssize_t first = self.pairs[problem, 0], second = self.pairs[problem, 1]
        cdef Py_ssize_t n = self.starts[first + 1] - self.starts[first]
        return n + (self.starts[second + 1] - self.starts[second] if second >= 0 else 0)

    cdef _make_room(self, Py_ssize_t largest, bint evaluated):
        """Allocate what the largest of the problems needs."""
        cdef double[::1] values, buffer, small
        cdef Py_ssize_t[::1] slots, few_slots, own_slots, own_filled
        cdef double[:, ::1] state, few_state
        cdef Py_ssize_t half = largest // 2 if largest >= SMALLEST_SHRUNK else 1
        cdef Py_ssize_t padded = _padded(largest)
        # Pages of memory that no row touches are never there.
        values, buffer = np.empty(largest * padded), np.empty(padded if evaluated else 1)
        small = np.empty(half * _padded(half))
        slots, few_slots = np.empty(largest, dtype=np.intp), np.empty(half, dtype=np.intp)
        own_slots = np.full(self.starts[self.starts.shape[0] - 1], -1)
        own_filled = np.zeros(self.starts.shape[0], dtype=np.intp)
        state, few_state = np.empty((8, padded)), np.empty((8, _padded(half)))
        self.moves, self.chosen = np.empty(largest), np.empty(largest, dtype=np.intp)
        self.kept += [values, buffer, small, slots, few_slots, own_slots, own_filled, state]
        self.kept.append(few_state)
        self.rows.values, self.rows.slots, self.rows.buffer = &values[0], &slots[0], &buffer[0]
        self.few.values, self.few.slots = &small[0], &few_slots[0]
        self.samples.slots, self.samples.filled = &own_slots[0], &own_filled[0]
        self.rows.samples = &self.samples
        _view(state, &self.x)
        _view(few_state, &self.part)

    def advance(
        self, double tol, double flat, bint shrinking, Py_ssize_t most_per_variable,
        Py_ssize_t most_steps, Py_ssize_t max_work
    ):
        """Take steps until all problems are solved, or about so much work is done.

        Parameters
        ----------
        tol : float
            The violation at which a problem is solved.
        flat : float
            The least curvature of a step.
        shrinking : bool
            Whether to leave out, for a while, the variables that violate nothing.
        most_per_variable, most_steps : int
            The most steps for each variable of a problem, and for the problem.
        max_work : int
            About the most numbers to read before returning.

        Returns
        -------
        done : int
            The number of problems that are solved or given up.
        """
        with nogil:
            while self.problem < self.pairs.shape[0] and max_work > 0:
                if not self.begun:
                    self._begin()
                max_work -= self._take_steps(
                    tol, flat, shrinking, most_per_variable, most_steps, max_work)
        return self.problem

    cdef void _begin(self) noexcept nogil:
        """Turn to the next problem."""
        cdef Rows *rows = &self.rows
        cdef Variables *x = &self.x
        cdef Py_ssize_t i, j, total
        rows.first, rows.second = self.pairs[self.problem, 0], self.pairs[self.problem, 1]
        rows.n_first = self.starts[rows.first + 1] - self.starts[rows.first]
        rows.n_second = 0
        if rows.second >= 0:
            rows.n_second = self.starts[rows.second + 1] - self.starts[rows.second]
        rows.n = rows.n_first + rows.n_second
        total = rows.n + self.extra
        x.padded = rows.stride = _padded(total)
        rows.diagonal, rows.work, rows.filled = x.diagonal, 0, 0
        for i in range(total):
            rows.slots[i] = -1
        for i in range(x.padded):
            j = self.start + i
            x.b[i] = self.problems[0, j] if i < rows.n else 0.0
            x.v[i] = self.problems[1, j] if i < rows.n else 0.0
            x.lower[i] = self.problems[2, j] if i < rows.n else (-INFINITY if i < total else 0.0)
            x.upper[i] = self.problems[3, j] if i < rows.n else (INFINITY if i < total else 0.0)
            x.width[i] = self.problems[4, j] if i < rows.n else 0.0
            x.diagonal[i] = self.problems[5, j] if i < rows.n else 0.0
            _bar(x, i)
        self.steps[self.problem] = 0
        self.begun = True

    cdef Py_ssize_t _take_steps(
        self, double tol, double flat, bint shrinking, Py_ssize_t most_per_variable,
        Py_ssize_t most_steps, Py_ssize_t max_work
    ) noexcept nogil:
        """Take steps on a problem, and end it if it is solved; return the work done."""
        cdef Py_ssize_t n = self.rows.n, total = n + self.extra, taken, left, before, allowed
        cdef double *violation = &self.violations[self.problem]
        left = min(most_steps, most_per_variable * n) - self.steps[self.problem]
        before = self.rows.work
        if not shrinking or total < SMALLEST_SHRUNK:
            allowed = min(left, max_work // total + 1)
            taken = _steps(
                self.rows.values, self.x.padded, &self.rows, &self.x, tol, flat, allowed, violation)
        else:
            taken = _shrinking_steps(
                self.rows.values, &self.rows, total, &self.x, &self.part, self.few.values,
                &self.few, &self.moves[0], &self.chosen[0], tol, flat, left, max_work, violation)
        self.steps[self.problem] += taken
        if not violation[0] > tol or not taken or taken >= left:
            violation[0] = self._end()
        return self.rows.work - before + (taken + 8) * n

    cdef double _end(self) noexcept nogil:
        """Copy the coefficients, compute their gradient anew, and return its violation."""
        cdef Variables *x = &self.x
        cdef Py_ssize_t k, n = self.rows.n, count = 0
        cdef double most = 0.0 if self.extra else -INFINITY
        cdef double least = 0.0 if self.extra else INFINITY
        for k in range(n):
            x.v[k] = self.problems[1, self.start + k]
            if x.b[k] != 0:
                _row(self.rows.values, x.padded, &self.rows, k)
                self.chosen[count] = self.rows.slots[k]
                self.moves[count] = x.b[k]
                count += 1
        _subtract_rows(
            self.rows.values, x.padded, x.padded, &self.chosen[0], &self.moves[0], count, x.v)
        for k in range(n):
            self.problems[0, self.start + k] = x.b[k]
            self.problems[1, self.start + k] = x.v[k]
            most = max(most, x.v[k] + x.up[k])
            least = min(least, x.v[k] + x.lo[k])
        self.start += n
        self.problem += 1
        self.begun = False
        return max(most - least, 0.0)


cdef void _pack(Samples samples, Py_ssize_t n_groups, double *panels) noexcept nogil:
    """Write the points of each group side by side; the last ones are repeated as padding."""
    cdef Py_ssize_t group, panel, lane, sample, k, d = samples.n_features
    cdef double *out
    for group in range(n_groups):
        sample = samples.starts[group]
        for panel in range(samples.panel_starts[group], samples.panel_starts[group + 1]):
            out = panels + panel * d * LANES
            for lane in range(LANES):
                for k in range(d):
                    out[k * LANES + lane] = samples.points[sample * d + k]
                sample = min(sample + 1, samples.starts[group + 1] - 1)


def expand(
    Source source, const double[:, ::1] points, const double[:, ::1] vectors,
    const Py_ssize_t[::1] starts, double gamma, double coef0, int degree,
    const double[:, ::1] coef, double[:, :, ::1] values,
):
    """Evaluate kernel expansions at a few points.

    Parameters
    ----------
    source : Source
        How kernel values follow from points, as for :class:`Machines`.
    points : array of shape (n_points, n_features)
        Where to evaluate.
    vectors : array of shape (n_vectors, n_features)
        The points that the expansions are in, group by group.
    starts : array of int of shape (n_groups + 1,)
        Where the groups begin, and the number of vectors.
    gamma, coef0, degree : float, float, int
        Powers are ``(gamma x't + coef0)**degree``.
    coef : array of shape (n_expansions, n_vectors)
        The coefficients.
    values : array of shape (n_points, n_groups, n_expansions), changed in place
        The sum over each group.
    """
    cdef Samples samples
    cdef Py_ssize_t n_groups = starts.shape[0] - 1, i, group, row, first, count
    sizes = np.diff(starts)
    cdef Py_ssize_t[::1] panel_starts = np.append(0, np.cumsum(-(-sizes // LANES)))
    cdef double[::1] panels = np.empty(max(1, panel_starts[n_groups] * LANES * vectors.shape[1]))
    cdef double[::1] kernel = np.empty((np.max(sizes) + LANES) // LANES * LANES)
    samples.source, samples.starts, samples.panel_starts = source, &starts[0], &panel_starts[0]
    samples.points, samples.panels = &vectors[0, 0], &panels[0]
    samples.n_features = vectors.shape[1]
    samples.gamma, samples.coef0, samples.degree = gamma, coef0, degree
    with nogil:
        _pack(samples, n_groups, &panels[0])
        samples.points = &points[0, 0]
        for i in range(points.shape[0]):
            for group in range(n_groups):
                first, count = starts[group], starts[group + 1] - starts[group]
                _evaluate(&samples, i, group, &kernel[0])
                for row in range(coef.shape[0]):
                    values[i, group, row] = sl_row_dot(count, &kernel[0], &coef[row, first])


def mirror(
    real[:, :] K, Py_ssize_t first_row, Py_ssize_t last_row, Py_ssize_t first_column,
    Py_ssize_t last_column,
):
    """Copy what lies below the diagonal, within a tile, to its place above.

    Parameters
    ----------
    K : array of contiguous rows, changed in place
        The matrix.
    first_row, last_row, first_column, last_column : int
        The rows and columns of the tile.
    """
    cdef Py_ssize_t i, j, top, left, stride = K.strides[0] // sizeof(real)
    cdef real *start = &K[0, 0]
    with nogil:
        # Squares of a few cache lines: the one or the other side of a copy is not contiguous.
        for top in range(first_row, last_row, 16):
            for left in range(first_column, last_column, 16):
                for i in range(top, min(top + 16, last_row)):
                    for j in range(left, min(left + 16, last_column, i)):
                        start[j * stride + i] = start[i * stride + j]
