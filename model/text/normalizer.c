#include "normalizer.h"

#include "mem.h"

#include <stdint.h>
#include <string.h>

void normalizer_done(Normalizer *n) {
    for (int i = 0; i < n->count; i++) {
        mem_free(n->step[i].content);
        mem_free(n->step[i].text);
        pattern_free(n->step[i].pattern);
    }
    mem_free(n->step);
    *n = (Normalizer){0};
}

void normalizer_add(Normalizer *n, NormalizeStep step) {
    MEM_GROW(n->step, n->count, n->capacity);
    n->step[n->count++] = step;
}

/* ---- replacing ---- */

static void prepend(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const NormalizeStep *step = self;
    cutting_replace(to, from, start, start, step->content, strlen(step->content));
    cutting_copy(to, from, start, end);
}

static void replace_text(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const NormalizeStep *step = self;
    size_t bytes = strlen(step->text);
    for (size_t at = start; at < end;) {
        if (end - at >= bytes && memcmp(from->s + at, step->text, bytes) == 0) {
            cutting_replace(to, from, at, at + bytes, step->content, strlen(step->content));
            at += bytes;
        } else {
            cutting_add(to, from->s[at], from->from[at]);
            at++;
        }
    }
}

/* The matches in a stretch of valid UTF-8; an empty one counts unless it stands where one ended. */
static void replace_matches(const NormalizeStep *step, const Cutting *from, size_t start, size_t end, Cutting *to) {
    size_t kept = start, ended = SIZE_MAX, first, last;
    for (size_t at = start;
         at <= end && pattern_find(step->pattern, from->s + start, end - start, at - start, &first, &last);) {
        first += start;
        last += start;
        if (last > first || first != ended) {
            cutting_copy(to, from, kept, first);
            cutting_replace(to, from, first, last, step->content, strlen(step->content));
            kept = ended = last;
        }
        at = last > first ? last : last + (last < end ? utf8_bytes(from->s + last, end - last) : 1);
    }
    cutting_copy(to, from, kept, end);
}

static void replace_pattern(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    for (size_t at = start, bad; at < end; at++) {
        size_t valid = utf8_valid(from->s + at, end - at, &bad) ? end : at + bad;
        replace_matches(self, from, at, valid, to);
        if (valid < end) cutting_add(to, from->s[valid], from->from[valid]);
        at = valid;
    }
}

/* ---- characters ---- */

/* The Unicode form, of each cluster on its own: characters of different clusters never combine. */
static void compose(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const NormalizeStep *step = self;
    Str form;
    str_init(&form);
    for (size_t at = start, bytes; at < end; at += bytes) {
        bytes = utf8_cluster(from->s + at, end - at);
        str_clear(&form);
        utf8_normalize(&form, from->s + at, bytes, step->form);
        if (form.len == bytes && memcmp(form.s, from->s + at, bytes) == 0) {
            cutting_copy(to, from, at, at + bytes);
        } else {
            cutting_replace(to, from, at, at + bytes, form.s, form.len);
        }
    }
    str_done(&form);
}

/* Character by character, as if none stood beside it: no special case for a sigma at the end of a word. */
static void lowercase(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    (void)self;
    for (size_t at = start, bytes; at < end; at += bytes) {
        uint32_t code;
        char small[8];
        bytes = utf8_bytes(from->s + at, end - at);
        if (!utf8_decode(from->s + at, end - at, &code)) {
            cutting_copy(to, from, at, at + bytes);
        } else if (code == 0x130) { /* the one capital whose small letter is two characters */
            cutting_replace(to, from, at, at + bytes, "i\xcc\x87", 3);
        } else {
            int n = utf8_encode(utf8_lower(code), small);
            cutting_replace(to, from, at, at + bytes, small, (size_t)n);
        }
    }
}

static void strip(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    const NormalizeStep *step = self;
    size_t first = end, last = start;
    uint32_t code;
    for (size_t at = start, bytes; at < end; at += bytes) {
        bytes = utf8_bytes(from->s + at, end - at);
        if (utf8_decode(from->s + at, end - at, &code) && utf8_is_space(code)) continue;
        if (at < first) first = at;
        last = at + bytes;
    }
    if (!step->left) first = start;
    if (!step->right && first < end) last = end;
    if (first < last) cutting_copy(to, from, first, last);
}

static void strip_accents(void *self, const Cutting *from, size_t start, size_t end, Cutting *to) {
    (void)self;
    for (size_t at = start, bytes; at < end; at += bytes) {
        uint32_t code;
        bytes = utf8_bytes(from->s + at, end - at);
        if (!utf8_decode(from->s + at, end - at, &code) || !utf8_is_mark(code)) cutting_copy(to, from, at, at + bytes);
    }
}

void normalizer_run(const Normalizer *n, Cutting *c, Cutting *spare) {
    static CuttingStep *const step[] = {[NORMALIZE_PREPEND] = prepend, [NORMALIZE_REPLACE] = replace_text,
                                        [NORMALIZE_FORM] = compose,    [NORMALIZE_LOWERCASE] = lowercase,
                                        [NORMALIZE_STRIP] = strip,     [NORMALIZE_STRIP_ACCENTS] = strip_accents};
    for (int i = 0; i < n->count; i++) {
        NormalizeStep *s = &n->step[i];
        if (s->pattern) pattern_begin(s->pattern);
        cutting_rewrite(c, spare, s->pattern ? replace_pattern : step[s->kind], s);
    }
}
