/* Words in pieces: which are newest, which pair is marked, and what has no room. */
#include "expect.h"

#include "bpe_view.h"

#include <string.h>

static Canvas *draw(int w, const char *pieces, const BpeMarks *marks, int used) {
    Canvas *c = canvas_new(24, 1, GLYPHS_HALF);
    assert_int_equal(bpe_draw_pieces(c, 0, 0, w, pieces, marks), used);
    return c;
}

/* WANT: 'B' where a cell is bold, '_' underlined, '#' both, '.' neither. */
static void expect_marks(const char *pieces, const BpeMarks *marks, const char *want) {
    Canvas *c = draw(24, pieces, marks, (int)strlen(pieces));
    for (int x = 0; x < (int)strlen(want); x++) {
        const Cell *cell = canvas_cell(c, x, 0);
        bool bold = cell->attributes & ATTRIBUTE_BOLD, line = cell->attributes & ATTRIBUTE_UNDERLINE;
        char is = bold && line ? '#' : bold ? 'B' : line ? '_' : '.';
        if (is != want[x]) fail_msg("'%s': '%c' at %d, not '%c'", pieces, is, x, want[x]);
    }
    canvas_free(c);
}

static void marks_stand_on_their_pieces(void **state) {
    (void)state;
    const BpeMarks none = {0}, newest = {.newest = "es"}, pair = {.left = "es", .right = "t"};
    expect_marks("n e w es t", &none, "..........");
    expect_marks("n e w es t", &newest, "......BB..");
    expect_marks("n e w es t", &pair, "......____"); /* and the blank between the two */
    expect_marks("es t es w t", &pair, "____.......");
    expect_marks("t es t es t", &pair, "..____.____");
}

/* A pair of two pieces that are alike: a piece belongs to one pair only. */
static void a_pair_of_the_same(void **state) {
    (void)state;
    expect_marks("a a a b", &(BpeMarks){.left = "a", .right = "a"}, "___....");
    expect_marks("a a a a", &(BpeMarks){.newest = "a", .left = "a", .right = "a"}, "#_#.#_#");
}

static void pieces_are_whole_or_left_out(void **state) {
    (void)state;
    const BpeMarks none = {0};
    canvas_free(draw(10, "n e w es t", &none, 10));
    Canvas *c = draw(9, "n e w es t", &none, 7); /* a sign that there is more */
    assert_int_equal(canvas_cell(c, 6, 0)->ch, 0x2026);
    assert_int_equal(canvas_cell(c, 7, 0)->ch, ' ');
    canvas_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_stand_on_their_pieces),
        cmocka_unit_test(a_pair_of_the_same),
        cmocka_unit_test(pieces_are_whole_or_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
