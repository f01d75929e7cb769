"""The best stump, under weights that change from round to round.

The columns are sorted once. A stump sends the first ``k`` cells of a column left; with the mass
``p`` of the second of two classes and ``q`` of the first among them it has a score that is convex
in ``(p, q)``: the decrease of the Gini impurity, or the decrease of the weighted error. Along a
column both masses only grow, so that within a block of cells no score exceeds the largest one at
the corners of the rectangle between the masses before and after the block. A round sums up the
blocks, one addition per cell, and looks at single cells only in blocks whose corners promise
enough. More than two classes are searched cell by cell.

Masses are integers below 2**52, stored as float64, so that all sums are exact in any order.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t

import numpy as np

cdef enum:
    # Cells that are summed up together.
    BLOCK = 128

cdef double EPSILON = 2.0**-52
# Corners are compared with a hurdle that rounding errors cannot raise above the best score.
cdef double SLACK = 1 - 1e-12

stump_dtype = np.dtype([
    ("score", "f8"), ("first_left", "f8"), ("second_left", "f8"), ("feature", "i8"),
    ("n_left", "i8"),
])


cdef packed struct Stump:
    double score
    double first_left
    double second_left
    int64_t feature
    int64_t n_left


cdef struct Totals:
    double first
    double second
    bint by_error


cdef inline double promise(Totals* total, double p, double q, double hurdle) noexcept nogil:
    """Return a positive number if the score at (p, q) reaches the hurdle."""
    cdef double left, rest, deviation
    if total.by_error:
        return score(total, p, q) - hurdle * SLACK
    left = p + q
    rest = total.first + total.second - left
    deviation = p * rest - (total.second - p) * left
    return deviation * deviation - hurdle * SLACK * (left * rest)


cdef inline double score(Totals* total, double p, double q) noexcept nogil:
    """Return the score of a stump with these masses on the left; zero if a side is empty.

    By the Gini impurity it is the expression of the trees, so that ties are the same.
    """
    cdef double left, rest, deviation
    if total.by_error:
        return fabs(p - q) + fabs((total.second - p) - (total.first - q))
    left = p + q
    rest = total.first + total.second - left
    if left <= 0 or rest <= 0:
        return 0
    deviation = p * rest - (total.second - p) * left
    return deviation * deviation / (left * rest)


cdef class Stumps:
    """Columns of cells ``rank << 32 | row``, without missing values, to be searched for stumps."""

    cdef const uint64_t[:, ::1] cells
    cdef const uint32_t[:, ::1] rows
    cdef readonly Py_ssize_t n_features, n_rows, n_blocks
    # the masses of the two classes before each block
    cdef double[:, :, ::1] before

    def __init__(self, cells):
        self.cells = cells
        self.rows = cells.astype(np.uint32)  # the low half
        self.n_features, self.n_rows = cells.shape
        self.n_blocks = (self.n_rows + BLOCK - 1) // BLOCK
        self.before = np.zeros((self.n_features, self.n_blocks + 1, 2))

    def search(
        self, const double[::1] signed_mass, double first, double second, bint by_error,
        Py_ssize_t begin, Py_ssize_t end, Stump[::1] found,
    ):
        """Find the best stump by the features [begin, end), the first one among equals.

        ``signed_mass`` is positive for rows of the second class, negative for the first; ``first``
        and ``second`` are the sums of both. A stump that is no better than the ``found`` one is
        not looked for.
        """
        cdef Totals total
        cdef Py_ssize_t feature
        cdef double hurdle
        total.first, total.second, total.by_error = first, second, by_error
        with nogil:
            hurdle = found[0].score
            for feature in range(begin, end):
                self._sum_blocks(feature, &signed_mass[0])
                hurdle = self._raise_hurdle(feature, &total, hurdle)
            for feature in range(begin, end):
                self._search_feature(feature, &signed_mass[0], &total, hurdle, &found[0])

    cdef void _sum_blocks(self, Py_ssize_t feature, const double* mass) noexcept nogil:
        """Write the masses of the classes before each block."""
        cdef Py_ssize_t block, i, stop
        cdef const uint32_t* rows = &self.rows[feature, 0]
        cdef double* before = &self.before[feature, 0, 0]
        cdef double a, b, c, d, difference, total, p = 0, q = 0
        cdef double sums[4]
        cdef double sizes[4]
        before[0], before[1] = 0, 0
        for block in range(self.n_blocks):
            for i in range(4):
                sums[i], sizes[i] = 0, 0
            i, stop = block * BLOCK, min((block + 1) * BLOCK, self.n_rows)
            while i + 4 <= stop:
                a, b, c, d = mass[rows[i]], mass[rows[i + 1]], mass[rows[i + 2]], mass[rows[i + 3]]
                sums[0] += a
                sums[1] += b
                sums[2] += c
                sums[3] += d
                sizes[0] += fabs(a)
                sizes[1] += fabs(b)
                sizes[2] += fabs(c)
                sizes[3] += fabs(d)
                i += 4
            while i < stop:
                sums[0] += mass[rows[i]]
                sizes[0] += fabs(mass[rows[i]])
                i += 1
            difference = (sums[0] + sums[1]) + (sums[2] + sums[3])
            total = (sizes[0] + sizes[1]) + (sizes[2] + sizes[3])
            p += (total + difference) / 2
            q += (total - difference) / 2
            before[2 * block + 2], before[2 * block + 3] = p, q

    cdef double _raise_hurdle(
        self, Py_ssize_t feature, Totals* total, double hurdle
    ) noexcept nogil:
        """Return the best score between blocks, where a stump may divide, or the old hurdle."""
        cdef Py_ssize_t block, last
        cdef const uint64_t* cells = &self.cells[feature, 0]
        cdef double here
        for block in range(1, self.n_blocks):
            last = block * BLOCK - 1
            if (cells[last] ^ cells[last + 1]) >> 32:
                here = score(total, self.before[feature, block, 0], self.before[feature, block, 1])
                hurdle = max(hurdle, here)
        return hurdle

    cdef void _search_feature(
        self, Py_ssize_t feature, const double* mass, Totals* total, double hurdle, Stump* found
    ) noexcept nogil:
        cdef Py_ssize_t block
        cdef double p, q, p_after, q_after
        for block in range(self.n_blocks):
            p, q = self.before[feature, block, 0], self.before[feature, block, 1]
            p_after = self.before[feature, block + 1, 0]
            q_after = self.before[feature, block + 1, 1]
            hurdle = max(hurdle, found.score)
            if (
                promise(total, p, q_after, hurdle) >= 0
                or promise(total, p_after, q, hurdle) >= 0
                or promise(total, p, q, hurdle) >= 0
                or promise(total, p_after, q_after, hurdle) >= 0
            ):
                self._search_block(feature, block, mass, total, found)

    cdef void _search_block(
        self, Py_ssize_t feature, Py_ssize_t block, const double* mass, Totals* total,
        Stump* found,
    ) noexcept nogil:
        cdef const uint64_t* cells = &self.cells[feature, 0]
        cdef Py_ssize_t i
        cdef double p = self.before[feature, block, 0], q = self.before[feature, block, 1]
        cdef double own, here
        for i in range(block * BLOCK, min((block + 1) * BLOCK, self.n_rows - 1)):
            own = mass[<uint32_t> cells[i]]
            if own > 0:
                p += own
            else:
                q -= own
            if (cells[i] ^ cells[i + 1]) >> 32 == 0:
                continue
            here = score(total, p, q)
            if here > found.score:
                found.score, found.feature, found.n_left = here, feature, i + 1
                found.first_left, found.second_left = q, p

    def sides(
        self, Py_ssize_t feature, Py_ssize_t n_left, int8_t left, int8_t right, int8_t[::1] out
    ):
        """Write ``left`` for the rows of the first ``n_left`` cells, ``right`` for the others."""
        cdef Py_ssize_t i
        cdef const uint32_t* rows = &self.rows[feature, 0]
        with nogil:
            for i in range(n_left):
                out[rows[i]] = left
            for i in range(n_left, self.n_rows):
                out[rows[i]] = right


def search_classes_by_error(
    const uint64_t[:, ::1] cells, const int32_t[::1] codes, const double[::1] mass,
    const double[::1] totals, Py_ssize_t begin, Py_ssize_t end, double[::1] left, Stump[::1] found,
):
    """Find the stump of any number of classes that gets the largest mass right.

    Each side predicts its heaviest class. ``totals`` are the masses of the classes and ``left`` has
    room for them. A stump that is no better than the ``found`` one is not looked for.
    """
    cdef Py_ssize_t feature, i, k, of_left, of_right
    cdef Py_ssize_t n = cells.shape[1], n_classes = totals.shape[0]
    cdef double here
    cdef uint32_t row
    with nogil:
        for feature in range(begin, end):
            for k in range(n_classes):
                left[k] = 0
            for i in range(n - 1):
                row = <uint32_t> cells[feature, i]
                left[codes[row]] += mass[row]
                if (cells[feature, i] ^ cells[feature, i + 1]) >> 32 == 0:
                    continue
                of_left, of_right = 0, 0
                for k in range(1, n_classes):
                    if left[k] > left[of_left]:
                        of_left = k
                    if totals[k] - left[k] > totals[of_right] - left[of_right]:
                        of_right = k
                here = left[of_left] + totals[of_right] - left[of_right]
                if here > found[0].score:
                    found[0].score, found[0].feature, found[0].n_left = here, feature, i + 1


def search_classes_by_gini(
    const uint64_t[:, ::1] cells, const int32_t[::1] codes, const double[::1] mass,
    const double[::1] totals, Py_ssize_t begin, Py_ssize_t end, double[::1] left, Stump[::1] found,
):
    """Find the stump of any number of classes that decreases the Gini impurity most.

    With the masses ``l`` of the classes on the left, ``t`` of all rows, ``p = sum l`` and ``m = sum
    t`` the decrease is ``|m l - p t|^2 / (p (m - p) m)``. A cell changes one of the ``l``, so that
    ``|l|^2`` and ``l.t`` are brought up to date by an addition each; rounding errors add up, and
    where these leave it open whether a stump is the best one, it is looked at class by class.
    Arguments are those of :func:`search_classes_by_error`.
    """
    cdef Py_ssize_t feature, i, k, n = cells.shape[1], n_classes = totals.shape[0]
    cdef double all_mass = 0, squares = 0, here, own, before, p, ll, lt, positive, negative
    cdef double error = 8 * n * EPSILON
    cdef uint32_t row
    with nogil:
        for k in range(n_classes):
            all_mass += totals[k]
            squares += totals[k] * totals[k]
        for feature in range(begin, end):
            p, ll, lt = 0, 0, 0
            for k in range(n_classes):
                left[k] = 0
            for i in range(n - 1):
                row = <uint32_t> cells[feature, i]
                k, own = codes[row], mass[row]
                before = left[k]
                left[k] = before + own
                p += own
                ll += own * (2 * before + own)
                lt += own * totals[k]
                if (cells[feature, i] ^ cells[feature, i + 1]) >> 32 == 0:
                    continue
                positive = all_mass * all_mass * ll + p * p * squares
                negative = 2 * all_mass * p * lt
                if (
                    positive - negative + error * (positive + negative)
                    < found[0].score * (p * (all_mass - p) * all_mass)
                ):
                    continue
                here = gini_decrease(&left[0], &totals[0], n_classes, p, all_mass)
                if here > found[0].score:
                    found[0].score, found[0].feature, found[0].n_left = here, feature, i + 1


cdef double gini_decrease(
    const double* left, const double* totals, Py_ssize_t n_classes, double p, double all_mass
) noexcept nogil:
    """Return the decrease of the impurity by the expression of the trees: ties are the same."""
    cdef double rest = all_mass - p, gain = 0, deviation
    cdef Py_ssize_t k
    for k in range(n_classes):
        deviation = left[k] * rest - (totals[k] - left[k]) * p
        gain += deviation * deviation
    return gain / (p * rest) / all_mass
