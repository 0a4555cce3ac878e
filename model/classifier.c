#include "classifier.h"

#include "bug.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <string.h>

enum { PASS = 128 }; /* texts of a pass that only asks */

/* The model's slices in their order, so that its graph finds them; then the head's. */
static void copy_slices(Classifier *c, const Params *from, int d) {
    Params *p = &c->params;
    params_init(p);
    for (int i = 0; i < from->slices; i++) {
        const Slice *s = &from->slice[i];
        int at = params_add(p, s->name, s->rows, s->cols, s->init, s->std);
        p->slice[at].decay = s->decay;
        p->slice[at].rate = s->rate;
    }
    c->head = params_add(p, "label.weight", c->classes, d, INIT_NORMAL, 1 / sqrt((double)d));
    (void)params_add(p, "label.bias", 1, c->classes, INIT_ZERO, 0);
    params_seal(p);
    memcpy(p->x, from->x, from->count * sizeof *p->x);
}

static void fill_head(Classifier *c, uint64_t seed) {
    const Slice *s = &c->params.slice[c->head];
    Rng r = rng_at(seed, "classifier.head", 0);
    for (size_t i = 0; i < slice_count(s); i++) c->params.x[s->at + i] = (real)(s->std * rng_normal(&r));
}

void classifier_init(Classifier *c, const Model *m, int classes, bool whole, const OptimConfig *optim, uint64_t seed) {
    *c = (Classifier){.model = m, .classes = classes, .tape = tape_new(TAPE_TRAIN)};
    copy_slices(c, model_read_params(m), model_config(m)->d);
    fill_head(c, seed);
    for (int i = 0; i < c->head; i++) c->params.slice[i].frozen = !whole;
    c->grad = mem_aligned(c->params.count, sizeof *c->grad);
    batch_init(&c->batch);
    optim_init(&c->optim, optim, c->params.count);
}

void classifier_done(Classifier *c) {
    params_done(&c->params);
    tape_free(c->tape);
    batch_done(&c->batch);
    optim_done(&c->optim);
    mem_free(c->grad);
    *c = (Classifier){0};
}

size_t classifier_learns(const Classifier *c) {
    size_t n = 0;
    for (int i = 0; i < c->params.slices; i++)
        if (!c->params.slice[i].frozen) n += slice_count(&c->params.slice[i]);
    return n;
}

/* The scores [rows x classes] of every token; only those of last tokens are asked for. */
static Vid record(Classifier *c, const ClassifierText *text, int n) {
    batch_clear(&c->batch);
    for (int i = 0; i < n; i++) {
        batch_add(&c->batch, text[i].id, text[i].n, false);
        int last = c->batch.start[i + 1] - 1;
        /* the row before the last has its next token as target: here only labels are */
        for (int row = c->batch.start[i]; row < last; row++) c->batch.target[row] = TARGET_NONE;
        c->batch.target[last] = text[i].label;
    }
    c->batch.targets = n;
    tape_begin(c->tape, &c->params, &c->batch, 0, 0);
    (void)model_graph(c->model, c->tape, NULL);
    int logits = tape_find(c->tape, "logits");
    BUG_ON(logits < 0);
    return tape_linear(c->tape, tape_node(c->tape, logits).in[0], c->head, c->head + 1);
}

double classifier_gradient(Classifier *c, const ClassifierText *text, int n) {
    Vid loss = tape_cross_entropy(c->tape, record(c, text, n), 0, n);
    tape_forward(c->tape);
    tape_backward_over(c->tape, loss, c->grad);
    return tape_scalar(c->tape, loss);
}

void classifier_update(Classifier *c, double rate) {
    (void)optim_update(&c->optim, &c->params, c->grad, rate);
}

double classifier_accuracy(Classifier *c, const ClassifierText *text, int n) {
    int right = 0;
    for (int from = 0; from < n; from += PASS) {
        int part = n - from < PASS ? n - from : PASS;
        Vid scores = record(c, text + from, part);
        tape_forward(c->tape);
        const real *y = tape_value(c->tape, scores, NULL, NULL);
        for (int i = 0; i < part; i++) {
            const real *row = y + (size_t)(c->batch.start[i + 1] - 1) * (size_t)c->classes;
            int best = 0;
            for (int k = 1; k < c->classes; k++)
                if (row[k] > row[best]) best = k;
            right += best == text[from + i].label;
        }
    }
    return n ? (double)right / n : (double)NAN;
}
