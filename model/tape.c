#include "tape.h"

#include "angles.h"
#include "bug.h"
#include "cancel.h"
#include "grad_plan.h"
#include "mem.h"
#include "op.h"
#include "value_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const OpInfo infos[] = {
#define OP(constant, name, formula) [OP_##constant] = {#name, formula, op_##name##_forward, op_##name##_backward},
#include "ops.def"
#undef OP
};

const OpInfo *op_info(OpKind op) {
    return &infos[op];
}

/* --- life --- */

Tape *tape_new(TapeMode mode) {
    Tape *t = MEM_NEW(Tape);
    t->mode = mode;
    return t;
}

void tape_free(Tape *t) {
    if (!t) return;
    for (int i = 0; i < t->tables; i++) {
        mem_free(t->table[i].cosine);
        mem_free(t->table[i].sine);
    }
    mem_free(t->table);
    mem_free(t->node);
    mem_free(t->value);
    mem_free(t->arena);
    mem_free(t->grad_arena);
    mem_free(t->life);
    mem_free(t->room);
    mem_free(t->scratch);
    mem_free(t->integer);
    mem_free(t->slice_written);
    mem_free(t);
}

void tape_begin(Tape *t, const Params *params, const Batch *batch, uint64_t seed, uint64_t step) {
    t->params = params;
    t->batch = batch;
    t->seed = seed;
    t->step = step;
    t->rows = batch_rows(batch);
    t->last_position = 0;
    for (int r = 0; r < t->rows; r++)
        if (batch->position[r] > t->last_position) t->last_position = batch->position[r];
    t->nodes = t->values = 0;
    t->used = t->grad_used = t->integers_used = 0;
    t->param_grad = NULL;
    t->lean = false;
    t->seen = NULL;
}

void tape_begin_lean(Tape *t, const Params *params, const Batch *batch, TapeSeen *seen, void *data) {
    BUG_ON(t->mode == TAPE_TRAIN);
    tape_begin(t, params, batch, 0, 0);
    t->lean = true;
    t->seen = seen;
    t->seen_data = data;
}

/* --- recording --- */

size_t op_aligned(size_t numbers) {
    const size_t line = MEM_ALIGN / sizeof(real);
    return (numbers + line - 1) / line * line;
}

size_t op_keep(Tape *t, size_t numbers) {
    size_t at = t->used;
    t->used += op_aligned(numbers);
    return at;
}

size_t op_keep_for_backward(Tape *t, size_t numbers) {
    return op_has_backward(t) ? op_keep(t, numbers) : 0;
}

int *op_integers(Tape *t, size_t integers, size_t *at) {
    *at = t->integers_used;
    t->integers_used += integers;
    if (t->integers_used > t->integers_size) {
        t->integers_size = t->integers_used + t->integers_used / 4;
        t->integer = mem_resize(t->integer, t->integers_size, sizeof *t->integer);
    }
    return t->integer + *at;
}

void op_scratch(Tape *t, size_t numbers) {
    if (numbers > t->scratch_used) t->scratch_used = numbers;
}

Vid op_matrix(Tape *t, int rows, int cols) {
    BUG_ON(rows < 1 || cols < 1);
    MEM_GROW(t->value, t->values, t->value_capacity);
    Value *v = &t->value[t->values];
    size_t numbers = (size_t)rows * (size_t)cols;
    v->rows = rows;
    v->cols = v->ld = cols;
    v->x = t->lean ? 0 : op_keep(t, numbers); /* 0: value_plan says where */
    v->grad = 0;
    v->whole = t->values;
    v->column = 0;
    v->wants_grad = v->has_grad = false;
    v->node = -1;
    v->scalar = 0;
    v->name[0] = '\0';
    return t->values++;
}

Node *op_record(Tape *t, OpKind op) {
    MEM_GROW(t->node, t->nodes, t->node_capacity);
    Node *n = &t->node[t->nodes++];
    n->op = op;
    n->outputs = 0;
    for (int i = 0; i < NODE_INPUTS; i++) n->in[i] = VID_NONE;
    for (int i = 0; i < NODE_OUTPUTS; i++) n->out[i] = VID_NONE;
    n->weight = n->bias = SLICE_NONE;
    n->keep[0] = n->keep[1] = n->integers = 0;
    return n;
}

static Vid attach(Tape *t, Node *n, Vid v) {
    BUG_ON(n->outputs == NODE_OUTPUTS);
    t->value[v].node = t->nodes - 1;
    n->out[n->outputs++] = v;
    return v;
}

Vid op_output(Tape *t, Node *n, int rows, int cols) {
    return attach(t, n, op_matrix(t, rows, cols));
}

