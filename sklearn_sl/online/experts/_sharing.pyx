"""Weights of experts that share a part of themselves after each trial.

See :class:`Weights` in ``_aggregating.pyx``.
"""

import numpy as np

from libc.math cimport INFINITY, exp, expm1, isfinite, log, log1p
from libc.string cimport memcpy

from sklearn_sl.online.experts._aggregating cimport (
    LEAST,
    LEFT,
    ExponentialWeights,
    Weights,
    means,
    mixed_loss,
    sl_add,
    sl_give,
    sl_receive,
    sl_share,
    sl_share_squares,
    sl_weigh,
)

# Below this a sum of weights is taken once more, relative to the least loss.
cdef double SMALL = 1e-200
# Who gives more than this part of a weight has what others gave, more or less.
cdef double MOST = 0.999


cdef class FixedShareWeights(Weights):
    """Weights that are multiplied by ``exp(-eta * loss)`` and then share: fixed share.

    Each expert keeps ``1 - alpha`` of its weight, and the rest goes to all others in equal
    parts. This keeps all weights within the range of numbers, so that they need no logarithms.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    eta, alpha : float
        The learning rate, and the part that is shared.

    state : ndarray of shape (2, width), padded with zeros
        The weights before they share, times the entry LEFT of the tail, and the sums of all
        losses; changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place.
    """

    cdef double[:, ::1] state
    cdef double[::1] tail
    cdef double[:, ::1] room
    # The state is read here and written there, in turns.
    cdef double* now
    cdef double* next
    cdef double eta
    cdef double kept
    cdef double given

    def __init__(
        self,
        Py_ssize_t n_experts,
        double eta,
        double alpha,
        double[:, ::1] state,
        double[::1] tail,
    ):
        Weights.__init__(self, n_experts)
        self.eta, self.state, self.tail = eta, state, tail
        self.room = np.empty((2, self.width))
        self.now, self.next = &state[0, 0], &self.room[0, 0]
        self.given = alpha / (n_experts - 1) if n_experts > 1 else 0.0
        self.kept = 1.0 - alpha - self.given if n_experts > 1 else 1.0

    cdef void allocate(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double kept = self.kept / self.tail[LEFT], total = 0.0
        for k in range(self.n_experts):
            self.shares[k] = max(0.0, kept * self.now[k] + self.given)
            total += self.shares[k]
        self.total = total

    cdef double charge(self, const double* losses) noexcept nogil:
        return self.charge_of_mixture(losses, self.eta)

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        cdef double least
        cdef double* sums
        self.allocate()
        least = self.least_shared(losses)
        self.tail[LEFT] = 0.0
        for k in range(self.n_experts):
            self.now[k] = self.shares[k] * exp(-self.eta * (losses[k] - least))
            self.tail[LEFT] += self.now[k]
        sums = self.now + self.width
        sl_add(self.width, sums, 0.0, 1.0, losses, sums)

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        cdef double sums[4]
        cdef double left, kept = self.kept / self.tail[LEFT]
        if values == NULL:
            left = sl_share_squares(
                self.n_experts, self.now, kept, self.given, self.eta, losses, losses,
                self.now + self.width, self.next, self.next + self.width, sums,
            )
        else:
            left = sl_share(
                self.n_experts, self.now, kept, self.given, self.eta, losses, values,
                self.now + self.width, self.next, self.next + self.width, sums,
            )
        if not (means(values, sums, self.lowest, answers) and left > SMALL):
            return False
        self.now, self.next = self.next, self.now
        self.tail[LEFT] = left
        return True

    cdef void settle(self) noexcept nogil:
        if self.now != &self.state[0, 0]:
            memcpy(&self.state[0, 0], self.now, 2 * self.width * sizeof(double))
            self.now, self.next = self.next, self.now


cdef class LogShareWeights(ExponentialWeights):
    """Weights ``exp(-costs)`` that share, as FixedShareWeights, the more exactly the more they do.

    If a weight keeps less than it gives to each of the others, the best expert has the least
    afterwards: the sum of what others had, which nothing keeps within the range of numbers.

    Parameters
    ----------
    n_experts : int
        How many experts there are, two at least.

    eta, alpha : float
        The learning rate, by which costs are multiplied, and the part that is shared.

    costs : ndarray of shape (width,), padded with infinity
        Changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    sums : ndarray of shape (width,), padded with zeros
        The sums of all losses, changed in place.
    """

    cdef double[::1] sums
    cdef double[::1] given
    cdef double factor
    cdef double kept
    cdef double part

    def __init__(
        self,
        Py_ssize_t n_experts,
        double eta,
        double alpha,
        double[::1] costs,
        double[::1] tail,
        double[::1] sums,
    ):
        ExponentialWeights.__init__(self, n_experts, 1.0, costs, tail)
        self.factor, self.sums = eta, sums
        self.kept, self.part = 1.0 - alpha, alpha / (n_experts - 1)
        self.given = np.zeros(self.width)

    cdef double charge(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_experts):
            self.given[k] = self.factor * losses[k]
        return mixed_loss(self.n_experts, self.now, &self.given[0], 1.0) / self.factor

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        cdef double least, total, others
        sl_add(self.width, &self.sums[0], 0.0, 1.0, losses, &self.sums[0])
        least = sl_add(
            self.width, self.now, self.tail[LEAST], self.factor, losses, self.now
        )
        total = sl_weigh(self.width, self.now, least, 1.0, &self.shares[0])
        for k in range(self.n_experts):
            if self.now[k] == least:
                best = k
        others = log_sum_but(self.n_experts, self.now, least, best)
        for k in range(self.n_experts):
            if k != best:
                self.now[k] = -log(
                    self.kept * self.shares[k] + self.part * (total - self.shares[k])
                )
        self.now[best] = -log_of_sum(log(self.kept), log(self.part) + others)
        self.tail[LEAST] = least_of(self.n_experts, self.now)

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        return False


cdef double least_of(Py_ssize_t n, const double* values) noexcept nogil:
    cdef Py_ssize_t k
    cdef double least = INFINITY
    for k in range(n):
        least = min(least, values[k])
    return least


cdef double log_sum_but(
    Py_ssize_t n, const double* costs, double least, Py_ssize_t one
) noexcept nogil:
    """Return the logarithm of the sum of ``exp(least - costs)`` over all but one."""
    cdef Py_ssize_t k
    cdef double lowest = INFINITY, total = 0.0
    for k in range(n):
        if k != one:
            lowest = min(lowest, costs[k])
    if not isfinite(lowest):
        return -INFINITY
    for k in range(n):
        if k != one:
            total += exp(lowest - costs[k])
    return least - lowest + log(total)


cdef double log_of_sum(double a, double b) noexcept nogil:
    """Return ``log(exp(a) + exp(b))``."""
    cdef double high = max(a, b)
    return high + log1p(exp(min(a, b) - high)) if isfinite(high) else high


cdef class VariableShareWeights(ExponentialWeights):
    """Weights ``exp(-costs)`` whose experts share the more the more they lose: variable share.

    Costs are multiplied by ``eta`` here. Each expert keeps ``(1 - alpha)^loss`` of its weight
    after the loss, and the rest goes to all others in equal parts.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    eta, alpha : float
        The learning rate, and the part that is shared at a loss of one.

    costs : ndarray of shape (width,), padded with infinity
        Changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    sums : ndarray of shape (width,), padded with zeros
        The sums of all losses, changed in place.
    """

    cdef double[::1] sums
    cdef double[::1] given
    cdef double factor
    cdef double rate

    def __init__(
        self,
        Py_ssize_t n_experts,
        double eta,
        double alpha,
        double[::1] costs,
        double[::1] tail,
        double[::1] sums,
    ):
        ExponentialWeights.__init__(self, n_experts, 1.0, costs, tail)
        self.factor, self.sums = eta, sums
        # Finite, so that its product with no loss is zero.
        self.rate = log1p(-alpha) if alpha < 1 else -1e300
        self.given = np.zeros(self.width)

    cdef double charge(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_experts):
            self.given[k] = self.factor * losses[k]
        return mixed_loss(self.n_experts, self.now, &self.given[0], 1.0) / self.factor

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t giver
        cdef double pool, least
        sl_add(self.width, &self.sums[0], 0.0, 1.0, losses, &self.sums[0])
        least = sl_add(
            self.width, self.now, self.tail[LEAST], self.factor, losses, self.now
        )
        if self.n_experts > 1:
            sl_weigh(self.width, self.now, least, 1.0, &self.shares[0])
            pool = sl_give(self.width, &self.shares[0], losses, self.rate, &self.given[0])
            giver = self.giver()
            if pool > SMALL and self.given[giver] < MOST * self.shares[giver]:
                least = sl_receive(
                    self.n_experts, &self.shares[0], &self.given[0], losses, pool,
                    self.n_experts - 1, self.rate, least, self.now,
                )
            else:
                least = self.receive_in_logs(losses, least)
        self.tail[LEAST] = least

    cdef Py_ssize_t giver(self) noexcept nogil:
        """Return the expert that gives most."""
        cdef Py_ssize_t k, giver = 0
        for k in range(1, self.n_experts):
            if self.given[k] > self.given[giver]:
                giver = k
        return giver

    cdef double receive_in_logs(self, const double* losses, double least) noexcept nogil:
        """Share by logarithms, and return the least costs.

        If little is given, it must be told from nothing: the best expert may lose so much in the
        next trial that it matters. If the best expert gives nearly all, it has what others gave.
        """
        cdef Py_ssize_t k, giver = 0
        cdef double best, rest, received, total = 0.0
        for k in range(self.n_experts):
            self.given[k] = self.now[k] - log(-expm1(self.rate * losses[k]))
            if self.given[k] < self.given[giver]:
                giver = k
        best = self.given[giver]
        rest = log_sum_but(self.n_experts, &self.given[0], best, giver)
        for k in range(self.n_experts):
            total += exp(best - self.given[k])
        for k in range(self.n_experts):
            received = -INFINITY
            if best < INFINITY:  # somebody has lost something
                received = rest if k == giver else log(total - exp(best - self.given[k]))
                received += least - best - log(<double>(self.n_experts - 1))
            self.now[k] = -log_of_sum(least - self.now[k] + self.rate * losses[k], received)
        return least_of(self.n_experts, self.now)

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        return False
