/* next_memo: what a language said comes after a prefix, remembered: a tree of beams or a sentence that is looked at
 * again and again asks the same questions. */
#ifndef TEXT_NEXT_MEMO_H
#define TEXT_NEXT_MEMO_H

#include "grammar.h"

typedef struct NextMemo NextMemo;

NextMemo *next_memo_new(Language *l); /* L is borrowed */
void next_memo_free(NextMemo *m);
/* As language_next; *out is borrowed until the next call. PREFIX: words with single blanks between. */
Status next_memo_find(NextMemo *m, const char *prefix, const NextList **out) STATUS_CHECKED;

#endif
