/* A vocabulary as bytes for a file, and back. */
#include "vocab_internal.h"

#include "mem.h"

#include <string.h>

static void store_bpe(const Bpe *b, Str *out) {
    for (int symbol = 1; symbol < bpe_units(b); symbol++) {
        size_t n;
        const char *s = bpe_name(b, symbol, &n);
        str_add_n(out, s, n);
        str_add_char(out, '\0');
    }
    str_add_char(out, '\0');
    for (int rank = 1; rank <= bpe_merges(b); rank++) {
        const BpeMerge *m = bpe_merge(b, rank);
        str_addf(out, "%d", m->left);
        str_add_char(out, '\0');
        str_addf(out, "%d", m->right);
        str_add_char(out, '\0');
    }
}

void vocab_store(const Vocab *v, Str *out) {
    if (v->unit == VOCAB_BPE) store_bpe(v->bpe, out);
    if (v->unit == VOCAB_BPE || v->unit == VOCAB_BYTE || v->unit == VOCAB_TOKENIZER) return;
    for (int text = 1; text <= v->size; text++)
        str_add_n(out, texts_bytes(&v->texts, text), (size_t)v->texts.length[text] + 1);
}

/* The texts as an array of borrowed strings; false when there are not at least the specials, then tokens in rising
 * order: only then do they get the ids that they had. */
static bool split_tokens(const char *bytes, size_t n, const char **token, int most, int *count) {
    *count = 0;
    for (const char *t = bytes; t < bytes + n; t += strlen(t) + 1) {
        if (*count == most || !*t) return false;
        if (*count < VOCAB_SPECIALS && strcmp(t, vocab_special[*count]) != 0) return false;
        if (*count > VOCAB_SPECIALS && strcmp(token[*count - 1], t) >= 0) return false;
        token[(*count)++] = t;
    }
    return *count >= VOCAB_SPECIALS;
}

static Vocab *restore_sorted(VocabUnit unit, const char *bytes, size_t n, int most) {
    const char **token = mem_try((size_t)most, sizeof *token);
    if (!token) return NULL;
    int count;
    Vocab *v = NULL;
    if (split_tokens(bytes, n, token, most, &count)) {
        const char *const *rest = token + VOCAB_SPECIALS;
        v = unit == VOCAB_WORD ? vocab_new(rest, count - VOCAB_SPECIALS)
                               : vocab_new_chars(rest, count - VOCAB_SPECIALS);
        if (v->size != count) { /* a special among the tokens */
            vocab_free(v);
            v = NULL;
        }
    }
    mem_free(token);
    return v;
}

/* The number of the terminated text *S, a symbol that B has; -1: none. *S moves behind it. */
static int restore_symbol(const Bpe *b, const char **s, const char *end) {
    long long symbol;
    if (*s >= end || !str_to_long(*s, &symbol) || symbol < 0 || symbol >= bpe_symbols(b)) return -1;
    *s += strlen(*s) + 1;
    return (int)symbol;
}

static bool restore_merges(Bpe *b, const char *s, const char *end, int most) {
    while (s < end) {
        int left = restore_symbol(b, &s, end), right = restore_symbol(b, &s, end);
        if (left < 0 || right < 0 || bpe_ends_word(b, left) || bpe_symbols(b) + VOCAB_SPECIALS > most) return false;
        bpe_add_merge(b, left, right, 0, 0);
    }
    return bpe_symbols(b) + VOCAB_SPECIALS <= most;
}

static Vocab *restore_bpe(const char *bytes, size_t n, int most) {
    const char *s = bytes, *end = bytes + n;
    Bpe *b = bpe_new(BPE_CHAR);
    for (; s < end && *s && bpe_symbols(b) < most; s += strlen(s) + 1) bpe_add_unit(b, s, strlen(s));
    if (s < end && !*s && restore_merges(b, s + 1, end, most)) return vocab_new_bpe(b);
    bpe_free(b);
    return NULL;
}

Vocab *vocab_restore(VocabUnit unit, const char *bytes, size_t n, int most) {
    if (unit == VOCAB_TOKENIZER) return NULL;
    if (unit == VOCAB_BYTE) return n == 0 && most >= VOCAB_SPECIALS + 256 ? vocab_new_bytes() : NULL;
    if (n == 0 || bytes[n - 1] != '\0' || most < VOCAB_SPECIALS) return NULL;
    return unit == VOCAB_BPE ? restore_bpe(bytes, n, most) : restore_sorted(unit, bytes, n, most);
}
