/* dial: the hand points where its angle says, on every kind of terminal and at every size. */
#include "expect.h"

#include "dial.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* The middle of all cells that ROLE fills, from the middle of the face, in columns to the right and up. */
static void where(Canvas *c, StyleRole role, double *right, double *up) {
    double x = 0, y = 0;
    int n = 0;
    for (int row = 0; row < c->h; row++)
        for (int column = 0; column < c->w; column++) {
            const Cell *cell = canvas_cell(c, column, row);
            if (cell->ch == ' ' || cell->role != role) continue;
            x += column + 0.5, y += row + 0.5, n++;
        }
    assert_true(n > 0);
    *right = x / n - c->w / 2.0;
    *up = c->h - 2 * y / n; /* a row is two columns high */
}

static void hands_point_clockwise_from_the_top(void **state) {
    (void)state;
    for (int glyphs = GLYPHS_ASCII; glyphs <= GLYPHS_BRAILLE; glyphs++)
        for (int i = 0; i < 16; i++)
            for (int turns = -1; turns <= 1; turns++) {
                Canvas *c = canvas_new(26, 13, (Glyphs)glyphs);
                double angle = i * PI / 8, right, up;
                dial_draw(c, (Rect){0, 0, 26, 13}, &(Hand){angle + turns * 2 * PI, 0.9, STYLE_MODEL}, 1);
                where(c, STYLE_MODEL, &right, &up);
                double away = atan2(right, up) - angle;
                away -= 2 * PI * round(away / (2 * PI));
                if (fabs(away) > PI / 9) fail_msg("hand at %g points to %g", angle, angle + away);
                canvas_free(c);
            }
}

static int cells_of(Canvas *c, StyleRole role) {
    int n = 0;
    for (int i = 0; i < c->w * c->h; i++) {
        const Cell *cell = canvas_cell(c, i % c->w, i / c->w);
        n += cell->ch != ' ' && cell->role == role;
    }
    return n;
}

/* The first hand lies on top, the second is shorter: both show unless they point alike. */
static void two_hands(void **state) {
    (void)state;
    Canvas *c = canvas_new(21, 11, GLYPHS_HALF);
    dial_draw(c, (Rect){0, 0, 21, 11}, (const Hand[]){{1, 0.9, STYLE_SERIES_A}, {4, 0.6, STYLE_SERIES_B}}, 2);
    assert_true(cells_of(c, STYLE_SERIES_A) > cells_of(c, STYLE_SERIES_B) && cells_of(c, STYLE_SERIES_B) > 2);
    canvas_clear(c);
    dial_draw(c, (Rect){0, 0, 21, 11}, (const Hand[]){{1, 0.9, STYLE_SERIES_A}, {1, 0.6, STYLE_SERIES_B}}, 2);
    assert_int_equal(cells_of(c, STYLE_SERIES_B), 0);
    canvas_clear(c);
    dial_draw(c, (Rect){0, 0, 21, 11}, (const Hand[]){{(double)NAN, 0.9, STYLE_SERIES_A}, {1, 0.6, STYLE_SERIES_B}}, 2);
    assert_int_equal(cells_of(c, STYLE_SERIES_A), 0);
    assert_true(cells_of(c, STYLE_BORDER) > 10);
    canvas_free(c);
}

static void nothing_is_drawn_outside(void **state) {
    (void)state;
    for (int glyphs = GLYPHS_ASCII; glyphs <= GLYPHS_BRAILLE; glyphs++)
        for (int w = 0; w < 24; w++)
            for (int h = 0; h < 13; h++) {
                Canvas *c = canvas_new(30, 20, (Glyphs)glyphs);
                Rect r = {3, 2, w, h};
                dial_draw(c, r, &(Hand){w + h, 1, STYLE_MODEL}, 1);
                int drawn = 0;
                for (int i = 0; i < c->w * c->h; i++) {
                    int x = i % c->w, y = i / c->w;
                    bool inside = x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
                    bool there = canvas_cell(c, x, y)->ch != ' ';
                    assert_true(inside || !there);
                    drawn += there;
                }
                assert_int_equal(drawn > 0, w >= DIAL_LEAST_W && h >= DIAL_LEAST_H);
                canvas_free(c);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_point_clockwise_from_the_top),
        cmocka_unit_test(two_hands),
        cmocka_unit_test(nothing_is_drawn_outside),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
