/* Whether this thread replaces denormal results by zero: arithmetic with them is a hundred times
   slower. Where the processor cannot be told so, nothing happens. */
#ifndef SKLEARN_SL_FLUSH_H
#define SKLEARN_SL_FLUSH_H

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#define FLUSH_RESULTS_AND_INPUTS 0x8040u
static inline unsigned long long flush_denormals(void) {
    unsigned int before = _mm_getcsr();
    _mm_setcsr(before | FLUSH_RESULTS_AND_INPUTS);
    return before;
}
static inline void restore_denormals(unsigned long long before) { _mm_setcsr((unsigned int)before); }
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
static inline unsigned long long flush_denormals(void) {
    unsigned long long before;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(before));
    __asm__ __volatile__("msr fpcr, %0" : : "r"(before | (1ull << 24)));
    return before;
}
static inline void restore_denormals(unsigned long long before) {
    __asm__ __volatile__("msr fpcr, %0" : : "r"(before));
}
#else
static inline unsigned long long flush_denormals(void) { return 0; }
static inline void restore_denormals(unsigned long long before) { (void)before; }
#endif

#endif
