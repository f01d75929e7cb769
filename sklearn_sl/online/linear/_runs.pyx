"""Rows that are presented many times in a row: runs.

Most presentations of a run are without a step, and steps one after the other along the same row add
up by arithmetic: see :class:`Walk`. The rest is as in ``_sweeps.pyx``.
"""

from libc.math cimport fabs, isfinite
from libc.stdint cimport int64_t

from sklearn_sl.online.linear._rows cimport Rows
from sklearn_sl.online.linear._steps cimport (
    AGE,
    BIAS,
    BIAS_SUM,
    LARGEST2,
    LOSS,
    N_STEPS,
    N_WRONG,
    NORM2,
    ONE_BY_ONE,
    RADIUS2,
    SQUARES,
    Loss,
    Rule,
    Walk,
    add_times,
    try_step,
)

# Half the distance between one and the next floating point number.
cdef double ROUNDING = 2.0 ** -53


cdef Py_ssize_t _n_wrong(
    Rule rule, double gap, double loss, double norm2, double factor, Py_ssize_t n, double least
) noexcept nogil:
    """Return after how many of ``n`` presentations steps have made up for more than a gap."""
    cdef Py_ssize_t wrong = 0, right = n, middle
    if gap < 0:
        return 0
    while right - wrong > 1:
        middle = wrong + (right - wrong) // 2
        if norm2 * rule.walk(loss, norm2, factor, middle, least).length > gap:
            right = middle
        else:
            wrong = middle
    return right


cdef bint _walk_on(
    Rows rows,
    Py_ssize_t row,
    Py_ssize_t left,
    double score,
    double target,
    double slope,
    double value,
    double factor,
    double norm2,
    Rule rule,
    bint intercept,
    bint heard,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] tail,
) noexcept nogil:
    """Present a row as often as is left of its run, all at once; return whether that went well."""
    cdef double least = ROUNDING * (fabs(score) + value)
    cdef Walk walk = rule.walk(value, norm2, factor, left, least)
    cdef double step = -slope * walk.length, lengths = walk.lengths, after
    lengths += (left - walk.n_steps) * walk.length
    after = tail[NORM2] + step * (2 * score + step * norm2)
    if not isfinite(after + tail[SQUARES] + walk.squares):
        return False
    tail[NORM2] = max(after, 0.0)
    tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
    tail[RADIUS2] = max(tail[RADIUS2], norm2)
    tail[N_STEPS] += walk.n_steps
    tail[SQUARES] += walk.squares
    tail[LOSS] += max(walk.n_steps * value - norm2 * walk.lengths, 0.0)
    tail[N_WRONG] += _n_wrong(rule, -target * score, value, norm2, factor, left, least)
    rows.add(row, step, &v[0, 0])
    if heard:
        tail[AGE] += left
        tail[BIAS_SUM] += left * tail[BIAS]
    if u.shape[1] > 0:
        rows.add(row, -tail[AGE] * step - (slope * lengths if heard else 0.0), &u[0, 0])
    if intercept:
        tail[BIAS_SUM] -= slope * lengths if heard else 0.0
        tail[BIAS] += step
    return True


cdef bint _run(
    Rows rows,
    Py_ssize_t row,
    Py_ssize_t left,
    double target,
    double factor,
    Loss loss,
    Rule rule,
    bint intercept,
    bint heard,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] tail,
    double* first_score,
) noexcept nogil:
    """Present a row many times in a row; return whether all numbers were finite."""
    cdef Py_ssize_t n_single, times
    cdef double score, slope, value, step, squares, norm2 = rows.norm2(row) + intercept
    for n_single in range(ONE_BY_ONE + 1):
        score = rows.dot(row, &v[0, 0]) + tail[BIAS]
        if n_single == 0:
            first_score[0] = score
        if not isfinite(score):
            return False
        slope = loss.slope(score, target, &value)
        if not isfinite(value):
            return False
        step = squares = 0.0
        if slope != 0 and n_single == ONE_BY_ONE:
            return _walk_on(
                rows, row, left, score, target, slope, value, factor, norm2, rule, intercept,
                heard, v, u, tail,
            )
        if slope != 0:
            squares = -tail[SQUARES]
            if not try_step(rule, score, slope, value, norm2, factor, &tail[0], &step):
                return False
            squares += tail[SQUARES]
        # Where there is no step, there will be none.
        times = 1 if step != 0 else left
        add_times(&tail[LOSS], value, times)
        tail[N_WRONG] += times * (target * score <= 0)
        if heard:
            tail[AGE] += times
            add_times(&tail[BIAS_SUM], tail[BIAS], times)
        add_times(&tail[SQUARES], squares, times - 1)
        left -= times
        if step != 0:
            rows.add(row, step, &v[0, 0])
            if u.shape[1] > 0:
                rows.add(row, -tail[AGE] * step, &u[0, 0])
            if intercept:
                tail[BIAS] += step
            tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
        if left == 0:
            break
    return True


