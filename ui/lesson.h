/* lesson: a text that leads through something to be seen, page by page: command lines that set the screen for a page,
 * and questions whose answers are read off the run. Lessons lie in assets/lessons/LANGUAGE/NAME.lesson, in the order of
 * the file `contents` there; anybody's own is read by its path.
 *
 *   # ...              a comment
 *   title TEXT         of the lesson, first
 *   == TEXT | SOURCE   begins a page; SOURCE, which may be left out: "L4 4.3", a section of the notes
 *   TEXT               what the page says; an empty line between paragraphs
 *   : LINE             a command line, carried out when the page is opened
 *   ? TEXT             its question, at most one; a page without one is only read
 *   - TEXT  + TEXT     answers to choose from, one of them right (+)
 *   = NUMBER [~ TOLERANCE]  or a number to be typed: this one,
 *   = TABLE.COLUMN [KEY=VALUE ...] [~ TOLERANCE]  or what the table of the run holds there; a TOLERANCE may end in %
 *   = FIELD INDEX ...  or a field: attention.0.weights 0 5 2 (head, query and key, all from 0)
 *   : LINE             after the question: carried out when it is answered
 *   > TEXT             what is said then
 *   @ TABLE.COLUMN [KEY=VALUE ...] < NUMBER    a claim that the text relies on (or =, >): tests see that it holds */
#ifndef UI_LESSON_H
#define UI_LESSON_H

#include "field.h"
#include "snapshot.h"
#include "status.h"

enum { LESSON_CHOICES = 6, LESSON_KEYS = 4 };

/* A number of a snapshot: that of COLUMN in the first row of TABLE where each KEY is VALUE, or that of the field
 * TABLE.COLUMN at an index. */
typedef struct {
    char *table, *column; /* NULL: none */
    char *key[LESSON_KEYS], *value[LESSON_KEYS];
    int keys;
    int index[FIELD_RANK], indices; /* 0: of a table */
} LessonCell;

typedef struct {
    LessonCell cell;
    char relation; /* '<', '=', '>' */
    double number;
    int line; /* of the file */
} LessonClaim;

typedef struct {
    char *title, *source; /* SOURCE "": none */
    char *text;           /* paragraphs, a line feed after each but the last */
    char *commands;       /* lines, each ended by a line feed */
    char *question;       /* NULL: none */
    char *choice[LESSON_CHOICES];
    int choices, right; /* choices 0: a number is asked for */
    LessonCell cell;    /* where it stands; no table: it is NUMBER */
    double number, tolerance;
    bool relative;  /* the tolerance is a part of the number */
    char *reveal;   /* lines, carried out with the answer */
    char *both;     /* those and the commands, for a page that was answered before; NULL: there are none */
    char *explains; /* said then */
    LessonClaim *claim;
    int claims, claim_capacity;
} LessonPage;

typedef struct {
    char *name, *title; /* NAME: as it was asked for */
    LessonPage *page;   /* [pages], at least one */
    int pages, page_capacity;
} Lesson;

/* The lesson NAME of the language in use, else the English one; a NAME with a '/' or a '.' is a path. Refuses what
 * cannot be read or is no lesson, with the line. */
Status lesson_read(const char *name, Lesson **out) STATUS_CHECKED;
bool lesson_is_path(const char *name);
void lesson_free(Lesson *l);

typedef struct {
    char *name, *title;
} LessonTitle;
/* What there is, in order; the caller frees it with lesson_titles_free. 0: there is none. */
int lesson_titles(LessonTitle **out);
void lesson_titles_free(LessonTitle *t, int n);

/* NaN: the snapshot does not hold it. */
double lesson_cell_of(const LessonCell *c, const Snapshot *s);
/* What is right for page P; NaN: the run does not show it yet. */
double lesson_number_of(const LessonPage *p, const Snapshot *s);
bool lesson_is_near(const LessonPage *p, double given, double right);
bool lesson_claim_holds(const LessonClaim *c, const Snapshot *s);

#endif
