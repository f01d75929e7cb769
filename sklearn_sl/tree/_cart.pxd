from libc.stdint cimport int32_t, uint8_t

cdef uint8_t side_of_category(const int32_t* subset, int32_t code) noexcept nogil
