/* What is done with two short vectors: their inner product, and adding a multiple of one to the
   other. What a call of BLAS costs would be felt here.

   One copy of each per instruction set; it is chosen when the program runs. The order of the sum
   depends on the length alone. The rows after this one are asked for in time: with all that is
   done between two rows, the processor does not see by itself how fast they will be needed. */
#ifndef SKLEARN_SL_ROWS_LOOPS_H
#define SKLEARN_SL_ROWS_LOOPS_H

#include "_dispatch.h"

#if defined(__GNUC__)
#define SL_AHEAD 1024

#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
TARGET static inline double NAME(ptrdiff_t n, const double *x, const double *w) {               \
    sl_doubles even = {0}, odd = {0};                                                           \
    ptrdiff_t k = 0;                                                                            \
    for (; k + 16 <= n; k += 16) {                                                              \
        __builtin_prefetch(x + k + SL_AHEAD);                                                   \
        __builtin_prefetch(x + k + SL_AHEAD + 8);                                               \
        even += SL_READ(x + k) * SL_READ(w + k);                                                \
        odd += SL_READ(x + k + 8) * SL_READ(w + k + 8);                                         \
    }                                                                                           \
    if (k + 8 <= n) {                                                                           \
        even += SL_READ(x + k) * SL_READ(w + k);                                                \
        k += 8;                                                                                 \
    }                                                                                           \
    even += odd;                                                                                \
    double total = SL_SUM(even);                                                                \
    for (; k < n; k++) total += x[k] * w[k];                                                    \
    return total;                                                                               \
}
#else /* a compiler without vectors */
#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
static inline double NAME(ptrdiff_t n, const double *x, const double *w) {                      \
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

/* What the processor goes on with by itself is not asked for. */
static inline void sl_ask_for(ptrdiff_t n, const double *x) {
#if defined(__GNUC__)
    const ptrdiff_t some = n < 128 ? n : 128;
    for (ptrdiff_t k = 0; k < some; k += 8) __builtin_prefetch(x + k);
#endif
}

#define SL_DEFINE_ADD(NAME, TARGET)                                                             \
TARGET static inline void NAME(ptrdiff_t n, double factor, const double *restrict x,            \
                        double *restrict w) {                                                   \
    for (ptrdiff_t k = 0; k < n; k++) w[k] += factor * x[k];                                    \
}

#define SL_DEFINE_BOTH(SUFFIX, TARGET)                                                          \
SL_DEFINE_DOT(sl_dot##SUFFIX, TARGET)                                                           \
SL_DEFINE_ADD(sl_add##SUFFIX, TARGET)

SL_FOR_EACH_SET(SL_DEFINE_BOTH)

#define sl_dot SL_BEST(sl_dot)
#define sl_add SL_BEST(sl_add)

#endif
