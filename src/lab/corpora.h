/* corpora: where a corpus comes from: the name of a built-in grammar ("farm"), a grammar file (ends in .grammar), or a
 * text file with one sentence a line. Private to the laboratory. */
#ifndef LAB_CORPORA_H
#define LAB_CORPORA_H

#include "status.h"
#include "text/corpus.h"

/* Whether SPEC is there at all, without reading it. */
Status corpora_check(const char *spec) STATUS_CHECKED;
/* From a grammar: SENTENCES training and TEST test sentences are sampled with SEED. From a text: its last twentieth is
 * for testing; of the rest at most MOST sentences (0: all) are for training. */
Status corpora_load(const char *spec, CorpusTokens tokens, long sentences, long most, long test, uint64_t seed,
                    Corpus **out) STATUS_CHECKED;

#endif
