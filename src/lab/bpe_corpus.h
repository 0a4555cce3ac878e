/* bpe_corpus: the words that byte-pair encoding learns from, by the options corpus=, sentences=, unit= and lowercase=,
 * and how symbols stand in tables. Private to the laboratory. */
#ifndef LAB_BPE_CORPUS_H
#define LAB_BPE_CORPUS_H

#include "study.h"
#include "text/bpe_train.h"
#include "text/grammar.h"

extern const Option bpe_corpus_rows[];     /* corpus, sentences, lowercase */
extern const Option bpe_unit_rows[];       /* unit */
BpeUnit bpe_unit_option(const Options *o); /* what unit= says */

#define BPE_MOST_MERGES 10000000

Status bpe_corpus_check(const Options *o) STATUS_CHECKED; /* for Experiment.check: the corpus is there */
/* Reads or samples it. A corpus without a word is refused. WORDS is not initialised yet. */
Status bpe_corpus_words(Study *s, BpeUnit unit, BpeWords *words) STATUS_CHECKED;
/* The same of sentences of a grammar, as characters: only sentences= is asked for. */
Status bpe_corpus_draw(Study *s, const Grammar *g, BpeWords *words) STATUS_CHECKED;
/* Learns at most MERGES merges from WORDS, or until no pair is left. *OUT is there in any case. */
Status bpe_corpus_train(Study *s, const BpeWords *words, long merges, BpeTrainer **out) STATUS_CHECKED;
/* One merge of those, with progress and the wish to stop; *MORE: there was one. */
Status bpe_corpus_step(Study *s, BpeTrainer *t, long done, long merges, bool *more) STATUS_CHECKED;
void bpe_corpus_conventions(Study *s, BpeUnit unit);

/* Adds BYTES bytes of user text as UTF-8: those that are not become \xhh. */
void bpe_add_shown(Str *out, const char *s, size_t bytes);
void bpe_add_hex(Str *out, const char *s, size_t bytes);
/* Adds the names of N symbols with a blank between them, and the same in hex. */
void bpe_add_pieces(const Bpe *b, const int *symbol, int n, Str *shown, Str *hex);
/* Adds a cell of each kind. */
void bpe_add_shown_cell(Table *t, const char *s, size_t bytes);
void bpe_add_hex_cell(Table *t, const char *s, size_t bytes);

#endif
