/* The observer of the greedy continuation: where the model goes from what is visible, and where the truth goes. */
#include "decode/log_softmax.h"
#include "mem.h"
#include "paths.h"
#include "scene.h"
#include "speaker.h"
#include "tokens.h"

#include <math.h>
#include <string.h>

/* log p of the model for what the truth added: one pass over all of it. */
static double model_log_p(Decoder *d, const Scene *scene, const int *ids, int n) {
    int vocab = model_config(scene->model)->vocab;
    double sum = 0;
    const real *logits = decoder_feed_all(d, 0, ids, n - 1);
    for (int i = scene->visible; i < n; i++) {
        const real *row = logits + (size_t)(i - 1) * (size_t)vocab;
        sum += log_softmax_of(vocab, row, ids[i]);
    }
    decoder_reset(d);
    return sum;
}

static void add_model(Observers *o, const Scene *scene, const char *prefix, Table *steps, Table *sentences) {
    Decoder *d = speaker_decoder(observers_speaker(o, scene));
    int vocab = model_config(scene->model)->vocab;
    Language *language = observers_truth(o, scene, scene->ids, scene->visible)->count ? scene->language : NULL;
    Path p;
    path_init(&p);
    Status s = greedy_model(d, vocab, scene->vocab, vocab_last(scene->vocab), language, scene->ids, scene->visible,
                            observers_tokens(scene), &p);
    decoder_reset(d);
    if (status_is_ok(&s) && p.count && !isnan(p.log_p)) {
        paths_add_steps(steps, scene->vocab, &p);
        paths_add_sentence(sentences, scene->vocab, "model", prefix, &p);
    }
    path_done(&p);
}

/* The truth's own path with the opinion of the model on it. */
static void add_truth(Observers *o, const Scene *scene, const char *prefix, Table *sentences) {
    const Path *truth = observers_true_path(o, scene, observers_tokens(scene));
    if (!truth->count) return;
    Path p = *truth; /* its steps are borrowed */
    int n = scene->visible + p.count;
    int *ids = MEM_ARRAY(int, (size_t)n);
    memcpy(ids, scene->ids, (size_t)scene->visible * sizeof *ids);
    for (int i = 0; i < p.count; i++) ids[scene->visible + i] = p.step[i].id;
    int context = model_config(scene->model)->context;
    p.log_p = n <= context + 1 ? model_log_p(speaker_decoder(observers_speaker(o, scene)), scene, ids, n) : (double)NAN;
    paths_add_sentence(sentences, scene->vocab, "truth", prefix, &p);
    mem_free(ids);
}

void observe_path(Observers *o, const Scene *scene, Snapshot *s) {
    Table *steps = table_new("path", paths_step_columns), *sentences = table_new("sentence", paths_sentence_columns);
    int last = scene->ids[scene->visible - 1];
    bool ended = scene->visible > 1 && last == vocab_last(scene->vocab); /* nothing follows */
    Str prefix;
    str_init(&prefix);
    if (vocab_is_foreign(scene->vocab))
        tokens_text(scene->vocab, scene->ids, scene->visible, &prefix);
    else
        path_words(scene->vocab, scene->ids, scene->visible, &prefix);
    if (!ended) add_model(o, scene, prefix.s, steps, sentences);
    if (!ended && scene->language) add_truth(o, scene, prefix.s, sentences);
    str_done(&prefix);
    snapshot_add_table(s, steps);
    snapshot_add_table(s, sentences);
}
