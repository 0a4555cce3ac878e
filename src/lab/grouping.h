/* grouping: a model with fewer KV heads made from one with more (Ainslie et al. 2023, section 2.1). Private to the
 * laboratory. */
#ifndef LAB_GROUPING_H
#define LAB_GROUPING_H

#include "model.h"

/* A model with KV_HEADS, which divides those of M: each of its K and V heads (rows of the weights, and biases) is the
 * mean of the heads of M that it stands for; all else is M's. */
Model *grouping_mean(const Model *m, int kv_heads);

#endif
