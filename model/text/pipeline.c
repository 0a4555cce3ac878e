#include "pipeline.h"

#include "byte_level.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

enum { BYTES = 256 };

Pipeline *pipeline_new(void) {
    Pipeline *p = MEM_NEW(Pipeline);
    piece_table_init(&p->pieces);
    merge_rules_init(&p->rules, MERGE_ONE_BY_ONE);
    p->unknown = p->first = p->last = -1;
    return p;
}

void pipeline_free(Pipeline *p) {
    if (!p) return;
    piece_table_done(&p->pieces);
    merge_rules_done(&p->rules);
    added_tokens_done(&p->added);
    normalizer_done(&p->normalizer);
    pre_tokenizer_done(&p->pre);
    for (int i = 0; i < p->decodes; i++) {
        mem_free(p->decode[i].text);
        mem_free(p->decode[i].content);
    }
    mem_free(p->decode);
    mem_free(p->inside);
    mem_free(p->at_end);
    cutting_done(&p->cutting);
    cutting_done(&p->spare);
    mem_free(p);
}

void pipeline_add_decode(Pipeline *p, DecodeStep step) {
    MEM_GROW(p->decode, p->decodes, p->decode_capacity);
    p->decode[p->decodes++] = step;
}

Status pipeline_add_merge(Pipeline *p, const char *left, size_t left_bytes, const char *right, size_t right_bytes) {
    size_t inside = p->inside ? strlen(p->inside) : 0;
    return piece_table_merge(&p->pieces, &p->rules, left, left_bytes, right, right_bytes, inside);
}

void pipeline_add_token(Pipeline *p, AddedToken token, const char *spelling, size_t bytes) {
    if (!token.normalized) {
        added_tokens_add(&p->added, token, spelling, bytes);
        return;
    }
    cutting_begin(&p->cutting, spelling, bytes);
    normalizer_run(&p->normalizer, &p->cutting, &p->spare);
    added_tokens_add(&p->added, token, p->cutting.s, p->cutting.n);
}

/* ---- cutting ---- */

static Cuttable begin_text(void *self, const char *s, size_t n) {
    Pipeline *p = self;
    cutting_begin(&p->cutting, s, n);
    added_tokens_cut(&p->added, false, &p->cutting, &p->spare);
    normalizer_run(&p->normalizer, &p->cutting, &p->spare);
    added_tokens_cut(&p->added, true, &p->cutting, &p->spare);
    pre_tokenizer_run(&p->pre, &p->cutting, &p->spare);
    p->word = 0;
    return (Cuttable){p->cutting.s, p->cutting.n, p->cutting.from};
}

static bool next_word(void *self, const char *s, size_t n, size_t at, Word *w) {
    (void)s;
    Pipeline *p = self;
    while (p->word < p->cutting.spans && p->cutting.span[p->word].start < at) p->word++;
    if (p->word == p->cutting.spans) return false;
    const Span *span = &p->cutting.span[p->word++];
    size_t stop = p->word < p->cutting.spans ? p->cutting.span[p->word].start : n;
    *w = (Word){.start = span->start, .end = span->end, .stop = stop, .id = span->id};
    if (w->id < 0 && (p->whole_words || p->words))
        w->id = piece_table_find(&p->pieces, s + w->start, w->end - w->start);
    return true;
}

/* The piece of the character at AT of the word START ... END-1, with what is put before and behind it; -1: none. */
static int find_character(const Pipeline *p, const char *s, size_t start, size_t end, size_t at, size_t bytes) {
    bool inside = p->inside && at > start, last = p->at_end && at + bytes == end;
    if (!inside && !last) return piece_table_find(&p->pieces, s + at, bytes);
    Str piece;
    str_init(&piece);
    str_addf(&piece, "%s%.*s%s", inside ? p->inside : "", (int)bytes, s + at, last ? p->at_end : "");
    int id = piece_table_find(&p->pieces, piece.s, piece.len);
    str_done(&piece);
    return id;
}

static bool add_bytes_of(const Pipeline *p, const char *s, size_t at, size_t bytes, Units *units) {
    for (size_t i = 0; i < bytes; i++)
        if (p->byte_id[(unsigned char)s[at + i]] < 0) return false;
    for (size_t i = 0; i < bytes; i++) units_add(units, p->byte_id[(unsigned char)s[at + i]], at + i, false);
    return true;
}

static void lay_word(const void *self, const char *s, size_t start, size_t end, Units *units) {
    const Pipeline *p = self;
    bool unknown = false; /* the last one was */
    if (p->words) {
        units_add(units, p->unknown, start, true);
        return;
    }
    for (size_t at = start, bytes; at < end; at += bytes) {
        bytes = utf8_bytes(s + at, end - at);
        int id = find_character(p, s, start, end, at, bytes);
        if (id >= 0) {
            units_add(units, id, at, false);
        } else if (!p->byte_fallback || !add_bytes_of(p, s, at, bytes, units)) {
            if (p->unknown < 0) units_leave_out(units, at, bytes);
            if (p->unknown >= 0 && !(unknown && p->fuses)) units_add(units, p->unknown, at, false);
            unknown = true;
            continue;
        }
        unknown = false;
    }
}

