/* op_loss: what is made small.
 *   cross_entropy: y = 1/N sum over rows with a target of (log Z - x[target] + z (log Z)^2),  Z = sum of exp(x)
 *                  dx = (p (1 + 2 z log Z) - [j = target]) / N,  p = exp(x) / Z      (z-loss: Chowdhery et al. 2022)
 *   mse:           y = mean((a - b)^2),  da = 2 (a - b) / count,  db = -da */
#include "bug.h"
#include "op.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

/* Kept of a row for backward: p[j] = exp(x[j] - most) inverse. The probabilities themselves are as many as the logits
 * and are made again there. */
typedef struct {
    real most, inverse, log_z;
} RowSum;

Vid tape_cross_entropy(Tape *t, Vid logits, double z_loss, double denominator) {
    const Value *x = &t->value[logits];
    BUG_ON(x->rows != t->rows || x->ld != x->cols);
    Node *n = op_record(t, OP_CROSS_ENTROPY);
    op_input(t, n, 0, logits);
    n->arg.loss.z_loss = z_loss;
    n->arg.loss.denominator = denominator > 0 ? denominator : t->batch->targets > 0 ? t->batch->targets : 1;
    n->keep[0] = op_keep_for_backward(t, sizeof(RowSum) / sizeof(real) * (size_t)x->rows);
    op_scratch(t, (size_t)x->cols);
    Vid y = op_output(t, n, 1, 1);
    op_wants_grad(t, n);
    return y;
}

SIMD_CLONES static RowSum sum_row(int n, const real *x, real *room) {
    real most = row_max(n, x), sum = row_exp(n, x, most, room);
    return (RowSum){most, (real)1 / sum, most + (real)log((double)sum)};
}

static RowSum *row_sums(const Tape *t, const Node *n) {
    return (RowSum *)(t->arena + n->keep[0]);
}

void op_cross_entropy_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const real *x = op_x(t, n->in[0]); /* [R x V] */
    RowSum *kept = op_has_backward(t) ? row_sums(t, n) : NULL;
    double sum = 0;
    for (int r = 0; r < in->rows; r++, x += in->cols) {
        int target = t->batch->target[r];
        if (target == TARGET_NONE) continue;
        BUG_ON(target < 0 || target >= in->cols);
        RowSum row = sum_row(in->cols, x, t->scratch);
        double z = (double)row.log_z;
        if (kept) kept[r] = row;
        sum += z - (double)x[target] + n->arg.loss.z_loss * z * z;
    }
    Value *y = &t->value[n->out[0]];
    y->scalar = sum / n->arg.loss.denominator;
    *op_x(t, n->out[0]) = (real)y->scalar;
}

/* dx (+)= factor p */
SIMD_CLONES static void loss_row(int n, const real *x, RowSum row, real factor, bool add, real *dx) {
    if (add)
        SIMD_LOOP for (int i = 0; i < n; i++) dx[i] += factor * (scalar_exp(x[i] - row.most) * row.inverse);
    else
        SIMD_LOOP for (int i = 0; i < n; i++) dx[i] = factor * (scalar_exp(x[i] - row.most) * row.inverse);
}

void op_cross_entropy_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    bool add;
    real *dx = op_grad(t, n->in[0], &add); /* [R x V] */
    if (!dx) return;
    const real *x = op_x(t, n->in[0]);
    const RowSum *row = row_sums(t, n);
    real share = *op_out_grad(t, n->out[0]) / (real)n->arg.loss.denominator, z = (real)n->arg.loss.z_loss;
    for (int r = 0; r < in->rows; r++, dx += in->cols, x += in->cols) {
        int target = t->batch->target[r];
        if (target == TARGET_NONE) {
            if (!add) memset(dx, 0, (size_t)in->cols * sizeof *dx);
            continue;
        }
        loss_row(in->cols, x, row[r], share * ((real)1 + (real)2 * z * row[r].log_z), add, dx);
        dx[target] -= share;
    }
}

Vid tape_mse(Tape *t, Vid x, Vid y) {
    const Value *a = &t->value[x], *b = &t->value[y];
    BUG_ON(a->rows != b->rows || a->cols != b->cols || a->ld != a->cols || b->ld != b->cols);
    Node *n = op_record(t, OP_MSE);
    op_input(t, n, 0, x);
    op_input(t, n, 1, y);
    Vid out = op_output(t, n, 1, 1);
    op_wants_grad(t, n);
    return out;
}

void op_mse_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const real *a = op_x(t, n->in[0]), *b = op_x(t, n->in[1]);
    size_t count = (size_t)in->rows * (size_t)in->cols;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    Value *y = &t->value[n->out[0]];
    y->scalar = sum / (double)count;
    *op_x(t, n->out[0]) = (real)y->scalar;
}

void op_mse_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const real *a = op_x(t, n->in[0]), *b = op_x(t, n->in[1]);
    size_t count = (size_t)in->rows * (size_t)in->cols;
    real factor = (real)2 / (real)count * *op_out_grad(t, n->out[0]);
    for (int input = 0; input < 2; input++) {
        bool add;
        real *d = op_grad(t, n->in[input], &add), sign = input == 0 ? factor : -factor;
        for (size_t i = 0; d && i < count; i++) d[i] = (add ? d[i] : 0) + sign * (a[i] - b[i]);
    }
}
