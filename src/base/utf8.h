/* utf8: characters and columns. Widths come from utf8proc, so they are the same on every machine. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of S (LEN bytes left, LEN > 0) into *code; returns its bytes, or 0 when they are not UTF-8. */
int utf8_decode(const char *s, size_t len, uint32_t *code);
int utf8_encode(uint32_t code, char out[4]);                /* bytes written, 0 when no scalar value */
bool utf8_valid(const char *s, size_t len, size_t *bad_at); /* bad_at may be NULL */
bool utf8_is_space(uint32_t code);                          /* Unicode White_Space */
bool utf8_is_number(uint32_t code);                         /* categories Nd, Nl, No */
bool utf8_is_word(uint32_t code);                           /* letters, marks, numbers, and what joins words (Pc): \w */
bool utf8_is_mark(uint32_t code);                           /* category Mn */
bool utf8_is_punctuation(uint32_t code);                    /* categories P* and the signs of ASCII */
uint32_t utf8_lower(uint32_t code);                         /* the small letter of a capital; all others themselves */
int utf8_width(uint32_t code);                              /* columns: 0 (combining, control), 1 or 2 */
/* The one letter that Unicode has for LETTER with the combining MARK on it, 0: none. */
uint32_t utf8_compose(uint32_t letter, uint32_t mark);
size_t utf8_bytes(const char *s, size_t len);   /* of the first character; 1 of what is none. LEN > 0 */
size_t utf8_cluster(const char *s, size_t len); /* of the first characters that are seen as one, and may combine */
typedef enum { UTF8_NFC, UTF8_NFD, UTF8_NFKC, UTF8_NFKD } Utf8Form;
void utf8_normalize(Str *out, const char *s, size_t len, Utf8Form form); /* adds it; what is not UTF-8 as it is */
int utf8_columns(const char *s);             /* of a whole text; bytes that are not UTF-8 count one each */
size_t utf8_fit(const char *s, int columns); /* bytes of the longest prefix that fits, never half a character */

/* Adds LEN bytes of user text so that a terminal shows it in one line, in as many columns as utf8_columns says: a space
 * stays a space when PLAIN and becomes a mark otherwise; newline, tab and controls become marks; bytes that are not
 * UTF-8 become <hh>; characters nobody can know become U+FFFD. Invisible ones (joiners, variation selectors, direction
 * marks) vanish when PLAIN and become <U+hhhh> otherwise. A combining mark with nothing to sit on gets a dotted circle.
 */
void utf8_show(Str *out, const char *s, size_t len, bool plain);

#endif
