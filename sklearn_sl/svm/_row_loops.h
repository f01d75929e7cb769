/* A row of a kernel matrix: the products, or the squared distances, of one sample with many others,
   and the exponential, or the power, of them all.

   SL_LANES samples go side by side, a feature at a time; such a group is a panel. One copy of each
   function per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_ROW_LOOPS_H
#define SKLEARN_SL_ROW_LOOPS_H

#include <math.h>

#include "_dispatch.h"

#if defined(__GNUC__)

#define SL_TERM_PRODUCT(sum, t, x) sum += (t) * (x);
#define SL_TERM_SQUARE(sum, t, x) { sl_doubles gap = (t) - (x); sum += gap * gap; }

/* Write the sums over the features of `x` and of the samples in the panels. */
#define SL_DEFINE_SUMS(NAME, TARGET, WIDTH, TERM)                                               \
TARGET static void NAME(ptrdiff_t n_features, const double *x, const double *panels,            \
                        ptrdiff_t n_panels, double *out) {                                      \
    for (ptrdiff_t first = 0; first < n_panels; first += WIDTH) {                               \
        const double *panel[WIDTH];                                                             \
        sl_doubles sum[WIDTH];                                                                  \
        for (int j = 0; j < WIDTH; j++) {                                                       \
            ptrdiff_t place = first + j < n_panels ? first + j : n_panels - 1;                  \
            panel[j] = panels + place * n_features * SL_LANES;                                  \
            sum[j] = SL_SPLAT(0.0);                                                             \
        }                                                                                       \
        for (ptrdiff_t k = 0; k < n_features; k++) {                                            \
            sl_doubles own = SL_SPLAT(x[k]);                                                    \
            for (int j = 0; j < WIDTH; j++) { TERM(sum[j], SL_READ(panel[j] + k * SL_LANES), own) } \
        }                                                                                       \
        for (int j = 0; j < WIDTH && first + j < n_panels; j++)                                 \
            SL_WRITE(out + (first + j) * SL_LANES) = sum[j];                                    \
    }                                                                                           \
}

/* Replace numbers s >= 0 by exp(-s), and by zero where that is no normal number.

   With s = k log 2 - r the exponential is 2^-k exp(r), and exp(r) the sum of its series, whose
   first term left out is below the rounding error for |r| <= log(2) / 2. Adding 1.5 * 2^52 rounds to
   whole numbers, and leaves them in the low bits of the sum. */
#define SL_DEFINE_EXP(NAME, TARGET)                                                             \
TARGET static void NAME(ptrdiff_t n, double *values) {                                          \
    for (ptrdiff_t i = 0; i < n; i += SL_LANES) {                                               \
        sl_doubles s = -SL_READ(values + i);                                                    \
        sl_longs tiny = s < SL_SPLAT(-708.0);                                                   \
        s = SL_WHERE(tiny, SL_SPLAT(-708.0), s);                                                \
        sl_doubles shifted = s * SL_SPLAT(1.4426950408889634) + SL_SPLAT(6755399441055744.0);   \
        sl_doubles k = shifted - SL_SPLAT(6755399441055744.0);                                  \
        sl_doubles r = s - k * SL_SPLAT(0.693147180369123816490);                               \
        r = r - k * SL_SPLAT(1.90821492927058770002e-10);                                       \
        sl_doubles sum = SL_SPLAT(1.0 / 6227020800.0);                                          \
        sum = sum * r + SL_SPLAT(1.0 / 479001600.0);                                            \
        sum = sum * r + SL_SPLAT(1.0 / 39916800.0);                                             \
        sum = sum * r + SL_SPLAT(1.0 / 3628800.0);                                              \
        sum = sum * r + SL_SPLAT(1.0 / 362880.0);                                               \
        sum = sum * r + SL_SPLAT(1.0 / 40320.0);                                                \
        sum = sum * r + SL_SPLAT(1.0 / 5040.0);                                                 \
        sum = sum * r + SL_SPLAT(1.0 / 720.0);                                                  \
        sum = sum * r + SL_SPLAT(1.0 / 120.0);                                                  \
        sum = sum * r + SL_SPLAT(1.0 / 24.0);                                                   \
        sum = sum * r + SL_SPLAT(1.0 / 6.0);                                                    \
        sum = sum * r + SL_SPLAT(0.5);                                                          \
        sum = sum * r + SL_SPLAT(1.0);                                                          \
        sum = sum * r + SL_SPLAT(1.0);                                                          \
        sl_bits scaled = (sl_bits)sum + ((sl_bits)shifted << 52);                               \
        SL_WRITE(values + i) = SL_WHERE(tiny, SL_SPLAT(0.0), (sl_doubles)scaled);               \
    }                                                                                           \
}

