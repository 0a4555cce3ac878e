#include "pre_tokenizer.h"

#include "byte_level.h"
#include "mem.h"
#include "utf8.h"

#include <string.h>

void pre_tokenizer_done(PreTokenizer *p) {
    for (int i = 0; i < p->count; i++) {
        mem_free(p->step[i].text);
        pattern_free(p->step[i].pattern);
    }
    mem_free(p->step);
    gpt2_split_free(p->gpt2);
    *p = (PreTokenizer){0};
}

void pre_tokenizer_add(PreTokenizer *p, PreStep step) {
    MEM_GROW(p->step, p->count, p->capacity);
    p->step[p->count++] = step;
    if (step.kind == PRE_GPT2 && !p->gpt2) p->gpt2 = gpt2_split_new();
}

/* ---- stretches that match or do not, one after the other, and what becomes of them ---- */

/* A span while it is cut. */
typedef struct {
    PrePlace place;
    bool invert;
    Cutting *to;
    long first;     /* of its spans in TO */
    bool match;     /* what the last stretch was; false before any */
    size_t pending; /* with next: where matches that wait for it begin */
    bool waits;
} Stretches;

static Stretches begin_stretches(const PreStep *step, Cutting *to) {
    return (Stretches){.place = step->place, .invert = step->invert, .to = to, .first = to->spans};
}

static void extend_last(Cutting *c, size_t end) {
    c->span[c->spans - 1].end = end;
}

/* A run of matches, each of which would go to what follows it: only the last does. */
static void add_before_next(Stretches *s, size_t start, size_t end, bool match) {
    if (match) {
        if (s->waits) cutting_keep(s->to, s->pending, start, -1);
        s->pending = start;
        s->waits = true;
        return;
    }
    cutting_keep(s->to, s->waits ? s->pending : start, end, -1);
    s->waits = false;
}

static void add_stretch(Stretches *s, size_t start, size_t end, bool match) {
    if (start >= end) return;
    match = match != s->invert;
    bool any = s->to->spans > s->first, last = s->match;
    s->match = match;
    if (s->place == PRE_REMOVED) {
        if (!match) cutting_keep(s->to, start, end, -1);
    } else if (s->place == PRE_WITH_NEXT) {
        add_before_next(s, start, end, match);
    } else if (any &&
               ((s->place == PRE_CONTIGUOUS && match == last) || (s->place == PRE_WITH_PREVIOUS && match && !last))) {
        extend_last(s->to, end);
    } else {
        cutting_keep(s->to, start, end, -1);
    }
}

static void end_stretches(Stretches *s, size_t end) {
    if (s->waits) cutting_keep(s->to, s->pending, end, -1);
}

/* ---- what is cut at ---- */

static void split_at_text(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const PreStep *step = self;
    Stretches stretches = begin_stretches(step, to);
    size_t bytes = strlen(step->text), kept = start;
    for (size_t at = start; at + bytes <= end;) {
        if (memcmp(from->s + at, step->text, bytes) != 0) {
            at++;
            continue;
        }
        add_stretch(&stretches, kept, at, false);
        add_stretch(&stretches, at, at + bytes, true);
        kept = at += bytes;
    }
    add_stretch(&stretches, kept, end, false);
    end_stretches(&stretches, end);
}

/* Adds the matches in the valid UTF-8 START ... END-1, and before them what was kept back from KEPT on; from where it
 * is now. */
static size_t add_matches(const PreStep *step, const char *s, size_t start, size_t end, size_t kept, Stretches *out) {
    size_t first, last;
    for (size_t at = start;
         at < end && pattern_find(step->pattern, s + start, end - start, at - start, &first, &last);) {
        first += start;
        last += start;
        at = last > first ? last : last < end ? last + utf8_bytes(s + last, end - last) : end;
        if (last == first) continue;
        add_stretch(out, kept, first, false);
        add_stretch(out, first, last, true);
        kept = last;
    }
    return kept;
}

/* Bytes that are no UTF-8 match nothing. */
static void split_at_pattern(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    Stretches stretches = begin_stretches(self, to);
    size_t kept = start;
    for (size_t at = start, bad; at < end; at++) {
        size_t valid = utf8_valid(from->s + at, end - at, &bad) ? end : at + bad;
        kept = add_matches(self, from->s, at, valid, kept, &stretches);
        at = valid;
    }
    add_stretch(&stretches, kept, end, false);
    end_stretches(&stretches, end);
}

enum { KIND_OTHER, KIND_CUT, KIND_SPACE, KIND_WORD };

