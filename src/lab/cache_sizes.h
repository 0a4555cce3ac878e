/* cache_sizes: what the cache of a model takes, as it is and if its keys and values were shared otherwise: a head for
 * each query head (MHA), groups (GQA), one for all (MQA), or one latent vector instead (MLA); of the run's model and of
 * real ones. Lecture 3, 4.5; lecture 4, 5; seminar 3, 10. Private to the laboratory. */
#ifndef LAB_CACHE_SIZES_H
#define LAB_CACHE_SIZES_H

#include "config.h"
#include "table.h"

/* An empty table cache_sizes (see observe.h). */
Table *cache_sizes_new(void);
/* Rows of a model with T tokens in the cache, values of BITS bits: its own scheme, and the three others. */
void cache_sizes_add_model(Table *t, const ModelConfig *c, long long T, int bits);
/* The same of the cards of lantern with 8,192 and 131,072 tokens in bf16; none when they cannot be read. Those with an
 * encoder are left out. */
void cache_sizes_add_cards(Table *t);

#endif
