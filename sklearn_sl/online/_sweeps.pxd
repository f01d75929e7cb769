"""Rules of additive learners: how far to step along a sample."""


cdef class Rule:
    cdef bint needs_norm

    cdef double step(
        self, double score, double target, double norm2, double factor, Py_ssize_t trial
    ) noexcept nogil
