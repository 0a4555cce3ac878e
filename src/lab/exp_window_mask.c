/* window.mask: which keys a query sees through a sliding window, and how many scores each rule makes (lecture 4, 6.1,
 * exercise 5). Counting needs no matrix; the pairs one by one are given while they are not too many. */
#include "experiment.h"
#include "intl.h"

#include "config.h"
#include "mask.h"

static const Option mask_options[] = {
    {"T", OPTION_INT, "12", 1, 1e9, NULL, "tokens", N_("length of the text")},
    {"window", OPTION_INT, "3", 1, 1e9, NULL, "tokens", N_("W: tokens that a query sees, itself included")},
    {"w", OPTION_INT, NULL, 0, 1e9, NULL, "tokens",
     N_("Longformer's width instead, even: w/2 tokens on either side, of which the causal mask leaves w/2 + 1")},
    {"layers", OPTION_INT, "1", 1, 1000, NULL, "", N_("layers of the model")},
    {"global_every", OPTION_INT, "0", 0, 1000, NULL, "layers", N_("every n-th layer ignores the window; 0: none")},
    {"pairs", OPTION_INT, "1048576", 0, 1e7, NULL, "rows",
     N_("the table mask has a row for each of the T x T pairs; where these are more than so many it stays empty")},
    {0},
};

static const Column mask_columns[] = {
    {"query", COLUMN_INT, ""}, {"key", COLUMN_INT, ""}, {"allowed", COLUMN_INT, ""}, {0}};
static const Column counts_columns[] = {
    {"rule", COLUMN_TEXT, ""}, {"scores", COLUMN_INT, ""}, {"share", COLUMN_DOUBLE, ""}, {0}};
static const Column layers_columns[] = {{"layer", COLUMN_INT, ""},
                                        {"window", COLUMN_INT, "tokens"},
                                        {"scores", COLUMN_INT, ""},
                                        {"share", COLUMN_DOUBLE, ""},
                                        {0}};

static Status check(const Options *o) {
    if (!options_is_set(o, "w")) return status_ok();
    if (options_is_given(o, "window"))
        return status_usage(_("give window= or w=, not both: w=%lld is window=%lld"), options_int(o, "w"),
                            options_int(o, "w") / 2 + 1);
    if (options_int(o, "w") % 2)
        return status_usage(_("w: %lld is odd; w/2 tokens stand on either side of the query, so it is even"),
                            options_int(o, "w"));
    return status_ok();
}

static double square(int T) {
    return (double)T * T;
}

static void add_count(Table *t, const char *rule, long long scores, int T) {
    table_add_text(t, rule);
    table_add_int(t, scores);
    table_add_real(t, (double)scores / square(T));
}

static void add_counts(Table *t, int T, int window) {
    const MaskRule full = {0}, causal = {.causal = true}, local = {.window = window, .causal = true};
    add_count(t, "full", mask_pairs(&full, T), T);
    add_count(t, "causal", mask_pairs(&causal, T), T);
    add_count(t, "window", mask_pairs(&local, T), T);
    add_count(t, "chunks", 2LL * window * T, T);
}

/* The engine's own rule says which layers are global. One local layer is what the counts say already. */
static void add_layers(Table *t, const Options *o, int T, int window) {
    if (options_int(o, "layers") == 1 && options_int(o, "global_every") == 0) return;
    const ModelConfig c = {.window = window, .global_every = (int)options_int(o, "global_every")};
    for (int layer = 0; layer < (int)options_int(o, "layers"); layer++) {
        const MaskRule rule = {.window = config_window(&c, layer), .causal = true};
        long long scores = mask_pairs(&rule, T);
        table_add_int(t, layer);
        table_add_int(t, rule.window);
        table_add_int(t, scores);
        table_add_real(t, (double)scores / square(T));
    }
}

static Status add_pairs(Study *s, Table *t, int T, int window) {
    const MaskRule rule = {.window = window, .causal = true};
    double most = (double)options_int(study_options(s), "pairs");
    if (square(T) > most) {
        study_warn(s, _("the table mask is empty: T x T = %.0f pairs are more than pairs=%.0f"), square(T), most);
        return status_ok();
    }
    for (int query = 0; query < T; query++) {
        for (int key = 0; key < T; key++) {
            table_add_int(t, query);
            table_add_int(t, key);
            table_add_int(t, mask_allows(&rule, query, key));
        }
        if (!study_progress(s, (query + 1.0) / T, _("query %d of %d"), query + 1, T)) return status_cancelled();
    }
    return status_ok();
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    int T = (int)options_int(o, "T"), window = (int)options_int(o, "window");
    if (options_is_set(o, "w")) window = (int)options_int(o, "w") / 2 + 1;
    add_counts(study_table(s, "counts"), T, window);
    add_layers(study_table(s, "layers"), o, T, window);
    study_about(s, "window_in_use", "%d", window);
    study_about(
        s, "window_rule",
        "the window counts the current token: query i sees keys i - window + 1 to i; Longformer's w is window = "
        "w/2 + 1");
    study_about(s, "mask_rule", "query, key, allowed: of a local layer; a global one has the causal mask");
    study_about(
        s, "counts_rule",
        "scores of one head in one local layer: full T^2, causal and window the pairs that are allowed, chunks 2 "
        "window T: each chunk of `window` queries against its own keys and the chunk before");
    study_about(s, "share_rule", "scores / T^2");
    study_about(s, "layers_rule",
                "layers global_every - 1, 2 global_every - 1, ... (from 0) are global: window 0, causal mask");
    return add_pairs(s, study_table(s, "mask"), T, window);
}

const Experiment experiment_window_mask = {
    .entry = {.id = "window.mask",
              .section = "L4 6.1",
              .title = N_("sliding window: which keys a query sees, and how many scores each rule makes"),
              .see = N_("Each row keeps the diagonal and the window - 1 places left of it. Chunks make about twice the "
                        "scores that the window needs, and still far fewer than all."),
              .options = (const Option *const[]){mask_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"mask", mask_columns}, {"counts", counts_columns}, {"layers", layers_columns}, {0}},
              .figure = {FIGURE_HEAT, "mask", "key", "query", "allowed"},
              .on_request = (const char *const[]){"mask", "layers", NULL}},
    .check = check,
    .run = run,
};
