/* prompt: the one-line editor of ':' commands, of '/' and of the model's prompt: UTF-8, history, completion, wide characters.
 *
 * Keys: arrows, Home, End, Backspace, Delete; C-a C-e C-b C-f C-d C-h, C-w a word, C-u to the start, C-k to the end, C-y what was cut
 * last; Up, Down, C-p, C-n history, or the menu while it is open; Tab and S-Tab complete. The text is always valid UTF-8 in one line. */
#ifndef UI_PROMPT_H
#define UI_PROMPT_H

#include "canvas.h"
#include "key.h"

typedef struct Prompt Prompt;
typedef enum { PROMPT_EDITING, PROMPT_DONE, PROMPT_GONE } PromptState;
/* Completions of the word that ends at the cursor: sets *items (borrowed until the next call) to whole words in its place, *from to
 * the byte where the word begins, and returns their number. */
typedef int (*PromptComplete)(void *user, const char *line, size_t cursor, const char *const **items, size_t *from);

#define PROMPT_BYTES 4000 /* what would make it longer is not taken, and prompt_draw says so */

Prompt *prompt_new(void);
void prompt_free(Prompt *p);
/* Begins editing TEXT (NULL: nothing) with the cursor at its end. History is kept by label. COMPLETE may be NULL. */
void prompt_open(Prompt *p, const char *label, const char *text, PromptComplete complete, void *user);
PromptState prompt_key(Prompt *p, Key k); /* Enter: DONE; Esc, Ctrl-C: GONE (Esc closes an open menu first) */
void prompt_paste(Prompt *p, const char *text); /* newlines become blanks, other controls and broken bytes are dropped */
const char *prompt_text(const Prompt *p);
/* Draws in the last row of R: label, text scrolled so that the cursor shows; the completion menu in the rows above, if there are any. */
void prompt_draw(const Prompt *p, Canvas *c, Rect r);

#endif
