/* The observer of a training step: the tape of the sentence, forward and backward, and what the last update of the run
 * did to the parameters. */
#include "observe_step.h"

#include "mem.h"
#include "scene.h"
#include "simd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers that a snapshot takes of all operations, and as many of gradients. */
#define KEPT_MOST ((size_t)1 << 18)
/* Parameters of a model that is only read whose tensors are measured at every look: some milliseconds. */
#define LENT_MOST ((size_t)1 << 23)

const Column observe_step_pass_columns[] = {{"loss", COLUMN_DOUBLE, "nats"},      {"targets", COLUMN_INT, ""},
                                            {"values", COLUMN_INT, ""},           {"kept", COLUMN_INT, ""},
                                            {"update", COLUMN_INT, ""},           {"optimizer", COLUMN_TEXT, ""},
                                            {"learning_rate", COLUMN_DOUBLE, ""}, {"grad_norm", COLUMN_DOUBLE, ""},
                                            {"clip_factor", COLUMN_DOUBLE, ""},   {0}};
const Column observe_step_op_columns[] = {{"index", COLUMN_INT, ""},
                                          {"name", COLUMN_TEXT, ""},
                                          {"kind", COLUMN_TEXT, ""},
                                          {"rows", COLUMN_INT, ""},
                                          {"columns", COLUMN_INT, ""},
                                          {"inputs", COLUMN_TEXT, ""},
                                          {"parameters", COLUMN_TEXT, ""},
                                          {"formula", COLUMN_TEXT, ""},
                                          {"mean", COLUMN_DOUBLE, ""},
                                          {"rms", COLUMN_DOUBLE, ""},
                                          {"least", COLUMN_DOUBLE, ""},
                                          {"most", COLUMN_DOUBLE, ""},
                                          {"grad_mean", COLUMN_DOUBLE, ""},
                                          {"grad_rms", COLUMN_DOUBLE, ""},
                                          {"grad_least", COLUMN_DOUBLE, ""},
                                          {"grad_most", COLUMN_DOUBLE, ""},
                                          {0}};
const Column observe_step_tensor_columns[] = {{"name", COLUMN_TEXT, ""},
                                              {"count", COLUMN_INT, ""},
                                              {"theta_rms", COLUMN_DOUBLE, ""},
                                              {"grad_rms", COLUMN_DOUBLE, ""},
                                              {"delta_rms", COLUMN_DOUBLE, ""},
                                              {"ratio", COLUMN_DOUBLE, ""},
                                              {0}};

/* --- operations --- */

enum { LANES = 8 }; /* sums side by side, for vector instructions */

typedef struct {
    double sum, squares, least, most; /* least above most: there was no number */
} Statistics;

/* Of x[0..n-1], in double. A NaN shows in the sums and is neither least nor most. */
SIMD_CLONES static void gather_statistics(size_t n, const real *x, Statistics *out) {
    double sum[LANES] = {0}, squares[LANES] = {0}, least[LANES], most[LANES];
    for (int k = 0; k < LANES; k++) least[k] = HUGE_VAL, most[k] = -HUGE_VAL;
    for (size_t i = 0; i < n / LANES * LANES; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double value = (double)x[i + (size_t)k];
            sum[k] += value;
            squares[k] += value * value;
            least[k] = value < least[k] ? value : least[k];
            most[k] = value > most[k] ? value : most[k];
        }
    for (size_t i = n / LANES * LANES; i < n; i++) {
        double value = (double)x[i];
        sum[0] += value;
        squares[0] += value * value;
        least[0] = value < least[0] ? value : least[0];
        most[0] = value > most[0] ? value : most[0];
    }
    *out = (Statistics){.least = HUGE_VAL, .most = -HUGE_VAL};
    for (int k = 0; k < LANES; k++) {
        out->sum += sum[k];
        out->squares += squares[k];
        out->least = least[k] < out->least ? least[k] : out->least;
        out->most = most[k] > out->most ? most[k] : out->most;
    }
}

/* mean, rms, least and most of x[0..n-1]; four empty cells for NULL. */
static void add_statistics(Table *t, const real *x, size_t n) {
    if (!x) {
        for (int i = 0; i < 4; i++) table_add_empty(t);
        return;
    }
    Statistics s;
    gather_statistics(n, x, &s);
    bool none = s.least > s.most;
    table_add_real(t, s.sum / (double)n);
    table_add_real(t, sqrt(s.squares / (double)n));
    table_add_real(t, none ? (double)NAN : s.least);
    table_add_real(t, none ? (double)NAN : s.most);
}

