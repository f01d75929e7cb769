"""Trials of the learners whose weights are sums of samples.

A trial scores a row ``x`` by ``s = w.x + b``, looks at the slope of a :class:`Loss` there, and adds
``step * (x, 1)`` to ``(w, b)``; a :class:`Rule` says how large the step is. The weights are
``w = scale * v``, so that shrinking them costs one multiplication. The sum of the weights of all
trials is ``age * v + u``, so that an average costs nothing in a trial without a step.

``tail`` holds what a learner keeps besides ``v`` and ``u``; its entries are named below.

A row that is presented many times in a row is a run. Most of its presentations are without a step,
and steps one after the other along the same row add up by arithmetic: see :class:`Walk`.
"""

from libc.math cimport ceil, exp, expm1, fabs, floor, isfinite, log, log1p, sqrt
from libc.stdint cimport int64_t

from sklearn_sl.online.linear._rows cimport Rows

# The entries of a tail. The squared norms are of (w, b) and of (x, 1), or of w and x alone if
# there is no intercept.
cdef enum:
    BIAS = 0
    SCALE = 1
    AGE = 2
    BIAS_SUM = 3
    NORM2 = 4  # squared norm of the weights
    LARGEST2 = 5  # the largest one that there was
    RADIUS2 = 6  # largest squared norm of a sample that was stepped along
    N_STEPS = 7
    N_WRONG = 8  # number of trials with the score on the wrong side of zero, or at zero
    LOSS = 9  # sum of the losses
    SQUARES = 10  # what a rule adds up: squared norms of gradients, or squared losses

TAIL = 11
# Below these, a scale is multiplied into the weights. The sum of the weights is a difference of
# numbers that are larger by the inverse of the scale.
cdef double SMALL = 1e-100
cdef double SMALL_FOR_SUMS = 1e-3
# So many steps of a run are taken one by one, as those of repeated rows are; then all at once.
cdef Py_ssize_t ONE_BY_ONE = 32
# Half the distance between one and the next floating point number.
cdef double ROUNDING = 2.0 ** -53


# ---------------------------------------------------------------- losses


cdef class Loss:
    """A convex function of a score, given the target; this one is zero."""

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        """Return a slope of the loss at a score, and set its value."""
        value[0] = 0.0
        return 0.0


cdef class Hinge(Loss):
    """``max(0, margin - target * score)``; flat at the margin, or not yet flat if ``steep``."""

    cdef double margin
    cdef bint steep

    def __init__(self, double margin=1.0, bint steep=False):
        self.margin, self.steep = margin, steep

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double lack = self.margin - target * score
        value[0] = lack if lack > 0 else 0.0
        return -target if lack > 0 or (self.steep and lack == 0) else 0.0


cdef class SquaredHinge(Loss):
    """``max(0, 1 - target * score)^2``."""

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double lack = 1.0 - target * score
        if lack <= 0:
            lack = 0.0
        value[0] = lack * lack
        return -2 * target * lack


cdef class Logistic(Loss):
    """``log(1 + exp(-target * score))``."""

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double margin = target * score
        cdef double small = exp(-fabs(margin))
        if margin > 0:
            value[0] = log1p(small)
            return -target * small / (1 + small)
        value[0] = log1p(small) - margin
        return -target / (1 + small)


cdef class Insensitive(Loss):
    """``max(0, |score - target| - width)``; the absolute loss if the width is zero."""

    cdef double width

    def __init__(self, double width=0.0):
        self.width = width

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double residual = score - target
        cdef double excess = fabs(residual) - self.width
        if excess <= 0:
            value[0] = 0.0
            return 0.0
        value[0] = excess
        return 1.0 if residual > 0 else -1.0


cdef class SquaredInsensitive(Insensitive):
    """``max(0, |score - target| - width)^2``; the square loss if the width is zero."""

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double sign = Insensitive.slope(self, score, target, value)
        cdef double excess = value[0]
        value[0] = excess * excess
        return 2 * sign * excess


