"""Cells of sorted columns, and the loops over them.

A cell is ``rank << 32 | i``: the rank of a value in its column, and a row. Missing values have the
highest rank, ``MISSING``.
"""

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

MISSING = 0xFFFFFFFF

cdef enum:
    # So many cells are sorted by insertion.
    FEW = 40
    # So many cells tell whether the least value is frequent.
    SAMPLE = 16

ctypedef fused Rank:
    uint16_t
    uint32_t

# The side of a row is the highest bit of its new place.
cdef uint32_t RIGHT = 0x80000000

node_dtype = np.dtype([
    ("start", "i8"), ("stop", "i8"), ("depth", "i8"), ("weight", "f8"), ("impurity", "f8"),
    ("lower", "f8"), ("upper", "f8"), ("excess", "f8"), ("seed", "u8"),
])
split_dtype = np.dtype([
    ("node", "i8"), ("left", "i8"), ("right", "i8"), ("feature", "i8"), ("n_first", "i8"),
    ("threshold", "f8"), ("gain", "f8"), ("middle", "f8"), ("subset", "i8"), ("missing_left", "u1"),
    ("open_left", "u1"), ("open_right", "u1"), ("reserved", "u1", 5),
])
rival_dtype = np.dtype([
    ("node", "i8"), ("feature", "i8"), ("threshold", "f8"), ("gain", "f8"), ("adjusted", "f8"),
    ("subset", "i8"), ("flipped", "u1"), ("reserved", "u1", 7),
])


def rank_cells(
    const int64_t[:, ::1] order, const double[:, ::1] columns, uint64_t[:, ::1] cells
):
    """Write the cells of columns, a line each, that ``order`` sorts, missing values last."""
    cdef Py_ssize_t c, i, n = order.shape[1]
    cdef uint64_t rank
    cdef double value, previous
    with nogil:
        for c in range(order.shape[0]):
            rank, previous = 0, 0
            for i in range(n):
                value = columns[c, order[c, i]]
                if isnan(value):
                    cells[c, i] = <uint64_t> 0xFFFFFFFF << 32 | <uint64_t> order[c, i]
                    continue
                if i > 0 and value != previous:
                    rank += 1
                previous = value
                cells[c, i] = rank << 32 | <uint64_t> order[c, i]


def rows_of_ranks(const uint64_t[:, ::1] cells, Rank[:, ::1] ranks):
    """Write the ranks of the rows of columns, a line each, from their cells."""
    cdef Py_ssize_t c, i
    with nogil:
        for c in range(cells.shape[0]):
            for i in range(cells.shape[1]):
                ranks[c, <uint32_t> cells[c, i]] = <Rank> (cells[c, i] >> 32)


def select_cells(const uint64_t[::1] cells, const int32_t[::1] place, uint64_t[::1] selected):
    """Write the cells of some rows: row ``i`` becomes ``place[i]``, or goes if that is negative."""
    cdef Py_ssize_t i, n = cells.shape[0], count = 0, wanted = selected.shape[0]
    cdef int32_t here
    with nogil:
        for i in range(n):
            if count == wanted:
                break
            # Written in any case, and kept if it counts: nobody can predict which rows do.
            here = place[<uint32_t> cells[i]]
            selected[count] = (cells[i] >> 32) << 32 | <uint32_t> here
            count += here >= 0
    return count


