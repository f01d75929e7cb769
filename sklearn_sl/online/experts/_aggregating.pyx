"""Trials of prediction with expert advice.

In a trial every expert has a weight; the learner answers by weighted means of what the experts
advise, is told the losses of all experts, and changes the weights. :class:`Weights` say what the
weights are and how they change; :func:`sweep` goes through trials. It knows neither loss
functions nor outcomes: it is given the losses as a table, and what to average as other tables.

An expert whose loss is NaN abstains. Its weight is left out of the trial. Afterwards it is charged
a loss that leaves the ratio of its weight to the weight of all available experts as it was.
"""

import numpy as np

from libc.math cimport INFINITY, exp, isfinite, isnan, log, sqrt
from libc.string cimport memcpy

TAIL = N_ENTRIES


def padded(values, double filler):
    """Return a copy of a vector with fillers at its end, up to whole vectors of the machine."""
    result = np.full((len(values) + LANES - 1) // LANES * LANES, filler)
    result[:len(values)] = values
    return result


cdef class Weights:
    """Weights that stay as they are: all experts have the same.

    Parameters
    ----------
    n_experts : int
        How many there are.
    """

    def __init__(self, Py_ssize_t n_experts):
        self.n_experts = n_experts
        self.width = (n_experts + LANES - 1) // LANES * LANES
        self.shares = np.zeros(self.width)
        self.lowest = -INFINITY

    cdef void allocate(self) noexcept nogil:
        """Set ``shares`` and ``total`` for the next trial."""
        cdef Py_ssize_t k
        for k in range(self.n_experts):
            self.shares[k] = 1.0
        self.total = self.n_experts

    cdef void leave_out(self, const double* losses) noexcept nogil:
        """Set the shares of experts to zero whose losses are NaN, and ``total`` to the rest."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_experts):
            if isnan(losses[k]):
                self.shares[k] = 0.0
            total += self.shares[k]
        self.total = total

    cdef double charge(self, const double* losses) noexcept nogil:
        """Return what experts are charged that abstain, those whose losses are NaN."""
        return 0.0

    cdef double least_shared(self, const double* losses) noexcept nogil:
        """Return the least loss of an expert with a share, infinity if there is none."""
        cdef Py_ssize_t k
        cdef double least = INFINITY
        for k in range(self.n_experts):
            if self.shares[k] > 0 and losses[k] < least:
                least = losses[k]
        return least

    cdef double charge_of_mixture(self, const double* losses, double eta) noexcept nogil:
        """Return the loss of the mixture of the experts that have a share."""
        cdef Py_ssize_t k
        cdef double mass = 0.0, least = self.least_shared(losses)
        if self.total == 0:
            return 0.0
        for k in range(self.n_experts):
            if self.shares[k] > 0:
                mass += self.shares[k] * exp(-eta * (losses[k] - least))
        return least - log(mass / self.total) / eta

    cdef void lose(self, const double* losses) noexcept nogil:
        """Change the weights by the losses of all experts."""

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        """Do all of the above in one go, if possible; return whether it was.

        If not, because losses or values are not finite or too low, nothing has changed. Answer
        by the weighted mean of values; if they are NULL, those of the losses and their squares.
        """
        return False

    cdef void settle(self) noexcept nogil:
        """Let the arrays of the caller hold the state, after the last trial of a sweep."""


cdef double mixed_loss(
    Py_ssize_t n, const double* costs, const double* losses, double eta
) noexcept nogil:
    """Return the loss of the mixture of all available experts, by weights ``exp(-eta * costs)``."""
    cdef Py_ssize_t k
    cdef double before = INFINITY, after = INFINITY, mass_before = 0.0, mass_after = 0.0
    for k in range(n):
        if not isnan(losses[k]):
            before = min(before, costs[k])
            after = min(after, costs[k] + losses[k])
    if before == INFINITY:  # all of them abstain
        return 0.0
    if not isfinite(eta):
        return after - before
    for k in range(n):
        if not isnan(losses[k]):
            mass_before += exp(-eta * (costs[k] - before))
            mass_after += exp(-eta * (costs[k] + losses[k] - after))
    return after - before - log(mass_after / mass_before) / eta


cdef class ExponentialWeights(Weights):
    """Weights proportional to ``exp(-eta * costs)``, where costs add up the losses.

    Costs are kept relative to the least one, so that they lose no digits however many trials
    there were.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    eta : float
        The learning rate, positive. If infinite, the experts with the least costs have equal
        weights and the others none.

    costs : ndarray of shape (width,), padded with infinity
        Changed in place.

    tail : ndarray of shape (TAIL,)
        Changed in place. Its entry OFFSET is to be added to the costs.
    """

    def __init__(self, Py_ssize_t n_experts, double eta, double[::1] costs, double[::1] tail):
        Weights.__init__(self, n_experts)
        self.eta, self.costs, self.tail = eta, costs, tail
        self.room = np.empty(self.width)
        self.now, self.next = &costs[0], &self.room[0]

    cdef void allocate(self) noexcept nogil:
        if isfinite(self.eta):
            self.total = sl_weigh(
                self.width, self.now, self.tail[LEAST], self.eta, &self.shares[0]
            )
        else:
            self.lead(self.tail[LEAST])

    cdef void lead(self, double least) noexcept nogil:
        """Let the experts with these costs have equal shares."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_experts):
            self.shares[k] = self.now[k] == least
            total += self.shares[k]
        self.total = total

    cdef double least_available(self, const double* losses) noexcept nogil:
        """Return the least costs of an available expert, infinity if there is none."""
        cdef Py_ssize_t k
        cdef double least = INFINITY
        for k in range(self.n_experts):
            if not isnan(losses[k]):
                least = min(least, self.now[k])
        return least

    cdef void leave_out(self, const double* losses) noexcept nogil:
        # Relative to the available experts, whose weights may be small among all.
        cdef double least = self.least_available(losses)
        if isfinite(least) and isfinite(self.eta):
            sl_weigh(self.width, self.now, least, self.eta, &self.shares[0])
        elif isfinite(least):
            self.lead(least)
        Weights.leave_out(self, losses)

    cdef double charge(self, const double* losses) noexcept nogil:
        return mixed_loss(self.n_experts, self.now, losses, self.eta)

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef double least = self.tail[LEAST]
        self.tail[LEAST] = sl_add(self.width, self.now, least, 1.0, losses, self.now)
        self.tail[OFFSET] += least

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        cdef double sums[4]
        return self.advance(losses, values, answers, sums)

    cdef bint advance(
        self, const double* losses, const double* values, double* answers, double* sums
    ) noexcept nogil:
        """Do what ``play`` does, with the sums of weights and of weights times losses."""
        cdef double least
        if not isfinite(self.eta):
            return False
        if values == NULL:
            least = sl_exponential_squares(
                self.width, self.now, self.tail[LEAST], self.eta, losses, losses, self.next, sums
            )
        else:
            least = sl_exponential(
                self.width, self.now, self.tail[LEAST], self.eta, losses, values, self.next, sums
            )
        if not means(values, sums, self.lowest, answers):
            return False
        self.now, self.next = self.next, self.now
        self.tail[OFFSET] += self.tail[LEAST]
        self.tail[LEAST] = least
        return True

    cdef void settle(self) noexcept nogil:
        if self.now != &self.costs[0]:
            memcpy(&self.costs[0], self.now, self.width * sizeof(double))
            self.now, self.next = self.next, self.now


cdef class LimitWeights(ExponentialWeights):
    """What exponential weights ``exp(logs - eta * costs)`` become as the rate grows without bound.

    The experts with the least costs have all the weight, in the ratio of ``exp(logs)``. Whatever
    the rate, experts that abstain keep the ratio of their weight to that of all available ones:
    where mistakes take these a part that does not depend on the rate, the logarithms of the
    abstaining ones fall by that.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    costs, tail : ndarray
        As those of ExponentialWeights.

    logs : ndarray of shape (n_experts,)
        Changed in place.
    """

    cdef double[::1] logs

    def __init__(
        self, Py_ssize_t n_experts, double[::1] costs, double[::1] tail, double[::1] logs
    ):
        ExponentialWeights.__init__(self, n_experts, INFINITY, costs, tail)
        self.logs = logs

    cdef double log_mass(
        self, const double* losses, bint after, double* least
    ) noexcept nogil:
        """Set ``shares``, relative to the largest one, and the least costs of available experts.

        Costs are those before or after the losses; all experts are available if these are NULL.
        Return the logarithm of the sum of weights.
        """
        cdef Py_ssize_t k
        cdef double cost, top = 0.0
        least[0] = INFINITY
        for k in range(self.n_experts):
            if losses == NULL or not isnan(losses[k]):
                cost = self.now[k] + losses[k] if after else self.now[k]
                if cost < least[0] or (cost == least[0] and self.logs[k] > top):
                    least[0], top = cost, self.logs[k]
        self.total = 0.0
        for k in range(self.n_experts):
            self.shares[k] = 0.0
            if losses == NULL or not isnan(losses[k]):
                cost = self.now[k] + losses[k] if after else self.now[k]
                if cost == least[0]:
                    self.shares[k] = exp(self.logs[k] - top)
            self.total += self.shares[k]
        return top + log(self.total) if self.total > 0 else 0.0

    cdef void allocate(self) noexcept nogil:
        cdef double least
        self.log_mass(NULL, False, &least)

    cdef void leave_out(self, const double* losses) noexcept nogil:
        cdef double least
        self.log_mass(losses, False, &least)

    cdef double charge(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        cdef double before, after, fall = -self.log_mass(losses, False, &before)
        if before == INFINITY:  # all of them abstain
            return 0.0
        fall += self.log_mass(losses, True, &after)
        for k in range(self.n_experts):
            if isnan(losses[k]):
                self.logs[k] += fall
        self.log_mass(losses, False, &before)
        return after - before


cdef class AdaptiveWeights(ExponentialWeights):
    """Exponential weights with the rate ``ln n / GAP``: AdaHedge.

    The entry GAP of the tail adds up by how much the weighted mean of losses exceeds the loss of
    the mixture. An expert that abstains is charged that mean: the rest is as if it took part.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    costs, tail : ndarray
        As those of ExponentialWeights.
    """

    # The sum of the weights of all experts, available or not.
    cdef double everyone

    def __init__(self, Py_ssize_t n_experts, double[::1] costs, double[::1] tail):
        ExponentialWeights.__init__(self, n_experts, INFINITY, costs, tail)

    cdef void set_rate(self) noexcept nogil:
        self.eta = INFINITY
        if self.tail[GAP] > 0 and self.n_experts > 1:
            self.eta = log(<double>self.n_experts) / self.tail[GAP]

    cdef void allocate(self) noexcept nogil:
        self.set_rate()
        ExponentialWeights.allocate(self)
        self.everyone = self.total

    cdef double charge(self, const double* losses) noexcept nogil:
        cdef Py_ssize_t k
        cdef double loss = 0.0
        for k in range(self.n_experts):
            if self.shares[k] > 0:
                loss += self.shares[k] / self.total * losses[k]
        return loss

    cdef void lose(self, const double* losses) noexcept nogil:
        cdef double mean = 0.0
        if self.total > 0:
            mean = sl_dot(self.width, &self.shares[0], losses) / self.total
        ExponentialWeights.lose(self, losses)
        self.widen(mean)

    cdef bint play(
        self, const double* losses, const double* values, double* answers
    ) noexcept nogil:
        cdef double sums[4]
        self.set_rate()
        if not self.advance(losses, values, answers, sums):
            return False
        self.everyone = sums[0]
        self.widen(sums[1] / sums[0])
        return True

    cdef void widen(self, double mean) noexcept nogil:
        """Add the mean loss minus the mixed loss to the gap, after losses were added to costs."""
        cdef double mixed = self.tail[LEAST]
        if isfinite(self.eta):
            # The shares of this trial have been used.
            mixed -= log(
                sl_weigh(self.width, self.now, mixed, self.eta, &self.shares[0]) / self.everyone
            ) / self.eta
        self.tail[GAP] += max(0.0, mean - mixed)


cdef class AnytimeWeights(AdaptiveWeights):
    """Exponential weights with the rate ``2 sqrt(ln(n) / t)`` in trial ``t``.

    The entry GAP of the tail counts the trials. An expert that abstains is charged the weighted
    mean of losses, as by AdaHedge.

    Parameters
    ----------
    n_experts : int
        How many experts there are.

    costs, tail : ndarray
        As those of ExponentialWeights.
    """

    cdef void set_rate(self) noexcept nogil:
        self.eta = 2 * sqrt(log(<double>max(self.n_experts, 2)) / (self.tail[GAP] + 1))

    cdef void widen(self, double mean) noexcept nogil:
        self.tail[GAP] += 1


cdef const double* whole(
    const double* values, Py_ssize_t n, Py_ssize_t width, bint abstaining, double[::1] room
) noexcept nogil:
    """Return where a row stands with zeros at its end, and zeros for NaN if some abstain."""
    cdef Py_ssize_t k
    if n == width and not abstaining:
        return values
    memcpy(&room[0], values, n * sizeof(double))
    if abstaining:
        for k in range(n):
            if isnan(room[k]):
                room[k] = 0.0
    return &room[0]


cdef bint answer(
    Weights weights,
    const double* losses,
    const double[:, :, ::1] tables,
    Py_ssize_t row,
    bint votes,
    bint abstaining,
    double[::1] room,
    double[:, ::1] answers,
) noexcept nogil:
    """Answer a trial; return whether the answers are as they should be: no NaN is in the way.

    If some experts are ``abstaining``, their shares are zero and their NaN count for nothing.
    """
    cdef Py_ssize_t k, column, n = weights.n_experts, n_answers = answers.shape[1]
    cdef double code
    cdef const double* values
    for column in range(n_answers):
        answers[row, column] = 0.0
    if votes:
        for k in range(n):
            code = tables[0, row, k]
            if not isnan(code):
                answers[row, <Py_ssize_t>code] += weights.shares[k]
            elif not abstaining:
                return False
    elif tables.shape[0] == 0:
        values = whole(losses, n, weights.width, abstaining, room)
        for k in range(n):
            answers[row, 0] += weights.shares[k] * values[k]
            answers[row, 1] += weights.shares[k] * values[k] * values[k]
    else:
        for column in range(n_answers):
            values = whole(&tables[column, row, 0], n, weights.width, abstaining, room)
            answers[row, column] = sl_dot(weights.width, &weights.shares[0], values)
    for column in range(n_answers):
        answers[row, column] /= weights.total
        if not isfinite(answers[row, column]) and weights.total > 0:
            return False
    return True


def sweep(
    Weights weights,
    const double[:, ::1] losses,
    const double[:, :, ::1] tables,
    bint votes,
    double lowest,
    double[::1] charged,
    double[::1] absent,
    double[:, ::1] answers,
    double[:, ::1] history,
):
    """Play one trial per row.

    Parameters
    ----------
    weights : Weights
        The weights, changed in place.

    losses : ndarray of shape (n_rows, n_experts)
        The losses of the experts; NaN where they abstain.

    tables : ndarray of shape (n_tables, n_rows, n_experts)
        What is averaged, NaN where experts abstain.

    votes : bool
        Whether the only table has classes 0, 1, ..., the weights of which are added up.

    lowest : float
        No loss may be below this.

    charged, absent : ndarray of shape (n_experts,)
        To the first is added what experts are charged while they abstain; to the second, unless it
        is empty, the first answer meanwhile.

    answers : ndarray of shape (n_rows, n_answers)
        The weighted mean of each table is written to it; if there is none, those of the losses
        and of their squares; for votes, the weights of all classes. NaN if all experts abstain.

    history : ndarray of shape (n_rows, n_experts)
        The weights before each trial are written to it, unless it has no rows.

    Returns
    -------
    n_played : int
        The number of trials; less than all if the next row is not finite or too low.
    """
    cdef Py_ssize_t row, k, n = weights.n_experts, played = losses.shape[0]
    cdef double charge
    cdef double[::1] room = np.zeros(weights.width), mine = np.zeros(weights.width)
    cdef bint quick = not votes and tables.shape[0] < 2
    cdef const double* now
    cdef const double* values
    weights.lowest = lowest
    with nogil:
        for row in range(losses.shape[0]):
            now = whole(&losses[row, 0], n, weights.width, False, mine)
            if history.shape[0] > 0:
                weights.allocate()
                for k in range(n):
                    history[row, k] = weights.shares[k] / weights.total
            if quick:
                values = NULL
                if tables.shape[0] > 0:
                    values = whole(&tables[0, row, 0], n, weights.width, False, room)
                if weights.play(now, values, &answers[row, 0]):
                    continue
            if any_below(now, n, lowest):
                played = row
                break
            weights.allocate()
            if not answer(weights, now, tables, row, votes, False, room, answers):
                memcpy(&mine[0], &losses[row, 0], n * sizeof(double))
                now = &mine[0]
                weights.leave_out(now)
                if not answer(weights, now, tables, row, votes, True, room, answers):
                    played = row
                    break
                charge = weights.charge(now)
                for k in range(n):
                    if isnan(mine[k]):
                        mine[k] = charge
                        charged[k] += charge
                        if absent.shape[0] > 0 and weights.total > 0:
                            absent[k] += answers[row, 0]
            weights.lose(now)
        weights.settle()
    return played


cdef bint any_below(const double* values, Py_ssize_t n, double lowest) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if values[k] < lowest:
            return True
    return False


def add_absent(const double[:, ::1] losses, const double[::1] own, double[::1] totals):
    """Add the learner's own losses to the totals of the experts that slept, trial by trial."""
    cdef Py_ssize_t row, k
    with nogil:
        for row in range(losses.shape[0]):
            for k in range(losses.shape[1]):
                if isnan(losses[row, k]):
                    totals[k] += own[row]
