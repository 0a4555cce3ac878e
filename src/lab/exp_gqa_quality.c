/* gqa.quality: what fewer KV heads cost in quality, and making a grouped model from one with all its heads (lecture 4,
 * 5.4; Ainslie et al. 2023). */
#include "experiment.h"
#include "grouping.h"
#include "intl.h"
#include "mem.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS_MOST = 8, SCHEMES_MOST = 16, JOBS_MOST = SEEDS_MOST * SCHEMES_MOST };

static const Option quality_options[] = {
    {"seeds", OPTION_INT, "1", 1, SEEDS_MOST, NULL, "", N_("models of each: this seed and those after it")},
    {"heads", OPTION_INT, "4", 1, 64, NULL, "", N_("query heads; their divisors are the numbers of KV heads")},
    {"kv_heads", OPTION_INT, "2", 1, 64, NULL, "", N_("KV heads of the model that is made from the full one")},
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("what they learn from: a grammar or a text")},
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("training sentences")},
    {"epochs", OPTION_INT, "5", 0, 1000, NULL, "", N_("how often every sentence is seen")},
    {"more", OPTION_INT, "1", 0, 1000, NULL, "epochs", N_("of the training that is added")},
    {"more_lr", OPTION_REAL, "0.001", 1e-9, 10, NULL, "", N_("learning rate of that training; falls to a tenth")},
    {"d", OPTION_INT, "64", 2, 1024, NULL, "", N_("width")},
    {"layers", OPTION_INT, "2", 1, 64, NULL, "", N_("blocks")},
    {0},
};

static const Column quality_columns[] = {
    {"scheme", COLUMN_TEXT, ""}, {"kv_heads", COLUMN_INT, ""}, {"perplexity", COLUMN_DOUBLE, ""}, {0}};
static const Column uptrain_columns[] = {{"stage", COLUMN_TEXT, ""}, {"perplexity", COLUMN_DOUBLE, ""}, {0}};
static const Column runs_columns[] = {{"seed", COLUMN_INT, ""},
                                      {"what", COLUMN_TEXT, ""},
                                      {"kv_heads", COLUMN_INT, ""},
                                      {"parameters", COLUMN_INT, ""},
                                      {"perplexity", COLUMN_DOUBLE, ""},
                                      {"floor_perplexity", COLUMN_DOUBLE, ""},
                                      {0}};

typedef struct {
    double nll, floor_nll;
    long parameters;
} Found;

typedef struct {
    Study *study;
    int seeds, schemes;
    int kv_heads[SCHEMES_MOST]; /* falling: all heads first */
    Options *options[SCHEMES_MOST];
    char name[JOBS_MOST][48];
    Training training[JOBS_MOST]; /* scheme after scheme */
    Found found[JOBS_MOST];
    Model *full[SEEDS_MOST];   /* with all heads, trained */
    Model *pooled[SEEDS_MOST]; /* made from it */
    Options *more, *more_full; /* of the training that is added */
    Found base[SEEDS_MOST], after[2 * SEEDS_MOST];
} Quality;

/* ---- what is trained ---- */

static Options *model_options(const Options *o, int kv_heads) {
    char pair[32];
    Options *run = variant_new("arch=modern");
    variant_take(run, o, "corpus sentences epochs d layers heads");
    snprintf(pair, sizeof pair, "kv_heads=%d", kv_heads);
    variant_set(run, pair);
    return run;
}

/* Of a training that goes on from another. */
static Options *more_options(const Options *o, int kv_heads) {
    Options *run = model_options(o, kv_heads);
    Str pairs;
    str_init(&pairs);
    str_addf(&pairs, "epochs=%lld lr=", options_int(o, "more"));
    str_add_double(&pairs, options_real(o, "more_lr"));
    variant_set(run, pairs.s);
    str_done(&pairs);
    return run;
}

