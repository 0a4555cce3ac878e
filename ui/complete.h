/* complete: what may come next on a command line: names of commands from all tables, and of their arguments, as the
 * tables spell them ("[a|b]"), or as the panes, the experiments, the observers and the options are called. */
#ifndef UI_COMPLETE_H
#define UI_COMPLETE_H

#include "command.h"
#include "table.h"

#include <stddef.h>

typedef struct Complete Complete;

/* SCREEN is the screen's table; the panes' and the laboratory's are known. FOCUS's own commands come first. */
Complete *complete_new(const Command *screen);
void complete_free(Complete *c);
void complete_set_focus(Complete *c, int pane);
/* A PromptComplete; USER is the Complete. */
int complete_line(void *user, const char *line, size_t cursor, const char *const **items, size_t *from);
/* The same of a sentence: words of the table `next`, copied here, the likeliest next one first. */
void complete_set_words(Complete *c, const Table *next);
int complete_word(void *user, const char *line, size_t cursor, const char *const **items, size_t *from);

#endif
