/* filter: from logits to the distribution that is drawn from: temperature, top-k, top-p, renormalise (lecture 3, 6.5;
 * Fan et al. 2018, Holtzman et al. 2020).
 *
 * Doubles throughout. top_k keeps exactly k, ties by lowest id. top_p keeps the smallest set (by falling probability,
 * ties by lowest id) whose sum reaches p, with an epsilon of 1e-9, at least one. tau = 0 is the argmax, ties by lowest
 * id.
 *
 * Every stage first renormalises what the stage before left. Its values are those probabilities, 0 where the stage or
 * one before it dropped the token; so the bars that top_p keeps add up to what it compared with p. `final` renormalises
 * once more. */
#ifndef DECODE_FILTER_H
#define DECODE_FILTER_H

#include "status.h"

#include <stdbool.h>

typedef enum { ORDER_TAU_FIRST, ORDER_TAU_LAST } FilterOrder;
typedef struct {
    double tau;   /* >= 0; 1: off */
    int top_k;    /* 0: off */
    double top_p; /* 0 .. 1; 1: off */
    FilterOrder order;
} FilterConfig;

#define FILTER_STAGES 5
typedef struct {
    const char *name; /* logits, temperature, top_k, top_p, final; not translated */
    double *value;    /* [n] a logit in stage logits, else a probability, 0 where dropped */
    bool *kept;       /* [n] */
    int count;        /* how many are kept */
} FilterStage;

typedef struct {
    int n, stages;
    FilterStage stage[FILTER_STAGES]; /* in the order applied; a switched-off stage is left out; the last is final */
    struct FilterWork *work;          /* the distribution on its way; private */
} Filter;

/* Nothing changed: tau 1, no top_k, top_p 1. */
FilterConfig filter_defaults(void);
/* Says which setting is outside its range. */
Status filter_check(const FilterConfig *c) STATUS_CHECKED;
void filter_init(Filter *f, int n); /* n >= 1 tokens */
void filter_done(Filter *f);
/* LOGITS [n], -INFINITY allowed; or with from_probs weights >= 0 that are normalised (stage logits then shows their
 * natural logarithms). C was checked. Fails when they make no distribution: a NaN, +INFINITY, a negative weight,
 * nothing above 0. */
Status filter_run(Filter *f, const FilterConfig *c, const double *logits, bool from_probs) STATUS_CHECKED;
const double *filter_final(const Filter *f); /* [n] sums to 1; borrowed */
/* The token that the number U in [0,1) falls on, walking ids from 0. Never one of probability 0. */
int filter_draw(const Filter *f, double u);

#endif
