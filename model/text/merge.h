/* merge: applies ranked merges to sequences of symbols: what every kind of byte-pair encoding does to a word.
 *
 * The kinds differ in what a step is:
 *   in order    each rule once, in the order in which they were learnt, wherever its pair stands (lecture 3, 5.3)
 *   by rank     the rule of lowest rank that fits, wherever its pair stands, until none fits (GPT-2)
 *   one by one  the pair of lowest rank, of equals the leftmost, in that one place, until none fits (SentencePiece,
 *               llama2.c, Hugging Face); rules may share a rank
 * Places are taken from left to right and do not overlap. A sequence of n symbols takes O(n log n). */
#ifndef TEXT_MERGE_H
#define TEXT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { MERGE_IN_ORDER, MERGE_BY_RANK, MERGE_ONE_BY_ONE } MergeOrder;

typedef struct {
    int left, right, merged; /* symbols, not negative */
    int rank;                /* from 0: the number of the rule, unless merge_rules_add_ranked says another */
    int again;               /* the next rule of the same pair; -1: none. Only in order are there any */
} MergeRule;

typedef struct {
    MergeRule *rule; /* [count] */
    int count, capacity;
    int *table; /* [table_size] rule + 1 of the first rule of a pair, 0: free; open addressing */
    int table_size;
    MergeOrder order;
} MergeRules;

void merge_rules_init(MergeRules *r, MergeOrder order);
void merge_rules_done(MergeRules *r);
int merge_rules_add(MergeRules *r, int left, int right, int merged); /* the last rule; returns its number from 0 */
int merge_rules_add_ranked(MergeRules *r, int left, int right, int merged, int rank); /* one by one only */
int merge_rules_find(const MergeRules *r, int left, int right); /* the first rule of a pair; -1: none */

/* Works on one sequence after the other and keeps its memory between them. Not thread-safe; the rules are shared. */
typedef struct Merger Merger;

Merger *merger_new(const MergeRules *rules); /* borrowed; rules must not be added while it lives */
void merger_free(Merger *m);
/* Told after each step: the rule, and the sequence as it stands then; units[i] of the given symbols make symbol[i].
 * False: stop. */
typedef bool MergeWatch(void *data, int rule, const int *symbol, const int *units, int n);
/* Merges the N symbols in place and returns how many are left. UNITS [n] gets how many of those given each one is made
 * of. A negative symbol never merges. ENDS [n] (NULL: none): nothing merges across the right edge of i when ends[i].
 * Rules from LIMIT on are not used (< 0: all are). WATCH may be NULL; watching costs O(n) a step. */
int merger_run(Merger *m, int *symbol, int *units, int n, const bool *ends, int limit, MergeWatch *watch, void *data);

#endif
