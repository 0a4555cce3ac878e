/* arch.stability: what z-loss, QK-norm and the soft cap guard against (seminar 3, 9). */
#include "experiment.h"
#include "formula.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include <math.h>

#define LOGIT_MOST 1e6
#define SCALE_MOST 1e6
#define CELLS_MOST 1000000LL /* scores at one scale */

static const Option stability_options[] = {
    {"offsets", OPTION_REALS, "0,10,100,1000,10000", -1e30, 1e30, NULL, "",
     N_("z-loss: what all logits have drifted by")},
    {"logits", OPTION_REALS, "0,-0.4,-1.1,-1.9,-3", -LOGIT_MOST, LOGIT_MOST, NULL, "", N_("z-loss: before they drift")},
    {"scales", OPTION_REALS, "0.5,1,1.5,2,3,4,6,8,12,16", 0, SCALE_MOST, NULL, "",
     N_("QK-norm: factors on queries and keys")},
    {"keys", OPTION_INT, "64", 1, 10000, NULL, "positions", N_("QK-norm: that a query attends to")},
    {"head_dim", OPTION_INT, "64", 1, 10000, NULL, "", N_("QK-norm: width of queries and keys")},
    {"queries", OPTION_INT, "64", 1, 10000, NULL, "", N_("QK-norm: that the entropy is averaged over")},
    {"caps", OPTION_REALS, "30,50", 1e-6, 1e6, NULL, "", N_("soft cap: where it levels off")},
    {"x", OPTION_REALS, "1,5,10,20,30,50,100,200", -1e9, 1e9, NULL, "", N_("soft cap: what goes in")},
    {0},
};

static const Column zloss_columns[] = {{"offset", COLUMN_DOUBLE, ""},
                                       {"format", COLUMN_TEXT, ""},
                                       {"spacing", COLUMN_DOUBLE, ""},
                                       {"max_error", COLUMN_DOUBLE, ""},
                                       {0}};
static const Column qknorm_columns[] = {
    {"scale", COLUMN_DOUBLE, ""}, {"entropy", COLUMN_DOUBLE, "nats"}, {"entropy_qk_norm", COLUMN_DOUBLE, "nats"}, {0}};
static const Column softcap_columns[] = {
    {"cap", COLUMN_DOUBLE, ""}, {"x", COLUMN_DOUBLE, ""}, {"y", COLUMN_DOUBLE, ""}, {0}};

static Status check_work(const Options *o) {
    long long keys = options_int(o, "keys"), queries = options_int(o, "queries"), width = options_int(o, "head_dim");
    if (keys * queries <= CELLS_MOST && (keys + queries) * width <= CELLS_MOST) return status_ok();
    return status_usage(_("keys x queries and (keys + queries) x head_dim may be %lld at most"), CELLS_MOST);
}

static Status check(const Options *o) {
    static const char *const lists[] = {"offsets", "logits", "scales", "caps", "x"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const double *x;
        int n = options_reals(o, lists[i], &x);
        for (int j = 0; j < n; j++)
            if (!isfinite(x[j])) return status_usage(_("%s: each must be a finite number"), lists[i]);
    }
    return check_work(o);
}

/* ---- z-loss ---- */

/* Logits that have drifted by OFFSET and are kept in a short format: how far apart its numbers are there, and what that
 * does to the probabilities P. */
static void add_drift(Table *t, double offset, FpFormat format, int n, const double *logits, const double *p) {
    double *kept = MEM_ARRAY(double, (size_t)n), most = 0, error = 0;
    bool finite = true;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(logits[i] + offset));
        kept[i] = fpformat_round(format, logits[i] + offset);
        finite = finite && isfinite(kept[i]);
    }
    formula_softmax(n, kept, kept);
    for (int i = 0; i < n; i++) error = fmax(error, fabs(kept[i] - p[i]));
    table_add_real(t, offset);
    table_add_text(t, fpformat_name(format));
    table_add_real(t, fpformat_spacing(format, most));
    table_add_real(t, finite ? error : (double)NAN);
    mem_free(kept);
}

static void show_drift(Study *s) {
    const double *offset, *logits;
    int offsets = options_reals(study_options(s), "offsets", &offset);
    int n = options_reals(study_options(s), "logits", &logits);
    double *p = MEM_ARRAY(double, (size_t)n);
    formula_softmax(n, logits, p);
    for (int i = 0; i < offsets; i++)
        for (int format = FP16; format <= FP32; format++)
            add_drift(study_table(s, "zloss"), offset[i], (FpFormat)format, n, logits, p);
    mem_free(p);
}

/* ---- QK-norm ---- */

/* [rows x width] normal numbers, and the same rows after an RMS norm. */
typedef struct {
    int rows, width;
    double *x;
} Rows;

static Rows draw_rows(Rng *r, int rows, int width) {
    Rows m = {rows, width, MEM_ARRAY(double, (size_t)rows *(size_t)width)};
    for (int i = 0; i < rows * width; i++) m.x[i] = rng_normal(r);
    return m;
}

