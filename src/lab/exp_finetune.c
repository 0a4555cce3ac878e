/* lm.finetune: which number has the subject? A model that learned the language first against one that did not, with few
 * labelled sentences (lecture 4, 2.8, exercise 10). */
#include "cancel.h"
#include "classifier.h"
#include "crew.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"
#include "probes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { K_MOST = 12, SEEDS_MOST = 16, SIZES_MOST = 8, RATES_MOST = 4 };

static const Option finetune_options[] = {
    {"samples", OPTION_INTS, "16,64,256", 1, 100000, NULL, "", N_("labelled sentences to learn from")},
    {"seeds", OPTION_INT, "3", 1, SEEDS_MOST, NULL, "", N_("repetitions: other sentences, heads and beginnings")},
    {"steps", OPTION_INT, "200", 1, 100000, NULL, "", N_("updates")},
    {"batch", OPTION_INT, "16", 1, 10000, NULL, "sentences", N_("sentences of an update, drawn from the samples")},
    {"scratch_lr", OPTION_REALS, "0.001", 0, 10, NULL, "", N_("learning rates without pre-training")},
    {"probe_lr", OPTION_REALS, "0.01", 0, 10, NULL, "", N_("learning rates of the head alone")},
    {"full_lr", OPTION_REALS, "0.001,0.0001", 0, 10, NULL, "", N_("learning rates of the whole model")},
    {"k", OPTION_INTS, "1,2,3,4,5,6", 0, 100, NULL, "", N_("nouns between, in the tests; all of the other number")},
    {"beyond", OPTION_INT, "4", 0, 100, NULL, "", N_("the first k that training does not show")},
    {"tests", OPTION_INT, "200", 1, 100000, NULL, "", N_("test sentences of each k")},
    {"probes", OPTION_TEXT, "farm-tests", 0, 0, NULL, "file",
     N_("grammar with the rules labelled, probe and verbs.LABEL")},
    {0},
};

static const Column accuracy_columns[] = {{"method", COLUMN_TEXT, ""},
                                          {"samples", COLUMN_INT, ""},
                                          {"learning_rate", COLUMN_DOUBLE, ""},
                                          {"k", COLUMN_INT, ""},
                                          {"seed", COLUMN_INT, ""},
                                          {"accuracy", COLUMN_DOUBLE, ""},
                                          {0}};
static const Column summary_columns[] = {{"run", COLUMN_TEXT, ""},
                                         {"learns", COLUMN_INT, ""},
                                         {"trained", COLUMN_DOUBLE, ""},
                                         {"trained_lowest", COLUMN_DOUBLE, ""},
                                         {"trained_highest", COLUMN_DOUBLE, ""},
                                         {"beyond", COLUMN_DOUBLE, ""},
                                         {"beyond_lowest", COLUMN_DOUBLE, ""},
                                         {"beyond_highest", COLUMN_DOUBLE, ""},
                                         {0}};

typedef enum { ZERO_SHOT, SCRATCH, LINEAR_PROBE, FULL } Method;
static const char *const methods[] = {"zero_shot", "scratch", "linear_probe", "full"};

/* A method with its number of samples and its rate; every seed is a job of its own. */
typedef struct {
    Method method;
    int samples;
    double rate; /* NaN: nothing is learned */
} Setting;

typedef struct {
    double accuracy[K_MOST];
    size_t learns;
} Finding;

typedef struct {
    Study *study;
    TrainedModel *pretrained;
    ProbeTask *task;
    int ks, seeds, settings, most_samples;
    int k[K_MOST];
    Probes tests[K_MOST];
    Probes samples[SEEDS_MOST]; /* of each seed, the first of them are used */
    Setting *setting;           /* [settings] */
    Finding *found;             /* [settings x seeds] */
} Finetune;

/* ---- what is tried ---- */

static void add_setting(Finetune *x, Method method, int samples, double rate) {
    x->setting[x->settings++] = (Setting){method, samples, rate};
}

static void plan(Finetune *x, const Options *o) {
    static const char *const rates[] = {NULL, "scratch_lr", "probe_lr", "full_lr"};
    const long long *samples;
    const double *rate;
    int sizes = options_ints(o, "samples", &samples);
    x->seeds = (int)options_int(o, "seeds");
    x->setting = MEM_ARRAY(Setting, 1 + 3 * (size_t)sizes * RATES_MOST);
    add_setting(x, ZERO_SHOT, 0, (double)NAN);
    for (Method m = SCRATCH; m <= FULL; m++) {
        int n = options_reals(o, rates[m], &rate);
        for (int i = 0; i < sizes; i++)
            for (int r = 0; r < n; r++) add_setting(x, m, (int)samples[i], rate[r]);
    }
    for (int i = 0; i < sizes; i++)
        if (samples[i] > x->most_samples) x->most_samples = (int)samples[i];
    x->found = MEM_ARRAY(Finding, (size_t)x->settings * (size_t)x->seeds);
}

