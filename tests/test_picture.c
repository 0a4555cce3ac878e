/* Pictures of a screen: ANSI codes, and SVG whose shapes stand where the cells are. */
#include "expect.h"

#include "glyph_shape.h"
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const StyleSheet dark = {THEME_DARK, MAP_VIRIDIS, DEPTH_256, THEME_DARK},
                        plain = {THEME_DARK, MAP_VIRIDIS, DEPTH_MONO, THEME_DARK};

static Str picture(const Canvas *c, const StyleSheet *style, PictureKind kind) {
    Str out;
    str_init(&out);
    picture_add(c, style, kind, &out);
    return out;
}

static void the_name_says_the_kind(void **state) {
    (void)state;
    assert_int_equal(picture_kind("a/wall.svg"), PICTURE_SVG);
    assert_int_equal(picture_kind("wall.ans"), PICTURE_ANSI);
    assert_int_equal(picture_kind("wall.ansi"), PICTURE_ANSI);
    assert_int_equal(picture_kind("svg"), PICTURE_TEXT);
    assert_int_equal(picture_kind("wall.svg.txt"), PICTURE_TEXT);
}

static void ansi_says_a_paint_once(void **state) {
    (void)state;
    Canvas *c = canvas_new(4, 2, GLYPHS_HALF);
    canvas_text(c, 0, 0, -1, "ab", STYLE_TEXT, ATTRIBUTE_BOLD);
    Str s = picture(c, &plain, PICTURE_ANSI);
    assert_string_equal(s.s, "\033[0;1mab\033[0m  \n    \n");
    str_done(&s);
    canvas_heat(c, 3, 1, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 0, 255);
    char want[64];
    snprintf(want, sizeof want, "   \033[0;38;5;%d;48;5;%dm\xE2\x96\x80\033[0m\n",
             (int)style_heat(&dark, HEAT_SEQUENTIAL, 0), (int)style_heat(&dark, HEAT_SEQUENTIAL, 255));
    s = picture(c, &dark, PICTURE_ANSI);
    assert_non_null(strstr(s.s, want));
    str_done(&s);
    canvas_free(c);
}

static void svg_holds_text_and_shapes(void **state) {
    (void)state;
    Canvas *c = canvas_new(6, 2, GLYPHS_HALF);
    canvas_text(c, 1, 1, -1, "a<b&", STYLE_TEXT, ATTRIBUTE_NONE);
    canvas_put(c, 2, 0, 0x2584, STYLE_TEXT, ATTRIBUTE_NONE);
    Str s = picture(c, &dark, PICTURE_SVG);
    assert_non_null(strstr(s.s, "viewBox=\"0 0 60 40\""));
    assert_non_null(strstr(s.s, "<text x=\"10\" y=\"35\" textLength=\"40\" fill=\"#d8dbe0\">a&lt;b&amp;</text>"));
    assert_non_null(strstr(s.s, "<rect x=\"20\" y=\"10\" width=\"10\" height=\"10\" fill=\"#d8dbe0\"/>"));
    assert_true(strcmp(s.s + s.len - 7, "</svg>\n") == 0);
    str_done(&s);
    canvas_heat(c, 5, 0, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 0, 255);
    const StyleSheet deep = {THEME_DARK, MAP_VIRIDIS, DEPTH_TRUE, THEME_DARK};
    char want[96];
    s = picture(c, &dark, PICTURE_SVG); /* true colour whatever the terminal has */
    snprintf(want, sizeof want, "<rect x=\"50\" y=\"0\" width=\"10\" height=\"20\" fill=\"#%06x\"/>",
             (unsigned)style_heat(&deep, HEAT_SEQUENTIAL, 255) & 0xFFFFFF);
    assert_non_null(strstr(s.s, want));
    str_done(&s);
    canvas_free(c);
}

/* Where heat is drawn as glyphs, a picture shows them. */
static void heat_without_colours_is_glyphs(void **state) {
    (void)state;
    StyleSheet mono = dark;
    mono.theme = THEME_MONO;
    assert_true(picture_heat_is_colour(&dark, PICTURE_SVG));
    assert_true(picture_heat_is_colour(&dark, PICTURE_ANSI));
    assert_false(picture_heat_is_colour(&dark, PICTURE_TEXT));
    assert_false(picture_heat_is_colour(&mono, PICTURE_SVG));
    assert_false(picture_heat_is_colour(&plain, PICTURE_SVG));
    StyleSheet few = dark; /* an SVG has true colour all the same */
    few.depth = DEPTH_16;
    assert_true(picture_heat_is_colour(&few, PICTURE_SVG));
    assert_false(picture_heat_is_colour(&few, PICTURE_ANSI));
}

static double area(uint32_t ch) {
    GlyphShape s;
    double sum = 0;
    if (!glyph_shape(ch, &s)) return -1;
    for (int i = 0; i < s.count; i++) {
        const GlyphPart *p = &s.part[i];
        assert_true(p->x >= 0 && p->y >= 0 && p->x + p->w <= 1 + 1e-12 && p->y + p->h <= 1 + 1e-12);
        sum += p->w * p->h;
    }
    return sum * s.opacity;
}

static void shapes_cover_what_they_should(void **state) {
    (void)state;
    const struct {
        uint32_t ch;
        double area;
    } cases[] = {{0x2580, 0.5},  {0x2581, 0.125}, {0x2588, 1},    {0x2589, 0.875}, {0x258F, 0.125},
                 {0x2590, 0.5},  {0x2591, 0.25},  {0x2593, 0.75}, {0x2594, 0.125}, {0x2595, 0.125},
                 {0x2596, 0.25}, {0x2599, 0.75},  {0x259F, 0.75}, {0x2800, 0},     {0x28FF, 0.16},
                 {'a', -1},      {0x2504, -1},    {0x2500, -2},   {0x253C, -2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = area(cases[i].ch);
        if (cases[i].area == -2)
            assert_true(got > 0.01 && got < 0.5);
        else if (fabs(got - cases[i].area) > 1e-12)
            fail_msg("U+%04X covers %g, not %g", cases[i].ch, got, cases[i].area);
    }
    for (uint32_t ch = 0x2580; ch <= 0x28FF; ch++) area(ch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_says_the_kind),        cmocka_unit_test(ansi_says_a_paint_once),
        cmocka_unit_test(svg_holds_text_and_shapes),     cmocka_unit_test(heat_without_colours_is_glyphs),
        cmocka_unit_test(shapes_cover_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
