#include "model.h"

#include "bug.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    int gain, bias; /* slices or SLICE_NONE */
} NormSlices;

typedef struct {
    NormSlices norm1, norm2;         /* before attention and feed-forward (with PLACE_POST: after the sum) */
    NormSlices norm1_out, norm2_out; /* on what they give, before it is added */
    int qkv, qkv_bias;               /* three slices that follow each other */
    int query_norm, key_norm;
    int out, out_bias;
    int up, up_bias; /* gated: two slices, gate and up */
    int down, down_bias;
} BlockSlices;

struct Model {
    ModelConfig config;
    Params params;
    int token, position, head;
    NormSlices final_norm;
    BlockSlices *block; /* [L] */
};

const ModelConfig *model_config(const Model *m) {
    return &m->config;
}
void model_set_window(Model *m, int window) {
    BUG_ON(window < 0);
    m->config.window = window;
    m->config.global_every = 0;
}

Params *model_params(Model *m) {
    return &m->params;
}
const Params *model_read_params(const Model *m) {
    return &m->params;
}

/* --- slices --- */

#define EMBEDDING_STD 0.02

static int add_matrix(Params *p, const char *prefix, const char *name, int out, int in) {
    char full[64];
    (void)snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    int slice = params_add(p, full, out, in, INIT_NORMAL, 1 / sqrt(in));
    p->slice[slice].decay = true; /* also a matrix of one row */
    return slice;
}

static int add_bias(Params *p, bool wanted, const char *prefix, const char *name, int out) {
    char full[64];
    if (!wanted) return SLICE_NONE;
    (void)snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    return params_add(p, full, 1, out, INIT_ZERO, 0);
}

static int add_gain(Params *p, const char *prefix, const char *name, int cols) {
    char full[64];
    (void)snprintf(full, sizeof full, "%s%s.gain", prefix, name);
    return params_add(p, full, 1, cols, INIT_ONE, 0);
}

static NormSlices add_norm(Params *p, const ModelConfig *c, const char *prefix, const char *name) {
    NormSlices n = {SLICE_NONE, SLICE_NONE};
    if (c->norm == NORM_NONE) return n;
    n.gain = add_gain(p, prefix, name, c->d);
    if (c->norm == NORM_LAYER) n.bias = add_bias(p, c->bias, prefix, name, c->d);
    return n;
}

static bool norms_input(const ModelConfig *c) {
    return c->norm_place == PLACE_PRE || c->norm_place == PLACE_BOTH;
}
static bool norms_output(const ModelConfig *c) {
    return c->norm_place == PLACE_OUTPUT || c->norm_place == PLACE_BOTH;
}
static bool norms_sum(const ModelConfig *c) {
    return c->norm_place == PLACE_POST;
}

static void add_attention(Params *p, const ModelConfig *c, const char *prefix, BlockSlices *b) {
    int q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    b->qkv = add_matrix(p, prefix, "attention.query", q, c->d);
    (void)add_matrix(p, prefix, "attention.key", kv, c->d);
    (void)add_matrix(p, prefix, "attention.value", kv, c->d);
    b->qkv_bias = add_bias(p, config_has_qkv_bias(c), prefix, "attention.query", q);
    (void)add_bias(p, config_has_qkv_bias(c), prefix, "attention.key", kv);
    (void)add_bias(p, config_has_qkv_bias(c), prefix, "attention.value", kv);
    b->query_norm = c->qk_norm ? add_gain(p, prefix, "attention.query_norm", c->head_dim) : SLICE_NONE;
    b->key_norm = c->qk_norm ? add_gain(p, prefix, "attention.key_norm", c->head_dim) : SLICE_NONE;
    b->out = add_matrix(p, prefix, "attention.out", c->d, q);
    b->out_bias = add_bias(p, config_has_out_bias(c), prefix, "attention.out", c->d);
}

