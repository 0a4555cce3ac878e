/* paint: what a cell looks like under a style sheet: a character and its colours. Terminals and pictures ask here. */
#ifndef UI_PAINT_H
#define UI_PAINT_H

#include "canvas.h"

#define FULL_BLOCK 0x2588u

typedef struct {
    StyleSheet style;
    bool known;
    int32_t heat[3][256]; /* [HeatMap][heat] */
} Painter;                /* zeros to begin with */

typedef struct {
    uint32_t ch; /* 0: the right half of the character before */
    Paint paint;
} Look;

void painter_set(Painter *p, const StyleSheet *style); /* cheap when nothing changed */
/* The cell at (x, y) of a picture that is COLUMNS wide: no half characters. */
Look painter_look(const Painter *p, const Canvas *c, int x, int y, int columns);

#endif
