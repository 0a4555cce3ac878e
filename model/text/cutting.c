#include "cutting.h"

#include "mem.h"

#include <string.h>

void cutting_done(Cutting *c) {
    mem_free(c->s);
    mem_free(c->from);
    mem_free(c->span);
    *c = (Cutting){0};
}

/* There is always one more place, for where the last byte ends. */
void cutting_reserve(Cutting *c, size_t n) {
    size_t need = c->n + n;
    if (need <= c->capacity && c->from) return;
    c->capacity = c->capacity * 2 > need ? c->capacity * 2 : need + 64;
    c->s = mem_resize(c->s, c->capacity, 1);
    c->from = mem_resize(c->from, c->capacity + 1, sizeof *c->from);
}

void cutting_begin(Cutting *c, const char *s, size_t n) {
    c->n = 0;
    cutting_reserve(c, n);
    if (n > 0) memcpy(c->s, s, n);
    for (size_t i = 0; i <= n; i++) c->from[i] = i;
    c->n = n;
    c->spans = 0;
    cutting_keep(c, 0, n, -1);
}

void cutting_keep(Cutting *c, size_t start, size_t end, int id) {
    if (start >= end) return;
    MEM_GROW(c->span, c->spans, c->span_capacity);
    c->span[c->spans++] = (Span){start, end, id};
}

void cutting_replace(Cutting *c, const Cutting *old, size_t start, size_t end, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) cutting_add(c, s[i], old->from[i ? end : start]);
}

void cutting_copy(Cutting *c, const Cutting *old, size_t start, size_t end) {
    cutting_reserve(c, end - start);
    memcpy(c->s + c->n, old->s + start, end - start);
    memcpy(c->from + c->n, old->from + start, (end - start) * sizeof *c->from);
    c->n += end - start;
}

static void swap(Cutting *a, Cutting *b) {
    Cutting kept = *a;
    *a = *b;
    *b = kept;
}

void cutting_rewrite(Cutting *c, Cutting *spare, CuttingStep *step, void *self) {
    spare->n = 0;
    spare->spans = 0;
    cutting_reserve(spare, c->n);
    for (long i = 0; i < c->spans; i++) {
        const Span *span = &c->span[i];
        size_t start = spare->n;
        if (span->id >= 0) {
            cutting_copy(spare, c, span->start, span->end);
        } else {
            step(self, c, span->start, span->end, spare);
        }
        cutting_keep(spare, start, spare->n, span->id);
    }
    cutting_reserve(spare, 0);
    spare->from[spare->n] = c->from[c->n];
    swap(c, spare);
}

void cutting_split(Cutting *c, Cutting *spare, CuttingStep *step, void *self) {
    spare->spans = 0;
    for (long i = 0; i < c->spans; i++) {
        const Span *span = &c->span[i];
        if (span->id >= 0) {
            cutting_keep(spare, span->start, span->end, span->id);
        } else {
            step(self, c, span->start, span->end, spare);
        }
    }
    Span *kept = c->span;
    long capacity = c->span_capacity;
    c->span = spare->span;
    c->spans = spare->spans;
    c->span_capacity = spare->span_capacity;
    spare->span = kept;
    spare->span_capacity = capacity;
}