/* Replace numbers s by (gamma s + coef0) ** degree, for a whole degree of one or more. */
#define SL_DEFINE_POWER(NAME, TARGET)                                                           \
TARGET static void NAME(ptrdiff_t n, double *values, double gamma, double coef0, int degree) {  \
    for (ptrdiff_t i = 0; i < n; i += SL_LANES) {                                               \
        sl_doubles base = SL_READ(values + i) * SL_SPLAT(gamma) + SL_SPLAT(coef0);              \
        sl_doubles power = SL_SPLAT(1.0);                                                       \
        for (int left = degree; left; left >>= 1) {                                             \
            if (left & 1) power *= base;                                                        \
            base *= base;                                                                       \
        }                                                                                       \
        SL_WRITE(values + i) = power;                                                           \
    }                                                                                           \
}

/* Return the sum of the products of two lists of numbers. */
#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
TARGET static double NAME(ptrdiff_t n, const double *a, const double *b) {                      \
    sl_doubles sums = SL_SPLAT(0.0);                                                            \
    ptrdiff_t i = 0;                                                                            \
    for (; i + SL_LANES <= n; i += SL_LANES) sums += SL_READ(a + i) * SL_READ(b + i);           \
    double sum = SL_SUM(sums);                                                                  \
    for (; i < n; i++) sum += a[i] * b[i];                                                      \
    return sum;                                                                                 \
}

#else /* a compiler without vectors: the same, a number at a time */

#define SL_DEFINE_DOT(NAME, TARGET)                                                             \
static double NAME(ptrdiff_t n, const double *a, const double *b) {                             \
    double sum = 0.0;                                                                           \
    for (ptrdiff_t i = 0; i < n; i++) sum += a[i] * b[i];                                       \
    return sum;                                                                                 \
}
#define SL_TERM_PRODUCT(sum, t, x) sum += (t) * (x);
#define SL_TERM_SQUARE(sum, t, x) sum += ((t) - (x)) * ((t) - (x));
#define SL_DEFINE_SUMS(NAME, TARGET, WIDTH, TERM)                                               \
static void NAME(ptrdiff_t n_features, const double *x, const double *panels,                   \
                 ptrdiff_t n_panels, double *out) {                                             \
    for (ptrdiff_t i = 0; i < n_panels * SL_LANES; i++) {                                       \
        const double *panel = panels + i / SL_LANES * n_features * SL_LANES + i % SL_LANES;     \
        double sum = 0.0;                                                                       \
        for (ptrdiff_t k = 0; k < n_features; k++) { TERM(sum, panel[k * SL_LANES], x[k]) }     \
        out[i] = sum;                                                                           \
    }                                                                                           \
}
#define SL_DEFINE_EXP(NAME, TARGET)                                                             \
static void NAME(ptrdiff_t n, double *values) {                                                 \
    for (ptrdiff_t i = 0; i < n; i++) values[i] = values[i] > 708.0 ? 0.0 : exp(-values[i]);    \
}
#define SL_DEFINE_POWER(NAME, TARGET)                                                           \
static void NAME(ptrdiff_t n, double *values, double gamma, double coef0, int degree) {         \
    for (ptrdiff_t i = 0; i < n; i++) {                                                         \
        double base = values[i] * gamma + coef0, power = 1.0;                                   \
        for (int left = degree; left; left >>= 1) {                                             \
            if (left & 1) power *= base;                                                        \
            base *= base;                                                                       \
        }                                                                                       \
        values[i] = power;                                                                      \
    }                                                                                           \
}
#endif

/* As many sums at once as the registers hold and the latency of an addition wants. */
#define SL_PANELS_any 2
#define SL_PANELS_avx2 4
#define SL_PANELS_avx512 8
#define SL_DEFINE_ROWS(SUFFIX, TARGET)                                                          \
SL_DEFINE_SUMS(sl_row_products##SUFFIX, TARGET, SL_PANELS##SUFFIX, SL_TERM_PRODUCT)             \
SL_DEFINE_SUMS(sl_row_squares##SUFFIX, TARGET, SL_PANELS##SUFFIX, SL_TERM_SQUARE)               \
SL_DEFINE_EXP(sl_row_exp##SUFFIX, TARGET)                                                       \
SL_DEFINE_POWER(sl_row_power##SUFFIX, TARGET)                                                   \
SL_DEFINE_DOT(sl_row_dot##SUFFIX, TARGET)

SL_FOR_EACH_SET(SL_DEFINE_ROWS)

#define sl_row_products SL_BEST(sl_row_products)
#define sl_row_squares SL_BEST(sl_row_squares)
#define sl_row_exp SL_BEST(sl_row_exp)
#define sl_row_power SL_BEST(sl_row_power)
#define sl_row_dot SL_BEST(sl_row_dot)

#endif
