/* decode.next: what the model says comes next, and what the language says (lecture 3, 6.2). */
#include "bug.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

static const Option next_options[] = {
    {"prompt", OPTION_TEXT, "the dog", 0, 0, NULL, "", N_("how the sentence begins; <s> is added")},
    {"top", OPTION_INT, "0", 0, 1000000, NULL, "tokens", N_("only so many, the likeliest; 0: all")},
    {0},
};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

static Status next(Study *s, const TrainedModel *m) {
    const Options *o = study_options(s);
    int *ids, n;
    STATUS_TRY(models_ids(m, o, "prompt", MODELS_PROMPT, &ids, &n));
    Scene scene = models_scene(m, ids, n, study_seed(s));
    Observers *observers = observers_new();
    Snapshot *look = snapshot_new(&(SnapshotFacts){0});
    observers_look(observers, &scene, 1u << OBSERVE_next, look);
    const Table *all = snapshot_table(look, "next");
    BUG_ON(!all);
    long top = (long)options_int(o, "top");
    study_take_table(s, table_first(all, top == 0 ? table_rows(all) : top));
    snapshot_unref(look);
    observers_free(observers);
    mem_free(ids);
    return status_ok();
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = next(s, &m);
    models_done(&m);
    study_about(s, "next_rows", "falling logit, of equals the lowest id; true_p is empty where no sentence begins so");
    return status;
}

const Experiment experiment_decode_next = {
    .entry = {.id = "decode.next",
              .section = "L3 6.2",
              .title = N_("the next token: logits and probabilities of the model, the truth beside them"),
              .see = N_("The likeliest next word need not begin the likeliest sentence."),
              .options = (const Option *const[]){models_gpt_option_rows, next_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"next", observe_next_columns}, {0}},
              .figure = {FIGURE_BARS, "next", "token", "model_p", NULL}},
    .check = check,
    .run = run,
};
