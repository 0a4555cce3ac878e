/* The canvas: clipping, wide characters, marks, controls, ASCII, dumps. */
#include "expect.h"

#include "canvas.h"

#include <string.h>

#define WIDE     "\xE4\xB8\xAD" /* 中 */
#define ACUTE    "\xCC\x81"     /* combining */
#define ELLIPSIS "\xE2\x80\xA6"

static void assert_dump(const Canvas *c, bool styles, const char *want) {
    Str got;
    str_init(&got);
    canvas_dump(c, styles, &got);
    assert_string_equal(got.s, want);
    str_done(&got);
}

static void a_new_canvas_is_blank(void **state) {
    (void)state;
    Canvas *c = canvas_new(3, 2, GLYPHS_HALF);
    assert_dump(c, true, "\n\n-- styles\n\n\n");
    assert_true(c->heat_colour);
    canvas_resize(c, 2, 1);
    assert_dump(c, false, "\n");
    canvas_resize(c, -5, 7);
    assert_null(canvas_cell(c, 0, 0));
    canvas_free(c);
    canvas_free(NULL);
}

static void drawing_outside_does_nothing(void **state) {
    (void)state;
    Canvas *c = canvas_new(4, 2, GLYPHS_HALF);
    canvas_put(c, -1, 0, 'a', STYLE_TEXT, 0);
    canvas_put(c, 4, 0, 'a', STYLE_TEXT, 0);
    canvas_put(c, 0, 2, 'a', STYLE_TEXT, 0);
    canvas_fill(c, (Rect){-10, -10, 5, 50}, 'a', STYLE_TEXT, 0);
    canvas_heat(c, 9, 9, 'a', HEAT_SEQUENTIAL, 1, 2);
    assert_int_equal(canvas_text(c, 0, -1, -1, "abc", STYLE_TEXT, 0), 0);
    assert_int_equal(canvas_text(c, 4, 0, -1, "abc", STYLE_TEXT, 0), 0);
    assert_dump(c, false, "\n\n");
    assert_int_equal(canvas_text(c, -2, 0, -1, "abcdef", STYLE_TEXT, 0), 6);
    assert_dump(c, false, "cdef\n\n");
    canvas_free(c);
}

static void text_is_cut_at_columns(void **state) {
    (void)state;
    Canvas *c = canvas_new(8, 4, GLYPHS_HALF);
    assert_int_equal(canvas_text(c, 0, 0, 3, "abcdef", STYLE_TEXT, 0), 3);
    assert_int_equal(canvas_text(c, 0, 1, 3, "abcdef", STYLE_TEXT, CANVAS_ELLIPSIS), 3);
    assert_int_equal(canvas_text(c, 0, 2, 3, "abc", STYLE_TEXT, CANVAS_ELLIPSIS), 3);
    assert_int_equal(canvas_textf(c, 6, 3, -1, STYLE_TEXT, CANVAS_ELLIPSIS, "%d", 12345), 2);
    assert_dump(c, false, "abc\nab" ELLIPSIS "\nabc\n      1" ELLIPSIS "\n");
    canvas_free(c);
}

static void wide_characters_are_never_halved(void **state) {
    (void)state;
    Canvas *c = canvas_new(5, 3, GLYPHS_HALF);
    assert_int_equal(canvas_text(c, 0, 0, -1, WIDE WIDE WIDE, STYLE_TEXT, 0), 4);
    assert_int_equal(canvas_text(c, 0, 1, -1, WIDE WIDE WIDE, STYLE_TEXT, CANVAS_ELLIPSIS), 5);
    assert_int_equal(canvas_text(c, 0, 2, 3, WIDE WIDE, STYLE_TEXT, CANVAS_ELLIPSIS), 3);
    assert_dump(c, false, WIDE WIDE "\n" WIDE WIDE ELLIPSIS "\n" WIDE ELLIPSIS "\n");
    assert_int_equal(canvas_cell(c, 0, 0)->width, 2);
    assert_int_equal(canvas_cell(c, 1, 0)->width, 0);
    assert_int_equal(canvas_cell(c, 1, 0)->ch, 0);
    canvas_free(c);
}

