/* train_plot: the curves of the train pane, as draw_plot takes them: the loss of every step, the tests or the other one
 * of two runs, the exact floor, and marks where the run was changed. */
#ifndef UI_TRAIN_PLOT_H
#define UI_TRAIN_PLOT_H

#include "draw.h"
#include "pane.h"

/* The steps that the plot spans. */
typedef struct {
    long first, last;
} Span;

/* A column of a table over a span, as points: each the mean of EVERY rows. */
typedef struct {
    double *x, *y;
    int n;
    long every;
} Points;
Points points_new(const Table *t, const char *column, Span span, int most); /* at most MOST points */
void points_free(Points *p);
void points_extend(const Points *p, double *low, double *high); /* the range LOW to HIGH holds P too */

enum { TRAIN_NARROW_W = 40 }; /* columns below which words are short */

double train_floor(const SnapshotFacts *f); /* of the same sentences where there was a test, else of the language */
const char *train_floor_name(const SnapshotFacts *f, bool narrow); /* which one that is */
long train_step(const PaneContext *x);      /* under the cursor, else the one that is looked at */
StyleRole train_role(char letter);          /* of run A or B */

enum { TRAIN_MARKS = 32, TRAIN_NAME = 128 };
/* The loss plot as draw_plot takes it, with all that it borrows. */
typedef struct {
    Points loss, tests, rival;
    Series series[2];
    char name[2][TRAIN_NAME]; /* of two runs */
    char level[64];
    PlotMark mark[TRAIN_MARKS];
    char words[TRAIN_MARKS][40]; /* of the marks */
    Plot plot;
} LossPlot;
/* Of SPAN, for W columns; LINEAR: the axis of the loss. Borrows nothing but the snapshot's tables. */
void loss_plot_init(LossPlot *l, const PaneContext *x, Span span, bool linear, int w);
void loss_plot_done(LossPlot *l);

#endif
