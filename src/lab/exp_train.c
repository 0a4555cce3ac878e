/* lm.train: a language model from nothing, against the exact floor of its language (lecture 3, 2; lecture 4, 7.2). */
#include "assets.h"
#include "experiment.h"
#include "intl.h"
#include "loaded.h"
#include "model_folder.h"
#include "run.h"
#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Option train_options[] = {
    {"save", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("where to keep the trained model: a file, or a folder (ends in /) in the Hugging Face layout; not given: "
        "nowhere")},
    {"model", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("a model of others that goes on learning, on corpus=, in smaller steps unless lr= is given: "
        "a llama2.c file, or a folder in the Hugging Face layout")},
    {"tokenizer", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("of a model of others: the file of its tokenizer")},
    {0},
};

static const Column result_columns[] = {{"split", COLUMN_TEXT, ""},
                                        {"tokens", COLUMN_INT, ""},
                                        {"nll", COLUMN_DOUBLE, "nats"},
                                        {"perplexity", COLUMN_DOUBLE, ""},
                                        {"floor_perplexity", COLUMN_DOUBLE, ""},
                                        {0}};

/* The model that is to be saved. */
static Status config_of(const Options *o, ModelConfig *out) {
    return tune_wanted(o) ? loaded_config(tune_model(o), out) : run_config(o, 1, out);
}

/* What cannot be written is refused now, not after the training. */
static Status check_save(const Options *o) {
    ModelConfig c;
    STATUS_TRY(config_of(o, &c));
    return run_export_check(tune_model(o), tune_tokenizer(o), &c, options_text(o, "save"));
}

static Status check_model(const Options *o) {
    const char *model = tune_model(o);
    if (!model && tune_tokenizer(o)) return status_usage(_("tokenizer= goes with model="));
    if (!model) return status_ok();
    if (!loaded_is(model))
        return status_usage(_("model: '%s' is no model of others: neither a llama2.c file nor a folder"), model);
    if (options_is_given(o, "arch")) return tune_refuses_field("arch", model);
    if (options_is_given(o, "corpus")) return status_ok();
    return status_usage(_("model= goes with corpus=, the text that '%s' is to learn"), model);
}

static Status check(const Options *o) {
    STATUS_TRY(check_model(o));
    STATUS_TRY(run_check(o));
    return options_is_set(o, "save") ? check_save(o) : status_ok();
}

static Status train(Study *s, Run *run) {
    long steps = run_steps(run);
    while (run_done(run) < steps) {
        RunStep step = run_step(run);
        run_add_curve(study_table(s, "curve"), &step);
        if (step.diverged)
            return status_failed(_("diverged at step %ld: %s is not finite; a smaller lr or clip=1 may help"),
                                 step.step, step.bad_tensor);
        if (!study_progress(s, (double)step.step / (double)steps, _("step %ld of %ld, loss %.4f"), step.step, steps,
                            step.loss))
            return status_cancelled();
    }
    return status_ok();
}

static void add_result(Table *t, const char *split, long tokens, double nll, double floor_nll) {
    table_add_text(t, split);
    table_add_int(t, tokens);
    table_add_real(t, nll);
    table_add_real(t, exp(nll));
    table_add_known(t, exp(floor_nll));
}

#define MEASURE_WORK 2e12 /* floating-point operations for training sentences of a large model: some ten seconds */

/* Training sentences that are measured. */
static long measured(const Run *run) {
    if (!run_tunes(run)) return RUN_TEST_SENTENCES;
    size_t parameters = model_read_params(run_read_model(run))->count;
    return tune_affordable(parameters, &run_read_corpus(run)->train, MEASURE_WORK, RUN_TEST_SENTENCES);
}

/* On the first training sentences and on all for testing, into TABLE. */
static Status measure(Study *s, Run *run, const char *table) {
    double nll, floor_nll;
    long tokens;
    if (!study_progress(s, -1, _("measuring on training sentences"))) return status_cancelled();
    STATUS_TRY(run_train_nll(run, measured(run), &nll, &floor_nll, &tokens));
    add_result(study_table(s, table), "train", tokens, nll, floor_nll);
    if (!study_progress(s, -1, _("measuring on test sentences"))) return status_cancelled();
    STATUS_TRY(run_test_nll(run, -1, &nll, &floor_nll, &tokens));
    add_result(study_table(s, table), "test", tokens, nll, floor_nll);
    return status_ok();
}

/* For the live panes: the newest one, in the cache folder. */
static void keep_for_looking(Study *s, Run *run) {
    Str path;
    str_init(&path);
    if (study_keeps_models(s) && assets_cache_dir(&path)) {
        str_add(&path, "/lm.train.lantern");
        Status status = run_save(run, path.s);
        if (status_is_ok(&status)) study_offer_model(s, path.s);
    }
    str_done(&path);
}