static void add_ffn(Params *p, const ModelConfig *c, const char *prefix, BlockSlices *b) {
    bool gated = config_is_gated(c->ffn);
    b->up = add_matrix(p, prefix, gated ? "ffn.gate" : "ffn.up", c->d_ff, c->d);
    if (gated) (void)add_matrix(p, prefix, "ffn.up", c->d_ff, c->d);
    bool bias = config_has_ffn_bias(c);
    b->up_bias = add_bias(p, bias, prefix, gated ? "ffn.gate" : "ffn.up", c->d_ff);
    if (gated) (void)add_bias(p, bias, prefix, "ffn.up", c->d_ff);
    b->down = add_matrix(p, prefix, "ffn.down", c->d, c->d_ff);
    b->down_bias = add_bias(p, bias, prefix, "ffn.down", c->d);
}

static void add_block(Params *p, const ModelConfig *c, int layer, BlockSlices *b) {
    char prefix[24];
    NormSlices none = {SLICE_NONE, SLICE_NONE};
    (void)snprintf(prefix, sizeof prefix, "block%d.", layer);
    b->norm1 = norms_input(c) || norms_sum(c) ? add_norm(p, c, prefix, "norm1") : none;
    add_attention(p, c, prefix, b);
    b->norm1_out = norms_output(c) ? add_norm(p, c, prefix, "norm1_out") : none;
    /* side by side, attention and feed-forward share one norm */
    b->norm2 = (norms_input(c) || norms_sum(c)) && !c->parallel ? add_norm(p, c, prefix, "norm2") : none;
    add_ffn(p, c, prefix, b);
    b->norm2_out = norms_output(c) ? add_norm(p, c, prefix, "norm2_out") : none;
}

Model *model_shell(const ModelConfig *config) {
    Status status = config_check_shape(config);
    BUG_ON(!status_is_ok(&status));
    Model *m = MEM_NEW(Model);
    m->config = *config;
    Params *p = &m->params;
    params_init(p);
    m->token = params_add(p, "token.weight", config->vocab, config->d, INIT_NORMAL, EMBEDDING_STD);
    m->position = SLICE_NONE;
    if (config->pos == POS_LEARNED)
        m->position = params_add(p, "position.weight", config->context, config->d, INIT_NORMAL, EMBEDDING_STD);
    m->block = MEM_ARRAY(BlockSlices, (size_t)config->layers);
    for (int l = 0; l < config->layers; l++) add_block(p, config, l, &m->block[l]);
    m->final_norm = norms_sum(config) ? (NormSlices){SLICE_NONE, SLICE_NONE} : add_norm(p, config, "", "final_norm");
    m->head = config->tie ? m->token : add_matrix(p, "", "head", config->vocab, config->d);
    return m;
}

size_t model_count(const ModelConfig *config) {
    Model *m = model_shell(config);
    size_t count = m->params.count;
    model_free(m);
    return count;
}

Model *model_new(const ModelConfig *config, uint64_t seed) {
    Status status = config_check(config);
    BUG_ON(!status_is_ok(&status));
    Model *m = model_shell(config);
    params_seal(&m->params);
    params_fill(&m->params, seed);
    return m;
}

bool model_same_slices(const ModelConfig *a, const ModelConfig *b, ParamsDifference *out) {
    Model *one = model_shell(a), *other = model_shell(b);
    bool same = params_same(&one->params, &other->params, out);
    model_free(one);
    model_free(other);
    return same;
}

void model_rebuild(Model *m, const ModelConfig *config) {
    Model *plan = model_shell(config);
    ParamsDifference difference;
    BUG_ON(!params_same(&m->params, &plan->params, &difference));
    Params numbers = m->params;
    mem_free(m->block);
    *m = *plan;
    m->params = numbers;
    plan->block = NULL;
    model_free(plan);
}

Model *model_copy(const Model *m) {
    Model *copy = MEM_NEW(Model);
    *copy = *m;
    params_init(&copy->params);
    params_copy(&copy->params, &m->params);
    copy->block = MEM_ARRAY(BlockSlices, (size_t)m->config.layers);
    for (int l = 0; l < m->config.layers; l++) copy->block[l] = m->block[l];
    return copy;
}

