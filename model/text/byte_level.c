#include "byte_level.h"

#include "bug.h"
#include "gpt2_split.h"
#include "intl.h"
#include "mem.h"
#include "texts.h"
#include "utf8.h"

#include <string.h>

enum { BYTES = 256, SHIFTED = 68 };

struct ByteLevel {
    Texts spellings; /* in the order in which they came; text 0 is the empty one */
    int *id;         /* [texts] of each text, -1: none */
    int id_capacity;
    int *text; /* [ids] of each id, 0: none */
    int ids, text_capacity;
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

ByteLevel *byte_level_new(void) {
    ByteLevel *b = MEM_NEW(ByteLevel);
    texts_init(&b->spellings);
    MEM_GROW(b->id, 0, b->id_capacity);
    b->id[0] = -1;
    for (int byte = 0; byte < BYTES; byte++) b->byte_id[byte] = -1;
    merge_rules_init(&b->rules, false);
    return b;
}

void byte_level_free(ByteLevel *b) {
    if (!b) return;
    texts_done(&b->spellings);
    mem_free(b->id);
    mem_free(b->text);
    merge_rules_done(&b->rules);
    gpt2_split_free(b->split);
    mem_free(b);
}

static void reserve_ids(ByteLevel *b, int ids) {
    for (; b->ids < ids; b->ids++) {
        MEM_GROW(b->text, b->ids, b->text_capacity);
        b->text[b->ids] = 0;
    }
}

Status byte_level_add(ByteLevel *b, const char *spelling, long long id) {
    if (id < 0 || id > BYTE_LEVEL_IDS)
        return status_usage(_("piece '%s' has id %lld; ids are 0 to %d"), spelling, id, BYTE_LEVEL_IDS);
    Str bytes;
    str_init(&bytes);
    bool spelt = add_spelt(spelling, strlen(spelling), &bytes);
    int byte = bytes.len == 1 ? (unsigned char)bytes.s[0] : -1;
    str_done(&bytes);
    if (!spelt || !*spelling)
        return status_usage(_("piece '%s' is not spelt in the 256 characters that stand for bytes"), spelling);
    int text = texts_add(&b->spellings, spelling, strlen(spelling));
    if (text < b->spellings.count - 1) return status_usage(_("piece '%s' is there twice"), spelling);
    reserve_ids(b, (int)id + 1);
    if (b->text[id]) return status_usage(_("id %lld is given to two pieces, the second is '%s'"), id, spelling);
    MEM_GROW(b->id, text, b->id_capacity);
    b->id[text] = (int)id;
    b->text[id] = text;
    if (byte >= 0) b->byte_id[byte] = (int)id;
    return status_ok();
}

static int id_of(const ByteLevel *b, const char *spelling, size_t bytes) {
    int text = texts_find(&b->spellings, spelling, bytes);
    return text > 0 ? b->id[text] : -1;
}

static Status not_a_piece(const char *spelling, size_t bytes) {
    return status_usage(_("'%.*s' is no piece of the vocabulary"), (int)(bytes > 100 ? 100 : bytes), spelling);
}

Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right, size_t right_bytes) {
    int l = id_of(b, left, left_bytes), r = id_of(b, right, right_bytes);
    if (l < 0) return not_a_piece(left, left_bytes);
    if (r < 0) return not_a_piece(right, right_bytes);
    Str merged;
    str_init(&merged);
    str_add_n(&merged, left, left_bytes);
    str_add_n(&merged, right, right_bytes);
    int id = id_of(b, merged.s, merged.len);
    Status s = id < 0 ? not_a_piece(merged.s, merged.len) : status_ok();
    str_done(&merged);
    if (!status_is_ok(&s)) return s;
    if (merge_rules_find(&b->rules, l, r) >= 0) return status_usage(_("the pair is merged a second time"));
    merge_rules_add(&b->rules, l, r, id);
    return s;
}

/* ---- as a tokenizer ---- */

static size_t next_stretch(void *self, const char *s, size_t n, size_t at, size_t *word_end) {
    ByteLevel *b = self;
    if (at == 0) gpt2_split_begin(b->split);
    return *word_end = gpt2_split_next(b->split, s, n, at);
}

static void lay_bytes(const void *self, const char *s, size_t at, size_t end, Units *units) {
    const ByteLevel *b = self;
    for (; at < end; at++) units_add(units, b->byte_id[(unsigned char)s[at]], at, false);
}

static void add_name(const void *self, int id, Str *out) {
    const ByteLevel *b = self;
    str_add(out, texts_bytes(&b->spellings, b->text[id]));
}

static void add_bytes(const void *self, int id, int previous, Str *out) {
    (void)previous;
    const ByteLevel *b = self;
    const char *spelling = texts_bytes(&b->spellings, b->text[id]);
    BUG_ON(!add_spelt(spelling, strlen(spelling), out));
}

static void free_self(void *self) {
    byte_level_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .next = next_stretch, .lay = lay_bytes, .name = add_name, .bytes = add_bytes};

static Status check_complete(const ByteLevel *b) {
    for (int id = 0; id < b->ids; id++)
        if (!b->text[id]) return status_usage(_("no piece has id %d, though ids go to %d"), id, b->ids - 1);
    for (int byte = 0; byte < BYTES; byte++)
        if (b->byte_id[byte] < 0) return status_usage(_("no piece stands for the byte %02x alone"), (unsigned)byte);
    return status_ok();
}

Status byte_level_finish(ByteLevel *b, Tokenizer **out) {
    *out = NULL;
    Status s = check_complete(b);
    if (status_is_ok(&s)) {
        b->split = gpt2_split_new();
        *out = tokenizer_new(&kind, b, &b->rules, -1, b->ids, -1);
    } else {
        byte_level_free(b);
    }
    return s;
}
