/* window.quality: what a window costs where the verb must agree with a subject that stands far back (lecture 4, 6.5).
 */
#include "cancel.h"
#include "corpora.h"
#include "experiment.h"
#include "forward.h"
#include "intl.h"
#include "mem.h"
#include "probes.h"
#include "trainings.h"
#include "variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WINDOWS_MOST = 12, K_MOST = 12, SEEDS_MOST = 8, JOBS_MOST = WINDOWS_MOST * SEEDS_MOST, POKED = 50 };

static const Option quality_options[] = {
    {"windows", OPTION_TEXT, "2,4,8,full", 0, 0, NULL, "tokens",
     N_("tokens a query sees, itself included, in every layer; full: all before it")},
    {"k", OPTION_INTS, "1,2,3", 0, 100, NULL, "", N_("nouns between subject and verb: what the grammar's k is set to")},
    {"seeds", OPTION_INT, "1", 1, SEEDS_MOST, NULL, "", N_("models of each window: this seed and those after it")},
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file", N_("what they learn from: a grammar or a text")},
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("training sentences")},
    {"epochs", OPTION_INT, "5", 0, 1000, NULL, "", N_("how often every sentence is seen")},
    {"d", OPTION_INT, "64", 1, 1024, NULL, "", N_("width of the models")},
    {"layers", OPTION_INT, "2", 1, 64, NULL, "", N_("their blocks")},
    {"probes", OPTION_TEXT, "farm-tests", 0, 0, NULL, "file", N_("grammar with the rules probe and verbs.LABEL")},
    {"tests", OPTION_INT, "400", 1, 100000, NULL, "", N_("probes of each k")},
    {"subject", OPTION_INT, "2", 0, 1000, NULL, "", N_("position of the subject; <s> is 0")},
    {0},
};

static const Column agreement_columns[] = {{"window", COLUMN_TEXT, "tokens"},
                                           {"distance", COLUMN_INT, "tokens"},
                                           {"accuracy", COLUMN_DOUBLE, ""},
                                           {"perplexity", COLUMN_DOUBLE, ""},
                                           {0}};
static const Column reach_columns[] = {{"window", COLUMN_TEXT, "tokens"},     {"reach", COLUMN_INT, "tokens"},
                                       {"distance", COLUMN_INT, "tokens"},    {"subject_seen", COLUMN_INT, ""},
                                       {"largest_change", COLUMN_DOUBLE, ""}, {0}};
static const Column runs_columns[] = {{"window", COLUMN_TEXT, "tokens"},
                                      {"seed", COLUMN_INT, ""},
                                      {"distance", COLUMN_INT, "tokens"},
                                      {"accuracy", COLUMN_DOUBLE, ""},
                                      {"perplexity", COLUMN_DOUBLE, ""},
                                      {"floor_perplexity", COLUMN_DOUBLE, ""},
                                      {0}};

/* What one model is found to do. */
typedef struct {
    double accuracy[K_MOST], change[K_MOST];
    double nll, floor_nll;
} Found;

typedef struct {
    Study *study;
    ProbeTask *task;
    int ks, seeds, windows;
    int window[WINDOWS_MOST]; /* 0: full */
    Probes probes[K_MOST];
    Options *options[WINDOWS_MOST];
    char name[JOBS_MOST][40];
    Training training[JOBS_MOST]; /* window after window */
    Found found[JOBS_MOST];
} Quality;

/* ---- what is asked for ---- */

/* "2,4,full" as numbers, full is 0. */
static Status read_windows(const Options *o, int window[WINDOWS_MOST], int *n) {
    const char *at = options_text(o, "windows");
    for (*n = 0;; at++) {
        char word[32];
        size_t bytes = strcspn(at, ",");
        long long x = 0;
        snprintf(word, sizeof word, "%.*s", (int)bytes, at);
        if (bytes >= sizeof word || (strcmp(word, "full") != 0 && (!str_to_long(word, &x) || x < 1 || x > 1000000)))
            return status_usage(_("windows: '%.*s' is neither a number from 1 on nor full"), (int)bytes, at);
        if (*n == WINDOWS_MOST) return status_usage(_("windows: at most %d"), WINDOWS_MOST);
        window[(*n)++] = (int)x;
        at += bytes;
        if (!*at) return status_ok();
    }
}

static Options *model_options(const Options *o, int window) {
    char pair[32];
    Options *run = variant_new("arch=modern");
    variant_take(run, o, "corpus sentences epochs d layers");
    snprintf(pair, sizeof pair, "window=%d", window);
    variant_set(run, pair);
    return run;
}

