"""Trials of the learners whose weights are sums of samples.

A trial scores a row ``x`` by ``s = w.x + b`` and adds ``step * (x, 1)`` to ``(w, b)``; a
:class:`Rule` says how large the step is. The weights are ``w = scale * v``, so that shrinking them
costs one multiplication. The sum of the weights of all trials is ``age * v + u``, so that an
average costs nothing in a trial without a step.

``tail`` holds what a learner keeps besides ``v`` and ``u``; its entries are named below.
"""

from libc.math cimport fabs, isfinite, sqrt

from sklearn_sl.online._rows cimport Rows

# The entries of a tail. The squared norms are of (w, b) and of (x, 1), or of w and x alone if
# there is no intercept.
cdef enum:
    BIAS = 0
    SCALE = 1
    AGE = 2
    BIAS_SUM = 3
    NORM2 = 4  # squared norm of the weights
    RADIUS2 = 5  # largest squared norm of a sample that was stepped along
    STEPS2 = 6  # sum of the squared lengths of all steps
    N_STEPS = 7

TAIL = 8
# Below this, a scale is multiplied into the weights.
cdef double SMALL = 1e-100


cdef class Rule:
    """How far to step; this one stays where it is."""

    cdef double step(
        self, double score, double target, double norm2, double factor, Py_ssize_t trial
    ) noexcept nogil:
        """Return the step along a sample, times the sample's ``factor``.

        ``norm2`` is the squared norm of the sample if ``needs_norm``, otherwise zero; trials
        count from one.
        """
        return 0.0


cdef class MistakeRule(Rule):
    """Steps of one length on mistakes, where ``target * score`` is at most a margin."""

    cdef double eta
    cdef double margin

    def __init__(self, double eta, double margin=0.0):
        self.eta, self.margin = eta, margin

    cdef double step(
        self, double score, double target, double norm2, double factor, Py_ssize_t trial
    ) noexcept nogil:
        if target * score <= self.margin:
            return self.eta * factor * target
        return 0.0


cdef inline void _project(
    double[:, ::1] v, double[::1] tail, double[::1] bias, double radius
) noexcept nogil:
    """Shrink weights to the ball of a radius; keep the scale within range."""
    cdef Py_ssize_t k, j
    cdef double factor
    if tail[NORM2] > radius * radius:
        factor = radius / sqrt(tail[NORM2])
        tail[SCALE] *= factor
        for k in range(bias.shape[0]):
            bias[k] *= factor
        tail[NORM2] = radius * radius
    if fabs(tail[SCALE]) < SMALL:
        for k in range(v.shape[0]):
            for j in range(v.shape[1]):
                v[k, j] *= tail[SCALE]
        tail[AGE] /= tail[SCALE]
        tail[SCALE] = 1.0


