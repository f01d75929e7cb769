/* The two vectorised passes of an SMO step, and the update of a gradient by kernel rows.

   `v` is the negative gradient of the dual; `up[k]` and `lo[k]` are what a move of variable k
   upwards or downwards adds to it: minus or plus the width of the insensitive zone, or minus
   or plus infinity where the move is barred. All arrays are padded to a multiple of LANES,
   the padding barred both ways. One copy of each function per instruction set; it is chosen
   when the program runs. */
#ifndef SKLEARN_SL_SMO_LOOPS_H
#define SKLEARN_SL_SMO_LOOPS_H

#include <math.h>
#include <stddef.h>

#define LANES 8

#if defined(__GNUC__)
typedef double sl_double8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long sl_index8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float sl_float8 __attribute__((vector_size(32), aligned(4), may_alias));
#define SL_SPLAT(x) ((sl_double8){x, x, x, x, x, x, x, x})
#define SL_SPLAT_INDEX(x) ((sl_index8){x, x, x, x, x, x, x, x})
#define SL_WIDEN(x) __builtin_convertvector(x, sl_double8)
/* In C a vector cannot be the condition of ?:, so bits are chosen by the mask. */
#define SL_WHERE(mask, a, b)                                                                    \
    ((__typeof__(a))(((sl_index8)(a) & (mask)) | ((sl_index8)(b) & ~(mask))))
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define SL_TARGETS 1
#endif

#if defined(__GNUC__)

/* v -= a Ka + b Kb; return the index of the largest v + up, that value, and the least v + lo. */
#define SL_DEFINE_ADVANCE(NAME, TARGET, REAL, REAL8)                                            \
TARGET static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ka, const REAL *Kb, double a, double b,   \
                             double *v, const double *up, const double *lo,                     \
                             double *largest, double *least) {                                  \
    sl_double8 a8 = SL_SPLAT(a), b8 = SL_SPLAT(b);                                              \
    sl_double8 top = SL_SPLAT(-INFINITY), bottom = SL_SPLAT(INFINITY);                          \
    sl_index8 where = SL_SPLAT_INDEX(0), here = {0, 1, 2, 3, 4, 5, 6, 7};                       \
    for (ptrdiff_t k = 0; k < n; k += LANES) {                                                  \
        sl_double8 value = *(sl_double8 *)(v + k) - a8 * SL_WIDEN(*(const REAL8 *)(Ka + k))     \
                           - b8 * SL_WIDEN(*(const REAL8 *)(Kb + k));                           \
        *(sl_double8 *)(v + k) = value;                                                         \
        sl_double8 high = value + *(const sl_double8 *)(up + k);                                \
        sl_double8 low = value + *(const sl_double8 *)(lo + k);                                 \
        sl_index8 better = high > top;                                                          \
        top = SL_WHERE(better, high, top);                                                      \
        where = SL_WHERE(better, here, where);                                                  \
        bottom = SL_WHERE(low < bottom, low, bottom);                                           \
        here += LANES;                                                                          \
    }                                                                                           \
    ptrdiff_t winner = where[0];                                                                \
    double best = top[0], worst = bottom[0];                                                    \
    for (int lane = 1; lane < LANES; lane++) {                                                  \
        if (top[lane] > best) { best = top[lane]; winner = where[lane]; }                       \
        if (bottom[lane] < worst) worst = bottom[lane];                                         \
    }                                                                                           \
    *largest = best;                                                                            \
    *least = worst;                                                                             \
    return winner;                                                                              \
}

