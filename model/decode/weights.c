#include "decode/weights.h"

#include "bug.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

/* A slice that is kept as it is. */
typedef struct {
    int slice;
    real *to;
} Plain;

/* A slice, and its bias, that becomes outputs first .. of a packed matrix. */
typedef struct {
    int slice, bias;
    Matrix *to;
    int first;
} Part;

struct Weights {
    const Model *model;
    BlockWeights *block; /* [L] */
    NormWeights final_norm;
    const real *token, *position;
    Matrix head;
    Plain *plain;
    Part *part;
    int plains, plain_capacity, parts, part_capacity;
    bool forgetful;
};

/* LAYER -1: a slice of no block. SLICE_NONE: the model has none. */
static int find(const Weights *w, int layer, const char *name, const char *ending) {
    char full[64], prefix[24] = "";
    if (layer >= 0) (void)snprintf(prefix, sizeof prefix, "block%d.", layer);
    (void)snprintf(full, sizeof full, "%s%s.%s", prefix, name, ending);
    int slice = params_find(model_read_params(w->model), full);
    return slice < 0 ? SLICE_NONE : slice;
}

static const Slice *slice_of(const Weights *w, int slice) {
    return &model_read_params(w->model)->slice[slice];
}

static const real *numbers_of(const Weights *w, int slice) {
    return slice == SLICE_NONE ? NULL : params_view(model_read_params(w->model), slice).x;
}

/* The parameters are only read, so that they can be used where they are. */
static bool is_lent(const Weights *w) {
    return model_read_params(w->model)->view != NULL;
}

static const real *keep(Weights *w, int layer, const char *name, const char *ending) {
    int slice = find(w, layer, name, ending);
    if (slice == SLICE_NONE) return NULL;
    if (is_lent(w)) return numbers_of(w, slice);
    MEM_GROW(w->plain, w->plains, w->plain_capacity);
    real *to = mem_aligned(slice_count(slice_of(w, slice)), sizeof *to);
    w->plain[w->plains++] = (Plain){slice, to};
    return to;
}

static NormWeights keep_norm(Weights *w, int layer, const char *name) {
    return (NormWeights){keep(w, layer, name, "gain"), keep(w, layer, name, "bias")};
}

/* A slice as it lies, below those that TO has already. */
static void lay_below(Weights *w, Matrix *to, int slice, int bias) {
    BUG_ON(to->parts == MATRIX_PARTS);
    to->part[to->parts].view = params_view(model_read_params(w->model), slice);
    to->part[to->parts].bias = numbers_of(w, bias);
    to->part[to->parts++].first = to->out;
}

/* The matrices NAMES below each other in one. */
static void pack(Weights *w, Matrix *to, int layer, int n, const char *const *names) {
    for (int i = 0; i < n; i++) {
        int slice = find(w, layer, names[i], "weight"), bias = find(w, layer, names[i], "bias");
        BUG_ON(slice == SLICE_NONE);
        MEM_GROW(w->part, w->parts, w->part_capacity);
        if (is_lent(w))
            lay_below(w, to, slice, bias);
        else
            w->part[w->parts++] = (Part){slice, bias, to, to->out};
        to->out += slice_of(w, slice)->rows;
        to->in = slice_of(w, slice)->cols;
    }
    if (!is_lent(w)) packed_init(&to->packed, to->out, to->in);
}

static void lay_out_block(Weights *w, const ModelConfig *c, int layer) {
    static const char *const qkv[] = {"attention.query", "attention.key", "attention.value"};
    static const char *const out[] = {"attention.out"}, *const down[] = {"ffn.down"};
    static const char *const gated[] = {"ffn.gate", "ffn.up"}, *const up[] = {"ffn.up"};
    BlockWeights *b = &w->block[layer];
    b->norm1 = keep_norm(w, layer, "norm1");
    b->norm2 = keep_norm(w, layer, "norm2");
    b->norm1_out = keep_norm(w, layer, "norm1_out");
    b->norm2_out = keep_norm(w, layer, "norm2_out");
    b->query_norm = keep_norm(w, layer, "attention.query_norm");
    b->key_norm = keep_norm(w, layer, "attention.key_norm");
    pack(w, &b->qkv, layer, 3, qkv);
    pack(w, &b->out, layer, 1, out);
    if (config_is_gated(c->ffn))
        pack(w, &b->up, layer, 2, gated);
    else
        pack(w, &b->up, layer, 1, up);
    pack(w, &b->down, layer, 1, down);
}

Weights *weights_new(const Model *m) {
    static const char *const token[] = {"token"}, *const head[] = {"head"};
    const ModelConfig *c = model_config(m);
    Weights *w = MEM_NEW(Weights);
    w->model = m;
    w->block = MEM_ARRAY(BlockWeights, (size_t)c->layers);
    w->token = keep(w, -1, "token", "weight");
    w->position = keep(w, -1, "position", "weight");
    w->final_norm = keep_norm(w, -1, "final_norm");
    for (int l = 0; l < c->layers; l++) lay_out_block(w, c, l);
    pack(w, &w->head, -1, 1, c->tie ? token : head);
    weights_refresh(w);
    return w;
}

void weights_free(Weights *w) {
    if (!w) return;
    for (int i = 0; i < w->plains; i++) mem_free(w->plain[i].to);
    for (int i = 0; i < w->parts; i++)
        if (w->part[i].first == 0) matrix_done(w->part[i].to);
    mem_free(w->plain);
    mem_free(w->part);
    mem_free(w->block);
    mem_free(w);
}

void weights_refresh(Weights *w) {
    for (int i = 0; i < w->plains; i++) {
        const Plain *p = &w->plain[i];
        memcpy(p->to, numbers_of(w, p->slice), slice_count(slice_of(w, p->slice)) * sizeof *p->to);
    }
    for (int i = 0; i < w->parts; i++) {
        const Part *p = &w->part[i];
        packed_set(&p->to->packed, p->first, slice_of(w, p->slice)->rows, numbers_of(w, p->slice),
                   numbers_of(w, p->bias));
    }
}

void weights_set_forgetful(Weights *w, bool on) {
    w->forgetful = on && is_lent(w);
}

void weights_used(const Weights *w) {
    if (w->forgetful) params_forget(model_read_params(w->model));
}

bool weights_shares(const Weights *w) {
    return is_lent(w);
}

const real *weights_token(const Weights *w) {
    return w->token;
}

const real *weights_position(const Weights *w) {
    return w->position;
}

const BlockWeights *weights_block(const Weights *w, int layer) {
    return &w->block[layer];
}

NormWeights weights_final_norm(const Weights *w) {
    return w->final_norm;
}

const Matrix *weights_head(const Weights *w) {
    return &w->head;
}
