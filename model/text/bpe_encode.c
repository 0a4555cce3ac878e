#include "bpe_encode.h"

static bool next_word(void *self, const char *s, size_t n, size_t at, Word *w) {
    BpeUnit unit = bpe_unit(self);
    size_t blank, word;
    bpe_next_word(s + at, n - at, unit, &blank, &word);
    size_t end = blank > 0 ? at : at + word; /* blanks stand before a word only where the text begins */
    if (blank == 0) bpe_next_word(s + at + word, n - at - word, unit, &blank, &word);
    *w = (Word){.start = at, .end = end, .stop = end + blank, .id = -1};
    return true;
}

static void lay_word(const void *self, const char *s, size_t at, size_t end, Units *units) {
    for (size_t n; at < end; at += n) {
        n = bpe_unit_bytes(s + at, end - at, bpe_unit(self));
        units_add(units, bpe_find(self, s + at, n, false), at, false);
    }
    units_add(units, bpe_find(self, "", 0, true), end, true);
}

static void add_name(const void *self, int id, Str *out) {
    size_t bytes;
    const char *name = bpe_name(self, id, &bytes);
    str_add_n(out, name, bytes);
}

static void add_bytes(const void *self, int id, int previous, Str *out) {
    (void)previous;
    size_t bytes;
    const char *name = bpe_name(self, id, &bytes);
    bool ends = bpe_ends_word(self, id);
    str_add_n(out, name, ends ? bytes - BPE_END_BYTES : bytes);
    if (ends) str_add_char(out, ' ');
}

static const TokenizerKind kind = {.next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

Tokenizer *bpe_tokenizer(const Bpe *b, int merges) {
    return tokenizer_new(
        &kind, (void *)b,
        (TokenizerFacts){bpe_rules(b), .limit = merges, .size = bpe_symbols(b), .first = -1, .last = -1});
}
