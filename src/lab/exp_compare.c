/* arch.compare: recipes and feed-forward kinds at equal numbers of parameters (lecture 4, 7.2; seminar 3, 4.3, 4.4;
 * Shazeer 2020). */
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS_MOST = 16 };

static const Option compare_options[] = {
    {"variants", OPTION_CHOICES, "gpt,modern,relu,gelu,geglu,swiglu,nobias", 0, 0,
     "gpt|modern|relu|gelu|geglu|swiglu|nobias", "",
     N_("gpt, modern: the recipes; relu to swiglu: modern with that feed-forward; nobias: gpt without biases")},
    {"seeds", OPTION_INT, "1", 1, SEEDS_MOST, NULL, "", N_("models of each: this seed and those after it")},
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("what they learn from: a grammar or a text")},
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("training sentences")},
    {"epochs", OPTION_INT, "5", 0, 1000, NULL, "", N_("how often every sentence is seen")},
    {"d", OPTION_INT, "64", 2, 1024, NULL, "", N_("width")},
    {"layers", OPTION_INT, "2", 1, 64, NULL, "", N_("blocks")},
    {"heads", OPTION_INT, "4", 1, 64, NULL, "", N_("heads")},
    {0},
};

static const Column result_columns[] = {{"model", COLUMN_TEXT, ""},
                                        {"parameters", COLUMN_INT, ""},
                                        {"perplexity", COLUMN_DOUBLE, ""},
                                        {"seconds", COLUMN_DOUBLE, "s"},
                                        {0}};
static const Column runs_columns[] = {{"model", COLUMN_TEXT, ""},         {"seed", COLUMN_INT, ""},
                                      {"perplexity", COLUMN_DOUBLE, ""},  {"floor_perplexity", COLUMN_DOUBLE, ""},
                                      {"above_floor", COLUMN_DOUBLE, ""}, {0}};
static const Column shape_columns[] = {{"model", COLUMN_TEXT, ""},
                                       {"ffn", COLUMN_TEXT, ""},
                                       {"d_ff", COLUMN_INT, ""},
                                       {"parameters", COLUMN_INT, ""},
                                       {"equal_to", COLUMN_TEXT, ""},
                                       {"difference", COLUMN_INT, ""},
                                       {0}};

/* ---- the variants ---- */

typedef struct {
    const char *name, *pairs; /* of lm.train */
    const char *equal_to;     /* the recipe that has as many parameters */
} Variant;

static const Variant variants[] = {
    {"gpt", "arch=gpt", "gpt"},
    {"modern", "arch=modern", "modern"},
    {"relu", "arch=modern ffn=relu", "modern"},
    {"gelu", "arch=modern ffn=gelu", "modern"},
    {"geglu", "arch=modern ffn=geglu", "modern"},
    {"swiglu", "arch=modern ffn=swiglu", "modern"},
    {"nobias", "arch=gpt bias=0", "gpt"},
};
enum { VARIANTS = sizeof variants / sizeof *variants, JOBS_MOST = VARIANTS * SEEDS_MOST };

static Options *model_options(const Options *o, const char *pairs) {
    Options *run = variant_new(pairs);
    variant_take(run, o, "corpus sentences epochs d layers heads");
    return run;
}

/* How many parameters the model of RUN has with a vocabulary of VOCAB tokens. */
static Status count(const Options *run, int vocab, ModelConfig *c, long *parameters) {
    STATUS_TRY(run_config(run, vocab, c));
    *parameters = (long)model_count(c);
    return status_ok();
}

/* Sets d_ff of RUN so that the model has as many parameters as that of LIKE, or as nearly as whole widths allow: the
 * count grows by the same for each unit of d_ff. */
static Status fit_width(Options *run, const Options *like, int vocab) {
    ModelConfig c;
    long aim, now, one;
    char pair[32];
    STATUS_TRY(count(like, vocab, &c, &aim));
    variant_set(run, "d_ff=1");
    STATUS_TRY(count(run, vocab, &c, &now));
    variant_set(run, "d_ff=2");
    STATUS_TRY(count(run, vocab, &c, &one));
    long width = 1 + lround((double)(aim - now) / (double)(one - now));
    snprintf(pair, sizeof pair, "d_ff=%ld", width > 1 ? width : 1);
    variant_set(run, pair);
    return status_ok();
}

