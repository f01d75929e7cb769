/* Powers of two and of e, many at a time.

   sl_exp2(n, x, out) and sl_exp(n, x, out) write 2**x and e**x; `out` may be `x`. A power of e with
   the exponent k ln 2 + g, |g| <= ln(2) / 2, is 2**k times the Taylor polynomial of degree 13 of
   exp(g), which is as good as a double. Powers of two with integers are exact. A result that is too
   large becomes 2**1023 or e**709, a tiny one fades out through the subnormal numbers to zero; NaN
   stays NaN. A result does not depend on its place in the array. One copy of each function per
   instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_EXPONENTIALS_H
#define SKLEARN_SL_EXPONENTIALS_H

#include <math.h>

#include "_dispatch.h"

#define SL_LOG2E 1.4426950408889634074
#define SL_LN2 0.69314718055994530942
/* The logarithm of two in two parts: multiples of the first are exact. */
#define SL_LN2_HIGH 0.693147180369123816490
#define SL_LN2_LOW 1.90821492927058770002e-10
/* Arguments beyond which nothing changes. */
#define SL_EXP2_TOP 1023.0
#define SL_EXP2_BOTTOM -1080.0
#define SL_EXP_TOP 709.0
#define SL_EXP_BOTTOM -748.0

#if defined(__GNUC__)

/* 1.5 * 2**52: a number added to it loses its fraction, and its integer is in the low bits. */
#define SL_EXP_ROUNDER 6755399441055744.0

/* p = (exp(g) - 1 - g) / g**2, by the powers of g up to the 13th. */
#define SL_EXP_TAYLOR(g, p)                                                                     \
    do {                                                                                        \
        p = SL_SPLAT(1.0 / 6227020800.0);                                                       \
        p = p * (g) + 1.0 / 479001600.0;                                                        \
        p = p * (g) + 1.0 / 39916800.0;                                                         \
        p = p * (g) + 1.0 / 3628800.0;                                                          \
        p = p * (g) + 1.0 / 362880.0;                                                           \
        p = p * (g) + 1.0 / 40320.0;                                                            \
        p = p * (g) + 1.0 / 5040.0;                                                             \
        p = p * (g) + 1.0 / 720.0;                                                              \
        p = p * (g) + 1.0 / 120.0;                                                              \
        p = p * (g) + 1.0 / 24.0;                                                               \
        p = p * (g) + 1.0 / 6.0;                                                                \
        p = p * (g) + 0.5;                                                                      \
    } while (0)

/* Eight numbers t: POWER is the exponent of two; REST gives g from t and k. */
#define SL_EXP_EIGHT(t, POWER, REST, result)                                                    \
    do {                                                                                        \
        t = SL_WHERE(t > top, top, t);                                                          \
        t = SL_WHERE(t < bottom, bottom, t);                                                    \
        sl_doubles shifted = (POWER) + rounder, k = shifted - rounder;                          \
        sl_doubles g = (REST);                                                                  \
        sl_doubles p;                                                                           \
        SL_EXP_TAYLOR(g, p);                                                                    \
        p = p * g + 1.0;                                                                        \
        p = p * g + 1.0;                                                                        \
        /* 2**k as a product of two: k may be below the least normal exponent. */               \
        sl_longs whole = (sl_longs)shifted - (sl_longs)rounder + 4096;                          \
        sl_longs half = (whole >> 1) - 2048, other = whole - 4096 - half;                       \
        result = p * (sl_doubles)((sl_bits)(half + 1023) << 52)                                 \
                 * (sl_doubles)((sl_bits)(other + 1023) << 52);                                 \
    } while (0)

#define SL_DEFINE_EXP(NAME, TARGET, BOTTOM, TOP, POWER, REST)                                   \
TARGET static inline void NAME(ptrdiff_t n, const double *x, double *out) {                     \
    const sl_doubles top = SL_SPLAT(TOP), bottom = SL_SPLAT(BOTTOM);                            \
    const sl_doubles rounder = SL_SPLAT(SL_EXP_ROUNDER);                                        \
    ptrdiff_t j = 0;                                                                            \
    for (; j + SL_LANES <= n; j += SL_LANES) {                                                  \
        sl_doubles t = SL_READ(x + j), result;                                                  \
        SL_EXP_EIGHT(t, POWER, REST, result);                                                   \
        SL_WRITE(out + j) = result;                                                             \
    }                                                                                           \
    if (j < n) {                                                                                \
        sl_doubles t = SL_SPLAT(0.0), result;                                                   \
        for (ptrdiff_t lane = 0; j + lane < n; lane++) t[lane] = x[j + lane];                   \
        SL_EXP_EIGHT(t, POWER, REST, result);                                                   \
        for (ptrdiff_t lane = 0; j + lane < n; lane++) out[j + lane] = result[lane];            \
    }                                                                                           \
}

#define SL_DEFINE_EXPONENTIALS(SUFFIX, TARGET)                                                  \
SL_DEFINE_EXP(sl_exp2##SUFFIX, TARGET, SL_EXP2_BOTTOM, SL_EXP2_TOP, t, (t - k) * SL_LN2)        \
SL_DEFINE_EXP(sl_exp##SUFFIX, TARGET, SL_EXP_BOTTOM, SL_EXP_TOP, t * SL_LOG2E,                  \
              t - k * SL_LN2_HIGH - k * SL_LN2_LOW)

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_EXPONENTIALS(SUFFIX, TARGET)                                                  \
static inline void sl_exp2##SUFFIX(ptrdiff_t n, const double *x, double *out) {                 \
    for (ptrdiff_t j = 0; j < n; j++) out[j] = exp2(x[j] > SL_EXP2_TOP ? SL_EXP2_TOP : x[j]);   \
}                                                                                               \
static inline void sl_exp##SUFFIX(ptrdiff_t n, const double *x, double *out) {                  \
    for (ptrdiff_t j = 0; j < n; j++) out[j] = exp(x[j] > SL_EXP_TOP ? SL_EXP_TOP : x[j]);      \
}

#endif

SL_FOR_EACH_SET(SL_DEFINE_EXPONENTIALS)

#define sl_exp2 SL_BEST(sl_exp2)
#define sl_exp SL_BEST(sl_exp)

#endif
