cimport cython
from libc.stdint cimport int32_t, uint32_t, uint64_t


@cython.final
cdef class Medians:
    cdef const double[:, ::1] y
    cdef const double[::1] weight
    cdef const uint32_t[:, ::1] ranks
    cdef bint weighted, even
    cdef Py_ssize_t n_outputs
    # for sorting
    cdef uint64_t[::1] cells, spare
    # for each output the rows of the node at hand in the order of their targets, and their places
    # in it; places count from one
    cdef Py_ssize_t n_rows
    cdef int32_t[:, ::1] row_at, place_of
    cdef double[:, ::1] target, amount, mass
    # the rows that are looked at: a list of places, or sums over places as a Fenwick tree
    cdef int32_t[::1] before, after
    cdef double[::1] mass_sums, amount_sums
    cdef double all_mass, all_amount, lower_mass, lower_amount
    cdef Py_ssize_t at
    # losses and medians left and right of each of the cells at hand, and the loss of them all
    cdef double[::1] left_loss, right_loss, left_median, right_median
    cdef double loss

    cdef uint32_t sort(self, const int32_t* rows, Py_ssize_t m, Py_ssize_t output) noexcept nogil
    cdef double measure(
        self, const int32_t* rows, Py_ssize_t m, Py_ssize_t output, double* median,
    ) noexcept nogil
    cdef void arrange(
        self, const int32_t* rows, Py_ssize_t m, const double* target, const double* amount,
        const double* mass,
    ) noexcept nogil
    cdef void scan(
        self, const uint64_t* cells, Py_ssize_t n, bint missing_left, bint missing_right,
    ) noexcept nogil
    cdef void _scan_output(
        self, Py_ssize_t output, const uint64_t* cells, Py_ssize_t n, bint missing_left,
        bint missing_right,
    ) noexcept nogil
    cdef void _count_up(
        self, Py_ssize_t output, const uint64_t* cells, Py_ssize_t n, bint missing_left,
        bint missing_right,
    ) noexcept nogil
    cdef void _fill(self, Py_ssize_t output) noexcept nogil
    cdef void _remove(self, Py_ssize_t output, uint64_t cell) noexcept nogil
    cdef void _step(self, Py_ssize_t output) noexcept nogil
    cdef void _clear(self) noexcept nogil
    cdef void _add(self, Py_ssize_t output, uint64_t cell) noexcept nogil
    cdef Py_ssize_t _search(self, bint strictly) noexcept nogil
    cdef double _loss(self, Py_ssize_t output) noexcept nogil
    cdef double _median(self, Py_ssize_t output) noexcept nogil
