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

/* A matrix without gaps is one long row: the loops then have no ends to care for. */
static void flatten(int *rows, int *cols, bool whole) {
    if (!whole) return;
    *cols *= *rows;
    *rows = 1;
}

/* --- act --- */

Vid tape_act(Tape *t, Vid x, ActKind kind) {
    Node *n = op_record(t, OP_ACT);
    op_input(t, n, 0, x);
    n->arg.act = kind;
    Vid y = op_output(t, n, t->value[x].rows, t->value[x].cols);
    op_wants_grad(t, n);
    return y;
}

#define ACT_FORWARD(kind, name)                                                                                        \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real slope;                                                                                                \
            y[i] = scalar_##name##_slope(x[i], &slope);                                                                \
        }                                                                                                              \
        break;

SIMD_CLONES static void act_values(ActKind kind, int n, const real *x, real *y) {
    switch (kind) { FOR_EACH_KIND(ACT_FORWARD) }
}

#define ACT_BACKWARD(kind, name)                                                                                       \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real slope;                                                                                                \
            (void)scalar_##name##_slope(x[i], &slope);                                                                 \
            dx[i] = add ? dx[i] + dy[i] * slope : dy[i] * slope;                                                       \
        }                                                                                                              \
        break;

/* ADD is a constant where this is inlined: a loop that chooses for every number is not made into vector code. */
SIMD_INLINE void act_grads_as(ActKind kind, int n, const real *x, const real *dy, bool add, real *dx) {
    switch (kind) { FOR_EACH_KIND(ACT_BACKWARD) }
}

SIMD_CLONES static void act_grads(ActKind kind, int n, const real *x, const real *dy, bool add, real *dx) {
    if (add)
        act_grads_as(kind, n, x, dy, true, dx);
    else
        act_grads_as(kind, n, x, dy, false, dx);
}

void op_act_forward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    int rows = in->rows, cols = in->cols;
    flatten(&rows, &cols, in->ld == cols);
    for (int r = 0; r < rows; r++)
        act_values(n->arg.act, cols, op_x(t, n->in[0]) + (size_t)r * (size_t)in->ld,
                   op_x(t, n->out[0]) + (size_t)r * (size_t)cols);
}

void op_act_backward(Tape *t, const Node *n) {
    const Value *in = &t->value[n->in[0]];
    int rows = in->rows, cols = in->cols;
    bool add;
    real *dx = op_grad(t, n->in[0], &add);
    if (!dx) return;
    flatten(&rows, &cols, in->ld == cols);
    for (int r = 0; r < rows; r++) {
        size_t at = (size_t)r * (size_t)in->ld;
        act_grads(n->arg.act, cols, op_x(t, n->in[0]) + at, op_out_grad(t, n->out[0]) + (size_t)r * (size_t)cols, add,
                  dx + at);
    }
}

/* --- glu --- */

Vid tape_glu(Tape *t, Vid gate, Vid up, ActKind kind) {
    BUG_ON(gate == up || t->value[gate].rows != t->value[up].rows || t->value[gate].cols != t->value[up].cols);
    Node *n = op_record(t, OP_GLU);
    op_input(t, n, 0, gate);
    op_input(t, n, 1, up);
    n->arg.act = kind;
    Vid y = op_output(t, n, t->value[gate].rows, t->value[gate].cols);
    op_scratch(t, 2 * (size_t)t->value[gate].cols);
    op_wants_grad(t, n);
    return y;
}

#define GLU_FORWARD(kind, name)                                                                                        \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real slope;                                                                                                \
            y[i] = scalar_##name##_slope(gate[i], &slope) * up[i];                                                     \
        }                                                                                                              \
        break;

SIMD_CLONES static void glu_values(ActKind kind, int n, const real *gate, const real *up, real *y) {
    switch (kind) { FOR_EACH_KIND(GLU_FORWARD) }
}

#define GLU_BACKWARD(kind, name)                                                                                       \
    case kind:                                                                                                         \
        SIMD_LOOP for (int i = 0; i < n; i++) {                                                                        \
            real slope, f = scalar_##name##_slope(gate[i], &slope);                                                    \
            dgate[i] = dy[i] * up[i] * slope;                                                                          \
            dup[i] = dy[i] * f;                                                                                        \
        }                                                                                                              \
        break;

SIMD_CLONES static void glu_grads(ActKind kind, int n, const real *gate, const real *up, const real *dy, real *dgate,
                                  real *dup) {
    switch (kind) { FOR_EACH_KIND(GLU_BACKWARD) }
}

void op_glu_forward(Tape *t, const Node *n) {
    const Value *gate = &t->value[n->in[0]], *up = &t->value[n->in[1]];
    for (int r = 0; r < gate->rows; r++)
        glu_values(n->arg.act, gate->cols, op_x(t, n->in[0]) + (size_t)r * (size_t)gate->ld,
                   op_x(t, n->in[1]) + (size_t)r * (size_t)up->ld, op_x(t, n->out[0]) + (size_t)r * (size_t)gate->cols);
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
        size_t at_gate = (size_t)r * (size_t)gate->ld, at_up = (size_t)r * (size_t)up->ld;
        real *to_gate = dgate && !add_gate ? dgate + at_gate : t->scratch;
        real *to_up = dup && !add_up ? dup + at_up : t->scratch + cols;
        glu_grads(n->arg.act, cols, op_x(t, n->in[0]) + at_gate, op_x(t, n->in[1]) + at_up,
                  op_out_grad(t, n->out[0]) + (size_t)r * (size_t)cols, to_gate, to_up);
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