static Status check(const Options *o) {
    long long heads = options_int(o, "heads"), kv_heads = options_int(o, "kv_heads");
    if (heads % kv_heads != 0) return status_usage(_("kv_heads=%lld does not divide heads=%lld"), kv_heads, heads);
    if (strcmp(options_text(o, "corpus"), "-") == 0) return status_usage(_("corpus: several runs cannot share '-'"));
    Options *run = model_options(o, (int)heads);
    Status s = run_check(run);
    options_free(run);
    return s;
}

static const char *scheme_name(int kv_heads, int heads) {
    return kv_heads == heads ? "mha" : kv_heads == 1 ? "mqa" : "gqa";
}

static void plan(Quality *x) {
    const Options *o = study_options(x->study);
    int heads = (int)options_int(o, "heads");
    x->seeds = (int)options_int(o, "seeds");
    for (int n = heads; n >= 1; n--) {
        if (heads % n != 0) continue;
        int scheme = x->schemes++;
        x->kv_heads[scheme] = n;
        x->options[scheme] = model_options(o, n);
        for (int i = 0; i < x->seeds; i++) {
            int job = scheme * x->seeds + i;
            uint64_t seed = study_seed(x->study) + (uint64_t)i;
            snprintf(x->name[job], sizeof x->name[job], "%s%d-%llu", scheme_name(n, heads), n,
                     (unsigned long long)seed);
            x->training[job] = (Training){.name = x->name[job], .options = x->options[scheme], .seed = seed};
        }
    }
    x->more = more_options(o, (int)options_int(o, "kv_heads"));
    x->more_full = more_options(o, heads);
}

static void done(Quality *x) {
    for (int i = 0; i < x->schemes; i++) options_free(x->options[i]);
    for (int i = 0; i < x->seeds; i++) {
        model_free(x->full[i]);
        model_free(x->pooled[i]);
    }
    options_free(x->more);
    options_free(x->more_full);
    mem_free(x);
}

/* ---- what is found ---- */

static Status test(Run *run, Found *f) {
    long tokens;
    f->parameters = (long)model_read_params(run_model(run))->count;
    return run_test_nll(run, -1, &f->nll, &f->floor_nll, &tokens);
}

static void add_run(Quality *x, int seed, const char *what, int kv_heads, const Found *f) {
    Table *t = study_table(x->study, "runs");
    table_add_int(t, (long long)(study_seed(x->study) + (uint64_t)seed));
    table_add_text(t, what);
    table_add_int(t, kv_heads);
    table_add_int(t, f->parameters);
    table_add_real(t, exp(f->nll));
    table_add_known(t, exp(f->floor_nll));
}

static double mean_perplexity(const Found *f, int n, int step) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(f[i * step].nll);
    return sum / n;
}

static Status measure(void *user, int job, Trained *t) {
    Run *run;
    STATUS_TRY(trained_run(t, &run));
    return test(run, &((Quality *)user)->found[job]);
}

static Status add_scheme(void *user, int job, Trained *t) {
    Quality *x = user;
    int scheme = job / x->seeds, seed = job % x->seeds, heads = x->kv_heads[0];
    add_run(x, seed, scheme_name(x->kv_heads[scheme], heads), x->kv_heads[scheme], &x->found[job]);
    if (scheme == 0) {
        x->full[seed] = t->model;
        t->model = NULL;
    }
    if (seed == x->seeds - 1) {
        Table *quality = study_table(x->study, "quality");
        table_add_text(quality, scheme_name(x->kv_heads[scheme], heads));
        table_add_int(quality, x->kv_heads[scheme]);
        table_add_real(quality, mean_perplexity(&x->found[scheme * x->seeds], x->seeds, 1));
    }
    study_offer_model(x->study, t->path);
    return status_ok();
}

static void add_stage(Quality *x, const char *stage, const Found *f, int step) {
    Table *t = study_table(x->study, "uptrain");
    table_add_text(t, stage);
    table_add_real(t, mean_perplexity(f, x->seeds, step));
}

/* ---- the model that is made from the full one ---- */

