#include "sentence_piece.h"

#include "intl.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum { BYTES = 256, BEGIN_ID = 1, END_ID = 2, FIRST_BYTE_ID = 3 };

#define LOWER_ONE_EIGHTH "\xe2\x96\x81" /* U+2581: how SentencePiece spells a blank */

struct SentencePiece {
    PieceTable pieces;
    MergeRules rules;
    int byte_id[BYTES];
    int blank_id;
};

SentencePiece *sentence_piece_new(void) {
    SentencePiece *p = MEM_NEW(SentencePiece);
    piece_table_init(&p->pieces);
    merge_rules_init(&p->rules, MERGE_ONE_BY_ONE);
    return p;
}

void sentence_piece_free(SentencePiece *p) {
    if (!p) return;
    piece_table_done(&p->pieces);
    merge_rules_done(&p->rules);
    mem_free(p);
}

PieceTable *sentence_piece_pieces(SentencePiece *p) {
    return &p->pieces;
}

Status sentence_piece_add_merge(SentencePiece *p, int left, int right, int merged, int rank) {
    if (merge_rules_find(&p->rules, left, right) >= 0) return status_usage(_("the pair is merged a second time"));
    merge_rules_add_ranked(&p->rules, left, right, merged, rank);
    return status_ok();
}

/* ---- cutting ---- */

static bool next_word(void *self, const char *s, size_t n, size_t at, Word *w) {
    (void)self;
    (void)s;
    *w = (Word){.start = at, .end = n, .stop = n, .id = -1};
    return true;
}

/* Bytes of the character that S begins with, as llama2.c takes them: a byte and at most three that continue it. */
static size_t character_bytes(const char *s, size_t n) {
    size_t bytes = 1;
    while (bytes < n && bytes < 4 && ((unsigned char)s[bytes] & 0xc0) == 0x80) bytes++;
    return bytes;
}

static void lay_word(const void *self, const char *s, size_t at, size_t end, Units *units) {
    const SentencePiece *p = self;
    units_add(units, p->blank_id, at, false);
    for (size_t bytes; at < end; at += bytes) {
        bytes = character_bytes(s + at, end - at);
        int id = piece_table_find(&p->pieces, s + at, bytes);
        if (id >= 0) units_add(units, id, at, false);
        for (size_t i = 0; id < 0 && i < bytes; i++)
            units_add(units, p->byte_id[(unsigned char)s[at + i]], at + i, false);
    }
}

/* ---- writing ---- */

static bool is_end(int id) {
    return id == BEGIN_ID || id == END_ID;
}

/* llama2.c puts the two ends of a text on lines of their own, which is no part of what they are called. */
static void add_name(const void *self, int id, Str *out) {
    const SentencePiece *p = self;
    size_t bytes;
    const char *piece = piece_table_piece(&p->pieces, id, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (piece[i] == ' ') {
            str_add(out, LOWER_ONE_EIGHTH);
        } else if (!is_end(id) || piece[i] != '\n') {
            str_add_char(out, piece[i]);
        }
    }
}

/* Where a text begins, the blank that was put before it is taken away. */
static void add_bytes(const void *self, int id, int previous, Str *out) {
    const SentencePiece *p = self;
    if (is_end(id)) return;
    if (id >= FIRST_BYTE_ID && id < FIRST_BYTE_ID + BYTES) {
        str_add_char(out, (char)(id - FIRST_BYTE_ID));
        return;
    }
    size_t bytes;
    const char *piece = piece_table_piece(&p->pieces, id, &bytes);
    bool skip = previous == BEGIN_ID && bytes > 0 && *piece == ' ';
    str_add_n(out, piece + skip, bytes - skip);
}

static void free_self(void *self) {
    sentence_piece_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

static Status check_bytes(SentencePiece *p) {
    for (int byte = 0; byte < BYTES; byte++) {
        char name[16];
        int n = snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        p->byte_id[byte] = piece_table_find(&p->pieces, name, (size_t)n);
        if (p->byte_id[byte] != FIRST_BYTE_ID + byte)
            return status_usage(_("piece %d is not %s"), FIRST_BYTE_ID + byte, name);
    }
    return status_ok();
}

Status sentence_piece_finish(SentencePiece *p, Tokenizer **out) {
    *out = NULL;
    Status s = piece_table_complete(&p->pieces);
    if (status_is_ok(&s)) s = check_bytes(p);
    p->blank_id = piece_table_find(&p->pieces, " ", 1);
    if (status_is_ok(&s) && p->blank_id < 0) s = status_usage(_("no piece is the blank"));
    if (status_is_ok(&s)) {
        *out = tokenizer_new(
            &kind, p,
            (TokenizerFacts){
                .rules = &p->rules, .limit = -1, .size = p->pieces.ids, .first = BEGIN_ID, .last = BEGIN_ID});
    } else {
        sentence_piece_free(p);
    }
    return s;
}
