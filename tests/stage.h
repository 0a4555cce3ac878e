/* stage: a model, a sentence and observers, for the tests of observers. */
#ifndef TESTS_STAGE_H
#define TESTS_STAGE_H

#include "expect.h"

#include "corpora.h"
#include "mem.h"
#include "scene.h"

#include <string.h>

typedef struct {
    Corpus *corpus;
    Model *model;
    int *ids, n;
    Scene scene;
    Observers *observers;
} Stage;

static inline Stage *stage_new(const char *text, ModelConfig c) {
    Stage *s = MEM_NEW(Stage);
    assert_ok(corpora_load("farm", (CorpusTokens){0}, 10, 10, 1, &s->corpus));
    c.vocab = vocab_size(s->corpus->vocab);
    s->model = model_new(&c, 3);
    int *words, n;
    assert_ok(vocab_encode(s->corpus->vocab, text, &words, &n));
    s->n = n + 1;
    s->ids = MEM_ARRAY(int, (size_t)s->n);
    s->ids[0] = VOCAB_BOS;
    memcpy(s->ids + 1, words, (size_t)n * sizeof *words);
    mem_free(words);
    s->scene = (Scene){.model = s->model,
                       .vocab = s->corpus->vocab,
                       .language = s->corpus->language,
                       .ids = s->ids,
                       .known = s->n,
                       .visible = s->n,
                       .prompt = s->n,
                       .poke_id = -1,
                       .tweak = {.window = -1},
                       .filter = filter_defaults(),
                       .seed = 1};
    s->observers = observers_new();
    return s;
}

static inline void stage_free(Stage *s) {
    observers_free(s->observers);
    model_free(s->model);
    corpus_free(s->corpus);
    mem_free(s->ids);
    mem_free(s);
}

/* What one observer shows of it; the caller frees it. */
static inline Snapshot *stage_look(Stage *s, const char *name) {
    SnapshotFacts facts = {0};
    Snapshot *out = snapshot_new(&facts);
    ObserverSet set = 0;
    assert_ok(observers_add(name, &set));
    observers_look(s->observers, &s->scene, set, out);
    return out;
}

/* Everything on: grouped heads, a window in every other layer, a soft cap, RoPE, norms of queries and keys. */
static inline ModelConfig stage_rich(void) {
    ModelConfig c = config_modern();
    c.window = 4;
    c.global_every = 2;
    c.softcap = 5;
    c.qk_norm = true;
    return c;
}

#endif
