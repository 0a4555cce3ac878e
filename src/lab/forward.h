/* forward: a model's forward pass over a batch made by hand: any positions, any pads, without a cache. Private to the
 * laboratory. */
#ifndef LAB_FORWARD_H
#define LAB_FORWARD_H

#include "model.h"

typedef struct Forward Forward;

Forward *forward_new(void);
void forward_free(Forward *f);
/* Logits [R x V] of B, borrowed until the next pass. */
const real *forward_batch(Forward *f, const Model *m, const Batch *b);
/* The same of one sequence, at the positions from 0: [n x V]. */
const real *forward_ids(Forward *f, const Model *m, const int *ids, int n);

#endif
