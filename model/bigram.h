/* bigram: the smallest neural language model: a table of logits [n x n], p(b | a) = softmax of row a, and what it costs
 * against counted pairs (lecture 3, 2.3). Pure computation in double; no text. */
#ifndef MODEL_BIGRAM_H
#define MODEL_BIGRAM_H

#include "real.h"

typedef struct {
    int n;             /* tokens */
    double *count;     /* [n x n] how often b came after a */
    double *row_total; /* [n] */
    double total;
} BigramCounts;

void bigram_init(BigramCounts *c, int n); /* nothing counted */
void bigram_done(BigramCounts *c);
void bigram_add(BigramCounts *c, int a, int b);

/* Mean -log p of the pairs under the shares of the counts themselves: no table can do better. Nats; NaN without pairs.
 */
double bigram_count_loss(const BigramCounts *c);
/* The same under the table of logits; GRAD [n x n], unless NULL, is overwritten with the gradient: row_total * p -
 * count, over total. */
double bigram_loss(const BigramCounts *c, const real *logits, real *grad);

/* Where table and counts differ. Rows without a count say nothing. */
typedef struct {
    double most_seen;    /* largest |p - share| of pairs that occur */
    double least_unseen; /* smallest p of pairs that do not; NaN: there is none */
} BigramDifference;
BigramDifference bigram_compare(const BigramCounts *c, const real *logits);

#endif
