/* merge: applies ranked merges to sequences of symbols: what every kind of byte-pair encoding does to a word.
 *
 * One step takes one rule and applies it from left to right wherever its pair stands; places do not overlap. Which rule
 * comes next is the one difference between the kinds:
 *   in order   rules are applied once each, in the order in which they were learnt (lecture 3, 5.3)
 *   by rank    the rule of lowest rank that fits, again and again until none does (GPT-2)
 * A sequence of n symbols takes O(n log n). */
#ifndef TEXT_MERGE_H
#define TEXT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int left, right, merged; /* symbols, not negative */
    int again;               /* the next rule of the same pair; -1: none. By rank only the first counts */
} MergeRule;

typedef struct {
    MergeRule *rule; /* [count] by rank */
    int count, capacity;
    int *table; /* [table_size] rule + 1 of the first rule of a pair, 0: free; open addressing */
    int table_size;
    bool in_order;
} MergeRules;

void merge_rules_init(MergeRules *r, bool in_order);
void merge_rules_done(MergeRules *r);
int merge_rules_add(MergeRules *r, int left, int right, int merged); /* the last rule; returns its number from 0 */
int merge_rules_find(const MergeRules *r, int left, int right);      /* the first rule of a pair; -1: none */

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