static const char *pairs_of(const char *name) {
    int i = 0;
    while (strcmp(variants[i].name, name) != 0) i++;
    return variants[i].pairs;
}

/* The options of a variant; its width is that of its recipe unless another makes the numbers of parameters equal. */
static Status variant_options(const Options *o, const Variant *v, int vocab, Options **out) {
    Options *run = model_options(o, v->pairs), *like = model_options(o, pairs_of(v->equal_to));
    Status s = strcmp(v->name, v->equal_to) == 0 ? status_ok() : fit_width(run, like, vocab);
    options_free(like);
    if (status_is_ok(&s)) {
        *out = run;
    } else {
        options_free(run);
    }
    return s;
}

static Status check(const Options *o) {
    const int *which;
    if (options_choices(o, "variants", &which) > VARIANTS) return status_usage(_("variants: each one once at most"));
    if (strcmp(options_text(o, "corpus"), "-") == 0) return status_usage(_("corpus: several runs cannot share '-'"));
    for (int i = 0; i < 2; i++) {
        Options *run = model_options(o, variants[i].pairs);
        Status s = run_check(run);
        options_free(run);
        if (!status_is_ok(&s)) return s;
    }
    return status_ok();
}

/* ---- training ---- */

typedef struct {
    double nll, floor_nll, seconds;
} Found;

/* A variant in the order asked for; the models of its seeds are those of the jobs from `job` on, perhaps also
 * another's.
 */
typedef struct {
    const Variant *variant;
    ModelConfig config;
    Options *options;
    int job;
} Place;

typedef struct {
    Study *study;
    int seeds, jobs, places;
    int shown; /* places whose rows are there */
    Place place[VARIANTS];
    char name[JOBS_MOST][40];
    Training training[JOBS_MOST];
    Found found[JOBS_MOST];
} Compare;

static void add_shape(Study *s, const Place *p, long aim) {
    Table *t = study_table(s, "shape");
    char ffn[32];
    (void)config_get(&p->config, "ffn", ffn, sizeof ffn);
    table_add_text(t, p->variant->name);
    table_add_text(t, ffn);
    table_add_int(t, p->config.d_ff);
    table_add_int(t, (long long)model_count(&p->config));
    table_add_text(t, p->variant->equal_to);
    table_add_int(t, (long long)model_count(&p->config) - aim);
}

static bool same_model(const ModelConfig *a, const ModelConfig *b) {
    char x[64], y[64];
    for (const char *const *field = config_fields(); *field; field++)
        if (config_get(a, *field, x, sizeof x) && config_get(b, *field, y, sizeof y) && strcmp(x, y) != 0) return false;
    return true;
}

/* The jobs of a place: those of an earlier one with the same model, or new ones. */
static void add_jobs(Compare *x, Place *p) {
    for (const Place *before = x->place; before < p; before++) {
        p->job = before->job;
        if (same_model(&before->config, &p->config)) return;
    }
    p->job = x->jobs;
    for (int i = 0; i < x->seeds; i++) {
        int j = x->jobs++;
        uint64_t seed = study_seed(x->study) + (uint64_t)i;
        snprintf(x->name[j], sizeof x->name[j], "%s-%llu", p->variant->name, (unsigned long long)seed);
        x->training[j] = (Training){.name = x->name[j], .options = p->options, .seed = seed, .afresh = true};
    }
}

static Status plan_place(Compare *x, const Variant *v, int vocab) {
    const Options *o = study_options(x->study);
    Place *p = &x->place[x->places];
    ModelConfig c;
    long aim, parameters;
    p->variant = v;
    STATUS_TRY(variant_options(o, v, vocab, &p->options));
    x->places++;
    Options *like = model_options(o, pairs_of(v->equal_to));
    Status s = count(like, vocab, &c, &aim);
    options_free(like);
    if (status_is_ok(&s)) s = count(p->options, vocab, &p->config, &parameters);
    if (!status_is_ok(&s)) return s;
    add_shape(x->study, p, aim);
    add_jobs(x, p);
    return s;
}

