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
#include <stddef.h>

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

#define SL_EXP_LANES 8
typedef double sl_exp_double __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long sl_exp_index __attribute__((vector_size(64), aligned(8), may_alias));
/* Bits of doubles: sums and shifts of these may go past the sign, which is undefined for the above. */
typedef unsigned long long sl_exp_bits __attribute__((vector_size(64), aligned(8), may_alias));
#define SL_EXP_SPLAT(x) ((sl_exp_double){x, x, x, x, x, x, x, x})
/* In C a vector cannot be the condition of ?:, so bits are chosen by the mask. */
#define SL_EXP_WHERE(mask, a, b)                                                                \
    ((sl_exp_double)(((sl_exp_index)(a) & (mask)) | ((sl_exp_index)(b) & ~(mask))))
/* 1.5 * 2**52: a number added to it loses its fraction, and its integer is in the low bits. */
#define SL_EXP_ROUNDER 6755399441055744.0

/* p = (exp(g) - 1 - g) / g**2, by the powers of g up to the 13th. */
#define SL_EXP_TAYLOR(g, p)                                                                     \
    do {                                                                                        \
        p = SL_EXP_SPLAT(1.0 / 6227020800.0);                                                   \
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
        t = SL_EXP_WHERE(t > top, top, t);                                                      \
        t = SL_EXP_WHERE(t < bottom, bottom, t);                                                \
        sl_exp_double shifted = (POWER) + rounder, k = shifted - rounder;                       \
        sl_exp_double g = (REST);                                                               \
        sl_exp_double p;                                                                        \
        SL_EXP_TAYLOR(g, p);                                                                    \
        p = p * g + 1.0;                                                                        \
        p = p * g + 1.0;                                                                        \
        /* 2**k as a product of two: k may be below the least normal exponent. */               \
        sl_exp_index whole = (sl_exp_index)shifted - (sl_exp_index)rounder + 4096;              \
        sl_exp_index half = (whole >> 1) - 2048, other = whole - 4096 - half;                   \
        result = p * (sl_exp_double)((sl_exp_bits)(half + 1023) << 52)                          \
                 * (sl_exp_double)((sl_exp_bits)(other + 1023) << 52);                          \
    } while (0)

#define SL_DEFINE_EXP(NAME, TARGET, BOTTOM, TOP, POWER, REST)                                   \
TARGET static inline void NAME(ptrdiff_t n, const double *x, double *out) {                     \
    const sl_exp_double top = SL_EXP_SPLAT(TOP), bottom = SL_EXP_SPLAT(BOTTOM);                 \
    const sl_exp_double rounder = SL_EXP_SPLAT(SL_EXP_ROUNDER);                                 \
    ptrdiff_t j = 0;                                                                            \
    for (; j + SL_EXP_LANES <= n; j += SL_EXP_LANES) {                                          \
        sl_exp_double t = *(const sl_exp_double *)(x + j), result;                              \
        SL_EXP_EIGHT(t, POWER, REST, result);                                                   \
        *(sl_exp_double *)(out + j) = result;                                                   \
    }                                                                                           \
    if (j < n) {                                                                                \
        sl_exp_double t = SL_EXP_SPLAT(0.0), result;                                            \
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
static void sl_exp2##SUFFIX(ptrdiff_t n, const double *x, double *out) {                        \
    for (ptrdiff_t j = 0; j < n; j++) out[j] = exp2(x[j] > SL_EXP2_TOP ? SL_EXP2_TOP : x[j]);   \
}                                                                                               \
static void sl_exp##SUFFIX(ptrdiff_t n, const double *x, double *out) {                         \
    for (ptrdiff_t j = 0; j < n; j++) out[j] = exp(x[j] > SL_EXP_TOP ? SL_EXP_TOP : x[j]);      \
}

#endif

SL_DEFINE_EXPONENTIALS(_any, )

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define SL_EXP_TARGETS 1
SL_DEFINE_EXPONENTIALS(_avx2, __attribute__((target("avx2,fma"))))
SL_DEFINE_EXPONENTIALS(_avx512, __attribute__((target("avx512f,avx512dq,fma"))))

static int sl_exp_level(void) {
    static int level = -1;
    if (level < 0) {
        int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        int avx512 = avx2 && __builtin_cpu_supports("avx512f")
                     && __builtin_cpu_supports("avx512dq");
        level = avx512 ? 2 : avx2 ? 1 : 0;
    }
    return level;
}
#define SL_EXP_CALL(NAME)                                                                       \
    (sl_exp_level() == 2 ? NAME##_avx512 : sl_exp_level() == 1 ? NAME##_avx2 : NAME##_any)
#else
#define SL_EXP_CALL(NAME) NAME##_any
#endif

static inline void sl_exp2(ptrdiff_t n, const double *x, double *out) {
    SL_EXP_CALL(sl_exp2)(n, x, out);
}

static inline void sl_exp(ptrdiff_t n, const double *x, double *out) {
    SL_EXP_CALL(sl_exp)(n, x, out);
}

#endif
