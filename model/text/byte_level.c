#include "byte_level.h"

#include "bug.h"
#include "gpt2_split.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

enum { BYTES = 256, SHIFTED = 68 };

#define END_OF_TEXT "<|endoftext|>"

struct ByteLevel {
    PieceTable pieces;  /* as they are spelt */
    int byte_id[BYTES]; /* -1: none */
    MergeRules rules;
    Gpt2Split *split; /* NULL until it is finished */
};

/* ---- spelling ---- */

static bool is_seen(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/* The byte that a character stands for, -1: none. */
static int byte_of(uint32_t code) {
    if (code < BYTES) return is_seen(code) ? (int)code : -1;
    if (code >= 0x100 + SHIFTED) return -1;
    int shifted = (int)code - 0x100;
    for (unsigned byte = 0; byte < BYTES; byte++)
        if (!is_seen(byte) && shifted-- == 0) return (int)byte;
    return -1;
}

void byte_spellings(ByteSpellings *out) {
    *out = (ByteSpellings){0};
    uint32_t shifted = 0x100;
    for (unsigned byte = 0; byte < BYTES; byte++) utf8_encode(is_seen(byte) ? byte : shifted++, out->of[byte]);
}

bool byte_spelling_bytes(const char *s, size_t n, Str *out) {
    for (size_t i = 0; i < n;) {
        uint32_t code;
        int bytes = utf8_decode(s + i, n - i, &code), byte = bytes ? byte_of(code) : -1;
        if (byte < 0) return false;
        str_add_char(out, (char)byte);
        i += (size_t)bytes;
    }
    return true;
}

/* ---- building ---- */

ByteLevel *byte_level_new(void) {
    ByteLevel *b = MEM_NEW(ByteLevel);
    piece_table_init(&b->pieces);
    for (int byte = 0; byte < BYTES; byte++) b->byte_id[byte] = -1;
    merge_rules_init(&b->rules, MERGE_BY_RANK);
    return b;
}

void byte_level_free(ByteLevel *b) {
    if (!b) return;
    piece_table_done(&b->pieces);
    merge_rules_done(&b->rules);
    gpt2_split_free(b->split);
    mem_free(b);
}

Status byte_level_add(ByteLevel *b, const char *spelling, long long id) {
    size_t length = strlen(spelling);
    STATUS_TRY(piece_table_add(&b->pieces, spelling, length, id));
    Str bytes;
    str_init(&bytes);
    bool spelt = byte_spelling_bytes(spelling, length, &bytes);
    if (spelt && bytes.len == 1) b->byte_id[(unsigned char)bytes.s[0]] = (int)id;
    str_done(&bytes);
    if (spelt) return status_ok();
    return status_usage(_("piece '%s' is not spelt in the 256 characters that stand for bytes"), spelling);
}

Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right, size_t right_bytes) {
    return piece_table_merge(&b->pieces, &b->rules, left, left_bytes, right, right_bytes, 0);
}

/* ---- as a tokenizer ---- */

static bool next_word(void *self, const char *s, size_t n, size_t at, Word *w) {
    ByteLevel *b = self;
    if (at == 0) gpt2_split_begin(b->split);
    size_t end = gpt2_split_next(b->split, s, n, at);
    *w = (Word){.start = at, .end = end, .stop = end, .id = -1};
    return true;
}

static void lay_word(const void *self, const char *s, size_t at, size_t end, Units *units) {
    const ByteLevel *b = self;
    for (; at < end; at++) units_add(units, b->byte_id[(unsigned char)s[at]], at, false);
}

static void add_name(const void *self, int id, Str *out) {
    const ByteLevel *b = self;
    size_t bytes;
    const char *spelling = piece_table_piece(&b->pieces, id, &bytes);
    str_add_n(out, spelling, bytes);
}

static void add_bytes(const void *self, int id, int previous, Str *out) {
    (void)previous;
    const ByteLevel *b = self;
    size_t bytes;
    const char *spelling = piece_table_piece(&b->pieces, id, &bytes);
    BUG_ON(!byte_spelling_bytes(spelling, bytes, out));
}

static void free_self(void *self) {
    byte_level_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

static Status check_complete(const ByteLevel *b) {
    STATUS_TRY(piece_table_complete(&b->pieces));
    for (int byte = 0; byte < BYTES; byte++)
        if (b->byte_id[byte] < 0)
            return status_usage(_("no piece stands for the byte %02x alone, so not every text can be cut"),
                                (unsigned)byte);
    return status_ok();
}

Status byte_level_finish(ByteLevel *b, Tokenizer **out) {
    *out = NULL;
    Status s = check_complete(b);
    if (status_is_ok(&s)) {
        b->split = gpt2_split_new();
        *out = tokenizer_new(&kind, b,
                             (TokenizerFacts){.rules = &b->rules,
                                              .limit = -1,
                                              .size = b->pieces.ids,
                                              .first = -1,
                                              .last = piece_table_find(&b->pieces, END_OF_TEXT, strlen(END_OF_TEXT))});
    } else {
        byte_level_free(b);
    }
    return s;
}
