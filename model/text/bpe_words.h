/* bpe_words: the distinct words of a text and how often each occurs: all that byte-pair encoding learns from. */
#ifndef TEXT_BPE_WORDS_H
#define TEXT_BPE_WORDS_H

#include "bpe.h"
#include "texts.h"

typedef struct {
    BpeUnit unit;
    bool lowercase; /* capitals are counted as small letters */
    Texts texts;    /* word w is text w + 1: the order in which they came */
    int *count;     /* [words] */
    int words, capacity;
    long total;     /* words with repetition */
    size_t letters; /* bytes of the distinct words */
    Str small;
} BpeWords;

#define BPE_WORDS_MOST_BYTES (512u << 20) /* of all texts together: so that counts and places fit into an int */

void bpe_words_init(BpeWords *w, BpeUnit unit, bool lowercase);
void bpe_words_done(BpeWords *w);
void bpe_words_add(BpeWords *w, const char *s, size_t bytes);         /* cuts at blanks and counts */
const char *bpe_words_at(const BpeWords *w, int word, size_t *bytes); /* borrowed until the next one is added */
int bpe_words_find(const BpeWords *w, const char *s, size_t bytes);   /* -1: it never occurred */
int *bpe_words_by_count(const BpeWords *w); /* the words, most frequent first, equals by their bytes; allocated */

/* S with capitals as small letters; bytes that are not UTF-8 stay. */
void bpe_lowercase(const char *s, size_t bytes, Str *out);

#endif
