/* term_signals: signals while a terminal is in our hands. The only state of the program that is global: handlers have no other.
 *
 * Soft ones (INT, TERM, HUP, WINCH, TSTP, CONT) are noted and wake whoever polls signals_fd; nothing else happens in their handler,
 * but that TERM and HUP take their default course some seconds later when the program has not ended by then.
 * Hard ones, which are all others that end a program (faults, QUIT, USR1, XCPU ...), give the terminal back with async-signal-safe
 * calls only and then take their default course, so that the status of the process is 128 + n. Those that somebody else ignores or
 * handles stay his, but for QUIT and faults. SIGBUS stays mapping's, which passes on what is not of a file. Threads other than the one that polls
 * should block the soft ones. */
#ifndef UI_TERM_SIGNALS_H
#define UI_TERM_SIGNALS_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int quit; /* the signal that asks to end, 0: none */
    bool resize, stop, resume;
} SignalNews;

/* Takes the handlers over, once at a time. Before curses starts: it leaves handlers alone that are not the default. */
Status signals_begin(void) STATUS_CHECKED;
/* What gives the terminal back: its settings are now as they shall be then; BYTES (copied, at most 512) are written to FD. */
void signals_set_restore(int fd, const char *bytes, size_t count);
int signals_fd(void); /* readable when there is news */
SignalNews signals_take(void);
void signals_give_back(void);    /* restores now; once: later calls do nothing. Async-signal-safe */
bool signals_gave_back(void);    /* nothing may be drawn any more */
void signals_stop_process(void); /* as Ctrl-Z does; returns when continued */
void signals_end(void);          /* the former handlers are back */

#endif
