/* tiny_model: models of others of a few hundred numbers in a folder of their own, with letters as tokens and a text to
 * learn: what fine-tuning is tested with. */
#ifndef TESTS_TINY_MODEL_H
#define TESTS_TINY_MODEL_H

#include "expect.h"

#include "io/hf_write.h"
#include "io/llama2c_write.h"
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char folder[40]; /* of the test */
    char model[60], tokenizer[60], text[60];
} TinyModel;

typedef enum { TINY_GPT2_TIED, TINY_GPT2, TINY_LLAMA2C_TIED, TINY_LLAMA2C, TINY_KINDS } TinyKind;

/* Letters a to h, a blank and the sign that ends a text. */
#define TINY_LETTERS "{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"\\u0120\":8,\"#\":9}"
/* The last line is the test. */
#define TINY_TEXT "a bad cab\nface a bed\nhad a head\nbe a dad\na cafe fed\nah a bee\nhe had a cab\n"

static inline void tiny_write(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Numbers that any program can make again: of a gain 1 + 0.1 sin(k), of all else 0.4 sin(0.7 k + s), with k counted in
 * slice number s. */
static inline void tiny_fill(Model *m) {
    Params *p = model_params(m);
    for (int s = 0; s < p->slices; s++) {
        bool gain = strstr(p->slice[s].name, ".gain") != NULL;
        for (size_t k = 0; k < slice_count(&p->slice[s]); k++)
            p->x[p->slice[s].at + k] = (real)(gain ? 1 + 0.1 * sin((double)k) : 0.4 * sin(0.7 * (double)k + s));
    }
}

static inline ModelConfig tiny_config(TinyKind kind) {
    bool gpt2 = kind <= TINY_GPT2;
    ModelConfig c = gpt2 ? config_gpt() : config_modern();
    c.vocab = 10;
    c.context = 8;
    c.d = 8;
    c.layers = 2;
    c.heads = 4;
    c.kv_heads = gpt2 ? 4 : 2;
    c.head_dim = 2;
    c.d_ff = 12;
    c.norm_eps = 1e-5;
    if (gpt2) c.ffn = FFN_GELU_TANH;
    c.tie = kind == TINY_GPT2_TIED || kind == TINY_LLAMA2C_TIED;
    return c;
}

static inline TinyModel tiny_model(TinyKind kind) {
    TinyModel t = {.folder = "/tmp/lantern-tune-XXXXXX"};
    char line[100];
    assert_non_null(mkdtemp(t.folder));
    bool gpt2 = kind <= TINY_GPT2;
    snprintf(t.text, sizeof t.text, "%s/text.txt", t.folder);
    snprintf(t.tokenizer, sizeof t.tokenizer, "%s/letters", t.folder);
    snprintf(t.model, sizeof t.model, gpt2 ? "%s/letters" : "%s/model.bin", t.folder);
    snprintf(line, sizeof line, "mkdir %s", t.tokenizer);
    assert_int_equal(system(line), 0);
    snprintf(line, sizeof line, "%s/vocab.json", t.tokenizer);
    tiny_write(line, TINY_LETTERS);
    tiny_write(t.text, TINY_TEXT);
    ModelConfig c = tiny_config(kind);
    Model *m = model_new(&c, 1);
    tiny_fill(m);
    if (gpt2)
        assert_ok(hf_write(t.model, m, -1, 9));
    else
        assert_ok(llama2c_write(t.model, m));
    model_free(m);
    return t;
}

static inline void tiny_remove(const TinyModel *t) {
    char line[80];
    snprintf(line, sizeof line, "rm -r %s", t->folder);
    assert_int_equal(system(line), 0);
}

#endif
