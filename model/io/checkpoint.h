/* checkpoint: a trained or half-trained model in one file, written through file.h (atomic).
 *
 *    8  "LANTERN\n"
 *    4  version                        4  bytes of a number: 4 (float) or 8 (double)
 *    8  bytes of the text              8  bytes of the vocabulary
 *    8  parameters P                   8  arrays of moments: 0 or 2
 *       text: key=value lines, each ended by a newline: the fields of ModelConfig by their names, corpus, seed, step,
 *             steps, tokens (absent: word), where they are known sentences, batch, text (a path) and grammar (all of
 *             its lines as one, \n for the end of each, \\ for a backslash; a path likewise), of a model of others
 *             that learned on origin, origin_tokenizer (paths), part, first and last (ids), and with moments the fields
 *             of OptimConfig as optim.*
 *       vocabulary: as vocab_store writes it, of tokens=tokenizer as tokenizer_file_gather does; nothing: no
 *             vocabulary, unless tokens are bytes
 *       P numbers, then 2 P moments
 *    8  FNV-1a of all bytes before
 *
 * Everything is little-endian. A field that the text does not have is 0 (off), so that files stay readable when models
 * learn new tricks; a field that this version does not know is refused. Every size is checked against the file's length
 * before room is asked for. A file is accepted whole or not at all. */
#ifndef IO_CHECKPOINT_H
#define IO_CHECKPOINT_H

#include "model.h"
#include "optim.h"
#include "status.h"
#include "text/vocab.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    Model *model; /* owned */
    Vocab *vocab; /* owned; NULL: none in the file */
    bool has_optim;
    Optim optim; /* when has_optim */
    uint64_t seed;
    long step, steps;
    char corpus[64]; /* "farm": the grammar that knows the truth; "" when none */
    char *grammar;   /* owned; what that grammar was: the truth is in the file itself; NULL: not there */
    long sentences;  /* of training, of a text in parts; with batch what a run needs to go on as it would have */
    int batch;       /* sentences of a step; both 0: not known */
    char *text;      /* owned; the path of the text that it was trained on; NULL: not known */
    char *origin, *origin_tokenizer; /* owned; the model of others that it began as, and its tokenizer; NULL: none */
    int part;                        /* tokens of the longest part of a sentence that it learned; 0: its context */
} Checkpoint;

/* Where a run stands. CORPUS may be NULL; a longer name than 63 bytes is cut. GRAMMAR: grammar_text of it, or NULL. */
typedef struct {
    uint64_t seed;
    long step, steps;
    const char *corpus, *grammar;
    long sentences; /* 0: not known */
    int batch;
    const char *text;                      /* the path of the text that it is trained on; NULL: none */
    const char *origin, *origin_tokenizer; /* as in Checkpoint */
    int part;
} CheckpointRun;

/* V and O may be NULL. V has at most as many tokens as the model; one of others has its files (vocab_source).
 * STATUS_USAGE when PATH cannot be opened, STATUS_FAILED when writing fails or a number is not finite: the sentence
 * names the tensor, and nothing was written. */
Status checkpoint_write_run(const char *path, const Model *m, const Vocab *v, const Optim *o,
                            const CheckpointRun *run) STATUS_CHECKED;
/* The same of a model that no run goes on with. */
Status checkpoint_write(const char *path, const Model *m, const Vocab *v, const Optim *o, uint64_t seed, long step,
                        long steps, const char *corpus) STATUS_CHECKED;
/* A damaged, short or foreign file gets STATUS_USAGE and a sentence that names the file and the fault; then OUT is
 * zero. */
Status checkpoint_read(const char *path, Checkpoint *out) STATUS_CHECKED;
/* The same of bytes in memory; NAME is what sentences call them. */
Status checkpoint_parse(const char *name, const void *data, size_t bytes, Checkpoint *out) STATUS_CHECKED;
bool checkpoint_begins(const char *path); /* whether the file begins as a checkpoint does, whatever its name */
void checkpoint_done(Checkpoint *c);

#endif
