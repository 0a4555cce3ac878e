/* filter_view: how the next token is chosen: the settings of the filter as a small form, what each stage of it keeps,
 * and the random number with the token that it fell on. */
#ifndef UI_FILTER_VIEW_H
#define UI_FILTER_VIEW_H

#include "draw.h"
#include "reading.h"

typedef enum {
    FILTER_HOW,
    FILTER_TAU,
    FILTER_TOP_K,
    FILTER_TOP_P,
    FILTER_ORDER,
    FILTER_SEED,
    FILTER_SENTENCES, /* of a run of many */
    FILTER_SETTINGS
} FilterSetting;

/* The form, in two columns of four rows; SETTING is marked (-1: none). Returns the rows used. */
int filter_draw_form(const Snapshot *s, Canvas *c, Rect r, int setting, long sentences);
/* The setting at (x, y) of a form drawn in R; -1: none. */
int filter_form_at(Rect r, int x, int y);
/* The command that changes a setting BY a step; or, BY 0, the line to go on with when the value is typed ("" where
 * there is nothing to type). The number of sentences is not the laboratory's: it is left out. */
void filter_change(const Snapshot *s, FilterSetting setting, int by, char *out, size_t bytes);
/* The next number of sentences: 1, 2, 5, 10, 20 ... */
long filter_more(long sentences, int by);

/* Stage by stage: how many words are kept, how much probability that is, and how many as likely as the last were left
 * out. Returns the rows used. */
int filter_draw_stages(const Snapshot *s, Canvas *c, Rect r);
/* "u 0.4312 falls on near", the line of all probabilities in the order of ids with a mark where it fell, and more
 * draws. */
int filter_draw_number(const Snapshot *s, Canvas *c, Rect r);
/* The settings and the draw in one line, for the wall. */
void filter_draw_line(const Snapshot *s, Canvas *c, Rect r);

#endif
