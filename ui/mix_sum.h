/* mix_sum: the arithmetic of one number that attention puts out: the weights of a row times one dimension of the
 * values. */
#ifndef UI_MIX_SUM_H
#define UI_MIX_SUM_H

#include "reading.h"

typedef struct {
    int layer, head, kv_head, query, dimension;
    int tokens;
    double mix;   /* as the model computed it */
    double again; /* the sum again, in double from the weights and the values of the snapshot */
} MixSum;

/* False: the snapshot has no attention at that place. */
bool mix_sum(const Snapshot *s, const Cursor *at, int dimension, MixSum *out);

/* One key's part. */
typedef struct {
    double weight, value, product, so_far; /* so_far: of keys 0..j in double */
} MixTerm;
MixTerm mix_sum_term(const Snapshot *s, const MixSum *m, int j); /* j < tokens */

#endif
