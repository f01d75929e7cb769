"""Losses and rules of additive learners: which way to step along a sample, and how far.

They are objects, so that one pass over the trials serves every pair of a loss and a rule.
"""

from libc.math cimport ceil, exp, expm1, fabs, floor, isfinite, log, log1p, sqrt

TAIL = N_ENTRIES


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
    """Values and slopes that were found elsewhere, in the order in which they are asked for."""

    cdef const double[::1] values
    cdef const double[::1] slopes
    cdef Py_ssize_t n_asked

    def __init__(self, const double[::1] values, const double[::1] slopes):
        self.values, self.slopes, self.n_asked = values, slopes, 0

    cdef double slope(self, double score, double target, double* value) noexcept nogil:
        cdef Py_ssize_t place = self.n_asked
        self.n_asked = place + 1
        value[0] = self.values[place]
        return self.slopes[place]


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
