/* help: what the keys and commands do and what the panes show, made from the tables that dispatch them. */
#ifndef UI_HELP_H
#define UI_HELP_H

#include "canvas.h"
#include "command.h"
#include "str.h"

typedef struct {
    char filter[64]; /* only lines that hold this text; "": all */
    int first;       /* line at the top */
} HelpView;

/* All lines, "\n" between: headings begin with "# ", keys and commands with "key\tmeaning"; behind a
 * further tab the word of the key row, which is looked for and not drawn. FOCUS is the pane that comes first. */
void help_text(int focus, const Command *screen, Str *out);

void help_filter(HelpView *v, const char *text); /* from the top */
/* Returns the rows of all that it has to say. */
int help_draw(const HelpView *v, Canvas *c, int focus, const Command *screen);
/* Scrolls by LINES, never past the last page of a view of W x H. */
void help_move(HelpView *v, int lines, int w, int h, int focus, const Command *screen);

#endif
