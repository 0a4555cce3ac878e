/* bpe_train: learns the merges of a byte-pair encoding, one at a time (lecture 3, 5.3).
 *
 * Every word begins as its units and </w>. A step takes the pair of neighbours that is most frequent in all words
 * together - every place counts, so aaaa has three aa - and merges it in every word from left to right, places not
 * overlapping. Of equally frequent pairs the smallest by the bytes of left, then right, is taken.
 *
 * Counts are kept up to date where a merge changes something, never made anew: a step costs as much as there are places
 * to merge, all steps together O(n log n) for n units of distinct words. */
#ifndef TEXT_BPE_TRAIN_H
#define TEXT_BPE_TRAIN_H

#include "bpe_words.h"

typedef struct BpeTrainer BpeTrainer;

BpeTrainer *bpe_trainer_new(const BpeWords *w); /* W is read, not kept */
void bpe_trainer_free(BpeTrainer *t);
bool bpe_trainer_step(BpeTrainer *t);            /* one merge; false: no pair is left, nothing was changed */
const Bpe *bpe_trainer_bpe(const BpeTrainer *t); /* borrowed: what has been learnt so far, with its log of merges */
Bpe *bpe_trainer_take(BpeTrainer *t);            /* the caller owns it; T can only be freed then */

/* How it stands between two steps. */
long long bpe_trainer_tokens(const BpeTrainer *t);                /* symbols of all words with repetition */
int bpe_trainer_most_pieces(const BpeTrainer *t);                 /* no word has more */
int bpe_trainer_word(const BpeTrainer *t, int word, int *symbol); /* its pieces; how many */
/* The most frequent pairs in the order in which they would be taken, at most MOST of them; how many. O(pairs). */
typedef struct {
    int left, right;
    long long count;
} BpePair;
int bpe_trainer_pairs(const BpeTrainer *t, BpePair *out, int most);

#endif