static void add_input_names(Table *t, const Tape *tape, const NodeInfo *info) {
    Str names;
    str_init(&names);
    for (int i = 0; i < 3; i++)
        if (info->in[i] != VID_NONE) str_addf(&names, "%s%s", names.len ? " " : "", tape_value_name(tape, info->in[i]));
    table_add_text(t, names.s);
    str_done(&names);
}

static void add_slice_names(Table *t, const Params *p, const NodeInfo *info) {
    Str names;
    str_init(&names);
    if (info->weight != SLICE_NONE) str_add(&names, p->slice[info->weight].name);
    if (info->bias != SLICE_NONE) str_addf(&names, "%s%s", names.len ? " " : "", p->slice[info->bias].name);
    table_add_text(t, names.s);
    str_done(&names);
}

static void add_op(Table *t, const Taught *taught, const Params *p, int node) {
    NodeInfo info = tape_node(taught->tape, node);
    int rows, cols;
    const real *x = tape_value(taught->tape, info.out, &rows, &cols);
    size_t n = (size_t)rows * (size_t)cols;
    table_add_int(t, node);
    table_add_text(t, info.name);
    table_add_text(t, info.op);
    table_add_int(t, rows);
    table_add_int(t, cols);
    add_input_names(t, taught->tape, &info);
    add_slice_names(t, p, &info);
    table_add_text(t, info.formula);
    add_statistics(t, x, n);
    add_statistics(t, taught->grad ? tape_grad(taught->tape, info.out) : NULL, n);
}

static void add_field(Snapshot *s, int node, const char *what, const real *x, int rows, int cols) {
    if (!x) return;
    Field *f = field_new(2, (const int[]){rows, cols}, "step.%d.%s", node, what);
    memcpy(f->x, x, field_count(f) * sizeof *x);
    snapshot_add_field(s, f);
}

static void add_fields_of(Snapshot *s, const Taught *taught, int node) {
    NodeInfo info = tape_node(taught->tape, node);
    int rows, cols;
    const real *x = tape_value(taught->tape, info.out, &rows, &cols);
    add_field(s, node, "value", x, rows, cols);
    add_field(s, node, "gradient", taught->grad ? tape_grad(taught->tape, info.out) : NULL, rows, cols);
}

static size_t count_values(const Tape *tape) {
    size_t n = 0;
    for (int node = 0; node < tape_nodes(tape); node++) {
        int rows, cols;
        (void)tape_value(tape, tape_node(tape, node).out, &rows, &cols);
        n += (size_t)rows * (size_t)cols;
    }
    return n;
}

/* --- the update --- */

SIMD_CLONES static double sum_of_squared_changes(size_t n, const real *x, const real *minus) {
    double squares[LANES] = {0};
    for (size_t i = 0; i < n / LANES * LANES; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double value = (double)x[i + (size_t)k] - (double)minus[i + (size_t)k];
            squares[k] += value * value;
        }
    for (size_t i = n / LANES * LANES; i < n; i++) {
        double value = (double)x[i] - (double)minus[i];
        squares[0] += value * value;
    }
    for (int k = 1; k < LANES; k++) squares[0] += squares[k];
    return squares[0];
}

SIMD_CLONES static double squares_of_tensor(size_t n, const real *x) {
    double squares[LANES] = {0};
    for (size_t i = 0; i < n / LANES * LANES; i += LANES)
        for (int k = 0; k < LANES; k++) squares[k] += (double)x[i + (size_t)k] * (double)x[i + (size_t)k];
    for (size_t i = n / LANES * LANES; i < n; i++) squares[0] += (double)x[i] * (double)x[i];
    for (int k = 1; k < LANES; k++) squares[0] += squares[k];
    return squares[0];
}

static double rms(const real *x, size_t n) {
    return sqrt(squares_of_tensor(n, x) / (double)n);
}

/* Of a slice that lies elsewhere, in whatever order. */
static double rms_of_view(const Params *p, int slice) {
    const Slice *s = &p->slice[slice];
    View v = params_view(p, slice);
    int lines = v.turned ? s->cols : s->rows, n = v.turned ? s->rows : s->cols;
    double squares = 0;
    for (int i = 0; i < lines; i++) {
        double line = rms(v.x + (size_t)i * (size_t)v.ld, (size_t)n);
        squares += line * line;
    }
    return sqrt(squares / lines);
}

/* Parameters that are only read: nothing has changed them, and of a large model not even their size is worked out. */
static void add_lent_tensor(Table *t, const Params *p, int slice) {
    table_add_text(t, p->slice[slice].name);
    table_add_int(t, (long long)slice_count(&p->slice[slice]));
    if (p->count <= LENT_MOST)
        table_add_real(t, rms_of_view(p, slice));
    else
        table_add_empty(t);
    for (int i = 0; i < 3; i++) table_add_empty(t);
}

