/* attention_stages: what stands inside the attention of one layer (scores, scaled, softcapped, masked, weights), worked
 * out by the engine's own operation from the queries and keys that the pass had. For long texts, of which the stages of
 * all layers would be too many to keep. Private to the laboratory. */
#ifndef LAB_ATTENTION_STAGES_H
#define LAB_ATTENTION_STAGES_H

#include "snapshot.h"
#include "tape.h"

enum { ATTENTION_BLOCKS = 64 }; /* along an edge */

/* Numbers of one stage of all layers, beyond which they are made when they are asked for. */
#define ATTENTION_STAGES_MOST ((size_t)1 << 22)

bool attention_stages_are_many(const ModelConfig *c, int T);
/* QUERY [H T hd] after positions, KEY and VALUE [Hkv T hd]: fields attention.LAYER.STAGE [H T T], as many as there are
 * stages, and attention.LAYER.mix [H T hd]; how many. */
int attention_stages(const AttentionShape *shape, int layer, const Field *query, const Field *key, const Field *value,
                     Field **out);
/* The same in blocks: attention.LAYER.blocks [H n n], n = ATTENTION_BLOCKS, each the largest weight in it, -1 where the
 * mask hides all of it. */
Field *attention_blocks(const AttentionShape *shape, int layer, const Field *query, const Field *key,
                        const Field *value);

#endif
