"""Compiled loops of the string kernels: gap-weighted subsequences, mismatching windows."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

cdef extern from *:
    """
    #include "_dispatch.h"

    /* Vectors of 2 and 4 doubles, for instruction sets without vectors of 8. Where the compiler
       has no vectors all three are one double, and the loops below are right all the same. */
    #if defined(__GNUC__)
    typedef double sl_two SL_VECTOR(double, 16);
    typedef double sl_four SL_VECTOR(double, 32);
    #define SL_INLINE inline __attribute__((always_inline))
    #define SL_WHERE_EQUAL(a, b, value) \\
        ((__typeof__(value))(((a) == (b)) & (__typeof__((a) == (b)))(value)))
    #else
    typedef double sl_two, sl_four;
    #define SL_INLINE inline
    #define SL_WHERE_EQUAL(a, b, value) ((a) == (b) ? (value) : 0.0)
    #endif

    /* Move both windows one letter on: a letter leaves the distance, another enters. */
    #define SL_DEFINE_SLIDE(NAME, TARGET) \\
    TARGET static void NAME(int32_t first_s, int32_t last_s, const int32_t *t, \\
                            ptrdiff_t windows, ptrdiff_t k, const int32_t *before, \\
                            int32_t *after) { \\
        for (ptrdiff_t j = 1; j < windows; j++) \\
            after[j] = before[j - 1] - (first_s != t[j - 1]) + (last_s != t[j + k - 1]); \\
    }

    /* Count how often each distance below `levels` occurs. */
    #define SL_DEFINE_COUNT(NAME, TARGET) \\
    TARGET static void NAME(const int32_t *distance, ptrdiff_t windows, ptrdiff_t levels, \\
                            int64_t *histogram) { \\
        for (ptrdiff_t d = 0; d < levels; d++) { \\
            int32_t found = 0, value = (int32_t)d; \\
            for (ptrdiff_t j = 0; j < windows; j++) found += distance[j] == value; \\
            histogram[d] += found; \\
        } \\
    }

    #define SL_DEFINE_WINDOWS(SUFFIX, TARGET) \\
    SL_DEFINE_SLIDE(sl_slide##SUFFIX, TARGET) SL_DEFINE_COUNT(sl_count##SUFFIX, TARGET)
    SL_FOR_EACH_SET(SL_DEFINE_WINDOWS)
    #define sl_slide SL_BEST(sl_slide)
    #define sl_count SL_BEST(sl_count)
    """
    ctypedef void inlined "SL_INLINE void"
    ctypedef void for_avx2 "SL_AVX2 void"
    ctypedef void for_avx512 "SL_AVX512 void"
    int sl_level() noexcept nogil
    void sl_slide(
        int32_t first_s, int32_t last_s, const int32_t *t, Py_ssize_t windows, Py_ssize_t k,
        const int32_t *before, int32_t *after) noexcept nogil
    void sl_count(
        const int32_t *distance, Py_ssize_t windows, Py_ssize_t levels, int64_t *histogram
    ) noexcept nogil
    # Vectors of doubles, all three. Cython tells the members of a fused type apart by
    # their base type alone, and that is all that it uses float, double, long double for.
    ctypedef float two "sl_two"
    ctypedef double four "sl_four"
    ctypedef long double eight "sl_doubles"
    # A macro for each of these types.
    double where_equal "SL_WHERE_EQUAL" (double a, double b, double value) noexcept nogil

cdef enum:
    WIDTH = 8
    UNROLLED = 4

# How many strings are compared at once, side by side.
LANES = WIDTH

ctypedef fused vector:
    two
    four
    eight

ctypedef void (*Step)(
    bint, Py_ssize_t, const double *, const double *, Py_ssize_t, double, double *, double *,
    double *
) noexcept nogil


cdef inlined _two_rows(
    const Py_ssize_t levels, const vector *letters, const vector *right, Py_ssize_t length,
    double decay, vector *state, vector *total, vector *run_a, vector *corner_a, vector *run_b,
    vector *corner_b,
) noexcept nogil:
    """Carry ``state``, the last row of ``DP_k / decay**(2k)`` for k = 1..levels, two rows on.

    The first row has the letter ``a``, the second ``b``; a lane is a string. Two
    rows at once, because the sum ``run`` along a row is a chain of dependent
    operations, and a second chain fills its gaps.
    """
    cdef Py_ssize_t j, k, parts = WIDTH * sizeof(double) // sizeof(vector)
    cdef vector a = letters[0], b = letters[parts]
    cdef vector zero = a - a
    cdef vector one = zero + 1.0
    cdef vector found = zero
    cdef vector column, match_a, match_b, above, middle
    for k in range(levels):
        run_a[k] = corner_a[k] = run_b[k] = corner_b[k] = zero
    for j in range(length):
        column = right[j * parts]
        match_a = where_equal(column, a, one)
        match_b = where_equal(column, b, one)
        for k in range(levels):
            above = state[(j * levels + k) * parts]
            run_a[k] = decay * run_a[k] + match_a
            match_a = where_equal(column, a, corner_a[k])
            corner_a[k] = above
            middle = decay * above + run_a[k]
            run_b[k] = decay * run_b[k] + match_b
            match_b = where_equal(column, b, corner_b[k])
            corner_b[k] = middle
            state[(j * levels + k) * parts] = decay * middle + run_b[k]
        found = found + (match_a + match_b)
    total[0] = total[0] + found


cdef inlined _row_with_slope(
    const Py_ssize_t levels, const vector *letters, const vector *right, Py_ssize_t length,
    double decay, vector *state, vector *total, vector *run, vector *corner, vector *run_slope,
    vector *corner_slope,
) noexcept nogil:
    """Carry ``state``, and its derivative with respect to ``log(decay)``, one row on.

    Each number of ``state`` and ``total`` is followed by its derivative.
    """
    cdef Py_ssize_t j, k, here, parts = WIDTH * sizeof(double) // sizeof(vector)
    cdef vector letter = letters[0]
    cdef vector zero = letter - letter
    cdef vector one = zero + 1.0
    cdef vector found = zero, found_slope = zero
    cdef vector column, match, match_slope, above, above_slope
    for k in range(levels):
        run[k] = corner[k] = run_slope[k] = corner_slope[k] = zero
    for j in range(length):
        column = right[j * parts]
        match = where_equal(column, letter, one)
        match_slope = zero
        for k in range(levels):
            here = 2 * (j * levels + k) * parts
            above = state[here]
            above_slope = state[here + parts]
            run_slope[k] = decay * (run[k] + run_slope[k]) + match_slope
            run[k] = decay * run[k] + match
            match = where_equal(column, letter, corner[k])
            match_slope = where_equal(column, letter, corner_slope[k])
            corner[k] = above
            corner_slope[k] = above_slope
            state[here] = decay * above + run[k]
            state[here + parts] = decay * (above + above_slope) + run_slope[k]
        found = found + match
        found_slope = found_slope + match_slope
    total[0] = total[0] + found
    total[parts] = total[parts] + found_slope


cdef inlined _rows(
    bint slope, const Py_ssize_t levels, const vector *letters, const vector *right,
    Py_ssize_t length, double decay, vector *state, vector *total, vector *first,
    vector *second, vector *third, vector *fourth,
) noexcept nogil:
    cdef Py_ssize_t parts = WIDTH * sizeof(double) // sizeof(vector)
    if slope:
        _row_with_slope[vector](levels, letters, right, length, decay, state, total, first,
                                second, third, fourth)
        _row_with_slope[vector](levels, letters + parts, right, length, decay, state, total,
                                first, second, third, fourth)
    else:
        _two_rows[vector](levels, letters, right, length, decay, state, total, first, second,
                          third, fourth)


cdef inlined _step_of(
    bint slope, Py_ssize_t levels, const vector *letters, const vector *right,
    Py_ssize_t length, double decay, vector *state, vector *total, vector *scratch,
) noexcept nogil:
    """Carry ``state`` two rows on, one part of the lanes after the other.

    A constant ``levels`` keeps the sums along a row in registers.
    """
    cdef Py_ssize_t part, parts = WIDTH * sizeof(double) // sizeof(vector)
    cdef vector w[UNROLLED]
    cdef vector x[UNROLLED]
    cdef vector y[UNROLLED]
    cdef vector z[UNROLLED]
    for part in range(parts):
        if levels == 1:
            _rows[vector](slope, 1, letters + part, right + part, length, decay, state + part,
                          total + part, w, x, y, z)
        elif levels == 2:
            _rows[vector](slope, 2, letters + part, right + part, length, decay, state + part,
                          total + part, w, x, y, z)
        elif levels == 3:
            _rows[vector](slope, 3, letters + part, right + part, length, decay, state + part,
                          total + part, w, x, y, z)
        elif levels == 4:
            _rows[vector](slope, 4, letters + part, right + part, length, decay, state + part,
                          total + part, w, x, y, z)
        else:
            _rows[vector](slope, levels, letters + part, right + part, length, decay,
                          state + part, total + part, scratch, scratch + levels,
                          scratch + 2 * levels, scratch + 3 * levels)


cdef void _step(
    bint slope, Py_ssize_t levels, const double *letters, const double *right,
    Py_ssize_t length, double decay, double *state, double *total, double *scratch,
) noexcept nogil:
    _step_of[two](slope, levels, <const two *> letters, <const two *> right, length, decay,
                  <two *> state, <two *> total, <two *> scratch)


cdef for_avx2 _step_avx2(
    bint slope, Py_ssize_t levels, const double *letters, const double *right,
    Py_ssize_t length, double decay, double *state, double *total, double *scratch,
) noexcept nogil:
    _step_of[four](slope, levels, <const four *> letters, <const four *> right, length, decay,
                   <four *> state, <four *> total, <four *> scratch)


cdef for_avx512 _step_avx512(
    bint slope, Py_ssize_t levels, const double *letters, const double *right,
    Py_ssize_t length, double decay, double *state, double *total, double *scratch,
) noexcept nogil:
    _step_of[eight](slope, levels, <const eight *> letters, <const eight *> right, length, decay,
                    <eight *> state, <eight *> total, <eight *> scratch)


def instruction_sets():
    """Return how many of the copies of ``sweep_subsequences`` this processor can run."""
    return sl_level() + 1


def sweep_subsequences(
    const double[:, ::1] left, const int64_t[::1] offsets, Py_ssize_t row, Py_ssize_t start,
    Py_ssize_t stop, const double[:, ::1] right, Py_ssize_t p, double decay, bint slope,
    Py_ssize_t instruction_set, double[::1] state, double[::1] scratch, double[:, :, ::1] out,
):
    """Compare the positions ``start`` to ``stop`` of some strings with LANES others at once.

    The gap-weighted subsequence kernel of two strings s and t, divided by
    ``decay**(2p)``, is the sum of ``S_p(i, j)`` over all positions, where::

        S_1(i, j)     = [s_i = t_j]
        S_{k+1}(i, j) = [s_i = t_j] D_k(i-1, j-1)
        R_k(i, j)     = decay R_k(i, j-1) + S_k(i, j)
        D_k(i, j)     = decay D_k(i-1, j) + R_k(i, j)

    ``left[i]`` is the letter s_i, one for all lanes or one for each; string r is
    ``left[offsets[r]:offsets[r + 1]]``, of even length. ``right[j, lane]`` is t_j.
    Both are padded, each by its own letter. ``state`` keeps D_1..D_{p-1} between
    calls (with their derivatives if ``slope``), ``scratch`` holds 4 (p - 1) LANES
    numbers. The kernel of string r is added to ``out[r, 0]``, and its derivative
    with respect to ``log(decay)`` to ``out[r, 1]``. Returns the string of the last
    position; the next call starts with it.
    """
    cdef double letters[2 * WIDTH]
    cdef Py_ssize_t i, lane, levels = p - 1, length = right.shape[0]
    cdef Py_ssize_t wide = left.shape[1] == WIDTH
    cdef const double *columns = &right[0, 0] if length else NULL
    cdef Step step = &_step
    if instruction_set == 2:
        step = <Step> &_step_avx2
    elif instruction_set == 3:
        step = <Step> &_step_avx512
    with nogil:
        for i in range(start, stop, 2):
            while offsets[row + 1] <= i:
                row += 1
            if offsets[row] == i:
                memset(&state[0], 0, state.shape[0] * sizeof(double))
            for lane in range(WIDTH):
                letters[lane] = left[i, lane * wide]
                letters[WIDTH + lane] = left[i + 1, lane * wide]
            step(slope, levels, letters, columns, length, decay, &state[0], &out[row, 0, 0],
                 &scratch[0])
    return row


cdef int32_t _hamming(const int32_t *u, const int32_t *v, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t distance = 0
    for i in range(k):
        distance += u[i] != v[i]
    return distance


cdef void _compare_windows(
    const int32_t *s, Py_ssize_t rows, const int32_t *t, Py_ssize_t windows, Py_ssize_t k,
    Py_ssize_t levels, int32_t *old, int32_t *new, int64_t *histogram,
) noexcept nogil:
    """Count the distances between ``rows`` windows of s and all windows of t."""
    cdef Py_ssize_t i, j
    for j in range(windows):
        old[j] = _hamming(s, t + j, k)
    sl_count(old, windows, levels, histogram)
    for i in range(1, rows):
        new[0] = _hamming(s + i, t, k)
        sl_slide(s[i - 1], s[i + k - 1], t, windows, k, old, new)
        old, new = new, old
        sl_count(old, windows, levels, histogram)


def count_distances(
    const int32_t[::1] left, Py_ssize_t start, Py_ssize_t stop, const int32_t[::1] right,
    const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, Py_ssize_t k,
    int32_t[:, ::1] work, int64_t[:, ::1] histogram,
):
    """Count the Hamming distances of windows of length ``k`` of one string and of others.

    The windows of the one begin at ``start`` to ``stop`` in ``left``; the others are
    ``right[offsets[c]:offsets[c + 1]]`` for c from ``first`` to ``last``. The count
    of the distance d is added to ``histogram[c - first, d]``; larger distances than
    it has room for are left out. Consecutive windows share all but one letter, so
    that a pair of windows costs O(1). ``work`` has two rows for the distances.
    """
    cdef Py_ssize_t c, windows
    with nogil:
        for c in range(first, last):
            windows = offsets[c + 1] - offsets[c] - k + 1
            if windows > 0 and stop > start:
                _compare_windows(&left[start], stop - start, &right[offsets[c]], windows, k,
                                 histogram.shape[1], &work[0, 0], &work[1, 0],
                                 &histogram[c - first, 0])
