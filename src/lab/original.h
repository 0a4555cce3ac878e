/* original: the corpus that a checkpoint was trained on, found again. Private to the laboratory. */
#ifndef LAB_ORIGINAL_H
#define LAB_ORIGINAL_H

#include "io/checkpoint.h"
#include "option.h"
#include "status.h"
#include "text/corpus.h"

/* Where it comes from, as corpora_load takes it: what the file names; where that is nothing, the text that corpus= of O
 * names, which may not be standard input; NULL: nobody knows. Borrowed. */
const char *original_spec(const Checkpoint *c, const Options *o);
/* How many sentences it was asked for, as sentences= counts them: as the file says, else as O does. */
long original_sentences(const Checkpoint *c, const Options *o);
/* Of the grammar in the file, else of original_spec; in as many sentences as it had, cut for the model's context.
 * STATUS_USAGE: it is not there, or its vocabulary is another than the file's; the sentence names it. */
Status original_corpus(const Checkpoint *c, const Options *o, Corpus **out) STATUS_CHECKED;

#endif
