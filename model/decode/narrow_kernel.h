/* narrow_kernel: attention over heads of 8 numbers (kv.h), for processors with vectors of 16 of them: a vector holds
 * the values of two positions. Of such heads everything else would leave half of each vector empty. Private to kv. */
#ifndef DECODE_NARROW_KERNEL_H
#define DECODE_NARROW_KERNEL_H

#include "decode/kv.h"

enum { NARROW_WIDTH = 8 };

/* Whether this processor, and this kind of number, have what it takes. */
bool narrow_is_there(void);

/* Keys and values of all KV heads as they lie in a cache. */
typedef struct {
    const real *keys;   /* [kv_heads][8][key_stride] */
    const real *values; /* [kv_heads][slots][8] */
    size_t key_stride, slots;
} NarrowCache;

/* y [heads x 8] = softmax(scale q K^T) V over what SIGHT shows. SCRATCH: [heads][key_stride + 16]. No soft cap. A text
 * gives the same bits where its slots wrap and where they do not. */
void narrow_attend(const KvShape *s, const NarrowCache *c, const KvSight *sight, const real *q, real *scratch, real *y);

#endif
