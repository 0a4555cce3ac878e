/* arch.ablate: the Transformer of the stories with one thing changed at a time (seminar 3, exercise 9). */
#include "cancel.h"
#include "copying.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "run.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHANGES = 5, SEEDS_MOST = 8, RATES_MOST = 8, JOBS_MOST = CHANGES * SEEDS_MOST + RATES_MOST };

static const Option ablate_options[] = {
    {"steps", OPTION_INT, "1500", 1, 1e6, NULL, "", N_("updates of each model")},
    {"changes", OPTION_CHOICES, "base,nope,relu_ffn,no_norm,qk_norm", 0, 0, "base|nope|relu_ffn|no_norm|qk_norm", "",
     N_("what is changed: nothing, no positions, a ReLU feed-forward of as many parameters, no norms, norms of q and "
        "k")},
    {"seeds", OPTION_INT, "1", 1, SEEDS_MOST, NULL, "", N_("models of each: this seed and those after it")},
    {"rates", OPTION_REALS, NULL, 1e-9, 10, NULL, "", N_("learning rates to try no_norm with, besides lr=")},
    {"batch", OPTION_INT, "4", 1, 1024, NULL, "stories", N_("stories per step")},
    {"lr", OPTION_REAL, "0.0025", 1e-9, 10, NULL, "", N_("highest learning rate")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("width of the Transformer")},
    {"layers", OPTION_INT, "2", 1, 64, NULL, "", N_("its blocks")},
    {"heads", OPTION_INT, "8", 1, 64, NULL, "", N_("its heads")},
    {0},
};

