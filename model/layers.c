#include "layers.h"

#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Slices of a layer in their order, behind the pictures. */
enum { WEIGHT, BIAS, BACK_WEIGHT, BACK_BIAS, CLASS_WEIGHT, CLASS_BIAS, PARTS };

static int slice_of(int layer, int part) {
    return 1 + layer * PARTS + part;
}

static int width(const LayersShape *s, int layer) {
    return layer < 0 ? s->pixels : s->size[layer];
}

/* ---- life ---- */

static void add_slice(Params *p, int layer, const char *name, int rows, int cols, int inputs) {
    char full[56];
    snprintf(full, sizeof full, "layer%d.%s", layer, name);
    (void)params_add(p, full, rows, cols, inputs ? INIT_NORMAL : INIT_ZERO, inputs ? 1 / sqrt((double)inputs) : 0);
}

static void add_layer(Params *p, const LayersShape *s, int layer) {
    int in = width(s, layer - 1), out = width(s, layer);
    add_slice(p, layer, "weight", out, in, in);
    add_slice(p, layer, "bias", 1, out, 0);
    add_slice(p, layer, "back.weight", in, out, out);
    add_slice(p, layer, "back.bias", 1, in, 0);
    add_slice(p, layer, "class.weight", s->classes, out, out);
    add_slice(p, layer, "class.bias", 1, s->classes, 0);
}

void layers_init(Layers *l, const LayersShape *shape, const real *picture, uint64_t seed) {
    *l = (Layers){.shape = *shape, .tape = tape_new(TAPE_TRAIN)};
    params_init(&l->params);
    (void)params_add(&l->params, "pictures", shape->pictures, shape->pixels, INIT_ZERO, 0);
    for (int i = 0; i < shape->layers; i++) add_layer(&l->params, shape, i);
    params_seal(&l->params);
    params_fill(&l->params, seed);
    memcpy(l->params.x, picture, slice_count(&l->params.slice[0]) * sizeof *picture);
    l->grad = mem_aligned(l->params.count, sizeof *l->grad);
    batch_init(&l->batch);
    optim_init(&l->optim, &(OptimConfig){0}, l->params.count);
}

void layers_done(Layers *l) {
    params_done(&l->params);
    tape_free(l->tape);
    batch_done(&l->batch);
    optim_done(&l->optim);
    mem_free(l->grad);
    *l = (Layers){0};
}

/* ---- graphs ---- */

/* A picture is a sequence of one row. */
static void set_batch(Layers *l, const int *picture, const int *label, int n) {
    batch_clear(&l->batch);
    for (int i = 0; i < n; i++) batch_add(&l->batch, (int[]){picture[i], label ? label[i] : 0}, 1, true);
}

/* The codes of layer LAYER, -1: the pictures. */
static Vid codes(const Layers *l, Tape *t, int layer) {
    Vid x = tape_embed(t, 0, EMBED_TOKEN);
    for (int i = 0; i <= layer; i++)
        x = tape_act(t, tape_linear(t, x, slice_of(i, WEIGHT), slice_of(i, BIAS)), l->shape.act);
    return x;
}

static Vid scores(const Layers *l, Tape *t, int layer) {
    return tape_linear(t, codes(l, t, layer), slice_of(layer, CLASS_WEIGHT), slice_of(layer, CLASS_BIAS));
}

/* How far what comes back is from what went in. */
static Vid back_loss(const Layers *l, Tape *t, int layer) {
    Vid in = codes(l, t, layer - 1);
    Vid code = tape_act(t, tape_linear(t, in, slice_of(layer, WEIGHT), slice_of(layer, BIAS)), l->shape.act);
    Vid back = tape_linear(t, code, slice_of(layer, BACK_WEIGHT), slice_of(layer, BACK_BIAS));
    return tape_mse(t, tape_act(t, back, layer == 0 ? ACT_SIGMOID : l->shape.act), in);
}

/* ---- learning ---- */

static bool learns(LayersStage stage, int chosen, int layer, int part) {
    if (part == WEIGHT || part == BIAS) return layer == chosen || (stage == LAYERS_ALL && layer < chosen);
    bool back = part == BACK_WEIGHT || part == BACK_BIAS;
    return layer == chosen && back == (stage == LAYERS_BACK);
}

void layers_begin(Layers *l, LayersStage stage, int layer, const OptimConfig *config) {
    l->params.slice[0].frozen = true;
    for (int i = 0; i < l->shape.layers; i++)
        for (int part = 0; part < PARTS; part++)
            l->params.slice[slice_of(i, part)].frozen = !learns(stage, layer, i, part);
    optim_done(&l->optim);
    optim_init(&l->optim, config, l->params.count);
}

/* The pictures, which are many and do not learn, are left alone. */
static void clear_grad(Layers *l) {
    for (int i = 0; i < l->params.slices; i++) {
        const Slice *s = &l->params.slice[i];
        if (!s->frozen) memset(l->grad + s->at, 0, slice_count(s) * sizeof *l->grad);
    }
}

double layers_step(Layers *l, LayersStage stage, int layer, const int *picture, const int *label, int n, double rate) {
    set_batch(l, picture, label, n);
    tape_begin(l->tape, &l->params, &l->batch, 0, 0);
    Vid loss = stage == LAYERS_BACK ? back_loss(l, l->tape, layer)
                                    : tape_cross_entropy(l->tape, scores(l, l->tape, layer), 0, 0);
    tape_forward(l->tape);
    clear_grad(l);
    tape_backward(l->tape, loss, l->grad);
    (void)optim_update(&l->optim, &l->params, l->grad, rate);
    return tape_scalar(l->tape, loss);
}

/* ---- asking ---- */

void layers_classify(Layers *l, int layer, const int *picture, int n, int *label) {
    set_batch(l, picture, NULL, n);
    tape_begin(l->tape, &l->params, &l->batch, 0, 0);
    Vid y = scores(l, l->tape, layer);
    tape_forward(l->tape);
    const real *score = tape_value(l->tape, y, NULL, NULL);
    for (int i = 0; i < n; i++) {
        label[i] = 0;
        for (int k = 1; k < l->shape.classes; k++)
            if (score[i * l->shape.classes + k] > score[i * l->shape.classes + label[i]]) label[i] = k;
    }
}

void layers_code(Layers *l, int layer, const int *picture, int n, real *code) {
    set_batch(l, picture, NULL, n);
    tape_begin(l->tape, &l->params, &l->batch, 0, 0);
    Vid y = codes(l, l->tape, layer);
    tape_forward(l->tape);
    memcpy(code, tape_value(l->tape, y, NULL, NULL), (size_t)n * (size_t)l->shape.size[layer] * sizeof *code);
}
