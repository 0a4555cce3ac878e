#include "style.h"

#include "style_tables.h"

#include <string.h>

#define TRUE_LEVELS           32 /* levels squared are colour pairs: few enough for one fixed set */
#define TRUE_DIVERGING_LEVELS 33
#define IS_RGB                0x1000000

/* ---- roles ---- */

static int look_table(const StyleSheet *s) {
    if (s->theme == THEME_LIGHT) return TABLE_LIGHT;
    return s->theme == THEME_CONTRAST ? TABLE_CONTRAST : TABLE_DARK;
}

/* In many terminals bold makes the first eight colours bright: black becomes grey, and on a light ground each is paler.
 */
static bool pales(const StyleSheet *s, int32_t fg) {
    return s->depth <= DEPTH_16 && fg >= 0 && fg < 8 && (fg == 0 || s->theme == THEME_LIGHT);
}

Paint style_role(const StyleSheet *s, StyleRole role, int attributes) {
    bool mono = s->depth == DEPTH_MONO || s->theme == THEME_MONO;
    Paint p = mono ? style_looks_mono[role] : style_looks[s->depth - DEPTH_8][look_table(s)][role];
    p.attributes = (uint8_t)(p.attributes ^ (attributes & ATTRIBUTE_REVERSE)); /* reversed twice would be plain */
    p.attributes = (uint8_t)(p.attributes | (attributes & (ATTRIBUTE_BOLD | ATTRIBUTE_UNDERLINE)));
    if (pales(s, p.fg)) p.attributes &= (uint8_t)~ATTRIBUTE_BOLD;
    return p;
}

/* ---- heat ---- */

bool style_heat_is_colour(const StyleSheet *s) {
    return s->depth >= DEPTH_256 && s->theme != THEME_MONO;
}

bool style_on_light(const StyleSheet *s) {
    return s->theme == THEME_LIGHT || (s->theme != THEME_DARK && s->ground == THEME_LIGHT);
}

static const MapTable *indexed_map(const StyleSheet *s, HeatMap map) {
    return map == HEAT_DIVERGING ? &style_diverging_256[style_on_light(s)] : &style_map_256[s->map];
}

int style_heat_levels(const StyleSheet *s, HeatMap map) {
    if (!style_heat_is_colour(s)) return 0;
    if (s->depth == DEPTH_256) return indexed_map(s, map)->levels;
    return map == HEAT_DIVERGING ? TRUE_DIVERGING_LEVELS : TRUE_LEVELS;
}

static uint32_t mix(uint32_t a, uint32_t b, double t, int shift) {
    double x = (double)((a >> shift) & 0xFF), y = (double)((b >> shift) & 0xFF);
    return (uint32_t)(x + (y - x) * t + 0.5) << shift;
}

/* The colour of the curve at T in 0..1, between its control points. */
static int32_t curve_at(const MapCurve *curve, double t) {
    double position = t * (curve->points - 1);
    int i = (int)position;
    if (i > curve->points - 2) i = curve->points - 2;
    uint32_t a = curve->rgb[i], b = curve->rgb[i + 1];
    double between = position - i;
    return (int32_t)(IS_RGB | mix(a, b, between, 16) | mix(a, b, between, 8) | mix(a, b, between, 0));
}

int32_t style_heat(const StyleSheet *s, HeatMap map, uint8_t heat) {
    int levels = style_heat_levels(s, map);
    if (levels == 0) return -1;
    int level = heat * levels / 256;
    bool turned = style_on_light(s) && map != HEAT_DIVERGING && (s->map == MAP_MAGMA || s->map == MAP_GRAY);
    if (turned) level = levels - 1 - level;
    if (s->depth == DEPTH_256) return indexed_map(s, map)->index[level];
    const MapCurve *curve =
        map == HEAT_DIVERGING ? &style_diverging_true[style_on_light(s)] : &style_map_true[s->map];
    return curve_at(curve, (double)level / (levels - 1));
}

/* Of the xterm palette's cube and greys, or of an RGB colour; 2 is near enough to the exponent of sRGB. */
double style_luminance(int32_t colour) {
    static const int steps[6] = {0, 95, 135, 175, 215, 255};
    double r, g, b;
    if ((colour & IS_RGB) != 0) {
        r = colour >> 16 & 0xFF, g = colour >> 8 & 0xFF, b = colour & 0xFF;
    } else if (colour >= 232) {
        r = g = b = 8 + 10 * (colour - 232);
    } else {
        r = steps[(colour - 16) / 36 % 6], g = steps[(colour - 16) / 6 % 6], b = steps[(colour - 16) % 6];
    }
    return (0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b) / (255.0 * 255.0);
}

Paint style_on_heat(const StyleSheet *s, HeatMap map, uint8_t heat) {
    Paint p = {-1, -1, ATTRIBUTE_BOLD};
    if (!style_heat_is_colour(s)) return p;
    p.bg = style_heat(s, map, heat);
    bool bright = style_luminance(p.bg) > 0.2; /* black and white contrast alike with about this */
    if (s->depth == DEPTH_256)
        p.fg = bright ? 16 : 231;
    else
        p.fg = bright ? IS_RGB : IS_RGB | 0xFFFFFF;
    return p;
}

Paint style_ramp(const StyleSheet *s, HeatMap map, uint8_t heat) {
    if (map != HEAT_DIVERGING || heat == 128) return style_role(s, STYLE_TEXT, ATTRIBUTE_NONE);
    return style_role(s, heat > 128 ? STYLE_MODEL : STYLE_TRUTH, ATTRIBUTE_NONE);
}

/* ---- names ---- */

static const char *const theme_names[THEME_COUNT] = {"dark", "light", "contrast", "mono"};
static const char *const map_names[MAP_COUNT] = {"viridis", "cividis", "magma", "gray"};

const char *style_theme_name(ThemeName t) {
    return theme_names[t];
}
const char *style_map_name(MapName m) {
    return map_names[m];
}

static int find_name(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

bool style_theme_find(const char *name, ThemeName *out) {
    int i = find_name(theme_names, THEME_COUNT, name);
    if (i >= 0) *out = (ThemeName)i;
    return i >= 0;
}

bool style_map_find(const char *name, MapName *out) {
    int i = find_name(map_names, MAP_COUNT, name);
    if (i >= 0) *out = (MapName)i;
    return i >= 0;
}

char style_letter(StyleRole role) {
    static const char letters[STYLE_ROLES + 1] = ".iS-=TRKMUXPGYWEwxyz";
    return letters[role];
}
