/* run_data: what a run and its twins share: the corpus, and the exact probability of its sentences, each worked out
 * once. Private to run. */
#ifndef LAB_RUN_DATA_H
#define LAB_RUN_DATA_H

#include "corpora.h"
#include "io/checkpoint.h"
#include "run.h"

/* -log p of the sentences of one split under their language, each cut to CONTEXT predictions, summed up. */
typedef struct {
    int context;
    double *sum; /* [known + 1] nats over the first i sentences */
    long known, capacity;
} Floor;

/* What a file said of a corpus that is not there: saved again it says the same. */
typedef struct {
    char *corpus, *grammar, *text; /* as in Checkpoint; owned */
    long sentences;
} LostCorpus;

typedef struct {
    Corpus *corpus; /* owned, unless borrowed */
    bool borrowed;
    char *spec;       /* where it comes from, as corpora_load takes it; owned */
    long sentences;   /* of training, as sentences= counts them: of a grammar before they are cut in parts */
    LostCorpus *lost; /* of a run whose corpus is missing; NULL: it is there; owned */
    Floor train, test;
    char *model, *tokenizer; /* where a model of others was read; NULL: it is our own, its own; owned */
    int part;                /* tokens of the longest part of a text; 0: the model's context */
} RunData;

/* Takes C over. DRAWN: the sentences that its grammar, if it has one, was asked for. */
RunData *run_data_new(Corpus *c, const char *spec, long drawn);
void run_data_free(RunData *d);
/* Remembers what C says of its corpus, which could not be found. */
void run_data_lose(RunData *d, const Checkpoint *c);
/* How many predictions of sentence I a model that sees CONTEXT tokens makes: every token after <s>, as far as it
 * reaches. */
int run_data_predictions(const Sentences *s, long i, int context);
/* Sum of -log p over the first N sentences of S, each cut to CONTEXT predictions; NaN without a grammar. */
Status run_data_floor(RunData *d, const Sentences *s, Floor *f, long n, int context, double *sum) STATUS_CHECKED;

RunData *run_data(Run *r); /* of run.c */

#endif
