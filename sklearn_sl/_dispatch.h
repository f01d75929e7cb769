/* Vectors of eight numbers, and one copy of a function per instruction set.

   SL_FOR_EACH_SET(DEFINE) writes DEFINE(SUFFIX, TARGET) out for each instruction set; it is to
   define functions NAME##SUFFIX that begin with TARGET. SL_BEST(NAME) is the copy for the processor
   that the program runs on. A compiler without these attributes makes one copy, NAME_any. */
#ifndef SKLEARN_SL_DISPATCH_H
#define SKLEARN_SL_DISPATCH_H

#include <stddef.h>

/* How many rows, strings or experts go side by side; arrays are padded to multiples of it. */
#define SL_LANES 8

/* Vectors may stand at the address of any number. Where the compiler has none, an sl_doubles is one
   double. SL_STEP is how many numbers it holds. */
#if defined(__GNUC__)
#define SL_VECTOR(TYPE, SIZE) __attribute__((vector_size(SIZE), aligned(sizeof(TYPE)), may_alias))
typedef double sl_doubles SL_VECTOR(double, 64);
typedef long long sl_longs SL_VECTOR(long long, 64);
/* Bits of doubles: sums and shifts of these may pass the sign, which is undefined for sl_longs. */
typedef unsigned long long sl_bits SL_VECTOR(unsigned long long, 64);
typedef float sl_floats SL_VECTOR(float, 32);
#define SL_STEP 8
#define SL_SPLAT(x) ((sl_doubles){x, x, x, x, x, x, x, x})
#define SL_SPLAT_LONG(x) ((sl_longs){x, x, x, x, x, x, x, x})
#define SL_SUM(x) (((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7])))
/* In C a vector cannot be the condition of ?:, so bits are chosen by the mask. */
#define SL_WHERE(mask, a, b)                                                                    \
    ((__typeof__(a))(((sl_longs)(a) & (mask)) | ((sl_longs)(b) & ~(mask))))
#else
typedef double sl_doubles;
#define SL_STEP 1
#define SL_SPLAT(x) (x)
#define SL_SUM(x) (x)
#define SL_WHERE(mask, a, b) ((mask) ? (a) : (b))
#endif
#define SL_READ(p) (*(const sl_doubles *)(p))
#define SL_WRITE(p) (*(sl_doubles *)(p))

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define SL_AVX2 __attribute__((target("avx2,fma")))
#define SL_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define SL_FOR_EACH_SET(DEFINE) DEFINE(_any, ) DEFINE(_avx2, SL_AVX2) DEFINE(_avx512, SL_AVX512)

static int sl_detected_level;

/* When the module is loaded: nothing is written later, when there are threads. */
__attribute__((constructor)) static void sl_detect_level(void) {
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return;
    sl_detected_level = 1;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl"))
        sl_detected_level = 2;
}

/* Return 2 for AVX-512, 1 for AVX2, 0 for what every processor has. */
static inline int sl_level(void) { return sl_detected_level; }
#define SL_BEST(NAME)                                                                           \
    (sl_level() == 2 ? NAME##_avx512 : sl_level() == 1 ? NAME##_avx2 : NAME##_any)
#else
#define SL_AVX2
#define SL_AVX512
#define SL_FOR_EACH_SET(DEFINE) DEFINE(_any, )
#define SL_BEST(NAME) NAME##_any
static inline int sl_level(void) { return 0; }
#endif

#endif
