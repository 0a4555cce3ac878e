/* decode.filter: what temperature, top-k and top-p make of a distribution, stage by stage (lecture 3, 6.5). */
#include "experiment.h"
#include "intl.h"
#include "mem.h"

#include "decode/filter.h"

#include <math.h>

static const Option filter_options[] = {
    {"logits", OPTION_REALS, "2,1,0", 0, 0, NULL, "", N_("the scores to begin with")},
    {"probs", OPTION_REALS, NULL, 0, 1, NULL, "", N_("probabilities to begin with instead; they add up to 1")},
    {"tau", OPTION_REAL, "1", 0, 1e6, NULL, "", N_("temperature; 1: off, 0: the likeliest alone")},
    {"top_k", OPTION_INT, "0", 0, 1000000, NULL, N_("tokens"), N_("keep exactly so many; 0: off")},
    {"top_p", OPTION_REAL, "1", 0, 1, NULL, "", N_("keep the smallest set that reaches this sum; 1: off")},
    {"order", OPTION_CHOICE, "tau_first", 0, 0, "tau_first|tau_last", "", N_("when the temperature is applied")},
    {0},
};

static const Column steps_columns[] = {
    {"stage", COLUMN_TEXT, ""}, {"index", COLUMN_INT, ""}, {"value", COLUMN_DOUBLE, ""}, {"kept", COLUMN_INT, ""}, {0}};

/* What the options name: the numbers, and whether they are probabilities. */
static int numbers_of(const Options *o, const double **x, bool *probs) {
    *probs = options_is_set(o, "probs");
    return options_reals(o, *probs ? "probs" : "logits", x);
}

static Status check_sum(const double *p, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += p[i];
    if (fabs(sum - 1) <= 0.01) return status_ok();
    return status_usage(_("probs: they add up to %.6g; they must add up to 1 (rounding of 0.01 is forgiven)"), sum);
}

static Status check(const Options *o) {
    const double *x;
    bool probs;
    int n = numbers_of(o, &x, &probs);
    if (probs && options_is_given(o, "logits")) return status_usage(_("give logits= or probs=, not both"));
    if (probs) return check_sum(x, n);
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return status_usage(_("logits: each must be a finite number"));
    return status_ok();
}

static void add_stage(Table *steps, const FilterStage *stage, int n) {
    for (int i = 0; i < n; i++) {
        table_add_text(steps, stage->name);
        table_add_int(steps, i);
        table_add_real(steps, stage->value[i]);
        table_add_int(steps, stage->kept[i]);
    }
}

static void add_conventions(Study *s, FilterOrder order) {
    study_about(s, "order_of_filters", "%s",
                order == ORDER_TAU_FIRST ? "logits, temperature, top_k, top_p, final"
                                         : "logits, top_k, top_p, temperature, final");
    study_about(s, "value",
                "a logit in stage logits, a probability in every other, 0 where dropped; what top_k and top_p "
                "leave is renormalised by the stage that follows");
    study_about(s, "top_k_rule", "exactly k, of equals the lowest index");
    study_about(s, "top_p_rule",
                "the smallest set of what top_k left, renormalised, whose sum reaches p (within 1e-9)");
    study_about(s, "logarithms", "natural (nats)");
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    FilterConfig config = {.tau = options_real(o, "tau"),
                           .top_k = (int)options_int(o, "top_k"),
                           .top_p = options_real(o, "top_p"),
                           .order = options_choice(o, "order") == 0 ? ORDER_TAU_FIRST : ORDER_TAU_LAST};
    STATUS_TRY(filter_check(&config));
    const double *x;
    bool probs;
    int n = numbers_of(o, &x, &probs);
    Filter filter;
    filter_init(&filter, n);
    Status status = filter_run(&filter, &config, x, probs);
    for (int i = 0; status_is_ok(&status) && i < filter.stages; i++)
        add_stage(study_table(s, "steps"), &filter.stage[i], n);
    filter_done(&filter);
    add_conventions(s, config.order);
    return status;
}

const Experiment experiment_decode_filter = {
    .entry = {.id = "decode.filter",
              .section = "L3 6.5",
              .title = N_("temperature, top-k and top-p, stage by stage"),
              .see =
                  N_("top-p keeps the smallest set that reaches p: many tokens where the model is unsure, few where it "
                     "is sure. top-k always keeps k."),
              .options = (const Option *const[]){filter_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"steps", steps_columns}, {0}},
              .figure = {FIGURE_BARS, "steps", "index", "value", "stage"},
              .figure_without = "logits"},
    .check = check,
    .run = run,
};
