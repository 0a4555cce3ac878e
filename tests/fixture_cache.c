/* The cache of a fixture: keys and values of noise, what they cost, and three models that never were. */
#include "fixture_cache.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static int slots_of(const FixtureSpec *p) {
    return p->window > 0 && p->window < p->position ? p->window : p->position;
}

/* The position that a slot holds when slots are used again. */
static int position_in(const FixtureSpec *p, int slot) {
    int slots = slots_of(p), newest = p->position - 1;
    return newest - (newest - slot) % slots;
}

/* A token gives the same numbers wherever it is kept. */
static void add_layer(Snapshot *s, const FixtureSpec *p, int layer) {
    for (int values = 0; values < 2; values++) {
        Field *f = field_new(3, (int[]){p->kv_heads, slots_of(p), p->head_dim}, "cache.%d.%s", layer,
                             values ? "values" : "keys");
        for (int h = 0, at = 0; h < p->kv_heads; h++)
            for (int slot = 0; slot < slots_of(p); slot++)
                for (int i = 0; i < p->head_dim; i++) {
                    unsigned where = (unsigned)(((layer * 2 + values) * 64 + h) * 1024 + i);
                    f->x[at++] = (real)((values ? 1.5 : 2.75) * fixture_noise(where, (unsigned)position_in(p, slot)));
                }
        snapshot_add_field(s, f);
    }
}

static const char *phase_of(const FixtureSpec *p, int position) {
    return position < p->prompt_tokens ? "prefill" : "decode";
}

static void add_slots(Snapshot *s, const FixtureSpec *p, const char *const *words, int n) {
    static const Column slot_columns[] = {{"slot", COLUMN_INT, ""},
                                          {"position", COLUMN_INT, ""},
                                          {"token", COLUMN_TEXT, ""},
                                          {"phase", COLUMN_TEXT, ""},
                                          {NULL, 0, NULL}};
    static const Column layer_columns[] = {
        {"layer", COLUMN_INT, ""}, {"window", COLUMN_INT, "tokens"}, {"slots", COLUMN_INT, ""}, {NULL, 0, NULL}};
    Table *slots = table_new("cache_slots", slot_columns), *layers = table_new("cache_layers", layer_columns);
    for (int slot = 0; slot < slots_of(p); slot++) {
        table_add_int(slots, slot);
        table_add_int(slots, position_in(p, slot));
        table_add_text(slots, words[position_in(p, slot) % n]);
        table_add_text(slots, phase_of(p, position_in(p, slot)));
    }
    for (int layer = 0; layer < p->layers; layer++) {
        table_add_int(layers, layer);
        table_add_int(layers, p->window);
        table_add_int(layers, p->window);
    }
    snapshot_add_table(s, slots);
    snapshot_add_table(s, layers);
}

/* Operations grow with the tokens; the numbers are invented. */
static void add_steps(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"step", COLUMN_INT, ""},       {"phase", COLUMN_TEXT, ""},
                                     {"tokens", COLUMN_INT, ""},     {"cached", COLUMN_INT, "tokens"},
                                     {"bytes", COLUMN_INT, "bytes"}, {"without", COLUMN_INT, "FLOPs"},
                                     {"with", COLUMN_INT, "FLOPs"},  {NULL, 0, NULL}};
    Table *t = table_new("cache_steps", columns);
    int prefill = p->position < p->prompt_tokens ? p->position : p->prompt_tokens;
    for (int tokens = prefill; tokens <= p->position; tokens++) {
        int cached = p->window > 0 && p->window < tokens ? p->window : tokens;
        long long all = 192512LL * tokens + 512LL * tokens * (tokens + 1) / 2;
        table_add_int(t, tokens - prefill);
        table_add_text(t, tokens == prefill ? "prefill" : "decode");
        table_add_int(t, tokens);
        table_add_int(t, cached);
        table_add_int(t, 2LL * p->layers * p->kv_heads * p->head_dim * cached * 4);
        table_add_int(t, all);
        table_add_int(t, tokens == prefill ? all : 192512LL + 512LL * tokens);
    }
    snapshot_add_table(s, t);
}

