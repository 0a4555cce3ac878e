/* sentence_piece: the vocabulary of Llama and its like: pieces of characters, a blank before every text, bytes for what
 * is no piece (Kudo and Richardson 2018; llama2.c's tokenizer.bin; tokenizer.json with byte_fallback).
 *
 * The whole text, or what stands between two special pieces, is one word: merges cross blanks. Pairs are merged one by
 * one. A byte is the piece <0x00> ... <0xFF>. */
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

typedef struct {
    const char *blank; /* how a blank is spelt: " " or U+2581 */
    bool prefix;       /* a blank is put before every text */
    int unknown;       /* for characters that no pieces stand for; -1: they vanish */
    bool fuses;        /* neighbours that are unknown are one */
    int first, last;   /* put before every text, and its end; -1: nothing. Neither is written */
} SentencePieceStyle;
/* Refused unless ids are 0 ... n-1 and the pieces that STYLE names are there. Takes P over, also when it is refused. */
Status sentence_piece_finish(SentencePiece *p, SentencePieceStyle style, Tokenizer **out) STATUS_CHECKED;

#endif
