/* figure: the simple picture of an experiment's table, as its row of the catalogue describes it: lines, bars or a heat
 * map. */
#ifndef UI_FIGURE_H
#define UI_FIGURE_H

#include "canvas.h"
#include "catalog.h"

typedef struct {
    const char *without;     /* of bars: rows of this series are left out; NULL: none */
    double level;            /* of lines: a dashed line across; NaN: none */
    const char *level_label; /* NULL: none */
} FigureMore;

/* Draws from the rows that are there; says so in words when nothing can be drawn yet. MORE may be NULL. */
void figure_draw(Canvas *c, Rect r, const Figure *f, const Table *t, const FigureMore *more);

#endif
