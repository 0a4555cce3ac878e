/* truths: what the language itself says comes after the beginnings of the sentence that is looked at, and where it
 * would go on by itself. Exact, and dear: each is asked once and remembered. Private to the laboratory. */
#ifndef LAB_TRUTHS_H
#define LAB_TRUTHS_H

#include "decode/greedy.h"
#include "text/grammar.h"
#include "text/vocab.h"

#include <stdbool.h>

typedef struct Truths Truths;

Truths *truths_new(void);
void truths_free(Truths *t); /* NULL is fine */
void truths_forget(Truths *t);
/* From now on they are of L, which is borrowed (NULL: nothing is known). True: all was forgotten, for it was another.
 */
bool truths_turn_to(Truths *t, Language *l);

/* The exact next tokens after ids[0..n-1] (<s> first), which V names; none after an impossible beginning, a word behind
 * </s>, or when the grammar fails. Borrowed until the next call. */
const NextList *truths_next(Truths *t, const Vocab *v, const int *ids, int n);
/* The greedy path of the language from there, at most MOST tokens; of the newest beginning only it is remembered. */
const Path *truths_path(Truths *t, const Vocab *v, const int *ids, int n, int most);

#endif
