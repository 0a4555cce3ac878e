/* byte_level: the vocabulary of a byte-level byte-pair encoding (GPT-2, Radford et al. 2019): every byte is a unit, so
 * any text at all can be cut and comes back unchanged.
 *
 * Pieces are spelt in characters that can be seen: bytes 21-7E, A1-AC and AE-FF stand for themselves, the other 68, in
 * rising order, are U+0100, U+0101 ... A blank is U+0120. In a text <|endoftext|> is no token but its letters. */
#ifndef TEXT_BYTE_LEVEL_H
#define TEXT_BYTE_LEVEL_H

#include "piece_table.h"
#include "status.h"
#include "str.h"
#include "tokenizer.h"

#include <stdbool.h>

/* The character that stands for each byte, terminated. */
typedef struct {
    char of[256][4];
} ByteSpellings;

void byte_spellings(ByteSpellings *out);
/* Adds the bytes that a spelling stands for; false: not all of it stands for bytes. */
bool byte_spelling_bytes(const char *s, size_t n, Str *out);

typedef struct ByteLevel ByteLevel;

ByteLevel *byte_level_new(void);
void byte_level_free(ByteLevel *b);
/* Adds a piece by its spelling. Refused besides what piece_table_add refuses: a character that stands for no byte. */
Status byte_level_add(ByteLevel *b, const char *spelling, long long id) STATUS_CHECKED;
/* Adds a merge of two pieces by their spelling, as the last one. Refused: a piece, or what they make together, that is
 * not there; a pair that was merged before. */
Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right,
                            size_t right_bytes) STATUS_CHECKED;
/* Refused unless ids are 0 ... n-1 and every byte is a piece. Takes B over, also when it is refused. */
Status byte_level_finish(ByteLevel *b, Tokenizer **out) STATUS_CHECKED;

#endif
