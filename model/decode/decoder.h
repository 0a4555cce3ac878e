/* decoder: feeds tokens to a model one after the other with a KV cache and gives logits. Several streams (beams, or a batch)
 * advance together. Position is an absolute counter per stream, never the length of the cache.
 *
 * One-token steps use matrix-vector products; the result agrees with the tape's forward to rounding (a test says 1e-5). */
#ifndef DECODE_DECODER_H
#define DECODE_DECODER_H

#include "model.h"

typedef struct Decoder Decoder;

Decoder *decoder_new(const Model *m, int streams, int capacity); /* capacity: tokens kept per stream; M is borrowed */
void decoder_free(Decoder *d);
void decoder_reset(Decoder *d);
/* Feeds n tokens to stream S; returns the logits after the last, [V], valid until the next call. */
const real *decoder_feed(Decoder *d, int stream, const int *ids, int n);
/* One token for each of N streams at once: logits [N x V]. */
const real *decoder_step(Decoder *d, const int *stream, const int *ids, int n);
int decoder_position(const Decoder *d, int stream); /* tokens fed */
int decoder_capacity(const Decoder *d);
void decoder_fork(Decoder *d, int from, int to);    /* stream `to` continues from what `from` has seen */
void decoder_truncate(Decoder *d, int stream, int position); /* back to a position */
/* The cached K or V of a layer: [capacity x kv_heads*head_dim]. */
const real *decoder_cache(const Decoder *d, int stream, int layer, bool values);

#endif
