/* tokenizer: texts to tokens and back, for every kind of vocabulary that merges pairs.
 *
 * A kind says how a text is cut into words, which units a word begins as, and how tokens are spelt; merging, the memory
 * of words already cut, watching and decoding are the same for all. Encoding never fails: each token stands for a
 * stretch of the text, and the stretches together are the text. A vocabulary may say that what it does not have
 * vanishes: that is told as gaps. Not thread-safe: it remembers words; make one per thread. */
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

/* Stretches of a text that no token is for, from left to right. A token's stretch may hold one inside. */
typedef struct {
    size_t start, bytes; /* 0 bytes: of what became of the character that ends there, a part */
} Gap;

typedef struct {
    Gap *gap; /* [count]; zeroed is empty */
    long count, capacity;
} Gaps;

typedef struct {
    Piece *piece; /* [count]; zeroed is empty */
    long count, capacity;
    Gaps gaps;
} Pieces;

void pieces_done(Pieces *p);

/* The units of a text before anything is merged; unit i begins at start[i] and ends where the next begins. */
typedef struct {
    int *symbol; /* [n] token ids, -1: unknown */
    size_t *start;
    bool *ends; /* nothing merges across the right edge of i */
    int n, symbol_capacity, start_capacity, end_capacity;
    size_t end; /* of the last unit */
    Gaps gaps;  /* what no unit is for */
} Units;

void units_done(Units *u);
void units_add(Units *u, int symbol, size_t start, bool ends);
void units_leave_out(Units *u, size_t start, size_t bytes);
static inline size_t units_end(const Units *u, int i) {
    return i + 1 < u->n ? u->start[i + 1] : u->end;
}

/* What is cut in place of a text, and where in the text each of its bytes came from. */
typedef struct {
    const char *s;
    size_t n;
    const size_t *from; /* [n + 1] rising */
} Cuttable;

/* A word: bytes start ... end-1. What lies from end to stop belongs to its last token but does not change how it is
 * cut. */
typedef struct {
    size_t start, end, stop;
    int id; /* the token that the word is as a whole; -1: its units are merged */
} Word;

typedef struct {
    void (*free)(void *self);
    /* Makes of the text S what is cut; lasts until the next call. NULL: the text is cut as it is. */
    Cuttable (*begin)(void *self, const char *s, size_t n);
    /* The next word from AT < N on; false: there is none any more. */
    bool (*next)(void *self, const char *s, size_t n, size_t at, Word *word);
    /* Adds the units of the word s[at ... end-1]. */
    void (*lay)(const void *self, const char *s, size_t at, size_t end, Units *units);
    /* Adds how the vocabulary spells a token: UTF-8 without blanks where the kind can say so. */
    void (*name)(const void *self, int id, Str *out);
    /* Adds the bytes that a token writes after the token PREVIOUS. */
    void (*bytes)(const void *self, int id, int previous, Str *out);
} TokenizerKind;

typedef struct Tokenizer Tokenizer;

typedef struct {
    const MergeRules *rules; /* they belong to SELF */
    int limit;               /* rules from here on are not used; < 0: all are */
    int size;                /* ids are 0 ... size-1 */
    int first;               /* put before every text; -1: nothing */
    int last;                /* after which a text is over; -1: nobody says so */
    bool refuses;            /* what it does not have is refused */
    bool leaves_out;         /* what it does not have may vanish */
} TokenizerFacts;

/* SELF passes to the tokenizer when KIND has a free. */
Tokenizer *tokenizer_new(const TokenizerKind *kind, void *self, TokenizerFacts facts);
void tokenizer_free(Tokenizer *t);

int tokenizer_size(const Tokenizer *t);
int tokenizer_first(const Tokenizer *t);
int tokenizer_last(const Tokenizer *t);
bool tokenizer_refuses(const Tokenizer *t);
const MergeRules *tokenizer_rules(const Tokenizer *t);
void tokenizer_name(const Tokenizer *t, int id, Str *out);
/* What a token writes after the token PREVIOUS; for some, a blank is taken away where a text begins. */
#define TOKENIZER_ANY   (-1) /* after whichever */
#define TOKENIZER_BEGIN (-2) /* as the first of a text */
void tokenizer_bytes(const Tokenizer *t, int id, int previous, Str *out);
void tokenizer_encode(Tokenizer *t, const char *s, size_t n, Pieces *out); /* adds to OUT */

/* How many characters of the text S [N] no token is for, so that they vanish; the first few different ones are added to
 * NAMES as they are shown. */
int tokenizer_left_out(Tokenizer *t, const char *s, size_t n, Str *names);

/* The units of the first words of a text, at most MOST of them (one word may pass that); where they end. Positions are
 * those of the text that was given. */
size_t tokenizer_lay(Tokenizer *t, const char *s, size_t n, int most, Units *units);
/* Merges them step by step; see merger_run. */
void tokenizer_watch(Tokenizer *t, const Units *units, MergeWatch *watch, void *data);

#endif