static void add_check(Snapshot *s, const FixtureSpec *p, const char *const *words, int n) {
    static const Column columns[] = {{"position", COLUMN_INT, ""},
                                     {"token", COLUMN_TEXT, ""},
                                     {"max_difference", COLUMN_DOUBLE, "logits"},
                                     {"same_token", COLUMN_INT, ""},
                                     {NULL, 0, NULL}};
    Table *t = table_new("cache_check", columns);
    for (int i = 0; i < p->position; i++) {
        table_add_int(t, i);
        table_add_text(t, words[i % n]);
        table_add_real(t, p->state == RUN_DIVERGED ? (double)NAN : 1e-6 * (1 + i % 4));
        table_add_int(t, p->state != RUN_DIVERGED);
    }
    snapshot_add_table(s, t);
}

typedef struct {
    const char *name;
    int layers, heads, kv_heads, head_dim, window;
    int latent; /* 0: none */
    double weights;
} Model;

static void add_size(Table *t, const Model *m, const char *scheme, bool own, int kv_heads, int wide, long long tokens,
                     int value) {
    long long token = (long long)m->layers * wide * value,
              kept = m->window > 0 && m->window < tokens ? m->window : tokens;
    table_add_text(t, m->name);
    table_add_text(t, scheme);
    table_add_int(t, own);
    table_add_int(t, kv_heads);
    table_add_int(t, m->layers);
    table_add_int(t, m->head_dim);
    table_add_int(t, m->window);
    table_add_int(t, tokens);
    table_add_real(t, value);
    table_add_int(t, token);
    table_add_int(t, token * tokens);
    table_add_int(t, token * kept);
    if (isnan(m->weights))
        table_add_empty(t);
    else
        table_add_real(t, m->weights);
}

static void add_sizes_of(Table *t, const Model *m, long long tokens, int value) {
    bool grouped = m->kv_heads > 1 && m->kv_heads < m->heads;
    int groups = grouped ? m->kv_heads : 8;
    add_size(t, m, "mha", !m->latent && m->kv_heads == m->heads, m->heads, 2 * m->heads * m->head_dim, tokens, value);
    if (grouped || m->heads > 8)
        add_size(t, m, "gqa", !m->latent && grouped, groups, 2 * groups * m->head_dim, tokens, value);
    add_size(t, m, "mqa", false, 1, 2 * m->head_dim, tokens, value);
    add_size(t, m, "mla", m->latent > 0, 1, m->latent ? m->latent : 9 * m->head_dim / 2, tokens, value);
}

static void add_sizes(Snapshot *s, const FixtureSpec *p) {
    static const Column columns[] = {{"model", COLUMN_TEXT, ""},
                                     {"scheme", COLUMN_TEXT, ""},
                                     {"own", COLUMN_INT, ""},
                                     {"kv_heads", COLUMN_INT, ""},
                                     {"layers", COLUMN_INT, ""},
                                     {"head_dim", COLUMN_INT, ""},
                                     {"window", COLUMN_INT, "tokens"},
                                     {"tokens", COLUMN_INT, ""},
                                     {"value_bytes", COLUMN_DOUBLE, "bytes"},
                                     {"bytes_per_token", COLUMN_INT, "bytes"},
                                     {"bytes", COLUMN_INT, "bytes"},
                                     {"rolling_bytes", COLUMN_INT, "bytes"},
                                     {"weights_bytes", COLUMN_DOUBLE, "bytes"},
                                     {NULL, 0, NULL}};
    static const Model cards[] = {{"early-7b", 32, 32, 32, 128, 0, 0, 13.5e9},
                                  {"llama3-8b", 32, 32, 8, 128, 0, 0, 16.06e9},
                                  {"rolling-7b", 32, 32, 8, 128, 4096, 0, 14.5e9},
                                  {"latent-600b", 61, 128, 128, 128, 0, 576, (double)NAN}};
    Table *t = table_new("cache_sizes", columns);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        add_sizes_of(t, &cards[i], 8192, 2);
        add_sizes_of(t, &cards[i], 131072, 2);
    }
    Model run = {"", p->layers, p->heads, p->kv_heads, p->head_dim, p->window, 0, 398592};
    add_sizes_of(t, &run, p->position, 4);
    snapshot_add_table(s, t);
}

void fixture_add_cache(Snapshot *s, const FixtureSpec *p, const char *const *words, int n) {
    for (int layer = 0; layer < p->layers; layer++) add_layer(s, p, layer);
    add_slots(s, p, words, n);
    add_steps(s, p);
    add_check(s, p, words, n);
    add_sizes(s, p);
}
