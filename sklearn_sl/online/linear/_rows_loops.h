/* What is done with two short vectors: their inner product, and adding a multiple of one to the
   other. What a call of BLAS costs would be felt here.

   One copy of each per instruction set; it is chosen when the program runs. The order of the sum
   depends on the length alone. The rows after this one are asked for in time: with all that is
   done between two rows, the processor does not see by itself how fast they will be needed. */
#ifndef SKLEARN_SL_ROWS_LOOPS_H
#define SKLEARN_SL_ROWS_LOOPS_H

#include <stddef.h>

#if defined(__GNUC__)
typedef double sl_lanes __attribute__((vector_size(64), aligned(8), may_alias));
#define SL_AHEAD 1024

#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
TARGET static double NAME(ptrdiff_t n, const double *x, const double *w) {                      \
    sl_lanes even = {0}, odd = {0};                                                             \
    ptrdiff_t k = 0;                                                                            \
    for (; k + 16 <= n; k += 16) {                                                              \
        __builtin_prefetch(x + k + SL_AHEAD);                                                   \
        __builtin_prefetch(x + k + SL_AHEAD + 8);                                               \
        even += *(const sl_lanes *)(x + k) * *(const sl_lanes *)(w + k);                        \
        odd += *(const sl_lanes *)(x + k + 8) * *(const sl_lanes *)(w + k + 8);                 \
    }                                                                                           \
    if (k + 8 <= n) {                                                                           \
        even += *(const sl_lanes *)(x + k) * *(const sl_lanes *)(w + k);                        \
        k += 8;                                                                                 \
    }                                                                                           \
    even += odd;                                                                                \
    double total = ((even[0] + even[4]) + (even[1] + even[5]))                                  \
                   + ((even[2] + even[6]) + (even[3] + even[7]));                               \
    for (; k < n; k++) total += x[k] * w[k];                                                    \
    return total;                                                                               \
}
#else /* a compiler without vectors */
#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
static double NAME(ptrdiff_t n, const double *x, const double *w) {                             \
    double a = 0, b = 0, c = 0, d = 0;                                                          \
    ptrdiff_t k = 0;                                                                            \
    for (; k + 4 <= n; k += 4) {                                                                \
        a += x[k] * w[k];                                                                       \
        b += x[k + 1] * w[k + 1];                                                               \
        c += x[k + 2] * w[k + 2];                                                               \
        d += x[k + 3] * w[k + 3];                                                               \
    }                                                                                           \
    for (; k < n; k++) a += x[k] * w[k];                                                        \
    return (a + b) + (c + d);                                                                   \
}
#endif

#define SL_DEFINE_ADD(NAME, TARGET)                                                             \
TARGET static void NAME(ptrdiff_t n, double factor, const double *restrict x,                   \
                        double *restrict w) {                                                   \
    for (ptrdiff_t k = 0; k < n; k++) w[k] += factor * x[k];                                    \
}

#define SL_DEFINE_BOTH(SUFFIX, TARGET)                                                          \
SL_DEFINE_DOT(sl_dot##SUFFIX, TARGET)                                                           \
SL_DEFINE_ADD(sl_add##SUFFIX, TARGET)

SL_DEFINE_BOTH(_any, )
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
SL_DEFINE_BOTH(_avx2, __attribute__((target("avx2,fma"))))
SL_DEFINE_BOTH(_avx512, __attribute__((target("avx512f,fma"))))

static int sl_rows_level = -1;

static void sl_find_rows_level(void) {
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    sl_rows_level = avx2 ? 1 + (__builtin_cpu_supports("avx512f") != 0) : 0;
}
#define SL_CALL_ROWS(NAME, ARGUMENTS)                                                           \
    if (sl_rows_level < 0) sl_find_rows_level();                                                \
    return sl_rows_level == 2   ? NAME##_avx512 ARGUMENTS                                       \
           : sl_rows_level == 1 ? NAME##_avx2 ARGUMENTS                                         \
                                : NAME##_any ARGUMENTS;
#else
#define SL_CALL_ROWS(NAME, ARGUMENTS) return NAME##_any ARGUMENTS;
#endif

static inline double sl_dot(ptrdiff_t n, const double *x, const double *w) {
    SL_CALL_ROWS(sl_dot, (n, x, w))
}
static inline void sl_add(ptrdiff_t n, double factor, const double *x, double *w) {
    SL_CALL_ROWS(sl_add, (n, factor, x, w))
}

#endif