static void add_tensor(Table *t, const Params *p, const Slice *slice, const RunUpdate *u) {
    const real *x = p->x + slice->at;
    size_t n = slice_count(slice);
    double theta = rms(x, n);
    table_add_text(t, slice->name);
    table_add_int(t, (long long)n);
    table_add_real(t, theta);
    if (!u) {
        for (int i = 0; i < 3; i++) table_add_empty(t);
        return;
    }
    double delta = sqrt(sum_of_squared_changes(n, x, u->before + slice->at) / (double)n);
    table_add_real(t, rms(u->grad + slice->at, n));
    table_add_real(t, delta);
    if (theta > 0)
        table_add_real(t, delta / theta);
    else
        table_add_empty(t);
}

static void add_tensors(Snapshot *s, const Scene *scene) {
    const Params *p = model_read_params(scene->model);
    Table *t = table_new("tensors", observe_step_tensor_columns);
    for (int i = 0; i < p->slices; i++) {
        if (p->view)
            add_lent_tensor(t, p, i);
        else
            add_tensor(t, p, &p->slice[i], scene->update);
    }
    snapshot_add_table(s, t);
}

/* --- all of it --- */

static void add_update_facts(Table *t, const RunUpdate *u) {
    if (!u) {
        for (int i = 0; i < 5; i++) table_add_empty(t);
        return;
    }
    table_add_int(t, u->step);
    table_add_text(t, u->adamw ? "adamw" : "sgd");
    table_add_real(t, u->learning_rate);
    table_add_real(t, u->grad_norm);
    table_add_real(t, u->clip_factor);
}

static void add_pass(Snapshot *s, const Scene *scene, const Taught *taught, size_t values, bool kept) {
    Table *t = table_new("pass", observe_step_pass_columns);
    if (taught->loss != VID_NONE)
        table_add_real(t, tape_scalar(taught->tape, taught->loss));
    else
        table_add_empty(t);
    table_add_int(t, scene->visible - 1);
    table_add_int(t, (long long)values);
    table_add_int(t, kept);
    add_update_facts(t, scene->update);
    snapshot_add_table(s, t);
}

/* The pass while its operations are gone through. */
typedef struct {
    Snapshot *snapshot;
    const Scene *scene;
    Table *ops;
    size_t values; /* of all operations */
} Seeing;

/* Numbers are kept of all operations or, where that is too much, of the one that is looked at. */
static void see_node(void *data, const Taught *t, int node) {
    Seeing *g = data;
    if (node == 0) g->values = count_values(t->tape);
    add_op(g->ops, t, model_read_params(g->scene->model), node);
    if (g->values <= KEPT_MOST || node == g->scene->operation) add_fields_of(g->snapshot, t, node);
}

void observe_step(Observers *o, const Scene *scene, Snapshot *s) {
    Seeing g = {s, scene, table_new("ops", observe_step_op_columns), 0};
    Taught taught = observers_taught(o, scene, see_node, &g);
    snapshot_add_table(s, g.ops);
    add_pass(s, scene, &taught, g.values, g.values <= KEPT_MOST);
    add_tensors(s, scene);
}

/* --- as a table --- */

static const Column values_columns[] = {
    {"op", COLUMN_INT, ""},     {"name", COLUMN_TEXT, ""},  {"row", COLUMN_INT, ""},       {"token", COLUMN_TEXT, ""},
    {"column", COLUMN_INT, ""}, {"value", COLUMN_REAL, ""}, {"gradient", COLUMN_REAL, ""}, {0}};

/* A row of a matrix is a token when there is one for each. */
static void add_token(Table *t, const Table *tokens, int row, int rows) {
    if (tokens && rows > 1 && row < table_rows(tokens))
        table_add_text(t, table_text(tokens, row, table_find(tokens, "token")));
    else
        table_add_empty(t);
}

Table *observe_step_values(const Snapshot *s, int op) {
    const Table *ops = snapshot_table(s, "ops"), *tokens = snapshot_table(s, "tokens");
    const Field *x = snapshot_field(s, "step.%d.value", op), *grad = snapshot_field(s, "step.%d.gradient", op);
    if (!ops || !x || op >= table_rows(ops)) return NULL;
    Table *t = table_new("values", values_columns);
    for (int row = 0; row < x->dim[0]; row++)
        for (int col = 0; col < x->dim[1]; col++) {
            table_add_int(t, op);
            table_add_text(t, table_text(ops, op, table_find(ops, "name")));
            table_add_int(t, row);
            add_token(t, tokens, row, x->dim[0]);
            table_add_int(t, col);
            table_add_real(t, (double)field_at(x, row, col, 0, 0));
            if (grad)
                table_add_real(t, (double)field_at(grad, row, col, 0, 0));
            else
                table_add_empty(t);
        }
    return t;
}
