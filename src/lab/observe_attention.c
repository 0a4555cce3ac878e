/* The observer of attention: every stage of every head as fields. */
#include "scene.h"

#include "attention_stages.h"
#include "bug.h"
#include "cancel.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

/* A stage of the probe's attention node, [H T T]; nothing when the node has no such stage. */
static void add_stage(Snapshot *s, const Tape *t, int node, int layer, const char *stage) {
    int dim[3];
    const real *x = tape_stage(t, node, stage, dim);
    if (!x) return;
    Field *f = field_new(3, dim, "attention.%d.%s", layer, stage);
    memcpy(f->x, x, field_count(f) * sizeof *x);
    snapshot_add_field(s, f);
}

/* A value [T x H*hd] as a field [H T hd]. */
static void add_heads(Snapshot *s, const Tape *t, Vid v, int head_dim, int layer, const char *name) {
    int T, cols;
    const real *x = tape_value(t, v, &T, &cols);
    int heads = cols / head_dim;
    Field *f = field_new(3, (const int[]){heads, T, head_dim}, "attention.%d.%s", layer, name);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < T; i++)
            memcpy(f->x + (size_t)(h * T + i) * (size_t)head_dim,
                   x + (size_t)i * (size_t)cols + (size_t)h * (size_t)head_dim, (size_t)head_dim * sizeof *x);
    snapshot_add_field(s, f);
}

/* Queries or keys before RoPE, when the model has it. */
static void add_before(Snapshot *s, const Tape *t, int head_dim, int layer, const char *which) {
    char name[64];
    snprintf(name, sizeof name, "block%d.attention.%s.rope", layer, which);
    int node = tape_find(t, name);
    if (node < 0) return;
    snprintf(name, sizeof name, "%s_before", which);
    add_heads(s, t, tape_node(t, node).in[0], head_dim, layer, name);
}

static int node_of(const Tape *t, int layer) {
    char name[64];
    snprintf(name, sizeof name, "block%d.attention", layer);
    int node = tape_find(t, name);
    BUG_ON(node < 0);
    return node;
}

static void add_stages(Snapshot *s, const Tape *t, int layer) {
    static const char *const stages[] = {"scores", "scaled", "softcapped", "masked", "weights"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) add_stage(s, t, node_of(t, layer), layer, stages[i]);
}

static void add_vectors(Snapshot *s, const Tape *t, int head_dim, int layer) {
    int node = node_of(t, layer);
    NodeInfo n = tape_node(t, node);
    add_heads(s, t, n.in[0], head_dim, layer, "query");
    add_heads(s, t, n.in[1], head_dim, layer, "key");
    add_heads(s, t, n.in[2], head_dim, layer, "value");
    add_heads(s, t, n.out, head_dim, layer, "mix");
    add_before(s, t, head_dim, layer, "query");
    add_before(s, t, head_dim, layer, "key");
}

/* Which heads are switched off: [layers heads], 1 is off. */
static void add_head_off(Snapshot *s, const Scene *scene) {
    const ModelConfig *c = model_config(scene->model);
    Field *f = field_new(2, (const int[]){c->layers, c->heads}, "attention.head_off");
    for (size_t i = 0; scene->tweak.head_off && i < field_count(f); i++) f->x[i] = scene->tweak.head_off[i];
    snapshot_add_field(s, f);
}

static void add_softcap(Snapshot *s, const ModelConfig *c) {
    if (c->softcap <= 0) return;
    Field *f = field_new(1, (const int[]){1}, "attention.softcap");
    f->x[0] = (real)c->softcap;
    snapshot_add_field(s, f);
}

/* --- of long texts: the stages are made when they are asked for --- */

void observe_attention_catch(Snapshot *to, const Tape *t, int node, int head_dim) {
    static const char *const names[] = {"query", "key", "value"};
    NodeInfo n = tape_node(t, node);
    int layer, at = 0;
    if (sscanf(n.name, "block%d.attention%n", &layer, &at) != 1 || at == 0) return;
    const char *rest = n.name + at;
    if (strcmp(rest, ".query.rope") == 0) add_heads(to, t, n.in[0], head_dim, layer, "query_before");
    if (strcmp(rest, ".key.rope") == 0) add_heads(to, t, n.in[0], head_dim, layer, "key_before");
    for (int i = 0; !*rest && i < 3; i++) add_heads(to, t, n.in[i], head_dim, layer, names[i]);
}

