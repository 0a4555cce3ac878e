/* tokens: ids as text again. Private to the laboratory. */
#ifndef LAB_TOKENS_H
#define LAB_TOKENS_H

#include "str.h"
#include "text/vocab.h"

/* Adds the words of ids[0..n-1] with single blanks between; <pad>, <s> and </s> are left out. */
void tokens_text(const Vocab *v, const int *ids, int n, Str *out);

#endif
