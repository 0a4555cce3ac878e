#include "window_lm.h"

#include "bug.h"
#include "mem.h"
#include "optim.h"
#include "tape.h"

#include <math.h>
#include <stdio.h>

struct WindowLm {
    WindowConfig config;
    Params params;
    int token, part, hidden_bias, head, head_bias; /* slices; part is the first of `window` */
    Tape *train, *eval;
    Optim optim; /* begun with the first update */
    real *grad;
    int *rows; /* [capacity] */
    int capacity;
};

WindowLm *window_lm_new(const WindowConfig *c, uint64_t seed) {
    BUG_ON(c->window < 1 || c->window > WINDOW_LM_MOST);
    WindowLm *m = MEM_NEW(WindowLm);
    m->config = *c;
    Params *p = &m->params;
    params_init(p);
    m->token = params_add(p, "token.weight", c->vocab, c->embed, INIT_NORMAL, 1);
    for (int i = 0; i < c->window; i++) {
        char name[32];
        snprintf(name, sizeof name, "hidden%d.weight", i);
        int slice = params_add(p, name, c->hidden, c->embed, INIT_NORMAL, 1 / sqrt((double)(c->window * c->embed)));
        if (i == 0) m->part = slice;
    }
    m->hidden_bias = params_add(p, "hidden.bias", 1, c->hidden, INIT_ZERO, 0);
    m->head = params_add(p, "head.weight", c->vocab, c->hidden, INIT_NORMAL, 1 / sqrt(c->hidden));
    m->head_bias = params_add(p, "head.bias", 1, c->vocab, INIT_ZERO, 0);
    params_seal(p);
    params_fill(p, seed);
    m->train = tape_new(TAPE_TRAIN);
    m->eval = tape_new(TAPE_EVAL);
    return m;
}

void window_lm_free(WindowLm *m) {
    if (!m) return;
    tape_free(m->train);
    tape_free(m->eval);
    if (m->grad) optim_done(&m->optim);
    mem_free(m->grad);
    mem_free(m->rows);
    params_done(&m->params);
    mem_free(m);
}

Params *window_lm_params(WindowLm *m) {
    return &m->params;
}

/* The row of the token BACK places before each row, or of the first of its text. */
static const int *rows_before(WindowLm *m, const Batch *b, int back) {
    for (int s = 0; s < b->sequences; s++)
        for (int r = b->start[s]; r < b->start[s + 1]; r++)
            m->rows[r] = r - back > b->start[s] ? r - back : b->start[s];
    return m->rows;
}

/* logits = W act(sum over the window of W_i E[token i]) */
static Vid record(WindowLm *m, Tape *t, const Batch *b) {
    int rows = batch_rows(b);
    if (rows > m->capacity) {
        mem_free(m->rows);
        m->rows = MEM_ARRAY(int, (size_t)rows);
        m->capacity = rows;
    }
    tape_begin(t, &m->params, b, 0, 0);
    Vid x = tape_embed(t, m->token, EMBED_TOKEN), sum = VID_NONE;
    for (int i = 0; i < m->config.window; i++) {
        Vid y = tape_rows(t, x, rows_before(m, b, i), rows);
        y = tape_linear(t, y, m->part + i, i ? SLICE_NONE : m->hidden_bias);
        sum = i ? tape_add(t, sum, y) : y;
    }
    return tape_linear(t, tape_act(t, sum, ACT_RELU), m->head, m->head_bias);
}

double window_lm_step(WindowLm *m, const Batch *b, double lr, long step, long steps) {
    if (!m->grad) {
        OptimConfig c = optim_defaults();
        c.lr = lr;
        c.lr_min = lr / 10;
        optim_init(&m->optim, &c, m->params.count);
        m->grad = mem_aligned(m->params.count, sizeof *m->grad);
    }
    Vid loss = tape_cross_entropy(m->train, record(m, m->train, b), 0, 0);
    tape_forward(m->train);
    tape_backward_over(m->train, loss, m->grad);
    (void)optim_update(&m->optim, &m->params, m->grad, optim_rate(&m->optim.config, step, steps));
    return tape_scalar(m->train, loss);
}

const real *window_lm_logits(WindowLm *m, const Batch *b) {
    Vid logits = record(m, m->eval, b);
    tape_forward(m->eval);
    return tape_value(m->eval, logits, NULL, NULL);
}