/* The pooled models as they are, before they train on. */
static Status pool(Quality *x) {
    int kv_heads = (int)options_int(study_options(x->study), "kv_heads");
    for (int i = 0; i < x->seeds; i++) {
        x->pooled[i] = grouping_mean(x->full[i], kv_heads);
        RunStart from = {.model = x->pooled[i]};
        Run *run;
        if (!study_progress(x->study, -1, _("pooling K and V heads"))) return status_cancelled();
        STATUS_TRY(run_new_with(x->more, &from, x->training[i].seed, study_threads(x->study), &run));
        Status s = test(run, &x->base[i]);
        run_free(run);
        if (!status_is_ok(&s)) return s;
        add_run(x, i, "mean_pooled", kv_heads, &x->base[i]);
    }
    add_stage(x, "mean_pooled", x->base, 1);
    return status_ok();
}

static Status measure_more(void *user, int job, Trained *t) {
    Run *run;
    STATUS_TRY(trained_run(t, &run));
    return test(run, &((Quality *)user)->after[job]);
}

/* Jobs come in pairs: the pooled model, then the full one. */
static Status add_more(void *user, int job, Trained *t) {
    Quality *x = user;
    bool full = job % 2;
    int kv_heads = full ? x->kv_heads[0] : (int)options_int(study_options(x->study), "kv_heads");
    add_run(x, job / 2, full ? "mha_same_extra" : "uptrained", kv_heads, &x->after[job]);
    study_offer_model(x->study, t->path);
    return status_ok();
}

/* The pooled model and the full one both train on, alike. */
static Status train_on(Quality *x) {
    char name[2 * SEEDS_MOST][48];
    Training more[2 * SEEDS_MOST];
    for (int i = 0; i < 2 * x->seeds; i++) {
        uint64_t seed = x->training[i / 2].seed;
        snprintf(name[i], sizeof name[i], "%s-%llu", i % 2 ? "mha-more" : "uptrained", (unsigned long long)seed);
        more[i] = (Training){.name = name[i],
                             .options = i % 2 ? x->more_full : x->more,
                             .seed = seed,
                             .from = {.model = i % 2 ? x->full[i / 2] : x->pooled[i / 2]}};
    }
    STATUS_TRY(
        trainings_run(x->study, more, 2 * x->seeds,
                      &(TrainingsCalls){.measure = measure_more, .done = add_more, .user = x, .from = 0.8, .to = 1}));
    add_stage(x, "uptrained", x->after, 2);
    add_stage(x, "mha_same_extra", x->after + 1, 2);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(s, "perplexity_rule", "exp of the mean nll on the test sentences; mean over the seeds");
    study_about(
        s, "mean_pooled_rule",
        "each KV head is the mean of the K (and V) heads of its group, all else is as in the trained mha model");
    study_about(s, "mha_same_extra_rule",
                "the trained mha model with the same additional training as `uptrained`: the fair control");
    study_about(s, "models", "arch=modern with kv_heads= changed, trained as lm.train trains them");
    study_about(s, "more_rule", "a new optimiser, cosine from more_lr to a tenth of it, %lld epochs",
                options_int(study_options(s), "more"));
}

static Status quality(Quality *x) {
    TrainingsCalls calls = {.measure = measure, .done = add_scheme, .user = x, .from = 0, .to = 0.8};
    STATUS_TRY(trainings_run(x->study, x->training, x->schemes * x->seeds, &calls));
    STATUS_TRY(pool(x));
    return train_on(x);
}

static Status run(Study *s) {
    Quality *x = MEM_NEW(Quality);
    x->study = s;
    plan(x);
    add_conventions(s);
    Status status = quality(x);
    done(x);
    return status;
}

const Experiment experiment_gqa_quality = {
    .entry = {.id = "gqa.quality",
              .section = "L4 5.4",
              .title = N_("what fewer KV heads cost in quality, and making a grouped model from a trained one"),
              .see = N_("Taking the mean of the heads costs much, a little more training repairs it. It seems better "
                        "than before only until the full model is given the same training."),
              .options = (const Option *const[]){quality_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"quality", quality_columns}, {"uptrain", uptrain_columns}, {"runs", runs_columns}, {0}},
              .figure = {FIGURE_BARS, "runs", "what", "perplexity", "kv_heads"}},
    .check = check,
    .run = run,
};
