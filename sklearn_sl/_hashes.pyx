"""Hashes of rows of numbers, and random orders that follow from them."""

from libc.math cimport isnan
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

# An odd number whose multiples have bits that look random, 2^64 over the golden ratio.
cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15
# The bits of the one number that stands for all that are none.
cdef uint64_t NOT_A_NUMBER = 0x7FF8000000000000


cdef inline uint64_t _scramble(uint64_t bits) noexcept nogil:
    """Return an integer that depends on all bits of another one: the end of splitmix64."""
    bits = (bits ^ (bits >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    bits = (bits ^ (bits >> 27)) * <uint64_t>0x94D049BB133111EB
    return bits ^ (bits >> 31)


def add_hashes(const double[:, ::1] X, Py_ssize_t first, uint64_t[::1] totals):
    """Add up the hashes of the entries of each row.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers; zeros, of either sign, add nothing.

    first : int
        The number of the first column, on which hashes depend.

    totals : ndarray of shape (n_rows,)
        Changed in place.
    """
    cdef Py_ssize_t row, column, n_columns = X.shape[1]
    cdef uint64_t bits, total, step = GOLDEN
    cdef uint64_t* keys = <uint64_t*>malloc(max(n_columns, 1) * sizeof(uint64_t))
    cdef double value
    if keys == NULL:
        raise MemoryError("There is no memory for the hashes of the columns.")
    with nogil:
        for column in range(n_columns):
            keys[column] = _scramble(<uint64_t>(first + column + 1) * step)
        for row in range(X.shape[0]):
            total = 0
            for column in range(n_columns):
                value = X[row, column]
                memcpy(&bits, &value, sizeof(double))
                bits = NOT_A_NUMBER if isnan(value) else bits
                # No branches: where the zeros are cannot be foreseen.
                total += _scramble(bits ^ keys[column]) * (value != 0)
            totals[row] += total
    free(keys)


def random_order(
    const uint64_t[::1] keys,
    uint64_t seed,
    uint64_t number,
    uint64_t[:, ::1] room,
    Py_ssize_t[::1] order,
):
    """Write an order of keys that looks random and follows from the keys alone.

    The keys, scrambled once more, are sorted: first into buckets, a few for each key, so that
    hardly any has to move afterwards.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Hashes.

    seed, number : int
        Which of many orders it is.

    room : ndarray of shape (6, n)
        Overwritten.

    order : ndarray of shape (n,)
        The places of the keys are written here.

    Returns
    -------
    distinct : bool
        Whether no two keys are equal.
    """
    cdef Py_ssize_t n = keys.shape[0], n_buckets = 2, k, place
    cdef uint64_t salt = _scramble((seed << 32) + number), key
    cdef uint64_t* scrambled = &room[0, 0]
    cdef uint64_t* values = &room[1, 0]
    cdef uint64_t* ends = &room[2, 0]
    cdef int shift = 63
    cdef bint distinct
    with nogil:
        while n_buckets <= 2 * n:
            n_buckets, shift = 2 * n_buckets, shift - 1
        memset(ends, 0, n_buckets * sizeof(uint64_t))
        for k in range(n):
            scrambled[k] = _scramble(keys[k] + salt)
            ends[scrambled[k] >> shift] += 1
        for k in range(1, n_buckets):
            ends[k] += ends[k - 1]
        for k in range(n - 1, -1, -1):
            key = scrambled[k]
            ends[key >> shift] -= 1
            place = <Py_ssize_t>ends[key >> shift]
            values[place], order[place] = key, k
        distinct = _sort_nearly_sorted(values, &order[0], n)
    return distinct


cdef bint _sort_nearly_sorted(uint64_t* values, Py_ssize_t* order, Py_ssize_t n) noexcept nogil:
    """Sort by insertion, stably; return whether no two values are equal."""
    cdef Py_ssize_t k, place, row
    cdef uint64_t value
    cdef bint distinct = True
    for k in range(1, n):
        value, row, place = values[k], order[k], k
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            order[place] = order[place - 1]
            place -= 1
        values[place] = value
        order[place] = row
        if place > 0 and values[place - 1] == value:
            distinct = False
    return distinct
