/* gqa.equal: grouped queries give what full multi-head attention gives when every key and value head is copied for its
 * group, and what that saves in parameters (lecture 4, 5.2, exercise 4). */
#include "attention_once.h"
#include "differ.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <string.h>

#define CELLS_MOST      5e7 /* heads T T attention weights, and T (d + heads hd) numbers between the weights */
#define PARAMETERS_MOST 1e9

static const Option equal_options[] = {
    {"d", OPTION_INT, "32", 1, 1000000, NULL, "", N_("width of the model")},
    {"heads", OPTION_INT, "8", 1, 1000, NULL, "", N_("query heads")},
    {"kv_heads", OPTION_INT, "2", 1, 1000, NULL, "", N_("key/value heads; divides heads")},
    {"head_dim", OPTION_INT, NULL, 1, 100000, NULL, "", N_("numbers of a head; not given: d / heads")},
    {"T", OPTION_INT, "12", 1, 4096, NULL, "tokens", N_("how many tokens")},
    {0},
};

static const Column diff_columns[] = {{"against", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, ""}, {0}};
static const Column parameters_columns[] = {{"kv_heads", COLUMN_INT, ""}, {"count", COLUMN_INT, ""}, {0}};

/* ---- shapes ---- */

typedef struct {
    int d, heads, kv_heads, head_dim, T;
} Shape;

static Shape shape_of(const Options *o) {
    Shape s = {.d = (int)options_int(o, "d"),
               .heads = (int)options_int(o, "heads"),
               .kv_heads = (int)options_int(o, "kv_heads"),
               .T = (int)options_int(o, "T")};
    s.head_dim = options_is_set(o, "head_dim") ? (int)options_int(o, "head_dim") : s.d / s.heads;
    return s;
}

/* Of query, key, value and output weights; no biases. */
static long long parameters(const Shape *s, int kv_heads) {
    long long one = (long long)s->d * s->head_dim;
    return 2 * one * s->heads + 2 * one * kv_heads;
}

static Status check(const Options *o) {
    Shape s = shape_of(o);
    if (s.kv_heads > s.heads || s.heads % s.kv_heads)
        return status_usage(
            _("heads (%d) must be a multiple of kv_heads (%d): each key/value head serves equally many queries"),
            s.heads, s.kv_heads);
    if (!options_is_set(o, "head_dim") && s.d % s.heads)
        return status_usage(_("d (%d) is not a multiple of heads (%d): give head_dim="), s.d, s.heads);
    if ((double)s.heads * s.T * s.T > CELLS_MOST)
        return status_usage(_("T (%d) is too long for %d heads: at most %.0f weights heads T T are allowed"), s.T,
                            s.heads, CELLS_MOST);
    if ((double)s.T * ((double)s.d + (double)s.heads * s.head_dim) > CELLS_MOST)
        return status_usage(
            _("T (%d) is too long for this width: at most %.0f numbers T (d + heads head_dim) are allowed"), s.T,
            CELLS_MOST);
    if ((double)parameters(&s, s.heads) > PARAMETERS_MOST)
        return status_usage(_("the layer would have %lld parameters; at most %.0f are allowed"),
                            parameters(&s, s.heads), PARAMETERS_MOST);
    return status_ok();
}

/* ---- a layer whose weights are drawn row by row, where they are used ---- */

typedef struct {
    Study *study;
    Shape shape;
    real *x, *q, *k, *v; /* [T x d], [T x heads*hd], [T x kv_heads*hd] twice */
    real *row;           /* [d or heads*hd] a row of weights */
} Layer;

/* y [rows x out] = x [rows x in] W^T, W [out x in] with deviation 1/sqrt(in): the same for the same NAME. */
static bool multiply(Layer *l, const char *name, int rows, const real *x, int in, int out, real *y) {
    real std = (real)(1 / sqrt(in));
    for (int i = 0; i < out; i++) {
        Rng rng = rng_at(study_seed(l->study), name, (uint64_t)i);
        for (int c = 0; c < in; c++) l->row[c] = std * (real)rng_normal(&rng);
        for (int t = 0; t < rows; t++) {
            const real *from = x + (size_t)t * (size_t)in;
            real sum = 0;
            for (int c = 0; c < in; c++) sum += l->row[c] * from[c];
            y[(size_t)t * (size_t)out + (size_t)i] = sum;
        }
        if (!study_progress(l->study, -1, "%s %d", name, i)) return false;
    }
    return true;
}

static void layer_init(Layer *l, Study *study, const Shape *s) {
    size_t T = (size_t)s->T, wide = (size_t)s->heads * (size_t)s->head_dim,
           narrow = (size_t)s->kv_heads * (size_t)s->head_dim, d = (size_t)s->d;
    *l = (Layer){.study = study, .shape = *s};
    l->x = MEM_ARRAY(real, T * d);
    l->q = MEM_ARRAY(real, T * wide);
    l->k = MEM_ARRAY(real, T * narrow);
    l->v = MEM_ARRAY(real, T * narrow);
    l->row = MEM_ARRAY(real, d > wide ? d : wide);
    Rng rng = rng_at(study_seed(study), "gqa.input", 0);
    for (size_t i = 0; i < T * d; i++) l->x[i] = (real)rng_normal(&rng);
}

