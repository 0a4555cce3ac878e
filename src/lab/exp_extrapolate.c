/* pos.extrapolate: agreement at distances that training never showed, by kind of position (lecture 4, 7.3). */
#include "cancel.h"
#include "corpora.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "probes.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { K_MOST = 12, JOBS_MOST = 64, LOOKED_AT = 100 };

static const Option extrapolate_options[] = {
    {"seeds", OPTION_INT, "3", 1, 16, NULL, "", N_("models of each encoding: this seed and those after it")},
    {"encodings", OPTION_CHOICES, "none,learned,sinusoid,rope", 0, 0, "none|learned|sinusoid|rope", "",
     N_("positions: what the models differ in")},
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("what they learn from: a grammar or a text")},
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("training sentences")},
    {"epochs", OPTION_INT, "3", 0, 1000, NULL, "", N_("how often every sentence is seen")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("width of the models")},
    {"probes", OPTION_TEXT, "farm-tests", 0, 0, NULL, "file", N_("grammar with the rules probe and verbs.LABEL")},
    {"k", OPTION_INTS, "1,2,3,4,5,6", 0, 100, NULL, "", N_("nouns between: what the grammar's k is set to")},
    {"tests", OPTION_INT, "400", 1, 100000, NULL, "", N_("probes of each k")},
    {"subject", OPTION_INT, "2", 0, 1000, NULL, "", N_("position of the subject; <s> is 0")},
    {0},
};

static const Column agreement_columns[] = {{"encoding", COLUMN_TEXT, ""},
                                           {"seed", COLUMN_INT, ""},
                                           {"k", COLUMN_INT, ""},
                                           {"accuracy", COLUMN_DOUBLE, ""},
                                           {0}};
static const Column look_columns[] = {
    {"encoding", COLUMN_TEXT, ""}, {"k", COLUMN_INT, ""}, {"max_weight_on_subject", COLUMN_DOUBLE, ""}, {0}};
static const Column spread_columns[] = {{"encoding", COLUMN_TEXT, ""},  {"k", COLUMN_INT, ""},
                                        {"mean", COLUMN_DOUBLE, ""},    {"lowest", COLUMN_DOUBLE, ""},
                                        {"highest", COLUMN_DOUBLE, ""}, {0}};

/* What one model is found to do at one k. */
typedef struct {
    double accuracy, weight;
} Finding;

typedef struct {
    Study *study;
    ProbeTask *task;
    int ks, seeds, jobs;
    int k[K_MOST];
    Probes probes[K_MOST];
    Training job[JOBS_MOST];
    const char *encoding[JOBS_MOST];
    Options *options[JOBS_MOST];
    char name[JOBS_MOST][40];
    Finding found[JOBS_MOST][K_MOST];
} Extrapolate;

/* ---- what is trained ---- */

/* The options of lm.train for one encoding. */
static Options *model_options(const Options *o, const char *encoding) {
    char pair[32];
    Options *run = variant_new("arch=modern");
    snprintf(pair, sizeof pair, "pos=%s", encoding);
    variant_set(run, pair);
    variant_take(run, o, "corpus sentences epochs d");
    return run;
}

/* The encodings named by encodings=, and how many. */
static int encodings(const Options *o, const char *out[4]) {
    static const char *const all[] = {"none", "learned", "sinusoid", "rope"};
    const int *which;
    int n = options_choices(o, "encodings", &which);
    if (n > 4) n = 4;
    for (int i = 0; i < n; i++) out[i] = all[which[i]];
    return n;
}

static Status check(const Options *o) {
    const long long *k;
    if (options_ints(o, "k", &k) > K_MOST) return status_usage(_("k: at most %d numbers"), K_MOST);
    const char *encoding[4];
    if (encodings(o, encoding) == 0) return status_usage(_("encodings: name one at least"));
    if (strcmp(options_text(o, "corpus"), "-") == 0) return status_usage(_("corpus: several runs cannot share '-'"));
    Options *run = model_options(o, encoding[0]);
    Status s = run_check(run);
    options_free(run);
    return s;
}

static void plan(Extrapolate *x, const Options *o) {
    const char *encoding[4];
    int n = encodings(o, encoding);
    x->seeds = (int)options_int(o, "seeds");
    for (int i = 0; i < n * x->seeds; i++) {
        uint64_t seed = study_seed(x->study) + (uint64_t)(i % x->seeds);
        x->encoding[i] = encoding[i / x->seeds];
        x->options[i] = model_options(o, x->encoding[i]);
        snprintf(x->name[i], sizeof x->name[i], "%s-%llu", x->encoding[i], (unsigned long long)seed);
        x->job[i] = (Training){.name = x->name[i], .options = x->options[i], .seed = seed};
    }
    x->jobs = n * x->seeds;
}

/* ---- what is asked ---- */

static Status draw(Extrapolate *x, const Options *o) {
    const long long *k;
    ModelConfig c;
    x->ks = options_ints(o, "k", &k);
    for (int i = 0; i < x->ks; i++) x->k[i] = (int)k[i];
    STATUS_TRY(run_config(x->options[0], 1, &c));
    return probes_draw_all(x->task, k, x->ks, study_seed(x->study), (int)options_int(o, "tests"), c.context, x->probes);
}