def sweep_runs(
    Rows rows,
    const double[::1] targets,
    const double[::1] factors,
    const int64_t[::1] times,
    Loss loss,
    Rule rule,
    bint intercept,
    Py_ssize_t n_unheard,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] tail,
    double[:, ::1] scores,
    Py_ssize_t column,
):
    """Play with one weight vector as often as ``times`` says with each row, time after time.

    There is no ball, so that the scale of the weights is one.

    Parameters
    ----------
    rows : Rows
        The samples.

    targets, factors : ndarray of shape (n_rows,)
        What the loss compares the scores with, and the weights of the samples; no factors are
        ones.

    times : ndarray of shape (n_rows,)
        How often each row is presented.

    loss : Loss
        Which way to step.

    rule : Rule
        How far to step.

    intercept : bool
        Whether there is a ``b``.

    n_unheard : int
        So many rows are left out of the sum of the weights.

    v, u : ndarray of shape (1, n_features)
        Weights and the rest of their sum, changed in place; no columns in ``u``: no sum is kept.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    scores : ndarray of shape (n_rows, n_scores)
        The scores before the first presentations are written to one of its columns.

    column : int
        Which one.

    Returns
    -------
    n_played : int
        The number of rows; less than all if a score of the next row, or the weights after it, are
        not finite.
    """
    cdef Py_ssize_t row, played = rows.n_rows
    cdef bint weighted = factors.shape[0] > 0, averaging = u.shape[1] > 0
    cdef double factor
    with nogil:
        for row in range(rows.n_rows):
            factor = factors[row] if weighted else 1.0
            if not _run(
                rows, row, times[row], targets[row], factor, loss, rule, intercept,
                averaging and row >= n_unheard, v, u, tail, &scores[row, column],
            ):
                played = row
                break
    return played


def count_later_mistakes(
    const double[:, ::1] scores,
    const Py_ssize_t[::1] codes,
    const int64_t[::1] times,
    const double[::1] norms2,
    const double[:, ::1] factors,
    Loss loss,
    list rules,
):
    """Count the presentations of runs, but for the first ones, that were mistakes.

    In a mistake the class does not have the largest score. Each class has a weight vector and a
    rule of its own. In a run the score of the row's class rises and all others fall, so that
    mistakes come first; where they end is searched for by bisection.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        The scores of the first presentations.

    codes, times, norms2 : ndarray of shape (n_rows,)
        The class of each row, how often it is presented, and its squared norm.

    factors : ndarray of shape (n_rows, n_classes)
        Its weights.

    loss : Loss
        That of the targets one and minus one; its slopes are one, minus one or zero.

    rules : list of Rule
        The rule of each class.

    Returns
    -------
    n_mistakes : int
        Their number.
    """
    cdef Py_ssize_t row, wrong, right, middle, n_mistakes = 0
    for row in range(scores.shape[0]):
        if not _is_mistaken(scores, codes[row], 0, norms2, factors, loss, rules, row):
            continue
        wrong, right = 0, times[row]
        middle = 1  # where it often ends
        while right - wrong > 1:
            if _is_mistaken(scores, codes[row], middle, norms2, factors, loss, rules, row):
                wrong = middle
            else:
                right = middle
            middle = wrong + (right - wrong) // 2
        n_mistakes += right - 1
    return n_mistakes


cdef bint _is_mistaken(
    const double[:, ::1] scores,
    Py_ssize_t own,
    Py_ssize_t n_before,
    const double[::1] norms2,
    const double[:, ::1] factors,
    Loss loss,
    list rules,
    Py_ssize_t row,
):
    """Return whether a presentation of a run after others is a mistake."""
    cdef Py_ssize_t k
    cdef Rule rule
    cdef double value, slope, score, mine = 0.0, best = float("-inf")
    for k in range(scores.shape[1]):
        rule, score = rules[k], scores[row, k]
        slope = loss.slope(score, 1.0 if k == own else -1.0, &value)
        if slope != 0 and n_before > 0:
            score -= slope * norms2[row] * rule.walk(
                value, norms2[row], factors[row, k], n_before, ROUNDING * (fabs(score) + value)
            ).length
        if k == own:
            mine = score
        else:
            best = max(best, score)
    return mine <= best