cdef class Huber(Loss):
    """Half the square of ``score - target`` up to a width, and straight lines beyond."""

    cdef double width

    def __init__(self, double width):
        self.width = width

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double residual = score - target
        if fabs(residual) <= self.width:
            value[0] = residual * residual / 2
            return residual
        value[0] = self.width * (fabs(residual) - self.width / 2)
        return self.width if residual > 0 else -self.width


cdef class Rounded(Loss):
    """Another loss, not negative, without its kink at zero: at most half a width less."""

    cdef Loss loss
    cdef double width

    def __init__(self, Loss loss, double width):
        self.loss, self.width = loss, width

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef double slope = self.loss.slope(score, target, value)
        cdef double height = value[0]
        if height >= self.width:
            value[0] = height - self.width / 2
            return slope
        value[0] = height * height / (2 * self.width)
        return slope * height / self.width


cdef class Given(Loss):
    """A value and a slope that were found elsewhere."""

    cdef double given_value
    cdef double given_slope

    def __init__(self, double value, double slope):
        self.given_value, self.given_slope = value, slope

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        value[0] = self.given_value
        return self.given_slope


def look(
    Loss loss,
    const double[:] scores,
    const double[:] targets,
    double[::1] values,
    double[::1] slopes,
):
    """Write the values and the slopes of a loss at scores to ``values`` and ``slopes``."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(scores.shape[0]):
            slopes[row] = loss.slope(scores[row], targets[row], &values[row])


# ---------------------------------------------------------------- rules


cdef class Rule:
    """How far to step where a loss has a slope; this one stays where it is."""

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil:
        """Return the step along a sample.

        Parameters are the slope of the loss, the loss, the squared norm of the sample, its weight,
        and the tail, in which the rule may change SQUARES. If ``conservative``, there is a step
        only where the score is on the wrong side of zero, or at zero.
        """
        return 0.0

    cdef Walk walk(
        self, double loss, double norm2, double factor, double n, double least
    ) noexcept nogil:
        """Return what comes of up to ``n`` steps along the same sample, one after the other.

        The slope of the loss is one or minus one, so that a step lowers it by ``norm2`` times its
        length; what is ``least`` is rounded to zero. This rule, and those that never meet a run,
        stay where they are.
        """
        return Walk(0.0, 0.0, 0.0, 0.0)


cdef class FixedRate(Rule):
    """Steps against the slope, times a rate; adds up the squared norms of the gradients."""

    cdef double eta

    def __init__(self, double eta, bint conservative=False):
        self.eta, self.conservative = eta, conservative

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil:
        tail[SQUARES] += slope * slope * norm2
        return -self.eta * factor * slope

    cdef Walk walk(
        self, double loss, double norm2, double factor, double n, double least
    ) noexcept nogil:
        # A step is taken as long as the loss is zero or more, so once at the end from above zero.
        cdef double length = self.eta * factor
        if length * norm2 > 0:
            n = min(n, floor(loss / (length * norm2)) + 1)
        return Walk(n, n * length, n * (n - 1) / 2 * length, n * norm2)


cdef class FallingRate(Rule):
    """Steps whose rate is a constant over the root of the sum of all squared gradients so far."""

    cdef double constant

    def __init__(self, double constant, bint conservative=False):
        self.constant, self.conservative = constant, conservative

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil:
        tail[SQUARES] += slope * slope * norm2
        if tail[SQUARES] == 0:
            return 0.0
        return -self.constant / sqrt(tail[SQUARES]) * factor * slope


cdef class Aggressive(Rule):
    """The least step after which the loss on the sample is zero, softened by ``C``.

    With the squared norm ``q`` of the sample the step has the length ``min(C, loss / q)``, or
    ``loss / (q + 1 / (2 C))`` if the slack is squared. Adds up the squared losses.
    """

    cdef double C
    cdef bint squared

    def __init__(self, double C, bint squared):
        self.C, self.squared = C, squared

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil:
        tail[SQUARES] += loss * loss
        if norm2 == 0 or factor == 0:
            return 0.0
        if self.squared:
            return -slope * loss / (norm2 + 0.5 / (self.C * factor))
        return -slope * min(self.C * factor, loss / norm2)

    cdef Walk walk(
        self, double loss, double norm2, double factor, double n, double least
    ) noexcept nogil:
        if norm2 == 0 or factor == 0:
            return Walk(0.0, 0.0, 0.0, 0.0)
        if self.squared:
            return _shrinking_steps(loss, norm2, 2 * self.C * factor * norm2, n, least)
        return _equal_steps(loss, norm2, self.C * factor * norm2, n)


cdef inline Walk _equal_steps(double loss, double norm2, double fall, double n) noexcept nogil:
    """Return up to ``n`` steps, each of which lowers a loss by ``fall``, until it is zero."""
    cdef double length, pairs
    fall = min(fall, loss)
    length = fall / norm2
    n = min(n, ceil(loss / fall))
    pairs = n * (n - 1) / 2
    return Walk(
        n,
        min(n * length, loss / norm2),
        pairs * length,
        # The squares of loss, loss - fall, loss - 2 fall, ...
        n * loss * loss - 2 * pairs * loss * fall + pairs * (2 * n - 1) / 3 * fall * fall,
    )


cdef inline Walk _shrinking_steps(
    double loss, double norm2, double ratio, double n, double least
) noexcept nogil:
    """Return up to ``n`` steps, each of which divides a loss by ``1 + ratio``, until rounding."""
    cdef double fall = -log1p(ratio)  # of the logarithm of the loss
    cdef double share = ratio / (1 + ratio) if isfinite(ratio) else 1.0  # what a step takes of it
    cdef double gone, lengths
    if loss <= least:
        n = 1
    else:
        n = min(n, max(1.0, ceil(log(least / loss) / fall)))
    gone = -expm1(n * fall)
    # Where hardly anything is gone, the difference of n and gone / share is lost in rounding.
    lengths = n - gone / share if n * share > 1e-8 else n * (n - 1) / 2 * share
    return Walk(
        n,
        gone * loss / norm2,
        lengths * loss / norm2,
        loss * loss * -expm1(2 * n * fall) / (share * (2 - share)),
    )


# ---------------------------------------------------------------- sweeps


cdef inline void _project(
    double[:, ::1] v, double[:, ::1] u, double[::1] tail, double* bias, double radius
) noexcept nogil:
    """Shrink weights, with their intercepts, to the ball of a radius; keep the scale in range."""
    cdef Py_ssize_t k, j
    cdef double factor
    if tail[NORM2] > radius * radius:
        factor = radius / sqrt(tail[NORM2])
        tail[SCALE] *= factor
        for k in range(v.shape[0]):
            bias[k] *= factor
        tail[NORM2] = radius * radius
    if tail[SCALE] < (SMALL_FOR_SUMS if u.shape[1] > 0 else SMALL):
        for k in range(u.shape[0]):
            for j in range(u.shape[1]):
                u[k, j] += tail[AGE] * v[k, j]
        for k in range(v.shape[0]):
            for j in range(v.shape[1]):
                v[k, j] *= tail[SCALE]
        tail[AGE], tail[SCALE] = 0.0, 1.0


cdef inline bint _try_step(
    Rule rule,
    double score,
    double slope,
    double value,
    double norm2,
    double factor,
    double[::1] tail,
    double* step,
) noexcept nogil:
    """Set the step of a rule and note it in the tail.

    Return false, and note nothing, if the weights after it would exceed the range of floating
    point numbers.
    """
    cdef double squares = tail[SQUARES], after
    step[0] = rule.step(slope, value, norm2, factor, &tail[0])
    after = tail[NORM2] + step[0] * (2 * score + step[0] * norm2)
    if not isfinite(after + tail[SQUARES]):
        tail[SQUARES] = squares
        return False
    if step[0] != 0:
        tail[NORM2] = max(after, 0.0)
        tail[RADIUS2] = max(tail[RADIUS2], norm2)
        tail[N_STEPS] += 1
    return True


def sweep(
    Rows rows,
    const double[::1] targets,
    const double[::1] factors,
    Loss loss,
    Rule rule,
    bint intercept,
    double radius,
    Py_ssize_t n_unheard,
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
        What the loss compares the scores with, and the weights of the samples; no factors are
        ones.

    loss : Loss
        Which way to step.

    rule : Rule
        How far to step.

    intercept : bool
        Whether there is a ``b``.

    radius : float
        Weights are shrunk to this norm after each step; infinite if not.

    n_unheard : int
        How many rows are left out of the sum of the weights.

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
        The number of trials; less than all if the score of the next row, or the weights after it,
        are not finite.
    """
    cdef Py_ssize_t row, played = rows.n_rows
    cdef double score, target, slope, value, step, norm2, factor
    cdef bint weighted = factors.shape[0] > 0, averaging = u.shape[1] > 0
    cdef bint bounded = isfinite(radius)
    cdef double* weights = &v[0, 0]
    cdef double scale = tail[SCALE], bias = tail[BIAS], losses = tail[LOSS], wrong = tail[N_WRONG]
    with nogil:
        for row in range(rows.n_rows):
            score = scale * rows.dot(row, weights) + bias
            scores[row, column] = score
            if not isfinite(score):
                played = row
                break
            target = targets[row]
            slope = loss.slope(score, target, &value)
            step = 0.0
            if not isfinite(value):
                played = row
                break
            if slope != 0 and not (rule.conservative and target * score > 0):
                norm2 = rows.norm2(row) + intercept
                factor = factors[row] if weighted else 1.0
                if not _try_step(rule, score, slope, value, norm2, factor, tail, &step):
                    played = row
                    break
            losses += value
            wrong += target * score <= 0
            if averaging and row >= n_unheard:
                tail[AGE] += scale
                tail[BIAS_SUM] += bias
            if step == 0:
                continue
            rows.add(row, step / scale, weights)
            if averaging:
                rows.add(row, -tail[AGE] * step / scale, &u[0, 0])
            if intercept:
                tail[BIAS] += step
            if bounded:
                _project(v, u, tail, &tail[BIAS], radius)
            tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
            scale, bias = tail[SCALE], tail[BIAS]
    tail[LOSS], tail[N_WRONG] = losses, wrong
    return played


