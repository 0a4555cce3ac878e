/* sentence_piece: the vocabulary of llama2.c's models: pieces of characters, a blank before every text, bytes for what
 * is no piece (Kudo and Richardson 2018).
 *
 * The whole text is one word: merges cross blanks. Pairs are merged one by one. Id 1, BOS, stands before every text,
 * and after the next one a story is over; 2 is EOS; 3 to 258 are the bytes, <0x00> ... <0xFF>. Neither BOS nor EOS is
 * written, and the piece behind BOS loses one blank before it. */
#ifndef TEXT_SENTENCE_PIECE_H
#define TEXT_SENTENCE_PIECE_H

#include "piece_table.h"
#include "status.h"
#include "tokenizer.h"

typedef struct SentencePiece SentencePiece;

SentencePiece *sentence_piece_new(void);
void sentence_piece_free(SentencePiece *p);
PieceTable *sentence_piece_pieces(SentencePiece *p); /* to add pieces to */
/* Adds the merge of two pieces into a third, all there, by ids; the lower the rank the sooner. A pair that is merged
 * already is refused. */
Status sentence_piece_add_merge(SentencePiece *p, int left, int right, int merged, int rank) STATUS_CHECKED;

/* Refused unless ids are 0 ... n-1, 3 to 258 are the bytes and one is the blank. Takes P over, also when it is refused.
 */
Status sentence_piece_finish(SentencePiece *p, Tokenizer **out) STATUS_CHECKED;

#endif
