/* The batches of training: an epoch is a shuffle of all sentences, made from (seed, "batch", epoch) alone. */
#include "bug.h"
#include "corpus.h"
#include "mem.h"

#include <limits.h>

struct Sampler {
    const Sentences *sentences; /* borrowed */
    int batch, context;
    uint64_t seed;
    long epoch; /* that ORDER belongs to; -1: none yet */
    int *order; /* [sentences] */
};

static long sampler_steps(long sentences, int batch) {
    return (sentences + batch - 1) / batch;
}

long corpus_steps_per_epoch(const Corpus *c, int batch) {
    BUG_ON(batch < 1);
    return sampler_steps(c->train.sentences, batch);
}

Sampler *sampler_new(const Sentences *s, int batch, uint64_t seed, int context) {
    BUG_ON(s->sentences < 1 || s->sentences > INT_MAX || batch < 1 || context < 1);
    Sampler *sampler = MEM_NEW(Sampler);
    *sampler = (Sampler){.sentences = s, .batch = batch, .context = context, .seed = seed, .epoch = -1};
    sampler->order = MEM_ARRAY(int, (size_t)s->sentences);
    return sampler;
}

void sampler_free(Sampler *s) {
    if (!s) return;
    mem_free(s->order);
    mem_free(s);
}

static void sampler_shuffle(Sampler *s, long epoch) {
    if (s->epoch == epoch) return;
    int n = (int)s->sentences->sentences;
    Rng r = rng_at(s->seed, "batch", (uint64_t)epoch);
    for (int i = 0; i < n; i++) s->order[i] = i;
    rng_shuffle(&r, s->order, n);
    s->epoch = epoch;
}

void sampler_batch(Sampler *s, long step, Batch *out) {
    BUG_ON(step < 0);
    const Sentences *from = s->sentences;
    long steps = sampler_steps(from->sentences, s->batch);
    sampler_shuffle(s, step / steps);
    batch_clear(out);
    long first = step % steps * s->batch, last = first + s->batch;
    for (long i = first; i < last && i < from->sentences; i++) {
        long start = from->start[s->order[i]], ids = from->start[s->order[i] + 1] - start;
        int inputs = ids - 1 > s->context ? s->context : (int)(ids - 1);
        batch_add(out, from->id + start, inputs, true);
    }
}
