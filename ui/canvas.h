/* canvas: a rectangle of cells, drawn to by panes and shown by a terminal. Everything clips: drawing outside is allowed and
 * does nothing, so no pane can write beyond its rectangle. Knows no colour, only roles and heat. */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include "style.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t ch;         /* code point; 0: the right half of a wide character */
    uint8_t width;       /* columns of ch: 1 or 2 (0 for the right half) */
    uint8_t role;        /* StyleRole */
    uint8_t attributes;  /* ATTRIBUTE_... */
    uint8_t map;         /* HeatMap; HEAT_NONE: plain cell */
    uint8_t top, bottom; /* heat 0..255 of the upper and lower half (equal when the cell shows one value); only with a map.
                          * A missing half (outside the data, masked): HEAT_VOID in void_top, void_bottom */
    bool void_top, void_bottom;
} Cell;

typedef struct {
    int x, y, w, h;
} Rect;

typedef struct {
    Cell *cell;
    int w, h, stride; /* a view has the stride of its parent */
    bool owner;
    Glyphs glyphs;    /* what the terminal can show */
} Canvas;

Canvas *canvas_new(int w, int h, Glyphs glyphs);
void canvas_free(Canvas *c);
void canvas_resize(Canvas *c, int w, int h); /* contents are cleared */
Canvas canvas_view(const Canvas *c, Rect r); /* clipped to C; shares its cells; freeing it is not needed */
void canvas_clear(Canvas *c);                /* blanks, STYLE_TEXT */

Cell *canvas_cell(Canvas *c, int x, int y);  /* NULL outside */
/* Draws UTF-8 text from (x, y), at most COLUMNS wide (-1: to the edge); cuts at whole characters, with an ellipsis when it must and
 * ELLIPSIS is set. Wide characters are never halved. Returns the columns used. */
int canvas_text(Canvas *c, int x, int y, int columns, const char *text, StyleRole role, int attributes);
int canvas_textf(Canvas *c, int x, int y, int columns, StyleRole role, int attributes, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void canvas_put(Canvas *c, int x, int y, uint32_t ch, StyleRole role, int attributes);
void canvas_fill(Canvas *c, Rect r, uint32_t ch, StyleRole role, int attributes);

/* The picture as text, one line a row, trailing blanks cut. With STYLES a second block follows: a letter per role, a hex digit per
 * heat (top half; bottom half in a third block where it differs), so that tests see colours too. */
void canvas_dump(const Canvas *c, bool styles, Str *out);

#endif
