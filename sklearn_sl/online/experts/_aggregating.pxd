"""Weights of experts: what they are in a trial, and how losses change them."""

from libc.math cimport isfinite

# The entries of a tail.
cdef enum:
    LEAST = 0  # the least of the costs
    OFFSET = 1  # what was subtracted from all of them before
    GAP = 2  # the sum of the differences between mean losses and mixed losses
    LEFT = 3  # what the losses of the last trial left of the weights
    N_ENTRIES = 4

cdef extern from "_aggregating.h" nogil:
    enum:
        LANES "SL_LANES"
    double sl_weigh(
        Py_ssize_t n, const double* costs, double least, double eta, double* weights
    )
    double sl_dot(Py_ssize_t n, const double* weights, const double* values)
    double sl_add(
        Py_ssize_t n, const double* costs, double least, double rate, const double* losses,
        double* after
    )
    double sl_exponential(
        Py_ssize_t n, const double* costs, double least, double eta, const double* losses,
        const double* values, double* after, double* sums
    )
    double sl_exponential_squares(
        Py_ssize_t n, const double* costs, double least, double eta, const double* losses,
        const double* values, double* after, double* sums
    )
    double sl_share(
        Py_ssize_t n, const double* before, double kept, double given, double eta,
        const double* losses, const double* values, const double* lost, double* after,
        double* lost_after, double* sums
    )
    double sl_share_squares(
        Py_ssize_t n, const double* before, double kept, double given, double eta,
        const double* losses, const double* values, const double* lost, double* after,
        double* lost_after, double* sums
    )
    double sl_give(
        Py_ssize_t n, const double* weights, const double* losses, double rate, double* given
    )
    double sl_receive(
        Py_ssize_t n, const double* weights, const double* given, const double* losses,
        double pool, double others, double rate, double least, double* costs
    )


cdef class Weights:
    # The number of experts, and that number rounded up to whole vectors.
    cdef readonly Py_ssize_t n_experts
    cdef readonly Py_ssize_t width
    # The weights of the current trial times `total`; zero for experts that abstain.
    cdef double[::1] shares
    cdef double total
    # No loss is to be below this.
    cdef double lowest

    cdef void allocate(self) noexcept nogil
    cdef void leave_out(self, const double* losses) noexcept nogil
    cdef double charge(self, const double* losses) noexcept nogil
    cdef void lose(self, const double* losses) noexcept nogil
    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef double least_shared(self, const double* losses) noexcept nogil
    cdef double charge_of_mixture(self, const double* losses, double eta) noexcept nogil


cdef class ExponentialWeights(Weights):
    cdef double[::1] costs
    cdef double[::1] tail
    cdef double eta
    # Costs are read here and written there, in turns: what a trial spoils can be forgotten.
    cdef double[::1] room
    cdef double* now
    cdef double* next

    cdef void lead(self, double least) noexcept nogil
    cdef double least_available(self, const double* losses) noexcept nogil
    cdef bint advance(
        self, const double* losses, const double* values, double* answers, double* sums
    ) noexcept nogil


cdef inline bint means(
    const double* values, const double* sums, double lowest, double* answers
) noexcept nogil:
    """Set answers to weighted means; return whether they are finite and no loss is too low."""
    answers[0] = (sums[1] if values == NULL else sums[2]) / sums[0]
    if values == NULL:
        answers[1] = sums[2] / sums[0]
    return isfinite(sums[1]) and isfinite(sums[2]) and sums[3] >= lowest


cdef double mixed_loss(
    Py_ssize_t n, const double* costs, const double* losses, double eta
) noexcept nogil