cdef Found scan_counts(
    const uint64_t* cells, const double* amount, double left, double total, Py_ssize_t n_left,
    Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Find the cell in [first, last) after which a split of ``n`` rows of weight one is best.

    With ``L`` of ``n`` rows, whose amounts sum to ``s``, on the left, the score is
    ``(s (n - L) - (total - s) L)**2 / (L (n - L))``, which is the same if left and right change
    places, to the last bit. ``n_left`` rows of sum ``left`` are there to begin with.
    """
    cdef Found found
    cdef Py_ssize_t i
    cdef double all_rows = <double> n, count, rest, deviation, product, score, hurdle = 0
    found.score, found.middle, found.where = -1.0, 0.0, -1
    for i in range(first):
        left += amount[<uint32_t> cells[i]]
    for i in range(first, last):
        left += amount[<uint32_t> cells[i]]
        if (cells[i] ^ cells[i + 1]) >> 32 == 0:
            continue
        count = <double> (n_left + i + 1)
        rest = all_rows - count
        deviation = left * rest - (total - left) * count
        deviation *= deviation
        product = count * rest
        # The division is exact in ties, and needed only where there may be a new best.
        if deviation >= hurdle * product:
            score = deviation / product
            if score > found.score:
                found.score, found.where = score, i
                hurdle = score * (1 - 1e-14)
    return found


cdef Found scan_masses(
    const uint64_t* cells, const double* amount, const double* mass, double left, double total,
    double left_mass, double all_mass, double least_mass, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Find the best split like ``_scan_counts``, where rows count by their mass."""
    cdef Found found
    cdef Py_ssize_t i
    cdef uint32_t row
    cdef double rest, deviation, product, score, hurdle = 0
    found.score, found.middle, found.where = -1.0, 0.0, -1
    for i in range(first):
        row = <uint32_t> cells[i]
        left += amount[row]
        left_mass += mass[row]
    for i in range(first, last):
        row = <uint32_t> cells[i]
        left += amount[row]
        left_mass += mass[row]
        if (cells[i] ^ cells[i + 1]) >> 32 == 0:
            continue
        if left_mass < least_mass or all_mass - left_mass < least_mass:
            continue
        rest = all_mass - left_mass
        product = left_mass * rest
        if product <= 0:
            continue
        deviation = left * rest - (total - left) * left_mass
        deviation *= deviation
        if deviation >= hurdle * product:
            score = deviation / product
            if score > found.score:
                found.score, found.where = score, i
                hurdle = score * (1 - 1e-14)
    return found


cdef Found scan_classes(
    const uint64_t* cells, const int32_t* channel, const double* mass, const double* logs,
    double* left, const double* total, Py_ssize_t n_channels, double left_mass, double all_mass,
    double least_mass, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil:
    """Find the best split like ``scan_counts`` for classes whose masses are integers.

    With the masses ``l`` and ``r`` of the classes on the left and right, and their sums ``L`` and
    ``R``, the score is ``sum l**2 / L + sum r**2 / R``; or with a table ``logs`` of ``x log x``,
    ``sum l log l + sum r log r - L log L - R log R``. ``mass`` is NULL if all rows have mass one.
    """
    cdef Found found
    cdef Py_ssize_t i, c
    cdef uint32_t row
    cdef double w = 1, rest, score, squares_left = 0, squares_right = 0
    found.score, found.middle, found.where = -INFINITY, 0.0, -1
    for c in range(n_channels):
        squares_left += left[c] * left[c]
        squares_right += (total[c] - left[c]) * (total[c] - left[c])
    for i in range(last):
        row = <uint32_t> cells[i]
        c = channel[row]
        if mass:
            w = mass[row]
        squares_left += w * (2 * left[c] + w)
        squares_right -= w * (2 * (total[c] - left[c]) - w)
        left[c] += w
        left_mass += w
        rest = all_mass - left_mass
        if i < first or (cells[i] ^ cells[i + 1]) >> 32 == 0:
            continue
        if left_mass < least_mass or rest < least_mass or left_mass <= 0 or rest <= 0:
            continue
        if logs:
            score = -(logs[<Py_ssize_t> left_mass] + logs[<Py_ssize_t> rest])
            for c in range(n_channels):
                score += logs[<Py_ssize_t> left[c]] + logs[<Py_ssize_t> (total[c] - left[c])]
        else:
            score = (squares_left * rest + squares_right * left_mass) / (left_mass * rest)
        if score > found.score:
            found.score, found.where = score, i
    return found


cdef void sort_cells(
    uint64_t* cells, uint64_t* spare, Py_ssize_t n, uint32_t highest
) noexcept nogil:
    """Sort cells by their ranks, which are at most ``highest``; equal ones keep their order."""
    cdef Py_ssize_t i, n_first = 0, n_others = 0, n_least = 0
    cdef uint64_t least = cells[0] >> 32 if n else 0
    cdef uint64_t bound
    cdef Py_ssize_t comes_first
    cdef bint is_sorted = True
    if n <= FEW:
        sort_few(cells, n)
        return
    for i in range(SAMPLE):
        least = min(least, cells[i * n // SAMPLE] >> 32)
    for i in range(SAMPLE):
        n_least += cells[i * n // SAMPLE] >> 32 == least
    if 4 * n_least < SAMPLE:
        sort_by_bytes(cells, spare, n, 0, highest)
        return
    # Many seem to have the least value, as zeros are among counts: these are in order already.
    bound = least + 1 << 32
    for i in range(n):
        comes_first = cells[i] < bound
        is_sorted &= cells[i] >> 32 >= least
        spare[n_others] = cells[i]
        cells[n_first] = cells[i]
        n_first += comes_first
        n_others += 1 - comes_first
    memcpy(cells + n_first, spare, n_others * sizeof(uint64_t))
    if not is_sorted:
        sort_by_bytes(cells, spare, n_first, 0, least)
    if n_others <= FEW:
        sort_few(cells + n_first, n_others)
    else:
        sort_by_bytes(cells + n_first, spare, n_others, least, highest)


cdef void sort_few(uint64_t* cells, Py_ssize_t n) noexcept nogil:
    """Sort cells by insertion."""
    cdef Py_ssize_t i, j
    cdef uint64_t cell
    for i in range(1, n):
        cell, j = cells[i], i
        while j > 0 and cells[j - 1] >> 32 > cell >> 32:
            cells[j] = cells[j - 1]
            j -= 1
        cells[j] = cell


cdef void sort_by_bytes(
    uint64_t* cells, uint64_t* spare, Py_ssize_t n, uint64_t least, uint64_t highest
) noexcept nogil:
    """Sort cells, a byte of the rank above the least one at a time, the lowest byte first."""
    cdef Py_ssize_t i, j, begin
    cdef uint32_t count
    cdef uint32_t places[256]
    cdef int shift = 32
    cdef uint64_t span = highest - least
    cdef uint64_t* source = cells
    cdef uint64_t* target = spare
    least <<= 32
    while span:
        memset(places, 0, sizeof(places))
        for i in range(n):
            places[source[i] - least >> shift & 255] += 1
        begin = 0
        for i in range(min(span, 255) + 1):
            count = places[i]
            places[i] = begin
            begin += count
        for i in range(n):
            j = source[i] - least >> shift & 255
            target[places[j]] = source[i]
            places[j] += 1
        source, target = target, source
        shift += 8
        span >>= 8
    if source != cells:
        memcpy(cells, source, n * sizeof(uint64_t))


cdef void partition_cells(
    uint64_t* cells, Py_ssize_t n, const uint32_t* fate, uint64_t* scratch, bint keep_left,
    bint keep_right,
) noexcept nogil:
    """Move the cells of the left child to the front, in order; ``fate`` tells the new rows.

    The cells of a child that nobody keeps are lost.
    """
    cdef Py_ssize_t i, n_left = 0, n_right = 0
    cdef uint32_t row
    cdef uint64_t cell
    cdef Py_ssize_t goes_right
    if not keep_right:
        for i in range(n):
            row = fate[<uint32_t> cells[i]]
            cells[n_left] = (cells[i] >> 32) << 32 | row
            n_left += 1 - <Py_ssize_t> (row >> 31)
        return
    for i in range(n):
        row = fate[<uint32_t> cells[i]]
        cell = (cells[i] >> 32) << 32 | (row & ~RIGHT)
        goes_right = <Py_ssize_t> (row >> 31)
        cells[n_left] = cell
        scratch[n_right] = cell
        n_left += 1 - goes_right
        n_right += goes_right
    memcpy(cells + n_left, scratch, n_right * sizeof(uint64_t))


cdef uint8_t side_of_category(const int32_t* subset, int32_t code) noexcept nogil:
    """Return 1 if a category goes left, 0 if it goes right, and 2 if the subset lacks it."""
    cdef Py_ssize_t low = 1, high = subset[0] + 1, middle
    while low < high:
        middle = (low + high) // 2
        if subset[middle] >> 1 < code:
            low = middle + 1
        else:
            high = middle
    if low <= subset[0] and subset[low] >> 1 == code:
        return subset[low] & 1
    return 2
