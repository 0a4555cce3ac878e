/* byte_level: the vocabulary of a byte-level byte-pair encoding (GPT-2, Radford et al. 2019): every byte is a unit, so
 * any text at all can be cut and comes back unchanged.
 *
 * Pieces are spelt in characters that can be seen: bytes 21-7E, A1-AC and AE-FF stand for themselves, the other 68, in
 * rising order, are U+0100, U+0101 ... A blank is U+0120. */
#ifndef TEXT_BYTE_LEVEL_H
#define TEXT_BYTE_LEVEL_H

#include "status.h"
#include "tokenizer.h"

typedef struct ByteLevel ByteLevel;

ByteLevel *byte_level_new(void);
void byte_level_free(ByteLevel *b);
/* Adds a piece by its spelling. Refused: an id out of 0 ... LIMIT, or given twice; a character that stands for no byte.
 */
#define BYTE_LEVEL_IDS 10000000
Status byte_level_add(ByteLevel *b, const char *spelling, long long id) STATUS_CHECKED;
/* Adds a merge of two pieces by their spelling, as the last one. Refused: a piece, or what they make together, that is
 * not there; a pair that was merged before. */
Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right,
                            size_t right_bytes) STATUS_CHECKED;
/* Refused unless ids are 0 ... n-1 and all 256 bytes are pieces. *OUT takes B over, also when it is refused. */
Status byte_level_finish(ByteLevel *b, Tokenizer **out) STATUS_CHECKED;

#endif
