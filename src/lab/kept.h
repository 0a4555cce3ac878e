/* kept: trained models in the user's cache folder, each under a hash of everything that made it. A convenience and
 * never a cause of failure: what is damaged is made again, and two programs at once write the same bytes, each file in
 * one go. Private to the laboratory. */
#ifndef LAB_KEPT_H
#define LAB_KEPT_H

#include "model.h"
#include "option.h"
#include "status.h"
#include "str.h"
#include "text/corpus.h"

#include <stdint.h>

typedef struct {
    uint64_t hash;
} KeptRecipe;

/* A recipe that knows this program, its number type, its kernels and what they come to (fingerprint.h); then whatever
 * else makes a model. */
KeptRecipe kept_recipe(void);
void kept_add_number(KeptRecipe *r, uint64_t x);
void kept_add_text(KeptRecipe *r, const char *s); /* NULL is another text than "" */
void kept_add_options(KeptRecipe *r, const Options *o);
void kept_add_params(KeptRecipe *r, const Model *m);
void kept_add_corpus(KeptRecipe *r, const Corpus *c); /* its sentences and its vocabulary */
/* What corpus= names: the grammar with all that it includes, or the bytes of the file. False: it cannot be read. */
bool kept_add_source(KeptRecipe *r, const char *spec);

/* Where it is kept: FOLDER/NAME-HASH.lantern. NAME is for people. False: there is no folder for it. */
bool kept_path(const KeptRecipe *r, const char *name, Str *path);

/* The parameters of whatever is no language model, whose checkpoints hold the rest too: X [n], and a checksum. */
bool kept_read(const char *path, real *x, size_t n); /* false: not there, or damaged; X is as it was */
Status kept_write(const char *path, const real *x, size_t n) STATUS_CHECKED;

#endif
