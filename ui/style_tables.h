/* style_tables: the numbers of the themes and maps. Only style.c reads them.
 *
 * Indexes 0..15 belong to the user's terminal and are used only where there are no others; -1 is the terminal's own colour, and
 * grounds are always that, except behind the bars and the cursor. Model and truth are orange and blue (yellow and cyan, red and
 * blue with 8 and 16 colours): told apart by every kind of colour vision. The contrast theme takes colours that can be read on
 * black and on white alike. */
#ifndef UI_STYLE_TABLES_H
#define UI_STYLE_TABLES_H

#include "style.h"

enum { TABLE_DARK, TABLE_LIGHT, TABLE_CONTRAST, TABLE_COUNT };

/* [depth - DEPTH_8][table][role] */
extern const Paint style_looks[4][TABLE_COUNT][STYLE_ROLES];
extern const Paint style_looks_mono[STYLE_ROLES];

/* Colours of a map at 256 colours, from low to high. */
typedef struct {
    int levels;
    int16_t index[24];
} MapTable;
extern const MapTable style_map_256[MAP_COUNT];
extern const MapTable style_diverging_256[2]; /* on dark, on light */

/* Control points of a map in true colour, equally spaced from 0 to 1. */
typedef struct {
    int points;
    uint32_t rgb[10];
} MapCurve;
extern const MapCurve style_map_true[MAP_COUNT];
extern const MapCurve style_diverging_true[2];

#endif
