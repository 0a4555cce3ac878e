/* str: a growable string. s is always terminated and never NULL after str_init; bytes may hold NUL when len is used. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stddef.h>

typedef struct {
    char *s;
    size_t len, capacity;
} Str;

void str_init(Str *t);
void str_done(Str *t);
void str_clear(Str *t);
void str_truncate(Str *t, size_t len);       /* keeps the first LEN bytes */
void str_reserve(Str *t, size_t bytes);      /* room for so many more bytes without a further allocation */
_Bool str_try_reserve(Str *t, size_t bytes); /* the same for a size that a file names; false when it cannot be had */
void str_add(Str *t, const char *s);
void str_add_n(Str *t, const char *s, size_t bytes);
void str_add_char(Str *t, char c);
void str_add_repeat(Str *t, char c, size_t times);
void str_add_code(Str *t, unsigned code_point); /* as UTF-8 */
void str_addf(Str *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void str_addv(Str *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
char *str_take(Str *t); /* the caller owns the text; T is empty and usable again */

/* The shortest decimal text that reads back the same bits; nan, inf, -inf. Always '.', in every locale. */
void str_add_double(Str *t, double x);
void str_add_float(Str *t, float x);
/* Reads a whole text as a number, '.' in every locale. False when anything is left over or nothing is there.
 * Takes nan, inf and -inf. */
_Bool str_to_double(const char *s, double *x);
_Bool str_to_long(const char *s, long long *x); /* decimal digits with an optional sign */

_Bool str_ends_in(const char *s, const char *end);

/* Letters to put in, take out, change or swap with their neighbour until A is B. */
int str_distance(const char *a, const char *b);
/* "Did you mean": CANDIDATE when it is like MEANT (at most a third of its letters are wrong) and likelier than BEST
 * (NULL: none so far), else BEST. */
const char *str_likelier(const char *meant, const char *best, const char *candidate);

#endif
