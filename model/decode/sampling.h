/* sampling: many sentences drawn from a model through the filter, side by side (lecture 3, 6.3 and 6.5), in steps that
 * are short enough for a screen.
 *
 * Sentence i draws its numbers from (seed, "samples", i). What it comes to does not depend on how many are asked for
 * or on who steps when; it changes only where the distributions do. The parameters are copied at the start: training
 * may go on. */
#ifndef DECODE_SAMPLING_H
#define DECODE_SAMPLING_H

#include "decode/filter.h"
#include "model.h"

#include <stdint.h>

typedef struct {
    const Model *model;
    const ModelTweak *tweak; /* NULL: none; copied */
    FilterConfig filter;     /* checked */
    const int *ids;          /* [n] the prompt, <s> first, 1 <= n <= context; copied */
    int n;
    long sentences;
    int tokens; /* at most so many are generated, less where the context ends */
    int end;    /* the id that ends a sentence */
    uint64_t seed;
} SamplingPlan;

typedef struct {
    long index;     /* from 0 */
    const int *ids; /* [length] generated, END included; borrowed */
    int length;
    bool ended; /* the last is END */
} Sample;

/* Takes a finished sentence; they come in the order of their index. */
typedef Status SamplingTake(void *user, const Sample *s);

typedef struct Sampling Sampling;

Sampling *sampling_new(const SamplingPlan *p);
void sampling_free(Sampling *s);
/* One more token for each of the sentences under way, at most a few dozen. Fails when the logits make no distribution
 * or TAKE fails; then nothing more can be asked. */
Status sampling_step(Sampling *s, SamplingTake *take, void *user) STATUS_CHECKED;
bool sampling_ended(const Sampling *s);                                          /* all sentences were taken */
Status sampling_run(Sampling *s, SamplingTake *take, void *user) STATUS_CHECKED; /* steps to the end */

#endif
