/* attention_once: the engine's attention operation on queries, keys and values of one's own: what lessons ask of it
 * without a model around it. Private to the laboratory. */
#ifndef LAB_ATTENTION_ONCE_H
#define LAB_ATTENTION_ONCE_H

#include "tape.h"

/* y [T x heads*head_dim] from q [T x heads*head_dim] and k, v [T x kv_heads*head_dim]; positions 0 .. T-1. */
void attention_once(const AttentionShape *shape, int T, const real *q, const real *k, const real *v, real *y);

#endif
