/* op_norm: layer norm (Ba et al. 2016) and RMS norm (Zhang and Sennrich 2019) over groups of columns.
 *   u = (x - mean) / s, s = sqrt(var + eps)    or    u = x / s, s = sqrt(mean(x^2) + eps)
 *   y = u g + b
 *   du = dy g;   dx = (du - mean(du) - u mean(du u)) / s    (RMS: without mean(du))
 *   dg += sum of dy u;   db += sum of dy
 * Kept per group: mean and 1/s. */
#include "bug.h"
#include "op.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

Vid tape_norm(Tape *t, Vid x, NormKind kind, int gain, int bias, int group, double eps) {
    int rows = t->value[x].rows, cols = t->value[x].cols;
    if (group == 0) group = cols;
    BUG_ON(kind == NORM_NONE || cols % group || (kind == NORM_RMS && bias != SLICE_NONE));
    BUG_ON(gain != SLICE_NONE && t->params->slice[gain].cols != group);
    Node *n = op_record(t, OP_NORM);
    op_input(t, n, 0, x);
    n->weight = gain;
    n->bias = bias;
    n->arg.norm.kind = kind;
    n->arg.norm.group = group;
    n->arg.norm.eps = eps;
    n->keep[0] = op_keep(t, 2 * (size_t)rows * (size_t)(cols / group));
    op_scratch(t, (size_t)group);
    Vid y = op_output(t, n, rows, cols);
    op_wants_grad(t, n);
    return y;
}

SIMD_INLINE real sum_of(int n, const real *x) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

SIMD_INLINE real sum_of_squares(int n, const real *x, real mean) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/* One group: kept[0] = mean, kept[1] = 1/s. */
SIMD_CLONES static void forward_group(int n, const real *x, NormKind kind, real eps, const real *gain, const real *bias,
                                      real *kept, real *y) {
    real mean = kind == NORM_LAYER ? sum_of(n, x) / (real)n : 0;
    real inverse = (real)1 / scalar_sqrt(sum_of_squares(n, x, mean) / (real)n + eps);
    kept[0] = mean;
    kept[1] = inverse;
    if (gain && bias) {
        for (int i = 0; i < n; i++) y[i] = (x[i] - mean) * inverse * gain[i] + bias[i];
    } else if (gain) {
        for (int i = 0; i < n; i++) y[i] = (x[i] - mean) * inverse * gain[i];
    } else {
        for (int i = 0; i < n; i++) y[i] = (x[i] - mean) * inverse;
    }
}

void op_norm_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    int group = n->arg.norm.group;
    const real *gain = n->weight == SLICE_NONE ? NULL : op_param(t, n->weight); /* [group] */
    const real *bias = n->bias == SLICE_NONE ? NULL : op_param(t, n->bias);
    real *kept = t->arena + n->keep[0], *y = op_x(t, n->out[0]); /* y [R x cols] */
    for (int r = 0; r < in->rows; r++) {
        const real *x = op_x(t, n->in[0]) + (size_t)r * (size_t)in->ld;
        for (int c = 0; c < in->cols; c += group, kept += 2, y += group)
            forward_group(group, x + c, n->arg.norm.kind, (real)n->arg.norm.eps, gain, bias, kept, y);
    }
}

typedef struct {
    NormKind kind;
    int n;
    const real *gain;    /* [n] or NULL */
    real *dgain, *dbias; /* [n] or NULL: added to */
    real *u;             /* [n] scratch */
} NormBack;

SIMD_INLINE void add_param_grads(const NormBack *b, const real *dy) {
    if (b->dgain)
        for (int i = 0; i < b->n; i++) b->dgain[i] += dy[i] * b->u[i];
    if (b->dbias)
        for (int i = 0; i < b->n; i++) b->dbias[i] += dy[i];
}

SIMD_CLONES static void backward_group(const NormBack *b, const real *x, const real *kept, const real *dy, bool add,
                                       real *dx) {
    int n = b->n;
    real *u = b->u, mean = kept[0], inverse = kept[1], sum = 0, dot = 0;
    for (int i = 0; i < n; i++) u[i] = (x[i] - mean) * inverse;
    add_param_grads(b, dy);
    if (!dx) return;
#pragma omp simd reduction(+ : sum, dot)
    for (int i = 0; i < n; i++) {
        real du = b->gain ? dy[i] * b->gain[i] : dy[i];
        sum += du;
        dot += du * u[i];
    }
    real shift = b->kind == NORM_LAYER ? sum / (real)n : 0, slope = dot / (real)n;
    for (int i = 0; i < n; i++) {
        real du = b->gain ? dy[i] * b->gain[i] : dy[i];
        real d = (du - shift - u[i] * slope) * inverse;
        dx[i] = add ? dx[i] + d : d;
    }
}

/* The slice's gradient, cleared when this is its first writer, so that groups can add. */
static real *cleared_grad(Tape *t, int slice) {
    bool add;
    real *g = op_param_grad(t, slice, &add);
    if (g && !add) memset(g, 0, slice_count(&t->params->slice[slice]) * sizeof *g);
    return g;
}

void op_norm_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    bool add = false;
    real *dx = op_grad(t, n->in[0], &add);
    NormBack b = {.kind = n->arg.norm.kind,
                  .n = n->arg.norm.group,
                  .gain = n->weight == SLICE_NONE ? NULL : op_param(t, n->weight),
                  .dgain = cleared_grad(t, n->weight),
                  .dbias = cleared_grad(t, n->bias),
                  .u = t->scratch};
    const real *kept = t->arena + n->keep[0], *dy = op_out_grad(t, n->out[0]);
    for (int r = 0; r < in->rows; r++) {
        size_t at = (size_t)r * (size_t)in->ld;
        for (int c = 0; c < in->cols; c += b.n, kept += 2, dy += b.n)
            backward_group(&b, op_x(t, n->in[0]) + at + c, kept, dy, add, dx ? dx + at + c : NULL);
    }
}
