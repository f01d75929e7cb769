/* The two vectorised passes of an SMO step, and the update of a gradient by kernel rows.

   `v` is the negative gradient of the dual; `up[k]` and `lo[k]` are what a move of variable k
   upwards or downwards adds to it: minus or plus the width of the insensitive zone, or minus
   or plus infinity where the move is barred. All arrays are padded to a multiple of SL_LANES,
   the padding barred both ways. One copy of each function per instruction set; it is chosen
   when the program runs. */
#ifndef SKLEARN_SL_SMO_LOOPS_H
#define SKLEARN_SL_SMO_LOOPS_H

#include <math.h>

#include "_dispatch.h"

/* A gain is larger than another if it is so many times as large. */
#define SL_MORE (1 + 1e-9)

#if defined(__GNUC__)

#define SL_WIDEN(x) __builtin_convertvector(x, sl_doubles)

/* v -= a Ka + b Kb; return the index of the largest v + up, that value, and the least v + lo.

   Of values that differ by less than `grain` one is taken whatever the rounding errors are, so that
   these do not decide between equals; the same with gains below. */
#define SL_DEFINE_ADVANCE(NAME, TARGET, REAL, REAL8)                                            \
TARGET static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ka, const REAL *Kb, double a, double b,   \
                             double *v, const double *up, const double *lo, double grain,       \
                             double *largest, double *least) {                                  \
    sl_doubles a8 = SL_SPLAT(a), b8 = SL_SPLAT(b), grain8 = SL_SPLAT(grain);                    \
    sl_doubles top = SL_SPLAT(-INFINITY), peak = top, bottom = SL_SPLAT(INFINITY);              \
    sl_longs where = SL_SPLAT_LONG(0), here = {0, 1, 2, 3, 4, 5, 6, 7};                         \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles value = SL_READ(v + k) - a8 * SL_WIDEN(*(const REAL8 *)(Ka + k))             \
                           - b8 * SL_WIDEN(*(const REAL8 *)(Kb + k));                           \
        SL_WRITE(v + k) = value;                                                                \
        sl_doubles high = value + SL_READ(up + k);                                              \
        sl_doubles low = value + SL_READ(lo + k);                                               \
        sl_longs better = high > top + grain8;                                                  \
        top = SL_WHERE(better, high, top);                                                      \
        peak = SL_WHERE(high > peak, high, peak);                                               \
        where = SL_WHERE(better, here, where);                                                  \
        bottom = SL_WHERE(low < bottom, low, bottom);                                           \
        here += SL_LANES;                                                                       \
    }                                                                                           \
    ptrdiff_t winner = where[0];                                                                \
    double best = top[0], most = peak[0], worst = bottom[0];                                    \
    for (int lane = 1; lane < SL_LANES; lane++) {                                               \
        if (top[lane] > best + grain) { best = top[lane]; winner = where[lane]; }               \
        if (peak[lane] > most) most = peak[lane];                                               \
        if (bottom[lane] < worst) worst = bottom[lane];                                         \
    }                                                                                           \
    *largest = most;                                                                            \
    *least = worst;                                                                             \
    return winner;                                                                              \
}

/* Return the j that gains most with i: the largest (m - v_j - lo_j)**2 / curvature. */
#define SL_DEFINE_PARTNER(NAME, TARGET, REAL, REAL8)                                            \
TARGET static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ki, const double *diagonal, double own,   \
                             double m, const double *v, const double *lo, double flat) {        \
    sl_doubles m8 = SL_SPLAT(m), own8 = SL_SPLAT(own), flat8 = SL_SPLAT(flat);                  \
    sl_doubles zero = SL_SPLAT(0.0), gain = SL_SPLAT(0.0), cost = SL_SPLAT(1.0);                \
    sl_longs where = SL_SPLAT_LONG(-1), here = {0, 1, 2, 3, 4, 5, 6, 7};                        \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES) {                                               \
        sl_doubles slope = m8 - (SL_READ(v + k) + SL_READ(lo + k));                             \
        sl_doubles row = SL_WIDEN(*(const REAL8 *)(Ki + k));                                    \
        sl_doubles curvature = own8 + SL_READ(diagonal + k) - (row + row);                      \
        slope = SL_WHERE(slope > zero, slope, zero);                                            \
        curvature = SL_WHERE(curvature > flat8, curvature, flat8);                              \
        sl_doubles square = slope * slope;                                                      \
        sl_longs better = square * cost > gain * curvature * SL_SPLAT(SL_MORE);                 \
        gain = SL_WHERE(better, square, gain);                                                  \
        cost = SL_WHERE(better, curvature, cost);                                               \
        where = SL_WHERE(better, here, where);                                                  \
        here += SL_LANES;                                                                       \
    }                                                                                           \
    ptrdiff_t winner = where[0];                                                                \
    double best = gain[0], price = cost[0];                                                     \
    for (int lane = 1; lane < SL_LANES; lane++)                                                 \
        if (gain[lane] * price > best * cost[lane] * SL_MORE) {                                 \
            best = gain[lane];                                                                  \
            price = cost[lane];                                                                 \
            winner = where[lane];                                                               \
        }                                                                                       \
    return winner;                                                                              \
}

