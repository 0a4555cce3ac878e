/* left_out: what to say of the characters of a text that a tokenizer of others has nothing for and leaves out, as its
 * file says (tokenizer_left_out). Private to the laboratory. */
#ifndef LAB_LEFT_OUT_H
#define LAB_LEFT_OUT_H

#include "str.h"
#include "study.h"
#include "text/tokenizer.h"

#include <stdbool.h>

/* Adds a sentence about the text S [N]; false: nothing is left out. T NULL: of our own, which refuse what they do not
 * have. */
bool left_out_sentence(Tokenizer *t, const char *s, size_t n, Str *out);
/* Says it in a study, as a warning and as the row left_out of `about`: once. */
void left_out_tell(Study *study, Tokenizer *t, const char *s, size_t n);

#endif
