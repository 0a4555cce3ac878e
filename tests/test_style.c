/* Themes and maps: everything can be read on the ground that it is made for, maps are monotone, names and letters are
 * one to one. */
#include "expect.h"

#include "style.h"

#include <math.h>
#include <string.h>

#define LEAST_CONTRAST 3.0 /* WCAG 2: large text and graphics */
#define LEAST_BORDER   1.5 /* borders are meant to be faint */
#define IS_RGB         0x1000000

typedef struct {
    double r, g, b; /* 0..1 */
} Rgb;

/* What xterm shows by default. */
static Rgb rgb_of(int32_t colour) {
    static const uint32_t ansi[16] = {0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
                                      0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF};
    static const int steps[6] = {0, 95, 135, 175, 215, 255};
    if (colour >= 232 && colour < 256) {
        double grey = (8 + 10 * (colour - 232)) / 255.0;
        return (Rgb){grey, grey, grey};
    }
    if (colour >= 16 && colour < 256) {
        int i = colour - 16;
        return (Rgb){steps[i / 36] / 255.0, steps[i / 6 % 6] / 255.0, steps[i % 6] / 255.0};
    }
    uint32_t x = colour < 16 ? ansi[colour] : (uint32_t)colour;
    return (Rgb){(x >> 16 & 0xFF) / 255.0, (x >> 8 & 0xFF) / 255.0, (x & 0xFF) / 255.0};
}

static double linear(double v) {
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(Rgb c) {
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

static double contrast(Rgb a, Rgb b) {
    double x = luminance(a), y = luminance(b);
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static double lightness(int32_t colour) { /* CIE L* */
    double y = luminance(rgb_of(colour));
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static const Rgb black = {0, 0, 0}, white = {1, 1, 1};

static bool suits(ThemeName theme, bool light) {
    if (theme == THEME_DARK) return !light;
    return theme == THEME_LIGHT ? light : true;
}

static void check_role(const StyleSheet *s, StyleRole role, bool light) {
    Paint p = style_role(s, role, ATTRIBUTE_NONE);
    Rgb fg = p.fg < 0 ? (light ? black : white) : rgb_of(p.fg), bg = p.bg < 0 ? (light ? white : black) : rgb_of(p.bg);
    double least = role == STYLE_BORDER ? LEAST_BORDER : LEAST_CONTRAST;
    if (contrast(fg, bg) < least)
        fail_msg("theme %s, depth %d, role %c on %s: contrast %.2f", style_theme_name(s->theme), (int)s->depth,
                 style_letter(role), light ? "white" : "black", contrast(fg, bg));
}

static void every_role_can_be_read(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++)
        for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
            for (int role = 0; role < STYLE_ROLES; role++)
                for (int light = 0; light < 2; light++) {
                    StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                    if (suits(s.theme, light != 0)) check_role(&s, (StyleRole)role, light != 0);
                }
}

/* A terminal of the other ground, or one that turns its ground round while the program runs: what a theme writes is not
 * beautiful there, but it is there. */
static void no_role_vanishes_on_the_other_ground(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++)
        for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
            for (int role = 0; role < STYLE_ROLES; role++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                Paint p = style_role(&s, (StyleRole)role, ATTRIBUTE_BOLD);
                double least = role == STYLE_BORDER ? 1.4 : 1.6;
                for (int light = 0; light < 2; light++) {
                    if (p.fg < 0 && p.bg < 0) continue;
                    Rgb ground = p.bg >= 0 ? rgb_of(p.bg) : light ? white : black;
                    assert_true(p.fg >= 0); /* the terminal's own on a ground that is not */
                    if (contrast(rgb_of(p.fg), ground) < least)
                        fail_msg("theme %s, depth %d, role %c on %s: contrast %.2f", style_theme_name(s.theme), depth,
                                 style_letter((StyleRole)role), light ? "white" : "black",
                                 contrast(rgb_of(p.fg), ground));
                }
            }
}

/* What is strong is the terminal's own text, and bold: no number fixed for one ground. */
static void what_matters_most_is_the_terminals_own(void **state) {
    (void)state;
    static const StyleRole own[] = {STYLE_TEXT, STYLE_STRONG, STYLE_TITLE, STYLE_PROMPT, STYLE_BORDER_FOCUS};
    for (int theme = 0; theme < THEME_CONTRAST; theme++)
        for (int depth = DEPTH_16; depth <= DEPTH_TRUE; depth++)
            for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                Paint p = style_role(&s, own[i], ATTRIBUTE_NONE);
                assert_true(p.fg == -1 && p.bg == -1);
                if (own[i] == STYLE_STRONG) assert_int_equal(p.attributes, ATTRIBUTE_BOLD);
            }
}

/* Bold black is grey in many terminals of 8 and 16 colours, and bold red or blue is paler than plain. */
static void bold_makes_nothing_pale(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++)
        for (int depth = DEPTH_8; depth <= DEPTH_16; depth++)
            for (int role = 0; role < STYLE_ROLES; role++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                Paint p = style_role(&s, (StyleRole)role, ATTRIBUTE_BOLD);
                bool pale = p.fg == 0 || (theme == THEME_LIGHT && p.fg > 0 && p.fg < 8);
                assert_false(pale && (p.attributes & ATTRIBUTE_BOLD) != 0);
            }
}

