/* op_linear: y = x W^T + b.
 *   dx = dy W        dW += dy^T x        db += sum over rows of dy
 * Weights that lie one after the other make one product whose outputs are parts of one matrix. */
#include "bug.h"
#include "gemm.h"
#include "op.h"
#include "simd.h"

#include <string.h>

static int columns(const Tape *t, const Node *n) {
    int cols = 0;
    for (int i = 0; i < n->outputs; i++) cols += t->value[n->out[i]].cols;
    return cols;
}

static void check(const Tape *t, Vid x, int weight, int bias) {
    BUG_ON(t->params->slice[weight].cols != t->value[x].cols);
    BUG_ON(bias != SLICE_NONE && t->params->slice[bias].cols != t->params->slice[weight].rows);
}

Vid tape_linear(Tape *t, Vid x, int weight, int bias) {
    Node *n = op_record(t, OP_LINEAR);
    op_input(t, n, 0, x);
    check(t, x, weight, bias);
    n->weight = weight;
    n->bias = bias;
    Vid y = op_output(t, n, t->value[x].rows, t->params->slice[weight].rows);
    op_wants_grad(t, n);
    return y;
}

static bool one_bias(const Params *p, int bias, int parts) {
    if (bias == SLICE_NONE) return true;
    for (int i = 0; i < parts; i++)
        if (p->slice[bias + i].frozen != p->slice[bias].frozen) return false;
    return true;
}

void tape_linear_parts(Tape *t, Vid x, int weight, int bias, int parts, Vid *out) {
    const Params *p = t->params;
    BUG_ON(parts < 1 || parts > NODE_OUTPUTS);
    if (t->mode == TAPE_PROBE || !params_adjacent(p, weight, parts) || !one_bias(p, bias, parts)) {
        for (int i = 0; i < parts; i++) out[i] = tape_linear(t, x, weight + i, bias == SLICE_NONE ? bias : bias + i);
        return;
    }
    int cols = 0;
    for (int i = 0; i < parts; i++) cols += p->slice[weight + i].rows;
    Vid whole = op_matrix(t, t->value[x].rows, cols);
    Node *n = op_record(t, OP_LINEAR);
    op_input(t, n, 0, x);
    n->weight = weight;
    n->bias = bias;
    for (int i = 0, at = 0; i < parts; at += p->slice[weight + i++].rows) {
        check(t, x, weight + i, bias == SLICE_NONE ? bias : bias + i);
        out[i] = op_output_part(t, n, whole, at, p->slice[weight + i].rows);
    }
    op_wants_grad(t, n);
}

void op_linear_forward(Tape *t, const Node *n) {
    const Value *x = &t->value[n->in[0]];
    int cols = columns(t, n), rows = x->rows;
    real *y = op_x(t, n->out[0]); /* [R x out] */
    if (n->bias != SLICE_NONE) {
        const real *b = op_param(t, n->bias); /* [out] */
        for (int r = 0; r < rows; r++) memcpy(y + (size_t)r * (size_t)cols, b, (size_t)cols * sizeof *y);
    }
    View w = params_view(t->params, n->weight); /* [out x in]; turned it is W^T that lies there */
    gemm(w.turned ? GEMM_NN : GEMM_NT, rows, cols, x->cols, 1, op_x(t, n->in[0]), x->ld, w.x, w.ld,
         n->bias == SLICE_NONE ? 0 : 1, y, cols);
}

/* db [cols] (+)= sum over rows of dy [rows x cols]. */
SIMD_CLONES static void sum_rows(int rows, int cols, const real *dy, bool add, real *db) {
    if (!add) memset(db, 0, (size_t)cols * sizeof *db);
    for (int r = 0; r < rows; r++, dy += cols)
        for (int c = 0; c < cols; c++) db[c] += dy[c];
}

/* A part that nothing depends on has no gradient yet: 0. */
static void clear_unused(Tape *t, const Node *n) {
    for (int i = 0; i < n->outputs; i++) {
        const Value *v = &t->value[n->out[i]];
        if (v->has_grad) continue;
        for (int r = 0; r < v->rows; r++)
            memset(t->grad_arena + v->grad + (size_t)r * (size_t)v->ld, 0, (size_t)v->cols * sizeof(real));
    }
}

/* The gradient of the slices first .. first+outputs-1, which are one matrix. Another node may have written to some of
 * them: then the rest is cleared and the product adds to all. */
static real *parts_grad(Tape *t, const Node *n, int first, bool *add) {
    bool fresh[NODE_OUTPUTS] = {false}, part_add = false;
    real *g = NULL;
    *add = false;
    for (int i = 0; i < n->outputs; i++) {
        real *part = op_param_grad(t, first + i, &part_add);
        if (i == 0) g = part;
        fresh[i] = !part_add;
        *add = *add || part_add;
    }
    for (int i = 0; g && *add && i < n->outputs; i++) {
        const Slice *s = &t->params->slice[first + i];
        if (fresh[i]) memset(t->param_grad + s->at, 0, slice_count(s) * sizeof *g);
    }
    return g;
}

void op_linear_backward(Tape *t, const Node *n) {
    const Value *x = &t->value[n->in[0]];
    int cols = columns(t, n), rows = x->rows;
    const real *dy = op_out_grad(t, n->out[0]); /* [R x out] */
    bool add;
    clear_unused(t, n);
    real *dw = parts_grad(t, n, n->weight, &add); /* [out x in] */
    if (dw) gemm(GEMM_TN, cols, x->cols, rows, 1, dy, cols, op_x(t, n->in[0]), x->ld, add, dw, x->cols);
    real *db = n->bias == SLICE_NONE ? NULL : parts_grad(t, n, n->bias, &add);
    if (db) sum_rows(rows, cols, dy, add, db);
    real *dx = op_grad(t, n->in[0], &add); /* [R x in] */
    View w = params_view(t->params, n->weight);
    if (dx) gemm(w.turned ? GEMM_NT : GEMM_NN, rows, x->cols, cols, 1, dy, cols, w.x, w.ld, add, dx, x->ld);
}
