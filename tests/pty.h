/* pty: a program, or a function in a child process, inside a pseudo-terminal whose other side is libvterm: a test sees the screen as a
 * person would, types, resizes, stops and kills.
 *
 * The child runs as the foreground job of a small shell of its own session, so that Ctrl-Z and fg work as they do in a real one. All
 * waiting is for a state, with a limit after which the test fails. */
#ifndef TESTS_PTY_H
#define TESTS_PTY_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

typedef struct {
    int w, h;               /* 0: 80 x 24 */
    const char *term;       /* TERM; NULL: xterm-256color, "": not set */
    const char *const *env; /* "NAME=value" ..., NULL at the end; may be NULL. LC_ALL=C.UTF-8, no NO_COLOR, no COLORTERM otherwise */
    bool deaf;              /* the shell keeps a hang-up to itself */
} PtyOptions;

typedef struct {
    uint32_t ch;            /* ' ' when empty; 0: the right half of a wide character */
    int width;
    int fg, bg;             /* index; -1: the terminal's own; 0x1000000 | rgb */
    bool bold, reverse, underline;
} PtyCell;

typedef struct Pty Pty;

Pty *pty_spawn(const PtyOptions *o, const char *const *argv); /* argv[0] is the path; NULL at the end */
/* FUNCTION's result is the child's exit status. */
Pty *pty_call(const PtyOptions *o, int (*function)(void *user), void *user);
void pty_free(Pty *p); /* kills what is left */

void pty_pump(Pty *p, double seconds); /* takes in what has come, or waits so long until something comes */
/* From now on what comes is kept but not shown, as a screen costs time; false: it is shown, with all that was kept. */
void pty_look_away(Pty *p, bool away);
void pty_type(Pty *p, const char *bytes);
void pty_resize(Pty *p, int w, int h);
void pty_signal(Pty *p, int signal); /* to the child itself */
void pty_continue(Pty *p);           /* fg */
void pty_hang_up(Pty *p);            /* the terminal is gone: only pty_expect_exit_unread and pty_free may follow */

void pty_print(Pty *p, const char *text); /* as the shell prints when its job is over or stopped */
pid_t pty_child(const Pty *p);

/* Each fails the test, with the screen, when the state does not come. */
void pty_expect(Pty *p, const char *text); /* the screen holds TEXT */
void pty_expect_line(Pty *p, int y, const char *text); /* row Y is TEXT, trailing blanks cut */
void pty_expect_if(Pty *p, bool (*holds)(Pty *p, void *user), void *user, const char *what);
void pty_expect_read(Pty *p);   /* the child has read what was typed */
int pty_expect_exit(Pty *p);    /* exit status as a shell has it: 128 + n for a signal */
/* Of a terminal that nobody reads: the child has written as much as goes in; it ends, as pty_expect_exit says. */
void pty_expect_full(Pty *p);
int pty_expect_exit_unread(Pty *p);
void pty_expect_stop(Pty *p);   /* stopped by a signal */
/* The terminal is as it was before the child: settings, first screen, cursor, mouse, paste. */
void pty_expect_given_back(Pty *p);

/* The screen now. */
int pty_width(const Pty *p);
int pty_height(const Pty *p);
void pty_line(Pty *p, int y, Str *out); /* appended, trailing blanks cut */
bool pty_line_holds(Pty *p, int y, const char *text);
void pty_text(Pty *p, Str *out); /* appended, a line a row */
PtyCell pty_cell(Pty *p, int x, int y);
void pty_cursor(Pty *p, int *x, int *y);
bool pty_cursor_visible(Pty *p);
bool pty_alternate(Pty *p); /* the second screen shows */
bool pty_mouse(Pty *p);     /* reports of the mouse are on */
bool pty_paste(Pty *p);     /* bracketed paste is on */
struct termios pty_settings(Pty *p);
bool pty_is_given_back(Pty *p); /* see pty_expect_given_back */
/* Everything that the child has written so far, as bytes. */
const Str *pty_bytes(Pty *p);

/* For the child itself: its calls of write and their bytes, as the kernel counts them; false: it does not. */
bool pty_count_writes(long *calls, long *bytes);

#endif
