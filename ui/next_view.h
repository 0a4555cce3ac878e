/* next_view: the table `next` as a list of words: model and truth as a pair of bars, in the order asked for. */
#ifndef UI_NEXT_VIEW_H
#define UI_NEXT_VIEW_H

#include "draw.h"
#include "reading.h"

typedef struct {
    long *row; /* rows of the table, in the order shown */
    long n;
    bool truth;     /* the table has true probabilities */
    double largest; /* of all probabilities: the full length of a bar */
} NextOrder;

/* By truth (then model), or by the model alone. A table without a truth is ordered by the model. */
NextOrder next_order(const Table *next, bool by_model);
void next_order_done(NextOrder *o);

/* Draws the words from FIRST on, two rows each when TALL and there is a truth; CURSOR is marked (-1: none). FILTER may
 * be NULL: with it a word that the sampling filter drops is struck. Returns how many words there was room for. */
typedef struct {
    const Table *next, *filter, *untouched; /* untouched: a mark where the bar would end without tampering; NULL: none */
    const NextOrder *order;
    long first, cursor;
    bool tall, columns; /* columns: id, logit and the probability after the filter too */
    int stage[3];       /* and before the last one the values of these stages of the filter */
    int stages;
} NextList;
/* Which stages between the logits and the last have room for a column beside bars, W columns in all. */
void next_choose_stages(NextList *l, int w);
void next_draw_column_names(Canvas *c, Rect r, const NextList *l); /* in one row, above next_draw in R */
long next_draw(Canvas *c, Rect r, const NextList *list);
/* The same for a hall, of as many words as are likely enough (next_likely) and have room: bars as thick as fit, numbers in tall
 * digits. */
void next_draw_large(Canvas *c, Rect r, const NextList *list);
long next_likely(const NextList *list); /* words that model or truth give one in a hundred, at most eight; the first if none */
/* The names of the two numbers of a line, in row Y of C, as they stand in R; returns the column where they begin, r.w when the
 * numbers stand below each other and have no names. */
int next_draw_names(Canvas *c, Rect r, int y, const NextList *list);
/* "■ model  ■ truth" with the glyphs of the bars, and the columns that it takes. */
void next_draw_legend(Canvas *c, int x, int y, int w, const NextList *list);
int next_legend_columns(const NextList *list);

/* The last stage of the filter: whether token ID is kept, and with which probability (NaN: no such row). */
double next_filtered(const Table *filter, long long id, bool *kept);
/* The same of a stage, from 0. */
double next_at_stage(const Table *filter, int stage, long long id, bool *kept);
/* A stage of the filter and how many tokens it keeps; false after the last. *AT walks through the table, from 0. */
bool next_stage(const Table *filter, long *at, const char **name, long *kept);

#endif
