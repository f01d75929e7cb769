/* The passes over a dense row that a trial of Winnow takes, and those over all weights that a trial
   of the exponentiated gradient takes.

   One copy of each function per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_MULTIPLICATIVE_LOOPS_H
#define SKLEARN_SL_MULTIPLICATIVE_LOOPS_H

#include <string.h>

#include "../_exponentials.h"

#if defined(__GNUC__)

/* Return x.w; set `signs` to the bits of all entries of x, joined by or. */
#define SL_DEFINE_DOT_SIGNS(NAME, TARGET)                                                       \
TARGET static double NAME(ptrdiff_t n, const double *x, const double *w, long long *signs) {    \
    sl_doubles even = {0}, odd = {0};                                                           \
    sl_longs bits = {0};                                                                        \
    ptrdiff_t j = 0;                                                                            \
    for (; j + 16 <= n; j += 16) {                                                              \
        /* The rows after this one, in time; see _rows_loops.h. */                              \
        __builtin_prefetch(x + j + 1024);                                                       \
        __builtin_prefetch(x + j + 1032);                                                       \
        sl_doubles a = SL_READ(x + j);                                                          \
        sl_doubles b = SL_READ(x + j + 8);                                                      \
        even += a * SL_READ(w + j);                                                             \
        odd += b * SL_READ(w + j + 8);                                                          \
        bits |= (sl_longs)a | (sl_longs)b;                                                      \
    }                                                                                           \
    even += odd;                                                                                \
    double total = SL_SUM(even);                                                                \
    long long joined = (bits[0] | bits[1] | bits[2] | bits[3])                                  \
                       | (bits[4] | bits[5] | bits[6] | bits[7]);                               \
    for (; j < n; j++) {                                                                        \
        long long own;                                                                          \
        memcpy(&own, x + j, sizeof own);                                                        \
        joined |= own;                                                                          \
        total += x[j] * w[j];                                                                   \
    }                                                                                           \
    *signs = joined;                                                                            \
    return total;                                                                               \
}

/* Add sign * x to sums and multiply weights by factor**x, for zeros and ones in x; return whether x
   has nothing else, and all these weights stay between the limits. */
#define SL_DEFINE_STEP_BITS(NAME, TARGET)                                                       \
TARGET static int NAME(ptrdiff_t n, const double *x, double sign, double factor, double low,    \
                       double high, double *sums, double *weights) {                            \
    const sl_doubles one = SL_SPLAT(1.0), sign8 = SL_SPLAT(sign);                               \
    const sl_doubles more = SL_SPLAT(factor - 1.0);                                             \
    const sl_doubles low8 = SL_SPLAT(low), high8 = SL_SPLAT(high);                              \
    sl_longs fine = (sl_longs)SL_SPLAT(0.0) == 0;                                               \
    ptrdiff_t j = 0;                                                                            \
    for (; j + SL_LANES <= n; j += SL_LANES) {                                                  \
        sl_doubles a = SL_READ(x + j);                                                          \
        sl_doubles w = SL_READ(weights + j) * (one + more * a);                                 \
        SL_WRITE(sums + j) += sign8 * a;                                                        \
        SL_WRITE(weights + j) = w;                                                              \
        fine &= (a * a == a) & ((a != one) | ((w > low8) & (w < high8)));                       \
    }                                                                                           \
    int all = (fine[0] & fine[1] & fine[2] & fine[3]) & (fine[4] & fine[5] & fine[6] & fine[7]); \
    for (; j < n; j++) {                                                                        \
        sums[j] += sign * x[j];                                                                 \
        weights[j] *= 1.0 + (factor - 1.0) * x[j];                                              \
        all &= x[j] * x[j] == x[j] && (x[j] != 1.0 || (weights[j] > low && weights[j] < high)); \
    }                                                                                           \
    return all != 0;                                                                            \
}

/* Eight weights from their sums: exp(-eta G - shift), or the difference and the sum of both. */
#define SL_EXP_EIGHT_WEIGHTS(LOAD, STORE_WEIGHT, STORE_MASS)                                    \
    do {                                                                                        \
        sl_doubles own = eta8 * (LOAD), t = -own - shift8, plus, minus;                         \
        SL_EXP_EIGHT(t, t * SL_LOG2E, t - k * SL_LN2_HIGH - k * SL_LN2_LOW, plus);              \
        if (both) {                                                                             \
            t = own - shift8;                                                                   \
            SL_EXP_EIGHT(t, t * SL_LOG2E, t - k * SL_LN2_HIGH - k * SL_LN2_LOW, minus);         \
            sl_doubles mass = plus + minus;                                                     \
            plus -= minus;                                                                      \
            STORE_MASS;                                                                         \
        }                                                                                       \
        STORE_WEIGHT;                                                                           \
    } while (0)

/* Compute all weights from the sums of gradients, relative to exp(shift), the largest one; return
   their total. */
