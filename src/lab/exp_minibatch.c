/* lm.minibatch: how far the gradient of a small batch is from that of all sentences, and what a sentence of it costs
 * (lecture 3, 1.3, exercise 10). */
#include "clock.h"
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PASS = 128 }; /* sentences of a pass over all of them */

static const Option minibatch_options[] = {
    {"sizes", OPTION_INTS, "1,4,16,64", 1, 65536, NULL, "sentences", N_("sizes of the batch")},
    {"draws", OPTION_INT, "16", 1, 10000, NULL, "", N_("batches of each size, drawn without replacement")},
    {"sentences", OPTION_INT, "4096", 1, 1e6, NULL, "", N_("all sentences: what the full gradient is of")},
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("a grammar or a text")},
    {"arch", OPTION_CHOICE, "gpt", 0, 0, "gpt|modern", "", N_("the model, as the seed initialises it")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("its width")},
    {0},
};

static const Column noise_columns[] = {{"batch", COLUMN_INT, "sentences"},
                                       {"mean_squared_error", COLUMN_DOUBLE, ""},
                                       {"cosine", COLUMN_DOUBLE, ""},
                                       {"seconds_per_sentence", COLUMN_DOUBLE, "s"},
                                       {0}};

typedef struct {
    Study *study;
    Run *run;
    long sentences;
    int *order; /* [sentences] */
    Batch batch;
    size_t count;       /* parameters */
    real *full, *grad;  /* [count] */
    double passed, all; /* sentences, for progress */
} Noise;

/* ---- the model and its gradients ---- */

static Options *run_options_of(const Options *o) {
    Options *run = run_options();
    static const char *const same[] = {"corpus", "sentences", "arch", "d"};
    for (int i = 0; i < 4; i++) {
        Status s = options_set(run, same[i], options_value(o, same[i]));
        (void)s; /* rows of the same range */
    }
    return run;
}

static Status check(const Options *o) {
    Options *run = run_options_of(o);
    Status s = run_check(run);
    options_free(run);
    const long long *size;
    int n = options_ints(o, "sizes", &size);
    for (int i = 0; i < n && status_is_ok(&s); i++)
        if (size[i] > options_int(o, "sentences"))
            s = status_usage(_("sizes: %lld is more than there are sentences (%lld)"), size[i],
                             options_int(o, "sentences"));
    return s;
}

/* The mean gradient over the real tokens of sentences order[from..from+n-1]. */
static double gradient(Noise *x, long from, int n, real *grad) {
    const Sentences *s = &run_corpus(x->run)->train;
    int context = model_config(run_model(x->run))->context;
    batch_clear(&x->batch);
    for (long i = from; i < from + n; i++) {
        int k = x->order[i];
        long tokens = s->start[k + 1] - s->start[k] - 1;
        batch_add(&x->batch, s->id + s->start[k], tokens < context ? (int)tokens : context, true);
    }
    double start = clock_cpu();
    (void)shards_gradient(run_shards(x->run), &x->batch, study_seed(x->study), 0, grad);
    return clock_cpu() - start;
}

static Status go_on(Noise *x, long sentences, const char *what) {
    x->passed += (double)sentences;
    return study_progress(x->study, x->passed / x->all, "%s", what) ? status_ok() : status_cancelled();
}

static Status full_gradient(Noise *x) {
    double tokens = 0;
    double *sum = MEM_ARRAY(double, x->count);
    Status status = status_ok();
    for (long from = 0; from < x->sentences && status_is_ok(&status); from += PASS) {
        int n = x->sentences - from < PASS ? (int)(x->sentences - from) : PASS;
        (void)gradient(x, from, n, x->grad);
        for (size_t i = 0; i < x->count; i++) sum[i] += (double)x->grad[i] * x->batch.targets;
        tokens += x->batch.targets;
        status = go_on(x, n, _("the full gradient"));
    }
    for (size_t i = 0; i < x->count; i++) x->full[i] = (real)(sum[i] / tokens);
    mem_free(sum);
    return status;
}

/* ---- how far small batches are ---- */

typedef struct {
    double error, cosine; /* |g - full|^2, cos(g, full) */
} Apart;

static Apart compare(const Noise *x) {
    double error = 0, dot = 0, g2 = 0, f2 = 0;
    for (size_t i = 0; i < x->count; i++) {
        double g = (double)x->grad[i], f = (double)x->full[i];
        error += (g - f) * (g - f);
        dot += g * f;
        g2 += g * g;
        f2 += f * f;
    }
    return (Apart){error, dot / sqrt(g2 * f2)};
}

