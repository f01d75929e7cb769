/* The passes over all experts that a trial of circadian specialists takes.

   Each is written once, for eight experts or, where a compiler knows no vectors, for one. One copy
   per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_CIRCADIAN_LOOPS_H
#define SKLEARN_SL_CIRCADIAN_LOOPS_H

#include <stddef.h>

/* No weight falls below this: it could not rise again, and products of two stay above zero. */
#define SL_FLOOR 1e-150
/* 2**52: a non-negative number that is added to it loses its fraction. */
#define SL_ROUNDER 4503599627370496.0

#if defined(__GNUC__)
#define SL_LANES 8
typedef double sl_hours __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long sl_marks __attribute__((vector_size(64), aligned(8), may_alias));
#define SL_ALL(x) ((sl_hours){x, x, x, x, x, x, x, x})
#define SL_READ(p) (*(const sl_hours *)(p))
#define SL_WRITE(p) (*(sl_hours *)(p))
#define SL_SUM(x) (((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])))
/* In C a vector cannot be the condition of ?:, so bits are chosen by the mask. */
#define SL_WHERE(mask, a, b)                                                                    \
    ((sl_hours)(((sl_marks)(a) & (mask)) | ((sl_marks)(b) & ~(mask))))
#else
#define SL_LANES 1
typedef double sl_hours;
#define SL_ALL(x) (x)
#define SL_READ(p) (*(p))
#define SL_WRITE(p) (*(p))
#define SL_SUM(x) (x)
#define SL_WHERE(mask, a, b) ((mask) ? (a) : (b))
#endif

/* said = the class that advice stands for, floor(advice - threshold) + 1 or the first or last one;
   -1 for NaN. `n` is a multiple of the lanes here and below. */
#define SL_DEFINE_HEAR(NAME, TARGET)                                                            \
TARGET static void NAME(ptrdiff_t n, const double *advice, double threshold, double last,       \
                        double *said) {                                                         \
    const sl_hours zero = SL_ALL(0.0), one = SL_ALL(1.0), top = SL_ALL(last - 1.0);             \
    const sl_hours limit = SL_ALL(threshold), rounder = SL_ALL(SL_ROUNDER);                     \
    for (ptrdiff_t h = 0; h < n; h += SL_LANES) {                                               \
        sl_hours above = SL_READ(advice + h) - limit;                                           \
        sl_hours inside = SL_WHERE(above > zero, above, zero);                                  \
        inside = SL_WHERE(inside < top, inside, top);                                           \
        sl_hours code = (inside + rounder) - rounder;                                           \
        code -= SL_WHERE(code > inside, one, zero);                                             \
        code = SL_WHERE(above >= zero, code + one, zero);                                       \
        SL_WRITE(said + h) = SL_WHERE(above == above, code, -one);                              \
    }                                                                                           \
}

/* Return the weight behind a class. */
#define SL_DEFINE_BEHIND(NAME, TARGET)                                                          \
TARGET static double NAME(ptrdiff_t n, double code, const double *said, const double *trust,    \
                          const double *awake) {                                                \
    const sl_hours zero = SL_ALL(0.0), wanted = SL_ALL(code);                                   \
    sl_hours sum = zero;                                                                        \
    for (ptrdiff_t h = 0; h < n; h += SL_LANES)                                                 \
        sum += SL_WHERE(SL_READ(said + h) == wanted, SL_READ(trust + h) * SL_READ(awake + h),   \
                        zero);                                                                  \
    return SL_SUM(sum);                                                                         \
}

/* Multiply the awake parts of those who were right and wrong by their gains, then let experts fall
   asleep and wake up. */
#define SL_DEFINE_CHANGE(NAME, TARGET)                                                          \
TARGET static void NAME(ptrdiff_t n, double code, double right, double wrong, double theta,     \
                        double phi, const double *said, double *trust, double *awake) {         \
    const sl_hours zero = SL_ALL(0.0), one = SL_ALL(1.0), least = SL_ALL(SL_FLOOR);             \
    const sl_hours wanted = SL_ALL(code), won = SL_ALL(right), lost = SL_ALL(wrong);            \
    const sl_hours stays = SL_ALL(theta), wakes = SL_ALL(phi);                                  \
    for (ptrdiff_t h = 0; h < n; h += SL_LANES) {                                               \
        sl_hours what = SL_READ(said + h), before = SL_READ(awake + h);                         \
        sl_hours gain = SL_WHERE(what == wanted, won, lost);                                    \
        gain = SL_WHERE(what < zero, one, gain);                                                \
        sl_hours after = gain * before, rest = one - before, whole = rest + after;              \
        sl_hours trusted = SL_READ(trust + h) * whole;                                          \
        sl_hours up = (wakes * rest + stays * after) / whole;                                   \
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

SL_DEFINE_CIRCADIAN(_any, )

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
SL_DEFINE_CIRCADIAN(_avx2, __attribute__((target("avx2,fma"))))
SL_DEFINE_CIRCADIAN(_avx512, __attribute__((target("avx512f,avx512dq,fma"))))

static int sl_circadian_level(void) {
    static int level = -1;
    if (level < 0) {
        int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        int avx512 = avx2 && __builtin_cpu_supports("avx512f")
                     && __builtin_cpu_supports("avx512dq");
        level = avx512 ? 2 : avx2 ? 1 : 0;
    }
    return level;
}
#define SL_CIRCADIAN(NAME)                                                                      \
    (sl_circadian_level() == 2 ? NAME##_avx512                                                  \
     : sl_circadian_level() == 1 ? NAME##_avx2 : NAME##_any)
#else
#define SL_CIRCADIAN(NAME) NAME##_any
#endif

#define sl_hear SL_CIRCADIAN(sl_hear)
#define sl_behind SL_CIRCADIAN(sl_behind)
#define sl_change SL_CIRCADIAN(sl_change)

#endif
