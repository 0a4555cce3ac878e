/* beam_model: a beam search over a model with a KV cache.
 *
 * Every open beam is a stream of one decoder: all of them advance in one batch. The likeliest child of a beam goes on
 * in its parent's stream; another takes over a stream that is free and copies only what differs from what that holds
 * already. So the beginning that beams share, that of the search before included, is neither computed nor copied
 * again. What is found does not depend on it: the same bits as for each beam alone. */
#ifndef DECODE_BEAM_MODEL_H
#define DECODE_BEAM_MODEL_H

#include "decode/beam.h"
#include "decode/decoder.h"
#include "model.h"

typedef struct BeamModel BeamModel;

/* For searches of at most WIDTH beams and CAPACITY tokens, the prompt included. TWEAK (NULL: none) is copied; M is
 * borrowed until it is freed. */
BeamModel *beam_model_new(const Model *m, const ModelTweak *tweak, int width, int capacity);
/* The same for the model of D, on its copy of the parameters (decoder_beside). */
BeamModel *beam_model_beside(const Decoder *d, int width, int capacity);
void beam_model_free(BeamModel *m);
void beam_model_set_tweak(BeamModel *m, const ModelTweak *tweak); /* NULL: none; forgets what was searched */
/* The next search is one after ids[0..n-1], 1 <= n <= capacity; they are borrowed until its first step is done. */
BeamSource beam_model_source(BeamModel *m, const int *ids, int n);

#endif
