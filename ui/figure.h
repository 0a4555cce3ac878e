/* figure: the simple picture of an experiment's table, as its row of the catalogue describes it: lines, bars or a heat
 * map. */
#ifndef UI_FIGURE_H
#define UI_FIGURE_H

#include "canvas.h"
#include "catalog.h"

/* Draws from the rows that are there; says so in words when nothing can be drawn yet. */
void figure_draw(Canvas *c, Rect r, const Figure *f, const Table *t);

#endif
