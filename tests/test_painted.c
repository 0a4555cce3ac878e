/* How a cell is sent: what looks like one colour costs one colour, and only where the terminal has them. */
#include "expect.h"

#include "painted.h"

static Painting painting(Depth depth) {
    Painting p = {.depth = depth, .glyphs = GLYPHS_HALF, .columns = 3};
    painter_set(&p.painter, &(StyleSheet){THEME_DARK, MAP_VIRIDIS, depth, THEME_DARK});
    return p;
}

/* A letter and two full blocks. */
static Canvas *row(void) {
    Canvas *c = canvas_new(3, 1, GLYPHS_HALF);
    canvas_put(c, 0, 0, 'a', STYLE_TEXT, ATTRIBUTE_BOLD);
    for (int x = 1; x < 3; x++) canvas_put(c, x, 0, FULL_BLOCK, STYLE_TRUTH, ATTRIBUTE_NONE);
    return c;
}

static Painted cell(const Painting *p, const Canvas *c, int x, const Painted *before) {
    Look look = painter_look(&p->painter, c, x, 0, p->columns);
    return painted_as(p, c, x, 0, &look, before);
}

static void letters_are_as_they_look(void **state) {
    (void)state;
    Canvas *c = row();
    Painting p = painting(DEPTH_256);
    Painted a = cell(&p, c, 0, NULL);
    assert_int_equal(a.ch, 'a');
    assert_int_equal(a.sent.fg, a.look.paint.fg);
    assert_int_equal(a.sent.bg, a.look.paint.bg);
    assert_true((a.sent.attributes & ATTRIBUTE_BOLD) != 0);
    canvas_free(c);
}

static void a_block_is_its_colour_behind_nothing(void **state) {
    (void)state;
    Canvas *c = row();
    Painting p = painting(DEPTH_256);
    Painted a = cell(&p, c, 0, NULL), block = cell(&p, c, 1, &a);
    assert_int_equal(block.ch, 0xA0);
    assert_int_equal(block.sent.fg, -1);
    assert_true(block.look.paint.fg >= 0);
    assert_int_equal(block.sent.bg, block.look.paint.fg);
    block.sent.fg = 7; /* a ground that is there already keeps what is in front of it */
    Painted next = cell(&p, c, 2, &block);
    assert_int_equal(next.sent.fg, 7);
    assert_int_equal(next.sent.bg, block.sent.bg);
    canvas_free(c);
}

/* Two halves that look alike, and a block of the colour of BEHIND. */
static Canvas *halves(StyleRole upper, StyleRole lower, StyleRole behind) {
    Canvas *c = canvas_new(3, 1, GLYPHS_HALF);
    for (int x = 0; x < 2; x++) canvas_halves(c, x, 0, upper, lower);
    canvas_put(c, 2, 0, FULL_BLOCK, behind, ATTRIBUTE_NONE);
    return c;
}

/* Either half may be in front: the one behind is that which goes on to the right. */
static void the_half_that_goes_on_is_the_ground(void **state) {
    (void)state;
    Painting p = painting(DEPTH_256);
    Canvas *c = halves(STYLE_MODEL, STYLE_TRUTH, STYLE_MODEL);
    Painted a = cell(&p, c, 0, NULL);
    assert_int_equal(a.ch, CANVAS_HALF_LOWER);
    assert_true(a.sent.fg == a.look.paint.bg && a.sent.bg == a.look.paint.fg && a.ground == a.look.paint.fg);
    canvas_free(c);
    c = halves(STYLE_MODEL, STYLE_TRUTH, STYLE_TRUTH);
    a = cell(&p, c, 0, NULL);
    assert_int_equal(a.ch, CANVAS_HALF_UPPER);
    assert_true(a.sent.fg == a.look.paint.fg && a.sent.bg == a.look.paint.bg);
    canvas_free(c);
}

/* The terminal's own colour cannot stand behind another: the upper half is drawn as a whole. */
static void halves_need_two_colours(void **state) {
    (void)state;
    Painting p = painting(DEPTH_256);
    static const StyleRole roles[][2] = {{STYLE_TEXT, STYLE_MODEL}, {STYLE_MODEL, STYLE_TEXT}};
    for (int i = 0; i < 2; i++) {
        Canvas *c = halves(roles[i][0], roles[i][1], STYLE_TRUTH);
        Look look = painter_look(&p.painter, c, 0, 0, 3);
        assert_int_equal(look.ch, FULL_BLOCK);
        assert_int_equal(look.paint.fg, style_role(&p.painter.style, roles[i][0], ATTRIBUTE_NONE).fg);
        canvas_free(c);
    }
}

static void few_colours_have_blocks(void **state) {
    (void)state;
    Canvas *c = row();
    Painting p = painting(DEPTH_16);
    assert_int_equal(cell(&p, c, 1, NULL).ch, FULL_BLOCK);
    canvas_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_as_they_look),
        cmocka_unit_test(a_block_is_its_colour_behind_nothing),
        cmocka_unit_test(the_half_that_goes_on_is_the_ground),
        cmocka_unit_test(halves_need_two_colours),
        cmocka_unit_test(few_colours_have_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
