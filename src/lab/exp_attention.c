/* attn.step: every number of attention on one sentence: the attention pane's own export (seminar 3, 6). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <stdlib.h>
#include <string.h>

static const Option step_options[] = {
    {"prompt", OPTION_TEXT, "the dogs near the cat", 0, 0, NULL, "", N_("the sentence; <s> is added")},
    {"layer", OPTION_TEXT, "all", 0, 0, NULL, "", N_("a layer, from 0, or all")},
    {"head", OPTION_TEXT, "all", 0, 0, NULL, "", N_("a query head, from 0, or all")},
    {0},
};

/* "all" is -1; MOST < 0: any number will do. */
static Status number_or_all(const Options *o, const char *name, int most, int *out) {
    const char *text = options_text(o, name);
    long long x = -1;
    if (strcmp(text, "all") != 0 && (!str_to_long(text, &x) || x < 0))
        return status_usage(_("%s: '%s' is neither a number from 0 on nor all"), name, text);
    if (most >= 0 && x > most) return status_usage(_("%s: there is no %lld; the model has 0 to %d"), name, x, most);
    *out = x > 1000000 ? 1000000 : (int)x;
    return status_ok();
}

static Status check(const Options *o) {
    int number;
    STATUS_TRY(number_or_all(o, "layer", -1, &number));
    STATUS_TRY(number_or_all(o, "head", -1, &number));
    return models_check(o, "prompt");
}

enum { STEP_MOST = 5000000 }; /* rows of a table */

/* Pairs of N tokens, or numbers of their queries, keys and values: whichever are more. */
static Status check_size(const ModelConfig *c, int n, int layer, int head) {
    long long pairs = (long long)n * n, numbers = 3LL * n * c->head_dim;
    long long heads = (layer < 0 ? c->layers : 1) * (head < 0 ? (long long)c->heads : 1);
    long long rows = heads * (pairs > numbers ? pairs : numbers);
    if (rows <= STEP_MOST) return status_ok();
    return status_usage(_("%lld rows are more than the %d that a table takes: layer= and head= take a part"), rows,
                        STEP_MOST);
}

static void look(Study *s, const Scene *scene, int layer, int head) {
    Observers *observers = observers_new();
    Snapshot *seen = snapshot_new(&(SnapshotFacts){0});
    observers_look(observers, scene, 1u << OBSERVE_attention, seen);
    study_take_table(s, observe_attention_table(seen, layer, head));
    study_take_table(s, observe_vectors_table(seen, layer, head));
    snapshot_unref(seen);
    observers_free(observers);
}

static Status step(Study *s, const TrainedModel *m) {
    const Options *o = study_options(s);
    const ModelConfig *c = model_config(m->model);
    int layer, head, *ids, n;
    STATUS_TRY(number_or_all(o, "layer", c->layers - 1, &layer));
    STATUS_TRY(number_or_all(o, "head", c->heads - 1, &head));
    STATUS_TRY(models_ids(m, o, "prompt", MODELS_PROMPT, &ids, &n));
    Status status = check_size(c, n, layer, head);
    Scene scene = models_scene(m, ids, n, study_seed(s));
    if (status_is_ok(&status)) look(s, &scene, layer, head);
    mem_free(ids);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = step(s, &m);
    models_done(&m);
    study_about(s, "masked_rule",
                "what enters the softmax; -inf where the query may not look, and there the weight is exactly 0");
    study_about(s, "softcapped_rule", "equal to scaled when the model has no softcap");
    study_about(s, "window_rule", "the window counts the current token");
    study_about(s, "vectors_rule",
                "q and k after RoPE; for k and v, head is the KV head: query head i reads KV head i / group");
    return status;
}

const Experiment experiment_attn_step = {
    .entry = {.id = "attn.step",
              .section = "S3 6",
              .title = N_("attention step by step: scores, scaled, masked, weights, and the vectors behind them"),
              .see = N_(
                  "Every row of weights adds up to 1, and what is masked is exactly 0. The verb looks at its subject."),
              .options = (const Option *const[]){models_modern_option_rows, step_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"attention", observe_attention_columns},
                                            {"vectors", observe_vectors_columns},
                                            {0}},
              .figure = {FIGURE_HEAT, "attention", "key", "query", "weight"}},
    .check = check,
    .run = run,
};
