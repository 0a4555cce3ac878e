/* plot_legend: what the lines of a plot are called, above it: in one row where that suffices, in several where the plot
 * can spare them; how many names have no room is said. */
#ifndef UI_PLOT_LEGEND_H
#define UI_PLOT_LEGEND_H

#include "draw.h"

enum { LEGEND_MOST = 16 }; /* names, the level's included */

typedef struct {
    uint32_t line; /* drawn twice; in ASCII a mark, once */
    const char *label;
    StyleRole role;
    int x, row, columns;
} LegendEntry;

typedef struct {
    LegendEntry entry[LEGEND_MOST];
    int shown, hidden; /* the first entries are drawn, the others have no room */
    int rows;          /* with the y label; 0: there is nothing to say */
    bool level;        /* whether the level has its name here */
} Legend;

uint32_t plot_ascii_mark(int series);
/* Every how many dots the line of a series has a gap that tells it from the others; 0: it has none. */
int plot_gap(const Canvas *c, const Series *s, int index);

/* In W columns and at most MOST rows (> 0). One name alone takes no further row. */
Legend plot_legend(const Canvas *c, int w, int most, const Plot *p);
void plot_legend_draw(Canvas *c, Rect r, const Legend *l, const char *y_label);

#endif
