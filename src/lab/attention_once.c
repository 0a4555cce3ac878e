#include "attention_once.h"

#include "mem.h"

#include <string.h>

enum { Q, K, V };

static void put(Params *p, int slice, const real *x) {
    memcpy(p->x + p->slice[slice].at, x, slice_count(&p->slice[slice]) * sizeof *x);
}

void attention_once(const AttentionShape *shape, int T, const real *q, const real *k, const real *v, real *y) {
    int wide = shape->heads * shape->head_dim, narrow = shape->kv_heads * shape->head_dim;
    Params p;
    Batch b;
    params_init(&p);
    (void)params_add(&p, "q", T, wide, INIT_ZERO, 0);
    (void)params_add(&p, "k", T, narrow, INIT_ZERO, 0);
    (void)params_add(&p, "v", T, narrow, INIT_ZERO, 0);
    params_seal(&p);
    put(&p, Q, q);
    put(&p, K, k);
    put(&p, V, v);
    int *row = MEM_ARRAY(int, (size_t)T);
    for (int i = 0; i < T; i++) row[i] = i;
    batch_init(&b);
    batch_add(&b, row, T, false);
    Tape *t = tape_new(TAPE_EVAL);
    tape_begin(t, &p, &b, 0, 0);
    Vid query = tape_embed(t, Q, EMBED_TOKEN), key = tape_embed(t, K, EMBED_TOKEN);
    Vid out = tape_attention(t, query, key, tape_embed(t, V, EMBED_TOKEN), shape);
    tape_forward(t);
    memcpy(y, tape_value(t, out, NULL, NULL), (size_t)T * (size_t)wide * sizeof *y);
    tape_free(t);
    batch_done(&b);
    mem_free(row);
    params_done(&p);
}
