/* ascii: what a terminal without Unicode shows instead of a character: one cell for it, and words where text has room for them.
 * The only table of its kind. */
#ifndef UI_ASCII_H
#define UI_ASCII_H

#include "str.h"

#include <stdint.h>

uint32_t ascii_cell(uint32_t ch); /* one printable ASCII character; '?' when there is nothing better */
/* Adds UTF-8 TEXT with words for what has some: "\u221A16 \u2265 2" as "sqrt(16) >= 2". What has none stays as it is. */
void ascii_words(const char *text, Str *out);

#endif