/* ---- writing ---- */

static void add_name(const void *self, int id, Str *out) {
    const Pipeline *p = self;
    size_t bytes;
    const char *piece = piece_table_piece(&p->pieces, id, &bytes);
    str_add_n(out, piece, bytes);
}

static void replace_all(Str *t, const char *what, const char *by) {
    size_t bytes = strlen(what);
    Str out;
    str_init(&out);
    for (size_t at = 0; at < t->len;) {
        if (t->len - at >= bytes && memcmp(t->s + at, what, bytes) == 0) {
            str_add(&out, by);
            at += bytes;
        } else {
            str_add_char(&out, t->s[at++]);
        }
    }
    str_clear(t);
    str_add_n(t, out.s, out.len);
    str_done(&out);
}

static void strip(Str *t, const char *what, int times) {
    size_t bytes = strlen(what), at = 0;
    for (; times > 0 && t->len - at >= bytes && memcmp(t->s + at, what, bytes) == 0; times--) at += bytes;
    memmove(t->s, t->s + at, t->len - at);
    str_truncate(t, t->len - at);
}

/* Characters that stand for bytes, unless one does not. */
static void read_bytes(Str *t) {
    Str bytes;
    str_init(&bytes);
    if (byte_spelling_bytes(t->s, t->len, &bytes)) {
        str_clear(t);
        str_add_n(t, bytes.s, bytes.len);
    }
    str_done(&bytes);
}

static void read_fallback(const Pipeline *p, int id, Str *t) {
    for (int byte = 0; byte < BYTES; byte++)
        if (p->byte_id[byte] == id) {
            str_clear(t);
            str_add_char(t, (char)byte);
        }
}

static void run_decoder(const Pipeline *p, int id, bool begins, Str *t) {
    bool fused = false;
    for (int i = 0; i < p->decodes; i++) {
        const DecodeStep *step = &p->decode[i];
        size_t suffix = step->text ? strlen(step->text) : 0;
        if (step->kind == DECODE_BYTES) read_bytes(t);
        if (step->kind == DECODE_REPLACE) replace_all(t, step->text, step->content);
        if (step->kind == DECODE_FALLBACK) read_fallback(p, id, t);
        if (step->kind == DECODE_FUSE) fused = true;
        if (step->kind == DECODE_STRIP && (begins || !fused)) strip(t, step->content, step->count);
        if (step->kind == DECODE_BLANKS) replace_all(t, step->text, begins && step->strips ? "" : " ");
        if (step->kind == DECODE_SUFFIX && t->len >= suffix && str_ends_in(t->s, step->text)) {
            str_truncate(t, t->len - suffix);
            str_add_char(t, ' ');
        }
    }
}

/* What was put before a text is not written; other added tokens are spelt out. */
static void add_bytes(const void *self, int id, int previous, Str *out) {
    const Pipeline *p = self;
    bool begins = previous == TOKENIZER_BEGIN || (previous >= 0 && previous == p->first);
    if (id == p->first) return;
    Str token;
    str_init(&token);
    add_name(p, id, &token);
    if (!added_tokens_has(&p->added, id)) run_decoder(p, id, begins, &token);
    if (p->spaced && !begins) str_add_char(out, ' ');
    str_add_n(out, token.s, token.len);
    str_done(&token);
}

static void free_self(void *self) {
    pipeline_free(self);
}

static const TokenizerKind kind = {
    .free = free_self, .begin = begin_text, .next = next_word, .lay = lay_word, .name = add_name, .bytes = add_bytes};

static void find_bytes(Pipeline *p) {
    for (int byte = 0; byte < BYTES; byte++) {
        char name[16];
        int n = snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        p->byte_id[byte] = piece_table_find(&p->pieces, name, (size_t)n);
    }
}

Status pipeline_finish(Pipeline *p, Tokenizer **out) {
    *out = NULL;
    find_bytes(p);
    Status s = piece_table_complete(&p->pieces);
    int ids = p->pieces.ids;
    if (status_is_ok(&s) && p->first >= ids)
        s = status_usage(_("the token before every text has id %d; ids go to %d"), p->first, ids - 1);
    if (status_is_ok(&s)) {
        TokenizerFacts facts = {.rules = &p->rules,
                                .limit = -1,
                                .size = ids,
                                .first = p->first,
                                .last = p->last,
                                .refuses = p->words && p->unknown < 0,
                                .leaves_out = !p->words && p->unknown < 0};
        *out = tokenizer_new(&kind, p, facts);
    } else {
        pipeline_free(p);
    }
    return s;
}