/* SIZE different sentences come first. */
static void draw(Noise *x, int size, int draw) {
    char stream[40];
    snprintf(stream, sizeof stream, "minibatch.%d", size);
    Rng rng = rng_at(study_seed(x->study), stream, (uint64_t)draw);
    for (int i = 0; i < size; i++) {
        long k = i + (long)rng_below(&rng, (uint64_t)(x->sentences - i));
        int held = x->order[i];
        x->order[i] = x->order[k];
        x->order[k] = held;
    }
}

static Status measure(Noise *x, int size, int draws) {
    double error = 0, cosine = 0, seconds = 0;
    for (int i = 0; i < draws; i++) {
        draw(x, size, i);
        seconds += gradient(x, 0, size, x->grad);
        Apart a = compare(x);
        error += a.error / draws;
        cosine += a.cosine / draws;
        STATUS_TRY(go_on(x, size, _("small batches")));
    }
    Table *t = study_table(x->study, "noise");
    table_add_int(t, size);
    table_add_real(t, error);
    table_add_real(t, cosine);
    table_add_real(t, seconds / ((double)size * draws));
    return status_ok();
}

static Status measure_all(Noise *x) {
    const Options *o = study_options(x->study);
    const long long *size;
    int n = options_ints(o, "sizes", &size), draws = (int)options_int(o, "draws");
    x->all = (double)x->sentences;
    for (int i = 0; i < n; i++) x->all += (double)size[i] * draws;
    STATUS_TRY(full_gradient(x));
    for (int i = 0; i < n; i++) STATUS_TRY(measure(x, (int)size[i], draws));
    return status_ok();
}

static Status set_up(Noise *x) {
    Options *o = run_options_of(study_options(x->study));
    /* one thread: what a sentence costs in a batch is not to be hidden by a second */
    Status status = run_new(o, study_seed(x->study), 1, &x->run);
    options_free(o);
    STATUS_TRY(status);
    x->sentences = run_corpus(x->run)->train.sentences;
    const long long *size;
    int n = options_ints(study_options(x->study), "sizes", &size);
    for (int i = 0; i < n; i++)
        if (size[i] > x->sentences)
            return status_usage(_("sizes: %lld is more than the corpus has sentences (%ld)"), size[i], x->sentences);
    x->count = model_params(run_model(x->run))->count;
    x->full = mem_aligned(x->count, sizeof *x->full);
    x->grad = mem_aligned(x->count, sizeof *x->grad);
    x->order = MEM_ARRAY(int, (size_t)x->sentences);
    for (long i = 0; i < x->sentences; i++) x->order[i] = (int)i;
    batch_init(&x->batch);
    return status_ok();
}

static void tear_down(Noise *x) {
    run_free(x->run);
    mem_free(x->full);
    mem_free(x->grad);
    mem_free(x->order);
    batch_done(&x->batch);
}

static Status run(Study *s) {
    Noise x = {.study = s};
    if (!study_progress(s, -1, _("sampling the corpus"))) return status_cancelled();
    Status status = set_up(&x);
    study_about(s, "gradient_rule", "mean over the real tokens of the sentences; the model as the seed initialises it");
    study_about(s, "mean_squared_error_rule",
                "mean over the draws of |g - full|^2, full the gradient of all sentences");
    study_about(s, "cosine_rule", "mean over the draws of the cosine between g and full");
    study_about(s, "seconds_rule", "of the processor, forward and back, one thread, over all draws");
    if (status_is_ok(&status)) status = measure_all(&x);
    tear_down(&x);
    return status;
}

const Experiment experiment_lm_minibatch = {
    .entry =
        {.id = "lm.minibatch",
         .section = "L3 1.3",
         .title = N_("the noise of a small batch's gradient, and what a sentence costs"),
         .see = N_(
             "The squared error falls about as 1/B: the gradient of one sentence points elsewhere, that of 64 nearly "
             "where all together point. And in a batch a sentence is cheaper."),
         .options = (const Option *const[]){minibatch_options, experiment_common_options, NULL},
         .tables = (const TableSpec[]){{"noise", noise_columns}, {0}},
         .figure = {FIGURE_LOG_LINE, "noise", "batch", "mean_squared_error", NULL}},
    .check = check,
    .run = run,
};
