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

cdef extern from "_smo_loops.h":
    enum: LANES "SL_LANES"
    Py_ssize_t sl_advance_f(
        Py_ssize_t, const float *, const float *, double, double, double *, const double *,
        const double *, double *, double *) noexcept nogil
    Py_ssize_t sl_advance_d(
        Py_ssize_t, const double *, const double *, double, double, double *, const double *,
        const double *, double *, double *) noexcept nogil
    Py_ssize_t sl_partner_f(
        Py_ssize_t, const float *, const double *, double, double, const double *,
        const double *, double) noexcept nogil
    Py_ssize_t sl_partner_d(
        Py_ssize_t, const double *, const double *, double, double, const double *,
        const double *, double) noexcept nogil
    void sl_subtract_f(Py_ssize_t, const float **, const double *, double *) noexcept nogil
    void sl_subtract_d(Py_ssize_t, const double **, const double *, double *) noexcept nogil

ctypedef fused real:
    float
    double

# Below this size the bookkeeping of shrinking costs more than it saves.
cdef Py_ssize_t SMALLEST_SHRUNK = 256
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
    Variables *x, const real *Ka, const real *Kb, double a, double b, double *most, double *least
) noexcept nogil:
    if real is float:
        return sl_advance_f(x.padded, Ka, Kb, a, b, x.v, x.up, x.lo, most, least)
    else:
        return sl_advance_d(x.padded, Ka, Kb, a, b, x.v, x.up, x.lo, most, least)


cdef inline Py_ssize_t _partner(
    Variables *x, const real *Ki, double own, double most, double flat
) noexcept nogil:
    if real is float:
        return sl_partner_f(x.padded, Ki, x.diagonal, own, most, x.v, x.lo, flat)
    else:
        return sl_partner_d(x.padded, Ki, x.diagonal, own, most, x.v, x.lo, flat)


