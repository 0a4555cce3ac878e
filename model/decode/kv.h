/* kv: the cached keys and values of one stream in one layer, and the attention of one new token over them.
 *
 * A slot holds one position; the caller says which. Keys lie turned, [kv_heads][head_dim][slots], so that a query meets
 * many of them at once; values lie [kv_heads][slots][head_dim], each row filled up to whole vectors. */
#ifndef DECODE_KV_H
#define DECODE_KV_H

#include "real.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int heads, kv_heads, head_dim; /* H, Hkv, hd; query head i reads KV head i / (heads / kv_heads) */
    int slots;
    real scale;                    /* of scores: 1 / sqrt(hd) */
    real softcap;                  /* of scores: c tanh(s / c); 0: off */
    const unsigned char *head_off; /* [heads] 1: this head gives zeros; NULL: all on; borrowed */
} KvShape;

/* Slots that a token sees: [from, to) of each part, the older part first; when slots do not wrap the second is empty.
 */
typedef struct {
    int from[2], to[2];
} KvSight;

size_t kv_numbers(const KvShape *s);         /* room that one cache needs */
size_t kv_scratch_numbers(const KvShape *s); /* room that kv_attend needs */
/* K and V: [kv_heads x head_dim] each. */
void kv_store(const KvShape *s, real *cache, int slot, const real *k, const real *v);
/* y [heads x head_dim] = softmax(scale q K^T) V over what SIGHT shows, at least one slot. */
void kv_attend(const KvShape *s, const real *cache, const KvSight *sight, const real *q, real *scratch, real *y);
/* Slots FIRST .. END-1 of FROM into TO. */
void kv_copy(const KvShape *s, const real *from, real *to, int first, int end);
/* K or V of the first SLOTS slots as out [slots x kv_heads*head_dim]. */
void kv_read(const KvShape *s, const real *cache, bool values, int slots, real *out);

#endif
