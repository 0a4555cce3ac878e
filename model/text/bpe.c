#include "bpe.h"

#include "bug.h"
#include "mem.h"
#include "texts.h"
#include "utf8.h"

#include <string.h>

/* The text of a symbol is its name and one more byte that says whether it ends a word, so that the end of a word and
 * the four characters </w> differ. Text 0 is the empty one: symbol s is text s + 1. */
struct Bpe {
    BpeUnit unit;
    Texts texts;
    int units;
    BpeMerge *merge;    /* [merges] */
    int *symbols_after; /* [merges] */
    int merges, merge_capacity, after_capacity;
    MergeRules rules;
    Str scratch;
};

enum { BPE_INSIDE = 'i', BPE_AT_END = 'e' };

static int bpe_add_symbol(Bpe *b, bool ends_word) {
    str_add_char(&b->scratch, ends_word ? BPE_AT_END : BPE_INSIDE);
    return texts_add(&b->texts, b->scratch.s, b->scratch.len) - 1;
}

int bpe_add_unit(Bpe *b, const char *s, size_t bytes) {
    BUG_ON(b->merges > 0);
    str_clear(&b->scratch);
    str_add_n(&b->scratch, s, bytes);
    int symbol = bpe_add_symbol(b, false);
    b->units = bpe_symbols(b);
    return symbol;
}

Bpe *bpe_new(BpeUnit unit) {
    Bpe *b = MEM_NEW(Bpe);
    b->unit = unit;
    texts_init(&b->texts);
    str_init(&b->scratch);
    merge_rules_init(&b->rules, MERGE_IN_ORDER);
    str_add(&b->scratch, BPE_END);
    bpe_add_symbol(b, true);
    b->units = 1;
    for (int c = 0; unit == BPE_BYTE && c < 256; c++) bpe_add_unit(b, (char[]){(char)c}, 1);
    return b;
}

void bpe_free(Bpe *b) {
    if (!b) return;
    texts_done(&b->texts);
    merge_rules_done(&b->rules);
    str_done(&b->scratch);
    mem_free(b->merge);
    mem_free(b->symbols_after);
    mem_free(b);
}

int bpe_add_merge(Bpe *b, int left, int right, long long count, int ties) {
    BUG_ON(bpe_ends_word(b, left));
    size_t bytes;
    str_clear(&b->scratch);
    const char *name = bpe_name(b, left, &bytes);
    str_add_n(&b->scratch, name, bytes);
    name = bpe_name(b, right, &bytes);
    str_add_n(&b->scratch, name, bytes);
    int merged = bpe_add_symbol(b, bpe_ends_word(b, right));
    MEM_GROW(b->merge, b->merges, b->merge_capacity);
    MEM_GROW(b->symbols_after, b->merges, b->after_capacity);
    b->symbols_after[b->merges] = bpe_symbols(b);
    b->merge[b->merges++] = (BpeMerge){left, right, merged, count, ties};
    merge_rules_add(&b->rules, left, right, merged);
    return merged;
}

BpeUnit bpe_unit(const Bpe *b) {
    return b->unit;
}

int bpe_symbols(const Bpe *b) {
    return b->texts.count - 1;
}

int bpe_units(const Bpe *b) {
    return b->units;
}

int bpe_merges(const Bpe *b) {
    return b->merges;
}

const BpeMerge *bpe_merge(const Bpe *b, int rank) {
    BUG_ON(rank < 1 || rank > b->merges);
    return &b->merge[rank - 1];
}

int bpe_symbols_after(const Bpe *b, int merges) {
    BUG_ON(merges < 0 || merges > b->merges);
    return merges == 0 ? b->units : b->symbols_after[merges - 1];
}

const MergeRules *bpe_rules(const Bpe *b) {
    return &b->rules;
}

const char *bpe_name(const Bpe *b, int symbol, size_t *bytes) {
    BUG_ON(symbol < 0 || symbol >= bpe_symbols(b));
    *bytes = (size_t)b->texts.length[symbol + 1] - 1;
    return texts_bytes(&b->texts, symbol + 1);
}

bool bpe_ends_word(const Bpe *b, int symbol) {
    size_t bytes;
    const char *name = bpe_name(b, symbol, &bytes);
    return name[bytes] == BPE_AT_END;
}

static int find_key(const Bpe *b, char *key, const char *s, size_t bytes, bool ends_word) {
    memcpy(key, s, bytes);
    if (ends_word) memcpy(key + bytes, BPE_END, BPE_END_BYTES);
    if (ends_word) bytes += BPE_END_BYTES;
    key[bytes] = ends_word ? BPE_AT_END : BPE_INSIDE;
    int text = texts_find(&b->texts, key, bytes + 1);
    return text < 0 ? -1 : text - 1;
}

int bpe_find(const Bpe *b, const char *s, size_t bytes, bool ends_word) {
    char brief[64];
    if (bytes + BPE_END_BYTES + 1 <= sizeof brief) return find_key(b, brief, s, bytes, ends_word);
    char *key = mem_alloc(bytes + BPE_END_BYTES + 1);
    int symbol = find_key(b, key, s, bytes, ends_word);
    mem_free(key);
    return symbol;
}

int bpe_compare(const Bpe *b, int x, int y) {
    size_t x_bytes, y_bytes;
    const char *x_name = bpe_name(b, x, &x_bytes), *y_name = bpe_name(b, y, &y_bytes);
    int order = memcmp(x_name, y_name, x_bytes < y_bytes ? x_bytes : y_bytes);
    if (order != 0) return order;
    if (x_bytes != y_bytes) return x_bytes < y_bytes ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* ---- How a text is cut ---- */

size_t bpe_unit_bytes(const char *s, size_t n, BpeUnit unit) {
    uint32_t code;
    if (unit == BPE_BYTE || !((unsigned char)*s & 0x80)) return 1;
    int bytes = utf8_decode(s, n, &code);
    return bytes ? (size_t)bytes : 1;
}

/* Bytes of the blank that S begins with, 0: none. */
static size_t blank_bytes(const char *s, size_t n, BpeUnit unit) {
    unsigned char c = (unsigned char)*s;
    uint32_t code;
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    if (unit == BPE_BYTE || (c < 0xe1 && c != 0xc2)) return 0; /* no blank begins with these */
    int bytes = utf8_decode(s, n, &code);
    return bytes && utf8_is_space(code) ? (size_t)bytes : 0;
}

void bpe_next_word(const char *s, size_t n, BpeUnit unit, size_t *blank, size_t *word) {
    size_t at = 0;
    for (size_t bytes; at < n && (bytes = blank_bytes(s + at, n - at, unit)) > 0;) at += bytes;
    *blank = at;
    while (at < n && !blank_bytes(s + at, n - at, unit)) at += bpe_unit_bytes(s + at, n - at, unit);
    *word = at - *blank;
}