static void colours_fit_the_depth(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++)
        for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++)
            for (int role = 0; role < STYLE_ROLES; role++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                Paint p = style_role(&s, (StyleRole)role, ATTRIBUTE_NONE);
                const int32_t colours[2] = {p.fg, p.bg};
                for (int i = 0; i < 2; i++) {
                    int32_t x = colours[i];
                    bool fits = x == -1 || (depth == DEPTH_8 && x >= 0 && x < 8) ||
                                (depth == DEPTH_16 && x >= 0 && x < 16) || (depth == DEPTH_256 && x >= 16 && x < 256) ||
                                (depth == DEPTH_TRUE && x >= IS_RGB);
                    if (!fits || (theme == THEME_MONO && x != -1))
                        fail_msg("theme %d depth %d role %d: %d", theme, depth, role, (int)x);
                }
            }
}

/* Brettel, Vienot and Mollon's simulation in Vienot's short form (1999) for red- and green-blindness. */
static Rgb seen_by(Rgb c, bool red_blind) {
    double r = linear(c.r), g = linear(c.g), b = linear(c.b);
    double mixed = red_blind ? 0.11238 * r + 0.88762 * g : 0.29275 * r + 0.70725 * g;
    double blue = red_blind ? 0.00401 * r - 0.00401 * g + b : -0.02234 * r + 0.02234 * g + b;
    return (Rgb){mixed, mixed, blue};
}

static void model_and_truth_differ_for_every_eye(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_MONO; theme++)
        for (int depth = DEPTH_8; depth <= DEPTH_TRUE; depth++)
            for (int red = 0; red < 2; red++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                Rgb m = seen_by(rgb_of(style_role(&s, STYLE_MODEL, 0).fg), red != 0);
                Rgb t = seen_by(rgb_of(style_role(&s, STYLE_TRUTH, 0).fg), red != 0);
                double yellow_blue = fabs((m.b - m.r) - (t.b - t.r));
                if (yellow_blue < 0.15) fail_msg("theme %d depth %d: %.3f", theme, depth, yellow_blue);
            }
    StyleSheet mono = {THEME_MONO, MAP_VIRIDIS, DEPTH_256, THEME_DARK};
    assert_int_not_equal(style_role(&mono, STYLE_MODEL, 0).attributes, style_role(&mono, STYLE_TRUTH, 0).attributes);
}

/* A clock hand is not its dial, a line not the axis. */
static void lines_differ_from_frames(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_CONTRAST; theme++)
        for (int depth = DEPTH_16; depth <= DEPTH_TRUE; depth++)
            for (int role = STYLE_SERIES_A; role <= STYLE_SERIES_C; role++) {
                StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
                int32_t line = style_role(&s, (StyleRole)role, 0).fg, frame = style_role(&s, STYLE_BORDER, 0).fg;
                if (line == frame) fail_msg("theme %d depth %d role %d", theme, depth, role);
            }
}

static void attributes_add_up(void **state) {
    (void)state;
    StyleSheet s = {THEME_DARK, MAP_VIRIDIS, DEPTH_256, THEME_DARK};
    assert_int_equal(style_role(&s, STYLE_TEXT, ATTRIBUTE_BOLD | ATTRIBUTE_UNDERLINE).attributes,
                     ATTRIBUTE_BOLD | ATTRIBUTE_UNDERLINE);
    assert_int_equal(style_role(&s, STYLE_TEXT, ATTRIBUTE_CARET).attributes, ATTRIBUTE_NONE);
    s.depth = DEPTH_MONO;
    assert_int_equal(style_role(&s, STYLE_CURSOR, 0).attributes, ATTRIBUTE_REVERSE);
    assert_int_equal(style_role(&s, STYLE_CURSOR, ATTRIBUTE_REVERSE).attributes, ATTRIBUTE_NONE);
}

/* 1: lightness rises with heat, -1: falls. */
static int direction(const StyleSheet *s, HeatMap map, int from, int to) {
    double before = lightness(style_heat(s, map, (uint8_t)from));
    int rising = 0, falling = 0;
    for (int heat = from; heat <= to; heat++) {
        double now = lightness(style_heat(s, map, (uint8_t)heat));
        rising += now > before + 1e-9;
        falling += now < before - 1e-9;
        before = now;
    }
    return rising > 0 && falling == 0 ? 1 : falling > 0 && rising == 0 ? -1 : 0;
}

