/* The passes over all experts that a trial of prediction with expert advice takes.

   All arrays are padded to a multiple of SL_LANES: weights with zeros, losses with zeros, costs with
   infinity. One copy of each function per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_AGGREGATING_H
#define SKLEARN_SL_AGGREGATING_H

#include <math.h>

#include "../_exponentials.h"

/* How many numbers ahead of their use losses are fetched: they come from afar, the rest is near. */
#define SL_AHEAD 1024

#if defined(__GNUC__)
/* Another order than that of SL_SUM: sums of weights are to stay as they are. */
#define SL_TOTAL(x) (((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])))
/* The first n of a, the others of b. */
#define SL_FIRST(n, a, b)                                                                       \
    SL_WHERE(((sl_longs){0, 1, 2, 3, 4, 5, 6, 7} < SL_SPLAT_LONG((long long)(n))), a, b)
#define SL_LESS(a, b) SL_WHERE((a) < (b), a, b)
#define SL_LEAST(x)                                                                             \
    fmin(fmin(fmin(x[0], x[1]), fmin(x[2], x[3])), fmin(fmin(x[4], x[5]), fmin(x[6], x[7])))

/* exp(r) - 1 for |r| <= 0.35. */
#define SL_EXPM1_SERIES(r)                                                                      \
    ({ sl_doubles sl_p;                                                                         \
       SL_EXP_TAYLOR(r, sl_p);                                                                  \
       sl_p * ((r) * (r)) + (r); })

/* exp(x) for x <= 1, zero where it would not be a normal number. */
#define SL_EXP(x)                                                                               \
    ({ const sl_doubles sl_x = (x), sl_rounder = SL_SPLAT(SL_EXP_ROUNDER);                      \
       const sl_doubles sl_shifted = sl_x * SL_LOG2E + sl_rounder;                              \
       const sl_doubles sl_k = sl_shifted - sl_rounder;                                         \
       const sl_doubles sl_r = sl_x - sl_k * SL_LN2_HIGH - sl_k * SL_LN2_LOW;                   \
       const sl_doubles sl_e = SL_EXPM1_SERIES(sl_r) + 1.0;                                     \
       const sl_bits sl_power = (sl_bits)sl_e + ((sl_bits)sl_shifted << 52);                    \
       (sl_doubles)(sl_power & (sl_bits)(sl_x > SL_SPLAT(-707.0))); })

/* log(x) of normal numbers x = 2^k m with sqrt(1/2) <= m < sqrt(2): k ln 2 + 2 artanh(s) with
   s = (m - 1) / (m + 1), whose series has |s| < 0.172. */
#define SL_LOG(x)                                                                               \
    ({ const sl_bits sl_i = (sl_bits)(x);                                                       \
       const sl_bits sl_half = (sl_bits)SL_SPLAT_LONG(0x3fe6a09e667f3bcdLL);                    \
       const sl_longs sl_e = (sl_longs)(sl_i - sl_half) >> 52;                                  \
       const sl_doubles sl_m = (sl_doubles)(sl_i - ((sl_bits)sl_e << 52));                      \
       const sl_doubles sl_rounder = SL_SPLAT(SL_EXP_ROUNDER);                                  \
       const sl_doubles sl_shifted = (sl_doubles)((sl_longs)sl_rounder + sl_e);                 \
       const sl_doubles sl_k = sl_shifted - sl_rounder;                                         \
       const sl_doubles sl_s = (sl_m - 1.0) / (sl_m + 1.0), sl_z = sl_s * sl_s;                 \
       const sl_doubles sl_t = sl_s + sl_s;                                                     \
       sl_doubles sl_p = SL_SPLAT(1.0 / 23);                                                    \
       sl_p = sl_p * sl_z + 1.0 / 21;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 19;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 17;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 15;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 13;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 11;                                                           \
       sl_p = sl_p * sl_z + 1.0 / 9;                                                            \
       sl_p = sl_p * sl_z + 1.0 / 7;                                                            \
       sl_p = sl_p * sl_z + 1.0 / 5;                                                            \
       sl_p = sl_p * sl_z + 1.0 / 3;                                                            \
       sl_k * SL_LN2_HIGH + (sl_t + (sl_t * sl_z * sl_p + sl_k * SL_LN2_LOW)); })

