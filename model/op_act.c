/* op_act: functions number by number.
 *   act:     y = f(x)               dx = dy f'(x)
 *   glu:     y = f(gate) up         dgate = dy up f'(gate),  dup = dy f(gate)   (Shazeer 2020)
 *   softcap: y = c tanh(x/c)        dx = dy (1 - (y/c)^2)                       (Gemma 2) */
#include "bug.h"
#include "op.h"
#include "simd.h"
#include "vmath_scalar.h"

#define FOR_EACH_KIND(X)                                                                                               \
    X(ACT_RELU, relu)                                                                                                  \
    X(ACT_GELU, gelu)                                                                                                  \
    X(ACT_GELU_TANH, gelu_tanh)                                                                                        \
    X(ACT_SILU, silu)                                                                                                  \
    X(ACT_SQUARED_RELU, squared_relu)                                                                                  \
    X(ACT_TANH, tanh)                                                                                                  \
    X(ACT_SIGMOID, sigmoid)

/* --- act --- */

/* Kept for backward: f'(x), which falls off while f(x) is worked out, so that backward needs no exp. */
Vid tape_act(Tape *t, Vid x, ActKind kind) {
    Node *n = op_record(t, OP_ACT);
    op_input(t, n, 0, x);
    n->arg.act = kind;
    n->keep[0] = op_keep_for_backward(t, (size_t)t->value[x].rows * (size_t)t->value[x].cols);
    Vid y = op_output(t, n, t->value[x].rows, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

#define ACT_ROW(kind, name)                                                                                            \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real d;                                                                                                    \
            y[i] = scalar_##name##_slope(x[i], &d);                                                                    \
            slope[i] = d;                                                                                              \
        }                                                                                                              \
        break;

/* The same where nobody wants the slope: the compiler drops it. */
#define ACT_ONLY_ROW(kind, name)                                                                                       \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real d;                                                                                                    \
            y[i] = scalar_##name##_slope(x[i], &d);                                                                    \
        }                                                                                                              \
        break;

SIMD_CLONES static void act_row(ActKind kind, int n, const real *x, real *y, real *slope) {
    switch (kind) { FOR_EACH_KIND(ACT_ROW) }
}

SIMD_CLONES static void act_only_row(ActKind kind, int n, const real *x, real *y) {
    switch (kind) { FOR_EACH_KIND(ACT_ONLY_ROW) }
}

/* y (+)= a b */
SIMD_CLONES static void multiply_row(int n, const real *a, const real *b, bool add, real *y) {
    if (add)
        SIMD_LOOP for (int i = 0; i < n; i++) y[i] += a[i] * b[i];
    else
        SIMD_LOOP for (int i = 0; i < n; i++) y[i] = a[i] * b[i];
}

void op_act_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const real *x = op_x(t, n->in[0]);
    real *y = op_x(t, n->out[0]), *slope = t->arena + n->keep[0];
    bool kept = op_has_backward(t);
    for (int r = 0; r < in->rows; r++, x += in->ld, y += in->cols) {
        if (kept)
            act_row(n->arg.act, in->cols, x, y, slope + (size_t)r * (size_t)in->cols);
        else
            act_only_row(n->arg.act, in->cols, x, y);
    }
}

void op_act_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    const real *dy = op_out_grad(t, n->out[0]), *slope = t->arena + n->keep[0];
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    for (int r = 0; dx && r < in->rows; r++, dx += in->ld, dy += in->cols, slope += in->cols)
        multiply_row(in->cols, dy, slope, add, dx);
}

/* --- glu --- */

/* Kept for backward: f(gate) and f'(gate). */
Vid tape_glu(Tape *t, Vid gate, Vid up, ActKind kind) {
    BUG_ON(gate == up || t->value[gate].rows != t->value[up].rows || t->value[gate].cols != t->value[up].cols);
    size_t count = (size_t)t->value[gate].rows * (size_t)t->value[gate].cols;
    Node *n = op_record(t, OP_GLU);
    op_input(t, n, 0, gate);
    op_input(t, n, 1, up);
    n->arg.act = kind;
    n->keep[0] = op_keep_for_backward(t, count);
    n->keep[1] = op_keep_for_backward(t, count);
    Vid y = op_output(t, n, t->value[gate].rows, t->value[gate].cols);
    op_scratch(t, 2 * (size_t)t->value[gate].cols);
    op_wants_grad(t, n);
    return y;
}

