/* filter: from logits to the distribution that is drawn from: temperature, top-k, top-p, renormalise (lecture 3, 6.5).
 *
 * Doubles throughout. top_k keeps exactly k, ties by lowest id. top_p keeps the smallest set (by falling probability, ties by
 * lowest id) whose sum reaches p, with an epsilon of 1e-9, at least one. tau = 0 is the argmax. */
#ifndef DECODE_FILTER_H
#define DECODE_FILTER_H

#include "status.h"

#include <stdbool.h>

typedef enum { ORDER_TAU_FIRST, ORDER_TAU_LAST } FilterOrder;
typedef struct {
    double tau;  /* >= 0, 1: as it is */
    int top_k;   /* 0: off */
    double top_p; /* 0 .. 1, 1: off */
    FilterOrder order;
} FilterConfig;

#define FILTER_STAGES 5
typedef struct {
    const char *name; /* logits, temperature, top_k, top_p, final */
    double *value;    /* [n] a logit in stage logits, else a probability, 0 where dropped */
    bool *kept;       /* [n] */
    int count;        /* how many are kept */
} FilterStage;
typedef struct {
    int n, stages;
    FilterStage stage[FILTER_STAGES]; /* in the order applied; a switched-off stage is left out; the last is final */
} Filter;

Status filter_check(const FilterConfig *c) STATUS_CHECKED;
void filter_init(Filter *f, int n);
void filter_done(Filter *f);
/* LOGITS [n]; or probabilities when from_probs. */
void filter_run(Filter *f, const FilterConfig *c, const double *logits, bool from_probs);
const double *filter_final(const Filter *f); /* [n] sums to 1 */
/* The token that the number U in [0,1) falls on, walking ids from 0. */
int filter_draw(const Filter *f, double u);

#endif
