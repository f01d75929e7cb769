"""Weights of experts that mix in what they were before: a memory of past posteriors."""

import numpy as np


from sklearn_sl.online.experts._aggregating cimport Weights, sl_add

cdef extern from "../_exponentials.h" nogil:
    void sl_exp(Py_ssize_t n, const double* x, double* out)

# Whose posteriors are mixed in: those at the start alone, all alike, or late ones the more.
cpdef enum:
    START = 0
    UNIFORM = 1
    DECAYING = 2

# The rows of a state: the last posterior, the mixture of those before it, and the sums of losses.
cdef enum:
    LAST = 0
    PAST = 1
    LOST = 2

N_ROWS = 3


cdef class PastPosteriorWeights(Weights):
    """Weights that are mixtures of the last posterior and of earlier ones.

    The posterior of a trial is its weights times ``exp(-eta * loss)``, divided by their sum. The
    weights of the next trial are ``1 - alpha`` times the last posterior plus ``alpha`` times a
    mixture of those before it, from the weights at the start on. They never become too small for
    numbers, as those at the start are always among them.

    If late posteriors count more, that of age ``a`` has a mass proportional to ``a^-gamma``. They
    are kept in blocks, with their sum; a block has the mass of all its ages, shared by its members
    alike. When there are three blocks of the same size, the older two become one. So there are
    no more than two of each size 1, 2, 4, ..., and of two ages in a block none is the double of
    the other.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    eta, alpha : float
        The learning rate, and the part of the past.

    kind : int
        START, UNIFORM or DECAYING.

    state : ndarray of shape (N_ROWS, width), padded with zeros
        Changed in place.

    blocks : ndarray of shape (n_rows, width), padded with zeros
        The sums of posteriors in blocks, the oldest first; a single one if all count alike.
        Changed in place.

    sizes : ndarray of shape (n_rows,)
        How many are in each block. Changed in place.

    counts : ndarray of shape (2,)
        How many posteriors there are in the past, and in how many blocks. Changed in place.

    masses : ndarray of shape (n_masses,)
        Entry ``a`` is the sum of the masses of the ages from one to ``a``.
    """

    cdef double eta
    cdef double alpha
    cdef Py_ssize_t kind
    cdef double[:, ::1] state
    cdef double[:, ::1] blocks
    cdef long long[::1] sizes
    cdef long long[::1] counts
    cdef const double[::1] masses
    cdef double[::1] likelihoods

    def __init__(
        self,
        Py_ssize_t n_experts,
        double eta,
        double alpha,
        Py_ssize_t kind,
        double[:, ::1] state,
        double[:, ::1] blocks,
        long long[::1] sizes,
        long long[::1] counts,
        const double[::1] masses,
    ):
        Weights.__init__(self, n_experts)
        self.eta, self.alpha, self.kind = eta, alpha, kind
        self.state, self.blocks, self.sizes, self.counts = state, blocks, sizes, counts
        self.masses = masses
        self.likelihoods = np.zeros(self.width)

    cdef void allocate(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double alpha = self.alpha if self.counts[0] > 0 else 0.0, total = 0.0
        for k in range(self.n_experts):
            self.shares[k] = (1.0 - alpha) * self.state[LAST, k] + alpha * self.state[PAST, k]
            total += self.shares[k]
        self.total = total

    cdef double charge(self, const double* losses) noexcept nogil:
        return self.charge_of_mixture(losses, self.eta)

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        cdef double least, mass = 0.0
        self.allocate()
        least = self.least_shared(losses)
        for k in range(self.n_experts):
            self.likelihoods[k] = -self.eta * (losses[k] - least)
        sl_exp(self.n_experts, &self.likelihoods[0], &self.likelihoods[0])
        self.remember()
        for k in range(self.n_experts):
            self.state[LAST, k] = self.shares[k] * self.likelihoods[k]
            mass += self.state[LAST, k]
        for k in range(self.n_experts):
            self.state[LAST, k] /= mass
        sl_add(self.width, &self.state[LOST, 0], 0.0, 1.0, losses, &self.state[LOST, 0])

    cdef void remember(self) noexcept nogil:
        """Let the last posterior belong to the past."""
        cdef Py_ssize_t k
        self.counts[0] += 1
        if self.kind == DECAYING:
            self.append()
            self.mix()
        elif self.kind == UNIFORM:
            for k in range(self.n_experts):
                self.blocks[0, k] += self.state[LAST, k]
                self.state[PAST, k] = self.blocks[0, k] / self.counts[0]
        elif self.counts[0] == 1:
            for k in range(self.n_experts):
                self.state[PAST, k] = self.state[LAST, k]

    cdef void append(self) noexcept nogil:
        """Let the last posterior be a block, and let blocks grow together."""
        cdef Py_ssize_t k, row, newest = self.counts[1]
        for k in range(self.n_experts):
            self.blocks[newest, k] = self.state[LAST, k]
        self.sizes[newest] = 1
        self.counts[1] += 1
        while newest >= 2 and self.sizes[newest - 2] == self.sizes[newest]:
            for k in range(self.n_experts):
                self.blocks[newest - 2, k] += self.blocks[newest - 1, k]
            self.sizes[newest - 2] *= 2
            for row in range(newest - 1, self.counts[1] - 1):
                for k in range(self.n_experts):
                    self.blocks[row, k] = self.blocks[row + 1, k]
                self.sizes[row] = self.sizes[row + 1]
            self.counts[1] -= 1
            newest -= 2

    cdef void mix(self) noexcept nogil:
        """Mix the blocks by the masses of their ages."""
        cdef Py_ssize_t k, row
        cdef long long age = self.counts[0]
        cdef double mass, all_of_them = self.masses[age]
        for k in range(self.n_experts):
            self.state[PAST, k] = 0.0
        for row in range(self.counts[1]):
            # From its oldest age down to the one that the next block begins with.
            mass = self.masses[age] - self.masses[age - self.sizes[row]]
            age -= self.sizes[row]
            mass /= all_of_them * self.sizes[row]
            for k in range(self.n_experts):
                self.state[PAST, k] += mass * self.blocks[row, k]

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        return False
