#include "fingerprint.h"

#include "batch.h"
#include "hash.h"
#include "mem.h"
#include "model.h"
#include "optim.h"
#include "rng.h"
#include "shard.h"

#include <pthread.h>

enum { UPDATES = 2, SENTENCES = 4, WORDS = 12, VOCAB = 60, SEED = 1 };

static void add_sentences(Batch *b, uint64_t step) {
    int ids[WORDS + 1];
    Rng r = rng_at(SEED, "fingerprint", step);
    batch_clear(b);
    for (int i = 0; i < SENTENCES; i++) {
        int n = WORDS - i; /* of several lengths */
        for (int k = 0; k <= n; k++) ids[k] = (int)rng_below(&r, VOCAB);
        batch_add(b, ids, n, true);
    }
}

static void train(Model *m) {
    Params *p = model_params(m);
    OptimConfig config = optim_defaults();
    config.clip = 1;
    Shards *shards = shards_new(m, 1);
    real *grad = mem_aligned(p->count, sizeof *grad);
    Optim optim;
    Batch b;
    optim_init(&optim, &config, p->count);
    batch_init(&b);
    for (long step = 0; step < UPDATES; step++) {
        add_sentences(&b, (uint64_t)step);
        (void)shards_gradient(shards, &b, SEED, (uint64_t)step, grad);
        shards_update(shards, &optim, grad, shards_norm(shards, grad), optim_rate(&config, step, UPDATES), NULL);
    }
    batch_done(&b);
    optim_done(&optim);
    mem_free(grad);
    shards_free(shards);
}

static uint64_t hash_of(ModelConfig c) {
    c.vocab = VOCAB;
    c.layers = 1;
    c.dropout = 0.1;
    Model *m = model_new(&c, SEED);
    train(m);
    uint64_t hash = params_hash(model_read_params(m));
    model_free(m);
    return hash;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t known;

static void work_out(void) {
    uint64_t both[] = {hash_of(config_gpt()), hash_of(config_modern())};
    known = hash_bytes(HASH_START, both, sizeof both);
}

uint64_t fingerprint(void) {
    pthread_once(&once, work_out);
    return known;
}
