/* Plots: as they must look, names that have room and those that have none, numbers at the axes, and x given back. */
#include "draw_fixture.h"

#include "str.h"

#include <stdlib.h>
#include <string.h>

static void plots(void **state) {
    (void)state;
    static const char *const names[] = {"plot-ascii", "plot-half", "plot-braille"};
    for (int glyphs = GLYPHS_ASCII; glyphs <= GLYPHS_BRAILLE; glyphs++) {
        Canvas *c = canvas_new(64, 16, (Glyphs)glyphs);
        Plot p = loss_plot();
        draw_plot(c, (Rect){0, 0, 64, 16}, &p);
        assert_looks(c, names[glyphs]);
    }
    Canvas *c = canvas_new(40, 10, GLYPHS_HALF);
    Plot p = loss_plot();
    p.log_y = true;
    p.cursor_x = 400;
    draw_plot(c, (Rect){0, 0, 40, 10}, &p);
    assert_looks(c, "plot-log");
    c = canvas_new(18, 5, GLYPHS_HALF);
    draw_plot(c, (Rect){0, 0, 18, 5}, &p);
    assert_looks(c, "plot-small");
    c = canvas_new(40, 10, GLYPHS_HALF);
    c->heat_colour = false;
    draw_plot(c, (Rect){0, 0, 40, 10}, &p);
    assert_looks(c, "plot-named");
}

/* Ten lines with names of 9 columns, dashed where colours repeat. */
static Plot many_lines(Series out[10]) {
    static double ys[10][POINTS];
    static const char *const names[] = {"line no 1", "line no 2", "line no 3", "line no 4", "line no 5",
                                        "line no 6", "line no 7", "line no 8", "line no 9", "line no X"};
    (void)curves();
    for (int s = 0; s < 10; s++) {
        for (int i = 0; i < POINTS; i++) ys[s][i] = losses[i] + s;
        out[s] = (Series){steps, ys[s], POINTS, s % 2 ? STYLE_SERIES_B : STYLE_MODEL, names[s], s / 5};
    }
    return (Plot){.series = out, .count = 10, .y_label = "loss", .level = NONE, .cursor_x = NONE};
}

/* The rows of a plot of many lines; how many of them hold a name. */
static int draw_names(Str *out, Plot *p, int w, int h) {
    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
    int rows = 0;
    str_clear(out);
    draw_plot(c, (Rect){0, 0, w, h}, p);
    canvas_dump(c, false, out);
    for (int y = 0; y < h; y++) {
        bool here = false;
        for (int x = 0; x < w; x++) here |= canvas_cell(c, x, y)->ch == 'n';
        rows += here;
    }
    canvas_free(c);
    return rows;
}

/* Names take further rows where the plot can spare them; how many are left out is said; a small plot keeps its lines.
 */
static void names_that_do_not_fit_are_counted(void **state) {
    (void)state;
    Series series[10];
    Plot p = many_lines(series);
    Str text;
    str_init(&text);
    assert_int_equal(draw_names(&text, &p, 60, 13), 3);
    assert_non_null(strstr(text.s, "line no X\n"));
    assert_null(strstr(text.s, "+"));
    assert_int_equal(draw_names(&text, &p, 60, 10), 2);
    assert_non_null(strstr(text.s, "line no 8  +2\n"));
    assert_int_equal(draw_names(&text, &p, 60, 9), 1);
    assert_non_null(strstr(text.s, "line no 3  +7\n"));
    (void)draw_names(&text, &p, 8, 13);
    assert_non_null(strstr(text.s, "+"));
    str_done(&text);
    Canvas *c = canvas_new(60, 13, GLYPHS_HALF);
    draw_plot(c, (Rect){0, 0, 60, 13}, &p);
    assert_looks(c, "plot-many");
}

