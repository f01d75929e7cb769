"""The arithmetic of a round of boosting on samples that count by their masses."""

from libc.stdint cimport int8_t, int32_t, uint8_t

# Adding and subtracting it rounds numbers below 2**51 to integers, half to even.
cdef double ROUND = 6755399441055744.0  # 1.5 * 2**52


def weight_of(const double[::1] mass, const uint8_t[::1] chosen):
    """Return the sum of the masses that a mask chooses."""
    cdef Py_ssize_t i, n = mass.shape[0], even = n - n % 4
    cdef double a = 0, b = 0, c = 0, d = 0
    with nogil:
        for i in range(0, even, 4):
            a += mass[i] * chosen[i]
            b += mass[i + 1] * chosen[i + 1]
            c += mass[i + 2] * chosen[i + 2]
            d += mass[i + 3] * chosen[i + 3]
        for i in range(even, n):
            a += mass[i] * chosen[i]
    return (a + b) + (c + d)


def set_mass(
    const double[::1] factor, const double[::1] own, double units, double fewest, double[::1] mass
):
    """Write ``own * factor``, rounded to units and at least ``fewest`` of them; return the sum.

    The factor is rounded by itself, so that integers ``own`` are repetitions. An empty ``own`` is
    one for all.
    """
    cdef Py_ssize_t i, n = factor.shape[0]
    cdef bint weighted = own.shape[0] > 0
    cdef double amount, total = 0
    with nogil:
        for i in range(n):
            amount = factor[i] * units + ROUND - ROUND
            if weighted:
                amount = amount * own[i] + ROUND - ROUND
            amount = amount if amount > fewest else fewest
            total += amount
            mass[i] = amount / units
    return total / units


def multiply_where(
    double[::1] factor, const uint8_t[::1] chosen, double high, double low, double least
):
    """Multiply factors by ``high`` where a mask says so, else by ``low``; at least ``least``."""
    cdef Py_ssize_t i
    cdef double value
    with nogil:
        for i in range(factor.shape[0]):
            value = factor[i] * (high if chosen[i] else low)
            factor[i] = value if value > least else least


def vote(double[::1] table, const int8_t[::1] codes, double strength):
    """Add the strength of a vote for the second class, or subtract it for the first."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(table.shape[0]):
            table[i] += strength if codes[i] else -strength


def vote_among(double[:, ::1] table, const int32_t[::1] codes, double strength, int32_t[::1] first):
    """Add a strength above zero to the class that is voted for; ``first`` have the most votes.

    Of classes with equal votes the first one is.
    """
    cdef Py_ssize_t i
    cdef int32_t chosen
    cdef double votes, most
    with nogil:
        for i in range(table.shape[0]):
            chosen = codes[i]
            table[i, chosen] += strength
            votes, most = table[i, chosen], table[i, first[i]]
            if votes > most or (votes == most and chosen < first[i]):
                first[i] = chosen
