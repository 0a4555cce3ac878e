/* term_script: a terminal that is no terminal: events come from a script, frames are kept in memory. */
#ifndef UI_TERM_SCRIPT_H
#define UI_TERM_SCRIPT_H

#include "script.h"
#include "term.h"

/* Borrows all three. 80 x 24 until the script resizes it; half blocks, 256 colours. */
Term *term_script_new(Script *s, App *a, Worker *w);

#endif
