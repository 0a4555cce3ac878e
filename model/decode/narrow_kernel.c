#include "decode/narrow_kernel.h"

#include "bug.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

#if defined(SIMD_TARGET_512) && !REAL_IS_DOUBLE && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define NARROW_KERNEL
#endif
#endif

#ifndef NARROW_KERNEL

bool narrow_is_there(void) {
    return false;
}

void narrow_attend(const KvShape *s, const NarrowCache *c, const KvSight *sight, const real *q, real *scratch,
                   real *y) {
    (void)s, (void)c, (void)sight, (void)q, (void)scratch, (void)y;
    BUG_ON(true);
}

#else

enum { BLOCK = 16, TOGETHER = 2 /* heads that meet the same keys and values at once */ };
typedef float Wide SIMD_VECTOR(64);
typedef double Pairs SIMD_VECTOR(64); /* of two numbers each */
#define NARROW SIMD_TARGET_512 SIMD_INLINE

bool narrow_is_there(void) {
    return simd_has_512();
}

/* score[h][j] = scale * (q[h] . key j), j below N and on to the end of its block. */
NARROW void score_part(int heads, float scale, const float *q, const float *keys, size_t stride, int n, float *score,
                       size_t width) {
    for (int j = 0; j < n; j += BLOCK) {
        Wide sum[TOGETHER] = {0}, key;
        for (int d = 0; d < NARROW_WIDTH; d++) {
            memcpy(&key, keys + (size_t)d * stride + j, sizeof key);
            for (int h = 0; h < heads; h++) sum[h] += q[h * NARROW_WIDTH + d] * key;
        }
        for (int h = 0; h < heads; h++) {
            sum[h] *= scale;
            memcpy(score + (size_t)h * width + j, &sum[h], sizeof sum[h]);
        }
    }
}

/* Of whole blocks: lane by lane, then over the lanes. */
NARROW float largest(int whole, const float *w) {
    float lane[BLOCK];
    memcpy(lane, w, sizeof lane);
    for (int j = BLOCK; j < whole; j += BLOCK)
        SIMD_LOOP for (int i = 0; i < BLOCK; i++) lane[i] = w[j + i] > lane[i] ? w[j + i] : lane[i];
    return row_max(BLOCK, lane);
}

/* Scores become exp(score - largest), n of them, 0 behind the n-th to the end of its block; returns their sum. */
NARROW float weigh(int n, float *w) {
    int whole = (n + BLOCK - 1) / BLOCK * BLOCK;
    for (int j = n; j < whole; j++) w[j] = -REAL_INFINITY;
    float most = largest(whole, w);
    SIMD_LOOP for (int j = 0; j < whole; j++) w[j] = scalar_exp_below(w[j] - most);
    Wide sum = {0}, next;
    for (int j = 0; j < whole; j += BLOCK) {
        memcpy(&next, w + j, sizeof next);
        sum += next;
    }
    float lane[BLOCK];
    memcpy(lane, &sum, sizeof lane);
    for (int half = BLOCK / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

/* Both numbers at W, 8 times each. */
NARROW Wide both(const float *w) {
    double two;
    memcpy(&two, w, sizeof two);
    Wide v;
    Pairs pairs = {two, two, two, two, two, two, two, two};
    memcpy(&v, &pairs, sizeof v);
    return __builtin_shufflevector(v, v, 0, 0, 0, 0, 4, 4, 4, 4, 9, 9, 9, 9, 13, 13, 13, 13);
}

/* One position, number J of what is seen: the half of a vector that is its own. */
NARROW void mix_one(int heads, int j, const float *w, size_t width, const float *value, Wide sum[TOGETHER][2]) {
    float x[BLOCK] = {0};
    Wide v;
    memcpy(x + j % 2 * NARROW_WIDTH, value, NARROW_WIDTH * sizeof *x);
    memcpy(&v, x, sizeof v);
    for (int h = 0; h < heads; h++) sum[h][j / 2 % 2] += w[(size_t)h * width + (size_t)j] * v;
}

/* sum[h][j / 2 % 2], half j % 2, += w[h][j] value j, for the positions BEGIN .. END-1 of what is seen. */
NARROW void mix_part(int heads, int begin, int end, const float *w, size_t width, const float *values,
                     Wide sum[TOGETHER][2]) {
    Wide value;
    int j = begin;
    values -= (size_t)begin * NARROW_WIDTH;
    for (; j < end && j % 4; j++) mix_one(heads, j, w, width, values + (size_t)j * NARROW_WIDTH, sum);
    for (; j + 4 <= end; j += 4)
        for (int half = 0; half < 2; half++) {
            memcpy(&value, values + (size_t)(j + 2 * half) * NARROW_WIDTH, sizeof value);
            for (int h = 0; h < heads; h++) sum[h][half] += both(w + (size_t)h * width + j + 2 * half) * value;
        }
    for (; j < end; j++) mix_one(heads, j, w, width, values + (size_t)j * NARROW_WIDTH, sum);
}

/* HEADS heads that read the same keys and values; constant where this is compiled in. */
NARROW void attend_heads(const KvShape *s, int heads, const float *keys, const float *values, size_t stride,
                         const KvSight *sight, const float *q, float *w, float *y) {
    size_t width = stride + BLOCK;
    int first = sight->to[0] - sight->from[0], all = first + sight->to[1] - sight->from[1];
    float total[TOGETHER];
    Wide sum[TOGETHER][2] = {{{0}}};
    score_part(heads, s->scale, q, keys + sight->from[0], stride, first, w, width);
    if (all > first) score_part(heads, s->scale, q, keys + sight->from[1], stride, all - first, w + first, width);
    for (int h = 0; h < heads; h++) total[h] = weigh(all, w + (size_t)h * width);
    mix_part(heads, 0, first, w, width, values + (size_t)sight->from[0] * NARROW_WIDTH, sum);
    if (all > first) mix_part(heads, first, all, w, width, values + (size_t)sight->from[1] * NARROW_WIDTH, sum);
    for (int h = 0; h < heads; h++) {
        float lane[BLOCK], factor = 1 / total[h];
        sum[h][0] += sum[h][1];
        memcpy(lane, &sum[h][0], sizeof lane);
        for (int i = 0; i < NARROW_WIDTH; i++) y[h * NARROW_WIDTH + i] = (lane[i] + lane[i + NARROW_WIDTH]) * factor;
    }
}

SIMD_TARGET_512 void narrow_attend(const KvShape *s, const NarrowCache *c, const KvSight *sight, const real *q,
                                   real *scratch, real *y) {
    int group = s->heads / s->kv_heads, together = group % TOGETHER == 0 ? TOGETHER : 1;
    for (int h = 0; h < s->heads; h += together, q += together * NARROW_WIDTH, y += together * NARROW_WIDTH) {
        size_t kv = (size_t)(h / group);
        const real *keys = c->keys + kv * NARROW_WIDTH * c->key_stride,
                   *values = c->values + kv * NARROW_WIDTH * c->slots;
        if (together == TOGETHER)
            attend_heads(s, TOGETHER, keys, values, c->key_stride, sight, q, scratch, y);
        else
            attend_heads(s, 1, keys, values, c->key_stride, sight, q, scratch, y);
    }
}

#endif
