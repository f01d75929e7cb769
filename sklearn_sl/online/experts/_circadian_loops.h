/* The passes over all experts that a trial of circadian specialists takes.

   Each is written once, for eight experts or, where a compiler knows no vectors, for one. One copy
   per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_CIRCADIAN_LOOPS_H
#define SKLEARN_SL_CIRCADIAN_LOOPS_H

#include "_dispatch.h"

/* No weight falls below this: it could not rise again, and products of two stay above zero. */
#define SL_FLOOR 1e-150
/* 2**52: a non-negative number that is added to it loses its fraction. */
#define SL_ROUNDER 4503599627370496.0

/* said = the class that advice stands for, floor(advice - threshold) + 1 or the first or last one;
   -1 for NaN. `n` is a multiple of the lanes here and below. */
#define SL_DEFINE_HEAR(NAME, TARGET)                                                            \
TARGET static void NAME(ptrdiff_t n, const double *advice, double threshold, double last,       \
                        double *said) {                                                         \
    const sl_doubles zero = SL_SPLAT(0.0), one = SL_SPLAT(1.0), top = SL_SPLAT(last - 1.0);     \
    const sl_doubles limit = SL_SPLAT(threshold), rounder = SL_SPLAT(SL_ROUNDER);               \
    for (ptrdiff_t h = 0; h < n; h += SL_STEP) {                                                \
        sl_doubles above = SL_READ(advice + h) - limit;                                         \
        sl_doubles inside = SL_WHERE(above > zero, above, zero);                                \
        inside = SL_WHERE(inside < top, inside, top);                                           \
        sl_doubles code = (inside + rounder) - rounder;                                         \
        code -= SL_WHERE(code > inside, one, zero);                                             \
        code = SL_WHERE(above >= zero, code + one, zero);                                       \
        SL_WRITE(said + h) = SL_WHERE(above == above, code, -one);                              \
    }                                                                                           \
}

/* Return the weight behind a class. */
#define SL_DEFINE_BEHIND(NAME, TARGET)                                                          \
TARGET static double NAME(ptrdiff_t n, double code, const double *said, const double *trust,    \
                          const double *awake) {                                                \
    const sl_doubles zero = SL_SPLAT(0.0), wanted = SL_SPLAT(code);                             \
    sl_doubles sum = zero;                                                                      \
    for (ptrdiff_t h = 0; h < n; h += SL_STEP)                                                  \
        sum += SL_WHERE(SL_READ(said + h) == wanted, SL_READ(trust + h) * SL_READ(awake + h),   \
                        zero);                                                                  \
    return SL_SUM(sum);                                                                         \
}

/* Multiply the awake parts of those who were right and wrong by their gains, then let experts fall
   asleep and wake up. */
#define SL_DEFINE_CHANGE(NAME, TARGET)                                                          \
TARGET static void NAME(ptrdiff_t n, double code, double right, double wrong, double theta,     \
                        double phi, const double *said, double *trust, double *awake) {         \
    const sl_doubles zero = SL_SPLAT(0.0), one = SL_SPLAT(1.0), least = SL_SPLAT(SL_FLOOR);     \
    const sl_doubles wanted = SL_SPLAT(code), won = SL_SPLAT(right), lost = SL_SPLAT(wrong);    \
    const sl_doubles stays = SL_SPLAT(theta), wakes = SL_SPLAT(phi);                            \
    for (ptrdiff_t h = 0; h < n; h += SL_STEP) {                                                \
        sl_doubles what = SL_READ(said + h), before = SL_READ(awake + h);                       \
        sl_doubles gain = SL_WHERE(what == wanted, won, lost);                                  \
        gain = SL_WHERE(what < zero, one, gain);                                                \
        sl_doubles after = gain * before, rest = one - before, whole = rest + after;            \
        sl_doubles trusted = SL_READ(trust + h) * whole;                                        \
        sl_doubles up = (wakes * rest + stays * after) / whole;                                 \
        up = SL_WHERE(up > least, up, least);                                                   \
        SL_WRITE(trust + h) = SL_WHERE(trusted > least, trusted, least);                        \
        /* Nothing is left of an expert that was awake for sure, and lost all. */               \
        SL_WRITE(awake + h) = SL_WHERE(whole > zero, up, stays);                                \
    }                                                                                           \
}

#define SL_DEFINE_CIRCADIAN(SUFFIX, TARGET)                                                     \
SL_DEFINE_HEAR(sl_hear##SUFFIX, TARGET)                                                         \
SL_DEFINE_BEHIND(sl_behind##SUFFIX, TARGET)                                                     \
SL_DEFINE_CHANGE(sl_change##SUFFIX, TARGET)

SL_FOR_EACH_SET(SL_DEFINE_CIRCADIAN)

#define sl_hear SL_BEST(sl_hear)
#define sl_behind SL_BEST(sl_behind)
#define sl_change SL_BEST(sl_change)

#endif
