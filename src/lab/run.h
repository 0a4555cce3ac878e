/* run: one training run: configuration, corpus, parameters, optimiser, step. The live run and lm.train are this same code.
 * Private to the laboratory.
 *
 * run_step = run_gradient + run_update. Everything that a step needs is recomputed from (seed, step), so a run that is set to the
 * parameters, moments and number of an earlier step goes on with the same bits. */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include "model.h"
#include "optim.h"
#include "option.h"
#include "shard.h"
#include "status.h"
#include "table.h"
#include "text/corpus.h"

typedef struct Run Run;

/* arch (a preset), then every field of ModelConfig (not given: follows from the preset and the other fields given), corpus, tokens,
 * context, sentences, epochs, batch, lr, lr_min, schedule, warmup, weight_decay, clip, optimizer. Ends in a row without a name. */
extern const Option run_option_rows[];
extern const Column run_curve_columns[]; /* step,tokens,loss,learning_rate,grad_norm,tokens_per_s */

/* Refuses what cannot be built, with the reason, before anything long is done. */
Status run_check(const Options *o) STATUS_CHECKED;
/* Makes corpus and model. SEED and THREADS are resolved. */
Status run_new(const Options *o, uint64_t seed, int threads, Run **out) STATUS_CHECKED;
void run_free(Run *r);

typedef struct {
    long step;      /* counted from 1: the number of the update just made */
    long tokens;    /* real tokens of this batch */
    double loss, learning_rate, grad_norm;
    bool diverged;  /* loss or norm is not finite: parameters were not changed */
    char bad_tensor[64];
} RunStep;
RunStep run_step(Run *r);

long run_done(const Run *r);   /* updates made */
long run_steps(const Run *r);  /* of the plan */
Model *run_model(Run *r);
Optim *run_optim(Run *r);
Corpus *run_corpus(Run *r);
Shards *run_shards(Run *r);
uint64_t run_seed(const Run *r);
OptimConfig *run_optim_config(Run *r); /* what "set lr" changes */
/* Mean nll and exact floor (NaN without a grammar) over the first N test sentences (N < 0: all). */
Status run_test(Run *r, long n, double *nll, double *floor_nll, long *tokens) STATUS_CHECKED;
/* Mean nll and floor over the first N training sentences. */
Status run_train_nll(Run *r, long n, double *nll, double *floor_nll, long *tokens) STATUS_CHECKED;
Status run_save(Run *r, const char *path) STATUS_CHECKED;

/* The whole state of a step: parameters, moments, counters. For history and for replay. */
typedef struct {
    long done;
    long updates;
    real *x, *m, *v; /* [count] each */
    size_t count;
} RunMemory;
void run_remember(const Run *r, RunMemory *m); /* allocates on first use of M (zeros) */
void run_recall(Run *r, const RunMemory *m);
void run_memory_done(RunMemory *m);

#endif