#define SL_DEFINE_WEIGH(NAME, TARGET)                                                           \
TARGET static double NAME(ptrdiff_t n, double eta, int both, const double *sums,                \
                          double *weights, double *masses, double *shift) {                     \
    const sl_doubles top = SL_SPLAT(SL_EXP_TOP), bottom = SL_SPLAT(SL_EXP_BOTTOM);              \
    const sl_doubles rounder = SL_SPLAT(SL_EXP_ROUNDER), eta8 = SL_SPLAT(eta);                  \
    sl_doubles least = SL_SPLAT(sums[0]), most = least;                                         \
    ptrdiff_t j = 0;                                                                            \
    for (; j + SL_LANES <= n; j += SL_LANES) {                                                  \
        sl_doubles own = SL_READ(sums + j);                                                     \
        least = SL_WHERE(own < least, own, least);                                              \
        most = SL_WHERE(own > most, own, most);                                                 \
    }                                                                                           \
    double low = least[0], high = most[0];                                                      \
    for (int lane = 1; lane < SL_LANES; lane++) {                                               \
        low = least[lane] < low ? least[lane] : low;                                            \
        high = most[lane] > high ? most[lane] : high;                                           \
    }                                                                                           \
    for (; j < n; j++) {                                                                        \
        low = sums[j] < low ? sums[j] : low;                                                    \
        high = sums[j] > high ? sums[j] : high;                                                 \
    }                                                                                           \
    *shift = both && high > -low ? eta * high : -eta * low;                                     \
    const sl_doubles shift8 = SL_SPLAT(*shift);                                                 \
    sl_doubles total = SL_SPLAT(0.0);                                                           \
    for (j = 0; j + SL_LANES <= n; j += SL_LANES)                                               \
        SL_EXP_EIGHT_WEIGHTS(SL_READ(sums + j),                                                 \
                             SL_WRITE(weights + j) = plus; if (!both) total += plus,            \
                             SL_WRITE(masses + j) = mass; total += mass);                       \
    double sum = SL_SUM(total);                                                                 \
    if (j < n) {                                                                                \
        sl_doubles rest = SL_SPLAT(0.0);                                                        \
        for (ptrdiff_t lane = 0; j + lane < n; lane++) rest[lane] = sums[j + lane];             \
        SL_EXP_EIGHT_WEIGHTS(                                                                   \
            rest,                                                                               \
            for (ptrdiff_t lane = 0; j + lane < n; lane++) {                                    \
                weights[j + lane] = plus[lane];                                                 \
                if (!both) sum += plus[lane];                                                   \
            },                                                                                  \
            for (ptrdiff_t lane = 0; j + lane < n; lane++) {                                    \
                masses[j + lane] = mass[lane];                                                  \
                sum += mass[lane];                                                              \
            });                                                                                 \
    }                                                                                           \
    return sum;                                                                                 \
}

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_WEIGH(NAME, TARGET)                                                           \
static double NAME(ptrdiff_t n, double eta, int both, const double *sums, double *weights,      \
                   double *masses, double *shift) {                                             \
    double low = sums[0], high = sums[0], sum = 0;                                              \
    for (ptrdiff_t j = 1; j < n; j++) {                                                         \
        low = sums[j] < low ? sums[j] : low;                                                    \
        high = sums[j] > high ? sums[j] : high;                                                 \
    }                                                                                           \
    *shift = both && high > -low ? eta * high : -eta * low;                                     \
    for (ptrdiff_t j = 0; j < n; j++) {                                                         \
        double plus = exp(-eta * sums[j] - *shift);                                             \
        double minus = both ? exp(eta * sums[j] - *shift) : 0;                                  \
        weights[j] = plus - minus;                                                              \
        if (both) masses[j] = plus + minus;                                                     \
        sum += plus + minus;                                                                    \
    }                                                                                           \
    return sum;                                                                                 \
}
#define SL_DEFINE_DOT_SIGNS(NAME, TARGET)                                                       \
static double NAME(ptrdiff_t n, const double *x, const double *w, long long *signs) {           \
    double total = 0;                                                                           \
    *signs = 0;                                                                                 \
    for (ptrdiff_t j = 0; j < n; j++) {                                                         \
        long long own;                                                                          \
        memcpy(&own, x + j, sizeof own);                                                        \
        *signs |= own;                                                                          \
        total += x[j] * w[j];                                                                   \
    }                                                                                           \
    return total;                                                                               \
}
#define SL_DEFINE_STEP_BITS(NAME, TARGET)                                                       \
static int NAME(ptrdiff_t n, const double *x, double sign, double factor, double low,           \
                double high, double *sums, double *weights) {                                   \
    int all = 1;                                                                                \
    for (ptrdiff_t j = 0; j < n; j++) {                                                         \
        sums[j] += sign * x[j];                                                                 \
        weights[j] *= 1.0 + (factor - 1.0) * x[j];                                              \
        all &= x[j] * x[j] == x[j] && (x[j] != 1.0 || (weights[j] > low && weights[j] < high)); \
    }                                                                                           \
    return all;                                                                                 \
}
#endif

#define SL_DEFINE_LOOPS(SUFFIX, TARGET)                                                         \
SL_DEFINE_DOT_SIGNS(sl_dot_signs##SUFFIX, TARGET)                                               \
SL_DEFINE_STEP_BITS(sl_step_bits##SUFFIX, TARGET)                                               \
SL_DEFINE_WEIGH(sl_weigh##SUFFIX, TARGET)

SL_FOR_EACH_SET(SL_DEFINE_LOOPS)

#define sl_dot_signs SL_BEST(sl_dot_signs)
#define sl_step_bits SL_BEST(sl_step_bits)
#define sl_weigh SL_BEST(sl_weigh)

#endif
