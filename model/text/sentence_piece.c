#include "sentence_piece.h"

#include "intl.h"
#include "mem.h"

#include <stdio.h>
#include <string.h>

enum { BYTES = 256, BYTE_PIECE = 6 }; /* bytes of "<0x00>" */

struct SentencePiece {
    PieceTable pieces;
    MergeRules rules;
    SentencePieceStyle style;
    int byte_id[BYTES]; /* -1: none */
    int blank_id;
    size_t special_at, special_bytes; /* the next special piece of the text that is being cut */
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

static size_t next_word(void *self, const char *s, size_t n, size_t at, size_t *word_end) {
    SentencePiece *p = self;
    if (at == 0 || at > p->special_at)
        p->special_at = piece_table_next_special(&p->pieces, s, n, at, &p->special_bytes);
    return *word_end = at == p->special_at ? at + p->special_bytes : p->special_at;
}

/* Bytes of the character that S begins with, as llama2.c takes them: a byte and at most three that continue it. */
static size_t character_bytes(const char *s, size_t n) {
    size_t bytes = 1;
    while (bytes < n && bytes < 4 && ((unsigned char)s[bytes] & 0xc0) == 0x80) bytes++;
    return bytes;
}

/* Characters that are no piece: their bytes when those are pieces, else the unknown piece, or nothing. */
static void lay_unknown(const SentencePiece *p, const char *s, size_t at, size_t bytes, Units *units) {
    bool all = true;
    for (size_t i = 0; i < bytes; i++) all = all && p->byte_id[(unsigned char)s[at + i]] >= 0;
    for (size_t i = 0; all && i < bytes; i++) units_add(units, p->byte_id[(unsigned char)s[at + i]], at + i, false);
    if (all || p->style.unknown < 0) return;
    bool fused =
        p->style.fuses && units->n > 0 && units->symbol[units->n - 1] == p->style.unknown && !units->ends[units->n - 1];
    if (!fused) units_add(units, p->style.unknown, at, false);
}

static void lay_word(const void *self, const char *s, size_t at, size_t end, Units *units) {
    const SentencePiece *p = self;
    int whole = p->pieces.specials ? piece_table_find(&p->pieces, s + at, end - at) : -1;
    if (whole >= 0 && piece_table_is_special(&p->pieces, whole)) {
        units_add(units, whole, at, true);
        return;
    }
    if (p->style.prefix) units_add(units, p->blank_id, at, false);
    for (size_t bytes; at < end; at += bytes) {
        bytes = character_bytes(s + at, end - at);
        int id = s[at] == ' ' && bytes == 1 ? p->blank_id : piece_table_find(&p->pieces, s + at, bytes);
        if (id >= 0) {
            units_add(units, id, at, false);
        } else {
            lay_unknown(p, s, at, bytes, units);
        }
    }
}

/* ---- writing ---- */

/* llama2.c puts the two ends of a text on lines of their own, which is no part of what they are called. */
static void add_name(const void *self, int id, Str *out) {
    const SentencePiece *p = self;
    size_t bytes;
    bool end = id == p->style.first || id == p->style.last;
    const char *piece = piece_table_piece(&p->pieces, id, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        if (piece[i] == ' ') {
            str_add(out, "\xe2\x96\x81");
        } else if (!end || piece[i] != '\n') {
            str_add_char(out, piece[i]);
        }
    }
}

/* The byte that a piece stands for, -1: none. */
static int byte_of(const SentencePiece *p, int id) {
    for (int byte = 0; byte < BYTES; byte++)
        if (p->byte_id[byte] == id) return byte;
    return -1;
}

/* Where a text begins, the blank that was put before it is taken away. */
static void add_bytes(const void *self, int id, int previous, Str *out) {
    const SentencePiece *p = self;
    size_t blank = strlen(p->style.blank), start = out->len, bytes;
    if (id == p->style.first || id == p->style.last) return;
    int byte = byte_of(p, id);
    const char *piece = piece_table_piece(&p->pieces, id, &bytes);
    if (byte >= 0) {
        str_add_char(out, (char)byte);
        return;
    }
    for (size_t i = 0; i < bytes;) {
        bool is_blank = bytes - i >= blank && memcmp(piece + i, p->style.blank, blank) == 0;
        if (!is_blank) str_add_char(out, piece[i]);
        if (is_blank && !(out->len == start && i == 0 && p->style.prefix && previous == p->style.first))
            str_add_char(out, ' ');
        i += is_blank ? blank : 1;
    }
}

static void free_self(void *self) {
    sentence_piece_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

static void find_bytes(SentencePiece *p) {
    for (int byte = 0; byte < BYTES; byte++) {
        char name[BYTE_PIECE + 1];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte & 0xff);
        p->byte_id[byte] = piece_table_find(&p->pieces, name, BYTE_PIECE);
    }
}

static Status check_style(const SentencePiece *p) {
    const int named[3] = {p->style.unknown, p->style.first, p->style.last};
    STATUS_TRY(piece_table_complete(&p->pieces));
    for (int i = 0; i < 3; i++)
        if (named[i] >= p->pieces.ids)
            return status_usage(_("id %d is needed; ids go to %d"), named[i], p->pieces.ids - 1);
    if (p->blank_id < 0) return status_usage(_("no piece is the blank, '%s'"), p->style.blank);
    return status_ok();
}

Status sentence_piece_finish(SentencePiece *p, SentencePieceStyle style, Tokenizer **out) {
    *out = NULL;
    p->style = style;
    p->blank_id = piece_table_find(&p->pieces, style.blank, strlen(style.blank));
    find_bytes(p);
    Status s = check_style(p);
    if (status_is_ok(&s)) {
        *out = tokenizer_new(&kind, p, &p->rules, -1, p->pieces.ids, style.first);
    } else {
        sentence_piece_free(p);
    }
    return s;
}
