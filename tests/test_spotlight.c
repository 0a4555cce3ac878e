/* The spotlight: which rows of a pane stay as they are, and what becomes of the rest. */
#include "expect.h"

#include "spotlight.h"

#include "draw.h"

enum { W = 12, H = 5 };

static Canvas *pane(void) {
    Canvas *c = canvas_new(W, H, GLYPHS_HALF);
    (void)draw_box(c, (Rect){0, 0, W, H}, "pane", true);
    for (int y = 1; y < H - 1; y++) canvas_text(c, 2, y, -1, "word", STYLE_MODEL, ATTRIBUTE_BOLD);
    return c;
}

static bool is_lit(const Canvas *c, int y) {
    return c->cell[y * c->stride + 2].role == STYLE_MODEL;
}

/* Row LIT alone stays; -1: all do. */
static void expect_lit(Canvas *c, Spotlight light, int lit) {
    StyleSheet style = {THEME_DARK, MAP_VIRIDIS, DEPTH_256, THEME_DARK};
    spotlight_dim(c, &style, light, (Rect){0, 0, W, H});
    for (int y = 1; y < H - 1; y++)
        if (is_lit(c, y) != (lit < 0 || lit == y)) fail_msg("row %d", y);
    canvas_free(c);
}

static void the_row_of_the_cursor_stays(void **state) {
    (void)state;
    Canvas *c = pane();
    canvas_put(c, 1, 2, 0x25B8, STYLE_CURSOR, ATTRIBUTE_NONE);
    expect_lit(c, SPOTLIGHT_CURSOR, 2);
    for (int right = 0; right < 2; right++) {
        c = pane();
        canvas_heat(c, 9, 3, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 90, 90);
        canvas_over(c, 9, 3, right ? ']' : '[');
        canvas_put(c, 1, 1, 'x', STYLE_CURSOR, ATTRIBUTE_NONE); /* counts only where nothing points */
        expect_lit(c, SPOTLIGHT_CURSOR, 3);
    }
    c = pane();
    canvas_put(c, 1, 1, 'x', STYLE_CURSOR, ATTRIBUTE_NONE);
    expect_lit(c, SPOTLIGHT_CURSOR, 1);
}

/* What was drawn as belonging to the cursor stays, and nothing else of its rows does. */
static void what_is_lit_stays(void **state) {
    (void)state;
    StyleSheet style = {THEME_DARK, MAP_VIRIDIS, DEPTH_256, THEME_DARK};
    Canvas *c = pane();
    assert_false(spotlight_finds(c, (Rect){0, 0, W, H}));
    canvas_text(c, 3, 3, 2, "or", STYLE_CURSOR, ATTRIBUTE_NONE);
    canvas_light(c, (Rect){3, 1, 2, 3});
    assert_true(spotlight_finds(c, (Rect){0, 0, W, H}));
    assert_false(spotlight_finds(c, (Rect){6, 0, W - 6, H}));
    spotlight_dim(c, &style, SPOTLIGHT_CURSOR, (Rect){0, 0, W, H});
    for (int y = 1; y < H - 1; y++)
        for (int x = 2; x < 6; x++) assert_int_equal(canvas_cell(c, x, y)->role != STYLE_DIM, x == 3 || x == 4);
    canvas_free(c);
}

static void without_a_cursor_the_pane_stays(void **state) {
    (void)state;
    expect_lit(pane(), SPOTLIGHT_CURSOR, -1);
    expect_lit(pane(), SPOTLIGHT_PANE, -1);
    expect_lit(pane(), SPOTLIGHT_OFF, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_row_of_the_cursor_stays),
        cmocka_unit_test(what_is_lit_stays),
        cmocka_unit_test(without_a_cursor_the_pane_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
