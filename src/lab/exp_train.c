/* lm.train: a language model from nothing, against the exact floor of its language (lecture 3, 2; lecture 4, 7.2). */
#include "assets.h"
#include "experiment.h"
#include "file.h"
#include "intl.h"
#include "model_folder.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Option train_options[] = {
    {"save", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("where to keep the trained model: a file, or a folder (ends in /) in the Hugging Face layout; not given: "
        "nowhere")},
    {0},
};

static const Column result_columns[] = {{"split", COLUMN_TEXT, ""},
                                        {"tokens", COLUMN_INT, ""},
                                        {"nll", COLUMN_DOUBLE, "nats"},
                                        {"perplexity", COLUMN_DOUBLE, ""},
                                        {"floor_perplexity", COLUMN_DOUBLE, ""},
                                        {0}};

/* What another program could not be told is refused now, not after the training. */
static Status check_folder(const Options *o, const char *path) {
    ModelConfig c;
    STATUS_TRY(run_config(o, 1, &c));
    Status s = model_folder_check(path, &c);
    return status_is_ok(&s) ? s : status_usage("save: %s", s.text);
}

/* That a file can be put there is tried out now, not after the training. */
static Status check_save(const Options *o) {
    const char *path = options_text(o, "save");
    if (model_folder_is(path)) return check_folder(o, path);
    if (!*path) return status_usage(_("save: the name of a file is missing"));
    FileWriter *w;
    STATUS_TRY(file_begin(path, &w));
    file_discard(w);
    return status_ok();
}

static Status check(const Options *o) {
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

static Status measure(Study *s, Run *run) {
    double nll, floor_nll;
    long tokens;
    if (!study_progress(s, -1, _("measuring on training sentences"))) return status_cancelled();
    STATUS_TRY(run_train_nll(run, RUN_TEST_SENTENCES, &nll, &floor_nll, &tokens));
    add_result(study_table(s, "result"), "train", tokens, nll, floor_nll);
    if (!study_progress(s, -1, _("measuring on test sentences"))) return status_cancelled();
    STATUS_TRY(run_test_nll(run, -1, &nll, &floor_nll, &tokens));
    add_result(study_table(s, "result"), "test", tokens, nll, floor_nll);
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

static Status keep(Study *s, Run *run) {
    const char *path = options_text(study_options(s), "save");
    if (!path) {
        keep_for_looking(s, run);
        return status_ok();
    }
    const char *unsaid = NULL;
    bool folder = model_folder_is(path);
    Status status = folder ? model_folder_write(path, run_model(run), run_corpus(run), &unsaid) : run_save(run, path);
    if (!status_is_ok(&status)) return status_failed("%s", status.text); /* files may have been written before */
    if (unsaid) study_about(s, "tokenizer_json", "not written: %s", unsaid);
    study_offer_model(s, path);
    return status_ok();
}

static void add_conventions(Study *s) {
    study_about(s, "loss_rule", "mean over the real tokens of the batch; pads do not exist (sentences are packed)");
    study_about(s, "tokens_per_s_rule", "real tokens of the step / its time");
    study_about(s, "splits", "train: the first %d training sentences; test: %d sentences of a stream of their own",
                RUN_TEST_SENTENCES, RUN_TEST_SENTENCES);
    study_about(s, "floor_perplexity_rule", "exp of the mean exact -log p of the same predictions; empty: no grammar");
    study_about(s, "logarithms", "natural (nats)");
    study_about(s, "window_rule", "the window counts the current token");
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
    add_conventions(s);
    Status status = train(s, run);
    if (status_is_ok(&status)) status = measure(s, run);
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
              .tables =
                  (const TableSpec[]){
                      {"curve", run_curve_columns}, {"result", result_columns}, {"model", run_model_columns}, {0}},
              .figure = {FIGURE_LINE, "curve", "step", "loss", NULL},
              .figure_floor = "result floor_perplexity"},
    .check = check,
    .run = run_train,
};