static const Column bits_columns[] = {{"change", COLUMN_TEXT, ""},
                                      {"parameters", COLUMN_INT, ""},
                                      {"repeat_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {"other_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {0}};
static const Column runs_columns[] = {{"change", COLUMN_TEXT, ""},
                                      {"learning_rate", COLUMN_DOUBLE, ""},
                                      {"seed", COLUMN_INT, ""},
                                      {"repeat_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {"other_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {"induction_score", COLUMN_DOUBLE, ""},
                                      {0}};

/* ---- what is changed ---- */

static const struct {
    const char *name, *pairs;
} changes[CHANGES] = {
    {"base", ""}, {"nope", "pos=none"}, {"relu_ffn", "ffn=relu"}, {"no_norm", "norm=none"}, {"qk_norm", "qk_norm=1"},
};

/* A feed-forward of two matrices has as many parameters as a gated one when it is half as wide again. */
static void keep_parameters(Options *run) {
    ModelConfig c;
    char pair[32];
    Options *gated = options_copy(run);
    variant_set(gated, "ffn=swiglu");
    Status s = run_config(gated, 1, &c);
    options_free(gated);
    if (!status_is_ok(&s)) return; /* checked before */
    snprintf(pair, sizeof pair, "d_ff=%d", c.d_ff * 3 / 2);
    variant_set(run, pair);
}

static Options *model_options(const Options *o, int change) {
    Options *run = copying_model(o, changes[change].pairs);
    if (strcmp(changes[change].name, "relu_ffn") == 0) keep_parameters(run);
    return run;
}

static Status check(const Options *o) {
    const int *which;
    const double *rate;
    if (options_choices(o, "changes", &which) > CHANGES) return status_usage(_("changes: each one once at most"));
    if (options_is_set(o, "rates") && options_reals(o, "rates", &rate) > RATES_MOST)
        return status_usage(_("rates: at most %d"), RATES_MOST);
    return copying_check(o);
}

/* ---- training ---- */

typedef struct {
    CopyBits bits;
    double induction; /* of the best head */
    long parameters;
} Found;

typedef struct {
    Study *study;
    Corpus *corpus;
    CopyTask task;
    int jobs, seeds;
    int change[JOBS_MOST];
    bool more[JOBS_MOST]; /* of rates= */
    Options *options[JOBS_MOST];
    Model *begin[JOBS_MOST];
    char name[JOBS_MOST][48];
    Training training[JOBS_MOST];
    Found found[JOBS_MOST];
} Ablate;

/* RATE 0: that of lr=. */
static void add_job(Ablate *x, int change, int seed, double rate) {
    const Options *o = study_options(x->study);
    int j = x->jobs++;
    x->change[j] = change;
    x->more[j] = rate > 0;
    x->options[j] = model_options(o, change);
    if (rate > 0) {
        Str pair;
        str_init(&pair);
        str_add(&pair, "lr=");
        str_add_double(&pair, rate);
        variant_set(x->options[j], pair.s);
        str_done(&pair);
    }
    x->begin[j] = copying_begin(o, x->options[j], vocab_size(x->corpus->vocab), study_seed(x->study) + (uint64_t)seed);
    snprintf(x->name[j], sizeof x->name[j], "stories-%s-%d", changes[change].name, seed);
    x->training[j] =
        (Training){.name = x->name[j],
                   .options = x->options[j],
                   .seed = study_seed(x->study) + (uint64_t)seed,
                   .from = {.corpus = x->corpus, .model = x->begin[j], .steps = (long)options_int(o, "steps")},
                   .may_diverge = true};
}

static void plan(Ablate *x) {
    const Options *o = study_options(x->study);
    const int *which;
    const double *rate;
    int n = options_choices(o, "changes", &which);
    x->seeds = (int)options_int(o, "seeds");
    for (int i = 0; i < n; i++)
        for (int s = 0; s < x->seeds; s++) add_job(x, which[i], s, 0);
    int rates = options_is_set(o, "rates") ? options_reals(o, "rates", &rate) : 0;
    for (int i = 0; i < rates; i++) add_job(x, 3, 0, rate[i]);
}

static Status measure(void *user, int job, Trained *t) {
    Ablate *x = user;
    Found *f = &x->found[job];
    const ModelConfig *c = model_config(t->model);
    CopyHeads heads;
    f->parameters = (long)model_read_params(t->model)->count;
    f->bits = copying_bits_of(&x->task, t->model);
    copying_heads(&x->task, t->model, 10, &heads);
    for (int h = 0; h < c->layers * c->heads; h++) f->induction = fmax(f->induction, heads.induction[h]);
    copying_heads_done(&heads);
    return cancel_wanted() ? status_cancelled() : status_ok();
}

static void add_bits(Ablate *x, int job) {
    Table *t = study_table(x->study, "bits");
    CopyBits sum = {0};
    for (int j = job - x->seeds + 1; j <= job; j++) {
        sum.copied += x->found[j].bits.copied;
        sum.other += x->found[j].bits.other;
    }
    table_add_text(t, changes[x->change[job]].name);
    table_add_int(t, x->found[job].parameters);
    table_add_real(t, sum.copied / x->seeds);
    table_add_real(t, sum.other / x->seeds);
}

static Status add_rows(void *user, int job, Trained *t) {
    Ablate *x = user;
    const Found *f = &x->found[job];
    Table *runs = study_table(x->study, "runs");
    table_add_text(runs, changes[x->change[job]].name);
    table_add_real(runs, options_real(x->options[job], "lr"));
    table_add_int(runs, (long long)x->training[job].seed);
    table_add_real(runs, f->bits.copied);
    table_add_real(runs, f->bits.other);
    table_add_real(runs, f->induction);
    if (!x->more[job] && job % x->seeds == x->seeds - 1) add_bits(x, job);
    if (t->path[0]) study_offer_model(x->study, t->path);
    return status_ok();
}

static void add_conventions(Study *s) {
    copying_conventions(s);
    study_about(s, "bits_rule", "mean over the seeds");
    study_about(s, "induction_score_rule", "of the head that has the highest, as in stories.copy");
    study_about(s, "relu_ffn_rule", "half as wide again: as many parameters as the gated one");
    study_about(s, "seeds_rule", "a seed changes the parameters and the order of the stories, not the stories");
}

static Status run(Study *s) {
    Ablate *x = MEM_NEW(Ablate);
    const Options *o = study_options(s);
    x->study = s;
    Status status =
        study_progress(s, 0, _("writing stories")) ? copying_corpus(o, study_seed(s), &x->corpus) : status_cancelled();
    if (status_is_ok(&status)) status = copying_open(o, x->corpus, study_seed(s), &x->task);
    add_conventions(s);
    if (status_is_ok(&status)) {
        plan(x);
        status =
            trainings_run(s, x->training, x->jobs, &(TrainingsCalls){.measure = measure, .done = add_rows, .user = x});
    }
    for (int i = 0; i < x->jobs; i++) {
        options_free(x->options[i]);
        model_free(x->begin[i]);
    }
    copying_done(&x->task);
    corpus_free(x->corpus);
    mem_free(x);
    return status;
}

const Experiment experiment_arch_ablate = {
    .entry = {.id = "arch.ablate",
              .section = "S3 14.9",
              .title = N_("the Transformer of the stories with one thing changed at a time"),
              .see =
                  N_("Which part is needed for copying, which only for the rest: compare the letters of repeated names "
                     "with all other bytes. Without positions copying hardly begins; the others "
                     "copy sooner or later: seeds= shows how much is chance."),
              .options = (const Option *const[]){ablate_options, copying_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"bits", bits_columns}, {"runs", runs_columns}, {0}},
              .figure = {FIGURE_BARS, "bits", "change", "repeat_bits other_bits", NULL}},
    .check = check,
    .run = run,
};