static Status prepare(Extrapolate *x) {
    const Options *o = study_options(x->study);
    Vocab *vocab;
    plan(x, o);
    STATUS_TRY(corpora_words(options_text(o, "corpus"), study_seed(x->study), &vocab));
    Status s = probe_task_open(options_text(o, "probes"), vocab, &x->task);
    vocab_free(vocab);
    return status_is_ok(&s) ? draw(x, o) : s;
}

static void done(Extrapolate *x) {
    for (int i = 0; i < x->ks; i++) probes_done(&x->probes[i]);
    for (int i = 0; i < x->jobs; i++) options_free(x->options[i]);
    probe_task_free(x->task);
    mem_free(x);
}

/* ---- what is found ---- */

static Status measure(void *user, int job, Trained *t) {
    Extrapolate *x = user;
    int subject = (int)options_int(study_options(x->study), "subject");
    for (int i = 0; i < x->ks; i++) {
        Finding *f = &x->found[job][i];
        f->accuracy = probes_accuracy(x->task, t->model, &x->probes[i]);
        if (job % x->seeds == 0) f->weight = probes_weight_on(t->model, &x->probes[i], subject, LOOKED_AT);
        if (cancel_wanted()) return status_cancelled();
    }
    return status_ok();
}

static void add_look(Extrapolate *x, int job) {
    Table *t = study_table(x->study, "look");
    for (int i = 0; i < x->ks; i++) {
        table_add_text(t, x->encoding[job]);
        table_add_int(t, x->k[i]);
        table_add_real(t, x->found[job][i].weight);
    }
}

/* Of the seeds up to JOB, the last of its encoding. */
static void add_spread(Extrapolate *x, int job) {
    Table *t = study_table(x->study, "spread");
    for (int i = 0; i < x->ks; i++) {
        double sum = 0, least = 1, most = 0;
        for (int j = job - x->seeds + 1; j <= job; j++) {
            double a = x->found[j][i].accuracy;
            sum += a;
            least = fmin(least, a);
            most = fmax(most, a);
        }
        table_add_text(t, x->encoding[job]);
        table_add_int(t, x->k[i]);
        table_add_real(t, sum / x->seeds);
        table_add_real(t, least);
        table_add_real(t, most);
    }
}

/* For the live panes: the model that does worst at the greatest distance, on a sentence of that kind. */
static void offer(Extrapolate *x, int job, const Trained *t) {
    int last = x->ks - 1;
    for (int i = 0; i < job; i++)
        if (x->found[i][last].accuracy < x->found[job][last].accuracy) return;
    study_offer_model(x->study, t->path);
    probe_offer(x->study, x->task, &x->probes[last].probe[0], (int)options_int(study_options(x->study), "subject"));
}

static Status add_rows(void *user, int job, Trained *t) {
    Extrapolate *x = user;
    Table *agreement = study_table(x->study, "agreement");
    for (int i = 0; i < x->ks; i++) {
        table_add_text(agreement, x->encoding[job]);
        table_add_int(agreement, (long long)x->job[job].seed);
        table_add_int(agreement, x->k[i]);
        table_add_real(agreement, x->found[job][i].accuracy);
    }
    if (job % x->seeds == 0) add_look(x, job);
    if (job % x->seeds == x->seeds - 1) add_spread(x, job);
    offer(x, job, t);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(s, "accuracy_rule",
                "share of probes after which the verbs of the subject's number get more probability together");
    study_about(s, "probes_rule",
                "every noun between subject and verb has the other number; the same probes for all models");
    study_about(
        s, "max_weight_on_subject_rule",
        "where the verb is predicted, the largest weight that any head of any layer gives the subject; mean over "
        "%d probes, first seed",
        LOOKED_AT);
    study_about(s, "models", "arch=modern with pos= changed, trained as lm.train trains them with these options");
    study_about(s, "spread_rule", "mean, lowest and highest accuracy of the seeds");
}

static Status run(Study *s) {
    Extrapolate *x = MEM_NEW(Extrapolate);
    x->study = s;
    Status status = prepare(x);
    add_conventions(s);
    if (status_is_ok(&status))
        status = trainings_run(s, x->job, x->jobs, &(TrainingsCalls){.measure = measure, .done = add_rows, .user = x});
    done(x);
    return status;
}

const Experiment experiment_pos_extrapolate = {
    .entry =
        {.id = "pos.extrapolate",
         .section = "L4 7.3",
         .title = N_("agreement at distances never seen in training, by kind of position"),
         .see = N_(
             "RoPE is the worst beyond k = 3: it learned to look back by so many words, and the subject has moved on."),
         .options = (const Option *const[]){extrapolate_options, experiment_common_options, NULL},
         .tables =
             (const TableSpec[]){
                 {"agreement", agreement_columns}, {"look", look_columns}, {"spread", spread_columns}, {0}},
         .figure = {FIGURE_LINE, "spread", "k", "mean", "encoding"}},
    .check = check,
    .run = run,
};
