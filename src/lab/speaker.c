#include "speaker.h"

#include "bug.h"
#include "mem.h"
#include "tape.h"

#include <math.h>

struct Speaker {
    const Model *model; /* borrowed */
    bool tweaked;
    ModelTweak tweak;
    Tape *tape;
    Batch batch;
    double *logits; /* [V] */
    int vocab;
};

Speaker *speaker_new(void) {
    Speaker *s = MEM_NEW(Speaker);
    s->tape = tape_new(TAPE_EVAL);
    batch_init(&s->batch);
    return s;
}

void speaker_free(Speaker *s) {
    if (!s) return;
    tape_free(s->tape);
    batch_done(&s->batch);
    mem_free(s->logits);
    mem_free(s);
}

void speaker_reset(Speaker *s, const Model *m, const ModelTweak *tweak) {
    s->model = m;
    s->tweaked = tweak != NULL;
    if (tweak) s->tweak = *tweak;
    int vocab = model_config(m)->vocab;
    if (vocab != s->vocab) s->logits = mem_resize(s->logits, (size_t)vocab, sizeof *s->logits);
    s->vocab = vocab;
}

const double *speaker_logits(Speaker *s, const int *ids, int n) {
    BUG_ON(!s->model || n < 1 || n > model_config(s->model)->context);
    batch_clear(&s->batch);
    batch_add(&s->batch, ids, n, false);
    tape_begin(s->tape, model_read_params(s->model), &s->batch, 0, 0);
    Vid out = model_graph(s->model, s->tape, s->tweaked ? &s->tweak : NULL);
    tape_forward(s->tape);
    const real *last = tape_value(s->tape, out, NULL, NULL) + (size_t)(n - 1) * (size_t)s->vocab;
    for (int i = 0; i < s->vocab; i++) s->logits[i] = (double)last[i];
    return s->logits;
}

int speaker_best(const double *logits, int vocab) {
    int best = 0;
    for (int i = 1; i < vocab; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

double speaker_log_p(const double *logits, int vocab, int id) {
    double most = logits[speaker_best(logits, vocab)], sum = 0;
    for (int i = 0; i < vocab; i++) sum += exp(logits[i] - most);
    return logits[id] - most - log(sum);
}
