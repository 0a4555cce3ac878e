/* tokenizer: texts to tokens and back, for every kind of vocabulary that merges pairs.
 *
 * A kind says how a text is cut into words, which units a word begins as, and how tokens are spelt; merging, the memory
 * of words already cut, watching and decoding are the same for all. Encoding never fails: each token stands for a stretch
 * of the text, and the stretches together are the text, unless a vocabulary says that what it does not have vanishes.
 * Not thread-safe: it remembers words; make one per thread. */
#ifndef TEXT_TOKENIZER_H
#define TEXT_TOKENIZER_H

#include "merge.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>

/* A token in a text: bytes start ... start+bytes-1. */
typedef struct {
    int id; /* -1: a unit that the vocabulary does not have */
    size_t start, bytes;
} Piece;

typedef struct {
    Piece *piece; /* [count]; zeroed is empty */
    long count, capacity;
} Pieces;

void pieces_done(Pieces *p);

/* The units of a text before anything is merged; unit i begins at start[i] and ends where the next begins. */
typedef struct {
    int *symbol; /* [n] token ids, -1: unknown */
    size_t *start;
    bool *ends; /* nothing merges across the right edge of i */
    int n, symbol_capacity, start_capacity, end_capacity;
    size_t end; /* of the last unit */
} Units;

void units_done(Units *u);
void units_add(Units *u, int symbol, size_t start, bool ends);
static inline size_t units_end(const Units *u, int i) {
    return i + 1 < u->n ? u->start[i + 1] : u->end;
}

typedef struct {
    void (*free)(void *self);
    /* The next word of the text S from AT < N on: where it ends. What lies between *word_end and that belongs to its
     * last token but does not change how the word is cut. */
    size_t (*next)(void *self, const char *s, size_t n, size_t at, size_t *word_end);
    /* Adds the units of the word s[at ... end-1]. */
    void (*lay)(const void *self, const char *s, size_t at, size_t end, Units *units);
    /* Adds how the vocabulary spells a token: UTF-8 without blanks where the kind can say so. */
    void (*name)(const void *self, int id, Str *out);
    /* Adds the bytes that a token writes after the token PREVIOUS (-1: none). */
    void (*bytes)(const void *self, int id, int previous, Str *out);
} TokenizerKind;

typedef struct Tokenizer Tokenizer;

/* SELF passes to the tokenizer when KIND has a free; RULES belong to SELF; rules from LIMIT on are not used (< 0: all
 * are). FIRST is put before every text, -1: none. */
Tokenizer *tokenizer_new(const TokenizerKind *kind, void *self, const MergeRules *rules, int limit, int size,
                         int first);
void tokenizer_free(Tokenizer *t);

int tokenizer_size(const Tokenizer *t); /* ids are 0 ... size-1 */
int tokenizer_first(const Tokenizer *t);
const MergeRules *tokenizer_rules(const Tokenizer *t);
void tokenizer_name(const Tokenizer *t, int id, Str *out);
void tokenizer_bytes(const Tokenizer *t, int id, int previous, Str *out);
void tokenizer_encode(Tokenizer *t, const char *s, size_t n, Pieces *out); /* adds to OUT */

/* The units of the first words of a text, at most MOST of them (one word may pass that); where they end. */
size_t tokenizer_lay(Tokenizer *t, const char *s, size_t n, int most, Units *units);
/* Merges them step by step; see merger_run. */
void tokenizer_watch(Tokenizer *t, const Units *units, MergeWatch *watch, void *data);

#endif