/* weights = exp(-eta (costs - least)); return their sum. */
#define SL_DEFINE_WEIGH(NAME, TARGET)                                                           \
TARGET static inline double NAME(ptrdiff_t n, const double *costs, double least, double eta,    \
                                 double *weights) {                                             \
    sl_doubles total = {0};                                                                     \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles weight = SL_EXP(-eta * (SL_READ(costs + k) - least));                        \
        SL_WRITE(weights + k) = weight;                                                         \
        total += weight;                                                                        \
    }                                                                                           \
    return SL_TOTAL(total);                                                                     \
}

/* Return the sum of weights * values. */
#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
TARGET static inline double NAME(ptrdiff_t n, const double *weights, const double *values) {    \
    sl_doubles sum = {0};                                                                       \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) sum += SL_READ(weights + k) * SL_READ(values + k); \
    return SL_TOTAL(sum);                                                                       \
}

/* after = costs - least + rate * losses; return the least of them. */
#define SL_DEFINE_ADD(NAME, TARGET)                                                             \
TARGET static inline double NAME(ptrdiff_t n, const double *costs, double least, double rate,   \
                                 const double *losses, double *after) {                         \
    sl_doubles best = SL_SPLAT(INFINITY);                                                       \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles cost = (SL_READ(costs + k) - least) + rate * SL_READ(losses + k);            \
        SL_WRITE(after + k) = cost;                                                             \
        best = SL_LESS(cost, best);                                                             \
    }                                                                                           \
    return SL_LEAST(best);                                                                      \
}

/* A trial with weights exp(-eta (costs - least)). Set the sums of weights, weights * losses and
   weights * VALUE, and the least loss; after = costs - least + losses. Return their least. */
#define SL_DEFINE_EXPONENTIAL(NAME, TARGET, VALUE)                                              \
TARGET static inline double NAME(ptrdiff_t n, const double *costs, double least, double eta,    \
                                 const double *losses, const double *values, double *after,     \
                                 double *sums) {                                                \
    sl_doubles total = {0}, mean = {0}, other = {0};                                            \
    sl_doubles best = SL_SPLAT(INFINITY), low = best;                                           \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        __builtin_prefetch(losses + k + SL_AHEAD);                                              \
        sl_doubles cost = SL_READ(costs + k) - least, loss = SL_READ(losses + k);               \
        sl_doubles weight = SL_EXP(-eta * cost);                                                \
        total += weight;                                                                        \
        mean += weight * loss;                                                                  \
        other += weight * (VALUE);                                                              \
        cost += loss;                                                                           \
        SL_WRITE(after + k) = cost;                                                             \
        best = SL_LESS(cost, best);                                                             \
        low = SL_LESS(loss, low);                                                               \
    }                                                                                           \
    sums[0] = SL_TOTAL(total);                                                                  \
    sums[1] = SL_TOTAL(mean);                                                                   \
    sums[2] = SL_TOTAL(other);                                                                  \
    sums[3] = SL_LEAST(low);                                                                    \
    return SL_LEAST(best);                                                                      \
}

/* A trial of fixed share with weights kept * before + given. Set the sums of weights,
   weights * losses and weights * VALUE, and the least loss; after = weights * exp(-eta losses);
   the losses are added to those lost before. Return the sum of the weights after. */
#define SL_DEFINE_SHARE(NAME, TARGET, VALUE)                                                    \
TARGET static inline double NAME(ptrdiff_t n, const double *before, double kept, double given,  \
                                 double eta, const double *losses, const double *values,        \
                                 const double *lost, double *after, double *lost_after,         \
                                 double *sums) {                                                \
    const sl_doubles zero = {0};                                                                \
    sl_doubles total = {0}, mean = {0}, other = {0}, left = {0};                                \
    sl_doubles low = SL_SPLAT(INFINITY);                                                        \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        __builtin_prefetch(losses + k + SL_AHEAD);                                              \
        sl_doubles weight = kept * SL_READ(before + k) + given, loss = SL_READ(losses + k);     \
        weight = SL_WHERE(weight > zero, weight, zero);                                         \
        if (n - k < SL_LANES) weight = SL_FIRST(n - k, weight, zero);                           \
        total += weight;                                                                        \
        mean += weight * loss;                                                                  \
        other += weight * (VALUE);                                                              \
        weight *= SL_EXP(-eta * loss);                                                          \
        SL_WRITE(after + k) = weight;                                                           \
        SL_WRITE(lost_after + k) = SL_READ(lost + k) + loss;                                    \
        left += weight;                                                                         \
        low = SL_LESS(loss, low);                                                               \
    }                                                                                           \
    sums[0] = SL_TOTAL(total);                                                                  \
    sums[1] = SL_TOTAL(mean);                                                                   \
    sums[2] = SL_TOTAL(other);                                                                  \
    sums[3] = SL_LEAST(low);                                                                    \
    return SL_TOTAL(left);                                                                      \
}

