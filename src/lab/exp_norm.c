/* arch.norm: RMS norm and layer norm: what they give, what half precision makes of them, what they cost (seminar
 * 3, 3.2; lecture 4, 3.2 and exercise 9). */
#include "batch.h"
#include "clock.h"
#include "experiment.h"
#include "formula.h"
#include "intl.h"
#include "mem.h"
#include "tape.h"

#include <math.h>

#define NUMBER_MOST  1e100        /* its square is finite */
#define NUMBERS_MOST 16000000LL   /* in the rows */
#define PRODUCT_MOST 4000000000LL /* operations that are timed: a fraction of a second */

enum { REPEATS = 5, PRODUCT_RATIO = 4, PRODUCT_ROWS = 1024 };

static const Option norm_options[] = {
    {"x", OPTION_REALS, "1,2,3,4", -NUMBER_MOST, NUMBER_MOST, NULL, "", N_("the numbers to normalise")},
    {"eps", OPTION_REAL, "0", 0, NUMBER_MOST, NULL, "", N_("added under the root")},
    {"scale", OPTION_REAL, "300", 0, NUMBER_MOST, NULL, "",
     N_("root mean square that x is brought to for the table half; 0: x as it is")},
    {"d", OPTION_INT, "512", 1, 16384, NULL, "", N_("for the cost: width of a row")},
    {"rows", OPTION_INT, "16384", 1, 1e6, NULL, "tokens",
     N_("for the cost: rows; enough of them that no cache holds them, as in training")},
    {0},
};

static const Column values_columns[] = {
    {"norm", COLUMN_TEXT, ""}, {"index", COLUMN_INT, ""}, {"value", COLUMN_DOUBLE, ""}, {0}};
static const Column half_columns[] = {
    {"method", COLUMN_TEXT, ""}, {"rms", COLUMN_DOUBLE, ""}, {"output", COLUMN_DOUBLE, ""}, {0}};
static const Column cost_columns[] = {{"operation", COLUMN_TEXT, ""},
                                      {"flops", COLUMN_INT, ""},
                                      {"flop_share", COLUMN_DOUBLE, ""},
                                      {"time_share", COLUMN_DOUBLE, ""},
                                      {0}};

/* Rows that the matrix product is timed on. */
static long long product_rows(const Options *o) {
    long long rows = options_int(o, "rows");
    return rows < PRODUCT_ROWS ? rows : PRODUCT_ROWS;
}

/* Operations of N rows through the product. */
static long long product_flops(const Options *o, long long n) {
    long long d = options_int(o, "d");
    return 2 * n * d * d * PRODUCT_RATIO;
}

static Status check(const Options *o) {
    const double *x;
    int n = options_reals(o, "x", &x);
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return status_usage(_("x: each must be a finite number"));
    if (options_int(o, "rows") * options_int(o, "d") > NUMBERS_MOST)
        return status_usage(_("rows x d may be %lld at most"), NUMBERS_MOST);
    if (product_flops(o, product_rows(o)) > PRODUCT_MOST)
        return status_usage(_("d: a matrix product of %lld operations takes too long to time; at most %lld"),
                            product_flops(o, product_rows(o)), PRODUCT_MOST);
    return status_ok();
}

/* ---- values ---- */

static bool add_values(Table *t, const char *norm, int n, const double *y) {
    bool good = true;
    for (int i = 0; i < n; i++) {
        table_add_text(t, norm);
        table_add_int(t, i);
        table_add_real(t, y[i]);
        good = good && isfinite(y[i]);
    }
    return good;
}

static void show_values(Study *s, int n, const double *x, double eps) {
    double *y = MEM_ARRAY(double, (size_t)n);
    formula_rms_norm(n, x, eps, y);
    bool good = add_values(study_table(s, "values"), "rms", n, y);
    formula_layer_norm(n, x, eps, y);
    good = add_values(study_table(s, "values"), "layer", n, y) && good;
    mem_free(y);
    if (!good) study_warn(s, _("nan is 0 / 0: that is what eps is for"));
}

/* ---- half precision ---- */

static int largest(int n, const double *x) {
    int at = 0;
    for (int i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at])) at = i;
    return at;
}

static void add_half(Table *t, FpFormat inside, int n, const double *x, double eps) {
    double *y = MEM_ARRAY(double, (size_t)n);
    double rms = formula_rms_norm_rounded(FP16, inside, n, x, eps, y);
    table_add_text(t, fpformat_name(inside));
    table_add_real(t, rms);
    table_add_real(t, y[largest(n, x)]);
    mem_free(y);
}

static void show_half(Study *s, int n, const double *x, double eps) {
    double scale = options_real(study_options(s), "scale"), rms = formula_rms(n, x, 0);
    double *scaled = MEM_ARRAY(double, (size_t)n);
    for (int i = 0; i < n; i++) scaled[i] = scale > 0 && rms > 0 ? x[i] / rms * scale : x[i];
    add_half(study_table(s, "half"), FP16, n, scaled, eps);
    add_half(study_table(s, "half"), FP32, n, scaled, eps);
    mem_free(scaled);
}

/* ---- cost ---- */

/* Rows through one operation: a norm, or the product of a feed-forward layer. */
typedef enum { BENCH_RMS, BENCH_LAYER, BENCH_PRODUCT } BenchKind;