Vid op_output_part(Tape *t, Node *n, Vid whole, int at, int cols) {
    MEM_GROW(t->value, t->values, t->value_capacity);
    Value *v = &t->value[t->values];
    *v = t->value[whole];
    BUG_ON(at < 0 || at + cols > v->ld);
    v->cols = cols;
    v->x += (size_t)at;
    v->whole = whole;
    v->column = at;
    return attach(t, n, t->values++);
}

void op_input(Tape *t, Node *n, int i, Vid v) {
    BUG_ON(v < 0 || v >= t->values);
    n->in[i] = v;
}

bool op_slice_learns(const Tape *t, int slice) {
    return slice != SLICE_NONE && !t->params->slice[slice].frozen;
}

void op_wants_grad(Tape *t, Node *n) {
    bool wants = op_slice_learns(t, n->weight) || op_slice_learns(t, n->bias);
    for (int i = 0; i < NODE_INPUTS; i++) wants = wants || (n->in[i] != VID_NONE && t->value[n->in[i]].wants_grad);
    for (int i = 0; i < n->outputs; i++) t->value[n->out[i]].wants_grad = wants && op_has_backward(t);
}

static bool is_of(const AngleTable *a, int size, double base, const RopeScaling *scaling) {
    return a->size == size && a->base == base && rope_scaling_same(&a->scaling, scaling);
}

int op_angles(Tape *t, int size, double base, const RopeScaling *scaling) {
    int i = 0;
    while (i < t->tables && !is_of(&t->table[i], size, base, scaling)) i++;
    if (i == t->tables) {
        MEM_GROW(t->table, t->tables, t->table_capacity);
        t->table[t->tables++] = (AngleTable){.size = size, .base = base, .scaling = *scaling};
    }
    AngleTable *a = &t->table[i];
    if (t->last_position < a->positions) return i;
    int from = a->positions;
    a->positions = t->last_position < 64 ? 64 : 2 * t->last_position;
    a->cosine = mem_resize(a->cosine, (size_t)a->positions * (size_t)(size / 2), sizeof *a->cosine);
    a->sine = mem_resize(a->sine, (size_t)a->positions * (size_t)(size / 2), sizeof *a->sine);
    size_t known = (size_t)from * (size_t)(size / 2);
    angles_fill(size, base, &a->scaling, from, a->positions - from, a->cosine + known, a->sine + known);
    return i;
}

void tape_name_value(Tape *t, Vid v, const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)vsnprintf(t->value[v].name, sizeof t->value[v].name, format, list);
    va_end(list);
}

void tape_name(Tape *t, const char *format, ...) {
    BUG_ON(t->nodes == 0);
    Value *v = &t->value[t->node[t->nodes - 1].out[0]];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(v->name, sizeof v->name, format, list);
    va_end(list);
}

/* --- running --- */

#define SPARE_MOST ((size_t)1 << 22) /* numbers that an arena has beyond what it was asked for */

/* Grows an arena to hold USED numbers, and MORE; what is in it stays. */
static void make_room(real **arena, size_t *size, size_t used, bool more) {
    if (used <= *size) return;
    size_t spare = more ? used / 4 : 0, next = used + (spare < SPARE_MOST ? spare : SPARE_MOST);
    real *fresh = mem_aligned(next, sizeof *fresh);
    if (*size) memcpy(fresh, *arena, *size * sizeof *fresh);
    mem_free(*arena);
    *arena = fresh;
    *size = next;
}

/* NUMBERS: what the arena must hold. */
static void run(Tape *t, int from, int to, size_t numbers) {
    BUG_ON(from < 0 || to > t->nodes);
    make_room(&t->arena, &t->size, numbers, !t->lean);
    make_room(&t->scratch, &t->scratch_size, t->scratch_used, true);
    bool probe = t->mode == TAPE_PROBE; /* a look that nobody waits for any more need not be finished */
    for (int i = from; i < to && !(probe && cancel_wanted()); i++) {
        infos[t->node[i].op].forward(t, &t->node[i]);
        if (t->seen) t->seen(t->seen_data, t, i);
    }
}

void tape_run(Tape *t, int from, int to) {
    BUG_ON(t->lean);
    run(t, from, to, t->used);
}

void tape_forward(Tape *t) {
    run(t, 0, t->nodes, t->lean ? value_plan(t) : t->used);
}

void tape_rest(Tape *t) {
    real **const all[] = {&t->arena, &t->grad_arena, &t->scratch};
    for (int i = 0; i < 3; i++) {
        mem_free(*all[i]);
        *all[i] = NULL;
    }
    t->size = t->grad_size = t->scratch_size = 0;
}

