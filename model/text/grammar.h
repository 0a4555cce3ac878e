/* grammar: a language whose exact probabilities are known. The file format is described in assets/grammars/FORMAT.md.
 *
 * A sentence is a sequence of tokens (what blanks separate); END belongs to its probability. The probability is the sum
 * over all derivations. Natural logarithms; impossible is -INFINITY. */
#ifndef TEXT_GRAMMAR_H
#define TEXT_GRAMMAR_H

#include "rng.h"
#include "status.h"
#include "str.h"

#include <stdbool.h>

typedef struct Grammar Grammar;   /* the rules; immutable, shared between views and threads */
typedef struct Language Language; /* a grammar, a start call and fixed variables: a distribution over sentences */

/* Reads a file (and what it includes); an error names the file, the line, and what is wrong. */
Status grammar_read(const char *path, Grammar **out) STATUS_CHECKED;
Status grammar_parse(const char *text, size_t bytes, Grammar **out) STATUS_CHECKED; /* include is refused here */
void grammar_free(Grammar *g);
/* What was read as one text, without comments and with what it included in place: grammar_parse makes the same language
 * of it, unless it is too long for that. Borrowed. */
const char *grammar_text(const Grammar *g);
int grammar_error_line(const Status *s); /* the line an error names, 0 when it names none */

/* START NULL: the first rule. SET "k=2,n=pl" or NULL. G is borrowed. Not thread-safe: a language keeps its memo; make
 * one per thread (language_copy). */
Status language_new(const Grammar *g, const char *start, const char *set, Language **out) STATUS_CHECKED;
Language *language_copy(const Language *l);
void language_free(Language *l);
/* Steps that one question may take before it fails with a sentence; at first 30 million, some seconds. */
void language_limit(Language *l, long long steps);

/* One sentence, tokens joined by single blanks. Fails only when the grammar does (no rule fits). */
Status language_sample(Language *l, Rng *r, Str *out) STATUS_CHECKED;
/* Exact log-probability of the whole sentence TEXT (split at blanks and tabs), END included. */
Status language_log_p(Language *l, const char *text, double *log_p) STATUS_CHECKED;
/* Of every prediction: log_p[i] of token i given those before, log_p[n] of END; n+1 numbers, allocated. From the first
 * impossible token on: -INFINITY. *n: tokens. */
Status language_steps(Language *l, const char *text, double **log_p, int *n) STATUS_CHECKED;

typedef struct {
    const char *token; /* "</s>": END; owned by the list */
    double p;
} NextToken;
typedef struct {
    NextToken *next; /* in byte order, END last */
    int count;       /* 0: the prefix is impossible */
} NextList;
Status language_next(Language *l, const char *prefix, NextList *out) STATUS_CHECKED;
void next_list_done(NextList *n);

typedef struct {
    bool finite; /* false: infinitely many sentences or too many to say; the figures below are not there */
    double sentences, expected_length, entropy_per_sentence, entropy_per_token, perplexity, mean_of_sentence_means,
        bigram_entropy;
    long bigram_types, words;
    int lengths; /* length_p has this many entries: P(n+1 = index) */
    double *length_p;
} LanguageStats;
Status language_stats(Language *l, LanguageStats *out) STATUS_CHECKED;
void language_stats_done(LanguageStats *s);
/* All tokens that some sentence has, in byte order; *words is allocated, the strings belong to L. */
Status language_words(Language *l, const char ***words, int *n) STATUS_CHECKED;
/* The likeliest sentence that begins with PREFIX (ties: first in byte order), its log-probability. */
Status language_mode(Language *l, const char *prefix, Str *text, double *log_p) STATUS_CHECKED;

#endif