static void drawing_over_half_blanks_the_other(void **state) {
    (void)state;
    Canvas *c = canvas_new(6, 1, GLYPHS_HALF);
    canvas_text(c, 0, 0, -1, WIDE WIDE WIDE, STYLE_TEXT, 0);
    canvas_put(c, 1, 0, 'a', STYLE_TEXT, 0);
    canvas_put(c, 4, 0, 'b', STYLE_TEXT, 0);
    assert_dump(c, false, " a" WIDE "b\n");
    canvas_put(c, 3, 0, 0x4E2D, STYLE_TEXT, 0); /* wide, over the right half and the letter */
    assert_dump(c, false, " a " WIDE "\n");
    canvas_put(c, 3, 0, 0x6587, STYLE_TEXT, 0); /* wide over wide, in place */
    canvas_put(c, 2, 0, 0x4E2D, STYLE_TEXT, 0); /* and one column before */
    assert_dump(c, false, " a" WIDE "\n");
    canvas_free(c);
}

static void a_wide_character_at_the_edge_becomes_blank(void **state) {
    (void)state;
    Canvas *c = canvas_new(3, 1, GLYPHS_HALF);
    canvas_fill(c, (Rect){0, 0, 3, 1}, 'x', STYLE_TEXT, 0);
    canvas_put(c, 2, 0, 0x4E2D, STYLE_TEXT, 0);
    canvas_put(c, -1, 0, 0x4E2D, STYLE_TEXT, 0);
    assert_dump(c, false, " x\n");
    canvas_free(c);
}

static void marks_are_composed_or_dropped(void **state) {
    (void)state;
    Canvas *c = canvas_new(6, 1, GLYPHS_HALF);
    assert_int_equal(canvas_text(c, 0, 0, -1,
                                 "e" ACUTE "q" ACUTE "\xE2\x80\x8D"
                                 "z",
                                 STYLE_TEXT, 0),
                     3);
    assert_dump(c, false, "\xC3\xA9qz\n");
    canvas_free(c);
}

static void controls_never_reach_a_cell(void **state) {
    (void)state;
    Canvas *c = canvas_new(8, 1, GLYPHS_HALF);
    canvas_text(c, 0, 0, -1, "a\033[b\x7F\xC2\x9B\xFF\n", STYLE_TEXT, 0);
    for (int x = 0; x < c->w; x++) {
        uint32_t ch = canvas_cell(c, x, 0)->ch;
        assert_true(ch >= 0x20 && ch != 0x7F && !(ch >= 0x80 && ch < 0xA0));
    }
    assert_dump(c, false, "a\xEF\xBF\xBD[b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n");
    canvas_put(c, 0, 0, 7, STYLE_TEXT, 0);
    canvas_fill(c, (Rect){1, 0, 1, 1}, 7, STYLE_TEXT, 0);
    canvas_fill(c, (Rect){2, 0, 1, 1}, 0x4E2D, STYLE_TEXT, 0); /* a fill is of narrow characters */
    assert_int_equal(canvas_cell(c, 0, 0)->ch, 0xFFFD);
    assert_int_equal(canvas_cell(c, 1, 0)->ch, ' ');
    assert_int_equal(canvas_cell(c, 2, 0)->ch, ' ');
    canvas_free(c);
}

static void an_ascii_canvas_holds_ascii_only(void **state) {
    (void)state;
    Canvas *c = canvas_new(12, 3, GLYPHS_ASCII);
    assert_false(c->heat_colour);
    canvas_text(c, 0, 0, -1,
                "\xE2\x96\xB8 a\xE2\x86\x92"
                "b \xC2\xB7 " WIDE "\xC3\xA9",
                STYLE_TEXT, 0);
    canvas_fill(c, (Rect){0, 1, 3, 1}, 0x2500, STYLE_BORDER, 0);
    canvas_heat(c, 0, 2, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 200, 10);
    canvas_halves(c, 1, 2, STYLE_MODEL, STYLE_TRUTH);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            assert_in_range(canvas_cell(c, x, y)->ch, 0x20, 0x7E);
            assert_int_equal(canvas_cell(c, x, y)->width, 1);
        }
    assert_dump(c, false, "> a->b . ???\n---\n\"\"\n");
    canvas_free(c);
}