static Status check(const Options *o) {
    const long long *k;
    int window[WINDOWS_MOST], n;
    if (options_ints(o, "k", &k) > K_MOST) return status_usage(_("k: at most %d numbers"), K_MOST);
    if (strcmp(options_text(o, "corpus"), "-") == 0) return status_usage(_("corpus: several runs cannot share '-'"));
    STATUS_TRY(read_windows(o, window, &n));
    Options *run = model_options(o, window[0]);
    Status s = run_check(run);
    options_free(run);
    return s;
}

static void window_name(int window, char out[24]) {
    if (window)
        snprintf(out, 24, "%d", window);
    else
        snprintf(out, 24, "full");
}

static void plan(Quality *x) {
    for (int w = 0; w < x->windows; w++) {
        char name[24];
        window_name(x->window[w], name);
        x->options[w] = model_options(study_options(x->study), x->window[w]);
        for (int i = 0; i < x->seeds; i++) {
            int j = w * x->seeds + i;
            uint64_t seed = study_seed(x->study) + (uint64_t)i;
            snprintf(x->name[j], sizeof x->name[j], "window-%s-%llu", name, (unsigned long long)seed);
            x->training[j] = (Training){.name = x->name[j], .options = x->options[w], .seed = seed};
        }
    }
}

static Status draw(Quality *x, const Options *o) {
    const long long *k;
    ModelConfig c;
    x->ks = options_ints(o, "k", &k);
    STATUS_TRY(run_config(x->options[0], 1, &c));
    return probes_draw_all(x->task, k, x->ks, study_seed(x->study), (int)options_int(o, "tests"), c.context, x->probes);
}

static Status prepare(Quality *x) {
    const Options *o = study_options(x->study);
    Vocab *vocab;
    x->seeds = (int)options_int(o, "seeds");
    STATUS_TRY(read_windows(o, x->window, &x->windows));
    plan(x);
    STATUS_TRY(corpora_words(options_text(o, "corpus"), study_seed(x->study), &vocab));
    Status s = probe_task_open(options_text(o, "probes"), vocab, &x->task);
    vocab_free(vocab);
    return status_is_ok(&s) ? draw(x, o) : s;
}

static void done(Quality *x) {
    for (int i = 0; i < x->ks; i++) probes_done(&x->probes[i]);
    for (int i = 0; i < x->windows; i++) options_free(x->options[i]);
    probe_task_free(x->task);
    mem_free(x);
}

/* From the subject to the last token before the verb; the probes of a k have all the same length. */
static int distance(const Quality *x, int k) {
    return x->probes[k].longest - 1 - (int)options_int(study_options(x->study), "subject");
}

/* How far back the last layer can know of: a window a layer, less the token itself. */
static long reach(const Quality *x, int window) {
    long layers = (long)options_int(study_options(x->study), "layers");
    return window ? layers * (window - 1) : -1;
}

/* ---- what is found ---- */

/* How much the logits after the last token change at most when another word stands in the subject's place. */
static double change_of(Forward *f, const Model *m, const Probe *p, int subject, double *before) {
    int vocab = model_config(m)->vocab, kept = p->id[subject];
    const real *x = forward_ids(f, m, p->id, p->n) + (size_t)(p->n - 1) * (size_t)vocab;
    for (int i = 0; i < vocab; i++) before[i] = (double)x[i];
    p->id[subject] = kept == vocab - 1 ? kept - 1 : kept + 1;
    x = forward_ids(f, m, p->id, p->n) + (size_t)(p->n - 1) * (size_t)vocab;
    p->id[subject] = kept;
    double most = 0;
    for (int i = 0; i < vocab; i++) most = fmax(most, fabs((double)x[i] - before[i]));
    return most;
}

/* The largest over some probes, on a copy of each: threads share them. */
static double poke(const Model *m, const Probes *p, int subject) {
    double *before = MEM_ARRAY(double, (size_t)model_config(m)->vocab), most = 0;
    int *id = MEM_ARRAY(int, (size_t)p->longest);
    Forward *f = forward_new();
    for (int i = 0; i < p->count && i < POKED; i++) {
        if (subject >= p->probe[i].n) continue;
        Probe copy = p->probe[i];
        memcpy(id, copy.id, (size_t)copy.n * sizeof *id);
        copy.id = id;
        most = fmax(most, change_of(f, m, &copy, subject, before));
    }
    forward_free(f);
    mem_free(id);
    mem_free(before);
    return most;
}

