/* classifier: a language model that says what kind of text it has read: a linear head on what its last layer makes of
 * the last token, learned alone (a linear probe) or with the whole model (fine-tuning; lecture 4, 2.2, 2.8). */
#ifndef MODEL_CLASSIFIER_H
#define MODEL_CLASSIFIER_H

#include "model.h"
#include "optim.h"

typedef struct {
    const Model *model; /* borrowed: its graph */
    Params params;      /* those of the model, copied, then label.weight [classes x d], label.bias */
    int classes, head;
    Tape *tape;
    Batch batch;
    real *grad; /* [count] */
    Optim optim;
} Classifier;

typedef struct {
    const int *id; /* [n] */
    int n, label;
} ClassifierText;

/* Begins with M's parameters and a head from SEED, which the model's size does not change. WHOLE: all learn, else the
 * head alone. */
void classifier_init(Classifier *c, const Model *m, int classes, bool whole, const OptimConfig *optim, uint64_t seed);
void classifier_done(Classifier *c);
size_t classifier_learns(const Classifier *c); /* how many numbers learn */
/* Mean cross-entropy of N texts in nats; C->grad becomes its gradient. */
double classifier_gradient(Classifier *c, const ClassifierText *text, int n);
/* One update with it. */
void classifier_update(Classifier *c, double rate);
/* The share of N texts whose label has the highest score; of equals the first counts. */
double classifier_accuracy(Classifier *c, const ClassifierText *text, int n);

#endif
