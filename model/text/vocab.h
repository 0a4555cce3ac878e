/* vocab: tokens and ids. Specials first (<pad> 0, <s> 1, </s> 2), then the words in byte order. */
#ifndef TEXT_VOCAB_H
#define TEXT_VOCAB_H

#include "status.h"

#include <stddef.h>

#define VOCAB_PAD      0
#define VOCAB_BOS      1
#define VOCAB_EOS      2
#define VOCAB_SPECIALS 3

typedef struct Vocab Vocab;

Vocab *vocab_new(const char *const *words, int n); /* sorted and made unique; copied */
Vocab *vocab_copy(const Vocab *v);
void vocab_free(Vocab *v);
int vocab_size(const Vocab *v);
const char *vocab_token(const Vocab *v, int id);                 /* borrowed; "<s>" for specials */
int vocab_find(const Vocab *v, const char *token, size_t bytes); /* -1: unknown */
/* Splits at blanks and looks every word up; no specials added. Unknown words: a sentence that names them and the
 * nearest known ones. *ids is allocated. */
Status vocab_encode(const Vocab *v, const char *text, int **ids, int *n) STATUS_CHECKED;

#endif
