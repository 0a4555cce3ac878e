/* corpus: a vocabulary, training sentences and test sentences as ids, and the language they come from when it is known.
 */
#ifndef TEXT_CORPUS_H
#define TEXT_CORPUS_H

#include "../batch.h"
#include "grammar.h"
#include "vocab.h"

#include <stdint.h>

typedef struct {
    int *id;     /* all sentences one after the other, each <s> w1 .. wn </s>, or a part of one (corpus_part) */
    long *start; /* [sentences+1] */
    long sentences;
} Sentences;

typedef struct {
    char name[64]; /* "farm" or the file's name */
    Vocab *vocab;
    Sentences train, test;
    Grammar *grammar;   /* NULL: no truth known */
    Language *language; /* for the thread that owns the corpus; NULL when tokens are not the grammar's words */
    long left_out;      /* characters that a tokenizer of others has no token for (tokenizer_left_out) */
} Corpus;

/* What tokens are. Of sub-words: how many merges are learnt, from all sentences. */
typedef struct {
    VocabUnit unit;
    int merges;
    const Vocab *vocab; /* of a model that is there already, copied: it cuts, and UNIT and MERGES say nothing; NULL: the
                         * vocabulary is made of the sentences */
} CorpusTokens;

/* What a vocabulary of others does to a sentence: it begins with vocab_first, or where there is none with vocab_last,
 * as such models saw texts one behind the other, and ends in vocab_last. A sentence of which it leaves nothing is none.
 */

/* Both ways to a corpus give up with STATUS_CANCELLED when the thread's work is cancelled (cancel.h). */

/* Samples N training sentences (stream "corpus.train" of SEED) and TEST test sentences (stream "corpus.test"). The
 * vocabulary is all words the language has, or what TOKENS makes of the sentences. G passes into the corpus, and is
 * freed when this fails. */
Status corpus_sample(Grammar *g, const char *name, const char *start, const char *set, CorpusTokens tokens, long n,
                     long test, uint64_t seed, Corpus **out) STATUS_CHECKED;
/* A text, one sentence a line; lines without a word count for nothing. The last 5 % (at least one) are the test
 * sentences; one line alone is cut in two there, at a blank where it has one. The vocabulary is made of the whole file,
 * so no token is unknown. No truth is known. */
Status corpus_read_lines(const char *path, CorpusTokens tokens, Corpus **out) STATUS_CHECKED;
/* Cuts sentences that have more predictions than CONTEXT into parts of at most CONTEXT; each part begins with the token
 * that the part before it ended in, so every token is predicted once and none is lost. */
void corpus_part(Corpus *c, int context);
/* Makes one stream of the sentences, as long texts are trained on: their words, </s> after each and before the first,
 * no <s>; cut into parts of BLOCK predictions as above (lecture 3, 3.5). What the grammar knows of a sentence holds for
 * no such part: C is without it then. */
void corpus_pack(Corpus *c, int block);
void corpus_free(Corpus *c);
/* Adds sentence I of S as a text: its words, single blanks between them. */
void corpus_text(const Corpus *c, const Sentences *s, long i, Str *out);

long corpus_steps_per_epoch(const Corpus *c, int batch);

/* The batch of training step STEP (from 0): sentences in the order of the epoch's own shuffle (stream "batch" of SEED).
 */
typedef struct Sampler Sampler; /* remembers the current epoch's order */
Sampler *sampler_new(const Sentences *s, int batch, uint64_t seed, int context);
void sampler_free(Sampler *s);
void sampler_batch(Sampler *s, long step, Batch *out); /* any step in any order gives the same batch */

#endif