static void begin_backward(Tape *t, Vid loss, real *grad, bool add) {
    BUG_ON(!op_has_backward(t) || loss < 0 || loss >= t->values);
    grad_plan(t, loss);
    make_room(&t->grad_arena, &t->grad_size, t->grad_used, true);
    if (t->params->slices > t->slice_capacity) {
        t->slice_capacity = t->params->slices;
        t->slice_written = mem_resize(t->slice_written, (size_t)t->slice_capacity, sizeof *t->slice_written);
    }
    memset(t->slice_written, add, (size_t)t->params->slices);
    for (int i = 0; i < t->values; i++) t->value[i].has_grad = false;
    Value *v = &t->value[loss];
    BUG_ON(v->rows != 1 || v->cols != 1);
    t->param_grad = grad;
    v->has_grad = v->wants_grad;
    t->grad_arena[v->grad] = 1;
}

void tape_seed_grad(Tape *t, Vid loss, real *grad) {
    begin_backward(t, loss, grad, true);
}

void tape_run_back(Tape *t, int from, int to) {
    BUG_ON(from > t->nodes || to < 0 || !t->param_grad);
    for (int i = from - 1; i >= to; i--) {
        const Node *n = &t->node[i];
        bool reached = false;
        for (int j = 0; j < n->outputs; j++) reached = reached || t->value[n->out[j]].has_grad;
        if (reached) infos[n->op].backward(t, n);
    }
}

void tape_backward(Tape *t, Vid loss, real *grad) {
    begin_backward(t, loss, grad, true);
    tape_run_back(t, t->nodes, 0);
}

void tape_backward_over(Tape *t, Vid loss, real *grad) {
    begin_backward(t, loss, grad, false);
    tape_run_back(t, t->nodes, 0);
    for (int i = 0; i < t->params->slices; i++) {
        const Slice *s = &t->params->slice[i];
        if (!t->slice_written[i]) memset(grad + s->at, 0, slice_count(s) * sizeof *grad);
    }
}

real *op_grad(Tape *t, Vid v, bool *add) {
    if (v == VID_NONE || !t->value[v].wants_grad) return NULL;
    *add = t->value[v].has_grad;
    t->value[v].has_grad = true;
    return t->grad_arena + t->value[v].grad;
}

real *op_param_grad(Tape *t, int slice, bool *add) {
    if (!op_slice_learns(t, slice)) return NULL;
    *add = t->slice_written[slice];
    t->slice_written[slice] = 1;
    return t->param_grad + t->params->slice[slice].at;
}

/* --- looking --- */

int tape_nodes(const Tape *t) {
    return t->nodes;
}

NodeInfo tape_node(const Tape *t, int node) {
    BUG_ON(node < 0 || node >= t->nodes);
    const Node *n = &t->node[node];
    return (NodeInfo){.name = t->value[n->out[0]].name,
                      .op = infos[n->op].name,
                      .formula = n->op == OP_NORM ? op_norm_formula(n) : infos[n->op].formula,
                      .in = {n->in[0], n->in[1], n->in[2]},
                      .out = n->out[0],
                      .weight = n->weight,
                      .bias = n->bias};
}

int tape_find(const Tape *t, const char *name) {
    for (int i = 0; i < t->values; i++)
        if (t->value[i].node >= 0 && strcmp(t->value[i].name, name) == 0) return t->value[i].node;
    return -1;
}

const real *tape_value(const Tape *t, Vid v, int *rows, int *cols) {
    BUG_ON(v < 0 || v >= t->values || t->value[v].ld != t->value[v].cols);
    if (rows) *rows = t->value[v].rows;
    if (cols) *cols = t->value[v].cols;
    return t->arena ? op_x(t, v) : NULL;
}

const real *tape_grad(const Tape *t, Vid v) {
    BUG_ON(v < 0 || v >= t->values || t->value[v].ld != t->value[v].cols);
    return t->mode == TAPE_PROBE && t->value[v].has_grad ? op_out_grad(t, v) : NULL;
}

double tape_scalar(const Tape *t, Vid v) {
    BUG_ON(v < 0 || v >= t->values || t->value[v].rows != 1 || t->value[v].cols != 1);
    OpKind op = t->node[t->value[v].node].op;
    if (op == OP_CROSS_ENTROPY || op == OP_MSE) return t->value[v].scalar;
    BUG_ON(!t->arena);
    return (double)*op_x(t, v);
}

Vid tape_first_bad(const Tape *t) {
    for (Vid v = 0; v < t->values; v++) {
        const Value *m = &t->value[v];
        if (m->node < 0) continue;
        for (int r = 0; r < m->rows; r++) {
            const real *x = op_x(t, v) + (size_t)r * (size_t)m->ld;
            for (int c = 0; c < m->cols; c++)
                if (!isfinite(x[c])) return v;
        }
    }
    return VID_NONE;
}

const char *tape_value_name(const Tape *t, Vid v) {
    BUG_ON(v < 0 || v >= t->values);
    return t->value[v].name;
}
