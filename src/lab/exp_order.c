/* arch.order: where the norms of a deep Transformer stand, without warm-up (seminar 3, 3.1, 4.5; Xiong et al. 2020). */
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACEMENTS = 5, RATES_MOST = 8, JOBS_MOST = PLACEMENTS * RATES_MOST, LAST_STEPS = 20 };

static const Option order_options[] = {
    {"layers", OPTION_INT, "8", 1, 64, NULL, "", N_("blocks: the more there are, the harder it is for post-norm")},
    {"lr", OPTION_REALS, "0.003,0.0003", 1e-9, 10, NULL, "", N_("learning rates; each placement is trained with each")},
    {"steps", OPTION_INT, "200", 1, 1e6, NULL, "", N_("updates of each training")},
    {"placements", OPTION_CHOICES, "post,pre,both,output,parallel", 0, 0, "pre|post|both|output|parallel", "",
     N_("where the norms stand")},
    {"warmup", OPTION_INT, "0", 0, 1e6, NULL, "steps", N_("linear rise of the learning rate from 0")},
    {"corpus", OPTION_TEXT, "stories", 0, 0, NULL, "file", N_("what they learn from: a grammar or a text")},
    {"tokens", OPTION_CHOICE, "byte", 0, 0, "word|char|byte", "", N_("what a token is")},
    {"context", OPTION_INT, "64", 2, 4096, NULL, "tokens", N_("longest sequence; longer sentences are cut into parts")},
    {"batch", OPTION_INT, "8", 1, 65536, NULL, "sentences", N_("sequences per step")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("width")},
    {"heads", OPTION_INT, "4", 1, 64, NULL, "", N_("heads")},
    {0},
};

static const Column curve_columns[] = {{"placement", COLUMN_TEXT, ""},
                                       {"learning_rate", COLUMN_DOUBLE, ""},
                                       {"step", COLUMN_INT, ""},
                                       {"loss", COLUMN_DOUBLE, "nats"},
                                       {0}};
static const Column result_columns[] = {{"placement", COLUMN_TEXT, ""},
                                        {"learning_rate", COLUMN_DOUBLE, ""},
                                        {"first_loss", COLUMN_DOUBLE, "nats"},
                                        {"last_loss", COLUMN_DOUBLE, "nats"},
                                        {0}};
static const Column gradient_columns[] = {
    {"placement", COLUMN_TEXT, ""}, {"layer", COLUMN_INT, ""}, {"gradient_norm", COLUMN_DOUBLE, ""}, {0}};

static const char *const placement_names[PLACEMENTS] = {"pre", "post", "both", "output", "parallel"};

typedef struct {
    const char *placement;
    double rate;
    Options *options;
    char name[64];
    double first, last[LAST_STEPS]; /* of the losses: a ring */
    long steps;
} OrderJob;

typedef struct {
    Study *study;
    OrderJob job[JOBS_MOST];
    Training training[JOBS_MOST];
    int jobs;
} Order;

/* ---- what is trained ---- */

/* The options of lm.train for one placement. */
static Options *model_options(const Options *o, const char *placement) {
    Options *run = variant_new("arch=modern schedule=constant sentences=500");
    char pair[64];
    variant_take(run, o, "layers warmup corpus tokens context batch d heads");
    snprintf(pair, sizeof pair, "kv_heads=%lld", options_int(o, "heads"));
    variant_set(run, pair);
    bool parallel = strcmp(placement, "parallel") == 0;
    snprintf(pair, sizeof pair, "norm_place=%s parallel=%d", parallel ? "pre" : placement, parallel);
    variant_set(run, pair);
    return run;
}

static Status check(const Options *o) {
    const double *rate;
    const int *which;
    if (options_reals(o, "lr", &rate) > RATES_MOST) return status_usage(_("lr: at most %d learning rates"), RATES_MOST);
    if (options_choices(o, "placements", &which) > PLACEMENTS)
        return status_usage(_("placements: each one once at most"));
    if (strcmp(options_text(o, "corpus"), "-") == 0) return status_usage(_("corpus: several runs cannot share '-'"));
    Options *run = model_options(o, "pre");
    Status s = run_check(run);
    options_free(run);
    return s;
}

static void add_job(Order *x, const char *placement, double rate) {
    const Options *o = study_options(x->study);
    OrderJob *j = &x->job[x->jobs];
    *j = (OrderJob){.placement = placement, .rate = rate, .options = model_options(o, placement), .first = (double)NAN};
    Str pair;
    str_init(&pair);
    str_add(&pair, "lr=");
    str_add_double(&pair, rate);
    variant_set(j->options, pair.s);
    str_done(&pair);
    snprintf(j->name, sizeof j->name, "%s-%g", placement, rate);
    x->training[x->jobs++] = (Training){.name = j->name,
                                        .options = j->options,
                                        .seed = study_seed(x->study),
                                        .from = {.steps = (long)options_int(o, "steps")},
                                        .may_diverge = true};
}