/* Return the j that gains most with i: the largest (m - v_j - lo_j)**2 / curvature. */
#define SL_DEFINE_PARTNER(NAME, TARGET, REAL, REAL8)                                            \
TARGET static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ki, const double *diagonal, double own,   \
                             double m, const double *v, const double *lo, double flat) {        \
    sl_double8 m8 = SL_SPLAT(m), own8 = SL_SPLAT(own), flat8 = SL_SPLAT(flat);                  \
    sl_double8 zero = SL_SPLAT(0.0), gain = SL_SPLAT(0.0), cost = SL_SPLAT(1.0);                \
    sl_index8 where = SL_SPLAT_INDEX(-1), here = {0, 1, 2, 3, 4, 5, 6, 7};                      \
    for (ptrdiff_t k = 0; k < n; k += LANES) {                                                  \
        sl_double8 slope = m8 - (*(const sl_double8 *)(v + k) + *(const sl_double8 *)(lo + k)); \
        sl_double8 row = SL_WIDEN(*(const REAL8 *)(Ki + k));                                    \
        sl_double8 curvature = own8 + *(const sl_double8 *)(diagonal + k) - (row + row);        \
        slope = SL_WHERE(slope > zero, slope, zero);                                            \
        curvature = SL_WHERE(curvature > flat8, curvature, flat8);                              \
        sl_double8 square = slope * slope;                                                      \
        sl_index8 better = square * cost > gain * curvature;                                    \
        gain = SL_WHERE(better, square, gain);                                                  \
        cost = SL_WHERE(better, curvature, cost);                                               \
        where = SL_WHERE(better, here, where);                                                  \
        here += LANES;                                                                          \
    }                                                                                           \
    ptrdiff_t winner = where[0];                                                                \
    double best = gain[0], price = cost[0];                                                     \
    for (int lane = 1; lane < LANES; lane++)                                                    \
        if (gain[lane] * price > best * cost[lane]) {                                           \
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
    sl_double8 a = SL_SPLAT(factors[0]), b = SL_SPLAT(factors[1]);                              \
    sl_double8 c = SL_SPLAT(factors[2]), d = SL_SPLAT(factors[3]);                              \
    const REAL *Ka = rows[0], *Kb = rows[1], *Kc = rows[2], *Kd = rows[3];                      \
    for (ptrdiff_t k = 0; k < n; k += LANES)                                                    \
        *(sl_double8 *)(v + k) -= a * SL_WIDEN(*(const REAL8 *)(Ka + k))                        \
                                  + b * SL_WIDEN(*(const REAL8 *)(Kb + k))                      \
                                  + c * SL_WIDEN(*(const REAL8 *)(Kc + k))                      \
                                  + d * SL_WIDEN(*(const REAL8 *)(Kd + k));                     \
}

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_ADVANCE(NAME, TARGET, REAL, REAL8)                                            \
static ptrdiff_t NAME(ptrdiff_t n, const REAL *Ka, const REAL *Kb, double a, double b,          \
                      double *v, const double *up, const double *lo, double *largest,           \
                      double *least) {                                                          \
    ptrdiff_t winner = 0;                                                                       \
    double best = -INFINITY, worst = INFINITY;                                                  \
    for (ptrdiff_t k = 0; k < n; k++) {                                                         \
        double value = v[k] - a * Ka[k] - b * Kb[k];                                            \
        v[k] = value;                                                                           \
        if (value + up[k] > best) { best = value + up[k]; winner = k; }                         \
        if (value + lo[k] < worst) worst = value + lo[k];                                       \
    }                                                                                           \
    *largest = best;                                                                            \
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
        if (slope * slope * cost > gain * curvature) {                                          \
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
SL_DEFINE_ADVANCE(sl_advance_f##SUFFIX, TARGET, float, sl_float8)                               \
SL_DEFINE_ADVANCE(sl_advance_d##SUFFIX, TARGET, double, sl_double8)                             \
SL_DEFINE_PARTNER(sl_partner_f##SUFFIX, TARGET, float, sl_float8)                               \
SL_DEFINE_PARTNER(sl_partner_d##SUFFIX, TARGET, double, sl_double8)                             \
SL_DEFINE_SUBTRACT(sl_subtract_f##SUFFIX, TARGET, float, sl_float8)                             \
SL_DEFINE_SUBTRACT(sl_subtract_d##SUFFIX, TARGET, double, sl_double8)

SL_DEFINE_ALL(_any, )
#ifdef SL_TARGETS
SL_DEFINE_ALL(_avx2, __attribute__((target("avx2,fma"))))
SL_DEFINE_ALL(_avx512, __attribute__((target("avx512f,avx512dq,fma"))))

static int sl_level(void) {
    static int level = -1;
    if (level < 0) {
        int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        int avx512 = avx2 && __builtin_cpu_supports("avx512f")
                     && __builtin_cpu_supports("avx512dq");
        level = avx512 ? 2 : avx2 ? 1 : 0;
    }
    return level;
}
#define SL_CALL(NAME, ARGUMENTS)                                                                \
    (sl_level() == 2 ? NAME##_avx512 ARGUMENTS                                                  \
                     : sl_level() == 1 ? NAME##_avx2 ARGUMENTS : NAME##_any ARGUMENTS)
#else
#define SL_CALL(NAME, ARGUMENTS) NAME##_any ARGUMENTS
#endif

#define SL_DEFINE_FACE(LETTER, REAL)                                                            \
static inline ptrdiff_t sl_advance_##LETTER(                                                    \
        ptrdiff_t n, const REAL *Ka, const REAL *Kb, double a, double b, double *v,             \
        const double *up, const double *lo, double *largest, double *least) {                   \
    return SL_CALL(sl_advance_##LETTER, (n, Ka, Kb, a, b, v, up, lo, largest, least));          \
}                                                                                               \
static inline ptrdiff_t sl_partner_##LETTER(                                                    \
        ptrdiff_t n, const REAL *Ki, const double *diagonal, double own, double m,              \
        const double *v, const double *lo, double flat) {                                       \
    return SL_CALL(sl_partner_##LETTER, (n, Ki, diagonal, own, m, v, lo, flat));                \
}                                                                                               \
static inline void sl_subtract_##LETTER(                                                        \
        ptrdiff_t n, const REAL *const *rows, const double *factors, double *v) {               \
    SL_CALL(sl_subtract_##LETTER, (n, rows, factors, v));                                       \
}
SL_DEFINE_FACE(f, float)
SL_DEFINE_FACE(d, double)

#endif
