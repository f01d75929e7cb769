/* Inner products and squared distances of all pairs of two sets of rows.

   SL_LANES rows of the second set go side by side, a feature at a time, past a few rows of the
   first. Every number is the sum over the features in their order, and all numbers come from
   the same instructions, so that it depends on its two rows alone: not on how many others there
   are, and not on where it stands among them. (A matrix product of BLAS has other loops for its
   edges.) One copy of each function per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_PAIR_LOOPS_H
#define SKLEARN_SL_PAIR_LOOPS_H

#include "_dispatch.h"

/* Terms of the sums, and what becomes of a sum: distances are negated, and never infinite. */
#define SL_PRODUCT(sum, x, t) sum += (x) * (t);
#define SL_AS_IT_IS(sum)
#define SL_SQUARE(sum, x, t) { sl_doubles gap = (x) - (t); sum += gap * gap; }
#define SL_NEGATE(sum) sum = -SL_WHERE(sum > SL_MOST, SL_MOST, sum);
#define SL_MOST SL_SPLAT(1e200)

#if defined(__GNUC__)
/* Write the sums for n rows of `left` and n_lanes rows in `panel`. */
#define SL_DEFINE_PAIRS(NAME, TARGET, WIDTH, TERM, END)                                         \
TARGET static void NAME(ptrdiff_t n, ptrdiff_t n_features, const double *left,                  \
                        const double *panel, ptrdiff_t n_lanes, double *out,                    \
                        ptrdiff_t stride) {                                                     \
    for (ptrdiff_t first = 0; first < n; first += WIDTH) {                                      \
        const double *row[WIDTH];                                                               \
        sl_doubles sum[WIDTH];                                                                  \
        for (int j = 0; j < WIDTH; j++) {                                                       \
            row[j] = left + (first + j < n ? first + j : n - 1) * n_features;                   \
            sum[j] = (sl_doubles){0};                                                           \
        }                                                                                       \
        for (ptrdiff_t k = 0; k < n_features; k++) {                                            \
            sl_doubles x = SL_READ(panel + k * SL_LANES);                                       \
            for (int j = 0; j < WIDTH; j++) { TERM(sum[j], x, row[j][k]) }                      \
        }                                                                                       \
        for (int j = 0; j < WIDTH && first + j < n; j++) {                                      \
            double *to = out + (first + j) * stride;                                            \
            END(sum[j])                                                                         \
            if (n_lanes == SL_LANES) SL_WRITE(to) = sum[j];                                     \
            else                                                                                \
                for (ptrdiff_t lane = 0; lane < n_lanes; lane++) to[lane] = sum[j][lane];       \
        }                                                                                       \
    }                                                                                           \
}

#else /* a compiler without vectors: the same, a number at a time */
#define SL_DEFINE_PAIRS(NAME, TARGET, WIDTH, TERM, END)                                         \
static void NAME(ptrdiff_t n, ptrdiff_t n_features, const double *left, const double *panel,    \
                 ptrdiff_t n_lanes, double *out, ptrdiff_t stride) {                            \
    for (ptrdiff_t j = 0; j < n; j++)                                                           \
        for (ptrdiff_t lane = 0; lane < n_lanes; lane++) {                                      \
            double sum = 0.0;                                                                   \
            for (ptrdiff_t k = 0; k < n_features; k++) {                                        \
                TERM(sum, panel[k * SL_LANES + lane], left[j * n_features + k])                 \
            }                                                                                   \
            END(sum)                                                                            \
            out[j * stride + lane] = sum;                                                       \
        }                                                                                       \
}
#endif

/* As many sums at once as the registers hold and the latency of an addition wants. */
#define SL_SUMS_any 2
#define SL_SUMS_avx2 4
#define SL_SUMS_avx512 8
#define SL_DEFINE_BOTH(SUFFIX, TARGET)                                                          \
SL_DEFINE_PAIRS(sl_products##SUFFIX, TARGET, SL_SUMS##SUFFIX, SL_PRODUCT, SL_AS_IT_IS)          \
SL_DEFINE_PAIRS(sl_distances##SUFFIX, TARGET, SL_SUMS##SUFFIX, SL_SQUARE, SL_NEGATE)

SL_FOR_EACH_SET(SL_DEFINE_BOTH)

#define sl_products SL_BEST(sl_products)
#define sl_distances SL_BEST(sl_distances)

#endif
