/* A training step of a fixture: the operations of its model with numbers of noise, and an update that never was. */
#include "fixture_step.h"

#include "observe_step.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *name, *kind, *inputs, *parameters, *formula;
    int cols;
} Op;

/* L, where it stands, is the layer's number. */
static const Op block_ops[] = {
    {"blockL.norm1", "norm", "before", "blockL.norm1.gain", "y = x / sqrt(mean(x^2) + eps) * g", 64},
    {"blockL.attention.query", "linear", "blockL.norm1", "blockL.attention.query.weight", "y = x W^T + b", 64},
    {"blockL.attention.key", "linear", "blockL.norm1", "blockL.attention.key.weight", "y = x W^T + b", 32},
    {"blockL.attention.value", "linear", "blockL.norm1", "blockL.attention.value.weight", "y = x W^T + b", 32},
    {"blockL.attention.query.rope", "rope", "blockL.attention.query", "",
     "(a, b) -> (a cos mt - b sin mt, a sin mt + b cos mt), t = base^(-2i/hd), m = position", 64},
    {"blockL.attention.key.rope", "rope", "blockL.attention.key", "",
     "(a, b) -> (a cos mt - b sin mt, a sin mt + b cos mt), t = base^(-2i/hd), m = position", 32},
    {"blockL.attention", "attention", "blockL.attention.query.rope blockL.attention.key.rope blockL.attention.value",
     "", "y = softmax(mask(cap(q k^T / sqrt(hd)))) v, head by head", 64},
    {"blockL.attention.out", "linear", "blockL.attention", "blockL.attention.out.weight", "y = x W^T + b", 64},
    {"blockL.residual1", "add", "before blockL.attention.out", "", "y = a + b", 64},
    {"blockL.norm2", "norm", "blockL.residual1", "blockL.norm2.gain", "y = x / sqrt(mean(x^2) + eps) * g", 64},
    {"blockL.ffn.up", "linear", "blockL.norm2", "blockL.ffn.up.weight", "y = x W^T + b", 176},
    {"blockL.ffn.act", "act", "blockL.ffn.up", "", "y = f(x)", 176},
    {"blockL.ffn.down", "linear", "blockL.ffn.act", "blockL.ffn.down.weight", "y = x W^T + b", 64},
    {"blockL.residual2", "add", "blockL.residual1 blockL.ffn.down", "", "y = a + b", 64},
};
enum { BLOCK_OPS = sizeof block_ops / sizeof *block_ops };

/* TEXT with its L, and "before", replaced; to be freed with str_done. */
static Str spell(const char *text, int layer) {
    Str out;
    str_init(&out);
    while (*text) {
        bool before = !strncmp(text, "before", 6);
        if (before && layer == 0)
            str_add(&out, "embed");
        else if (before)
            str_addf(&out, "block%d.residual2", layer - 1);
        else if (*text == 'L')
            str_addf(&out, "%d", layer);
        else
            str_add_n(&out, text, 1);
        text += before ? 6 : 1;
    }
    return out;
}

static void add_spelled(Table *t, const char *text, int layer) {
    Str spelled = spell(text, layer);
    table_add_text(t, spelled.s);
    str_done(&spelled);
}

static void add_statistics(Table *t, const Field *f) {
    double sum = 0, squares = 0, least = HUGE_VAL, most = -HUGE_VAL;
    size_t n = field_count(f);
    for (size_t i = 0; i < n; i++) {
        double x = (double)f->x[i];
        sum += x, squares += x * x, least = fmin(least, x), most = fmax(most, x);
    }
    table_add_real(t, sum / (double)n);
    table_add_real(t, sqrt(squares / (double)n));
    table_add_real(t, least);
    table_add_real(t, most);
}

static const Field *add_numbers(Snapshot *s, int op, const char *what, int rows, int cols, double size) {
    Field *f = field_new(2, (int[]){rows, cols}, "step.%d.%s", op, what);
    for (size_t i = 0; i < field_count(f); i++)
        f->x[i] = (real)(rows == 1 ? size : size * fixture_noise((unsigned)op * 7 + (what[0] == 'g'), (unsigned)i));
    snapshot_add_field(s, f);
    return f;
}

static void add_op(Snapshot *s, Table *t, const Op *op, int rows, int layer) {
    int i = (int)table_rows(t);
    table_add_int(t, i);
    add_spelled(t, op->name, layer);
    table_add_text(t, op->kind);
    table_add_int(t, rows);
    table_add_int(t, op->cols);
    add_spelled(t, op->inputs, layer);
    add_spelled(t, op->parameters, layer);
    table_add_text(t, op->formula);
    add_statistics(t, add_numbers(s, i, "value", rows, op->cols, rows == 1 ? 1.375 : 1.5 + 0.125 * i));
    add_statistics(t, add_numbers(s, i, "gradient", rows, op->cols, rows == 1 ? 1 : 0.25 / (i + 2)));
}

static void add_tensor(Table *t, const char *name, int layer, long count, double delta) {
    add_spelled(t, name, layer);
    table_add_int(t, count);
    table_add_real(t, 0.125);
    table_add_real(t, delta * 2);
    table_add_real(t, delta);
    table_add_real(t, delta / 0.125);
}

static void add_pass(Snapshot *s, const FixtureSpec *p) {
    Table *t = table_new("pass", observe_step_pass_columns);
    table_add_real(t, 1.375);
    table_add_int(t, p->position - 1);
    table_add_int(t, 12345);
    table_add_int(t, 1);
    table_add_int(t, p->step);
    table_add_text(t, "adamw");
    table_add_real(t, 0.0005);
    table_add_real(t, 0.75);
    table_add_real(t, 1);
    snapshot_add_table(s, t);
}

void fixture_add_step(Snapshot *s, const FixtureSpec *p) {
    static const Op embed = {"embed", "embed", "", "token.weight", "y[r] = E[id[r]]", 64},
                    norm = {"final_norm", "norm", "before", "final_norm.gain", "y = x / sqrt(mean(x^2) + eps) * g", 64},
                    logits = {"logits", "linear", "final_norm", "head.weight", "y = x W^T + b", 56},
                    loss = {"loss",
                            "cross_entropy",
                            "logits",
                            "",
                            "y = mean(log Z - x[target]) + z mean((log Z)^2), log Z = log sum exp(x)",
                            1};
    Table *ops = table_new("ops", observe_step_op_columns),
          *tensors = table_new("tensors", observe_step_tensor_columns);
    add_op(s, ops, &embed, p->position, 0);
    add_tensor(tensors, "token.weight", 0, 56 * 64, 0.0005);
    for (int layer = 0; layer < p->layers; layer++)
        for (int i = 0; i < BLOCK_OPS; i++) {
            add_op(s, ops, &block_ops[i], p->position, layer);
            if (block_ops[i].parameters[0])
                add_tensor(tensors, block_ops[i].parameters, layer, 64L * block_ops[i].cols, 0.00025 * (i + 1));
        }
    add_op(s, ops, &norm, p->position, p->layers);
    add_op(s, ops, &logits, p->position, p->layers);
    if (p->position > 1) add_op(s, ops, &loss, 1, p->layers);
    add_tensor(tensors, "head.weight", 0, 56 * 64, 0.001);
    snapshot_add_table(s, ops);
    snapshot_add_table(s, tensors);
    add_pass(s, p);
}
