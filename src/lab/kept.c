#include "kept.h"

#include "assets.h"
#include "file.h"
#include "fingerprint.h"
#include "gemm.h"
#include "hash.h"
#include "text/grammar.h"
#include "version.h"

#include <string.h>

/* Raised when the same recipe means something else than before: other sentences, another plan, another window_lm. Other
 * arithmetic of a Transformer shows in the fingerprint. */
enum { KEPT_RECIPE = 4 };

static void add(KeptRecipe *r, const void *p, size_t bytes) {
    r->hash = hash_bytes(r->hash, p, bytes);
}

void kept_add_number(KeptRecipe *r, uint64_t x) {
    add(r, &x, sizeof x);
}

void kept_add_text(KeptRecipe *r, const char *s) {
    kept_add_number(r, s ? strlen(s) : UINT64_MAX);
    if (s) add(r, s, strlen(s));
}

KeptRecipe kept_recipe(void) {
    KeptRecipe r = {HASH_START};
    kept_add_number(&r, KEPT_RECIPE);
    kept_add_number(&r, fingerprint());
    kept_add_number(&r, sizeof(real));
    kept_add_text(&r, version_number());
    kept_add_text(&r, gemm_core());
    kept_add_text(&r, gemm_library());
    kept_add_text(&r, gemm_kernel());
    return r;
}

void kept_add_options(KeptRecipe *r, const Options *o) {
    for (int i = 0; i < options_count(o); i++) {
        const char *name = options_row(o, i)->name;
        kept_add_text(r, name);
        kept_add_text(r, options_value(o, name));
    }
}

void kept_add_params(KeptRecipe *r, const Model *m) {
    kept_add_number(r, params_hash(model_read_params(m)));
}

static void add_sentences(KeptRecipe *r, const Sentences *s) {
    kept_add_number(r, (uint64_t)s->sentences);
    if (s->sentences == 0) return;
    add(r, s->start, ((size_t)s->sentences + 1) * sizeof *s->start);
    add(r, s->id, (size_t)s->start[s->sentences] * sizeof *s->id);
}

void kept_add_corpus(KeptRecipe *r, const Corpus *c) {
    kept_add_text(r, c->name);
    for (int i = 0; i < vocab_size(c->vocab); i++) kept_add_text(r, vocab_token(c->vocab, i));
    add_sentences(r, &c->train);
}

static bool add_grammar(KeptRecipe *r, const char *path) {
    Grammar *g;
    Status s = grammar_read(path, &g);
    if (!status_is_ok(&s)) return false;
    kept_add_text(r, grammar_text(g));
    grammar_free(g);
    return true;
}

static bool add_file(KeptRecipe *r, const char *path) {
    Str text;
    str_init(&text);
    Status s = file_read(path, 0, &text);
    if (status_is_ok(&s)) add(r, text.s, text.len);
    str_done(&text);
    return status_is_ok(&s);
}

bool kept_add_source(KeptRecipe *r, const char *spec) {
    if (strcmp(spec, "-") == 0) return false;
    Str path;
    str_init(&path);
    bool good = assets_grammar(spec, &path)     ? add_grammar(r, path.s)
                : str_ends_in(spec, ".grammar") ? add_grammar(r, spec)
                                                : add_file(r, spec);
    str_done(&path);
    return good;
}

bool kept_path(const KeptRecipe *r, const char *name, Str *path) {
    if (!assets_cache_dir(path)) return false;
    str_addf(path, "/%s-%016llx.lantern", name, (unsigned long long)r->hash);
    return true;
}

bool kept_read(const char *path, real *x, size_t n) {
    Str file;
    str_init(&file);
    uint64_t sum;
    size_t bytes = n * sizeof *x;
    Status s = file_read(path, bytes + sizeof sum, &file);
    bool good = status_is_ok(&s) && file.len == bytes + sizeof sum;
    if (good) {
        memcpy(&sum, file.s + bytes, sizeof sum);
        good = sum == hash_bytes(HASH_START, file.s, bytes);
    }
    if (good) memcpy(x, file.s, bytes);
    str_done(&file);
    return good;
}

Status kept_write(const char *path, const real *x, size_t n) {
    FileWriter *w;
    uint64_t sum = hash_bytes(HASH_START, x, n * sizeof *x);
    STATUS_TRY(file_begin(path, &w));
    fwrite(x, sizeof *x, n, file_stream(w));
    fwrite(&sum, sizeof sum, 1, file_stream(w));
    return file_commit(w);
}