static void layer_done(Layer *l) {
    mem_free(l->x);
    mem_free(l->q);
    mem_free(l->k);
    mem_free(l->v);
    mem_free(l->row);
}

static bool project(Layer *l) {
    const Shape *s = &l->shape;
    int wide = s->heads * s->head_dim, narrow = s->kv_heads * s->head_dim;
    return multiply(l, "gqa.query", s->T, l->x, s->d, wide, l->q) &&
           multiply(l, "gqa.key", s->T, l->x, s->d, narrow, l->k) &&
           multiply(l, "gqa.value", s->T, l->x, s->d, narrow, l->v);
}

/* ---- three ways to attend ---- */

typedef enum { GROUPED, COPIED, IN_TURN, READINGS } Reading;

/* Query head i of full attention gets a copy of the KV head that it reads: i / g, or, wrongly, i mod kv_heads. */
static real *copy_heads(const Layer *l, const real *from, Reading how) {
    const Shape *s = &l->shape;
    size_t hd = (size_t)s->head_dim, wide = (size_t)s->heads * hd, narrow = (size_t)s->kv_heads * hd;
    int group = s->heads / s->kv_heads;
    real *to = MEM_ARRAY(real, (size_t)s->T * wide);
    for (size_t t = 0; t < (size_t)s->T; t++)
        for (int h = 0; h < s->heads; h++) {
            int kv = how == COPIED ? h / group : h % s->kv_heads;
            memcpy(to + t * wide + (size_t)h * hd, from + t * narrow + (size_t)kv * hd, hd * sizeof *to);
        }
    return to;
}

/* mix [T x heads*hd] before the output weights. */
static void attend(const Layer *l, Reading how, real *mix) {
    const Shape *s = &l->shape;
    AttentionShape shape = {.heads = s->heads,
                            .kv_heads = how == GROUPED ? s->kv_heads : s->heads,
                            .head_dim = s->head_dim,
                            .mask = {.causal = true}};
    if (how == GROUPED) {
        attention_once(&shape, s->T, l->q, l->k, l->v, mix);
        return;
    }
    real *k = copy_heads(l, l->k, how), *v = copy_heads(l, l->v, how);
    attention_once(&shape, s->T, l->q, k, v, mix);
    mem_free(v);
    mem_free(k);
}

static void add_difference(Study *s, const real *y, size_t numbers) {
    table_add_text(study_table(s, "diff"), "mha_copied");
    table_add_real(study_table(s, "diff"), differ_most(y, y + COPIED * numbers, numbers));
    study_about(s, "another_map", "if query head i read KV head i mod kv_heads, the output would differ by %.3g",
                differ_most(y, y + IN_TURN * numbers, numbers));
}

/* The three readings lie below each other and meet the output weights together. */
static Status compare(Layer *l) {
    const Shape *s = &l->shape;
    if (!project(l)) return status_cancelled();
    int wide = s->heads * s->head_dim, rows = READINGS * s->T;
    real *mix = MEM_ARRAY(real, (size_t)rows * (size_t)wide), *y = MEM_ARRAY(real, (size_t)rows * (size_t)s->d);
    for (int how = 0; how < READINGS; how++) attend(l, (Reading)how, mix + (size_t)how * (size_t)s->T * (size_t)wide);
    bool go_on = multiply(l, "gqa.out", rows, mix, wide, s->d, y);
    if (go_on) add_difference(l->study, y, (size_t)s->T * (size_t)s->d);
    mem_free(y);
    mem_free(mix);
    return go_on ? status_ok() : status_cancelled();
}

static void add_parameters(Study *s, const Shape *shape) {
    for (int kv = 1; kv <= shape->heads; kv++) {
        if (shape->heads % kv) continue;
        table_add_int(study_table(s, "parameters"), kv);
        table_add_int(study_table(s, "parameters"), parameters(shape, kv));
    }
}

static Status run(Study *s) {
    Shape shape = shape_of(study_options(s));
    add_parameters(s, &shape);
    Layer l;
    layer_init(&l, s, &shape);
    Status status = compare(&l);
    layer_done(&l);
    study_about(s, "map", "query head i reads KV head floor(i / g), g = heads / kv_heads = %d",
                shape.heads / shape.kv_heads);
    study_about(s, "layer",
                "causal attention with random weights; mha_copied has a copy of each K and V head for every "
                "query head of its group");
    study_about(s, "count_rule", "query, key, value and output weights, no biases: 2 d hd (heads + kv_heads)");
    return status;
}

static void follow(const Options *o, const char *name, Str *out) {
    long long d = options_int(o, "d"), heads = options_int(o, "heads");
    if (strcmp(name, "head_dim") == 0 && d % heads == 0) str_addf(out, "%lld", d / heads);
}

const Experiment experiment_gqa_equal = {
    .entry = {.id = "gqa.equal",
              .section = "L4 5.2",
              .title = N_("grouped queries equal full attention with copied keys and values"),
              .see = N_("Not a bit of difference. Few parameters are saved: what shrinks is the cache, which holds "
                        "kv_heads heads and not all."),
              .options = (const Option *const[]){equal_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"diff", diff_columns}, {"parameters", parameters_columns}, {0}},
              .figure = {FIGURE_BARS, "parameters", "kv_heads", "count", NULL}},
    .check = check,
    .run = run,
    .follow = follow,
};
