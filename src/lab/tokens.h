/* tokens: ids as text again. Private to the laboratory. */
#ifndef LAB_TOKENS_H
#define LAB_TOKENS_H

#include "str.h"
#include "text/vocab.h"

/* The token as text, borrowed; "" for the rows that a model has beyond its vocabulary, and for all without V. */
const char *tokens_name(const Vocab *v, int id);
/* Adds the text of ids[0..n-1] (vocab_join); bytes that are not UTF-8 as \xhh. */
void tokens_text(const Vocab *v, const int *ids, int n, Str *out);

#endif
