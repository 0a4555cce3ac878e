/* The observer of the greedy continuation: where the model goes from what is visible, and where the truth goes. */
#include "scene.h"

#include "mem.h"
#include "tokens.h"

#include <math.h>
#include <string.h>

enum { TRUTH_TOKENS = 64 }; /* at most so many are generated from the truth: a grammar may go on for ever */

#define EQUAL 1e-9 /* probabilities nearer than this are equal */

static const Column path_columns[] = {
    {"step", COLUMN_INT, ""},
    {"token", COLUMN_TEXT, ""},
    {"id", COLUMN_INT, ""},
    {"p", COLUMN_DOUBLE, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"true_p", COLUMN_DOUBLE, ""},
    {0},
};

static const Column sentence_columns[] = {
    {"of", COLUMN_TEXT, ""},
    {"text", COLUMN_TEXT, ""},
    {"log_p", COLUMN_DOUBLE, "nats"},
    {"true_log_p", COLUMN_DOUBLE, "nats"},
    {0},
};

/* A sentence that grows, and the log-probability of what was added. */
typedef struct {
    int *ids;
    int n, room;
    double log_p, true_log_p; /* NaN: no truth */
} Path;

static Path path_from(const Scene *scene, int room) {
    Path p = {.ids = MEM_ARRAY(int, (size_t)room), .n = scene->visible, .room = room};
    memcpy(p.ids, scene->ids, (size_t)scene->visible * sizeof *p.ids);
    p.true_log_p = scene->language ? 0 : (double)NAN;
    return p;
}

static bool path_open(const Path *p) {
    return p->n < p->room && p->ids[p->n - 1] != VOCAB_EOS;
}

/* One step of the model; false when it gives no distribution. */
static bool model_step(Observers *o, const Scene *scene, Path *p, Table *t, int step) {
    int vocab = model_config(scene->model)->vocab;
    const double *logits = speaker_logits(observers_speaker(o, scene), p->ids, p->n);
    int id = speaker_best(logits, vocab);
    double log_p = speaker_log_p(logits, vocab, id);
    if (isnan(log_p)) return false;
    const char *token = tokens_name(scene->vocab, id);
    const NextList *truth = observers_truth(o, scene, p->ids, p->n);
    double true_p = observers_true_p(truth, token);
    table_add_int(t, step);
    table_add_text(t, token);
    table_add_int(t, id);
    table_add_real(t, exp(log_p));
    table_add_real(t, log_p);
    if (scene->language)
        table_add_real(t, true_p);
    else
        table_add_empty(t);
    p->log_p += log_p;
    p->true_log_p += log(true_p);
    p->ids[p->n++] = id;
    return true;
}

/* The likeliest next token of the truth: of equals the first in byte order, END last. */
static int truth_best(const NextList *truth) {
    int best = 0;
    for (int i = 1; i < truth->count; i++)
        if (truth->next[i].p > truth->next[best].p + EQUAL) best = i;
    return best;
}

/* One step of the truth; false when the sentence is impossible. */
static bool truth_step(Observers *o, const Scene *scene, Path *p) {
    const NextList *truth = observers_truth(o, scene, p->ids, p->n);
    if (truth->count == 0) return false;
    const NextToken *best = &truth->next[truth_best(truth)];
    p->true_log_p += log(best->p);
    p->ids[p->n++] = vocab_find(scene->vocab, best->token, strlen(best->token));
    return true;
}

/* log p of the model for what the truth added. */
static double model_log_p(Observers *o, const Scene *scene, const Path *p) {
    int vocab = model_config(scene->model)->vocab;
    double sum = 0;
    for (int i = scene->visible; i < p->n; i++)
        sum += speaker_log_p(speaker_logits(observers_speaker(o, scene), p->ids, i), vocab, p->ids[i]);
    return sum;
}

static void add_sentence(Table *t, const Scene *scene, const char *of, const Path *p, double log_p) {
    Str text;
    str_init(&text);
    tokens_text(scene->vocab, p->ids, p->n, &text);
    table_add_text(t, of);
    table_add_text(t, text.s);
    table_add_real(t, log_p);
    if (scene->language)
        table_add_real(t, p->true_log_p);
    else
        table_add_empty(t);
    str_done(&text);
}

void observe_path(Observers *o, const Scene *scene, Snapshot *s) {
    int context = model_config(scene->model)->context;
    Table *steps = table_new("path", path_columns), *sentences = table_new("sentence", sentence_columns);
    Path p = path_from(scene, context);
    for (int step = 0; path_open(&p) && model_step(o, scene, &p, steps, step); step++) {}
    add_sentence(sentences, scene, "model", &p, p.log_p);
    mem_free(p.ids);
    if (scene->language) {
        int room = scene->visible + TRUTH_TOKENS;
        p = path_from(scene, room < context ? room : context);
        while (path_open(&p) && truth_step(o, scene, &p)) {}
        add_sentence(sentences, scene, "truth", &p, model_log_p(o, scene, &p));
        mem_free(p.ids);
    }
    snapshot_add_table(s, steps);
    snapshot_add_table(s, sentences);
}
