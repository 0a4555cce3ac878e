/* log_softmax: log-probabilities of logits, in double whatever the engine computes in. */
#ifndef DECODE_LOG_SOFTMAX_H
#define DECODE_LOG_SOFTMAX_H

#include "real.h"

/* log_p [n] = logits - log sum exp(logits), n >= 1. -INFINITY among the logits is impossible; a NaN, or nothing but
 * -INFINITY, makes all NaN. The same bits on every processor, within 1e-15 of libm's. */
void log_softmax(int n, const real *logits, double *log_p);

/* log sum exp(logits), with the same care: log_p[i] above is logits[i] minus this. */
double log_sum_exp(int n, const real *logits);
/* The log-probability of logit I alone; not rounded by the size of the logits. */
double log_softmax_of(int n, const real *logits, int i);

#endif