/* given = (1 - exp(rate * losses)) weights, for a rate below zero; return the sum. */
#define SL_DEFINE_GIVE(NAME, TARGET)                                                            \
TARGET static inline double NAME(ptrdiff_t n, const double *weights, const double *losses,      \
                                 double rate, double *given) {                                  \
    sl_doubles total = {0};                                                                     \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles power = rate * SL_READ(losses + k);                                          \
        sl_doubles share = SL_WHERE(power > SL_SPLAT(-0.34),                                    \
                                           -SL_EXPM1_SERIES(power), 1.0 - SL_EXP(power));       \
        share *= SL_READ(weights + k);                                                          \
        SL_WRITE(given + k) = share;                                                            \
        total += share;                                                                         \
    }                                                                                           \
    return SL_TOTAL(total);                                                                     \
}

/* costs = -log(weights - given + (pool - given) / others); where that is too small a number,
   costs = costs - least - rate * losses, as nothing was received. Return the least of them. */
#define SL_DEFINE_RECEIVE(NAME, TARGET)                                                         \
TARGET static inline double NAME(ptrdiff_t n, const double *weights, const double *given,       \
                                 const double *losses, double pool, double others, double rate, \
                                 double least, double *costs) {                                 \
    const sl_doubles tiny = SL_SPLAT(1e-300);                                                   \
    sl_doubles best = SL_SPLAT(INFINITY);                                                       \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles gift = SL_READ(given + k);                                                   \
        sl_doubles weight = (SL_READ(weights + k) - gift) + (pool - gift) * (1.0 / others);     \
        sl_doubles cost = (SL_READ(costs + k) - least) - rate * SL_READ(losses + k);            \
        cost = SL_WHERE(weight > tiny, -SL_LOG(weight), cost);                                  \
        if (n - k < SL_LANES) cost = SL_FIRST(n - k, cost, SL_SPLAT(INFINITY));                 \
        SL_WRITE(costs + k) = cost;                                                             \
        best = SL_LESS(cost, best);                                                             \
    }                                                                                           \
    return SL_LEAST(best);                                                                      \
}

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_WEIGH(NAME, TARGET)                                                           \
static inline double NAME(ptrdiff_t n, const double *costs, double least, double eta,           \
                          double *weights) {                                                    \
    double total = 0;                                                                           \
    for (ptrdiff_t k = 0; k < n; k++) total += weights[k] = exp(-eta * (costs[k] - least));     \
    return total;                                                                               \
}
#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
static inline double NAME(ptrdiff_t n, const double *weights, const double *values) {           \
    double sum = 0;                                                                             \
    for (ptrdiff_t k = 0; k < n; k++) sum += weights[k] * values[k];                            \
    return sum;                                                                                 \
}
#define SL_DEFINE_ADD(NAME, TARGET)                                                             \
static inline double NAME(ptrdiff_t n, const double *costs, double least, double rate,          \
                          const double *losses, double *after) {                                \
    double best = INFINITY;                                                                     \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        after[k] = (costs[k] - least) + rate * losses[k];                                       \
        best = fmin(best, after[k]);                                                            \
    }                                                                                           \
    return best;                                                                                \
}
#define SL_DEFINE_EXPONENTIAL(NAME, TARGET, VALUE)                                              \
static inline double NAME(ptrdiff_t n, const double *costs, double least, double eta,           \
                          const double *losses, const double *values, double *after,            \
                          double *sums) {                                                       \
    double best = INFINITY;                                                                     \
    sums[0] = sums[1] = sums[2] = 0;                                                            \
    sums[3] = INFINITY;                                                                         \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double cost = costs[k] - least, loss = losses[k], weight = exp(-eta * cost);            \
        sums[0] += weight;                                                                      \
        sums[1] += weight * loss;                                                               \
        sums[2] += weight * (VALUE);                                                            \
        after[k] = cost + loss;                                                                 \
        best = fmin(best, after[k]);                                                            \
        sums[3] = fmin(sums[3], loss);                                                          \
    }                                                                                           \
    return best;                                                                                \
}
#define SL_DEFINE_SHARE(NAME, TARGET, VALUE)                                                    \
static inline double NAME(ptrdiff_t n, const double *before, double kept, double given,         \
                          double eta, const double *losses, const double *values,               \
                          const double *lost, double *after, double *lost_after,                \
                          double *sums) {                                                       \
    double left = 0;                                                                            \
    sums[0] = sums[1] = sums[2] = 0;                                                            \
    sums[3] = INFINITY;                                                                         \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double weight = fmax(0, kept * before[k] + given), loss = losses[k];                    \
        sums[0] += weight;                                                                      \
        sums[1] += weight * loss;                                                               \
        sums[2] += weight * (VALUE);                                                            \
        left += after[k] = weight * exp(-eta * loss);                                           \
        lost_after[k] = lost[k] + loss;                                                         \
        sums[3] = fmin(sums[3], loss);                                                          \
    }                                                                                           \
    return left;                                                                                \
}
#define SL_DEFINE_GIVE(NAME, TARGET)                                                            \
static inline double NAME(ptrdiff_t n, const double *weights, const double *losses,             \
                          double rate, double *given) {                                         \
    double total = 0;                                                                           \
    for (ptrdiff_t k = 0; k < n; k++)                                                           \
        total += given[k] = -expm1(rate * losses[k]) * weights[k];                              \
    return total;                                                                               \
}
#define SL_DEFINE_RECEIVE(NAME, TARGET)                                                         \
static inline double NAME(ptrdiff_t n, const double *weights, const double *given,              \
                          const double *losses, double pool, double others, double rate,        \
                          double least, double *costs) {                                        \
    double best = INFINITY;                                                                     \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double weight = (weights[k] - given[k]) + (pool - given[k]) / others;                   \
        costs[k] = weight > 1e-300 ? -log(weight)                                               \
                                   : (costs[k] - least) - rate * losses[k];                     \
        best = fmin(best, costs[k]);                                                            \
    }                                                                                           \
    return best;                                                                                \
}
#endif

