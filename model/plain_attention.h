/* plain_attention: scaled dot-product attention of one head in double, as it is written on paper (Vaswani et al. 2017;
 * seminar 3, 6.1): no blocks, no vectors, nothing clever. What a lesson shows of attention as a formula, and what the
 * engine's kernels are checked against. */
#ifndef MODEL_PLAIN_ATTENTION_H
#define MODEL_PLAIN_ATTENTION_H

#include "mask.h"

/* y [T x dv] = softmax(q k^T / sqrt(dim), where M allows) v; q, k [T x dim], v [T x dv]. Position = row. A row that
 * sees nothing gives zeros. */
void plain_attention(int T, int dim, int dv, const MaskRule *m, const double *q, const double *k, const double *v,
                     double *y);

#endif
