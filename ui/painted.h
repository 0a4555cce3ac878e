/* painted: with which character and colours a cell is sent to a terminal, of all that look alike those that take the
 * fewest bytes. Knows nothing of any terminal's codes. */
#ifndef UI_PAINTED_H
#define UI_PAINTED_H

#include "paint.h"
#include "style.h"

typedef struct {
    uint32_t ch;
    Paint sent;     /* attributes: bold, reverse, underline */
    int32_t ground; /* the colour behind it, -1: the terminal's own; asked for only where a colour is in front */
    Look look;      /* that it stands for */
} Painted;

typedef struct {
    Painter painter;
    Depth depth;
    Glyphs glyphs;
    int columns;
} Painting;

bool painted_same(const Look *a, const Look *b);
/* The cell at (X, Y), which looks so. BEFORE: what was painted to its left; NULL: nothing. */
Painted painted_as(const Painting *p, const Canvas *c, int x, int y, const Look *look, const Painted *before);

#endif