/* Operations that a number of a row costs; the few that a row costs are left out. */
enum { RMS_EACH = 4, LAYER_EACH = 7 };

static void record(Tape *t, BenchKind kind, Params *p, int d) {
    Vid x = tape_embed(t, 0, EMBED_TOKEN);
    if (kind == BENCH_RMS)
        (void)tape_norm(t, x, NORM_RMS, params_add(p, "gain", 1, d, INIT_ONE, 0), SLICE_NONE, 0, 1e-6);
    if (kind == BENCH_LAYER) {
        int gain = params_add(p, "gain", 1, d, INIT_ONE, 0), bias = params_add(p, "bias", 1, d, INIT_ZERO, 0);
        (void)tape_norm(t, x, NORM_LAYER, gain, bias, 0, 1e-5);
    }
    if (kind == BENCH_PRODUCT)
        (void)tape_linear(t, x, params_add(p, "weight", PRODUCT_RATIO * d, d, INIT_ZERO, 0), SLICE_NONE);
}

/* The shortest of several runs of the last node, after one that warms up. */
static double shortest(Tape *t) {
    double best = HUGE_VAL;
    int node = tape_nodes(t) - 1;
    tape_forward(t);
    for (int i = 0; i < REPEATS; i++) {
        double begin = clock_now();
        tape_run(t, node, node + 1);
        best = fmin(best, clock_now() - begin);
    }
    return best;
}

/* Seconds that ROWS rows of D numbers take, each. */
static double seconds_of_row(BenchKind kind, int d, int rows) {
    Params p;
    Batch b;
    params_init(&p);
    (void)params_add(&p, "x", 2, d, INIT_NORMAL, 1);
    int *ids = MEM_ARRAY(int, (size_t)rows);
    for (int i = 0; i < rows; i++) ids[i] = i % 2;
    batch_init(&b);
    batch_add(&b, ids, rows, false);
    mem_free(ids);
    Tape *t = tape_new(TAPE_EVAL);
    tape_begin(t, &p, &b, 1, 0);
    record(t, kind, &p, d);
    params_seal(&p);
    for (int i = 0; i < 2 * d; i++) p.x[i] = (real)(i % 7) - 3;
    double seconds = shortest(t) / rows;
    tape_free(t);
    batch_done(&b);
    params_done(&p);
    return seconds;
}

static Status show_cost(Study *s) {
    const Options *o = study_options(s);
    int d = (int)options_int(o, "d"), rows = (int)options_int(o, "rows");
    long long numbers = (long long)d * rows, product = product_flops(o, rows);
    const struct {
        const char *name;
        BenchKind kind;
        long long flops;
        int rows;
    } operations[] = {{"rms_norm", BENCH_RMS, RMS_EACH * numbers, rows},
                      {"layer_norm", BENCH_LAYER, LAYER_EACH * numbers, rows},
                      {"matrix_product", BENCH_PRODUCT, product, (int)product_rows(o)}};
    double seconds[3];
    for (int i = 0; i < 3; i++) {
        if (!study_progress(s, i / 3.0, _("timing %s"), operations[i].name)) return status_cancelled();
        seconds[i] = seconds_of_row(operations[i].kind, d, operations[i].rows);
    }
    Table *t = study_table(s, "cost");
    for (int i = 0; i < 3; i++) {
        table_add_text(t, operations[i].name);
        table_add_int(t, operations[i].flops);
        table_add_real(t, (double)operations[i].flops / (double)product);
        table_add_real(t, seconds[2] > 0 ? seconds[i] / seconds[2] : (double)NAN);
    }
    return status_ok();
}

static Status run(Study *s) {
    const Options *o = study_options(s);
    const double *x;
    int n = options_reals(o, "x", &x);
    double eps = options_real(o, "eps");
    show_values(s, n, x, eps);
    show_half(s, n, x, eps);
    study_about(s, "norms", "without gain and bias; the variance of layer norm divides by n");
    study_about(s, "half_rule",
                "numbers stored in fp16; every step rounded to the method's format, ties to even; output: "
                "of the largest x");
    study_about(s, "flops_rule", "a number costs rms norm %d operations, layer norm %d, with gain and bias", RMS_EACH,
                LAYER_EACH);
    study_about(s, "share_rule", "of the product [rows x d] by [d x %d d] beside it, row for row", PRODUCT_RATIO);
    study_about(s, "time_rule", "one thread, the shortest of %d runs; the product on %lld rows", REPEATS,
                product_rows(o));
    return show_cost(s);
}

const Experiment experiment_arch_norm = {
    .entry = {.id = "arch.norm",
              .section = "S3 3.2",
              .title = N_("RMS norm and layer norm: values, half precision, cost"),
              .see =
                  N_("Squares of numbers near 300 overflow in fp16, and the whole row becomes 0; with fp32 inside all "
                     "is well. A norm takes far more of the time than of the operations."),
              .options = (const Option *const[]){norm_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){{"values", values_columns}, {"half", half_columns}, {"cost", cost_columns}, {0}},
              .figure = {FIGURE_BARS, "values", "index", "value", "norm"}},
    .check = check,
    .run = run,
};
