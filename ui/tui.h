/* tui: the loop: events in, frames out, at a rate that follows the measured cost of a frame. What a person does is
 * answered at once, whatever the rate. */
#ifndef UI_TUI_H
#define UI_TUI_H

#include "app.h"
#include "term.h"

typedef struct {
    double frames_per_second; /* at most, of what changes by itself; 20 */
} TuiOptions;

/* Runs until the user quits. Returns the signal that ended it, 0 when the user did. */
int tui_run(App *a, Term *t, Worker *w, const TuiOptions *o);

#endif
