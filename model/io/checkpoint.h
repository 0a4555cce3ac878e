/* checkpoint: a trained or half-trained model in one file: magic, version, configuration, vocabulary, seed, step, parameters,
 * moments, checksum last. Written through file.h (atomic). Sizes are checked against the file before any memory is taken.
 * Little-endian float32 (float64 in the double build, and the header says which). */
#ifndef IO_CHECKPOINT_H
#define IO_CHECKPOINT_H

#include "model.h"
#include "optim.h"
#include "status.h"
#include "text/vocab.h"

#include <stdint.h>

typedef struct {
    Model *model;   /* owned */
    Vocab *vocab;   /* owned */
    bool has_optim;
    Optim optim;    /* when has_optim */
    uint64_t seed;
    long step, steps;
    char corpus[64]; /* "farm": the grammar that knows the truth; "" when none */
} Checkpoint;

Status checkpoint_write(const char *path, const Model *m, const Vocab *v, const Optim *o /* or NULL */, uint64_t seed, long step,
                        long steps, const char *corpus) STATUS_CHECKED;
/* A damaged, short or foreign file gets a sentence that names the file and the fault. */
Status checkpoint_read(const char *path, Checkpoint *out) STATUS_CHECKED;
void checkpoint_done(Checkpoint *c);

#endif