/* All placements with one rate, then with the next. */
static void plan(Order *x) {
    const Options *o = study_options(x->study);
    const double *rate;
    const int *which;
    int rates = options_reals(o, "lr", &rate), placements = options_choices(o, "placements", &which);
    for (int r = 0; r < rates; r++)
        for (int p = 0; p < placements; p++) add_job(x, placement_names[which[p]], rate[r]);
}

/* ---- what is found ---- */

/* Norm of the gradient of the slices whose names begin with PREFIX. */
static double norm_of(const Params *p, const real *grad, const char *prefix) {
    double sum = 0;
    for (int i = 0; i < p->slices; i++) {
        if (strncmp(p->slice[i].name, prefix, strlen(prefix)) != 0) continue;
        const real *g = grad + p->slice[i].at;
        for (size_t k = 0; k < slice_count(&p->slice[i]); k++) sum += (double)g[k] * (double)g[k];
    }
    return sqrt(sum);
}

/* The gradient that each block of an untrained model gets from the first batch. */
static Status add_gradients(Order *x, int job) {
    Table *t = study_table(x->study, "gradient");
    const Training *g = &x->training[job];
    Run *run;
    STATUS_TRY(run_new_with(g->options, &g->from, g->seed, study_threads(x->study), &run));
    (void)run_gradient(run);
    const Model *m = run_model(run);
    for (int l = 0; l < model_config(m)->layers; l++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "block%d.", l);
        table_add_text(t, x->job[job].placement);
        table_add_int(t, l);
        table_add_real(t, norm_of(model_read_params(m), run_gradient_of(run), prefix));
    }
    run_free(run);
    return study_progress(x->study, -1, _("the gradient before training: %s"), x->job[job].placement)
               ? status_ok()
               : status_cancelled();
}

static Status add_step(void *user, int job, const RunStep *step) {
    Order *x = user;
    OrderJob *j = &x->job[job];
    Table *t = study_table(x->study, "curve");
    table_add_text(t, j->placement);
    table_add_real(t, j->rate);
    table_add_int(t, step->step);
    table_add_real(t, step->loss);
    if (j->steps == 0) j->first = step->loss;
    j->last[j->steps++ % LAST_STEPS] = step->loss;
    return status_ok();
}

static Status add_result(void *user, int job, Trained *trained) {
    Order *x = user;
    const OrderJob *j = &x->job[job];
    Table *t = study_table(x->study, "result");
    long n = j->steps < LAST_STEPS ? j->steps : LAST_STEPS;
    double sum = 0;
    for (long i = 0; i < n; i++) sum += j->last[i];
    table_add_text(t, j->placement);
    table_add_real(t, j->rate);
    table_add_real(t, j->first);
    table_add_real(t, sum / (double)n);
    if (trained->path[0]) study_offer_model(x->study, trained->path);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(
        s, "placement_rule",
        "pre: x + f(norm x); post: norm(x + f x); both: x + norm f(norm x); output: x + norm f(x); parallel: x + "
        "attention(norm x) + ffn(norm x)");
    study_about(s, "models", "arch=modern with as many KV heads as heads, the same seed and batches for all");
    study_about(s, "schedule", "constant, after warmup= steps");
    study_about(s, "last_loss_rule", "mean over the last %d steps", LAST_STEPS);
    study_about(s, "gradient_norm_rule", "of a block's parameters, untrained, first batch");
    study_about(s, "logarithms", "natural (nats)");
}

static Status order(Order *x) {
    const int *which;
    int placements = options_choices(study_options(x->study), "placements", &which);
    for (int i = 0; i < placements; i++) STATUS_TRY(add_gradients(x, i));
    return trainings_run(x->study, x->training, x->jobs,
                         &(TrainingsCalls){.step = add_step, .done = add_result, .user = x});
}

static Status run(Study *s) {
    Order *x = MEM_NEW(Order);
    x->study = s;
    plan(x);
    add_conventions(s);
    Status status = order(x);
    for (int i = 0; i < x->jobs; i++) options_free(x->job[i].options);
    mem_free(x);
    return status;
}

const Experiment experiment_arch_order = {
    .entry = {.id = "arch.order",
              .section = "S3 3.1, 4.5",
              .title = N_("where the norms of a deep Transformer stand, without warm-up"),
              .see = N_("At the rate that pre-norm takes, post-norm does not train: it learns which letters are "
                        "frequent and stops there. At a tenth of the rate it does."),
              .options = (const Option *const[]){order_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"curve", curve_columns}, {"result", result_columns}, {"gradient", gradient_columns}, {0}},
              .figure = {FIGURE_LINE, "curve", "step", "loss", "placement learning_rate"}},
    .check = check,
    .run = run,
};
