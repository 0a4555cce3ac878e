/* op_embed: rows of a table, by token or by position, and the fixed sinusoids of Vaswani et al. 2017.
 *   y[r] = E[i(r)]          dE[i(r)] += dy[r] */
#include "bug.h"
#include "op.h"
#include "sinusoid.h"

#include <string.h>

static const int *row_numbers(const Tape *t, const Node *n) {
    return n->arg.embed == EMBED_TOKEN ? t->batch->id : t->batch->position;
}

Vid tape_embed(Tape *t, int slice, EmbedBy by) {
    Node *n = op_record(t, OP_EMBED);
    n->weight = slice;
    n->arg.embed = by;
    Vid y = op_output(t, n, t->rows, t->params->slice[slice].cols);
    op_wants_grad(t, n);
    return y;
}

void op_embed_forward(Tape *t, const Node *n) {
    const Slice *s = &t->params->slice[n->weight];
    const int *number = row_numbers(t, n);
    const real *table = op_param(t, n->weight); /* [V x D] */
    real *y = op_x(t, n->out[0]);               /* [R x D] */
    for (int r = 0; r < t->rows; r++) {
        BUG_ON(number[r] < 0 || number[r] >= s->rows);
        memcpy(y + (size_t)r * (size_t)s->cols, table + (size_t)number[r] * (size_t)s->cols,
               (size_t)s->cols * sizeof *y);
    }
}

void op_embed_backward(Tape *t, const Node *n) {
    bool add;
    real *g = op_param_grad(t, n->weight, &add); /* [V x D] */
    if (!g) return;
    const Slice *s = &t->params->slice[n->weight];
    const int *number = row_numbers(t, n);
    const real *dy = op_out_grad(t, n->out[0]); /* [R x D] */
    if (!add) memset(g, 0, slice_count(s) * sizeof *g);
    for (int r = 0; r < t->rows; r++, dy += s->cols) {
        real *row = g + (size_t)number[r] * (size_t)s->cols;
        for (int c = 0; c < s->cols; c++) row[c] += dy[c];
    }
}

Vid tape_sinusoid(Tape *t, int cols) {
    BUG_ON(cols % 2);
    int table = op_angles(t, cols, SINUSOID_BASE, &rope_unscaled);
    Node *n = op_record(t, OP_SINUSOID);
    n->arg.count = table;
    return op_output(t, n, t->rows, cols);
}

void op_sinusoid_forward(Tape *t, const Node *n) {
    const AngleTable *a = &t->table[n->arg.count];
    size_t half = (size_t)a->size / 2;
    real *y = op_x(t, n->out[0]); /* [R x D] */
    for (int r = 0; r < t->rows; r++, y += a->size) {
        size_t at = (size_t)t->batch->position[r] * half;
        for (size_t i = 0; i < half; i++) {
            y[2 * i] = a->sine[at + i];
            y[2 * i + 1] = a->cosine[at + i];
        }
    }
}

void op_sinusoid_backward(Tape *t, const Node *n) {
    (void)t, (void)n;
}
