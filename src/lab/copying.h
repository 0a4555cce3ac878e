/* copying: stories with names that no training story has. A name cannot be guessed when it first appears; from then on
 * it can be copied, by a model that sees so far back (seminar 3, 8). Private to the laboratory.
 *
 * A name is any word (letters in a row) that the training stories do not have, so any grammar will do that can make
 * such words; every byte is a token. */
#ifndef LAB_COPYING_H
#define LAB_COPYING_H

#include "model.h"
#include "option.h"
#include "status.h"
#include "study.h"
#include "text/corpus.h"

typedef struct {
    int *id;      /* [n] <s>, the bytes, </s> */
    int *earlier; /* [n] of a letter of a name that was there before: where it stood then; else -1 */
    int n;
} Story;

typedef struct {
    Story *story; /* [count] */
    int count, longest;
    long copied, other; /* predictions of either kind */
} CopyTask;

extern const Option copying_options[]; /* corpus, start, unseen, sentences, tests, context, schedule; an experiment adds
                                          batch, lr, d, layers and heads */

/* Options of lm.train for a model of the stories; PAIRS more ("pos=none"). */
Options *copying_model(const Options *o, const char *pairs);
/* An untrained model of RUN's options for VOCAB tokens, its embeddings drawn as wide as embedding_std= says. */
Model *copying_begin(const Options *o, const Options *run, int vocab, uint64_t seed);
Status copying_check(const Options *o) STATUS_CHECKED;
void copying_conventions(Study *s); /* rows of `about`: which stories, what counts as copied */
/* The training stories, cut to the context, with a few test stories of their own that nobody uses. */
Status copying_corpus(const Options *o, uint64_t seed, Corpus **out) STATUS_CHECKED;
/* tests= stories of which unseen= is fixed. Refused when they have no word that TRAIN does not have. */
Status copying_open(const Options *o, const Corpus *train, uint64_t seed, CopyTask *out) STATUS_CHECKED;
void copying_done(CopyTask *t);

/* Mean -log2 p of a letter of a name that was there before, and of all other predictions. In the stories of the default
 * grammar the words before say that a name comes and whose: the first can come down to 0, first letters too. */
typedef struct {
    double copied, other; /* bits per byte */
} CopyBits;
/* Logits [R x V] of a batch, borrowed. */
typedef const real *CopyLogits(void *model, const Batch *b);
CopyBits copying_bits(const CopyTask *t, int vocab, CopyLogits *logits, void *model);
CopyBits copying_bits_of(const CopyTask *t, const Model *m);

/* How much each head looks, while a name is copied, at the letter that comes next where the name stood before: the mean
 * of its weights there, and its largest weight wherever it is. [layers x heads] over the first MOST stories. */
typedef struct {
    double *induction, *largest;
} CopyHeads;
void copying_heads(const CopyTask *t, const Model *m, int most, CopyHeads *out);
void copying_heads_done(CopyHeads *h);
/* The place of story S to look at: the token before a letter of a name that was there twice, else once; -1: none. */
int copying_query(const Story *s);
/* Weights [layers][heads] of the token QUERY on the earlier places of the letter that follows it: the largest, and
 * where it is. Both are allocated. */
void copying_look(const Story *s, const Model *m, int query, double **weight, int **target);

#endif
