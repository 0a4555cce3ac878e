/* op_shape: sums, factors, dropout and choices of rows.
 *   add:     y = a + b              da = dy, db = dy
 *   scale:   y = c x                dx = c dy
 *   dropout: y = x m, m = keep / (1 - p)   dx = dy m    (Srivastava et al. 2014; off outside training)
 *   rows:    y[i] = x[rows[i]]      dx[rows[i]] += dy[i]
 *   stop:    y = x                  no gradient */
#include "bug.h"
#include "op.h"
#include "rng.h"
#include "simd.h"

#include <stdio.h>
#include <string.h>

/* A row-wise walk over matrices of one shape: y = (add ? y : 0) + factor x. */
SIMD_CLONES static void copy_scaled(int rows, int cols, real factor, const real *x, int ldx, bool add, real *y,
                                    int ldy) {
    for (int r = 0; r < rows; r++, x += ldx, y += ldy) {
        if (add)
            for (int c = 0; c < cols; c++) y[c] += factor * x[c];
        else
            for (int c = 0; c < cols; c++) y[c] = factor * x[c];
    }
}

static void give_scaled(Tape *t, const Node *n, int input, real factor) {
    bool add;
    real *dx = op_grad(t, n->in[input], &add);
    const Value *v = &t->value[n->in[input]];
    if (dx) copy_scaled(v->rows, v->cols, factor, op_out_grad(t, n->out[0]), v->cols, add, dx, v->ld);
}

Vid tape_add(Tape *t, Vid a, Vid b) {
    BUG_ON(t->value[a].rows != t->value[b].rows || t->value[a].cols != t->value[b].cols);
    Node *n = op_record(t, OP_ADD);
    op_input(t, n, 0, a);
    op_input(t, n, 1, b);
    Vid y = op_output(t, n, t->value[a].rows, t->value[a].cols);
    op_wants_grad(t, n);
    return y;
}

SIMD_CLONES static void add_rows(int rows, int cols, const real *a, int lda, const real *b, int ldb, real *y) {
    for (int r = 0; r < rows; r++, a += lda, b += ldb, y += cols)
        for (int c = 0; c < cols; c++) y[c] = a[c] + b[c];
}

void op_add_forward(Tape *t, const Node *n) {
    const Value *a = &t->value[n->in[0]], *b = &t->value[n->in[1]];
    add_rows(a->rows, a->cols, op_x(t, n->in[0]), a->ld, op_x(t, n->in[1]), b->ld, op_x(t, n->out[0]));
}

void op_add_backward(Tape *t, const Node *n) {
    give_scaled(t, n, 0, 1);
    give_scaled(t, n, 1, 1);
}

static Node *record_same_shape(Tape *t, OpKind op, Vid x) {
    Node *n = op_record(t, op);
    op_input(t, n, 0, x);
    (void)op_output(t, n, t->value[x].rows, t->value[x].cols);
    op_wants_grad(t, n);
    return n;
}

Vid tape_scale(Tape *t, Vid x, double factor) {
    Node *n = record_same_shape(t, OP_SCALE, x);
    n->arg.number = factor;
    return n->out[0];
}

void op_scale_forward(Tape *t, const Node *n) {
    const Value *v = &t->value[n->in[0]];
    copy_scaled(v->rows, v->cols, (real)n->arg.number, op_x(t, n->in[0]), v->ld, false, op_x(t, n->out[0]), v->cols);
}

void op_scale_backward(Tape *t, const Node *n) {
    give_scaled(t, n, 0, (real)n->arg.number);
}

Vid tape_dropout(Tape *t, Vid x, double p) {
    BUG_ON(!(p >= 0 && p < 1));
    Node *n = record_same_shape(t, OP_DROPOUT, x);
    n->arg.number = p;
    if (t->mode == TAPE_TRAIN) n->keep[0] = op_keep(t, (size_t)t->value[x].rows * (size_t)t->value[x].cols);
    return n->out[0];
}

