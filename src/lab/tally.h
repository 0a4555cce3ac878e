/* tally: what generated sentences are worth by the truth (lecture 3, 6.5): how many are legal, possible, different, how
 * likely the possible ones are, and how much of the language they cover. decode.strategies and the sample pane count
 * with it. Private to the laboratory.
 *
 * Legal: the grammar's rule `grammatical` can write it (the farm's: the same sentences without the animals' habits);
 * what is possible is legal, and in a grammar without that rule nothing else is. Possible: its exact probability is
 * above 0. Neither is what did not end. A text is its tokens by name, so a special token within makes it impossible. */
#ifndef LAB_TALLY_H
#define LAB_TALLY_H

#include "rng.h"
#include "study.h"
#include "text/grammar.h"
#include "text/vocab.h"

typedef struct {
    bool legal, possible;
    double log_p; /* by the truth, of what comes after the prompt, END included; -INFINITY: impossible */
    int tokens;   /* that log_p is of */
    int text;     /* its number: equal texts have equal ones */
    bool ended;
} Verdict;

/* Remembers what it said of every text. */
typedef struct Judge Judge;
/* G and L may be NULL: without them every verdict says impossible, and judge_knows is false. L is copied, G and V are
 * borrowed. The prompt ids[0..n-1] (<s> first) is that of all sentences to come. */
Judge *judge_new(const Grammar *g, const Language *l, const Vocab *v, const int *ids, int n);
void judge_free(Judge *j);
bool judge_knows(const Judge *j);
/* Of the prompt and the generated ids[0..n-1], END included when ENDED. Fails when the grammar does. */
Status judge_sentence(Judge *j, const int *ids, int n, bool ended, Verdict *out) STATUS_CHECKED;
void judge_text(const Judge *j, int text, Str *out); /* adds the tokens of prompt and sentence by name */

/* Of a sentence of the language itself, drawn with R, that goes on from nowhere: the prompt must be <s> alone. */
Status judge_sample(Judge *j, Rng *r, Verdict *out) STATUS_CHECKED;

/* Counts of a set of sentences. */
typedef struct {
    long sentences, legal, possible, distinct;
    double nll;      /* sum over the possible ones of -log p / tokens */
    double coverage; /* true probability, given the prompt, of the distinct ones */
    bool *seen;      /* [seens] by text */
    int seens;
} Tally;

void tally_init(Tally *t);
void tally_done(Tally *t);
void tally_add(Tally *t, const Verdict *v, long times);

extern const Column tally_columns[]; /* strategy,legal,possible,true_nll,distinct,coverage */
void tally_about(Study *s);          /* rows of `about` on how it counts */
/* Shares of all sentences; what the truth does not know (or has no case of) is empty. Cells legal .. coverage: */
void tally_add_cells(const Tally *t, bool known, Table *to);
/* A row: */
void tally_add_row(const Tally *t, const char *strategy, bool known, Table *to);

#endif
