/* greedy: the likeliest continuation, token by token, of a model or of the language itself (lecture 3, 6.2).
 *
 * Of equal probabilities the lowest id is taken; those of the truth are equal when they differ by less than 1e-9. The
 * likeliest token each time is not the likeliest sentence: lecture 3, exercise 8. */
#ifndef DECODE_GREEDY_H
#define DECODE_GREEDY_H

#include "decoder.h"
#include "text/grammar.h"
#include "text/vocab.h"

typedef struct {
    int id;
    double p, log_p; /* of whoever decides; natural logarithm */
    double true_p;   /* of the language; NaN when it is not known */
} PathStep;

typedef struct {
    PathStep *step; /* [count], generated tokens only, END included */
    int count, capacity;
    bool ended;        /* the last token is END */
    double log_p;      /* sum over the steps */
    double true_log_p; /* the same by the language; NaN when it is not known */
} Path;

/* The likeliest id of LOGITS [V], of equals the lowest. */
int greedy_best(const real *logits, int vocabulary);

void path_init(Path *p);
void path_done(Path *p);

/* The words of ids joined by blanks; specials and rows beyond the vocabulary are left out. */
void path_words(const Vocab *v, const int *ids, int n, Str *out);

/* At most MOST tokens after ids[0..n-1] (<s> first, n >= 1) by the model behind D, whose stream 0 is reset and used;
 * it has room for ids, and the path ends where its room does, or with the token END (-1: none). L may be NULL. Fails
 * only when the grammar does. */
Status greedy_model(Decoder *d, int vocabulary, const Vocab *v, int end, Language *l, const int *ids, int n, int most,
                    Path *out) STATUS_CHECKED;

/* The same by the language. After an impossible prefix: no step. A token that V does not have is a BUG: V holds the
 * whole language. */
Status greedy_truth(Language *l, const Vocab *v, const int *ids, int n, int most, Path *out) STATUS_CHECKED;

#endif
