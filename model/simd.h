/* simd: the compatibility header of the engine, the only place in model/ that names a compiler or a processor.
 *
 * SIMD_CLONES before a function compiles it for several instruction sets; the best one is chosen when the program
 * starts, so one portable binary runs at the speed of a native one. Only on static functions: clang 14 gives the chosen
 * copy a name of its own that other files do not know. SIMD_INLINE functions are compiled into each of those copies.
 * SimdReal is a short vector of SIMD_WIDTH numbers. LANTERN_NO_CLONES turns the copies off (ThreadSanitizer needs it),
 * LANTERN_PLAIN the kernels that choose for themselves: what is left is what a processor runs that is not known here.
 */
#ifndef MODEL_SIMD_H
#define MODEL_SIMD_H

#include "real.h"

#include <stdint.h>
#include <string.h>

#if defined(LANTERN_NO_CLONES) || !defined(__x86_64__) || !defined(__gnu_linux__)
#define SIMD_CLONES
#elif defined(__clang__) && __clang_major__ >= 14
#define SIMD_CLONES                                                                                                    \
    __attribute__((target_clones("default", "avx2", "avx512f"))) /* its resolver knows no arch= levels */
#elif !defined(__clang__) && defined(__GNUC__) && __GNUC__ >= 12
#define SIMD_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define SIMD_CLONES
#endif

/* For kernels that choose their instruction set themselves, by simd_has_..., with vectors of that many bits. */
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(LANTERN_PLAIN)
#define SIMD_TARGET_256 __attribute__((target("avx2,fma")))
#define SIMD_TARGET_512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
static inline int simd_has_256(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static inline int simd_has_512(void) {
    return simd_has_256() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/* Before a loop whose rounds do not depend on each other. (clang warns where it finds no vector code: libm calls in
 * double.) */
#if defined(__clang__) && REAL_IS_DOUBLE
#define SIMD_LOOP
#else
#define SIMD_LOOP _Pragma("omp simd")
#endif

#define SIMD_INLINE static inline __attribute__((always_inline))

#define SIMD_VECTOR(bytes)  __attribute__((vector_size(bytes)))
#define SIMD_ALIGNED(bytes) __attribute__((aligned(bytes)))

#define SIMD_BYTES 32
#define SIMD_WIDTH ((int)(SIMD_BYTES / sizeof(real)))
typedef real SimdReal SIMD_VECTOR(SIMD_BYTES);
#if REAL_IS_DOUBLE
typedef int64_t SimdMask SIMD_VECTOR(SIMD_BYTES);
#else
typedef int32_t SimdMask SIMD_VECTOR(SIMD_BYTES);
#endif

/* Asks for the cache line of an address that will be read soon; it need not be there. */
#define SIMD_PREFETCH(address) __builtin_prefetch(address)

/* Through memcpy: numbers need no alignment. Vectors travel by pointer, so that no call depends on how they are passed.
 */
#define SIMD_LOAD(to, from)                  memcpy(&(to), (from), SIMD_BYTES)
#define SIMD_STORE(to, from)                 memcpy((to), &(from), SIMD_BYTES)
#define SIMD_ADD_SCALED(sum, scalar, vector) ((sum) += (scalar) * (vector))
#define SIMD_ZERO(vector)                    ((vector) = (SimdReal){0})

/* most = lane by lane the larger of the two. */
#define SIMD_MAX(most, vector)                                                                                         \
    do {                                                                                                               \
        SimdMask larger_ = (vector) > (most);                                                                          \
        (most) = (SimdReal)(((SimdMask)(vector)&larger_) | ((SimdMask)(most) & ~larger_));                             \
    } while (0)

/* The lanes joined by halves: a fixed order, and a short chain. */
SIMD_INLINE real simd_total(const SimdReal *v) {
    real lane[SIMD_BYTES / sizeof(real)];
    memcpy(lane, v, SIMD_BYTES);
    for (int half = SIMD_WIDTH / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

SIMD_INLINE real simd_most(const SimdReal *v) {
    real lane[SIMD_BYTES / sizeof(real)];
    memcpy(lane, v, SIMD_BYTES);
    for (int half = SIMD_WIDTH / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lane[i] = lane[i + half] > lane[i] ? lane[i + half] : lane[i];
    return lane[0];
}

/* How many numbers hold N when rounded up to whole vectors. */
static inline int simd_round_up(int n) {
    return (n + SIMD_WIDTH - 1) / SIMD_WIDTH * SIMD_WIDTH;
}

/* Tells the processor that a loop only waits. */
static inline void simd_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
