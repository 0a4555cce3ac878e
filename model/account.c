#include "account.h"

#include "bug.h"

Count account_add(Count a, Count b) {
    Count sum;
    BUG_ON(a < 0 || b < 0);
    return __builtin_add_overflow(a, b, &sum) ? ACCOUNT_TOO_MANY : sum;
}

Count account_times(Count a, Count b) {
    Count product;
    BUG_ON(a < 0 || b < 0);
    if (a == ACCOUNT_TOO_MANY || b == ACCOUNT_TOO_MANY) return ACCOUNT_TOO_MANY;
    return __builtin_mul_overflow(a, b, &product) ? ACCOUNT_TOO_MANY : product;
}

/* The product of N counts. */
static Count product(int n, const Count *x) {
    Count p = 1;
    for (int i = 0; i < n; i++) p = account_times(p, x[i]);
    return p;
}

#define PRODUCT(...) product((int)(sizeof((const Count[]){__VA_ARGS__}) / sizeof(Count)), (const Count[]){__VA_ARGS__})

Count account_bytes(Count values, int bits) {
    Count whole = account_times(values, bits);
    return whole == ACCOUNT_TOO_MANY ? whole : whole / 8 + (whole % 8 != 0);
}

/* --- widths: a model's are small enough for products of two --- */

static Count query_width(const ModelConfig *c) {
    return (Count)c->heads * c->head_dim;
}

static Count kv_width(const ModelConfig *c) {
    return (Count)c->kv_heads * c->head_dim;
}

static int ffn_matrices(const ModelConfig *c) {
    return config_is_gated(c->ffn) ? 3 : 2;
}

/* Norms of a block that have parameters of their own. A parallel block shares one norm between attention and
 * feed-forward. */
static int block_norms(const ModelConfig *c) {
    int outside = c->norm_place == PLACE_OUTPUT ? 0 : c->parallel ? 1 : 2; /* before the two, or after the sums */
    int behind = c->norm_place == PLACE_OUTPUT || c->norm_place == PLACE_BOTH ? 2 : 0;
    return c->norm == NORM_NONE ? 0 : outside + behind;
}

static int final_norms(const ModelConfig *c) {
    return c->norm == NORM_NONE || c->norm_place == PLACE_POST ? 0 : 1;
}

/* --- parameters --- */

static Count attention_parameters(const ModelConfig *c) {
    Count q = query_width(c), kv = kv_width(c);
    Count matrices = account_times(c->d, 2 * q + 2 * kv);
    Count biases = (config_has_qkv_bias(c) ? q + 2 * kv : 0) + (config_has_out_bias(c) ? c->d : 0);
    return account_add(matrices, biases + (c->qk_norm ? 2 * (Count)c->head_dim : 0));
}

static Count ffn_parameters(const ModelConfig *c) {
    Count biases = config_has_ffn_bias(c) ? (Count)(ffn_matrices(c) - 1) * c->d_ff + c->d : 0;
    return account_add(PRODUCT(ffn_matrices(c), c->d, c->d_ff), biases);
}

static Count norm_parameters(const ModelConfig *c) {
    Count each = c->norm == NORM_LAYER && c->bias ? 2 * (Count)c->d : c->d;
    return account_times((Count)c->layers * block_norms(c) + final_norms(c), each);
}

ParameterAccount account_parameters(const ModelConfig *c) {
    ParameterAccount a = {.token_embedding = (Count)c->vocab * c->d,
                          .position_embedding = c->pos == POS_LEARNED ? (Count)c->context * c->d : 0,
                          .attention = account_times(c->layers, attention_parameters(c)),
                          .feed_forward = account_times(c->layers, ffn_parameters(c)),
                          .norm = norm_parameters(c),
                          .output = c->tie ? 0 : (Count)c->vocab * c->d};
    const Count parts[] = {a.token_embedding, a.position_embedding, a.attention, a.feed_forward, a.norm, a.output};
    for (int i = 0; i < 6; i++) a.total = account_add(a.total, parts[i]);
    return a;
}

/* --- operations --- */

Count account_allowed(Count T, Count window) {
    if (window == 0 || window > T) window = T;
    Count corner = account_times(window, window); /* half of it, with the diagonal, is what early queries see */
    if (corner == ACCOUNT_TOO_MANY) return corner;
    return account_add((corner - window) / 2 + window, account_times(T - window, window));
}

static Count layer_scores(const ModelConfig *c, int layer, Count T, AccountScores scores) {
    if (scores == ACCOUNT_ALL_SCORES) return account_times(T, T);
    return account_allowed(T, config_window(c, layer));
}

FlopAccount account_flops(const ModelConfig *c, Count T, Count batch, AccountScores scores) {
    FlopAccount a = {0};
    Count tokens = account_times(T, batch), pairs = 0;
    for (int l = 0; l < c->layers; l++) pairs = account_add(pairs, layer_scores(c, l, T, scores));
    Count attention_width = 2 * query_width(c) + 2 * kv_width(c);
    a.projections = PRODUCT(2, tokens, c->d, attention_width, c->layers);
    a.core = PRODUCT(4, batch, pairs, query_width(c));
    a.feed_forward = PRODUCT(2, tokens, ffn_matrices(c), c->d, c->d_ff, c->layers);
    a.output = PRODUCT(2, tokens, c->d, c->vocab);
    a.total = account_add(account_add(a.projections, a.core), account_add(a.feed_forward, a.output));
    return a;
}

/* --- what is kept --- */

/* Values of one row in one layer. */
static Count row_values(const ModelConfig *c) {
    Count q = query_width(c), kv = kv_width(c), d = c->d;
    Count norms = block_norms(c) * d + (c->qk_norm ? q + kv : 0);
    Count attention = q + 2 * kv + q + d;
    Count inner =
        (config_is_gated(c->ffn) ? 4 : 2) * (Count)c->d_ff; /* gate, up, f(gate), their product; or up, f(up) */
    return norms + attention + inner + d;
}

ActivationAccount account_activations(const ModelConfig *c, Count T, Count batch) {
    ActivationAccount a = {0};
    Count tokens = account_times(T, batch);
    Count layers = account_times(c->layers, row_values(c)), last = final_norms(c) * (Count)c->d + 2 * (Count)c->vocab;
    a.square = PRODUCT(c->softcap > 0 ? 3 : 2, c->heads, T, tokens, c->layers);
    a.rows = account_times(tokens, account_add(layers, last));
    a.total = account_add(a.square, a.rows);
    return a;
}

Count account_cache(const ModelConfig *c, Count T) {
    return PRODUCT(2, c->layers, kv_width(c), T);
}

Count account_rolling_cache(const ModelConfig *c, Count T) {
    Count tokens = 0;
    for (int l = 0; l < c->layers; l++) {
        int window = config_window(c, l);
        tokens = account_add(tokens, window > 0 && window < T ? window : T);
    }
    return PRODUCT(2, kv_width(c), tokens);
}
