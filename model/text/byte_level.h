/* byte_level: the vocabulary of a byte-level byte-pair encoding (GPT-2, Radford et al. 2019): every byte is a unit, so
 * any text at all can be cut and comes back unchanged.
 *
 * Pieces are spelt in characters that can be seen: bytes 21-7E, A1-AC and AE-FF stand for themselves, the other 68, in
 * rising order, are U+0100, U+0101 ... A blank is U+0120. Special pieces, which are cut out of a text before anything
 * else, stand for themselves. */
#ifndef TEXT_BYTE_LEVEL_H
#define TEXT_BYTE_LEVEL_H

#include "piece_table.h"
#include "status.h"
#include "tokenizer.h"

typedef struct ByteLevel ByteLevel;

ByteLevel *byte_level_new(MergeOrder order);
void byte_level_free(ByteLevel *b);
PieceTable *byte_level_pieces(ByteLevel *b); /* to add special pieces to, before those of the vocabulary */
/* Adds a piece by its spelling. Refused besides what piece_table_add refuses: a character that stands for no byte. A
 * special piece that is there with that id is left as it is. */
Status byte_level_add(ByteLevel *b, const char *spelling, long long id) STATUS_CHECKED;
/* Adds a merge of two pieces by their spelling, as the last one. Refused: a piece, or what they make together, that is
 * not there; a pair that was merged before. */
Status byte_level_add_merge(ByteLevel *b, const char *left, size_t left_bytes, const char *right,
                            size_t right_bytes) STATUS_CHECKED;

typedef struct {
    bool loses_bytes; /* bytes that are no pieces vanish; false: such a vocabulary is refused */
    bool digits;      /* every digit is a word of its own */
    bool whole_words; /* a word that is a piece is not merged from its bytes */
    int first;        /* put before every text, -1: nothing */
} ByteLevelStyle;
/* Refused unless ids are 0 ... n-1. Takes B over, also when it is refused. */
Status byte_level_finish(ByteLevel *b, ByteLevelStyle style, Tokenizer **out) STATUS_CHECKED;

#endif
