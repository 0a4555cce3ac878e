/* models: where an experiment gets a trained model from: "gpt" and "modern" are trained on the farm at first use and kept in the cache
 * folder under a hash of everything that made them; a path is a checkpoint. Private to the laboratory. */
#ifndef LAB_MODELS_H
#define LAB_MODELS_H

#include "model.h"
#include "study.h"
#include "text/grammar.h"
#include "text/vocab.h"

typedef struct {
    Model *model;
    Vocab *vocab;
    Grammar *grammar;   /* NULL: no truth */
    Language *language;
    char name[64];
    char path[512];     /* the file it came from or was kept in; "" when not kept */
} TrainedModel;

extern const Option models_option_rows[]; /* model=, tokenizer=, no_cache */

/* Checks the spec without training anything (exit 2 kind). */
Status models_check(const Options *o) STATUS_CHECKED;
/* Trains when needed, telling the study how far it is; cancels with it. */
Status models_get(Study *s, const char *default_spec, TrainedModel *out) STATUS_CHECKED;
void models_done(TrainedModel *m);

/* prompt=/text= or ids=: the ids with <s> added for text, not for ids. *ids is allocated. */
Status models_ids(const TrainedModel *m, const char *text, const char *ids_text, int **ids, int *n) STATUS_CHECKED;

#endif
