/* prompt: the one-line editor of ':' commands, of '/' and of the model's prompt: UTF-8, history, completion, wide characters. */
#ifndef UI_PROMPT_H
#define UI_PROMPT_H

#include "canvas.h"
#include "key.h"

typedef struct Prompt Prompt;
typedef enum { PROMPT_EDITING, PROMPT_DONE, PROMPT_GONE } PromptState;
/* Completions of the word that ends at the cursor: sets *items (borrowed) and returns their number. */
typedef int (*PromptComplete)(void *user, const char *line, size_t cursor, const char *const **items, size_t *from);

Prompt *prompt_new(void);
void prompt_free(Prompt *p);
void prompt_open(Prompt *p, const char *label, const char *text, PromptComplete complete, void *user); /* history by label */
PromptState prompt_key(Prompt *p, Key k); /* Enter: DONE; Esc, Ctrl-C: GONE */
void prompt_paste(Prompt *p, const char *text); /* newlines become blanks */
const char *prompt_text(const Prompt *p);
void prompt_draw(const Prompt *p, Canvas *c, Rect r); /* label, text scrolled so that the cursor shows, completions above if room */

#endif
