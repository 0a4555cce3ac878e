/* Observers of the next token: what model and truth say, and the pipeline that a token is drawn through. */
#include "scene.h"

#include "decode/log_softmax.h"
#include "mem.h"
#include "rng.h"
#include "tokens.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS = 10 }; /* random numbers shown; the first is the one that decoding takes */

const Column observe_next_columns[] = {
    {"token", COLUMN_TEXT, ""},     {"id", COLUMN_INT, ""},        {"logit", COLUMN_REAL, ""},
    {"model_p", COLUMN_DOUBLE, ""}, {"true_p", COLUMN_DOUBLE, ""}, {0},
};

typedef struct {
    int id;
    real logit;
} Candidate;

/* Falling, ties by lowest id; what is not a number comes last. */
static int by_logit(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    bool bad_x = isnan(x->logit), bad_y = isnan(y->logit);
    if (bad_x != bad_y) return bad_x ? 1 : -1;
    if (x->logit > y->logit) return -1;
    if (x->logit < y->logit) return 1;
    return x->id - y->id;
}

/* After the last visible token: logits [V]. */
static const real *last_logits(Observers *o, const Scene *scene) {
    size_t vocab = (size_t)model_config(scene->model)->vocab;
    return observers_logits(o, scene) + (size_t)(scene->visible - 1) * vocab;
}

static const Column untouched_columns[] = {
    {"token", COLUMN_TEXT, ""}, {"id", COLUMN_INT, ""}, {"model_p", COLUMN_DOUBLE, ""}, {0}};

/* What the model would say had nobody tampered: by id. */
static void add_untouched(Observers *o, const Scene *scene, Snapshot *s, const bool *shown) {
    const double *logits = observers_untouched(o, scene);
    if (!logits) return;
    int vocab = model_config(scene->model)->vocab;
    double log_z = speaker_log_z(logits, vocab);
    Table *t = table_new("untouched", untouched_columns);
    for (int id = 0; id < vocab; id++) {
        if (!shown[id]) continue;
        table_add_text(t, tokens_name(scene->vocab, id));
        table_add_int(t, id);
        table_add_real(t, exp(logits[id] - log_z));
    }
    snapshot_add_table(s, t);
}

/* All tokens by falling logit. */
static Candidate *candidates(Observers *o, const Scene *scene) {
    int vocab = model_config(scene->model)->vocab;
    const real *logits = last_logits(o, scene);
    Candidate *c = MEM_ARRAY(Candidate, (size_t)vocab);
    for (int i = 0; i < vocab; i++) c[i] = (Candidate){i, logits[i]};
    qsort(c, (size_t)vocab, sizeof *c, by_logit);
    return c;
}

static int rows_of(const Scene *scene) {
    int vocab = model_config(scene->model)->vocab;
    return scene->rows > 0 && scene->rows < vocab ? scene->rows : vocab;
}

/* Whether tables have a row for each token. */
static bool *shown_tokens(const Scene *scene, const Candidate *c) {
    bool *shown = MEM_ARRAY(bool, (size_t)model_config(scene->model)->vocab);
    for (int i = 0; i < rows_of(scene); i++) shown[c[i].id] = true;
    return shown;
}

void observe_next(Observers *o, const Scene *scene, Snapshot *s) {
    int vocab = model_config(scene->model)->vocab;
    Candidate *c = candidates(o, scene);
    bool *shown = shown_tokens(scene, c);
    double log_z = log_sum_exp(vocab, last_logits(o, scene));
    const NextList *truth = observers_truth(o, scene, scene->ids, scene->visible);
    Table *t = table_new("next", observe_next_columns);
    for (int i = 0; i < rows_of(scene); i++) {
        const char *token = tokens_name(scene->vocab, c[i].id);
        table_add_text(t, token);
        table_add_int(t, c[i].id);
        table_add_real(t, (double)c[i].logit);
        table_add_real(t, exp((double)c[i].logit - log_z));
        if (truth->count)
            table_add_real(t, observers_true_p(truth, token));
        else
            table_add_empty(t);
    }
    snapshot_add_table(s, t);
    add_untouched(o, scene, s, shown);
    mem_free(c);
    mem_free(shown);
}

/* Counts of sentences that were drawn from here or from elsewhere: sample_run.h. */
void observe_samples(Observers *o, const Scene *scene, Snapshot *s) {
    (void)o;
    if (scene->samples) sample_run_tables(scene->samples, s);
}

static const Column filter_columns[] = {
    {"stage", COLUMN_TEXT, ""}, {"index", COLUMN_INT, ""}, {"value", COLUMN_DOUBLE, ""}, {"kept", COLUMN_INT, ""}, {0},
};

static const Column draw_columns[] = {
    {"number", COLUMN_DOUBLE, ""},
    {"id", COLUMN_INT, ""},
    {"token", COLUMN_TEXT, ""},
    {0},
};

/* Those without a row, together: index -1, the sum of what they have, how many are kept. */
static void add_others(Table *t, const FilterStage *stage, const bool *shown, int n) {
    double sum = 0;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (shown[i]) continue;
        sum += stage->kept[i] ? stage->value[i] : 0;
        kept += stage->kept[i];
    }
    table_add_text(t, stage->name);
    table_add_int(t, -1);
    table_add_real(t, sum);
    table_add_int(t, kept);
}

static Table *stages_table(const Filter *f, const bool *shown, bool others) {
    Table *t = table_new("filter", filter_columns);
    for (int k = 0; k < f->stages; k++) {
        for (int i = 0; i < f->n; i++) {
            if (!shown[i]) continue;
            table_add_text(t, f->stage[k].name);
            table_add_int(t, i);
            table_add_real(t, f->stage[k].value[i]);
            table_add_int(t, f->stage[k].kept[i]);
        }
        if (others) add_others(t, &f->stage[k], shown, f->n);
    }
    return t;
}

static Table *draws_table(const Filter *f, const Scene *scene) {
    Table *t = table_new("draws", draw_columns);
    Rng r = rng_at(scene->seed, "sample", (uint64_t)scene->visible);
    for (int i = 0; i < DRAWS; i++) {
        double u = rng_unit(&r);
        int id = filter_draw(f, u);
        table_add_real(t, u);
        table_add_int(t, id);
        table_add_text(t, tokens_name(scene->vocab, id));
    }
    return t;
}

/* A model that gives no distribution (NaN) has no pipeline: both tables are missing then. */
void observe_filter(Observers *o, const Scene *scene, Snapshot *s) {
    int vocab = model_config(scene->model)->vocab;
    const real *logits = last_logits(o, scene);
    double *wide = MEM_ARRAY(double, (size_t)vocab);
    for (int i = 0; i < vocab; i++) wide[i] = (double)logits[i];
    Filter f;
    filter_init(&f, vocab);
    Status status = filter_run(&f, &scene->filter, wide, false);
    if (status_is_ok(&status)) {
        Candidate *c = candidates(o, scene);
        bool *shown = shown_tokens(scene, c);
        snapshot_add_table(s, stages_table(&f, shown, rows_of(scene) < vocab));
        mem_free(shown);
        mem_free(c);
        snapshot_add_table(s, draws_table(&f, scene));
    }
    filter_done(&f);
    mem_free(wide);
}
