/* decoder: feeds tokens to a model one after the other with a KV cache and gives logits (lecture 3, 4.2). Several
 * streams (beams, or a batch) advance together.
 *
 * Position is an absolute counter per stream, never the length of the cache. Where every layer has a window that the
 * capacity holds, slots are used again and again (position modulo capacity) and a stream has no end; else it ends at
 * the capacity, and learned positions end with the context.
 *
 * The parameters are copied and laid out for one-token products: after training went on, decoder_refresh is needed.
 * Those that are only read are used where they are.
 * What a token gives does not depend on what is fed beside it, on how a text is cut into calls or on the capacity: the
 * same bits. It agrees with the tape's forward pass to rounding (a test says 1e-5, 1e-10 in double). Feeding allocates
 * nothing. */
#ifndef DECODE_DECODER_H
#define DECODE_DECODER_H

#include "model.h"

typedef struct Decoder Decoder;

/* Slots that decoding needs: the widest window where every layer has one, so that they can be used again; else the
 * context. TWEAK may be NULL. */
int decoder_slots(const Model *m, const ModelTweak *tweak);
Decoder *decoder_new(const Model *m, int streams, int capacity); /* capacity: tokens kept per stream; M is borrowed */
/* Another one for the model of D, on the same copy of its parameters: D must outlive it, and what refreshes D refreshes
 * the parameters of both; the streams of this one are its own to reset. */
Decoder *decoder_beside(const Decoder *d, int streams, int capacity);
void decoder_free(Decoder *d);
/* Of a model that lies in a file: a pass holds one layer of it in memory, or the head, and takes longer (weights.h).
 * Counts for all decoders beside it, too. */
void decoder_set_forgetful(Decoder *d, bool on);
void decoder_reset(Decoder *d); /* all streams are empty */
/* Takes the model's parameters as they are now and empties all streams: what they hold is of other parameters. */
void decoder_refresh(Decoder *d);
/* How many threads share a product, where the model is large and its parameters are only read; else it stays one. The
 * same bits whatever their number. */
void decoder_set_threads(Decoder *d, int threads);
/* Head switches and another window, as in model_graph; NULL: the model as it is. Empties all streams. Copied. */
void decoder_set_tweak(Decoder *d, const ModelTweak *tweak);
/* For the lesson on rolling caches, the mistake: ON takes as position how many tokens the cache holds, so that it
 * stands still once slots are used again. Empties all streams. */
void decoder_set_length_positions(Decoder *d, bool on);

/* Feeds n >= 1 tokens to a stream, n <= decoder_room; returns the logits after the last, [V], valid until the next
 * call. */
const real *decoder_feed(Decoder *d, int stream, const int *ids, int n);
/* The same, with the logits after each of them: [n x V]. Allocates when n is the largest so far. */
const real *decoder_feed_all(Decoder *d, int stream, const int *ids, int n);
/* One token for each of n streams at once, each with room: logits [n x V]. */
const real *decoder_step(Decoder *d, const int *stream, const int *ids, int n);

int decoder_position(const Decoder *d, int stream); /* tokens fed */
int decoder_capacity(const Decoder *d);
int decoder_vocabulary(const Decoder *d);        /* V */
int decoder_room(const Decoder *d, int stream);  /* how many more may be fed; INT_MAX: no end */
void decoder_fork(Decoder *d, int from, int to); /* stream `to` continues from what `from` has seen */
/* The same where `to` was fed the same SAME tokens at its beginning: they are not copied again, unless slots were used
 * twice. */
void decoder_fork_after(Decoder *d, int from, int to, int same);
/* Back to a position. BUG when slots that it needs were used again (decoder_can_truncate). */
void decoder_truncate(Decoder *d, int stream, int position);
bool decoder_can_truncate(const Decoder *d, int stream, int position);

/* --- looking --- */
/* SEEN is told what each block leaves in the residual stream: x [rows x D] of as many tokens, in the order fed, layer
 * after layer; NULL: nobody. */
void decoder_watch(Decoder *d, void (*seen)(void *data, int layer, int rows, const real *x), void *data);
int decoder_cached(const Decoder *d, int stream); /* slots in use: position, at most the capacity */
/* Which position a slot in use holds. */
int decoder_slot_position(const Decoder *d, int stream, int slot);
/* The cached K (after RoPE) or V of a layer, slot by slot: OUT [decoder_cached x kv_heads*head_dim]. */
void decoder_cache(const Decoder *d, int stream, int layer, bool values, real *out);

#endif
