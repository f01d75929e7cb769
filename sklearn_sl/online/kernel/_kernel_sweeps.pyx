"""Trials of the learners whose functions are sums of kernels at some samples.

The functions ``f_k(x) = sum_s coef[k, s] K(v_s, x)``, one for each score, share their vectors
``v_s``, which live in slots. A score is the sum over the slots in their order, for WIDTH rows side
by side; a new slot adds its term, and when an old one has changed the sum is computed anew. So it
depends on the history of the trials alone, and not on the block that a trial is played in.
"""

from libc.math cimport isfinite
from libc.string cimport memcpy, memset

# The entries of a tail.
cdef enum:
    RADIUS2 = 0  # largest K(x, x) of a sample that was stepped along
    STEPS2 = 1  # sum of the squared lengths of all steps
    N_STEPS = 2
    N_LOST = 3  # how many vectors were removed or projected
    N_FRESH = 4  # how many of those may come before the inverse is computed anew
    WIDTH = 8

TAIL = 5
LANES = WIDTH
# What is added to the squared norm of a vector, relative to it, before the Gram matrix is inverted.
RIDGE = 1e-6
cdef double _RIDGE = RIDGE


cdef inline void _add(double* total, double coef, const double* values) noexcept nogil:
    """Add the terms of one slot to the scores of WIDTH rows."""
    cdef Py_ssize_t lane
    for lane in range(WIDTH):
        total[lane] += coef * values[lane]


