/* lesson_view: the picture of the lesson pane: the list of lessons, or a page with its question and what was answered.
 * Keys and commands are pane_lesson.c's. */
#ifndef UI_LESSON_VIEW_H
#define UI_LESSON_VIEW_H

#include "draw.h"
#include "lesson.h"
#include "pane.h"

/* What somebody answered on a page. */
typedef struct {
    bool given;
    int choice;
    double number, right; /* what was typed; what the run said when the page was left, NaN: it was not left yet */
} LessonAnswer;

typedef struct {
    LessonTitle *title; /* [titles] of the list; read when it is first asked for */
    int titles, at;     /* at: under the cursor */
    bool listed;
    Lesson *lesson;       /* NULL: the list shows */
    LessonAnswer *answer; /* [pages] */
    int page, scroll;     /* scroll: rows of the page above what shows */
    int choice;           /* of the question, under the cursor; -1: none yet */
    bool typing;
    char typed[24];
    bool begins; /* the page was opened by its number: the run that the lesson is about is begun for it, too */
    char *lines; /* that do so; NULL: they are the page's own */
} LessonState;

const LessonPage *lesson_page(const LessonState *s); /* NULL: the list shows */
bool lesson_waits(const LessonState *s);             /* for an answer to the question of the page */

void lesson_draw(const LessonState *s, const Snapshot *seen, Detail detail, Canvas *c);
/* What is to be `scroll` in a pane of W x H after BY rows; BY 0: so that the choice under the cursor is in sight. */
int lesson_scrolled(const LessonState *s, const Snapshot *seen, int w, int h, int by);
/* The row of the list, or of the answers, at Y of C; -1: none. */
int lesson_row_at(const LessonState *s, const Snapshot *seen, Detail detail, const Canvas *c, int y);

#endif
