/* op_norm: layer norm (Ba et al. 2016) and RMS norm (Zhang and Sennrich 2019) over groups of columns.
 *   u = (x - mean) / s, s = sqrt(var + eps)    or    u = x / s, s = sqrt(mean(x^2) + eps)
 *   y = u g + b
 *   du = dy g;   dx = (du - mean(du) - u mean(du u)) / s    (RMS: without mean(du))
 *   dg += sum of dy u;   db += sum of dy
 * Kept per group for backward: mean and 1/s. */
#include "bug.h"
#include "op.h"
#include "simd.h"
#include "vmath_scalar.h"

#include <string.h>

/* Rows of the scratch: u and du of a group; a gain of ones and a bias of zeros where there is none; where gradients go
 * that nobody wants, those of a whole row of x last. So the loops have no cases inside. */
enum { SPARE_U, SPARE_DU, SPARE_GAIN, SPARE_BIAS, SPARE_GRAD, SPARE_ROWS };
enum { KEPT = 2 }; /* numbers of a group */

const char *op_norm_formula(const Node *n) {
    return n->arg.norm.kind == NORM_RMS ? "y = x / sqrt(mean(x^2) + eps) * g" : op_info(OP_NORM)->formula;
}

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
    n->keep[0] = op_keep_for_backward(t, KEPT * (size_t)rows * (size_t)(cols / group));
    op_scratch(t, SPARE_ROWS * (size_t)group + (size_t)cols);
    Vid y = op_output(t, n, rows, cols);
    op_wants_grad(t, n);
    return y;
}

/* A matrix in groups of n columns, and what every group is worked on with. */
typedef struct {
    int rows, cols, ldx, n;
    const real *x, *gain, *bias; /* [rows x cols], [n], [n] */
    real *kept;                  /* mean and 1/s of each group; NULL: they are not kept */
    real *u, *du;                /* [n] scratch */
} Groups;

static Groups groups_of(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    int size = n->arg.norm.group;
    real *gain = t->scratch + SPARE_GAIN * (size_t)size, *bias = t->scratch + SPARE_BIAS * (size_t)size;
    for (int i = 0; i < size; i++) {
        gain[i] = 1;
        bias[i] = 0;
    }
    return (Groups){.rows = in->rows,
                    .cols = in->cols,
                    .ldx = in->ld,
                    .n = size,
                    .x = op_x(t, n->in[0]),
                    .gain = n->weight == SLICE_NONE ? gain : op_param(t, n->weight),
                    .bias = n->bias == SLICE_NONE ? bias : op_param(t, n->bias),
                    .kept = op_has_backward(t) ? t->arena + n->keep[0] : NULL,
                    .u = t->scratch,
                    .du = t->scratch + SPARE_DU * (size_t)size};
}

/* --- forward --- */

/* LAYER is a constant where this is inlined, as below. */
SIMD_INLINE void forward_as(bool layer, const Groups *g, real eps, real *y) {
    const real *gain = g->gain, *bias = g->bias;
    real *kept = g->kept;
    int n = g->n;
    for (int r = 0; r < g->rows; r++) {
        const real *x = g->x + (size_t)r * (size_t)g->ldx;
        for (int c = 0; c < g->cols; c += n, x += n, y += n) {
            real mean = layer ? row_sum(n, x) / (real)n : 0;
            SIMD_LOOP for (int i = 0; i < n; i++) y[i] = layer ? x[i] - mean : x[i];
            real inverse = (real)1 / scalar_sqrt(row_dot(n, y, y) / (real)n + eps);
            if (kept) {
                kept[0] = mean;
                kept[1] = inverse;
                kept += KEPT;
            }
            SIMD_LOOP for (int i = 0; i < n; i++) {
                real u = y[i] * inverse * gain[i];
                y[i] = layer ? u + bias[i] : u;
            }
        }
    }
}

SIMD_CLONES static void norm_forward(bool layer, const Groups *g, real eps, real *y) {
    if (layer)
        forward_as(true, g, eps, y);
    else
        forward_as(false, g, eps, y);
}

void op_norm_forward(Tape *t, const Node *n) {
    Groups g = groups_of(t, n);
    norm_forward(n->arg.norm.kind == NORM_LAYER, &g, (real)n->arg.norm.eps, op_x(t, n->out[0]));
}

/* --- backward --- */

typedef struct {
    const real *dy; /* [rows x cols] */
    real *dx;       /* [rows x cols], a row begins lddx numbers after the one before */
    int lddx;
    real *dgain, *dbias; /* [n]: added to */
} NormGrads;

SIMD_INLINE void backward_as(bool layer, bool add, const Groups *g, const NormGrads *d) {
    const real *gain = g->gain, *dy = d->dy, *kept = g->kept;
    real *dgain = d->dgain, *dbias = d->dbias, *u = g->u, *du = g->du;
    int n = g->n;
    for (int r = 0; r < g->rows; r++) {
        const real *x = g->x + (size_t)r * (size_t)g->ldx;
        real *dx = d->dx + (size_t)r * (size_t)d->lddx;
        for (int c = 0; c < g->cols; c += n, x += n, dx += n, dy += n, kept += KEPT) {
            real mean = kept[0], inverse = kept[1];
            SIMD_LOOP for (int i = 0; i < n; i++) {
                u[i] = (x[i] - mean) * inverse;
                du[i] = dy[i] * gain[i];
                dgain[i] += dy[i] * u[i];
            }
            if (layer) SIMD_LOOP for (int i = 0; i < n; i++) dbias[i] += dy[i];
            real shift = layer ? row_sum(n, du) / (real)n : 0, slope = row_dot(n, du, u) / (real)n;
            SIMD_LOOP for (int i = 0; i < n; i++) {
                real di = (du[i] - shift - u[i] * slope) * inverse;
                dx[i] = add ? dx[i] + di : di;
            }
        }
    }
}

SIMD_CLONES static void norm_backward(bool layer, bool add, const Groups *g, const NormGrads *d) {
    if (layer && add)
        backward_as(true, true, g, d);
    else if (layer)
        backward_as(true, false, g, d);
    else if (add)
        backward_as(false, true, g, d);
    else
        backward_as(false, false, g, d);
}

/* The slice's gradient, cleared when this is its first writer, so that groups can add; a spare row when nobody wants
 * it. */
static real *cleared_grad(Tape *t, int slice, int group) {
    bool add;
    real *g = op_param_grad(t, slice, &add);
    if (!g) return t->scratch + SPARE_GRAD * (size_t)group;
    if (!add) memset(g, 0, slice_count(&t->params->slice[slice]) * sizeof *g);
    return g;
}

void op_norm_backward(Tape *t, const Node *n) {
    Groups g = groups_of(t, n);
    bool add = false;
    real *dx = op_grad(t, n->in[0], &add);
    NormGrads d = {.dy = op_out_grad(t, n->out[0]),
                   .dx = dx ? dx : t->scratch + SPARE_ROWS * (size_t)g.n,
                   .lddx = dx ? g.ldx : 0,
                   .dgain = cleared_grad(t, n->weight, g.n),
                   .dbias = cleared_grad(t, n->bias, g.n)};
    norm_backward(n->arg.norm.kind == NORM_LAYER, add, &g, &d);
}