static void sequential_maps_are_monotone(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_MONO; theme++)
        for (int map = 0; map < MAP_COUNT; map++)
            for (int depth = DEPTH_256; depth <= DEPTH_TRUE; depth++) {
                StyleSheet s = {(ThemeName)theme, (MapName)map, (Depth)depth, THEME_DARK};
                bool turned = theme == THEME_LIGHT && (map == MAP_MAGMA || map == MAP_GRAY);
                assert_int_equal(direction(&s, HEAT_SEQUENTIAL, 0, 255), turned ? -1 : 1);
            }
}

static double colourfulness(int32_t colour) { /* largest less smallest part */
    Rgb c = rgb_of(colour);
    return fmax(c.r, fmax(c.g, c.b)) - fmin(c.r, fmin(c.g, c.b));
}

/* Viridis has no grey at all; cividis goes from blue to yellow and is grey in its middle alone. */
static void maps_of_colour_are_not_grey(void **state) {
    (void)state;
    for (int depth = DEPTH_256; depth <= DEPTH_TRUE; depth++)
        for (int heat = 0; heat < 256; heat++) {
            StyleSheet s = {THEME_DARK, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
            if (colourfulness(style_heat(&s, HEAT_SEQUENTIAL, (uint8_t)heat)) < 0.25) fail_msg("viridis %d", heat);
            s.map = MAP_CIVIDIS;
            int32_t colour = style_heat(&s, HEAT_SEQUENTIAL, (uint8_t)heat);
            Rgb c = rgb_of(colour);
            if (heat < 56 && !(c.b > c.r && colourfulness(colour) > 0.1)) fail_msg("cividis %d is not blue", heat);
            if (heat > 170 && !(c.b < c.r && colourfulness(colour) > 0.1)) fail_msg("cividis %d is not yellow", heat);
        }
}

static void diverging_maps_have_monotone_arms(void **state) {
    (void)state;
    for (int theme = THEME_DARK; theme < THEME_MONO; theme++)
        for (int depth = DEPTH_256; depth <= DEPTH_TRUE; depth++) {
            StyleSheet s = {(ThemeName)theme, MAP_VIRIDIS, (Depth)depth, THEME_DARK};
            int outwards = theme == THEME_LIGHT ? -1 : 1;
            assert_int_equal(direction(&s, HEAT_DIVERGING, 128, 255), outwards);
            assert_int_equal(direction(&s, HEAT_DIVERGING, 0, 128), -outwards);
            Rgb low = rgb_of(style_heat(&s, HEAT_DIVERGING, 40)), high = rgb_of(style_heat(&s, HEAT_DIVERGING, 216));
            assert_true(low.b > low.r && high.r > high.b); /* blue below zero, orange above */
            assert_int_equal(style_heat_levels(&s, HEAT_DIVERGING) % 2, 1);
        }
}

/* What is little is near the ground, whichever theme is painted on it. */
static void little_is_near_the_ground(void **state) {
    (void)state;
    for (int theme = THEME_DARK; theme < THEME_MONO; theme++)
        for (int light = 0; light < 2; light++)
            for (int depth = DEPTH_256; depth <= DEPTH_TRUE; depth++) {
                StyleSheet s = {(ThemeName)theme, MAP_GRAY, (Depth)depth, light ? THEME_LIGHT : THEME_DARK};
                bool on_light = theme == THEME_LIGHT || (theme != THEME_DARK && light);
                assert_int_equal(style_on_light(&s), on_light);
                double zero = style_luminance(style_heat(&s, HEAT_DIVERGING, 128));
                assert_true(on_light ? zero > 0.8 : zero < 0.03);
            }
}

static void heat_has_as_many_colours_as_levels(void **state) {
    (void)state;
    for (int map = 0; map < MAP_COUNT; map++)
        for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++) {
            StyleSheet s = {THEME_DARK, (MapName)map, (Depth)depth, THEME_DARK};
            int changes = 1;
            for (int heat = 1; heat < 256; heat++)
                changes += style_heat(&s, HEAT_SEQUENTIAL, (uint8_t)heat) !=
                           style_heat(&s, HEAT_SEQUENTIAL, (uint8_t)(heat - 1));
            assert_int_equal(style_heat_is_colour(&s), depth >= DEPTH_256);
            if (depth >= DEPTH_256)
                assert_int_equal(changes, style_heat_levels(&s, HEAT_SEQUENTIAL));
            else
                assert_int_equal(style_heat_levels(&s, HEAT_SEQUENTIAL), 0);
            assert_in_range(style_heat_levels(&s, HEAT_SEQUENTIAL), 0, 32);
        }
}

