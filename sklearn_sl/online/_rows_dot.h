/* The inner product of two short vectors: what a call of BLAS costs is felt here.

   One copy per instruction set; it is chosen when the program runs. The order of the sum depends
   on the length alone. */
#ifndef SKLEARN_SL_ROWS_DOT_H
#define SKLEARN_SL_ROWS_DOT_H

#include <stddef.h>

#if defined(__GNUC__)
typedef double sl_lanes __attribute__((vector_size(64), aligned(8), may_alias));

#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
TARGET static double NAME(ptrdiff_t n, const double *x, const double *w) {                      \
    sl_lanes even = {0}, odd = {0};                                                             \
    ptrdiff_t k = 0;                                                                            \
    for (; k + 16 <= n; k += 16) {                                                              \
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

SL_DEFINE_DOT(sl_dot_any, )
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
SL_DEFINE_DOT(sl_dot_avx2, __attribute__((target("avx2,fma"))))
SL_DEFINE_DOT(sl_dot_avx512, __attribute__((target("avx512f,fma"))))

static double sl_dot(ptrdiff_t n, const double *x, const double *w) {
    static int level = -1;
    if (level < 0) {
        int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        level = avx2 ? 1 + (__builtin_cpu_supports("avx512f") != 0) : 0;
    }
    return level == 2 ? sl_dot_avx512(n, x, w) : level == 1 ? sl_dot_avx2(n, x, w)
                                                            : sl_dot_any(n, x, w);
}
#else
static double sl_dot(ptrdiff_t n, const double *x, const double *w) { return sl_dot_any(n, x, w); }
#endif

#endif
