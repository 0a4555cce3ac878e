/* run_private: what a run is made of, for run.c and those who make one from a file (run_open.c). */
#ifndef LAB_RUN_PRIVATE_H
#define LAB_RUN_PRIVATE_H

#include "run_data.h"

struct Run {
    RunData *data;
    bool twin; /* data is another's */
    uint64_t seed;
    Model *model;
    Shards *shards;
    Sampler *sampler;
    Batch batch;
    Optim optim;
    real *grad;     /* [parameters] */
    bool watched;   /* an update keeps the parameters as they were */
    real *before;   /* [parameters]; NULL until an update is watched */
    RunUpdate last; /* of that update; step 0: none is known */
    int batch_size;
    long done, steps;
    long planned;      /* steps that an opened file says of; 0: it is a new run */
    char missing[500]; /* why an opened run has no corpus; "" when it has one */
    bool reads_only;   /* somebody else's model, which is not trained: no shards, no moments, no gradient */
    bool no_past;      /* there is no memory to go back */
};

/* What a run and its twin make alike. */
void run_set_up(Run *r, Model *m, int threads, const OptimConfig *c);
/* A run of O on CORPUS, which passes to it unless START lends it. */
Run *run_begin(const Options *o, const RunStart *start, uint64_t seed, int threads, Corpus *corpus, Model *m);
Status run_load_corpus(const Options *o, const RunStart *start, CorpusTokens tokens, uint64_t seed,
                       Corpus **out) STATUS_CHECKED;
void run_fit_corpus(const Options *o, int context, Corpus *c); /* cut for CONTEXT, to as many as O asks for */
Status run_fits_corpus(const Corpus *c) STATUS_CHECKED;        /* there is something to learn from */
void run_take_moments(Run *r, const Checkpoint *c);            /* of a file whose model R has */
/* run_new_with of a model of others. START is there. */
Status run_tune(const Options *o, const RunStart *start, uint64_t seed, int threads, Run **out) STATUS_CHECKED;

#endif
