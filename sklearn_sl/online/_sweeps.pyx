"""Trials of the learners whose weights are sums of samples.

A trial scores a row ``x`` by ``s = w.x + b``, looks at the slope of a :class:`Loss` there, and adds
``step * (x, 1)`` to ``(w, b)``; a :class:`Rule` says how large the step is. The weights are
``w = scale * v``, so that shrinking them costs one multiplication. The sum of the weights of all
trials is ``age * v + u``, so that an average costs nothing in a trial without a step.

``tail`` holds what a learner keeps besides ``v`` and ``u``; its entries are named below.
"""

from libc.math cimport exp, fabs, isfinite, log1p, sqrt

from sklearn_sl.online._rows cimport Rows

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


def sweep_classes(
    Rows rows,
    const Py_ssize_t[::1] codes,
    const double[::1] factors,
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
):
    """Play one trial per row with a weight vector for each class (Kesler's construction).

    The sample is compared with the vector that has ``x`` at its class and ``-x`` at the best
    other class: its score is the difference of their scores, its target one, its squared norm
    twice that of ``x``. Parameters as in ``sweep``, with the classes of the rows as ``codes`` and
    an array ``bias`` in place of the entry of the tail.

    Returns
    -------
    n_played : int
        The number of trials; less than all if a score of the next row, or the weights after it,
        are not finite.
    """
    cdef Py_ssize_t row, k, own, other, n_classes = v.shape[0], played = rows.n_rows
    cdef double score, slope, value, step, norm2, factor, change
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
            score = scores[row, own] - scores[row, other]
            slope = loss.slope(score, 1.0, &value)
            step = 0.0
            if not isfinite(value):
                played = row
                break
            if slope != 0 and not (rule.conservative and score > 0):
                norm2 = 2 * (rows.norm2(row) + intercept)
                factor = factors[row] if weighted else 1.0
                if not _try_step(rule, score, slope, value, norm2, factor, tail, &step):
                    played = row
                    break
            tail[LOSS] += value
            tail[N_WRONG] += score <= 0
            if averaging and row >= n_unheard:
                tail[AGE] += tail[SCALE]
                for k in range(n_classes):
                    bias_sum[k] += bias[k]
            if step == 0:
                continue
            change = step / tail[SCALE]
            rows.add(row, change, &v[own, 0])
            rows.add(row, -change, &v[other, 0])
            if averaging:
                rows.add(row, -tail[AGE] * change, &u[own, 0])
                rows.add(row, tail[AGE] * change, &u[other, 0])
            if intercept:
                bias[own] += step
                bias[other] -= step
            if bounded:
                _project(v, u, tail, &bias[0], radius)
            tail[LARGEST2] = max(tail[LARGEST2], tail[NORM2])
    return played