/* One name that has no room takes no row from its line. */
static void one_name_takes_no_row(void **state) {
    (void)state;
    Plot p = loss_plot();
    p.count = 1;
    p.y_label = "a label as wide as its plot";
    Str text;
    str_init(&text);
    assert_int_equal(draw_names(&text, &p, 30, 20), 0);
    assert_null(strstr(text.s, "+"));
    str_done(&text);
}

static void plots_of_little(void **state) {
    (void)state;
    double x[] = {7, 8, NONE}, y[] = {2.5, NONE, 3};
    Series s = {x, y, 3, STYLE_MODEL, NULL, 0};
    Plot p = {.series = &s, .count = 1, .level = NONE, .cursor_x = NONE};
    Canvas *c = canvas_new(30, 8, GLYPHS_HALF);
    draw_plot(c, (Rect){0, 0, 30, 8}, &p); /* one point */
    assert_looks(c, "plot-point");
    c = canvas_new(30, 8, GLYPHS_HALF);
    s.n = 0;
    p.level = 1;
    draw_plot(c, (Rect){0, 0, 30, 8}, &p); /* none */
    y[0] = HUGE_VAL, s.n = 3;
    draw_plot(c, (Rect){0, 0, 30, 8}, &p);
    p.log_y = true, y[0] = -1;
    draw_plot(c, (Rect){0, 0, 30, 8}, &p);
    Str got;
    str_init(&got);
    canvas_dump(c, false, &got);
    assert_string_equal(got.s, "\n\n\n\n\n\n\n\n");
    str_done(&got);
    canvas_free(c);
}

/* Numbers at the axes are whole: each is one of the round ticks. */
static void plot_labels_are_never_cut(void **state) {
    (void)state;
    double x[] = {0, 1e6}, y[] = {1e5, 2e5};
    Series s = {x, y, 2, STYLE_MODEL, NULL, 0};
    Plot p = {.series = &s, .count = 1, .level = NONE, .cursor_x = NONE, .x_label = "tokens"};
    Canvas *c = canvas_new(44, 9, GLYPHS_ASCII);
    draw_plot(c, (Rect){0, 0, 44, 9}, &p);
    assert_looks(c, "plot-thousands");
    for (int w = 20; w < 90; w++) {
        c = canvas_new(w, 9, GLYPHS_ASCII);
        x[1] = 1600;
        draw_plot(c, (Rect){0, 0, w, 9}, &p);
        char line[100] = "";
        for (int i = 0; i < w; i++) line[i] = (char)canvas_cell(c, i, 8)->ch;
        for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
            long long number = 0;
            if (strcmp(word, "tokens") != 0 && !(str_to_long(word, &number) && number % 100 == 0))
                fail_msg("width %d: '%s'", w, word);
        }
        canvas_free(c);
    }
}

static void plot_columns_give_x_back(void **state) {
    (void)state;
    Plot p = loss_plot();
    Canvas *c = canvas_new(64, 16, GLYPHS_HALF);
    Rect r = {0, 0, 64, 16};
    draw_plot(c, r, &p);
    assert_true(isnan(draw_plot_x(c, r, &p, 0)));
    assert_true(isnan(draw_plot_x(c, r, &p, 64)));
    assert_true(fabs(draw_plot_x(c, r, &p, 63) - steps[POINTS - 1]) < 1e-9);
    double before = -1;
    for (int x = 10; x < 64; x++) {
        assert_true(draw_plot_x(c, r, &p, x) > before);
        before = draw_plot_x(c, r, &p, x);
    }
    canvas_free(c);
}

int main(void) {
    const struct CMUnitTest tests_of_plots[] = {
        cmocka_unit_test(plots),
        cmocka_unit_test(names_that_do_not_fit_are_counted),
        cmocka_unit_test(one_name_takes_no_row),
        cmocka_unit_test(plots_of_little),
        cmocka_unit_test(plot_labels_are_never_cut),
        cmocka_unit_test(plot_columns_give_x_back),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests_of_plots, NULL, NULL);
}