static int kind_of(PreKind kind, uint32_t code) {
    if (kind == PRE_DIGITS) return utf8_is_number(code) ? KIND_CUT : KIND_OTHER;
    if (kind == PRE_PUNCTUATION) return utf8_is_punctuation(code) ? KIND_CUT : KIND_OTHER;
    if (utf8_is_space(code)) return KIND_SPACE;
    return kind == PRE_WHITESPACE && utf8_is_word(code) ? KIND_WORD : KIND_OTHER;
}

/* Runs of characters of one kind, but each that is cut at alone; white space is dropped by the steps that know it. */
static void split_by_kind(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const PreStep *step = self;
    Stretches stretches = begin_stretches(step, to);
    size_t run = start;
    int last = KIND_OTHER;
    for (size_t at = start, bytes; at < end; at += bytes) {
        uint32_t code;
        bytes = utf8_bytes(from->s + at, end - at);
        int kind = utf8_decode(from->s + at, end - at, &code) ? kind_of(step->kind, code) : KIND_OTHER;
        bool goes_on = kind == last && kind != KIND_CUT;
        if (!goes_on && last != KIND_SPACE) add_stretch(&stretches, run, at, last == KIND_CUT);
        if (!goes_on) run = at;
        last = kind;
    }
    if (last != KIND_SPACE) add_stretch(&stretches, run, end, last == KIND_CUT);
    end_stretches(&stretches, end);
}

static void split_as_gpt2(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    Gpt2Split *gpt2 = self;
    gpt2_split_begin(gpt2);
    for (size_t at = start, stop; at < end; at = stop) {
        stop = gpt2_split_next(gpt2, from->s, end, at);
        cutting_keep(to, at, stop, -1);
    }
}

/* ---- rewriting ---- */

static bool begins_with(const Cutting *c, size_t start, size_t end, const char *text) {
    size_t bytes = strlen(text);
    return end - start >= bytes && memcmp(c->s + start, text, bytes) == 0;
}

static void prefix_blank(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    (void)self;
    if (from->s[start] != ' ') cutting_add(to, ' ', from->from[start]);
    cutting_copy(to, from, start, end);
}

static void mark_blanks(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const PreStep *step = self;
    size_t bytes = strlen(step->text);
    bool there = from->s[start] == ' ' || begins_with(from, start, end, step->text);
    bool wanted = step->prefix == PREFIX_ALWAYS || (step->prefix == PREFIX_FIRST && from->from[start] == 0);
    if (wanted && !there) cutting_replace(to, from, start, start, step->text, bytes);
    for (size_t at = start; at < end; at++) {
        if (from->s[at] == ' ') {
            cutting_replace(to, from, at, at + 1, step->text, bytes);
        } else {
            cutting_add(to, from->s[at], from->from[at]);
        }
    }
}

static void spell_bytes(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const ByteSpellings *spelt = self;
    for (size_t at = start; at < end; at++) {
        const char *spelling = spelt->of[(unsigned char)from->s[at]];
        cutting_add(to, spelling[0], from->from[at]);
        if (spelling[1]) cutting_add(to, spelling[1], from->from[at + 1]);
    }
}

/* ---- all of it ---- */

static void run_metaspace(PreStep *step, Cutting *c, Cutting *spare) {
    cutting_rewrite(c, spare, mark_blanks, step);
    if (!step->splits) return;
    PreStep split = {.kind = PRE_SPLIT, .text = step->text, .place = PRE_WITH_NEXT};
    cutting_split(c, spare, split_at_text, &split);
}

static void run_bytes(Cutting *c, Cutting *spare) {
    ByteSpellings spelt;
    byte_spellings(&spelt);
    cutting_rewrite(c, spare, spell_bytes, &spelt);
}

void pre_tokenizer_run(PreTokenizer *p, Cutting *c, Cutting *spare) {
    for (int i = 0; i < p->count; i++) {
        PreStep *step = &p->step[i];
        if (step->pattern) pattern_begin(step->pattern);
        switch (step->kind) {
        case PRE_SPLIT:
            cutting_split(c, spare, step->pattern ? split_at_pattern : split_at_text, step);
            break;
        case PRE_DIGITS:
        case PRE_PUNCTUATION:
        case PRE_WHITESPACE:
        case PRE_BLANKS:
            cutting_split(c, spare, split_by_kind, step);
            break;
        case PRE_METASPACE:
            run_metaspace(step, c, spare);
            break;
        case PRE_GPT2:
            cutting_split(c, spare, split_as_gpt2, p->gpt2);
            break;
        case PRE_PREFIX_BLANK:
            cutting_rewrite(c, spare, prefix_blank, NULL);
            break;
        case PRE_BYTES:
            run_bytes(c, spare);
            break;
        }
    }
}