cdef Py_ssize_t _steps(
    const real *K, Py_ssize_t stride, Variables *x, double tol, double flat,
    Py_ssize_t max_steps, double *violation
) noexcept nogil:
    """Take SMO steps on all variables until the violation is at most ``tol``."""
    cdef Py_ssize_t i, j, step
    cdef double most, least, curvature, length, room_i, room_j
    i = _advance(x, K, K, 0.0, 0.0, &most, &least)
    for step in range(max_steps):
        violation[0] = most - least
        if not most - least > tol:
            return step
        j = _partner(x, K + i * stride, x.diagonal[i], most, flat)
        if j < 0:
            return step
        curvature = x.diagonal[i] + x.diagonal[j] - 2.0 * K[i * stride + j]
        length = (most - x.v[j] - x.lo[j]) / (curvature if curvature > flat else flat)
        room_i = _room(x.b[i], x.upper[i], x.width[i])
        room_j = _room(x.b[j], x.lower[j], x.width[j])
        length = min(length, room_i, room_j)
        x.b[i] = _moved(x.b[i], x.upper[i], length, room_i)
        x.b[j] = _moved(x.b[j], x.lower[j], length, room_j)
        _bar(x, i)
        _bar(x, j)
        i = _advance(x, K + i * stride, K + j * stride, length, -length, &most, &least)
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
    const real *K, Py_ssize_t stride, const Variables *x, const Py_ssize_t *chosen,
    Py_ssize_t count, real *small, Variables *part
) noexcept nogil:
    """Copy the subproblem of the chosen variables."""
    cdef Py_ssize_t i, j
    cdef const real *row
    cdef real *copy
    part.padded = (count + LANES - 1) // LANES * LANES
    for i in range(count):
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
    const real *K, Py_ssize_t n, Variables *x, Variables *part, real *small, double *moves,
    Py_ssize_t *chosen, double tol, double flat, Py_ssize_t max_steps, Py_ssize_t max_work,
    double *violation
) noexcept nogil:
    """Take SMO steps on the violating variables only, once they are few."""
    cdef Py_ssize_t steps = 0, work = 0, count, moved, taken, budget
    cdef double most, least, goal, inner
    while True:
        _advance(x, K, K, 0.0, 0.0, &most, &least)
        violation[0] = most - least
        if not most - least > tol or steps >= max_steps or work >= max_work:
            return steps
        count = _violating(x, n, most, least, chosen)
        goal = PROGRESS * (most - least)
        if 2 * count > n:
            budget = min(max_steps - steps, (max_work - work) // n + 1)
            taken = _steps(K, x.padded, x, max(goal, tol), flat, budget, &inner)
            work += taken * n
        else:
            _gather(K, x.padded, x, chosen, count, small, part)
            budget = min(max_steps - steps, (max_work - work) // count + 1)
            # A little below tol, lest rounding in the update below puts it above again.
            taken = _steps(
                small, part.padded, part, max(goal, 0.9 * tol), flat, budget, &inner)
            moved = _scatter(x, part, chosen, count, moves)
            _subtract_rows(K, x.padded, x.padded, chosen, moves, moved, x.v)
            work += (taken + count) * count + moved * n
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
                &K[0, 0], x.padded, &x, tol, flat, min(max_steps, max_work // n + 1),
                &violation[0])
        return steps
    padded = (n // 2 + LANES - 1) // LANES * LANES
    small = np.empty((n // 2, padded), dtype=np.float32 if real is float else np.float64)
    small_state, moves, chosen = np.empty((8, padded)), np.empty(n), np.empty(n, dtype=np.intp)
    _view(small_state, &part)
    with nogil:
        steps = _shrinking_steps(
            &K[0, 0], n, &x, &part, &small[0, 0], &moves[0], &chosen[0], tol, flat, max_steps,
            max_work, &violation[0])
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


cdef void _load(
    const real[:, ::1] K, const Py_ssize_t *rows, Py_ssize_t count, Py_ssize_t extra,
    double[:, ::1] problems, Py_ssize_t start, real *small, Variables *part
) noexcept nogil:
    """Copy one of many problems; an extra variable with a kernel of zero comes first."""
    cdef Py_ssize_t i, j, total = count + extra, split = 1, stop
    cdef const real *row
    cdef real *copy
    # Two classes are two runs of rows, which are faster to copy than scattered ones.
    while split < count and rows[split] == rows[split - 1] + 1:
        split += 1
    stop = min(split + 1, count)
    while stop < count and rows[stop] == rows[stop - 1] + 1:
        stop += 1
    cdef bint two_runs = stop == count
    part.padded = (total + LANES - 1) // LANES * LANES
    for i in range(total):
        copy = small + i * part.padded
        if i < extra:
            for j in range(part.padded):
                copy[j] = 0
            continue
        row = &K[rows[i - extra], 0]
        for j in range(extra):
            copy[j] = 0
        if two_runs:
            for j in range(split):
                copy[extra + j] = row[rows[0] + j]
            for j in range(split, count):
                copy[extra + j] = row[rows[split] + j - split]
        else:
            for j in range(count):
                copy[extra + j] = row[rows[j]]
        copy[i] = <real>problems[5, start + i - extra]
        for j in range(total, part.padded):
            copy[j] = 0
    for i in range(part.padded):
        j = start + i - extra
        part.b[i] = problems[0, j] if extra <= i < total else 0.0
        part.v[i] = problems[1, j] if extra <= i < total else 0.0
        part.lower[i] = problems[2, j] if extra <= i < total else (-INFINITY if i < extra else 0.0)
        part.upper[i] = problems[3, j] if extra <= i < total else (INFINITY if i < extra else 0.0)
        part.width[i] = problems[4, j] if extra <= i < total else 0.0
        part.diagonal[i] = problems[5, j] if extra <= i < total else 0.0
        _bar(part, i)


cdef double _unload(
    const real *small, Variables *part, Py_ssize_t count, Py_ssize_t extra,
    double[:, ::1] problems, Py_ssize_t start
) noexcept nogil:
    """Copy the coefficients back, compute their gradient anew, and return its violation."""
    cdef Py_ssize_t i, k
    cdef double b, most = 0.0 if extra else -INFINITY, least = 0.0 if extra else INFINITY
    cdef const real *row
    for k in range(count):
        problems[0, start + k] = part.b[extra + k]
        part.v[k] = problems[1, start + k]
    for i in range(count):
        b = part.b[extra + i]
        if b != 0:
            row = small + (extra + i) * part.padded + extra
            for k in range(count):
                part.v[k] -= b * row[k]
    for k in range(count):
        problems[1, start + k] = part.v[k]
        most = max(most, part.v[k] + part.up[extra + k])
        least = min(least, part.v[k] + part.lo[extra + k])
    return max(most - least, 0.0)


def solve_many(
    const real[:, ::1] K, const Py_ssize_t[::1] rows, const Py_ssize_t[::1] stops, bint extra,
    double[:, ::1] problems, double tol, double flat, Py_ssize_t patience, Py_ssize_t first,
    Py_ssize_t max_work, int64_t[::1] steps, double[::1] violations,
):
    """Take SMO steps on many problems over parts of one Gram matrix, one after the other.

    Parameters
    ----------
    K : array of shape (n, n)
        The Gram matrix.
    rows : array of int
        The rows of all problems, problem after problem.
    stops : array of int of shape (n_problems,)
        Where the rows of each problem end.
    extra : bool
        Whether the variables may move alone: there is one more, with a kernel of zero.
    problems : array of shape (6, n_rows), changed in place
        For each of the rows ``b``, ``v``, ``lower``, ``upper``, ``width`` and the diagonal of the
        Gram matrix with its ridge. At the start ``b`` is zero, and ``v`` the target.
    tol : float
        The violation at which a problem is solved.
    flat : float
        The least curvature of a step.
    patience : int
        The most steps per variable.
    first : int
        The first problem to solve.
    max_work : int
        About the most numbers to read before returning.
    steps, violations : arrays of shape (n_problems,), changed in place
        The steps taken, and the violations reached.

    Returns
    -------
    next : int
        The first problem that is left.
    """
    cdef Py_ssize_t n_problems = stops.shape[0], problem, start, count
    cdef Py_ssize_t largest = 0, work = 0, left = n_problems
    cdef Variables part
    cdef real[:, ::1] small
    cdef double[:, ::1] state
    for problem in range(n_problems):
        start = stops[problem - 1] if problem else 0
        largest = max(largest, stops[problem] - start + extra)
    padded = (largest + LANES - 1) // LANES * LANES
    small = np.empty((largest, padded), dtype=np.float32 if real is float else np.float64)
    state = np.empty((8, padded))
    _view(state, &part)
    with nogil:
        for problem in range(first, n_problems):
            if work >= max_work:
                left = problem
                break
            start = stops[problem - 1] if problem else 0
            count = stops[problem] - start
            _load(K, &rows[start], count, extra, problems, start, &small[0, 0], &part)
            steps[problem] = _steps(
                &small[0, 0], part.padded, &part, tol, flat, patience * count, &violations[problem])
            violations[problem] = _unload(&small[0, 0], &part, count, extra, problems, start)
            work += (steps[problem] + count) * count
    return left


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
