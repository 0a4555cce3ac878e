/* loaded: models that somebody else trained, with the tokenizer that came with them: a llama2.c file, a folder in the
 * Hugging Face layout or a .safetensors file in one. Their files are only read, and no language knows their truth.
 * Private to the laboratory. */
#ifndef LAB_LOADED_H
#define LAB_LOADED_H

#include "model.h"
#include "status.h"
#include "text/vocab.h"

typedef struct {
    Model *model;
    Vocab *vocab;       /* NULL: no tokenizer, ids are all there is */
    bool own;           /* lm.train wrote it: the vocabulary is one of ours */
    char *grammar;      /* that knows its truth; NULL: none */
    char no_vocab[500]; /* a sentence that says why; "" when there is one */
    char kind[32];      /* what it is: "llama2.c", "Hugging Face" */
} LoadedModel;

/* Whether PATH is a model of others, by what stands in it and by its name; else it may be a checkpoint. */
bool loaded_is(const char *path);
/* What can be said without reading numbers. TOKENIZER may be NULL. */
Status loaded_check(const char *path, const char *tokenizer) STATUS_CHECKED;
/* Where a model and its tokenizer (NULL: its own) lie: PATH and TOKENIZER, or what the file PATH refers to
 * (loaded_refer). Both results are owned by the caller. */
void loaded_origin(const char *path, const char *tokenizer, char **model, char **its_tokenizer);
/* What it is made of, without reading numbers. */
Status loaded_config(const char *path, ModelConfig *out) STATUS_CHECKED;
Status loaded_read(const char *path, const char *tokenizer, LoadedModel *out) STATUS_CHECKED;
/* The same with numbers of its own, which may be changed, whatever its size; a tokenizer of others knows its files
 * (vocab_source). */
Status loaded_read_to_train(const char *path, const char *tokenizer, LoadedModel *out) STATUS_CHECKED;
void loaded_done(LoadedModel *l);
/* Writes to PATH where such a model lies, for a later session: what loaded_read reads as well. TOKENIZER may be NULL.
 */
Status loaded_refer(const char *path, const char *model, const char *tokenizer) STATUS_CHECKED;

#endif
