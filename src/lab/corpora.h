/* corpora: where a corpus comes from: the name of a built-in grammar ("farm"), a grammar file (ends in .grammar), or a
 * text file with one sentence a line. Private to the laboratory. */
#ifndef LAB_CORPORA_H
#define LAB_CORPORA_H

#include "status.h"
#include "str.h"
#include "text/corpus.h"

/* The grammar's path when SPEC names a built-in one or a .grammar file; false: SPEC is a text file. */
bool corpora_is_grammar(const char *spec, Str *path);
/* Whether SPEC is there at all, without reading it. */
Status corpora_check(const char *spec) STATUS_CHECKED;
/* From a grammar: SENTENCES training and TEST test sentences are sampled with SEED. From a text: its lines in random
 * order (stream "corpus.test" of SEED): a twentieth of them, at most TEST, are kept for testing; of the rest at most
 * SENTENCES (0: all) are for training, in the order of the file. */
Status corpora_load(const char *spec, long sentences, long test, uint64_t seed, Corpus **out) STATUS_CHECKED;

#endif
