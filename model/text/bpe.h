/* bpe: byte-pair encoding as a vocabulary of sub-words (Sennrich, Haddow and Birch 2016; lecture 3, 5.3): symbols and
 * the merges that make new ones, in the order in which they were learnt.
 *
 * A symbol is known by its bytes and by whether the end of the word belongs to it: "st" and "st</w>" are two symbols,
 * and a text that has the characters </w> makes neither. The same bytes come to the same symbol whichever way they are
 * put together. Symbol 0 is the end of a word, </w>, alone; then come the units, then what merges make. Ranks of merges
 * count from 1. Immutable once trained or read, so threads may share it. */
#ifndef TEXT_BPE_H
#define TEXT_BPE_H

#include "merge.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

#define BPE_END       "</w>"
#define BPE_END_BYTES 4

typedef enum {
    BPE_CHAR, /* units are characters; words end at Unicode white space */
    BPE_BYTE, /* units are the 256 bytes; words end at the six ASCII blanks */
} BpeUnit;

typedef struct {
    int left, right, merged; /* symbols */
    long long count;         /* how often the pair stood side by side when it was chosen; 0: not known */
    int ties;                /* pairs with that count, this one included */
} BpeMerge;

typedef struct Bpe Bpe;

Bpe *bpe_new(BpeUnit unit); /* knows </w>, and all 256 bytes when they are its units */
void bpe_free(Bpe *b);
/* Adds a unit: the symbol of these bytes. Characters are added in byte order by those who want ids that do not depend
 * on the order of the text. */
int bpe_add_unit(Bpe *b, const char *s, size_t bytes);
/* Adds a merge as the last one and returns the symbol it makes. LEFT must not hold the end of a word. */
int bpe_add_merge(Bpe *b, int left, int right, long long count, int ties);

BpeUnit bpe_unit(const Bpe *b);
int bpe_symbols(const Bpe *b);
int bpe_units(const Bpe *b); /* of the symbols, those that no merge makes: </w> and the units */
int bpe_merges(const Bpe *b);
const BpeMerge *bpe_merge(const Bpe *b, int rank); /* rank 1 ... bpe_merges */
int bpe_symbols_after(const Bpe *b, int merges);   /* how many symbols there were after so many merges */
const MergeRules *bpe_rules(const Bpe *b);         /* borrowed; rule r has rank r + 1 */

/* A symbol's name is its bytes, with </w> behind when it ends a word; borrowed until the next symbol is added. */
const char *bpe_name(const Bpe *b, int symbol, size_t *bytes);
bool bpe_ends_word(const Bpe *b, int symbol);
int bpe_find(const Bpe *b, const char *s, size_t bytes, bool ends_word); /* by its bytes; -1: there is none */
int bpe_compare(const Bpe *b, int x, int y);                             /* by the bytes of their names */

/* The next word of the N bytes at S: how many blanks stand before it, and its bytes; 0 of both at the end. */
void bpe_next_word(const char *s, size_t n, BpeUnit unit, size_t *blank, size_t *word);
/* Bytes of the first unit of the N > 0 bytes at S. Of characters: a byte that is not UTF-8 is a unit alone. */
size_t bpe_unit_bytes(const char *s, size_t n, BpeUnit unit);

#endif