static Status plan(Compare *x) {
    const Options *o = study_options(x->study);
    const int *which;
    Vocab *words;
    int n = options_choices(o, "variants", &which);
    x->seeds = (int)options_int(o, "seeds");
    STATUS_TRY(corpora_words(options_text(o, "corpus"), study_seed(x->study), &words));
    int vocab = vocab_size(words);
    vocab_free(words);
    for (int i = 0; i < n; i++) STATUS_TRY(plan_place(x, &variants[which[i]], vocab));
    return status_ok();
}

static Status measure(void *user, int job, Trained *t) {
    Found *f = &((Compare *)user)->found[job];
    Run *run;
    long tokens;
    f->seconds = t->seconds;
    STATUS_TRY(trained_run(t, &run));
    return run_test_nll(run, -1, &f->nll, &f->floor_nll, &tokens);
}

static void add_run(Compare *x, const Place *p, int seed) {
    const Found *f = &x->found[p->job + seed];
    Table *t = study_table(x->study, "runs");
    table_add_text(t, p->variant->name);
    table_add_int(t, (long long)x->training[p->job + seed].seed);
    table_add_real(t, exp(f->nll));
    for (int i = 0; i < 2; i++) {
        table_add_known(t, i ? exp(f->nll - f->floor_nll) - 1 : exp(f->floor_nll));
    }
}

static void show(Compare *x, const Place *p) {
    Table *t = study_table(x->study, "result");
    double perplexity = 0, seconds = 0;
    for (int i = 0; i < x->seeds; i++) {
        add_run(x, p, i);
        perplexity += exp(x->found[p->job + i].nll);
        seconds += x->found[p->job + i].seconds;
    }
    table_add_text(t, p->variant->name);
    table_add_int(t, (long long)model_count(&p->config));
    table_add_real(t, perplexity / x->seeds);
    table_add_real(t, seconds / x->seeds);
}

/* All places whose models are there, in the order asked for. */
static Status add_rows(void *user, int job, Trained *t) {
    Compare *x = user;
    for (; x->shown < x->places && x->place[x->shown].job + x->seeds <= job + 1; x->shown++)
        show(x, &x->place[x->shown]);
    study_offer_model(x->study, t->path);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(s, "perplexity_rule", "exp of the mean nll on the test sentences; mean over the seeds");
    study_about(s, "seconds_rule", "of the training steps of one model; mean over the seeds");
    study_about(s, "same_rule", "variants that come to the same model (swiglu and modern) are trained once");
    study_about(s, "parameters_rule",
                "d_ff is chosen so that relu, gelu, geglu and swiglu have as many parameters as modern, and nobias as "
                "gpt, as nearly as whole widths allow");
    study_about(s, "above_floor_rule", "perplexity / floor_perplexity - 1; the floor is exact, of the same sentences");
    study_about(s, "schedule", "as lm.train: cosine, the learning rate and batch of its defaults");
}

static Status run(Study *s) {
    Compare *x = MEM_NEW(Compare);
    x->study = s;
    Status status = plan(x);
    add_conventions(s);
    if (status_is_ok(&status))
        status =
            trainings_run(s, x->training, x->jobs, &(TrainingsCalls){.measure = measure, .done = add_rows, .user = x});
    for (int i = 0; i < x->places; i++) options_free(x->place[i].options);
    mem_free(x);
    return status;
}

const Experiment experiment_arch_compare = {
    .entry = {.id = "arch.compare",
              .section = "L4 7.2, S3 4.3",
              .title = N_("recipes and feed-forward kinds at equal numbers of parameters"),
              .see = N_("On a language this small all come equally near to the floor: what the modern recipe is worth "
                        "shows in large models. The spread of the seeds says which differences count."),
              .options = (const Option *const[]){compare_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"result", result_columns}, {"runs", runs_columns}, {"shape", shape_columns}, {0}},
              .figure = {FIGURE_BARS, "result", "model", "perplexity", NULL}},
    .check = check,
    .run = run,
};
