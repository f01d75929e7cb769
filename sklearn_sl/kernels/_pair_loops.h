/* Inner products and squared distances of all pairs of two sets of rows.

   LANES rows of the second set go side by side, a feature at a time, past a few rows of the
   first. Every number is the sum over the features in their order, and all numbers come from
   the same instructions, so that it depends on its two rows alone: not on how many others there
   are, and not on where it stands among them. (A matrix product of BLAS has other loops for its
   edges.) One copy of each function per instruction set; it is chosen when the program runs. */
#ifndef SKLEARN_SL_PAIR_LOOPS_H
#define SKLEARN_SL_PAIR_LOOPS_H

#include <stddef.h>

#define LANES 8
/* Terms of the sums, and what becomes of a sum: distances are negated, and never infinite. */
#define SL_PRODUCT(sum, x, t) sum += (x) * (t);
#define SL_AS_IT_IS(sum)
#define SL_SQUARE(sum, x, t) { sl_numbers gap = (x) - (t); sum += gap * gap; }
#define SL_NEGATE(sum) sum = SL_LEAST(sum, 1e200); sum = -sum;

#if defined(__GNUC__)
typedef double sl_numbers __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long sl_masks __attribute__((vector_size(64), aligned(8), may_alias));
/* In C a vector cannot be the condition of ?:, so bits are chosen by the mask. */
#define SL_LEAST(a, b)                                                                          \
    (sl_numbers)(((sl_masks)(a) & ~((a) > (b)))                                                 \
                 | ((sl_masks)((sl_numbers){0} + (b)) & ((a) > (b))))

/* Write the sums for n rows of `left` and n_lanes rows in `panel`. */
#define SL_DEFINE_PAIRS(NAME, TARGET, WIDTH, TERM, END)                                         \
TARGET static void NAME(ptrdiff_t n, ptrdiff_t n_features, const double *left,                  \
                        const double *panel, ptrdiff_t n_lanes, double *out,                    \
                        ptrdiff_t stride) {                                                     \
    for (ptrdiff_t first = 0; first < n; first += WIDTH) {                                      \
        const double *row[WIDTH];                                                               \
        sl_numbers sum[WIDTH];                                                                  \
        for (int j = 0; j < WIDTH; j++) {                                                       \
            row[j] = left + (first + j < n ? first + j : n - 1) * n_features;                   \
            sum[j] = (sl_numbers){0};                                                           \
        }                                                                                       \
        for (ptrdiff_t k = 0; k < n_features; k++) {                                            \
            sl_numbers x = *(const sl_numbers *)(panel + k * LANES);                            \
            for (int j = 0; j < WIDTH; j++) { TERM(sum[j], x, row[j][k]) }                      \
        }                                                                                       \
        for (int j = 0; j < WIDTH && first + j < n; j++) {                                      \
            double *to = out + (first + j) * stride;                                            \
            END(sum[j])                                                                         \
            if (n_lanes == LANES) *(sl_numbers *)to = sum[j];                                   \
            else                                                                                \
                for (ptrdiff_t lane = 0; lane < n_lanes; lane++) to[lane] = sum[j][lane];       \
        }                                                                                       \
    }                                                                                           \
}

#else /* a compiler without vectors: the same, a number at a time */
typedef double sl_numbers;
#define SL_LEAST(a, b) ((a) > (b) ? (b) : (a))
#define SL_DEFINE_PAIRS(NAME, TARGET, WIDTH, TERM, END)                                         \
static void NAME(ptrdiff_t n, ptrdiff_t n_features, const double *left, const double *panel,    \
                 ptrdiff_t n_lanes, double *out, ptrdiff_t stride) {                            \
    for (ptrdiff_t j = 0; j < n; j++)                                                           \
        for (ptrdiff_t lane = 0; lane < n_lanes; lane++) {                                      \
            double sum = 0.0;                                                                   \
            for (ptrdiff_t k = 0; k < n_features; k++) {                                        \
                TERM(sum, panel[k * LANES + lane], left[j * n_features + k])                    \
            }                                                                                   \
            END(sum)                                                                            \
            out[j * stride + lane] = sum;                                                       \
        }                                                                                       \
}
#endif

/* WIDTH: as many sums at once as the registers hold and the latency of an addition wants. */
#define SL_DEFINE_BOTH(SUFFIX, TARGET, WIDTH)                                                   \
SL_DEFINE_PAIRS(sl_products##SUFFIX, TARGET, WIDTH, SL_PRODUCT, SL_AS_IT_IS)                    \
SL_DEFINE_PAIRS(sl_distances##SUFFIX, TARGET, WIDTH, SL_SQUARE, SL_NEGATE)

SL_DEFINE_BOTH(_any, , 2)

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
SL_DEFINE_BOTH(_avx2, __attribute__((target("avx2,fma"))), 4)
SL_DEFINE_BOTH(_avx512, __attribute__((target("avx512f,fma"))), 8)

static int sl_level(void) {
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return 0;
    return __builtin_cpu_supports("avx512f") ? 2 : 1;
}
#define SL_CALL(NAME, ARGUMENTS)                                                                \
    (sl_level() == 2 ? NAME##_avx512 ARGUMENTS                                                  \
                     : sl_level() == 1 ? NAME##_avx2 ARGUMENTS : NAME##_any ARGUMENTS)
#else
#define SL_CALL(NAME, ARGUMENTS) NAME##_any ARGUMENTS
#endif

static inline void sl_products(ptrdiff_t n, ptrdiff_t n_features, const double *left,
                               const double *panel, ptrdiff_t n_lanes, double *out,
                               ptrdiff_t stride) {
    SL_CALL(sl_products, (n, n_features, left, panel, n_lanes, out, stride));
}
static inline void sl_distances(ptrdiff_t n, ptrdiff_t n_features, const double *left,
                                const double *panel, ptrdiff_t n_lanes, double *out,
                                ptrdiff_t stride) {
    SL_CALL(sl_distances, (n, n_features, left, panel, n_lanes, out, stride));
}

#endif