/* factor M, each row normed when NORM. A row of zeros stays one. */
static Rows prepared(const Rows *m, double factor, bool norm) {
    Rows out = {m->rows, m->width, MEM_ARRAY(double, (size_t)m->rows *(size_t)m->width)};
    for (int i = 0; i < m->rows * m->width; i++) out.x[i] = factor * m->x[i];
    for (int r = 0; norm && r < m->rows; r++) {
        double *row = out.x + (size_t)r * (size_t)m->width;
        if (formula_rms(m->width, row, 0) > 0) formula_rms_norm(m->width, row, 0, row);
    }
    return out;
}

/* Mean over the queries of the entropy of softmax(q k / sqrt(width)). */
static double mean_entropy(const Rows *q, const Rows *k) {
    double *weight = MEM_ARRAY(double, (size_t)k->rows), sum = 0;
    for (int i = 0; i < q->rows; i++) {
        for (int j = 0; j < k->rows; j++) {
            const double *a = q->x + (size_t)i * (size_t)q->width, *b = k->x + (size_t)j * (size_t)k->width;
            double dot = 0;
            for (int d = 0; d < q->width; d++) dot += a[d] * b[d];
            weight[j] = dot / sqrt(q->width);
        }
        formula_softmax(k->rows, weight, weight);
        sum += formula_entropy(k->rows, weight);
    }
    mem_free(weight);
    return sum / q->rows;
}

static double entropy_at(const Rows *q, const Rows *k, double scale, bool norm) {
    Rows a = prepared(q, scale, norm), b = prepared(k, scale, norm);
    double entropy = mean_entropy(&a, &b);
    mem_free(a.x);
    mem_free(b.x);
    return entropy;
}

static Status show_qk_norm(Study *s) {
    const Options *o = study_options(s);
    const double *scale;
    int scales = options_reals(o, "scales", &scale), width = (int)options_int(o, "head_dim");
    Rng r = rng_at(study_seed(s), "stability", 0);
    Rows q = draw_rows(&r, (int)options_int(o, "queries"), width),
         k = draw_rows(&r, (int)options_int(o, "keys"), width);
    Table *t = study_table(s, "qknorm");
    bool go_on = true;
    for (int i = 0; go_on && i < scales; i++) {
        table_add_real(t, scale[i]);
        table_add_real(t, entropy_at(&q, &k, scale[i], false));
        table_add_real(t, entropy_at(&q, &k, scale[i], true));
        go_on = study_progress(s, (double)(i + 1) / scales, _("scale %g"), scale[i]);
    }
    mem_free(q.x);
    mem_free(k.x);
    return go_on ? status_ok() : status_cancelled();
}

/* ---- soft cap ---- */

static void show_softcap(Study *s) {
    const double *cap, *x;
    int caps = options_reals(study_options(s), "caps", &cap), n = options_reals(study_options(s), "x", &x);
    Table *t = study_table(s, "softcap");
    for (int c = 0; c < caps; c++)
        for (int i = 0; i < n; i++) {
            table_add_real(t, cap[c]);
            table_add_real(t, x[i]);
            table_add_real(t, formula_softcap(cap[c], x[i]));
        }
}

static Status run(Study *s) {
    show_drift(s);
    show_softcap(s);
    study_about(s, "spacing_rule", "between neighbours of the format at the largest of the drifted logits");
    study_about(s, "max_error_rule",
                "largest change of a probability when the drifted logits are rounded to the format");
    study_about(s, "rounding", "to the nearest, ties to even; too large is inf");
    study_about(s, "qknorm_rule",
                "normal queries and keys times the scale; entropy of softmax(q k / sqrt(head_dim)), mean "
                "over queries; with QK-norm each query and key goes through an RMS norm first");
    study_about(s, "uniform_entropy", "%.6g", log((double)options_int(study_options(s), "keys")));
    study_about(s, "softcap_rule", "cap tanh(x / cap)");
    study_about(s, "logarithms", "natural (nats)");
    return show_qk_norm(s);
}

const Experiment experiment_arch_stability = {
    .entry = {.id = "arch.stability",
              .section = "S3 9",
              .title = N_("what z-loss, QK-norm and the soft cap guard against"),
              .see = N_(
                  "Near 1000 the numbers of bf16 are 4 apart: what the logits differ by is lost. As queries and keys "
                  "grow, attention collapses to one position, but not behind QK-norm."),
              .options = (const Option *const[]){stability_options, experiment_common_options, NULL},
              .tables =
                  (const TableSpec[]){
                      {"zloss", zloss_columns}, {"qknorm", qknorm_columns}, {"softcap", softcap_columns}, {0}},
              .figure = {FIGURE_LINE, "qknorm", "scale", "entropy entropy_qk_norm", NULL}},
    .check = check,
    .run = run,
};
