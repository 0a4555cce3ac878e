/* pattern: regular expressions over UTF-8 texts. The only user of PCRE2.
 *
 * Patterns of others are written for Oniguruma; those that it and PCRE2 read the same way are taken, others are
 * refused. White space is what Unicode says (White_Space), which PCRE2's own \s is not. */
#ifndef TEXT_PATTERN_H
#define TEXT_PATTERN_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct Pattern Pattern;

/* PATTERN is one of ours, in PCRE2's syntax; it matches only where the search begins. */
Pattern *pattern_own(const char *pattern);
/* A pattern from a file. Refused: what is no pattern, what the two read differently, and one that gives up on runs of
 * 4096 letters, digits, blanks or signs. */
Status pattern_parse(const char *pattern, Pattern **out) STATUS_CHECKED;
void pattern_free(Pattern *p);

/* The first match in the valid UTF-8 text S [N] from AT on. False: there is none, or it could not be found within the
 * limits of time and memory; then none is looked for in the rest of the text, until pattern_begin says that another
 * comes. Not thread-safe. */
void pattern_begin(Pattern *p);
bool pattern_find(Pattern *p, const char *s, size_t n, size_t at, size_t *start, size_t *end);

#endif
