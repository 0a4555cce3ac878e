/* sample_run: sentences drawn from the model that is looked at, as many as asked for, in slices between training steps,
 * and as many of the language beside them; what both are worth (tally.h). The model is that of the moment when it
 * began: training may go on. Private to the laboratory. */
#ifndef LAB_SAMPLE_RUN_H
#define LAB_SAMPLE_RUN_H

#include "decode/sampling.h"
#include "snapshot.h"
#include "text/grammar.h"
#include "text/vocab.h"

typedef struct SampleRun SampleRun;

SampleRun *sample_run_new(void);
void sample_run_free(SampleRun *r);

typedef struct {
    SamplingPlan plan;
    const Grammar *grammar;   /* NULL: no truth */
    const Language *language; /* NULL: no truth; copied */
    const Vocab *vocab;       /* with the grammar borrowed until sample_run_forget */
    long step;                /* of training, for people */
} SampleRunStart;
/* What was drawn before is dropped. */
void sample_run_start(SampleRun *r, const SampleRunStart *s);
void sample_run_stop(SampleRun *r);   /* keeps what there is */
void sample_run_forget(SampleRun *r); /* as new: its vocabulary is about to go */
bool sample_run_pending(const SampleRun *r);
bool sample_run_turn(SampleRun *r); /* a slice of some milliseconds; false: nothing to do */

/* Adds the tables, before the first start only samples, without a row:
 * sampling: wanted,taken,state,step,prompt,tau,top_k,top_p,order: one row; state running, done, stopped or failed;
 * worth: of,sentences,legal,possible,true_nll,distinct,coverage: model, and truth where there is one;
 * samples: sample,text,ended,legal,possible,true_log_p: the model's, from 0; text as tokens. */
void sample_run_tables(const SampleRun *r, Snapshot *to);

#endif
