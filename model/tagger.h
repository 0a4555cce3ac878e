/* tagger: a recurrent network that gives every word of a sentence a tag, and its gradient by going back through time
 * (Elman 1990; lecture 3, 1.4):
 *
 *     h[t] = tanh(E[word t] + W h[t-1] + b), h[-1] = 0        y[t] = softmax(U h[t] + c)
 *
 * Without recurrence W is left out: the word alone decides. */
#ifndef MODEL_TAGGER_H
#define MODEL_TAGGER_H

#include "params.h"

#include <stdbool.h>

typedef struct {
    int words, tags, hidden;
    bool recurrent;
} TaggerShape;

typedef struct {
    TaggerShape shape;
    Params params;      /* embed [words x hidden], recurrent.weight [hidden x hidden] (when it is), recurrent.bias,
                         * output.weight      [tags x hidden], output.bias */
    real *state, *back; /* [room x hidden] h of a sentence, and the gradient at it */
    real *score;        /* [room x tags] softmax */
    int room;           /* words */
} Tagger;

void tagger_init(Tagger *t, const TaggerShape *shape, uint64_t seed);
void tagger_done(Tagger *t);

/* Sum of -log p of the tags of one sentence in nats. GRAD [parameters], unless NULL: SCALE times its gradient is added.
 * Work beside the parameters is kept in T: one thread at a time. */
double tagger_loss(Tagger *t, const int *word, const int *tag, int n, double scale, real *grad);
/* The likeliest tag of every word: the lowest number of equals. */
void tagger_predict(Tagger *t, const int *word, int n, int *tag);

#endif