def sweep(
    Rows rows,
    const double[::1] targets,
    const double[::1] factors,
    Rule rule,
    bint intercept,
    double radius,
    Py_ssize_t trial,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] tail,
    double[:, ::1] scores,
    Py_ssize_t column,
):
    """Play one trial per row with one weight vector, the only row of ``v``.

    Parameters
    ----------
    rows : Rows
        The samples.

    targets, factors : ndarray of shape (n_rows,)
        What the rule compares the scores with, and by what it multiplies its steps; no factors
        are ones.

    rule : Rule
        How far to step.

    intercept : bool
        Whether there is a ``b``.

    radius : float
        Weights are shrunk to this norm after each step; infinite if not.

    trial : int
        The number of trials before.

    v, u : ndarray of shape (1, n_features)
        Weights and the rest of their sum, changed in place; no columns in ``u``: no sum is kept.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    scores : ndarray of shape (n_rows, n_scores)
        The scores before the steps are written to one of its columns.

    column : int
        Which one.

    Returns
    -------
    n_played : int
        The number of trials; less than all if the score of the next row is not finite.
    """
    cdef Py_ssize_t row, played = rows.n_rows
    cdef double score, step, norm2
    cdef bint weighted = factors.shape[0] > 0, averaging = u.shape[1] > 0
    cdef bint bounded = isfinite(radius)
    cdef double* weights = &v[0, 0]
    with nogil:
        for row in range(rows.n_rows):
            score = tail[SCALE] * rows.dot(row, weights) + tail[BIAS]
            scores[row, column] = score
            if not isfinite(score):
                played = row
                break
            norm2 = rows.norm2(row) + intercept if rule.needs_norm else 0.0
            step = rule.step(
                score, targets[row], norm2, factors[row] if weighted else 1.0, trial + row + 1
            )
            tail[AGE] += tail[SCALE]
            tail[BIAS_SUM] += tail[BIAS]
            if step != 0.0:
                if not rule.needs_norm:
                    norm2 = rows.norm2(row) + intercept
                rows.add(row, step / tail[SCALE], weights)
                if averaging:
                    rows.add(row, -tail[AGE] * step / tail[SCALE], &u[0, 0])
                if intercept:
                    tail[BIAS] += step
                tail[NORM2] += 2 * step * score + step * step * norm2
                tail[RADIUS2] = max(tail[RADIUS2], norm2)
                tail[STEPS2] += step * step * norm2
                tail[N_STEPS] += 1
                if bounded:
                    _project(v, tail, tail[BIAS:BIAS + 1], radius)
    return played


def sweep_classes(
    Rows rows,
    const Py_ssize_t[::1] codes,
    const double[::1] factors,
    Rule rule,
    bint intercept,
    double radius,
    Py_ssize_t trial,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] bias,
    double[::1] bias_sum,
    double[::1] tail,
    double[:, ::1] scores,
):
    """Play one trial per row with a weight vector for each class (Kesler's construction).

    The sample is compared with the vector that has ``x`` at its class and ``-x`` at the best
    other class: its score is the difference of their scores, its target one, its squared norm
    twice that of ``x``. Parameters as in ``sweep``, with the classes of the rows as ``codes`` and
    an array ``bias`` in place of the entry of the tail.

    Returns
    -------
    n_played : int
        The number of trials; less than all if a score of the next row is not finite.
    """
    cdef Py_ssize_t row, k, own, other, n_classes = v.shape[0], played = rows.n_rows
    cdef double step, norm2, change
    cdef bint weighted = factors.shape[0] > 0, averaging = u.shape[1] > 0
    cdef bint bounded = isfinite(radius)
    with nogil:
        for row in range(rows.n_rows):
            for k in range(n_classes):
                scores[row, k] = tail[SCALE] * rows.dot(row, &v[k, 0]) + bias[k]
                if not isfinite(scores[row, k]):
                    played = row
            if played == row:
                break
            own = codes[row]
            other = 1 if own == 0 else 0
            for k in range(n_classes):
                if k != own and scores[row, k] > scores[row, other]:
                    other = k
            norm2 = 2 * (rows.norm2(row) + intercept) if rule.needs_norm else 0.0
            change = scores[row, own] - scores[row, other]
            step = rule.step(
                change, 1.0, norm2, factors[row] if weighted else 1.0, trial + row + 1
            )
            tail[AGE] += tail[SCALE]
            for k in range(n_classes):
                bias_sum[k] += bias[k]
            if step != 0.0:
                if not rule.needs_norm:
                    norm2 = 2 * (rows.norm2(row) + intercept)
                tail[NORM2] += 2 * step * change + step * step * norm2
                change = step / tail[SCALE]
                rows.add(row, change, &v[own, 0])
                rows.add(row, -change, &v[other, 0])
                if averaging:
                    rows.add(row, -tail[AGE] * change, &u[own, 0])
                    rows.add(row, tail[AGE] * change, &u[other, 0])
                if intercept:
                    bias[own] += step
                    bias[other] -= step
                tail[RADIUS2] = max(tail[RADIUS2], norm2)
                tail[STEPS2] += step * step * norm2
                tail[N_STEPS] += 1
                if bounded:
                    _project(v, tail, bias, radius)
    return played