/* v -= a Ka + b Kb + c Kc + d Kd. */
#define SL_DEFINE_SUBTRACT(NAME, TARGET, REAL, REAL8)                                           \
TARGET static void NAME(ptrdiff_t n, const REAL *const *rows, const double *factors,            \
                        double *v) {                                                            \
    sl_doubles a = SL_SPLAT(factors[0]), b = SL_SPLAT(factors[1]);                              \
    sl_doubles c = SL_SPLAT(factors[2]), d = SL_SPLAT(factors[3]);                              \
    const REAL *Ka = rows[0], *Kb = rows[1], *Kc = rows[2], *Kd = rows[3];                      \
    for (ptrdiff_t k = 0; k < n; k += SL_LANES)                                                 \
        SL_WRITE(v + k) -= a * SL_WIDEN(*(const REAL8 *)(Ka + k))                               \
                                  + b * SL_WIDEN(*(const REAL8 *)(Kb + k))                      \
                                  + c * SL_WIDEN(*(const REAL8 *)(Kc + k))                      \
                                  + d * SL_WIDEN(*(const REAL8 *)(Kd + k));                     \
}

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_ADVANCE(NAME, TARGET, REAL, REAL8)                                            \
static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ka, const REAL *Kb, double a, double b,          \
                      double *v, const double *up, const double *lo, double grain,              \
                      double *largest, double *least) {                                         \
    ptrdiff_t winner = 0;                                                                       \
    double best = -INFINITY, most = -INFINITY, worst = INFINITY;                                \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double value = v[k] - a * Ka[k] - b * Kb[k];                                            \
        v[k] = value;                                                                           \
        if (value + up[k] > best + grain) { best = value + up[k]; winner = k; }                 \
        if (value + up[k] > most) most = value + up[k];                                         \
        if (value + lo[k] < worst) worst = value + lo[k];                                       \
    }                                                                                           \
    *largest = most;                                                                            \
    *least = worst;                                                                             \
    return winner;                                                                              \
}
#define SL_DEFINE_PARTNER(NAME, TARGET, REAL, REAL8)                                            \
static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ki, const double *diagonal, double own,          \
                      double m, const double *v, const double *lo, double flat) {               \
    ptrdiff_t winner = -1;                                                                      \
    double gain = 0, cost = 1;                                                                  \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double slope = m - (v[k] + lo[k]), curvature = own + diagonal[k] - 2.0 * Ki[k];         \
        if (!(slope > 0)) continue;                                                             \
        if (!(curvature > flat)) curvature = flat;                                              \
        if (slope * slope * cost > gain * curvature * SL_MORE) {                                \
            gain = slope * slope;                                                               \
            cost = curvature;                                                                   \
            winner = k;                                                                         \
        }                                                                                       \
    }                                                                                           \
    return winner;                                                                              \
}
#define SL_DEFINE_SUBTRACT(NAME, TARGET, REAL, REAL8)                                           \
static void NAME(ptrdiff_t n, const REAL *const *rows, const double *factors, double *v) {      \
    for (ptrdiff_t k = 0; k < n; k++)                                                           \
        v[k] -= factors[0] * rows[0][k] + factors[1] * rows[1][k] + factors[2] * rows[2][k]     \
                + factors[3] * rows[3][k];                                                      \
}
#endif

#define SL_DEFINE_ALL(SUFFIX, TARGET)                                                           \
SL_DEFINE_ADVANCE(sl_advance_f##SUFFIX, TARGET, float, sl_floats)                               \
SL_DEFINE_ADVANCE(sl_advance_d##SUFFIX, TARGET, double, sl_doubles)                             \
SL_DEFINE_PARTNER(sl_partner_f##SUFFIX, TARGET, float, sl_floats)                               \
SL_DEFINE_PARTNER(sl_partner_d##SUFFIX, TARGET, double, sl_doubles)                             \
SL_DEFINE_SUBTRACT(sl_subtract_f##SUFFIX, TARGET, float, sl_floats)                             \
SL_DEFINE_SUBTRACT(sl_subtract_d##SUFFIX, TARGET, double, sl_doubles)

SL_FOR_EACH_SET(SL_DEFINE_ALL)

#define sl_advance_f SL_BEST(sl_advance_f)
#define sl_advance_d SL_BEST(sl_advance_d)
#define sl_partner_f SL_BEST(sl_partner_f)
#define sl_partner_d SL_BEST(sl_partner_d)
#define sl_subtract_f SL_BEST(sl_subtract_f)
#define sl_subtract_d SL_BEST(sl_subtract_d)

#endif