cdef inline void _add_times(double* total, double value, Py_ssize_t times) noexcept nogil:
    """Add a value so many times; one by one if they are few, as those of repeated rows are."""
    if value == 0:
        return
    if times > ONE_BY_ONE:
        total[0] += times * value
        return
    while times > 0:
        total[0] += value
        times -= 1


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
            if not _try_step(rule, score, slope, value, norm2, factor, tail, &step):
                return False
            squares += tail[SQUARES]
        # Where there is no step, there will be none.
        times = 1 if step != 0 else left
        _add_times(&tail[LOSS], value, times)
        tail[N_WRONG] += times * (target * score <= 0)
        if heard:
            tail[AGE] += times
            _add_times(&tail[BIAS_SUM], tail[BIAS], times)
        _add_times(&tail[SQUARES], squares, times - 1)
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

    Parameters as in ``sweep``, but for ``times`` and a ball: there is none, so that the scale of
    the weights is one. The scores that are written are those of the first presentations.

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


def sweep_classes(
    Rows rows,
    const Py_ssize_t[::1] codes,
    const double[::1] factors,
    const int64_t[::1] times,
    Loss loss,
    Rule rule,
    bint intercept,
    double radius,
    Py_ssize_t n_unheard,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] bias,
    double[::1] bias_sum,
    double[::1] tail,
    double[:, ::1] scores,
    double[::1] now,
):
    """Play one trial per row with a weight vector for each class (Kesler's construction).

    The sample is compared with the vector that has ``x`` at its class and ``-x`` at the best
    other class: its score is the difference of their scores, its target one, its squared norm
    twice that of ``x``. Parameters as in ``sweep``, with the classes of the rows as ``codes`` and
    an array ``bias`` in place of the entry of the tail. A row is presented as often as ``times``
    says (no times are ones), time after time; there is an end to the steps on the way, for which
    ``now`` has room for the scores of a row.

    Returns
    -------
    n_played : int
        The number of rows; less than all if a score of the next row, or the weights after it,
        are not finite.
    """
    cdef Py_ssize_t row, k, played = rows.n_rows
    cdef bint weighted = factors.shape[0] > 0, repeated = times.shape[0] > 0
    cdef bint averaging = u.shape[1] > 0
    cdef int64_t left, taken
    cdef double factor
    with nogil:
        for row in range(rows.n_rows):
            left = times[row] if repeated else 1
            factor = factors[row] if weighted else 1.0
            while left > 0:
                taken = _try_classes(
                    rows, row, codes[row], left, factor, loss, rule, intercept, radius,
                    averaging and row >= n_unheard, v, u, bias, bias_sum, tail, now,
                )
                if not repeated or left == times[row]:
                    for k in range(now.shape[0]):
                        scores[row, k] = now[k]
                if taken == 0:
                    break
                left -= taken
            if left > 0:
                played = row
                break
    return played


