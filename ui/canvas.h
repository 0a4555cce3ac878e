/* canvas: a rectangle of cells, drawn to by panes and shown by a terminal. Everything clips: drawing outside is allowed and
 * does nothing, so no pane can write beyond its rectangle. Knows no colour, only roles and heat.
 *
 * A cell never holds a control or a combining character, and only ASCII when the canvas is ASCII: what a terminal cannot show is
 * replaced as it is drawn. A wide character fills two cells; drawing over one half blanks the other. */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include "style.h"

#include <stdbool.h>
#include <stdint.h>

#define CANVAS_HALF_UPPER 0x2580u /* a heat cell of two values: the upper half in the foreground's colour */
#define CANVAS_HALF_LOWER 0x2584u /* a heat cell whose upper half is void */

typedef struct {
    uint32_t ch;         /* code point; 0: the right half of a wide character */
    uint8_t width;       /* columns of ch: 1 or 2 (0 for the right half) */
    uint8_t role;        /* StyleRole */
    uint8_t attributes;  /* ATTRIBUTE_... */
    uint8_t ground;      /* 0, or 1 + the StyleRole whose colour fills what CH leaves free: two bars or lines in one cell */
    uint8_t map;         /* HeatMap; HEAT_NONE: plain cell */
    uint8_t top, bottom; /* heat 0..255 of the upper and lower half (equal when the cell shows one value); only with a map */
    bool void_top, void_bottom; /* that half is outside the data or masked */
    bool over;                  /* CH stands on the heat of TOP, a half block too */
    bool lit;                   /* see canvas_light */
    uint8_t unused;             /* no gaps: cells are compared as bytes */
} Cell;

typedef struct {
    int x, y, w, h;
} Rect;

typedef struct {
    Cell *cell;
    int w, h, stride; /* a view has the stride of its parent */
    bool owner;
    Glyphs glyphs;    /* what the terminal can show */
    bool heat_colour; /* heat is shown as colour (style_heat_is_colour); if not, by a ramp of glyphs. New: unless ASCII */
} Canvas;

Canvas *canvas_new(int w, int h, Glyphs glyphs);
void canvas_free(Canvas *c);
void canvas_resize(Canvas *c, int w, int h); /* contents are cleared */
Rect canvas_clip(const Canvas *c, Rect r);    /* what of R lies inside; no width and height when nothing does */
Canvas canvas_view(const Canvas *c, Rect r); /* clipped to C; shares its cells; freeing it is not needed */
void canvas_clear(Canvas *c);                /* blanks, STYLE_TEXT */

Cell *canvas_cell(Canvas *c, int x, int y); /* NULL outside */

#define CANVAS_ELLIPSIS 0x100 /* beside the attributes: a text that is cut ends in an ellipsis */

/* Draws UTF-8 text from (x, y), at most COLUMNS wide (-1: to the edge); cuts at whole characters. Wide characters are never
 * halved; combining marks are composed where Unicode has the letter and dropped otherwise; controls and broken bytes become a
 * mark. ATTRIBUTES may have CANVAS_ELLIPSIS. In ASCII signs become words ("sum", "sqrt(16)") when all of the text has room so.
 * Returns the columns used. */
int canvas_text(Canvas *c, int x, int y, int columns, const char *text, StyleRole role, int attributes);
int canvas_textf(Canvas *c, int x, int y, int columns, StyleRole role, int attributes, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
int canvas_columns(const Canvas *c, const char *text); /* that canvas_text uses where there is room */
void canvas_put(Canvas *c, int x, int y, uint32_t ch, StyleRole role, int attributes);
void canvas_fill(Canvas *c, Rect r, uint32_t ch, StyleRole role, int attributes);
/* A half block with ROLE in the upper and LOWER in the lower half. Where a role has no colour of its own the cell is all ROLE. */
void canvas_halves(Canvas *c, int x, int y, StyleRole role, StyleRole lower);
/* A cell of heat. CH is CANVAS_HALF_UPPER or _LOWER, or a glyph that is shown on top of the colour of TOP. */
void canvas_heat(Canvas *c, int x, int y, uint32_t ch, HeatMap map, uint8_t top, uint8_t bottom);
/* The same in two steps, for many alike: such a cell, with halves that are void, and a cell of one column at its place. */
Cell canvas_heat_cell(const Canvas *c, uint32_t ch, HeatMap map, uint8_t top, uint8_t bottom, bool void_top,
                      bool void_bottom);
void canvas_set(Canvas *c, int x, int y, Cell cell);

/* CH on the colour of a cell of heat, and readable there. No heat: as canvas_put in STYLE_TEXT. */
void canvas_over(Canvas *c, int x, int y, uint32_t ch);

/* What is drawn in R belongs to what the cursor is on: the spotlight leaves it. */
void canvas_light(Canvas *c, Rect r);

/* The picture as text, one line a row, trailing blanks cut. With STYLES a second block follows: a letter per role, a hex digit per
 * heat (top half; bottom half in a third block where it differs), so that tests see colours too. */
void canvas_dump(const Canvas *c, bool styles, Str *out);

#endif
