/* vocab_internal: what a vocabulary is made of, for vocab.c and vocab_file.c. */
#ifndef TEXT_VOCAB_INTERNAL_H
#define TEXT_VOCAB_INTERNAL_H

#include "texts.h"
#include "vocab.h"

#include <stdatomic.h>

/* The number of a token's text is its id + 1: text 0 is the empty one. Bytes and sub-words have texts of their own;
 * NAMES are what tokens are called where that differs from their text. */
struct Vocab {
    VocabUnit unit;
    Texts texts; /* words and characters */
    Bpe *bpe;    /* sub-words */
    Tokenizer *tokenizer;
    int first, last;    /* of a tokenizer */
    Str source;         /* its files */
    atomic_int holders; /* of a tokenizer's: copies are the same */
    Str names;          /* each terminated */
    size_t *name;       /* [size] where each begins; NULL: names are the texts */
    int size;
};

#endif
