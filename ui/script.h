/* script: a text that drives the whole application without a terminal, line by line; what a test of the screen is made
 * of.
 *
 *   key n                 one key, as key_parse reads it        keys dd<Tab>    several
 *   :seek 20              a command line                        paste TEXT      pasted text
 *   mouse X Y             a click                               wheel up X Y    the wheel (or down)
 *   resize W H            another size of the screen
 *   wait loaded           until the run is prepared             wait step N     until step N is looked at
 *   wait idle             until the laboratory has nothing to do  wait job      until no experiment runs
 *   expect TEXT           the screen holds it in one row        refuse TEXT     it does not
 *   expect-message TEXT   the message line holds it             expect-quit     the program has ended; the last line
 *   expect-file PATH      the file is there and not empty
 *   # ...                 a comment
 *
 * Nothing sleeps: the laboratory works in the same thread, and only while a line waits for it. */
#ifndef UI_SCRIPT_H
#define UI_SCRIPT_H

#include "app.h"

typedef struct Script Script;

Script *script_new(const char *name, const char *text); /* NAME is for messages */
void script_free(Script *s);

/* What a script acts on. */
typedef struct {
    App *app;
    Worker *worker;      /* INLINE; NULL: none */
    const Canvas *frame; /* the screen as it was last shown */
    int w, h;            /* its size, changed by resize */
} ScriptStage;

/* The next event for the application; EVENT_NONE lets it draw first, EVENT_QUIT is the end. */
Event script_next(Script *s, ScriptStage *stage);
/* How it went: a failed line is named. QUIT: the application ended by itself. */
Status script_end(Script *s, bool quit) STATUS_CHECKED;

/* Runs the file at PATH on the application, with time standing still. SCREEN, which may be NULL, gets the picture that
 * a line did not agree with. */
Status script_run_file(const char *path, App *a, Worker *w, Str *screen) STATUS_CHECKED;
Status script_run_text(const char *name, const char *text, App *a, Worker *w, Str *screen) STATUS_CHECKED;

#endif
