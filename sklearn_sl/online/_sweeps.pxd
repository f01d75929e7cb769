"""Losses and rules of additive learners: which way to step along a sample, and how far."""


cdef class Loss:
    cdef double slope(self, double score, double target, double* value) noexcept nogil


cdef class Rule:
    cdef bint conservative

    cdef double step(
        self, double slope, double loss, double norm2, double factor, double* tail
    ) noexcept nogil
