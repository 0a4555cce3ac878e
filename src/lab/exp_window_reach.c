/* window.reach: how far back a stack of layers with a window can look: the first token of a text is changed, and every
 * layer says how far on it felt that (lecture 4, 6.3, exercise 6). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"

#include "decode/spread.h"

#include <string.h>

#define SCORES_MOST 1e11 /* some minutes */

enum { SILENT, LOUD, TOKENS };

static const Option reach_options[] = {
    {"layers", OPTION_INT, "4", 1, 1000, NULL, "", N_("L: layers of the model")},
    {"window", OPTION_INT, "4", 1, 1e6, NULL, "tokens", N_("W: tokens that a query sees, itself included")},
    {0},
};

static const Column reach_columns[] = {{"layer", COLUMN_INT, ""},
                                       {"farthest_measured", COLUMN_INT, "positions"},
                                       {"farthest_formula", COLUMN_INT, "positions"},
                                       {0}};

/* One more window than the formula reaches, so that a change which went further would be seen. */
static long long text_length(long long layers, long long window) {
    return layers * (window - 1) + 1 + window;
}

static Status check(const Options *o) {
    long long layers = options_int(o, "layers"), window = options_int(o, "window"), T = text_length(layers, window);
    double scores = (double)layers * (double)T * (double)window;
    if (scores > SCORES_MOST)
        return status_usage(_("layers=%lld window=%lld reach %lld positions; to measure that takes %.2g scores, and at "
                              "most %.0e are allowed"),
                            layers, window, layers * (window - 1), scores, SCORES_MOST);
    return status_ok();
}

/* An untrained modern model with one narrow head. Only the token that is put in has an embedding: where nothing of it
 * arrives every state is 0, and what arrives is not lost in rounding, however faint it is. */
static Model *make_model(Study *s, int layers, int window) {
    ModelConfig c = config_modern();
    c.vocab = TOKENS;
    c.layers = layers;
    c.window = window;
    c.heads = c.kv_heads = 1;
    c.d = c.head_dim = 8;
    c.d_ff = 16;
    c.norm_eps = 1e-12;
    Model *m = model_new(&c, study_seed(s));
    Params *p = model_params(m);
    const Slice *token = &p->slice[params_find(p, "token.weight")];
    memset(p->x + token->at, 0, (size_t)c.d * sizeof *p->x); /* of SILENT, the first row */
    return m;
}

typedef struct {
    Study *s;
    long long *farthest; /* [layers] -1: nothing felt */
    int layers, T;
} Reach;

static void note(void *data, int layer, int position, double difference) {
    Reach *r = data;
    if (difference > 0) r->farthest[layer] = position;
    if (layer == r->layers - 1)
        (void)study_progress(r->s, (position + 1.0) / r->T, _("token %d of %d"), position + 1, r->T);
}

static void add_rows(Table *t, const Reach *r, long long window) {
    for (int layer = 0; layer < r->layers; layer++) {
        table_add_int(t, layer);
        if (r->farthest[layer] < 0)
            table_add_empty(t);
        else
            table_add_int(t, r->farthest[layer]);
        table_add_int(t, (layer + 1) * (window - 1));
    }
}

static Status run(Study *s) {
    int layers = (int)options_int(study_options(s), "layers"), window = (int)options_int(study_options(s), "window");
    int T = (int)text_length(layers, window);
    Reach r = {.s = s, .farthest = MEM_ARRAY(long long, (size_t)layers), .layers = layers, .T = T};
    int *ids = MEM_ARRAY(int, (size_t)T), *other = MEM_ARRAY(int, (size_t)T); /* SILENT */
    Model *m = make_model(s, layers, window);
    other[0] = LOUD;
    for (int layer = 0; layer < layers; layer++) r.farthest[layer] = -1;
    bool whole = spread_run(&(Spread){.m = m, .ids = ids, .other = other, .n = T, .tell = note, .data = &r});
    if (whole) add_rows(study_table(s, "reach"), &r, window);
    model_free(m);
    mem_free(ids);
    mem_free(other);
    mem_free(r.farthest);
    study_about(s, "window_rule", "the window counts the current token");
    study_about(s, "farthest_rule",
                "how many positions after the first token, which is changed, the output of the layer still differs; "
                "formula: (layer + 1)(window - 1), layers from 0");
    study_about(s, "model",
                "untrained, modern, one head of width 8; the embedding of all tokens but the changed one is 0, so that "
                "rounding hides nothing");
    study_about(s, "text", "%d tokens: a window more than the formula reaches", T);
    return whole ? status_ok() : status_cancelled();
}

const Experiment experiment_window_reach = {
    .entry = {.id = "window.reach",
              .section = "L4 6.3",
              .title = N_("how far layers with a window reach: measured by changing the first token"),
              .see = N_("Every layer carries the change window - 1 positions further: L layers reach L(W - 1)."),
              .options = (const Option *const[]){reach_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"reach", reach_columns}, {0}},
              .figure = {FIGURE_BARS, "reach", "layer", "farthest_measured farthest_formula", NULL}},
    .check = check,
    .run = run,
};