#define SL_DEFINE_ALL(SUFFIX, TARGET)                                                           \
SL_DEFINE_WEIGH(sl_weigh##SUFFIX, TARGET)                                                       \
SL_DEFINE_DOT(sl_dot##SUFFIX, TARGET)                                                           \
SL_DEFINE_ADD(sl_add##SUFFIX, TARGET)                                                           \
SL_DEFINE_EXPONENTIAL(sl_exponential##SUFFIX, TARGET, SL_READ(values + k))                      \
SL_DEFINE_EXPONENTIAL(sl_exponential_squares##SUFFIX, TARGET, loss * loss)                      \
SL_DEFINE_SHARE(sl_share##SUFFIX, TARGET, SL_READ(values + k))                                  \
SL_DEFINE_SHARE(sl_share_squares##SUFFIX, TARGET, loss * loss)                                  \
SL_DEFINE_GIVE(sl_give##SUFFIX, TARGET)                                                         \
SL_DEFINE_RECEIVE(sl_receive##SUFFIX, TARGET)

SL_FOR_EACH_SET(SL_DEFINE_ALL)

#define sl_weigh SL_BEST(sl_weigh)
#define sl_dot SL_BEST(sl_dot)
#define sl_add SL_BEST(sl_add)
#define sl_exponential SL_BEST(sl_exponential)
#define sl_exponential_squares SL_BEST(sl_exponential_squares)
#define sl_share SL_BEST(sl_share)
#define sl_share_squares SL_BEST(sl_share_squares)
#define sl_give SL_BEST(sl_give)
#define sl_receive SL_BEST(sl_receive)

#endif
