"""Losses and rules of additive learners: which way to step along a sample, and how far."""


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