static Status measure(void *user, int job, Trained *t) {
    Quality *x = user;
    Found *f = &x->found[job];
    int subject = (int)options_int(study_options(x->study), "subject");
    Run *run;
    long tokens;
    for (int i = 0; i < x->ks; i++) {
        f->accuracy[i] = probes_accuracy(x->task, t->model, &x->probes[i]);
        f->change[i] = poke(t->model, &x->probes[i], subject);
        if (cancel_wanted()) return status_cancelled();
    }
    STATUS_TRY(trained_run(t, &run));
    return run_test_nll(run, -1, &f->nll, &f->floor_nll, &tokens);
}

static void add_runs(Quality *x, int job, const char *window) {
    const Found *f = &x->found[job];
    Table *t = study_table(x->study, "runs");
    for (int i = 0; i < x->ks; i++) {
        table_add_text(t, window);
        table_add_int(t, (long long)x->training[job].seed);
        table_add_int(t, distance(x, i));
        table_add_real(t, f->accuracy[i]);
        table_add_real(t, exp(f->nll));
        table_add_known(t, exp(f->floor_nll));
    }
}

/* Of all seeds of a window, the last of which is JOB. */
static void add_agreement(Quality *x, int job, const char *window) {
    Table *agreement = study_table(x->study, "agreement"), *seen = study_table(x->study, "reach");
    long far = reach(x, x->window[job / x->seeds]);
    for (int i = 0; i < x->ks; i++) {
        double accuracy = 0, perplexity = 0, change = 0;
        for (int j = job - x->seeds + 1; j <= job; j++) {
            accuracy += x->found[j].accuracy[i] / x->seeds;
            perplexity += exp(x->found[j].nll) / x->seeds;
            change = fmax(change, x->found[j].change[i]);
        }
        table_add_text(agreement, window);
        table_add_int(agreement, distance(x, i));
        table_add_real(agreement, accuracy);
        table_add_real(agreement, perplexity);
        table_add_text(seen, window);
        if (far < 0)
            table_add_empty(seen);
        else
            table_add_int(seen, far);
        table_add_int(seen, distance(x, i));
        table_add_int(seen, far < 0 || far >= distance(x, i));
        table_add_real(seen, change);
    }
}

static Status add_rows(void *user, int job, Trained *t) {
    Quality *x = user;
    char window[24];
    window_name(x->window[job / x->seeds], window);
    add_runs(x, job, window);
    if (job % x->seeds == x->seeds - 1) add_agreement(x, job, window);
    study_offer_model(x->study, t->path);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(s, "window_rule", "the window counts the current token, in every layer");
    study_about(s, "distance_rule", "from the subject to the last token before the verb");
    study_about(
        s, "accuracy_rule",
        "share of probes after which the verbs of the subject's number get more probability together; every noun "
        "between has the other number, so who follows the nearest noun is always wrong");
    study_about(s, "reach_rule", "layers (window - 1): the farthest token that can be known of; empty: no limit");
    study_about(s, "largest_change_rule",
                "of the logits where the verb is predicted when another word is put in the subject's place: exactly 0 "
                "beyond the reach; over %d probes",
                POKED);
    study_about(s, "models", "arch=modern with window= changed, trained as lm.train trains them with these options");
}

static Status run(Study *s) {
    Quality *x = MEM_NEW(Quality);
    x->study = s;
    Status status = prepare(x);
    add_conventions(s);
    if (status_is_ok(&status))
        status = trainings_run(s, x->training, x->windows * x->seeds,
                               &(TrainingsCalls){.measure = measure, .done = add_rows, .user = x});
    done(x);
    return status;
}

const Experiment experiment_window_quality = {
    .entry = {.id = "window.quality",
              .section = "L4 6.5",
              .title = N_("what a window costs: agreement with a subject that stands far back"),
              .see = N_(
                  "Beyond layers (window - 1) tokens the subject is lost: nothing that stands there changes the "
                  "prediction, and the verb follows the nouns that are still seen, which all have the wrong number."),
              .options = (const Option *const[]){quality_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"agreement", agreement_columns}, {"reach", reach_columns}, {"runs", runs_columns}, {0}},
              .figure = {FIGURE_LINE, "agreement", "distance", "accuracy", "window"}},
    .check = check,
    .run = run,
};