static void a_view_is_clipped_and_shares_cells(void **state) {
    (void)state;
    Canvas *c = canvas_new(4, 3, GLYPHS_HALF);
    Canvas view = canvas_view(c, (Rect){1, 1, 9, 9});
    assert_int_equal(view.w, 3);
    assert_int_equal(view.h, 2);
    canvas_text(&view, 0, 0, -1, "abcdef", STYLE_TEXT, 0);
    Canvas inner = canvas_view(&view, (Rect){1, 0, 1, 2});
    canvas_fill(&inner, (Rect){0, 0, 5, 5}, '.', STYLE_TEXT, 0);
    assert_dump(c, false, "\n a.c\n  .\n");
    Canvas none = canvas_view(c, (Rect){4, 0, 3, 3});
    assert_int_equal(none.w, 0);
    assert_int_equal(none.h, 0);
    canvas_put(&none, 0, 0, 'x', STYLE_TEXT, 0);
    Rect r = canvas_clip(c, (Rect){-2, 1, 4, 5});
    assert_true(r.x == 0 && r.y == 1 && r.w == 2 && r.h == 2);
    assert_dump(c, false, "\n a.c\n  .\n");
    canvas_free(c);
}

static void a_view_never_writes_beside_itself(void **state) {
    (void)state;
    Canvas *c = canvas_new(6, 1, GLYPHS_HALF);
    canvas_text(c, 1, 0, -1, WIDE WIDE, STYLE_TEXT, 0);
    Canvas view = canvas_view(c, (Rect){2, 0, 2, 1}); /* begins and ends inside wide characters */
    Cell left = *canvas_cell(c, 1, 0), right = *canvas_cell(c, 4, 0);
    canvas_text(&view, 0, 0, -1, "ab", STYLE_TEXT, 0);
    assert_memory_equal(&left, canvas_cell(c, 1, 0), sizeof left);
    assert_memory_equal(&right, canvas_cell(c, 4, 0), sizeof right);
    canvas_free(c);
}

static void the_dump_shows_roles_and_heat(void **state) {
    (void)state;
    Canvas *c = canvas_new(6, 2, GLYPHS_HALF);
    canvas_text(c, 0, 0, -1, "ab", STYLE_MODEL, ATTRIBUTE_BOLD);
    canvas_put(c, 3, 0, ' ', STYLE_BAR, 0);
    canvas_heat(c, 0, 1, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 255, 16);
    canvas_heat(c, 1, 1, CANVAS_HALF_LOWER, HEAT_DIVERGING, 0, 128);
    canvas_cell(c, 1, 1)->void_top = true;
    canvas_halves(c, 2, 1, STYLE_MODEL, STYLE_TRUTH);
    assert_dump(c, true,
                "ab\n\xE2\x96\x80\xE2\x96\x84\xE2\x96\x80\n-- styles\nMM R\nf_M\n-- lower halves\nMM R\n18U\n");
    canvas_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_canvas_is_blank),
        cmocka_unit_test(drawing_outside_does_nothing),
        cmocka_unit_test(text_is_cut_at_columns),
        cmocka_unit_test(wide_characters_are_never_halved),
        cmocka_unit_test(drawing_over_half_blanks_the_other),
        cmocka_unit_test(a_wide_character_at_the_edge_becomes_blank),
        cmocka_unit_test(marks_are_composed_or_dropped),
        cmocka_unit_test(controls_never_reach_a_cell),
        cmocka_unit_test(an_ascii_canvas_holds_ascii_only),
        cmocka_unit_test(a_view_is_clipped_and_shares_cells),
        cmocka_unit_test(a_view_never_writes_beside_itself),
        cmocka_unit_test(the_dump_shows_roles_and_heat),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
