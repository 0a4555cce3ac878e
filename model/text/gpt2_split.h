/* gpt2_split: how GPT-2 cuts a text before it merges anything: contractions, words with the blank before them, numbers,
 * other signs, white space (Radford et al. 2019): its pattern, and the same by hand where a text is ASCII.
 *
 * The stretches are the text: nothing is lost. Bytes that are not UTF-8 are stretches of their own. White space is what
 * Unicode says (White_Space), which PCRE2's \s is not. */
#ifndef TEXT_GPT2_SPLIT_H
#define TEXT_GPT2_SPLIT_H

#include <stddef.h>

typedef struct Gpt2Split Gpt2Split;

Gpt2Split *gpt2_split_new(void);
void gpt2_split_free(Gpt2Split *g);
void gpt2_split_begin(Gpt2Split *g); /* before each text: what is known of the last one does not hold */
/* Where the stretch of the text S that begins at AT < N ends. To be called from left to right; N may be any place where
 * the text is to be cut in any case. */
size_t gpt2_split_next(Gpt2Split *g, const char *s, size_t n, size_t at);

#endif
