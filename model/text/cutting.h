/* cutting: a text on its way to words: its bytes as the steps so far have left them, where each of them came from, and
 * the spans that they are cut into. A step rewrites the spans or cuts them smaller; a span that is a token already is
 * left alone. */
#ifndef TEXT_CUTTING_H
#define TEXT_CUTTING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t start, end; /* start < end */
    int id;            /* the token that it is; -1: to be cut further */
} Span;

typedef struct {
    char *s; /* [n] */
    size_t n, capacity;
    size_t *from; /* [capacity + 1] where in the given text each byte came from, and where that ends; rising */
    Span *span;   /* [spans] from left to right */
    long spans, span_capacity;
} Cutting;

void cutting_done(Cutting *c);                           /* zeroed is empty */
void cutting_begin(Cutting *c, const char *s, size_t n); /* a copy of the text as one span */

/* For steps: room for N more bytes; adds a byte that came FROM there; adds a span, unless it is empty. */
void cutting_reserve(Cutting *c, size_t n);
static inline void cutting_add(Cutting *c, char byte, size_t from) {
    if (c->n >= c->capacity) cutting_reserve(c, 1);
    c->s[c->n] = byte;
    c->from[c->n++] = from;
}
void cutting_keep(Cutting *c, size_t start, size_t end, int id);
/* Adds the N bytes of S in place of the bytes START ... END-1 of what OLD has: all of them came from where those began,
 * the ones behind the first from where those ended. */
void cutting_replace(Cutting *c, const Cutting *old, size_t start, size_t end, const char *s, size_t n);
void cutting_copy(Cutting *c, const Cutting *old, size_t start, size_t end); /* adds those bytes as they are */

/* Adds to TO what the span START ... END-1 of FROM becomes: bytes of rewriting, spans of cutting. */
typedef void CuttingStep(void *self, const Cutting *from, size_t start, size_t end, Cutting *to);
/* Each open span gets the bytes that STEP adds. SPARE gives room and keeps it. */
void cutting_rewrite(Cutting *c, Cutting *spare, CuttingStep *step, void *self);
/* Each open span becomes the spans that STEP adds; the bytes stay. */
void cutting_split(Cutting *c, Cutting *spare, CuttingStep *step, void *self);

#endif