typedef struct {
    const Snapshot *vectors; /* that holds them; it holds us */
    int layers;
    unsigned char *off;     /* [layers heads] switched off */
    AttentionShape shape[]; /* [layers] */
} Later;

static AttentionShape shape_of(const Scene *scene, int layer) {
    const ModelConfig *c = model_config(scene->model);
    return (AttentionShape){.heads = c->heads,
                            .kv_heads = c->kv_heads,
                            .head_dim = c->head_dim,
                            .mask = model_mask(scene->model, &scene->tweak, layer),
                            .softcap = c->softcap};
}

static const Field *vectors_of(const Snapshot *s, int layer, const char *which) {
    return snapshot_field(s, "attention.%d.%s", layer, which);
}

/* The layer of attention.LAYER.WHAT when WHAT is made there, else -1. */
static int layer_made(const Later *l, const char *name) {
    static const char *const made[] = {"scores", "scaled", "softcapped", "masked", "weights", "mix"};
    int layer, at = 0, i = 0;
    if (sscanf(name, "attention.%d.%n", &layer, &at) != 1 || at == 0 || layer < 0 || layer >= l->layers) return -1;
    while (i < 6 && strcmp(name + at, made[i]) != 0) i++;
    bool there = i < 6 && (strcmp(name + at, "softcapped") != 0 || l->shape[layer].softcap > 0);
    return there ? layer : -1;
}

static bool knows_stage(const void *data, const char *name) {
    return layer_made(data, name) >= 0;
}

static int make_stages(const void *data, const char *name, Field **out) {
    const Later *l = data;
    int layer = layer_made(l, name);
    return attention_stages(&l->shape[layer], layer, vectors_of(l->vectors, layer, "query"),
                            vectors_of(l->vectors, layer, "key"), vectors_of(l->vectors, layer, "value"), out);
}

static void free_later(void *data) {
    Later *l = data;
    mem_free(l->off);
    mem_free(l);
}

static void make_later(const Scene *scene, Snapshot *s) {
    int layers = model_config(scene->model)->layers;
    Later *l = mem_zero(1, sizeof *l + (size_t)layers * sizeof *l->shape);
    size_t heads = (size_t)model_config(scene->model)->heads;
    *l = (Later){.vectors = s, .layers = layers, .off = MEM_ARRAY(unsigned char, (size_t)layers *heads)};
    if (scene->tweak.head_off) memcpy(l->off, scene->tweak.head_off, (size_t)layers * heads);
    for (int layer = 0; layer < layers; layer++) {
        l->shape[layer] = shape_of(scene, layer);
        l->shape[layer].head_off = l->off + (size_t)layer * heads;
    }
    static const SnapshotMaker stages = {knows_stage, make_stages, free_later};
    snapshot_set_maker(s, &stages, l);
}

static void add_blocks(const Scene *scene, Snapshot *s, int layer) {
    AttentionShape shape = shape_of(scene, layer);
    if (cancel_wanted()) return;
    snapshot_add_field(s, attention_blocks(&shape, layer, vectors_of(s, layer, "query"), vectors_of(s, layer, "key"),
                                           vectors_of(s, layer, "value")));
}

void observe_attention(Observers *o, const Scene *scene, Snapshot *s) {
    const Tape *t = observers_probe(o, scene);
    const ModelConfig *c = model_config(scene->model);
    bool later = observers_stages_later(scene);
    if (later && cancel_wanted()) return; /* the pass was not finished */
    if (later) snapshot_include(s, observers_caught(o));
    for (int layer = 0; layer < c->layers; layer++) {
        if (later) {
            add_blocks(scene, s, layer);
        } else {
            add_stages(s, t, layer);
            add_vectors(s, t, c->head_dim, layer);
        }
    }
    if (later) make_later(scene, s);
    add_head_off(s, scene);
    add_softcap(s, c);
}
