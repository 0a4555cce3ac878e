/* foreign: models in the formats of others, written byte by byte as those formats say, for tests that read them. */
#ifndef TESTS_FOREIGN_H
#define TESTS_FOREIGN_H

#include "model.h"
#include "str.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void foreign_add_word(Str *out, uint32_t x) {
    for (int i = 0; i < 4; i++) str_add_char(out, (char)(x >> 8 * i));
}

static inline void foreign_add_float(Str *out, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    foreign_add_word(out, bits);
}

/* All numbers of a slice, row by row. */
static inline void foreign_add_slice(Str *out, const Model *m, const char *name) {
    const Params *p = model_read_params(m);
    int slice = params_find(p, name);
    for (int r = 0; r < p->slice[slice].rows; r++)
        for (int c = 0; c < p->slice[slice].cols; c++) foreign_add_float(out, (float)params_number(p, slice, r, c));
}

static inline void foreign_add_layers(Str *out, const Model *m, const char *name) {
    for (int l = 0; l < model_config(m)->layers; l++) {
        char full[80];
        (void)snprintf(full, sizeof full, "block%d.%s", l, name);
        foreign_add_slice(out, m, full);
    }
}

static inline void foreign_add_header(Str *out, const ModelConfig *c, int vocab) {
    const int n[] = {c->d, c->d_ff, c->layers, c->heads, c->kv_heads, vocab, c->context};
    for (int i = 0; i < 7; i++) foreign_add_word(out, (uint32_t)n[i]);
}

static inline void foreign_llama2c_v0(Str *out, const Model *m) {
    const ModelConfig *c = model_config(m);
    static const char *const layers[] = {"norm1.gain",           "attention.query.weight",
                                         "attention.key.weight", "attention.value.weight",
                                         "attention.out.weight", "norm2.gain",
                                         "ffn.gate.weight",      "ffn.down.weight",
                                         "ffn.up.weight"};
    foreign_add_header(out, c, c->tie ? c->vocab : -c->vocab);
    foreign_add_slice(out, m, "token.weight");
    for (int i = 0; i < 9; i++) foreign_add_layers(out, m, layers[i]);
    foreign_add_slice(out, m, "final_norm.gain");
    for (int i = 0; i < c->context * c->head_dim; i++) foreign_add_float(out, 7); /* cosines and sines: not read */
    if (!c->tie) foreign_add_slice(out, m, "head.weight");
}

static inline void foreign_llama2c_v1(Str *out, const Model *m) {
    const ModelConfig *c = model_config(m);
    static const char *const layers[] = {"attention.query.weight", "attention.key.weight", "attention.value.weight",
                                         "attention.out.weight",   "ffn.gate.weight",      "ffn.down.weight",
                                         "ffn.up.weight"};
    str_add(out, "24ka");
    foreign_add_word(out, 1);
    foreign_add_header(out, c, c->vocab);
    str_add_char(out, c->tie);
    while (out->len < 256) str_add_char(out, 0);
    foreign_add_layers(out, m, "norm1.gain");
    foreign_add_layers(out, m, "norm2.gain");
    foreign_add_slice(out, m, "final_norm.gain");
    foreign_add_slice(out, m, "token.weight");
    for (int i = 0; i < 7; i++) foreign_add_layers(out, m, layers[i]);
    if (!c->tie) foreign_add_slice(out, m, "head.weight");
}

/* A small model such as llama2.c has. */
static inline Model *foreign_llama2c_model(bool tie) {
    ModelConfig c = config_modern();
    c.vocab = 11;
    c.context = 6;
    c.d = 8;
    c.layers = 2;
    c.heads = 4;
    c.kv_heads = 2;
    c.head_dim = 2;
    c.d_ff = 5;
    c.tie = tie;
    c.norm_eps = 1e-5;
    return model_new(&c, 3);
}

/* A tokenizer.json that knows a, b, the blank and ab: all other characters vanish. */
#define FOREIGN_LETTERS                                                                                                \
    "{\"decoder\":{\"type\":\"Fuse\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\" "                      \
    "\":2,\"ab\":3},\"merges\":["                                                                                      \
    "\"a b\"]}}"

/* Writes such a model and FOREIGN_LETTERS as PATH.bin and PATH.json; false: it cannot. */
static inline bool foreign_write_letters(const char *path) {
    Model *m = foreign_llama2c_model(true);
    Str bytes[2], name;
    str_init(&bytes[0]);
    str_init(&bytes[1]);
    str_init(&name);
    foreign_llama2c_v0(&bytes[0], m);
    str_add(&bytes[1], FOREIGN_LETTERS);
    bool written = true;
    for (int i = 0; i < 2; i++) {
        str_clear(&name);
        str_addf(&name, "%s.%s", path, i ? "json" : "bin");
        FILE *f = fopen(name.s, "wb");
        written = f && fwrite(bytes[i].s, 1, bytes[i].len, f) == bytes[i].len && written;
        written = f && fclose(f) == 0 && written;
        str_done(&bytes[i]);
    }
    str_done(&name);
    model_free(m);
    return written;
}

#endif