/* The factors m [R x cols] of this node in this step: from (seed, "dropout.<node>", step), so any step can be repeated.
 */
static void draw_factors(Tape *t, const Node *n) {
    char stream[32];
    (void)snprintf(stream, sizeof stream, "dropout.%d", t->value[n->out[0]].node);
    Rng rng = rng_at(t->seed, stream, t->step);
    const Value *v = &t->value[n->in[0]];
    size_t count = (size_t)v->rows * (size_t)v->cols;
    real *m = t->arena + n->keep[0], kept = (real)(1 / (1 - n->arg.number));
    for (size_t i = 0; i < count; i++) m[i] = rng_unit(&rng) < n->arg.number ? 0 : kept;
}

SIMD_CLONES static void multiply(int rows, int cols, const real *x, int ldx, const real *m, bool add, real *y,
                                 int ldy) {
    for (int r = 0; r < rows; r++, x += ldx, m += cols, y += ldy)
        for (int c = 0; c < cols; c++) y[c] = add ? y[c] + x[c] * m[c] : x[c] * m[c];
}

void op_dropout_forward(Tape *t, const Node *n) {
    const Value *v = &t->value[n->in[0]];
    const real *x = op_x(t, n->in[0]);
    real *y = op_x(t, n->out[0]);
    if (t->mode != TAPE_TRAIN) {
        copy_scaled(v->rows, v->cols, 1, x, v->ld, false, y, v->cols);
        return;
    }
    draw_factors(t, n);
    multiply(v->rows, v->cols, x, v->ld, t->arena + n->keep[0], false, y, v->cols);
}

void op_dropout_backward(Tape *t, const Node *n) {
    if (t->mode != TAPE_TRAIN) {
        give_scaled(t, n, 0, 1);
        return;
    }
    const Value *v = &t->value[n->in[0]];
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    if (dx) multiply(v->rows, v->cols, op_out_grad(t, n->out[0]), v->cols, t->arena + n->keep[0], add, dx, v->ld);
}

Vid tape_rows(Tape *t, Vid x, const int *rows, int count) {
    BUG_ON(count < 1);
    Node *n = op_record(t, OP_ROWS);
    op_input(t, n, 0, x);
    n->arg.count = count;
    memcpy(op_integers(t, (size_t)count, &n->integers), rows, (size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++) BUG_ON(rows[i] < 0 || rows[i] >= t->value[x].rows);
    Vid y = op_output(t, n, count, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

void op_rows_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const int *row = t->integer + n->integers;
    for (int i = 0; i < n->arg.count; i++)
        memcpy(op_x(t, n->out[0]) + (size_t)i * (size_t)in->cols, op_x(t, n->in[0]) + (size_t)row[i] * (size_t)in->ld,
               (size_t)in->cols * sizeof(real));
}

void op_rows_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const int *row = t->integer + n->integers;
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    if (!dx) return;
    for (int r = 0; r < in->rows && !add; r++)
        memset(dx + (size_t)r * (size_t)in->ld, 0, (size_t)in->cols * sizeof(real));
    for (int i = 0; i < n->arg.count; i++)
        copy_scaled(1, in->cols, 1, op_out_grad(t, n->out[0]) + (size_t)i * (size_t)in->cols, in->cols, true,
                    dx + (size_t)row[i] * (size_t)in->ld, in->ld);
}

Vid tape_stop(Tape *t, Vid x) {
    Node *n = record_same_shape(t, OP_STOP, x);
    t->value[n->out[0]].wants_grad = false;
    return n->out[0];
}

void op_stop_forward(Tape *t, const Node *n) {
    const Value *v = &t->value[n->in[0]];
    copy_scaled(v->rows, v->cols, 1, op_x(t, n->in[0]), v->ld, false, op_x(t, n->out[0]), v->cols);
}

void op_stop_backward(Tape *t, const Node *n) {
    (void)t, (void)n;
}
