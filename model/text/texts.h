/* texts: every distinct text once, known by its number. Two texts are equal exactly when their numbers are.
 *
 * Text 0 is the empty one. Numbers are given in the order of arrival and never change; a pointer from texts_bytes is
 * valid until the next text is added. */
#ifndef TEXT_TEXTS_H
#define TEXT_TEXTS_H

#include <stddef.h>

typedef struct {
    char *bytes; /* all texts, each terminated */
    size_t used, capacity;
    size_t *start;  /* [count] where each begins */
    int *length;    /* [count] bytes without the terminator */
    unsigned *hash; /* [count] */
    int count, slots;
    int *table; /* [table_size] text number + 1, 0: free; open addressing */
    int table_size;
} Texts;

void texts_init(Texts *t);
void texts_done(Texts *t);
void texts_copy(Texts *to, const Texts *from); /* TO is not initialised yet */
int texts_add(Texts *t, const char *s, size_t bytes);
int texts_find(const Texts *t, const char *s, size_t bytes); /* -1: not there */
int texts_join(Texts *t, int a, int b, int c);               /* the number of the three glued together */

static inline const char *texts_bytes(const Texts *t, int text) {
    return t->bytes + t->start[text];
}

#endif