/* The mono theme paints as a terminal without colours is painted: by glyphs, whatever the terminal could do. */
static void mono_is_without_colours(void **state) {
    (void)state;
    for (int depth = DEPTH_MONO; depth <= DEPTH_TRUE; depth++) {
        StyleSheet s = {THEME_MONO, MAP_VIRIDIS, (Depth)depth, THEME_DARK}, none = s;
        none.depth = DEPTH_MONO;
        assert_false(style_heat_is_colour(&s));
        assert_int_equal(style_heat_levels(&s, HEAT_SEQUENTIAL), 0);
        for (int heat = 0; heat < 256; heat += 5) {
            Paint p = style_ramp(&s, HEAT_DIVERGING, (uint8_t)heat),
                  q = style_ramp(&none, HEAT_DIVERGING, (uint8_t)heat);
            assert_true(p.fg == -1 && p.bg == -1 && p.attributes == q.attributes);
            assert_int_equal(style_heat(&s, HEAT_SEQUENTIAL, (uint8_t)heat), -1);
        }
    }
}

static void numbers_on_heat_can_be_read(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_MONO; theme++)
        for (int map = 0; map < MAP_COUNT; map++)
            for (int depth = DEPTH_256; depth <= DEPTH_TRUE; depth++)
                for (int kind = HEAT_SEQUENTIAL; kind <= HEAT_DIVERGING; kind++)
                    for (int heat = 0; heat < 256; heat++) {
                        StyleSheet s = {(ThemeName)theme, (MapName)map, (Depth)depth, THEME_DARK};
                        Paint p = style_on_heat(&s, (HeatMap)kind, (uint8_t)heat);
                        assert_int_equal(p.bg, style_heat(&s, (HeatMap)kind, (uint8_t)heat));
                        if (contrast(rgb_of(p.fg), rgb_of(p.bg)) < LEAST_CONTRAST)
                            fail_msg("theme %d map %d depth %d kind %d heat %d: %.2f", theme, map, depth, kind, heat,
                                     contrast(rgb_of(p.fg), rgb_of(p.bg)));
                    }
}

static void a_ramp_shows_the_sign(void **state) {
    (void)state;
    StyleSheet s = {THEME_DARK, MAP_VIRIDIS, DEPTH_16, THEME_DARK};
    assert_int_equal(style_ramp(&s, HEAT_DIVERGING, 200).fg, style_role(&s, STYLE_MODEL, 0).fg);
    assert_int_equal(style_ramp(&s, HEAT_DIVERGING, 20).fg, style_role(&s, STYLE_TRUTH, 0).fg);
    assert_int_equal(style_ramp(&s, HEAT_SEQUENTIAL, 20).fg, style_role(&s, STYLE_TEXT, 0).fg);
}

static void names_are_found_again(void **state) {
    (void)state;
    for (int i = 0; i < THEME_COUNT; i++) {
        ThemeName t = THEME_COUNT;
        assert_true(style_theme_find(style_theme_name((ThemeName)i), &t));
        assert_int_equal(t, i);
        assert_false(style_theme_find("brown", &t));
    }
    for (int i = 0; i < MAP_COUNT; i++) {
        MapName m = MAP_COUNT;
        assert_true(style_map_find(style_map_name((MapName)i), &m));
        assert_int_equal(m, i);
        assert_false(style_map_find("", &m));
    }
}

static void letters_are_one_to_one(void **state) {
    (void)state;
    for (int a = 0; a < STYLE_ROLES; a++) {
        char letter = style_letter((StyleRole)a);
        assert_true(letter > ' ' && letter < 0x7F && strchr("0123456789abcdef_", letter) == NULL); /* those are heat */
        for (int b = 0; b < a; b++) assert_int_not_equal(letter, style_letter((StyleRole)b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_can_be_read),
        cmocka_unit_test(no_role_vanishes_on_the_other_ground),
        cmocka_unit_test(what_matters_most_is_the_terminals_own),
        cmocka_unit_test(bold_makes_nothing_pale),
        cmocka_unit_test(colours_fit_the_depth),
        cmocka_unit_test(model_and_truth_differ_for_every_eye),
        cmocka_unit_test(lines_differ_from_frames),
        cmocka_unit_test(attributes_add_up),
        cmocka_unit_test(sequential_maps_are_monotone),
        cmocka_unit_test(maps_of_colour_are_not_grey),
        cmocka_unit_test(diverging_maps_have_monotone_arms),
        cmocka_unit_test(little_is_near_the_ground),
        cmocka_unit_test(heat_has_as_many_colours_as_levels),
        cmocka_unit_test(mono_is_without_colours),
        cmocka_unit_test(numbers_on_heat_can_be_read),
        cmocka_unit_test(a_ramp_shows_the_sign),
        cmocka_unit_test(names_are_found_again),
        cmocka_unit_test(letters_are_one_to_one),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
