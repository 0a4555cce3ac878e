/* bpe_live: byte-pair encoding trained merge by merge while people look: its words, the merges so far, the pair that
 * comes next, and a text cut by what has been learnt. Forward and back: going back learns anew from the same words,
 * with the same merges. Private to the laboratory. */
#ifndef LAB_BPE_LIVE_H
#define LAB_BPE_LIVE_H

#include "snapshot.h"
#include "status.h"
#include "text/tokenizer.h"

enum {
    BPE_LIVE_MERGES = 10000,  /* that it learns at most */
    BPE_LIVE_BYTES = 16 << 20 /* of a text that it learns from */
};

typedef struct BpeLive BpeLive;

BpeLive *bpe_live_new(void); /* of morph, asleep: reads nothing until it is woken or asked */
void bpe_live_free(BpeLive *b);
void bpe_live_wake(BpeLive *b); /* somebody looks: the next turn reads the corpus */

/* Options of bpe.train, N texts key=value; merges= is where it goes to. corpus=run is RUN_CORPUS. A refusal leaves all
 * as it was. */
Status bpe_live_learn(BpeLive *b, const char *const *pair, int n, const char *run_corpus) STATUS_CHECKED;
Status bpe_live_to(BpeLive *b, long merges) STATUS_CHECKED; /* then holds */
Status bpe_live_by(BpeLive *b, long merges) STATUS_CHECKED; /* so many on, or back when negative; then holds */
/* A merge every 1/RATE seconds when it is paced, else as fast as it goes; RATE 0: as before. */
Status bpe_live_run(BpeLive *b, double rate) STATUS_CHECKED;
void bpe_live_pause(BpeLive *b);
/* To be cut: by OWN, the tokenizer of the model that is looked at, when that is shown; NULL: it has none. */
Status bpe_live_text(BpeLive *b, const char *text, const Tokenizer *own) STATUS_CHECKED;

/* Beside a model that brought its tokenizer, that is what is shown until somebody asks to learn. */
bool bpe_live_is_own(const BpeLive *b, const Tokenizer *own);
void bpe_live_return(BpeLive *b); /* to the model's own */
void bpe_live_forget(BpeLive *b); /* another model comes */

double bpe_live_wait(const BpeLive *b, bool paced);          /* seconds until a turn does something; INFINITY: never */
Status bpe_live_turn(BpeLive *b, bool paced) STATUS_CHECKED; /* a little of it; an error: there is no corpus */

/* Adds its tables (see observe.h); nothing while it is asleep. PROMPT: what the model's own cuts unasked. */
void bpe_live_show(BpeLive *b, Tokenizer *own, const char *prompt, Snapshot *s);
/* Adds the lines that bring it here, to a table with the one column line. Nothing where it was left alone. */
void bpe_live_state(const BpeLive *b, Table *lines);

#endif
