/* term_wait: waiting for a terminal: for its input, for signals, to be woken; and how long the rest of what has begun
 * may be late. Knows no curses. */
#ifndef UI_TERM_WAIT_H
#define UI_TERM_WAIT_H

#include "term_decode.h"

typedef enum {
    WAIT_INPUT,   /* there is something to read, or a signal */
    WAIT_WAKE,    /* of the one who was to wake */
    WAIT_LATE,    /* the rest of what has begun did not come in time */
    WAIT_NOTHING, /* the time is over */
    WAIT_END,     /* the terminal is gone */
} WaitEnd;

typedef struct {
    int fd;       /* of the input */
    double asked; /* when the terminal was asked for its ground, clock_now */
    int silent;   /* times that it was readable, and then there was nothing to read */
} TermWait;

/* SECONDS < 0: however long it takes. An answer that has not come by then is expected no more. */
WaitEnd term_wait(TermWait *w, TermDecoder *d, double seconds, int wake_fd);
bool term_wait_input(const TermWait *w, double seconds); /* whether there is something to read by then */
void term_wait_for_answer(TermWait *w, TermDecoder *d);  /* the terminal has been asked just now */
bool term_wait_expects_answer(const TermWait *w, const TermDecoder *d, double seconds); /* that it had to answer */

#endif
