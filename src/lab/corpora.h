/* corpora: where a corpus comes from: the name of a built-in grammar ("farm"), a grammar file (ends in .grammar), or a
 * text file with one sentence a line (one line alone: corpus.h). Private to the laboratory. */
#ifndef LAB_CORPORA_H
#define LAB_CORPORA_H

#include "study.h"
#include "text/corpus.h"

/* Whether SPEC is there at all, without reading it. */
Status corpora_check(const char *spec) STATUS_CHECKED;
/* Whether SPEC names a grammar, whose sentences are sampled; else it is a text. */
bool corpora_is_grammar(const char *spec);
/* As corpora_load samples it, from the text of a grammar. SPEC is what it was called. */
Status corpora_sample(const char *spec, const char *grammar, CorpusTokens tokens, long sentences, long test,
                      uint64_t seed, Corpus **out) STATUS_CHECKED;
/* From a grammar: SENTENCES training and TEST test sentences are sampled with SEED. From a text: all of it, its last
 * twentieth for testing. */
Status corpora_load(const char *spec, CorpusTokens tokens, long sentences, long test, uint64_t seed,
                    Corpus **out) STATUS_CHECKED;
/* The same with START and SET of the grammar, as language_new takes them; a text has neither: STATUS_USAGE. */
Status corpora_load_rule(const char *spec, const char *start, const char *set, CorpusTokens tokens, long sentences,
                         long test, uint64_t seed, Corpus **out) STATUS_CHECKED;
/* Cuts what was loaded for a model that sees CONTEXT tokens: long sentences go in parts, but for those whose truth is
 * known, of which only the beginnings are learned, so that it can be told of them too. Of a text the first MOST
 * training sentences stay, parts counted (0: all). */
void corpora_fit(Corpus *c, int context, long most);

/* The words of what corpora_load reads with SEED. */
Status corpora_words(const char *spec, uint64_t seed, Vocab **out) STATUS_CHECKED;

/* --- sentence by sentence, for those who keep none --- */

extern const Option corpora_option_rows[];    /* corpus */
extern const Option corpora_sentences_rows[]; /* sentences */

typedef struct {
    const char *s; /* not terminated */
    size_t bytes;
} CorporaWord;

/* Takes one sentence, at least a word; what it borrows is good until it returns. */
typedef Status CorporaTake(void *user, const CorporaWord *word, int words);

#define CORPORA_TRAIN "corpus.train" /* the sentences that lm.train trains on */
#define CORPORA_TEST  "corpus.test"  /* those that it tests on */

/* What corpus= names, every sentence in turn: of a grammar as many of STREAM as sentences= says; of a text every line
 * that has words. Says how far it is, up to SHARE of the whole. A text without a sentence, a reserved word (<pad>, <s>,
 * </s>) and bytes that are not UTF-8 are refused. */
Status corpora_each(Study *s, const char *stream, double share, CorporaTake *take, void *user) STATUS_CHECKED;

#endif
