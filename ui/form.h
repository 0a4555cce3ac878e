/* form: typed options to look at and to change: a row each, the value edited in place and checked as it is typed. Used
 * by the laboratory pane and by the options of the run. */
#ifndef UI_FORM_H
#define UI_FORM_H

#include "canvas.h"
#include "key.h"
#include "option.h"

typedef struct Form Form;

Form *form_new(Options *o); /* takes O over */
void form_free(Form *f);
const Options *form_options(const Form *f);
/* What the options as they stand come to, against those that the form was opened with: a sentence to show, and in which
 * colour. Adds nothing when there is nothing to say. */
typedef void FormJudge(const void *user, const Options *before, const Options *now, Str *out, StyleRole *role);
void form_let_judge(Form *f, FormJudge *judge, const void *user);

void form_move(Form *f, int rows);         /* clamped */
bool form_find(Form *f, const char *text); /* the next row whose name or help holds TEXT */
/* Enter: a flag is switched, a choice goes to the next one, anything else is edited. */
void form_enter(Form *f);
Status form_set(Form *f, const char *name, const char *value) STATUS_CHECKED;
void form_reset(Form *f); /* the row under the cursor back to what it was */

bool form_typing(const Form *f);
void form_type(Form *f, const Event *e); /* keys and pastes while typing */

/* One row an option, scrolled to the cursor; its help, range and what is wrong with it on the last rows. */
void form_draw(const Form *f, Canvas *c, Rect r, bool focus);
void form_hidden(const Form *f, Rect r, int *above, int *below); /* rows that form_draw leaves out there */
bool form_click(Form *f, Rect r, int x, int y);                  /* puts the cursor there; false: outside of the rows */

/* The options that were given, as "key=value ..." with quotes where they must be. */
void form_line(const Form *f, Str *out);
void form_changes(const Form *f, Str *out); /* only those that have another value than when the form was opened */

#endif
