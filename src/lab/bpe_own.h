/* bpe_own: how the tokenizer that came with a model cuts a text, merge by merge, for the live pane. Private to the
 * laboratory. */
#ifndef LAB_BPE_OWN_H
#define LAB_BPE_OWN_H

#include "snapshot.h"
#include "text/tokenizer.h"

#include <stdbool.h>

enum { BPE_OWN_TABLES = 3 }; /* bpe, encoded, steps */

typedef struct {
    char *text; /* that was asked for; NULL: the prompt */
    char *cut;  /* the text that is shown; NULL: none */
    Table *shown[BPE_OWN_TABLES];
} BpeOwn;

void bpe_own_done(BpeOwn *b);
void bpe_own_forget(BpeOwn *b); /* another tokenizer comes */
void bpe_own_text(BpeOwn *b, const char *text);
/* Adds the tables bpe, encoded and steps (see observe.h), of what was asked for or else of PROMPT. */
void bpe_own_show(BpeOwn *b, Tokenizer *t, const char *prompt, Snapshot *s);

#endif