cdef int64_t _try_classes(
    Rows rows,
    Py_ssize_t row,
    Py_ssize_t own,
    int64_t left,
    double factor,
    Loss loss,
    Rule rule,
    bint intercept,
    double radius,
    bint heard,
    double[:, ::1] v,
    double[:, ::1] u,
    double[::1] bias,
    double[::1] bias_sum,
    double[::1] tail,
    double[::1] now,
) noexcept nogil:
    """Present a row to all classes, and write their scores to ``now``.

    Return how many presentations that was: all that are left if there is no step, so that there
    will be none; and zero if numbers are not finite.
    """
    cdef Py_ssize_t k, other = 1 if own == 0 else 0
    cdef double score, slope, value, step = 0.0, change
    for k in range(v.shape[0]):
        now[k] = tail[SCALE] * rows.dot(row, &v[k, 0]) + bias[k]
    for k in range(v.shape[0]):
        if not isfinite(now[k]):
            return 0
        if k != own and now[k] > now[other]:
            other = k
    score = now[own] - now[other]
    slope = loss.slope(score, 1.0, &value)
    if not isfinite(value):
        return 0
    if slope != 0 and not (rule.conservative and score > 0):
        if not _try_step(
            rule, score, slope, value, 2 * (rows.norm2(row) + intercept), factor, tail, &step
        ):
            return 0
    if step != 0:
        left = 1
    _add_times(&tail[LOSS], value, left)
    tail[N_WRONG] += left * (score <= 0)
    if heard:
        tail[AGE] += left * tail[SCALE]
        for k in range(v.shape[0]):
            _add_times(&bias_sum[k], bias[k], left)
    if step == 0:
        return left
    change = step / tail[SCALE]
    rows.add(row, change, &v[own, 0])
    rows.add(row, -change, &v[other, 0])
    if u.shape[1] > 0:
        rows.add(row, -tail[AGE] * change, &u[own, 0])
        rows.add(row, tail[AGE] * change, &u[other, 0])
    if intercept:
        bias[own] += step
        bias[other] -= step
    if isfinite(radius):
        _project(v, u, tail, &bias[0], radius)
    tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
    return left


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