cdef class Expansion:
    """Functions of vectors in slots, and what a step does to them.

    Parameters
    ----------
    coef, sums : ndarray of shape (n_scores, n_room)
        The coefficients of the vectors, and the rest of the sums of the coefficients of all
        trials, which are ``n_trials * coef + sums``; no columns in ``sums``: none are kept.
        Changed in place.

    n_slots : int
        How many slots are taken.

    budget : int
        How many slots there may be; negative if there is no limit.

    gram, inverse : ndarray of shape (n_room, n_room)
        For projections: the Gram matrix of the vectors, its diagonal larger by a ridge, and its
        inverse once the budget is full; changed in place. Without rows: no projections, the oldest
        vector makes room.

    norms : ndarray of shape (n_scores,)
        The squared norms of the functions as long as nothing was lost, changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place.

    work : ndarray of shape (4, n_room)
        Room.
    """

    cdef readonly double[:, ::1] coef, sums
    cdef double[:, ::1] gram, inverse, work
    cdef double[::1] norms, tail
    cdef Py_ssize_t budget
    cdef readonly Py_ssize_t n_slots

    def __init__(
        self,
        double[:, ::1] coef,
        double[:, ::1] sums,
        Py_ssize_t n_slots,
        Py_ssize_t budget,
        double[:, ::1] gram,
        double[:, ::1] inverse,
        double[::1] norms,
        double[::1] tail,
        double[:, ::1] work,
    ):
        self.coef, self.sums, self.n_slots, self.budget = coef, sums, n_slots, budget
        self.gram, self.inverse, self.norms, self.tail = gram, inverse, norms, tail
        self.work = work

    cdef void scores(
        self, const double* values, Py_ssize_t stride, double[:, ::1] panel
    ) noexcept nogil:
        """Write the scores of WIDTH rows, given their kernel values with the slots."""
        cdef Py_ssize_t k, slot
        cdef double total[WIDTH]
        for k in range(self.coef.shape[0]):
            memset(total, 0, WIDTH * sizeof(double))
            for slot in range(self.n_slots):
                _add(total, self.coef[k, slot], values + slot * stride)
            memcpy(&panel[k, 0], total, WIDTH * sizeof(double))

    cdef bint waits(self, Py_ssize_t slot) noexcept nogil:
        """Return whether a step along a vector in ``slot``, -1 if new, needs a new inverse."""
        return (
            slot < 0
            and self.n_slots == self.budget
            and self.gram.shape[0] > 0
            and self.tail[N_FRESH] == 0
        )

    cdef void account(
        self, const double[::1] steps, const double[:, ::1] panel, Py_ssize_t lane, double square
    ) noexcept nogil:
        """Add steps along a vector of this squared norm to the norms and to the tail."""
        cdef Py_ssize_t k
        for k in range(steps.shape[0]):
            self.norms[k] += 2 * steps[k] * panel[k, lane] + steps[k] * steps[k] * square
            self.tail[STEPS2] += steps[k] * steps[k] * square
        self.tail[RADIUS2] = max(self.tail[RADIUS2], square)

    cdef Py_ssize_t room(
        self, const double[:, ::1] K, Py_ssize_t row, double square
    ) noexcept nogil:
        """Return a slot for the vector of a row: a new one, or that of the oldest vector."""
        cdef Py_ssize_t k, slot, other
        if self.n_slots == self.budget:
            # Vectors came into their slots one after the other, and leave in the same order.
            slot = <Py_ssize_t>self.tail[N_LOST] % self.budget
            self.tail[N_LOST] += 1
        else:
            slot = self.n_slots
            self.n_slots = slot + 1
            if self.gram.shape[0]:
                for other in range(slot):
                    self.gram[slot, other] = self.gram[other, slot] = K[other, row]
                self.gram[slot, slot] = (1 + _RIDGE) * square
        for k in range(self.coef.shape[0]):
            self.coef[k, slot] = 0.0
            if self.sums.shape[1]:
                self.sums[k, slot] = 0.0
        return slot

    cdef void step(self, Py_ssize_t slot, const double[::1] steps, double age) noexcept nogil:
        """Add steps to the coefficients of a slot."""
        cdef Py_ssize_t k
        for k in range(steps.shape[0]):
            self.coef[k, slot] += steps[k]
            if self.sums.shape[1]:
                self.sums[k, slot] -= age * steps[k]

    cdef Py_ssize_t project(
        self,
        const double[:, ::1] K,
        Py_ssize_t row,
        double square,
        const double[::1] steps,
        double age,
    ) noexcept nogil:
        """Step along one vector more than there are slots, and project one of them on the others.

        It is the one whose projection changes the functions least, ``sum_k coef[k, s]**2`` times
        its squared distance from the span of the others, ``1 / inverse[s, s]``. Return the slot
        that the new vector took; -1 if it was projected itself.
        """
        cdef Py_ssize_t n = self.n_slots, k, s, t, least = -1
        cdef double* values = &self.work[0, 0]
        cdef double* image = &self.work[1, 0]
        cdef double* column = &self.work[2, 0]
        cdef double* factors = &self.work[3, 0]
        cdef double rest = (1 + _RIDGE) * square, loss, smallest = 0.0, own, cross, scale
        self.tail[N_LOST] += 1
        if not square > 0:
            return -1
        # The new vector is the combination ``image`` of the others, and what is left.
        for s in range(n):
            values[s] = K[s, row]
            image[s] = 0.0
        for s in range(n):
            for t in range(n):
                image[t] += values[s] * self.inverse[s, t]
        for s in range(n):
            rest -= values[s] * image[s]
        rest = max(rest, _RIDGE * square)
        for k in range(steps.shape[0]):
            smallest += steps[k] * steps[k] * rest
        for s in range(n):
            own = self.inverse[s, s] + image[s] * image[s] / rest
            loss = 0.0
            for k in range(steps.shape[0]):
                loss += self.coef[k, s] * self.coef[k, s] / own
            if loss < smallest:
                smallest = loss
                least = s
        if least < 0:
            for k in range(steps.shape[0]):
                for s in range(n):
                    self.coef[k, s] += steps[k] * image[s]
                if self.sums.shape[1]:
                    for s in range(n):
                        self.sums[k, s] -= age * steps[k] * image[s]
            return -1
        # In the inverse with the new vector, the column of the vector that leaves.
        for s in range(n):
            column[s] = self.inverse[s, least] + image[s] * image[least] / rest
        own = column[least]
        cross = -image[least] / rest
        for s in range(n):
            factors[s] = -column[s] / own
        factors[least] = -cross / own  # of the new vector, which takes the slot
        for k in range(steps.shape[0]):
            scale = self.coef[k, least]
            self.coef[k, least] = steps[k]
            for s in range(n):
                self.coef[k, s] += scale * factors[s]
            if self.sums.shape[1]:
                scale = self.sums[k, least]
                self.sums[k, least] = -age * steps[k]
                for s in range(n):
                    self.sums[k, s] += scale * factors[s]
        # The inverse without it, and with the new vector in its place.
        for s in range(n):
            scale = image[s] / rest
            for t in range(n):
                self.inverse[s, t] += scale * image[t] - column[s] / own * column[t]
        for s in range(n):
            scale = -image[s] / rest - column[s] * cross / own
            self.inverse[s, least] = self.inverse[least, s] = scale
            self.gram[s, least] = self.gram[least, s] = values[s]
        self.inverse[least, least] = 1 / rest - cross * cross / own
        self.gram[least, least] = (1 + _RIDGE) * square
        self.tail[N_FRESH] -= 1
        return least


