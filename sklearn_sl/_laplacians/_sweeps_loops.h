/* Sweeps over the rows of a sparse matrix for a few right-hand sides at once.

   The matrix is I - L - L' with a strictly lower triangular L >= 0; row i has its entries of L
   at indptr[i]..middle[i] and those of L' at middle[i]..indptr[i + 1]. Vectors of K sides are
   rows of K numbers, K a constant, so that the numbers of a row stay in registers while its
   neighbours are added. One copy of each function per instruction set and K. */
#ifndef SKLEARN_SL_SWEEPS_LOOPS_H
#define SKLEARN_SL_SWEEPS_LOOPS_H

#include <stdint.h>

#include "_dispatch.h"

#define SL_MOST_SIDES 8

typedef struct {
    ptrdiff_t n;
    const int64_t *indptr, *middle;
    const int32_t *indices;
    const double *data;
} sl_matrix;

/* p = r + beta p, and t = (I - L')^-1 p. */
#define SL_DEFINE_BACKWARD(NAME, TARGET, K)                                                     \
TARGET static void NAME(const sl_matrix *A, const double *restrict r, const double *beta,       \
                        double *restrict p, double *restrict t) {                               \
    for (ptrdiff_t i = A->n - 1; i >= 0; i--) {                                                 \
        double sum[K];                                                                          \
        for (int c = 0; c < K; c++)                                                             \
            sum[c] = p[i * K + c] = r[i * K + c] + beta[c] * p[i * K + c];                      \
        for (int64_t k = A->middle[i]; k < A->indptr[i + 1]; k++) {                             \
            const double w = A->data[k], *other = t + (ptrdiff_t)A->indices[k] * K;             \
            for (int c = 0; c < K; c++) sum[c] += w * other[c];                                 \
        }                                                                                       \
        for (int c = 0; c < K; c++) t[i * K + c] = sum[c];                                      \
    }                                                                                           \
}

/* s = (I - L)^-1 (p - t), and the inner products of p and t + s. */
#define SL_DEFINE_FORWARD(NAME, TARGET, K)                                                      \
TARGET static void NAME(const sl_matrix *A, const double *restrict p, const double *restrict t, \
                        double *restrict s, double *product) {                                  \
    double total[K];                                                                            \
    for (int c = 0; c < K; c++) total[c] = 0;                                                   \
    for (ptrdiff_t i = 0; i < A->n; i++) {                                                      \
        double sum[K];                                                                          \
        for (int c = 0; c < K; c++) sum[c] = p[i * K + c] - t[i * K + c];                       \
        for (int64_t k = A->indptr[i]; k < A->middle[i]; k++) {                                 \
            const double w = A->data[k], *other = s + (ptrdiff_t)A->indices[k] * K;             \
            for (int c = 0; c < K; c++) sum[c] += w * other[c];                                 \
        }                                                                                       \
        for (int c = 0; c < K; c++) {                                                           \
            s[i * K + c] = sum[c];                                                              \
            total[c] += p[i * K + c] * (t[i * K + c] + sum[c]);                                 \
        }                                                                                       \
    }                                                                                           \
    for (int c = 0; c < K; c++) product[c] = total[c];                                          \
}

/* y += alpha p, r -= alpha (t + s), and the squared norms of r. */
#define SL_DEFINE_ADVANCE(NAME, TARGET, K)                                                      \
TARGET static void NAME(ptrdiff_t n, const double *alpha, const double *restrict p,             \
                        const double *restrict t, const double *restrict s,                     \
                        double *restrict y, double *restrict r, double *norm) {                 \
    double total[K];                                                                            \
    for (int c = 0; c < K; c++) total[c] = 0;                                                   \
    for (ptrdiff_t i = 0; i < n; i++) {                                                         \
        for (int c = 0; c < K; c++) {                                                           \
            y[i * K + c] += alpha[c] * p[i * K + c];                                            \
            const double rest = r[i * K + c] - alpha[c] * (t[i * K + c] + s[i * K + c]);        \
            r[i * K + c] = rest;                                                                \
            total[c] += rest * rest;                                                            \
        }                                                                                       \
    }                                                                                           \
    for (int c = 0; c < K; c++) norm[c] = total[c];                                             \
}

#define SL_DEFINE_SIDES(SUFFIX, TARGET, K)                                                      \
    SL_DEFINE_BACKWARD(sl_backward_##K##SUFFIX, TARGET, K)                                      \
    SL_DEFINE_FORWARD(sl_forward_##K##SUFFIX, TARGET, K)                                        \
    SL_DEFINE_ADVANCE(sl_advance_##K##SUFFIX, TARGET, K)
typedef void (*sl_backward_t)(const sl_matrix *, const double *, const double *, double *,
                              double *);
typedef void (*sl_forward_t)(const sl_matrix *, const double *, const double *, double *,
                             double *);
typedef void (*sl_advance_t)(ptrdiff_t, const double *, const double *, const double *,
                             const double *, double *, double *, double *);

#define SL_TABLE(NAME, SUFFIX)                                                                  \
    {NAME##_1##SUFFIX, NAME##_2##SUFFIX, NAME##_3##SUFFIX, NAME##_4##SUFFIX,                    \
     NAME##_5##SUFFIX, NAME##_6##SUFFIX, NAME##_7##SUFFIX, NAME##_8##SUFFIX}
#define SL_DEFINE_ALL(SUFFIX, TARGET)                                                           \
    SL_DEFINE_SIDES(SUFFIX, TARGET, 1) SL_DEFINE_SIDES(SUFFIX, TARGET, 2)                       \
    SL_DEFINE_SIDES(SUFFIX, TARGET, 3) SL_DEFINE_SIDES(SUFFIX, TARGET, 4)                       \
    SL_DEFINE_SIDES(SUFFIX, TARGET, 5) SL_DEFINE_SIDES(SUFFIX, TARGET, 6)                       \
    SL_DEFINE_SIDES(SUFFIX, TARGET, 7) SL_DEFINE_SIDES(SUFFIX, TARGET, 8)                       \
    static const sl_backward_t sl_backwards##SUFFIX[] = SL_TABLE(sl_backward, SUFFIX);          \
    static const sl_forward_t sl_forwards##SUFFIX[] = SL_TABLE(sl_forward, SUFFIX);             \
    static const sl_advance_t sl_advances##SUFFIX[] = SL_TABLE(sl_advance, SUFFIX);

SL_FOR_EACH_SET(SL_DEFINE_ALL)

#define sl_backward_for(sides) SL_BEST(sl_backwards)[(sides) - 1]
#define sl_forward_for(sides) SL_BEST(sl_forwards)[(sides) - 1]
#define sl_advance_for(sides) SL_BEST(sl_advances)[(sides) - 1]

#endif