void model_free(Model *m) {
    if (!m) return;
    params_done(&m->params);
    mem_free(m->block);
    mem_free(m);
}

/* --- graph --- */

typedef struct {
    const Model *m;
    Tape *t;
    const ModelTweak *tweak;
    int layer;
} Graph;

/* x itself when there is no such norm. */
static Vid add_norm_node(const Graph *g, Vid x, NormSlices n, const char *name) {
    const ModelConfig *c = &g->m->config;
    if (n.gain == SLICE_NONE) return x;
    Vid y = tape_norm(g->t, x, c->norm, n.gain, n.bias, 0, c->norm_eps);
    tape_name(g->t, "block%d.%s", g->layer, name);
    return y;
}

static Vid add_dropout(const Graph *g, Vid x, const char *name) {
    if (!(g->m->config.dropout > 0)) return x;
    Vid y = tape_dropout(g->t, x, g->m->config.dropout);
    tape_name(g->t, "block%d.%s.dropout", g->layer, name);
    return y;
}

/* Queries or keys: norm per head, then positions. */
static Vid add_head_steps(const Graph *g, Vid x, int norm, const char *name) {
    const ModelConfig *c = &g->m->config;
    if (c->qk_norm) {
        x = tape_norm(g->t, x, NORM_RMS, norm, SLICE_NONE, c->head_dim, c->norm_eps);
        tape_name(g->t, "block%d.attention.%s.norm", g->layer, name);
    }
    if (c->pos == POS_ROPE) {
        x = tape_rope(g->t, x, c->head_dim, c->rope_base, &c->rope_scaling, c->pairing);
        tape_name(g->t, "block%d.attention.%s.rope", g->layer, name);
    }
    return x;
}

MaskRule model_mask(const Model *m, const ModelTweak *tweak, int layer) {
    bool other = tweak && tweak->window >= 0;
    return (MaskRule){.window = other ? tweak->window : config_window(&m->config, layer), .causal = true};
}

static AttentionShape attention_shape(const Graph *g) {
    const ModelConfig *c = &g->m->config;
    const unsigned char *off = NULL;
    if (g->tweak && g->tweak->head_off) off = g->tweak->head_off + (size_t)g->layer * (size_t)c->heads;
    return (AttentionShape){.heads = c->heads,
                            .kv_heads = c->kv_heads,
                            .head_dim = c->head_dim,
                            .mask = model_mask(g->m, g->tweak, g->layer),
                            .softcap = c->softcap,
                            .head_off = off};
}

static Vid add_attention_nodes(const Graph *g, Vid x) {
    const BlockSlices *b = &g->m->block[g->layer];
    static const char *const names[] = {"query", "key", "value"};
    Vid qkv[3];
    tape_linear_parts(g->t, x, b->qkv, b->qkv_bias, 3, qkv);
    for (int i = 0; i < 3; i++) tape_name_value(g->t, qkv[i], "block%d.attention.%s", g->layer, names[i]);
    Vid q = add_head_steps(g, qkv[0], b->query_norm, "query"), k = add_head_steps(g, qkv[1], b->key_norm, "key");
    AttentionShape shape = attention_shape(g);
    Vid y = tape_attention(g->t, q, k, qkv[2], &shape);
    tape_name(g->t, "block%d.attention", g->layer);
    y = tape_linear(g->t, y, b->out, b->out_bias);
    tape_name(g->t, "block%d.attention.out", g->layer);
    y = add_dropout(g, y, "attention.out");
    return add_norm_node(g, y, b->norm1_out, "norm1_out");
}

static ActKind act_of(FfnKind kind) {
    switch (kind) {
    case FFN_RELU:
    case FFN_REGLU:
        return ACT_RELU;
    case FFN_GELU:
    case FFN_GEGLU:
        return ACT_GELU;
    case FFN_GELU_TANH:
        return ACT_GELU_TANH;
    case FFN_SILU:
    case FFN_SWIGLU:
        return ACT_SILU;
    case FFN_SQUARED_RELU:
        return ACT_SQUARED_RELU;
    }
    BUG_ON(true);
    return ACT_RELU;
}

