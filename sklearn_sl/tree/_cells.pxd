"""Cells of sorted columns, the records of nodes, and the loops over cells."""

from libc.math cimport frexp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    QUADRATIC = 0  # the loss in sum_k c_k**2 / W: squared error, and Gini of the class masses c
    ENTROPY = 1
    POISSON = 2
    ABSOLUTE = 3


cdef packed struct Node:
    int64_t start
    int64_t stop
    int64_t depth
    double weight
    double impurity
    # what monotonicity constraints leave to the value, and what keeping to it adds to the impurity
    double lower
    double upper
    double excess
    uint64_t seed


cdef packed struct Split:
    # A split of node ``node``: ``n_first`` of the cells that are not missing go left.
    int64_t node
    int64_t left
    int64_t right
    int64_t feature
    int64_t n_first
    double threshold
    double gain
    # between the values of the children, if a constraint orders them
    double middle
    int64_t subset
    uint8_t missing_left
    uint8_t open_left
    uint8_t open_right
    uint8_t reserved[5]


cdef packed struct Rival:
    # A competitor of the split of node ``node``, or a surrogate for it.
    int64_t node
    int64_t feature
    double threshold
    double gain
    double adjusted
    int64_t subset
    uint8_t flipped
    uint8_t reserved[7]


cdef struct Found:
    double score
    double middle
    Py_ssize_t where


cdef inline uint64_t mix(uint64_t state) noexcept nogil:
    """Return the state's place in a random permutation of all 64-bit numbers (splitmix64)."""
    state += <uint64_t> 0x9E3779B97F4A7C15
    state = (state ^ (state >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    state = (state ^ (state >> 27)) * <uint64_t> 0x94D049BB133111EB
    return state ^ (state >> 31)


cdef inline double uniform(uint64_t state) noexcept nogil:
    """Return a number in [0, 1)."""
    return (mix(state) >> 11) * (1.0 / 9007199254740992.0)


cdef inline uint32_t rank_of(uint64_t cell) noexcept nogil:
    return <uint32_t> (cell >> 32)


cdef inline double between(double low, double high) noexcept nogil:
    """Return a threshold with ``low <= threshold < high``, the middle unless rounding forbids."""
    cdef double middle = low / 2 + high / 2
    return middle if low <= middle < high else low


cdef inline int exponent(double largest, double total, int bits) noexcept nogil:
    """Return k so that ``total`` numbers up to ``largest * 2**k`` sum to less than ``2**bits``."""
    cdef int of_largest = 0, of_total = 0
    if largest <= 0:
        return 0
    frexp(largest, &of_largest)
    frexp(total, &of_total)
    return max(-1000, min(1000, bits - of_largest - of_total))


cdef inline bint is_missing(uint64_t cell) noexcept nogil:
    return rank_of(cell) == <uint32_t> 0xFFFFFFFF


cdef Found scan_counts(
    const uint64_t* cells, const double* amount, double left, double total, Py_ssize_t n_left,
    Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil

cdef Found scan_masses(
    const uint64_t* cells, const double* amount, const double* mass, double left, double total,
    double left_mass, double all_mass, double least_mass, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil

cdef Found scan_classes(
    const uint64_t* cells, const int32_t* channel, const double* mass, const double* logs,
    double* left, const double* total, Py_ssize_t n_channels, double left_mass, double all_mass,
    double least_mass, Py_ssize_t first, Py_ssize_t last,
) noexcept nogil

cdef void sort_cells(
    uint64_t* cells, uint64_t* spare, Py_ssize_t n, uint32_t highest,
) noexcept nogil

cdef void partition_cells(
    uint64_t* cells, Py_ssize_t n, const uint32_t* fate, uint64_t* scratch, bint keep_left,
    bint keep_right,
) noexcept nogil

cdef uint8_t side_of_category(const int32_t* subset, int32_t code) noexcept nogil
