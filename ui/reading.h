/* reading: what panes and bars read of a snapshot, with one answer for all: the tokens, the visible position, who looks
 * at whom. Nothing is kept; every answer comes from the snapshot's facts, fields and tables. */
#ifndef UI_READING_H
#define UI_READING_H

#include "pane.h"

#define READING_TOKEN 48 /* bytes of a shown token */

int reading_tokens(const Snapshot *s);  /* rows of table tokens; 0 when it is not there */
int reading_visible(const Snapshot *s); /* tokens the model sees: facts.position, at most those there are */
/* A text of a table as a terminal shows it in one piece (control characters and blanks as marks); "" where there is
 * none. */
void reading_cell(const Table *t, long row, const char *name, char out[READING_TOKEN]);
/* Token I as a terminal shows it in one piece (control characters and blanks as marks); "" outside. */
void reading_token(const Snapshot *s, int i, char out[READING_TOKEN]);
/* The same with its position behind it, "the (3)", when another token of the sentence is written alike. */
void reading_token_place(const Snapshot *s, int i, char out[READING_TOKEN + 16]);
bool reading_is_generated(const Snapshot *s, int i);
/* TEXT without the first TOKENS tokens of the sentence, when it begins with them. Borrowed. */
const char *reading_continuation(const Snapshot *s, int tokens, const char *text);
bool reading_is_past(const Snapshot *s); /* looking at a step before the newest */

/* The value of an option of the run, or its prompt, as table settings has it; NULL: not given. Borrowed. */
const char *reading_setting(const Snapshot *s, const char *option);

/* Number of tokens, layers, heads that the attention fields of the snapshot have; false: there are none. */
bool reading_attention(const Snapshot *s, int *layers, int *heads, int *tokens);

bool reading_is_off(const Snapshot *s, int layer, int head); /* that head is switched off */

void reading_clamp(const Snapshot *s, Cursor *c);

/* Rows FIRST .. FIRST+N-1 of a numeric column as doubles (NaN where empty); the caller frees it. NULL when the column
 * is not there. */
double *reading_column(const Table *t, const char *column, long first, long n);
/* The row of a curve whose step is STEP (tables have a row per step, rising); -1: none. */
long reading_row_of_step(const Table *t, long step);

bool reading_is_unsaved(const SnapshotFacts *f); /* the newest step of the run is in no file */
/* The run is one that lantern begins by itself: nothing of it was chosen but its kind and seed, nothing stands beside it
 * or waits. It can be had again, to the bit, in the time it took. */
bool reading_is_plain(const Snapshot *s);

bool reading_has_truth(const Snapshot *s); /* whether the probabilities of the language are known */
bool reading_test_is_old(const SnapshotFacts *f);  /* more steps were made since than before it: say of which it is */
double reading_perplexity(const SnapshotFacts *f); /* exp of the test loss; NaN: not measured yet */
double reading_over(double nll, double floor_nll); /* perplexity / floor - 1 of two losses on the same sentences */
double reading_over_floor(const SnapshotFacts *f); /* the same of the run's last test; NaN: not known */

/* The next word: model against truth. */
double reading_kl(
    const Table *next); /* KL(truth || model) in nats; NaN without a truth; inf when the model rules out a true word */

/* The next position after AFTER, round the end, whose token holds TEXT (letters in either case); -1: none. */
int reading_find_token(const Snapshot *s, const char *text, int after);
bool reading_holds(const char *haystack, const char *needle); /* ASCII letters in either case */

#endif
