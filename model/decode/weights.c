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
    Packed *to;
    int first;
} Part;

struct Weights {
    const Model *model;
    BlockWeights *block; /* [L] */
    NormWeights final_norm;
    const real *token, *position;
    Packed head;
    Plain *plain;
    Part *part;
    int plains, plain_capacity, parts, part_capacity;
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

static const real *keep(Weights *w, int layer, const char *name, const char *ending) {
    int slice = find(w, layer, name, ending);
    if (slice == SLICE_NONE) return NULL;
    MEM_GROW(w->plain, w->plains, w->plain_capacity);
    real *to = mem_aligned(slice_count(slice_of(w, slice)), sizeof *to);
    w->plain[w->plains++] = (Plain){slice, to};
    return to;
}

static NormWeights keep_norm(Weights *w, int layer, const char *name) {
    return (NormWeights){keep(w, layer, name, "gain"), keep(w, layer, name, "bias")};
}

/* The matrices NAMES below each other in one packed matrix. */
static void pack(Weights *w, Packed *to, int layer, int n, const char *const *names) {
    int out = 0, in = 0;
    for (int i = 0; i < n; i++) {
        int slice = find(w, layer, names[i], "weight");
        BUG_ON(slice == SLICE_NONE);
        MEM_GROW(w->part, w->parts, w->part_capacity);
        w->part[w->parts++] = (Part){slice, find(w, layer, names[i], "bias"), to, out};
        out += slice_of(w, slice)->rows;
        in = slice_of(w, slice)->cols;
    }
    packed_init(to, out, in);
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
        if (w->part[i].first == 0) packed_done(w->part[i].to);
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
        packed_set(p->to, p->first, slice_of(w, p->slice)->rows, numbers_of(w, p->slice), numbers_of(w, p->bias));
    }
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

const Packed *weights_head(const Weights *w) {
    return &w->head;
}
