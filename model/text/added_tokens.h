/* added_tokens: tokens that are cut out of a text before anything else (Hugging Face's added_tokens), some before the
 * text is normalised and some after. Of those that begin at one place the longest is cut out. */
#ifndef TEXT_ADDED_TOKENS_H
#define TEXT_ADDED_TOKENS_H

#include "cutting.h"
#include "str.h"

typedef struct {
    int id;
    bool normalized;  /* cut out after the text is normalised, spelt as a text with that spelling becomes */
    bool single_word; /* not beside letters, digits and what joins them */
    bool left, right; /* takes the white space before, behind it along */
} AddedToken;

typedef struct {
    AddedToken *token; /* [count]; zeroed is empty */
    Str *spelling;     /* [count] what is looked for */
    int count, capacity, spelling_capacity;
    bool begins[2][256]; /* bytes that one of those before normalising, after it, begins with */
} AddedTokens;

void added_tokens_done(AddedTokens *a);
void added_tokens_add(AddedTokens *a, AddedToken token, const char *spelling, size_t bytes);
bool added_tokens_has(const AddedTokens *a, int id);
/* Cuts them out of the open spans. */
void added_tokens_cut(const AddedTokens *a, bool normalized, Cutting *c, Cutting *spare);

#endif
