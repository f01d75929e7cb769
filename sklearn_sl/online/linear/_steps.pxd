"""Losses and rules of additive learners, and the steps that they lead to."""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int64_t

# What a learner keeps besides its weights, the entries of a tail. The squared norms are of (w, b)
# and of (x, 1), or of w and x alone if there is no intercept.
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
    N_ENTRIES = 11
    # So many steps of a run are taken one by one, as those of repeated rows are; then all at once.
    ONE_BY_ONE = 32


cdef class Loss:
    cdef double slope(self, double score, double target, double* value) noexcept nogil


cdef struct Walk:
    # Steps along the same sample, one after the other: how many, the sum of their lengths, the sum
    # of the lengths that were gone before each of them, and what a rule adds up.
    double n_steps
    double length
    double lengths
    double squares


cdef class Rule:
    cdef bint conservative

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil

    cdef Walk walk(
        self, double loss, double norm2, double factor, double n, double least
    ) noexcept nogil


cdef inline bint try_step(
    Rule rule,
    double score,
    double slope,
    double value,
    double norm2,
    double factor,
    double* tail,
    double* step,
) noexcept nogil:
    """Set the step of a rule and note it in the tail.

    Return false, and note nothing, if the weights after it would exceed the range of floating
    point numbers.
    """
    cdef double squares = tail[SQUARES], after
    step[0] = rule.step(slope, value, norm2, factor, tail)
    after = tail[NORM2] + step[0] * (2 * score + step[0] * norm2)
    if not isfinite(after + tail[SQUARES]):
        tail[SQUARES] = squares
        return False
    if step[0] != 0:
        tail[NORM2] = max(after, 0.0)
        tail[RADIUS2] = max(tail[RADIUS2], norm2)
        tail[N_STEPS] += 1
    return True


cdef inline void add_times(double* total, double value, Py_ssize_t times) noexcept nogil:
    """Add a value so many times; one by one if they are few, as those of repeated rows are."""
    if value == 0:
        return
    if times > ONE_BY_ONE:
        total[0] += times * value
        return
    while times > 0:
        total[0] += value
        times -= 1
