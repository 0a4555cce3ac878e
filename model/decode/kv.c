#include "decode/kv.h"

#include "bug.h"
#include "decode/narrow_kernel.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

#define WIDE_BYTES 64
typedef real WideReal SIMD_VECTOR(WIDE_BYTES);
#define WIDE_LOAD(to, from)  memcpy(&(to), (from), WIDE_BYTES)
#define WIDE_STORE(to, from) memcpy((to), &(from), WIDE_BYTES)
#define WIDE_ZERO(vector)    ((vector) = (WideReal){0})

enum {
    WIDTH = (int)(WIDE_BYTES / sizeof(real)),
    BLOCK = 16,   /* scores at a time: whole vectors of float and of double */
    AHEAD = 3,    /* blocks of keys that are asked for before they are needed */
    CHAINS = 4,   /* sums at a time in the mix: one alone would wait for each addition */
    TOGETHER = 2, /* heads that meet the same keys at once */
    COLUMNS = BLOCK / WIDTH,
};

/* One more block: the last one read may begin at any slot. */
static size_t key_stride(const KvShape *s) {
    return (size_t)(s->slots + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
}

static size_t value_stride(const KvShape *s) {
    return (size_t)simd_round_up(s->head_dim);
}

static size_t keys_size(const KvShape *s) {
    return (size_t)s->head_dim * key_stride(s); /* of one KV head */
}

static size_t values_size(const KvShape *s) {
    return (size_t)s->slots * value_stride(s);
}

static size_t values_at(const KvShape *s) {
    return (size_t)s->kv_heads * keys_size(s);
}

size_t kv_numbers(const KvShape *s) {
    return values_at(s) + (size_t)s->kv_heads * values_size(s);
}

size_t kv_scratch_numbers(const KvShape *s) {
    return (size_t)s->heads * (key_stride(s) + BLOCK);
}

void kv_store(const KvShape *s, real *cache, int slot, const real *k, const real *v) {
    size_t stride = key_stride(s), width = value_stride(s);
    real *key = cache + slot, *value = cache + values_at(s) + (size_t)slot * width;
    BUG_ON(slot < 0 || slot >= s->slots);
    for (int h = 0; h < s->kv_heads; h++, value += values_size(s), v += s->head_dim) {
        for (int d = 0; d < s->head_dim; d++, key += stride) *key = *k++;
        memcpy(value, v, (size_t)s->head_dim * sizeof *value);
    }
}

/* --- attention --- */

/* score[h][j] = sum over d of q[h][d] keys[d][from + j], j below N and on to the end of its block, for HEADS heads that
 * read the same keys; HEADS is a constant where this is compiled in. WIDTH: numbers from one head's scores to the next.
 */
SIMD_INLINE void score_part(int heads, int head_dim, const real *q, const real *keys, size_t stride, int n, real *score,
                            size_t width) {
    for (int j = 0; j < n; j += BLOCK) {
        WideReal sum[TOGETHER][COLUMNS], key[COLUMNS];
        const real *k = keys + j;
        for (int h = 0; h < heads; h++)
            for (int c = 0; c < COLUMNS; c++) WIDE_ZERO(sum[h][c]);
        for (int d = 0; d < head_dim; d++, k += stride) {
            if (j + AHEAD * BLOCK < n) SIMD_PREFETCH(k + AHEAD * BLOCK);
            for (int c = 0; c < COLUMNS; c++) WIDE_LOAD(key[c], k + c * WIDTH);
            for (int h = 0; h < heads; h++)
                for (int c = 0; c < COLUMNS; c++) SIMD_ADD_SCALED(sum[h][c], q[h * head_dim + d], key[c]);
        }
        for (int h = 0; h < heads; h++)
            for (int c = 0; c < COLUMNS; c++) WIDE_STORE(score + (size_t)h * width + j + c * WIDTH, sum[h][c]);
    }
}

/* The scores of what is seen, both parts one behind the other. */
SIMD_INLINE void score_heads(const KvShape *s, int heads, const real *q, const real *keys, const KvSight *sight,
                             real *w, size_t width) {
    int first = sight->to[0] - sight->from[0], second = sight->to[1] - sight->from[1];
    size_t stride = key_stride(s);
    score_part(heads, s->head_dim, q, keys + sight->from[0], stride, first, w, width);
    if (second > 0) score_part(heads, s->head_dim, q, keys + sight->from[1], stride, second, w + first, width);
}

/* Scores become exp(score - largest), n of them in WHOLE (blocks), 0 behind the n-th; returns their sum. All steps go
 * by the same short vectors: a wider load of what was just stored in parts would wait until that is in the cache. */
SIMD_INLINE real weigh_blocks(int n, int whole, real scale, real softcap, real *w) {
    for (int j = 0; softcap > 0 && j < whole; j++) w[j] = softcap * scalar_tanh(w[j] * scale / softcap);
    if (softcap > 0) scale = 1;
    for (int j = 0; j < whole; j += SIMD_WIDTH)
        for (int i = j; i < j + SIMD_WIDTH; i++) w[i] = i < n ? w[i] * scale : -REAL_INFINITY;
    real most = row_max(whole, w);
    for (int j = 0; j < whole; j += SIMD_WIDTH)
        SIMD_LOOP for (int i = j; i < j + SIMD_WIDTH; i++) w[i] = scalar_exp(w[i] - most);
    return row_sum(whole, w);
}

/* A single block has loops of its own, without ends. */
SIMD_INLINE real weigh(int n, real scale, real softcap, real *w) {
    if (n <= BLOCK) return weigh_blocks(n, BLOCK, scale, softcap, w);
    return weigh_blocks(n, (n + BLOCK - 1) / BLOCK * BLOCK, scale, softcap, w);
}

/* sum[(begin + j) % CHAINS] += w[j] values[j][0 .. PARTS SIMD_WIDTH): a text gives the same bits where its slots wrap
 * and where they do not. Every index of sum is a constant, so that the sums stay in registers. */
#define MIX_ADD(chain, slot)                                                                                           \
    for (int p = 0; p < parts; p++) {                                                                                  \
        SimdReal value;                                                                                                \
        SIMD_LOAD(value, values + (size_t)(slot)*stride + p * SIMD_WIDTH);                                             \
        SIMD_ADD_SCALED(sum[chain][p], w[slot], value);                                                                \
    }
SIMD_INLINE void mix_part(int parts, int begin, int n, const real *w, const real *values, size_t stride,
                          SimdReal sum[CHAINS][2]) {
    int j = 0;
    for (int c = 1; c < CHAINS; c++) {
        if (begin == 0 || c < begin || j >= n) continue;
        MIX_ADD(c, j)
        j++;
    }
    for (; j + CHAINS <= n; j += CHAINS)
        for (int c = 0; c < CHAINS; c++) MIX_ADD(c, j + c)
    for (int c = 0; c + 1 < CHAINS; c++) {
        if (j + c >= n) continue;
        MIX_ADD(c, j + c)
    }
}

/* PARTS vectors of y from D on. */
SIMD_INLINE void mix_columns(const KvShape *s, int parts, int d, const real *values, const KvSight *sight,
                             const real *w, real factor, real *y) {
    SimdReal sum[CHAINS][2];
    size_t width = value_stride(s);
    int first = sight->to[0] - sight->from[0], second = sight->to[1] - sight->from[1];
    for (int c = 0; c < CHAINS; c++)
        for (int p = 0; p < parts; p++) SIMD_ZERO(sum[c][p]);
    mix_part(parts, 0, first, w, values + (size_t)sight->from[0] * width + d, width, sum);
    if (second > 0)
        mix_part(parts, first % CHAINS, second, w + first, values + (size_t)sight->from[1] * width + d, width, sum);
    for (int p = 0; p < parts; p++, d += SIMD_WIDTH) {
        sum[0][p] = ((sum[0][p] + sum[1][p]) + (sum[2][p] + sum[3][p])) * factor;
        if (d + SIMD_WIDTH <= s->head_dim)
            SIMD_STORE(y + d, sum[0][p]);
        else
            memcpy(y + d, &sum[0][p], (size_t)(s->head_dim - d) * sizeof *y);
    }
}

/* y [head_dim] = factor * sum over what is seen of w[j] values[j]. */
SIMD_INLINE void mix(const KvShape *s, const real *values, const KvSight *sight, const real *w, real factor, real *y) {
    int d = 0;
    for (; d + SIMD_WIDTH < s->head_dim; d += 2 * SIMD_WIDTH) mix_columns(s, 2, d, values, sight, w, factor, y);
    if (d < s->head_dim) mix_columns(s, 1, d, values, sight, w, factor, y);
}

/* Stage by stage for all heads: one head's stages wait for each other, those of different heads do not. */
SIMD_CLONES static void attend(const KvShape *s, const real *cache, const KvSight *sight, const real *q, real *scratch,
                               real *y) {
    int group = s->heads / s->kv_heads, hd = s->head_dim;
    int first = sight->to[0] - sight->from[0], second = sight->to[1] - sight->from[1];
    size_t stride = key_stride(s), width = stride + BLOCK; /* of a head's weights, behind their sum */
    const real *values = cache + values_at(s);
    for (int h = 0, together; h < s->heads; h += together) {
        const real *keys = cache + (size_t)(h / group) * keys_size(s);
        real *w = scratch + (size_t)h * width + BLOCK;
        together = group % TOGETHER == 0 ? TOGETHER : 1; /* never heads of two groups */
        if (together == TOGETHER)
            score_heads(s, TOGETHER, q + h * hd, keys, sight, w, width);
        else
            score_heads(s, 1, q + h * hd, keys, sight, w, width);
    }
    for (int h = 0; h < s->heads; h++) {
        real *w = scratch + (size_t)h * width + BLOCK;
        w[-1] = (real)1 / weigh(first + second, s->scale, s->softcap, w);
    }
    for (int h = 0; h < s->heads; h++) {
        const real *w = scratch + (size_t)h * width + BLOCK;
        mix(s, values + (size_t)(h / group) * values_size(s), sight, w, w[-1], y + h * hd);
    }
}

void kv_attend(const KvShape *s, const real *cache, const KvSight *sight, const real *q, real *scratch, real *y) {
    BUG_ON(sight->from[0] >= sight->to[0] || sight->to[0] > s->slots || sight->to[1] > s->slots);
    if (s->head_dim == NARROW_WIDTH && !(s->softcap > 0) && narrow_is_there()) {
        NarrowCache c = {cache, cache + values_at(s), key_stride(s), (size_t)s->slots};
        narrow_attend(s, &c, sight, q, scratch, y);
    } else {
        attend(s, cache, sight, q, scratch, y);
    }
    for (int h = 0; s->head_off && h < s->heads; h++)
        if (s->head_off[h]) memset(y + (size_t)h * (size_t)s->head_dim, 0, (size_t)s->head_dim * sizeof *y);
}

/* --- copies --- */

void kv_copy(const KvShape *s, const real *from, real *to, int first, int end) {
    size_t stride = key_stride(s), width = value_stride(s), rows = (size_t)s->kv_heads * (size_t)s->head_dim;
    if (first >= end) return;
    for (size_t d = 0; d < rows; d++)
        for (size_t i = d * stride + (size_t)first; i < d * stride + (size_t)end; i++) to[i] = from[i]; /* few */
    for (size_t h = 0; h < (size_t)s->kv_heads; h++) {
        size_t at = values_at(s) + h * values_size(s) + (size_t)first * width;
        memcpy(to + at, from + at, (size_t)(end - first) * width * sizeof *to);
    }
}

void kv_read(const KvShape *s, const real *cache, bool values, int slots, real *out) {
    for (int slot = 0; slot < slots; slot++)
        for (int h = 0; h < s->kv_heads; h++)
            for (int d = 0; d < s->head_dim; d++) {
                size_t key = (size_t)(h * s->head_dim + d) * key_stride(s) + (size_t)slot;
                size_t value = values_at(s) + (size_t)h * values_size(s) + (size_t)slot * value_stride(s) + (size_t)d;
                *out++ = cache[values ? value : key];
            }
}