/* With the tokenizer that goes with it where the file does not bring one. */
static void offer(Study *s, const Run *run, const char *path) {
    StudyLook look = {.query = -1, .key = -1};
    const char *tokenizer = run_tunes(run) && !model_folder_is(path) ? run_origin_tokenizer(run) : NULL;
    if (tokenizer && loaded_is(path)) snprintf(look.tokenizer, sizeof look.tokenizer, "%s", tokenizer);
    study_offer_model(s, path);
    study_offer_look(s, &look);
}

static Status keep(Study *s, Run *run) {
    const char *path = options_text(study_options(s), "save"), *unsaid;
    if (!path) {
        keep_for_looking(s, run);
        return status_ok();
    }
    Status status = run_export(run, path, &unsaid);
    if (!status_is_ok(&status)) return status_failed("%s", status.text); /* files may have been written before */
    if (unsaid) study_about(s, "tokenizer_json", "not written: %s", unsaid);
    offer(s, run, path);
    return status_ok();
}

static void add_splits(Study *s, const Run *run) {
    const Corpus *c = run_read_corpus(run);
    if (c->grammar)
        study_about(s, "splits",
                    "train: the first %ld training sentences; test: %ld sentences of a stream of their own",
                    measured(run), c->test.sentences);
    else
        study_about(s, "splits", "train: the first %ld training sentences; test: the last twentieth of the text",
                    measured(run));
}

static void add_conventions(Study *s, const Run *run) {
    study_about(s, "loss_rule", "mean over the real tokens of the batch; pads do not exist (sentences are packed)");
    study_about(s, "tokens_per_s_rule", "real tokens of the step / its time");
    add_splits(s, run);
    study_about(s, "floor_perplexity_rule", "exp of the mean exact -log p of the same predictions; empty: no grammar");
    study_about(s, "logarithms", "natural (nats)");
    study_about(s, "window_rule", "the window counts the current token");
}

/* Of a model of others that learns on. */
static Status before_tuning(Study *s, Run *run) {
    const Corpus *c = run_corpus(run);
    if (!run_tunes(run)) return status_ok();
    study_about(s, "model_from", "the numbers of '%s', trained in float32", run_origin(run));
    if (c->left_out > 0) {
        study_warn(s,
                   ngettext("%ld character of the text has no token in this model's vocabulary; it is left out",
                            "%ld characters of the text have no token in this model's vocabulary; they are left out",
                            (unsigned long)c->left_out),
                   c->left_out);
        study_about(s, "left_out", "%ld characters of the text that the vocabulary has no token for", c->left_out);
    }
    return measure(s, run, "before");
}

/* What the model came out as: the fields that were given and those that followed. */
static void add_config(Study *s, const ModelConfig *c) {
    char key[64], value[64];
    for (const char *const *field = config_fields(); *field; field++) {
        if (!config_get(c, *field, value, sizeof value)) continue;
        snprintf(key, sizeof key, "model_%s", *field);
        study_about(s, key, "%s", value);
    }
}

static Status run_train(Study *s) {
    Run *run;
    if (!study_progress(s, -1, _("sampling the corpus"))) return status_cancelled();
    STATUS_TRY(run_new(study_options(s), study_seed(s), study_threads(s), &run));
    study_take_table(s, run_model_table(run_model(run)));
    add_config(s, model_config(run_model(run)));
    add_conventions(s, run);
    Status status = before_tuning(s, run);
    if (status_is_ok(&status)) status = train(s, run);
    if (status_is_ok(&status)) status = measure(s, run, "result");
    if (status_is_ok(&status)) status = keep(s, run);
    run_free(run);
    return status;
}

const Experiment experiment_lm_train = {
    .entry = {.id = "lm.train",
              .section = "L3 2, L4 7.2",
              .title = N_("train a language model and hold it against the exact floor"),
              .see = N_("The loss on sentences never seen comes down to the entropy of the language and not below it: "
                        "the rest is not the "
                        "model's fault."),
              .options = (const Option *const[]){run_model_rows, run_plan_rows, train_options,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"curve", run_curve_columns},
                                            {"result", result_columns},
                                            {"model", run_model_columns},
                                            {"before", result_columns},
                                            {0}},
              .on_request = (const char *const[]){"before", NULL},
              .figure = {FIGURE_LINE, "curve", "step", "loss", NULL},
              .figure_floor = "result floor_perplexity"},
    .check = check,
    .run = run_train,
    .settle = tune_settle,
};
