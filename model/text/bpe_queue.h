/* bpe_queue: the pairs of neighbours with their counts, and which of them is the most frequent. Private to bpe_train.
 *
 * Counts change many times within a step; bpe_queue_settle then brings the order up to date, each changed pair once. A
 * heap holds a key for every pair that is not below its count: a pair whose count has fallen is put in its place only
 * when it comes to the top. How many pairs share a count is kept beside it. */
#ifndef TEXT_BPE_QUEUE_H
#define TEXT_BPE_QUEUE_H

#include "bpe_train.h"

typedef struct {
    int left, right;
    long long count;
    long long settled; /* its count when the queue was last settled */
    long long key;     /* of its entry in the heap; 0: it has none */
    bool changed;      /* since the queue was settled */
} QueuedPair;

typedef struct {
    long long count, pairs;
} QueueLevel;

typedef struct {
    long long key;
    uint64_t left, right; /* the first eight bytes of the names, to compare equals by */
    int pair;
} QueueEntry;

typedef struct {
    QueuedPair *pair;
    int pairs, pair_capacity;
    int *table; /* [table_size] pair + 1, 0: free; open addressing */
    int table_size;
    int *changed;
    int changes, changed_capacity;
    QueueEntry *heap;
    size_t entries, heap_capacity;
    QueueLevel *level; /* [level_size] by count, 0: free; open addressing */
    size_t levels, level_size;
} BpeQueue;

void bpe_queue_init(BpeQueue *q);
void bpe_queue_done(BpeQueue *q);
int bpe_queue_pair(BpeQueue *q, int left, int right); /* its number; a new pair gets the next one and has count 0 */
void bpe_queue_settle(BpeQueue *q, const Bpe *b);
/* The pair to merge next, and how many have its count; its number, or -1: no pair is left. */
int bpe_queue_top(BpeQueue *q, const Bpe *b, BpePair *top, int *ties);
int bpe_queue_list(const BpeQueue *q, const Bpe *b, BpePair *out, int most); /* see bpe_trainer_pairs */

static inline void bpe_queue_change(BpeQueue *q, int pair, int by) {
    QueuedPair *p = &q->pair[pair];
    p->count += by;
    if (p->changed) return;
    p->changed = true;
    q->changed[q->changes++] = pair; /* there is room for every pair */
}

#endif
