/* loaded: models that somebody else trained, with the tokenizer that came with them: a llama2.c file. They are only
 * read, and no language knows their truth. Private to the laboratory. */
#ifndef LAB_LOADED_H
#define LAB_LOADED_H

#include "model.h"
#include "status.h"
#include "text/vocab.h"

typedef struct {
    Model *model;
    Vocab *vocab;  /* NULL: no tokenizer was given, ids are all there is */
    char kind[32]; /* what it is: "llama2.c" */
} LoadedModel;

/* Whether PATH is a model of others, by what stands in it and by its name; else it may be a checkpoint. */
bool loaded_is(const char *path);
/* What can be said without reading numbers. TOKENIZER may be NULL. */
Status loaded_check(const char *path, const char *tokenizer) STATUS_CHECKED;
Status loaded_read(const char *path, const char *tokenizer, LoadedModel *out) STATUS_CHECKED;
void loaded_done(LoadedModel *l);

#endif