static Status check(const Options *o) {
    const long long *x;
    const double *r;
    if (options_ints(o, "k", &x) > K_MOST) return status_usage(_("k: at most %d numbers"), K_MOST);
    if (options_ints(o, "samples", &x) > SIZES_MOST) return status_usage(_("samples: at most %d numbers"), SIZES_MOST);
    static const char *const rates[] = {"scratch_lr", "probe_lr", "full_lr"};
    for (int i = 0; i < 3; i++)
        if (options_reals(o, rates[i], &r) > RATES_MOST)
            return status_usage(_("%s: at most %d numbers"), rates[i], RATES_MOST);
    return models_check(o, NULL);
}

static Status draw(Finetune *x, const Options *o) {
    const long long *k;
    uint64_t seed = study_seed(x->study);
    x->ks = options_ints(o, "k", &k);
    int context = model_config(x->pretrained->model)->context;
    for (int i = 0; i < x->ks; i++) x->k[i] = (int)k[i];
    STATUS_TRY(probes_draw_all(x->task, k, x->ks, seed, (int)options_int(o, "tests"), context, x->tests));
    for (int i = 0; i < x->seeds; i++) {
        STATUS_TRY(
            probes_draw(x->task, "labelled", NULL, "labelled", seed + (uint64_t)i, x->most_samples, &x->samples[i]));
        if (x->samples[i].longest > context)
            return status_usage(_("a sentence of %d tokens was drawn, and the model's context has room for %d"),
                                x->samples[i].longest, context);
    }
    return status_ok();
}

/* ---- learning ---- */

/* Draws from the first N samples, N at a time when the batch would take more. */
static Status learn(Finetune *x, Classifier *c, const Setting *set, int number, CrewSeat *seat) {
    const Options *o = study_options(x->study);
    const Probe *sample = x->samples[number].probe;
    long steps = (long)options_int(o, "steps");
    int batch = (int)options_int(o, "batch");
    if (batch > set->samples) batch = set->samples;
    ClassifierText *text = MEM_ARRAY(ClassifierText, (size_t)batch);
    int *order = MEM_ARRAY(int, (size_t)set->samples);
    for (int i = 0; i < set->samples; i++) order[i] = i;
    Status status = status_ok();
    for (long i = 0, used = set->samples; i < steps && status_is_ok(&status); i++) {
        if (used + batch > set->samples) {
            Rng r = rng_at(study_seed(x->study) + (uint64_t)number, "finetune", (uint64_t)i);
            rng_shuffle(&r, order, set->samples);
            used = 0;
        }
        for (int b = 0; b < batch; b++) {
            const Probe *p = &sample[order[used++]];
            text[b] = (ClassifierText){p->id, p->n, p->label};
        }
        double loss = classifier_gradient(c, text, batch);
        classifier_update(c, set->rate);
        if (!isfinite(loss)) status = status_failed(_("%s diverged at step %ld"), methods[set->method], i + 1);
        if (!crew_goes_on(seat, (double)(i + 1) / (double)steps, _("%s, %d samples: step %ld, loss %.4f"),
                          methods[set->method], set->samples, i + 1, loss))
            status = status_cancelled();
    }
    mem_free(order);
    mem_free(text);
    return status;
}

static double accuracy_of(Classifier *c, const Probes *p) {
    ClassifierText *text = MEM_ARRAY(ClassifierText, (size_t)p->count);
    for (int i = 0; i < p->count; i++) text[i] = (ClassifierText){p->probe[i].id, p->probe[i].n, p->probe[i].label};
    double accuracy = classifier_accuracy(c, text, p->count);
    mem_free(text);
    return accuracy;
}

static Status tune(Finetune *x, const Setting *set, int number, Finding *f, CrewSeat *seat) {
    const Model *m = x->pretrained->model;
    uint64_t seed = study_seed(x->study) + (uint64_t)number;
    OptimConfig config = optim_defaults();
    Model *fresh = set->method == SCRATCH ? model_new(model_config(m), seed) : NULL;
    Classifier c;
    classifier_init(&c, fresh ? fresh : m, probe_task_labels(x->task), set->method != LINEAR_PROBE, &config, seed);
    f->learns = classifier_learns(&c);
    Status status = learn(x, &c, set, number, seat);
    for (int i = 0; i < x->ks && status_is_ok(&status); i++) {
        f->accuracy[i] = accuracy_of(&c, &x->tests[i]);
        if (cancel_wanted()) status = status_cancelled();
    }
    classifier_done(&c);
    model_free(fresh);
    return status;
}

static Status ask(Finetune *x, Finding *f) {
    for (int i = 0; i < x->ks; i++) f->accuracy[i] = probes_accuracy(x->task, x->pretrained->model, &x->tests[i]);
    return cancel_wanted() ? status_cancelled() : status_ok();
}

/* The seeds of a setting come one after the other. Zero-shot has nothing that a seed could change. */
static Status work(void *user, int job, CrewSeat *seat) {
    Finetune *x = user;
    const Setting *set = &x->setting[job / x->seeds];
    crew_weigh(seat, set->method == ZERO_SHOT ? 0 : set->method == LINEAR_PROBE ? 1 : 3);
    return set->method == ZERO_SHOT ? ask(x, &x->found[job]) : tune(x, set, job % x->seeds, &x->found[job], seat);
}

