/* term: a terminal as the screen sees it. term_curses is a real one; term_script feeds events from a script and keeps frames. */
#ifndef UI_TERM_H
#define UI_TERM_H

#include "canvas.h"
#include "key.h"
#include "status.h"

typedef struct Term Term;
struct Term {
    void (*size)(Term *t, int *w, int *h);
    Glyphs (*glyphs)(Term *t);
    Depth (*depth)(Term *t);
    /* Shows the whole canvas; sends only what changed. */
    void (*present)(Term *t, const Canvas *c, const StyleSheet *style);
    /* The next event within TIMEOUT seconds (negative: for ever), EVENT_WAKE when wake_fd becomes readable, EVENT_NONE on time-out. */
    Event (*next)(Term *t, double timeout, int wake_fd); /* keys: Ctrl-C and Ctrl-Z are keys, not signals; wake_fd -1: none */
    void (*suspend)(Term *t);     /* stops the program as Ctrl-Z does; returns after fg */
    void (*repaint)(Term *t);     /* everything afresh at the next present (Ctrl-L) */
    void (*set_mouse)(Term *t, bool on);
    void (*free)(Term *t);        /* gives the terminal back */
};

typedef struct {
    int depth;      /* -1: found out; else a Depth: refused when the terminal's description has no such thing */
    int glyphs;     /* -1: HALF, ASCII without UTF-8; else Glyphs */
    bool mouse;
    bool utf8;      /* what intl_init said */
    bool ask_ground; /* asks the terminal for its background: the answer, if there is one, is an EVENT_GROUND at any time */
} TermOptions;

/* The only real one. Refuses a terminal that cannot be used (dumb, unknown, not a terminal) with a sentence. Restores it on quit,
 * on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT and friends, on a BUG, and around SIGTSTP. One at a time. */
Status term_curses_open(const TermOptions *o, Term **out) STATUS_CHECKED;

#endif
