/* kv.growth: what the cache holds, layer by layer, while a model decodes (lecture 3, 4.3; lecture 4, 6.4). */
#include "decode/greedy.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "models.h"

#include <limits.h>

static const Option growth_options[] = {
    {"prompt", OPTION_TEXT, "the dogs near", 0, 0, NULL, "", N_("what is fed at once; <s> is added")},
    {"steps", OPTION_INT, "20", 0, 100000, NULL, "tokens", N_("decoded after it, one at a time")},
    {0},
};

static const Column growth_columns[] = {{"step", COLUMN_INT, ""},
                                        {"layer", COLUMN_INT, ""},
                                        {"cached", COLUMN_INT, "tokens"},
                                        {"heads", COLUMN_INT, ""},
                                        {"head_dim", COLUMN_INT, ""},
                                        {"bytes", COLUMN_INT, "bytes"},
                                        {"total_bytes", COLUMN_INT, "bytes"},
                                        {0}};

static Status check(const Options *o) {
    return models_check(o, "prompt");
}

static void add_step(Table *t, const ModelConfig *c, int step, int cached) {
    long long layer_bytes = 2LL * cached * c->kv_heads * c->head_dim * (long long)sizeof(real);
    for (int l = 0; l < c->layers; l++) {
        table_add_int(t, step);
        table_add_int(t, l);
        table_add_int(t, cached);
        table_add_int(t, c->kv_heads);
        table_add_int(t, c->head_dim);
        table_add_int(t, layer_bytes);
        table_add_int(t, layer_bytes * c->layers);
    }
}

/* Greedily; </s> stops nothing: only how many there are is looked at. */
static Status decode(Study *s, Decoder *d, const ModelConfig *c, const int *ids, int n) {
    int steps = (int)options_int(study_options(s), "steps");
    const real *logits = decoder_feed(d, 0, ids, n);
    add_step(study_table(s, "growth"), c, 0, decoder_cached(d, 0));
    for (int i = 1; i <= steps; i++) {
        int id = greedy_best(logits, c->vocab);
        logits = decoder_feed(d, 0, &id, 1);
        add_step(study_table(s, "growth"), c, i, decoder_cached(d, 0));
        if (!study_progress(s, (double)i / steps, _("token %d of %d"), i, steps)) return status_cancelled();
    }
    return status_ok();
}

static Status grow(Study *s, const TrainedModel *m) {
    const ModelConfig *c = model_config(m->model);
    int *ids, n, steps = (int)options_int(study_options(s), "steps");
    STATUS_TRY(models_ids(m, study_options(s), "prompt", MODELS_PROMPT, &ids, &n));
    Decoder *d = decoder_new(m->model, 1, decoder_slots(m->model, NULL));
    Status status =
        decoder_room(d, 0) < n + steps
            ? status_usage(_("steps: %d tokens and %d steps are %d, and the model's context has room for %d"), n, steps,
                           n + steps, decoder_room(d, 0))
            : decode(s, d, c, ids, n);
    study_about(s, "slots", "%d: %s", decoder_capacity(d),
                decoder_room(d, 0) == INT_MAX ? "the widest window; a new token takes the slot of the oldest"
                                              : "the context");
    decoder_free(d);
    mem_free(ids);
    return status;
}

static Status run(Study *s) {
    TrainedModel m;
    STATUS_TRY(models_get(s, &m));
    Status status = grow(s, &m);
    models_done(&m);
    study_about(s, "step_rule",
                "0 is the prompt, fed at once (prefill); then a token a step (decode), </s> stops nothing");
    study_about(s, "bytes_rule", "2 (K and V) x cached x heads x head_dim x %d bytes; heads are KV heads",
                (int)sizeof(real));
    return status;
}

const Experiment experiment_kv_growth = {
    .entry = {.id = "kv.growth",
              .section = "L3 4.3",
              .title = N_("how the cache of keys and values grows, token by token"),
              .see =
                  N_("Every token adds the same number of bytes, in every layer: a key and a value for each KV head. "
                     "With a window it stops growing."),
              .options = (const Option *const[]){models_gpt_option_rows, growth_options, models_ids_option_rows,
                                                 experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"growth", growth_columns}, {0}},
              .figure = {FIGURE_LINE, "growth", "step", "total_bytes", NULL}},
    .check = check,
    .run = run,
};
