/* shard: a batch is always cut into the same SHARDS contiguous parts, whatever the number of threads; gradients are
 * added in shard order. So one thread and two give the same bits. The helper threads spin a little, then sleep. */
#ifndef MODEL_SHARD_H
#define MODEL_SHARD_H

#include "model.h"
#include "optim.h"

#define SHARDS 4

typedef struct Shards Shards;

/* THREADS workers in all, the caller included (others are brought into 1 .. SHARDS; when the system gives no more
 * threads there are fewer). MODEL is borrowed; its slices may change between calls (frozen, rate), their number may
 * not. Calls come from one thread at a time. Helpers block all signals. */
Shards *shards_new(Model *m, int threads);
void shards_free(Shards *s);
void shards_set_threads(Shards *s, int threads);
int shards_threads(const Shards *s);
/* Mean loss per target of the batch in nats; GRAD [count] is overwritten with its gradient. Allocates nothing once
 * warm. */
double shards_gradient(Shards *s, const Batch *b, uint64_t seed, uint64_t step, real *grad);
/* Sum of the negative log-probability over the targets, forward only. */
double shards_nll(Shards *s, const Batch *b);
/* optim_norm and optim_update by all threads. NORM is that of GRAD; BEFORE [count], unless NULL, takes the parameters
 * as they were. Neither allocates once warm. */
double shards_norm(Shards *s, const real *grad);
void shards_update(Shards *s, Optim *o, const real *grad, double norm, double rate, real *before);
/* Calls STRETCH for SHARDS stretches of the numbers 0 .. COUNT - 1, by all threads. */
void shards_stretch(Shards *s, size_t count, void (*stretch)(void *data, size_t from, size_t to), void *data);
/* The name of the first value with a NaN or an infinity when the last pass gave a loss that is not finite, else "". (A
 * NaN that arises only in backward shows in the norm.) */
const char *shards_first_bad(const Shards *s);

#endif