static Vid add_ffn_nodes(const Graph *g, Vid x) {
    const BlockSlices *b = &g->m->block[g->layer];
    FfnKind kind = g->m->config.ffn;
    Vid y, parts[2];
    if (config_is_gated(kind)) {
        tape_linear_parts(g->t, x, b->up, b->up_bias, 2, parts);
        tape_name_value(g->t, parts[0], "block%d.ffn.gate", g->layer);
        tape_name_value(g->t, parts[1], "block%d.ffn.up", g->layer);
        y = tape_glu(g->t, parts[0], parts[1], act_of(kind));
        tape_name(g->t, "block%d.ffn.glu", g->layer);
    } else {
        y = tape_linear(g->t, x, b->up, b->up_bias);
        tape_name(g->t, "block%d.ffn.up", g->layer);
        y = tape_act(g->t, y, act_of(kind));
        tape_name(g->t, "block%d.ffn.act", g->layer);
    }
    y = tape_linear(g->t, y, b->down, b->down_bias);
    tape_name(g->t, "block%d.ffn.down", g->layer);
    y = add_dropout(g, y, "ffn.down");
    return add_norm_node(g, y, b->norm2_out, "norm2_out");
}

static Vid add_sum(const Graph *g, Vid a, Vid b, int number) {
    Vid y = tape_add(g->t, a, b);
    tape_name(g->t, "block%d.residual%d", g->layer, number);
    return y;
}

/* PRE:  x + f(norm x);  POST: norm(x + f x);  BOTH: x + norm f(norm x);  OUTPUT: x + norm f(x). */
static Vid add_block_nodes(const Graph *g, Vid x) {
    const ModelConfig *c = &g->m->config;
    const BlockSlices *b = &g->m->block[g->layer];
    NormSlices none = {SLICE_NONE, SLICE_NONE};
    Vid u = add_norm_node(g, x, norms_input(c) ? b->norm1 : none, "norm1");
    Vid y = add_sum(g, x, add_attention_nodes(g, u), 1);
    if (c->parallel) {
        y = add_sum(g, y, add_ffn_nodes(g, u), 2);
        return add_norm_node(g, y, norms_sum(c) ? b->norm1 : none, "norm1");
    }
    y = add_norm_node(g, y, norms_sum(c) ? b->norm1 : none, "norm1");
    u = add_norm_node(g, y, norms_input(c) ? b->norm2 : none, "norm2");
    y = add_sum(g, y, add_ffn_nodes(g, u), 2);
    return add_norm_node(g, y, norms_sum(c) ? b->norm2 : none, "norm2");
}

static Vid add_embedding_nodes(const Graph *g) {
    const ModelConfig *c = &g->m->config;
    Tape *t = g->t;
    Vid x = tape_embed(t, g->m->token, EMBED_TOKEN), p = VID_NONE;
    tape_name(t, "embed");
    if (c->pos == POS_LEARNED) p = tape_embed(t, g->m->position, EMBED_POSITION);
    if (c->pos == POS_SINUSOID) p = tape_sinusoid(t, c->d);
    if (p != VID_NONE) {
        tape_name(t, "position");
        x = tape_add(t, x, p);
        tape_name(t, "embedded");
    }
    if (c->dropout > 0) {
        x = tape_dropout(t, x, c->dropout);
        tape_name(t, "embed.dropout");
    }
    return x;
}

Vid model_graph(const Model *m, Tape *t, const ModelTweak *tweak) {
    Graph g = {.m = m, .t = t, .tweak = tweak};
    Vid x = add_embedding_nodes(&g);
    for (g.layer = 0; g.layer < m->config.layers; g.layer++) x = add_block_nodes(&g, x);
    if (m->final_norm.gain != SLICE_NONE) {
        x = tape_norm(t, x, m->config.norm, m->final_norm.gain, m->final_norm.bias, 0, m->config.norm_eps);
        tape_name(t, "final_norm");
    }
    x = tape_linear(t, x, m->head, SLICE_NONE);
    tape_name(t, "logits");
    return x;
}
