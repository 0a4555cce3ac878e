/* term_describe: what TERM says of the terminal, and what is made of it: the description in use, its depth of colour, the glyphs, and
 * the bytes that give the terminal back. Asks the terminfo database, before curses starts. */
#ifndef UI_TERM_DESCRIBE_H
#define UI_TERM_DESCRIBE_H

#include "str.h"
#include "term.h"

/* Modes that curses does not know. Terminals without them ignore the request. */
#define TERM_ON_MOUSE    "\033[?1002h\033[?1006h"
#define TERM_OFF_MOUSE   "\033[?1006l\033[?1002l"
#define TERM_ON_PASTE    "\033[?2004h"
#define TERM_OFF_PASTE   "\033[?2004l"
#define TERM_BEGIN_FRAME "\033[?2026h"
#define TERM_END_FRAME   "\033[?2026l"

typedef struct {
    char name[64]; /* of the description: TERM, or its relative with the colours asked for */
    Depth depth;
    Glyphs glyphs;
    bool can_answer; /* to a question in a control string; others would print it */
} TermChoice;

/* From TERM, NO_COLOR and the options. Refuses with a sentence: no TERM, an unknown one, one that cannot move its cursor, a depth that
 * is described nowhere, glyphs without UTF-8. What the options ask for beats NO_COLOR. */
Status term_choose(const TermOptions *o, TermChoice *out) STATUS_CHECKED;
/* What a dying process writes: our modes off, plain colours, keypad off, cursor on, the first screen. */
void term_restore_bytes(const char *name, Str *out);

#endif
