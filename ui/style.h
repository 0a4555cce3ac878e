/* style: what things are (roles, heat), and how a theme paints them on a terminal of a given depth. */
#ifndef UI_STYLE_H
#define UI_STYLE_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    STYLE_TEXT,      /* contents */
    STYLE_DIM,       /* labels, units, less important */
    STYLE_STRONG,    /* the one number that matters */
    STYLE_BORDER,
    STYLE_BORDER_FOCUS,
    STYLE_TITLE,     /* pane titles */
    STYLE_BAR,       /* title row, key row */
    STYLE_KEY,       /* a key in the key row and the help */
    STYLE_MODEL,     /* what the model says: always this colour */
    STYLE_TRUTH,     /* what the grammar says: always this colour, beside the model */
    STYLE_CURSOR,    /* the cell, row or token under the shared cursor */
    STYLE_PROMPT,    /* tokens of the prompt */
    STYLE_GENERATED, /* tokens the model wrote */
    STYLE_GOOD,
    STYLE_WARNING,
    STYLE_ERROR,
    STYLE_SERIES_A,  /* plot lines */
    STYLE_SERIES_B,
    STYLE_SERIES_C,
    STYLE_SERIES_D,
    STYLE_ROLES,
} StyleRole;

enum {
    ATTRIBUTE_NONE = 0,
    ATTRIBUTE_BOLD = 1,
    ATTRIBUTE_REVERSE = 2,
    ATTRIBUTE_UNDERLINE = 4,
    ATTRIBUTE_CARET = 8, /* no look: the terminal's own cursor is parked here (screen readers, input methods) */
};

typedef enum { HEAT_NONE, HEAT_SEQUENTIAL, HEAT_DIVERGING } HeatMap; /* diverging: 128 is zero */
typedef enum { MAP_VIRIDIS, MAP_CIVIDIS, MAP_MAGMA, MAP_GRAY, MAP_COUNT } MapName; /* the sequential map in use */

typedef enum { GLYPHS_ASCII, GLYPHS_HALF, GLYPHS_BRAILLE } Glyphs; /* HALF: boxes, half blocks; BRAILLE: dots in plots too */
typedef enum { DEPTH_MONO, DEPTH_8, DEPTH_16, DEPTH_256, DEPTH_TRUE } Depth;
typedef enum { THEME_DARK, THEME_LIGHT, THEME_CONTRAST, THEME_MONO, THEME_COUNT } ThemeName;

/* A colour for the terminal: -1 its own default, 0..255 an index, 0x1000000 | rgb in true colour. */
typedef struct {
    int32_t fg, bg;
    uint8_t attributes; /* with what the theme adds (reverse for the cursor in mono ...) */
} Paint;

typedef struct {
    ThemeName theme;
    MapName map;
    Depth depth;
    ThemeName ground; /* of the terminal itself, dark or light: contrast and mono are painted on either */
} StyleSheet;

bool style_on_light(const StyleSheet *s); /* whether what is painted stands on a light ground */

Paint style_role(const StyleSheet *s, StyleRole role, int attributes);

/* Whether heat is painted as colour: there are enough, and the theme uses them; if not, heat is a ramp of glyphs (Canvas.heat_colour is set from this). */
bool style_heat_is_colour(const StyleSheet *s);
/* Levels that the map has at this depth: heat values are quantised to them, so that few colour pairs do. 0: no colours. */
int style_heat_levels(const StyleSheet *s, HeatMap map);
/* The colour of a heat. Lightness is monotone in heat (sequential) or in the distance from 128 (diverging); zero of a diverging map
 * is near the theme's ground. Viridis and cividis mean the same in every theme; magma and gray have an end in black and an end in
 * white, and turn round on a light ground, so that nothing looks like paper but nothing. */
int32_t style_heat(const StyleSheet *s, HeatMap map, uint8_t heat);
/* A role whose text is readable on top of this heat (the number in a cell). */
Paint style_on_heat(const StyleSheet *s, HeatMap map, uint8_t heat);
/* How a glyph of the ramp is painted where heat is not a colour: the sign of a diverging map has a colour where there are any. */
Paint style_ramp(const StyleSheet *s, HeatMap map, uint8_t heat);

/* Relative luminance 0..1 of a colour that has one everywhere: an index from 16 up, or RGB. */
double style_luminance(int32_t colour);

const char *style_theme_name(ThemeName t); /* dark, light, contrast, mono */
const char *style_map_name(MapName m);
bool style_theme_find(const char *name, ThemeName *out);
bool style_map_find(const char *name, MapName *out);
char style_letter(StyleRole role); /* for dumps */

#endif
