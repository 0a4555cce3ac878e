/* train_figures: the numbers of the train pane: a column at the side of the plot, or one line under it. Those of a step
 * are the cursor's, else those of the step that is looked at. */
#ifndef UI_TRAIN_FIGURES_H
#define UI_TRAIN_FIGURES_H

#include "train_plot.h"

/* The tests, the floors, the step; with SPARKS curves of the steps in SPAN. */
void train_draw_side(const PaneContext *x, Canvas *c, Rect r, Span span, bool sparks);
/* The most telling first, as many as row Y has room for. */
void train_draw_line(const PaneContext *x, Canvas *c, int y);

#endif
