/* glyph_shape: the characters that are made of rectangles (blocks, shades, box lines, braille) as rectangles. */
#ifndef UI_GLYPH_SHAPE_H
#define UI_GLYPH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double x, y, w, h; /* in parts of the cell, from its upper left */
} GlyphPart;

#define GLYPH_PARTS 8
typedef struct {
    GlyphPart part[GLYPH_PARTS];
    int count;
    double opacity; /* of a shade; 1 for all others */
} GlyphShape;

bool glyph_shape(uint32_t ch, GlyphShape *out); /* false: no such character */

#endif
