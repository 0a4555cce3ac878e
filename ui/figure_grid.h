/* figure_grid: the figure that is a map of heat: x is the column, y the row, series the value. Private to figure. */
#ifndef UI_FIGURE_GRID_H
#define UI_FIGURE_GRID_H

#include "canvas.h"
#include "catalog.h"

/* Rows and columns are labelled by the table's column NAME_token where it has one, else by their numbers. A table that
 * holds several maps shows its first, and says which. */
void figure_draw_grid(Canvas *c, Rect r, const Figure *f, const Table *t);

#endif
