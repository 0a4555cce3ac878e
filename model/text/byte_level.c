#include "byte_level.h"

#include "bug.h"
#include "gpt2_split.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

enum { BYTES = 256, SHIFTED = 68 };

struct ByteLevel {
    PieceTable pieces;  /* as they are spelt */
    int byte_id[BYTES]; /* -1: none */
    MergeRules rules;
    ByteLevelStyle style;
    Gpt2Split *split;                 /* NULL until it is finished */
    size_t special_at, special_bytes; /* the next special piece of the text that is being cut */
    size_t digit_at, digit_end;       /* and its next digit */
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

/* Adds the bytes that a spelling stands for; false: not all of it stands for bytes. */
static bool add_spelt(const char *s, size_t n, Str *out) {
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

ByteLevel *byte_level_new(MergeOrder order) {
    ByteLevel *b = MEM_NEW(ByteLevel);
    piece_table_init(&b->pieces);
    for (int byte = 0; byte < BYTES; byte++) b->byte_id[byte] = -1;
    merge_rules_init(&b->rules, order);
    return b;
}

void byte_level_free(ByteLevel *b) {
    if (!b) return;
    piece_table_done(&b->pieces);
    merge_rules_done(&b->rules);
    gpt2_split_free(b->split);
    mem_free(b);
}

PieceTable *byte_level_pieces(ByteLevel *b) {
    return &b->pieces;
}

Status byte_level_add(ByteLevel *b, const char *spelling, long long id) {
    size_t length = strlen(spelling);
    int known = piece_table_find(&b->pieces, spelling, length);
    if (known >= 0 && known == id && piece_table_is_special(&b->pieces, known)) return status_ok();
    STATUS_TRY(piece_table_add(&b->pieces, spelling, length, id));
    Str bytes;
    str_init(&bytes);
    bool spelt = add_spelt(spelling, length, &bytes);
    if (spelt && bytes.len == 1) b->byte_id[(unsigned char)bytes.s[0]] = (int)id;
    str_done(&bytes);
    if (spelt) return status_ok();
    return status_usage(_("piece '%s' is not spelt in the 256 characters that stand for bytes"), spelling);
}

static Status find_piece(const ByteLevel *b, const char *spelling, size_t bytes, int *id) {
    *id = piece_table_find(&b->pieces, spelling, bytes);
    if (*id >= 0) return status_ok();
    return status_usage(_("'%.*s' is no piece of the vocabulary"), (int)(bytes > 100 ? 100 : bytes), spelling);
}

Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right, size_t right_bytes) {
    int l, r, id;
    STATUS_TRY(find_piece(b, left, left_bytes, &l));
    STATUS_TRY(find_piece(b, right, right_bytes, &r));
    Str merged;
    str_init(&merged);
    str_add_n(&merged, left, left_bytes);
    str_add_n(&merged, right, right_bytes);
    Status s = find_piece(b, merged.s, merged.len, &id);
    str_done(&merged);
    if (!status_is_ok(&s)) return s;
    if (merge_rules_find(&b->rules, l, r) >= 0) return status_usage(_("the pair is merged a second time"));
    merge_rules_add(&b->rules, l, r, id);
    return s;
}

/* ---- as a tokenizer ---- */

/* Where the digit that stands first from AT on begins and ends. */
static size_t next_digit(const char *s, size_t n, size_t at, size_t *end) {
    for (size_t bytes; at < n; at += bytes) {
        uint32_t code;
        int decoded = utf8_decode(s + at, n - at, &code);
        bytes = decoded ? (size_t)decoded : 1;
        if (!decoded || !utf8_is_number(code)) continue;
        *end = at + bytes;
        return at;
    }
    return *end = n;
}

static size_t next_word(void *self, const char *s, size_t n, size_t at, size_t *word_end) {
    ByteLevel *b = self;
    if (at == 0) gpt2_split_begin(b->split);
    if (at == 0 || at > b->special_at)
        b->special_at = piece_table_next_special(&b->pieces, s, n, at, &b->special_bytes);
    if (at == b->special_at) return *word_end = at + b->special_bytes;
    if (b->style.digits && (at == 0 || at > b->digit_at)) b->digit_at = next_digit(s, n, at, &b->digit_end);
    if (b->style.digits && at == b->digit_at) return *word_end = b->digit_end;
    size_t stop = b->style.digits && b->digit_at < b->special_at ? b->digit_at : b->special_at;
    return *word_end = gpt2_split_next(b->split, s, stop, at);
}

/* The piece that the whole word is, -1: none. */
static int whole_word(const ByteLevel *b, const char *s, size_t n) {
    Str spelling;
    str_init(&spelling);
    bool spelt = true;
    for (size_t i = 0, bytes; spelt && i < n; i++) {
        int id = b->byte_id[(unsigned char)s[i]];
        spelt = id >= 0;
        if (spelt) {
            const char *piece = piece_table_piece(&b->pieces, id, &bytes);
            str_add_n(&spelling, piece, bytes);
        }
    }
    int id = spelt ? piece_table_find(&b->pieces, spelling.s, spelling.len) : -1;
    str_done(&spelling);
    return id;
}

static void lay_word(const void *self, const char *s, size_t at, size_t end, Units *units) {
    const ByteLevel *b = self;
    int whole = piece_table_find(&b->pieces, s + at, end - at);
    if (whole >= 0 && !piece_table_is_special(&b->pieces, whole)) whole = -1;
    if (whole < 0 && b->style.whole_words) whole = whole_word(b, s + at, end - at);
    if (whole >= 0) {
        units_add(units, whole, at, true);
        return;
    }
    for (; at < end; at++)
        if (b->byte_id[(unsigned char)s[at]] >= 0 || !b->style.loses_bytes)
            units_add(units, b->byte_id[(unsigned char)s[at]], at, false);
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
    if (piece_table_is_special(&b->pieces, id)) {
        str_add_n(out, spelling, bytes);
    } else {
        BUG_ON(!add_spelt(spelling, bytes, out));
    }
}

static void free_self(void *self) {
    byte_level_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

static Status check_complete(const ByteLevel *b) {
    STATUS_TRY(piece_table_complete(&b->pieces));
    for (int byte = 0; byte < BYTES && !b->style.loses_bytes; byte++)
        if (b->byte_id[byte] < 0) return status_usage(_("no piece stands for the byte %02x alone"), (unsigned)byte);
    return status_ok();
}

Status byte_level_finish(ByteLevel *b, ByteLevelStyle style, Tokenizer **out) {
    *out = NULL;
    b->style = style;
    Status s = check_complete(b);
    if (status_is_ok(&s)) {
        b->split = gpt2_split_new();
        *out = tokenizer_new(&kind, b, &b->rules, -1, b->pieces.ids, style.first);
    } else {
        byte_level_free(b);
    }
    return s;
}