#define GLU_ROW(kind, name)                                                                                            \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real d, f = scalar_##name##_slope(gate[i], &d);                                                            \
            y[i] = f * up[i];                                                                                          \
            value[i] = f;                                                                                              \
            slope[i] = d;                                                                                              \
        }                                                                                                              \
        break;

#define GLU_ONLY_ROW(kind, name)                                                                                       \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real d;                                                                                                    \
            y[i] = scalar_##name##_slope(gate[i], &d) * up[i];                                                         \
        }                                                                                                              \
        break;

SIMD_CLONES static void glu_row(ActKind kind, int n, const real *gate, const real *up, real *y, real *value,
                                real *slope) {
    switch (kind) { FOR_EACH_KIND(GLU_ROW) }
}

SIMD_CLONES static void glu_only_row(ActKind kind, int n, const real *gate, const real *up, real *y) {
    switch (kind) { FOR_EACH_KIND(GLU_ONLY_ROW) }
}

SIMD_CLONES static void glu_row_grads(int n, const real *dy, const real *up, const real *value, const real *slope,
                                      real *dgate, real *dup) {
    SIMD_LOOP for (int i = 0; i < n; i++) {
        dgate[i] = dy[i] * up[i] * slope[i];
        dup[i] = dy[i] * value[i];
    }
}

void op_glu_forward(Tape *t, const Node *n) {
    const Value *gate = &t->value[n->in[0]], *up = &t->value[n->in[1]];
    int cols = gate->cols;
    bool kept = op_has_backward(t);
    for (int r = 0; r < gate->rows; r++) {
        size_t at = (size_t)r * (size_t)cols;
        const real *g = op_x(t, n->in[0]) + (size_t)r * (size_t)gate->ld;
        const real *u = op_x(t, n->in[1]) + (size_t)r * (size_t)up->ld;
        real *y = op_x(t, n->out[0]) + at;
        if (kept)
            glu_row(n->arg.act, cols, g, u, y, t->arena + n->keep[0] + at, t->arena + n->keep[1] + at);
        else
            glu_only_row(n->arg.act, cols, g, u, y);
    }
}

SIMD_CLONES static void add_row(int n, const real *x, real *y) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}

/* Where nobody wants a gradient, or where it must be added, the row is worked out in the scratch. */
void op_glu_backward(Tape *t, const Node *n) {
    const Value *gate = &t->value[n->in[0]], *up = &t->value[n->in[1]];
    bool add_gate = false, add_up = false;
    real *dgate = op_grad(t, n->in[0], &add_gate), *dup = op_grad(t, n->in[1], &add_up);
    int cols = gate->cols;
    for (int r = 0; r < gate->rows; r++) {
        size_t at = (size_t)r * (size_t)cols, at_gate = (size_t)r * (size_t)gate->ld,
               at_up = (size_t)r * (size_t)up->ld;
        real *to_gate = dgate && !add_gate ? dgate + at_gate : t->scratch;
        real *to_up = dup && !add_up ? dup + at_up : t->scratch + cols;
        glu_row_grads(cols, op_out_grad(t, n->out[0]) + at, op_x(t, n->in[1]) + at_up, t->arena + n->keep[0] + at,
                      t->arena + n->keep[1] + at, to_gate, to_up);
        if (add_gate) add_row(cols, to_gate, dgate + at_gate);
        if (add_up) add_row(cols, to_up, dup + at_up);
    }
}

/* --- softcap --- */

Vid tape_softcap(Tape *t, Vid x, double cap) {
    BUG_ON(!(cap > 0) || t->value[x].ld != t->value[x].cols);
    Node *n = op_record(t, OP_SOFTCAP);
    op_input(t, n, 0, x);
    n->arg.number = cap;
    Vid y = op_output(t, n, t->value[x].rows, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

SIMD_CLONES static void cap_values(int n, real cap, const real *x, real *y) {
    for (int i = 0; i < n; i++) y[i] = cap * scalar_tanh(x[i] / cap);
}

SIMD_CLONES static void cap_grads(int n, real cap, const real *y, const real *dy, bool add, real *dx) {
    for (int i = 0; i < n; i++) {
        real share = y[i] / cap, d = dy[i] * ((real)1 - share * share);
        dx[i] = add ? dx[i] + d : d;
    }
}

void op_softcap_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    cap_values(in->rows * in->cols, (real)n->arg.number, op_x(t, n->in[0]), op_x(t, n->out[0]));
}

void op_softcap_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    if (dx) cap_grads(in->rows * in->cols, (real)n->arg.number, op_x(t, n->out[0]), op_out_grad(t, n->out[0]), add, dx);
}