/* ---- tables ---- */

/* Mean accuracy over the k from FROM on below TO; NaN when there is none. */
static double mean_over(const Finetune *x, const Finding *f, int from, int to) {
    double sum = 0;
    int n = 0;
    for (int i = 0; i < x->ks; i++) {
        if (x->k[i] < from || x->k[i] >= to) continue;
        sum += f->accuracy[i];
        n++;
    }
    return n ? sum / n : (double)NAN;
}

/* Mean, lowest and highest over the seeds. */
static void add_spread(Table *t, const Finetune *x, const Finding *f, int from, int to) {
    double sum = 0, least = (double)NAN, most = (double)NAN;
    for (int i = 0; i < x->seeds; i++) {
        double a = mean_over(x, &f[i], from, to);
        sum += a;
        least = fmin(least, a);
        most = fmax(most, a);
    }
    table_add_known(t, sum / x->seeds);
    table_add_known(t, least);
    table_add_known(t, most);
}

static void add_summary(Finetune *x, const Setting *set, const Finding *f) {
    Table *t = study_table(x->study, "summary");
    int beyond = (int)options_int(study_options(x->study), "beyond");
    char run[64];
    snprintf(run, sizeof run, set->method == ZERO_SHOT ? "%s" : "%s %d %g", methods[set->method], set->samples,
             set->rate);
    table_add_text(t, run);
    table_add_int(t, (long long)f->learns);
    add_spread(t, x, f, 0, beyond);
    add_spread(t, x, f, beyond, 1000);
}

static Status take(void *user, int job) {
    Finetune *x = user;
    const Setting *set = &x->setting[job / x->seeds];
    Table *t = study_table(x->study, "accuracy");
    for (int i = 0; i < x->ks; i++) {
        table_add_text(t, methods[set->method]);
        table_add_int(t, set->samples);
        table_add_known(t, set->rate);
        table_add_int(t, x->k[i]);
        table_add_int(t, (long long)study_seed(x->study) + job % x->seeds);
        table_add_real(t, x->found[job].accuracy[i]);
    }
    if (job % x->seeds == x->seeds - 1) add_summary(x, set, &x->found[job - x->seeds + 1]);
    return status_ok();
}

/* ---- the whole ---- */

static void add_conventions(Study *s) {
    study_about(s, "task", "the label of a sentence up to its verb: in the farm, the number of the subject");
    study_about(s, "sets",
                "samples: rule labelled, nouns between of any number; tests: rule probe, all of the other number");
    study_about(s, "head_rule", "linear, on what enters the output layer at the last token; %s",
                "scratch and full learn everything, linear_probe the head alone");
    study_about(s, "zero_shot_rule",
                "no head and no sample: which label's verbs get more probability as the next word");
    study_about(s, "optimiser", "AdamW, constant rate, no decay; the same updates for all methods");
    study_about(s, "summary_rule", "mean over k below and from beyond= on; mean, lowest and highest of the seeds");
}

static Status compare(Finetune *x) {
    const Options *o = study_options(x->study);
    plan(x, o);
    STATUS_TRY(probe_task_open(options_text(o, "probes"), x->pretrained->vocab, &x->task));
    STATUS_TRY(draw(x, o));
    probe_offer(x->study, x->task, &x->tests[x->ks - 1].probe[0], 2);
    return crew_run(x->study, &(CrewPlan){.jobs = x->settings * x->seeds, .work = work, .take = take, .user = x});
}

static void done(Finetune *x) {
    for (int i = 0; i < x->ks; i++) probes_done(&x->tests[i]);
    for (int i = 0; i < x->seeds; i++) probes_done(&x->samples[i]);
    probe_task_free(x->task);
    mem_free(x->setting);
    mem_free(x->found);
}

static Status run(Study *s) {
    TrainedModel m;
    Finetune x = {.study = s, .pretrained = &m};
    STATUS_TRY(models_get(s, &m));
    add_conventions(s);
    Status status = m.vocab ? compare(&x) : status_usage(_("this model has no vocabulary"));
    done(&x);
    models_done(&m);
    return status;
}

const Experiment experiment_lm_finetune = {
    .entry =
        {.id = "lm.finetune",
         .section = "L4 2.8",
         .title = N_("a model that learned the language first, with few labelled sentences"),
         .see =
             N_("16 labelled sentences and a probe on the pre-trained model beat 256 without pre-training. Tuning the "
                "whole model with so few can hurt what it knew, most of all beyond the lengths it saw."),
         .options = (const Option *const[]){models_gpt_option_rows, finetune_options, experiment_common_options, NULL},
         .tables = (const TableSpec[]){{"accuracy", accuracy_columns}, {"summary", summary_columns}, {0}},
         .figure = {FIGURE_BARS, "summary", "run", "trained beyond", NULL}},
    .check = check,
    .run = run,
};