cdef Py_ssize_t _decide(
    const double[:, ::1] panel,
    Py_ssize_t lane,
    Py_ssize_t code,
    bint together,
    double margin,
    double length,
    double[::1] steps,
) noexcept nogil:
    """Write the steps of all functions; return how many there are."""
    cdef Py_ssize_t k, other, n_scores = steps.shape[0], n_steps = 0
    cdef double sign
    for k in range(n_scores):
        steps[k] = 0.0
    if together:
        other = 1 if code == 0 else 0
        for k in range(n_scores):
            if k != code and panel[k, lane] > panel[other, lane]:
                other = k
        if panel[code, lane] - panel[other, lane] <= margin:
            steps[code] = length
            steps[other] = -length
            n_steps = 1
        return n_steps
    for k in range(n_scores):
        sign = 1.0 if code == (1 if n_scores == 1 else k) else -1.0
        if sign * panel[k, lane] <= margin:
            steps[k] = sign * length
            n_steps += 1
    return n_steps


def sweep(
    Expansion functions,
    double[:, ::1] K,
    const double[:, ::1] own,
    const Py_ssize_t[::1] codes,
    bint together,
    double margin,
    double length,
    Py_ssize_t trial,
    Py_ssize_t start,
    Py_ssize_t stop,
    Py_ssize_t[::1] known,
    Py_ssize_t[::1] owner,
    double[:, ::1] panel,
    double[::1] steps,
    double[:, ::1] scores,
):
    """Play the trials of the rows from ``start`` to ``stop`` of a block.

    Function ``k`` takes a step of a length along ``y K(x, .)`` where ``y f_k(x) <= margin``, with
    ``y = 1`` for its class and else -1; a single function is that of the second class. If
    ``together``, the function of the true class takes a step along ``K(x, .)`` and that of the best
    other class one along ``-K(x, .)`` where their difference is at most the margin.

    Parameters
    ----------
    functions : Expansion
        Changed in place.

    K : ndarray of shape (n_room, n_columns)
        The kernel values of the vectors in slots and the rows of the block, padded to a multiple
        of LANES columns; changed in place with the slots.

    own : ndarray of shape (n_rows, n_columns)
        The kernel values of the rows of the block with each other.

    codes : ndarray of shape (n_rows,)
        The classes.

    together : bool
        Whether all functions are changed at once.

    margin, length : float
        When to step, and how far.

    trial : int
        The number of trials before the block.

    start, stop : int
        The first row, and that after the last.

    known : ndarray of shape (n_rows,)
        The slots of the rows, -1 for rows without one; changed in place where one is lost.

    owner : ndarray of shape (n_room,)
        The row that came into each slot is written here.

    panel, steps : ndarray of shape (n_scores, LANES), (n_scores,)
        Room.

    scores : ndarray of shape (n_rows, n_scores)
        The scores before the steps are written here.

    Returns
    -------
    row : int
        The first row that was not played. If it is not ``stop``, its score is not finite, or the
        inverse of the Gram matrix has to be computed anew.
    """
    cdef Py_ssize_t row, k, lane, slot, other, n_steps, n_slots
    cdef Py_ssize_t n_scores = steps.shape[0], n_columns = K.shape[1]
    cdef bint stale = True
    cdef double square
    with nogil:
        for row in range(start, stop):
            lane = row % WIDTH
            if stale or lane == 0:
                functions.scores(&K[0, row - lane], n_columns, panel)
                stale = False
            for k in range(n_scores):
                scores[row, k] = panel[k, lane]
                if not isfinite(panel[k, lane]):
                    with gil:
                        return row
            n_steps = _decide(panel, lane, codes[row], together, margin, length, steps)
            if n_steps == 0:
                continue
            slot = known[row]
            if functions.waits(slot):
                with gil:
                    return row
            square = own[row, row]
            functions.account(steps, panel, lane, square)
            functions.tail[N_STEPS] += n_steps
            n_slots = functions.n_slots
            stale = True
            if slot >= 0:
                functions.step(slot, steps, trial + row + 1)
                continue
            if functions.gram.shape[0] and n_slots == functions.budget:
                slot = functions.project(K, row, square, steps, trial + row + 1)
                if slot < 0:
                    continue
            else:
                slot = functions.room(K, row, square)
                functions.step(slot, steps, trial + row + 1)
            for other in range(codes.shape[0]):
                if known[other] == slot:
                    known[other] = -1
            owner[slot] = row
            memcpy(&K[slot, 0], &own[row, 0], n_columns * sizeof(double))
            if slot == n_slots:  # the last term of the sums
                stale = False
                for k in range(n_scores):
                    _add(&panel[k, 0], functions.coef[k, slot], &K[slot, row - lane])
    return stop
