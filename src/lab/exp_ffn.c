/* arch.ffn: how wide a feed-forward layer is when it has a gate, and the functions inside (seminar 3, 4 and exercise 2;
 * lecture 4, exercise 8). */
#include "experiment.h"
#include "formula.h"
#include "intl.h"

#include <math.h>

static const Option ffn_options[] = {
    {"d", OPTION_INT, "512", 1, 1e6, NULL, "", N_("width of the residual stream")},
    {"round", OPTION_INT, "64", 1, 1e6, NULL, "", N_("d_ff becomes a multiple of this")},
    {"from", OPTION_REAL, "-4", -1000, 1000, NULL, "", N_("where the curves begin")},
    {"to", OPTION_REAL, "2", -1000, 1000, NULL, "", N_("where they end")},
    {"points", OPTION_INT, "61", 2, 10000, NULL, "", N_("of each curve")},
    {0},
};

static const Column sizes_columns[] = {{"kind", COLUMN_TEXT, ""},
                                       {"matrices", COLUMN_INT, ""},
                                       {"d_ff", COLUMN_DOUBLE, ""},
                                       {"rounded_down", COLUMN_INT, ""},
                                       {"rounded_up", COLUMN_INT, ""},
                                       {"parameters", COLUMN_INT, ""},
                                       {0}};
static const Column curve_columns[] = {
    {"x", COLUMN_DOUBLE, ""},    {"relu", COLUMN_DOUBLE, ""},         {"gelu", COLUMN_DOUBLE, ""},
    {"silu", COLUMN_DOUBLE, ""}, {"squared_relu", COLUMN_DOUBLE, ""}, {0}};

static const struct {
    const char *name;
    FfnKind kind;
} kinds[] = {{"relu", FFN_RELU},   {"gelu", FFN_GELU},   {"silu", FFN_SILU},    {"squared_relu", FFN_SQUARED_RELU},
             {"reglu", FFN_REGLU}, {"geglu", FFN_GEGLU}, {"swiglu", FFN_SWIGLU}};

static const FfnKind curves[] = {FFN_RELU, FFN_GELU, FFN_SILU, FFN_SQUARED_RELU}; /* in the order of the columns */

static Status check(const Options *o) {
    if (options_real(o, "from") < options_real(o, "to")) return status_ok();
    return status_usage(_("from (%g) must be below to (%g)"), options_real(o, "from"), options_real(o, "to"));
}

/* Two matrices of 4 d, or as many parameters in three: M d d_ff = 8 d^2, so d_ff = 8 d / M. */
static void add_size(Table *t, const char *name, FfnKind kind, long long d, long long round) {
    long long matrices = config_is_gated(kind) ? 3 : 2, down = 8 * d / (matrices * round);
    table_add_text(t, name);
    table_add_int(t, matrices);
    table_add_real(t, 8.0 * (double)d / (double)matrices);
    table_add_int(t, down * round);
    table_add_int(t, (down + (8 * d % (matrices * round) != 0)) * round);
    table_add_int(t, 8 * d * d);
}

static void add_curves(Table *t, double from, double to, long long points) {
    for (long long i = 0; i < points; i++) {
        double share = (double)i / (double)(points - 1), x = from * (1 - share) + to * share;
        table_add_real(t, x);
        for (size_t k = 0; k < sizeof curves / sizeof *curves; k++) table_add_real(t, formula_activation(curves[k], x));
    }
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        add_size(study_table(s, "sizes"), kinds[i].name, kinds[i].kind, options_int(o, "d"), options_int(o, "round"));
    add_curves(study_table(s, "curve"), options_real(o, "from"), options_real(o, "to"), options_int(o, "points"));
    study_about(s, "d_ff_rule", "as many parameters as two matrices of 4 d: 8 d / matrices");
    study_about(s, "parameters_rule", "matrices x d x d_ff before rounding, without biases");
    study_about(s, "gelu_rule", "exact: x times the normal distribution function");
    return status_ok();
}

const Experiment experiment_arch_ffn = {
    .entry = {.id = "arch.ffn",
              .section = "S3 4",
              .title = N_("feed-forward: the 8/3 rule and the functions inside"),
              .see = N_("Three matrices of 8/3 d hold as many parameters as two of 4 d. At 512 that is 1365.3: 1344 or "
                        "1408 in multiples of 64."),
              .options = (const Option *const[]){ffn_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"sizes", sizes_columns}, {"curve", curve_columns}, {0}},
              .figure = {FIGURE_LINE, "curve", "x", "relu gelu silu squared_relu", NULL}},
    .check = check,
    .run = run,
};
