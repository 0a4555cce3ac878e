/* term_stage: a program for tests of the terminal, in a pseudo-terminal: it shows a picture and the last event, and
 * some keys make it do things. */
#ifndef TESTS_TERM_STAGE_H
#define TESTS_TERM_STAGE_H

#include "pty.h"
#include "style.h"
#include "term.h"

#define TERM_STAGE_WIDE "\xE4\xB8\xAD\xE6\x96\x87" /* 中文 */

typedef struct {
    TermOptions options;
    const char *locale; /* NULL: C.UTF-8 */
    StyleSheet style;
    /* written by the child */
    long writes, bytes, same_writes, same_bytes;
    bool counted;
} TermStage;

extern TermStage *term_stage; /* shared with the child; of the last term_stage_new */

void term_stage_new(void);
void term_stage_free(void);
Pty *term_stage_open(const PtyOptions *o);
int term_stage_run(void *user); /* the program itself, for pty_call */
void term_stage_close(Pty *p);  /* types q, and frees both */

/* The last of so many frames of words, wide characters and heat, some of them otherwise in each PHASE, the more the
 * later it began to differ. */
enum { TERM_STAGE_MIXED = 60 };
void term_stage_mixed(Canvas *c, int phase);

#endif
