/* figure: what a row of the catalogue says is what is drawn: several columns, series, a logarithmic axis, signs. */
#include "expect.h"

#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Column columns[] = {
    {"x", COLUMN_INT, ""}, {"with", COLUMN_DOUBLE, ""}, {"without", COLUMN_DOUBLE, ""}, {"kind", COLUMN_TEXT, ""}, {0}};

static Table *table_of(int rows, double first, double factor) {
    Table *t = table_new("t", columns);
    double value = first;
    for (int i = 0; i < rows; i++, value *= factor) {
        table_add_int(t, i);
        table_add_real(t, value);
        table_add_real(t, -value / 2);
        table_add_text(t, i % 2 ? "odd" : "even");
    }
    return t;
}

/* The canvas as text. */
static char *draw(const Figure *f, const Table *t, int w, int h) {
    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
    figure_draw(c, (Rect){0, 0, w, h}, f, t, NULL);
    Str s;
    str_init(&s);
    canvas_dump(c, false, &s);
    canvas_free(c);
    return str_take(&s);
}

static void expect_words(const Figure *f, const Table *t, const char *const *words) {
    char *text = draw(f, t, 60, 12);
    for (; *words; words++)
        if (!strstr(text, *words)) fail_msg("no '%s' in\n%s", *words, text);
    mem_free(text);
}

static void lines_have_the_names_of_columns_or_series(void **state) {
    (void)state;
    Table *t = table_of(9, 1, 2);
    expect_words(&(Figure){FIGURE_LINE, "t", "x", "with without", NULL}, t,
                 (const char *const[]){"with", "without", NULL});
    expect_words(&(Figure){FIGURE_LINE, "t", "x", "with", "kind"}, t,
                 (const char *const[]){"odd", "even", "with", NULL});
    table_free(t);
}

/* 1, 10, 100 ... are equally far apart. */
static void logarithmic_axes(void **state) {
    (void)state;
    Table *t = table_of(5, 1, 10);
    expect_words(&(Figure){FIGURE_LOG_LINE, "t", "x", "with", NULL}, t,
                 (const char *const[]){"10000 ", "  100 ", "    1 ", NULL});
    table_free(t);
}

/* A table of LINES series, two points each. */
static Table *table_of_lines(int lines) {
    static const Column named[] = {{"x", COLUMN_INT, ""}, {"y", COLUMN_DOUBLE, ""}, {"name", COLUMN_INT, ""}, {0}};
    Table *t = table_new("t", named);
    for (int i = 0; i < 2 * lines; i++) {
        table_add_int(t, i % 2);
        table_add_real(t, i);
        table_add_int(t, 100 + i / 2);
    }
    return t;
}

/* Every line is drawn and named; where they are too many to be told apart, how many are missing is said. */
static void many_lines_are_drawn_or_counted(void **state) {
    (void)state;
    Figure f = {FIGURE_LINE, "t", "x", "y", "name"};
    Table *t = table_of_lines(10);
    char *text = draw(&f, t, 100, 12);
    for (int i = 0; i < 10; i++) {
        char name[8];
        snprintf(name, sizeof name, " %d", 100 + i);
        if (!strstr(text, name)) fail_msg("no%s in\n%s", name, text);
    }
    assert_null(strstr(text, "more"));
    mem_free(text);
    table_free(t);
    t = table_of_lines(15);
    text = draw(&f, t, 60, 12);
    assert_non_null(strstr(text, "… and 3 more in the table"));
    mem_free(text);
    table_free(t);
}

/* Columns to the first of a line's glyphs, and how many there are. */
static void bar_of(const char *text, int row, int *from, int *cells) {
    for (; row > 0; row--) text = strchr(text, '\n') + 1;
    int at = 0;
    *from = -1;
    *cells = 0;
    for (; *text && *text != '\n'; at++) {
        bool block = strncmp(text, "\xE2\x96\x88", 3) == 0;
        if (block && *from < 0) *from = at;
        *cells += block;
        text += (*text & 0x80) ? 3 : 1;
    }
}

/* A negative value goes to the left of the middle, half as far. */
static void bars_keep_their_sign(void **state) {
    (void)state;
    Table *t = table_of(1, 4, 1);
    char *text = draw(&(Figure){FIGURE_BARS, "t", "x", "with without", NULL}, t, 60, 4);
    int up, up_cells, down, down_cells;
    bar_of(text, 1, &up, &up_cells);
    bar_of(text, 2, &down, &down_cells);
    assert_true(up_cells >= 10);
    assert_int_equal(down_cells, up_cells / 2);
    assert_int_equal(down + down_cells, up);
    assert_int_equal(strncmp(text, "x         with  without", 23),
                     0); /* what stands below: x, and which column is which */
    assert_non_null(strstr(text, "\n0 with "));
    assert_non_null(strstr(text, "\n  without "));
    assert_non_null(strstr(text, "-2"));
    mem_free(text);
    table_free(t);
}

/* Whole numbers have commas and end in one column; labels are not cut while there is room. */
static void bars_have_readable_numbers(void **state) {
    (void)state;
    static const Column sizes[] = {{"model", COLUMN_TEXT, ""}, {"bytes", COLUMN_INT, "bytes"}, {0}};
    Table *t = table_new("t", sizes);
    table_add_text(t, "a-long-name-of-a-model");
    table_add_int(t, 4718592);
    table_add_text(t, "short");
    table_add_int(t, 512);
    char *text = draw(&(Figure){FIGURE_BARS, "t", "model", "bytes", NULL}, t, 60, 4);
    assert_int_equal(strncmp(text, "model                  bytes (bytes)", 36), 0);
    assert_non_null(strstr(text, "a-long-name-of-a-model "));
    assert_non_null(strstr(text, "  4,718,592\n"));
    assert_non_null(strstr(text, "        512\n"));
    mem_free(text);
    table_free(t);
}

static void expect_numbers(const double *value, int n, const char *const *words) {
    static const Column one[] = {{"model", COLUMN_TEXT, ""}, {"perplexity", COLUMN_DOUBLE, ""}, {0}};
    Table *t = table_new("t", one);
    for (int i = 0; i < n; i++) {
        table_add_text(t, "m");
        table_add_real(t, value[i]);
    }
    char *text = draw(&(Figure){FIGURE_BARS, "t", "model", "perplexity", NULL}, t, 60, 8);
    for (int i = 0; i < n; i++)
        if (!strstr(text, words[i])) fail_msg("no '%s' in\n%s", words[i], text);
    mem_free(text);
    table_free(t);
}

/* What an experiment is about may be in the fourth figure: the numbers of one figure have the same decimals. */
static void bars_that_differ_little_read_differently(void **state) {
    (void)state;
    expect_numbers((double[]){2.51114, 2.5101, 2.6}, 3, (const char *const[]){" 2.5111\n", " 2.5101\n", " 2.6000\n"});
    expect_numbers((double[]){0.5, 0.25, 0}, 3, (const char *const[]){" 0.50\n", " 0.25\n", " 0\n"});
    expect_numbers((double[]){12, 3, 100}, 3, (const char *const[]){"  12\n", "   3\n", " 100\n"});
    expect_numbers((double[]){-14.41251, 2.5}, 2, (const char *const[]){" -14.413\n", "   2.500\n"});
    expect_numbers((double[]){0.9, 0.0000123}, 2, (const char *const[]){"0.9", "1.23e-05\n"});
    expect_numbers((double[]){1.5e-12, 2.25e-12}, 2, (const char *const[]){"1.5e-12\n", "2.25e-12\n"});
    expect_numbers((double[]){1234567.25, 3e12}, 2, (const char *const[]){"1.235e+06\n", "3e+12\n"});
    expect_numbers((double[]){1234567.25, 1000}, 2, (const char *const[]){" 1,234,567\n", "     1,000\n"});
    expect_numbers((double[]){-123456789.5, 1000}, 2, (const char *const[]){"-1.235e+08\n", "1000\n"});
    expect_numbers((double[]){(double)NAN, 1.25}, 2, (const char *const[]){"–", " 1.25\n"});
}

static int bars_in(const char *text) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, "even")); at += 4) n++;
    for (const char *at = text; (at = strstr(at, "odd")); at += 3) n++;
    return n;
}

/* Where there is no room for units the columns' names stand without them; labels have nearly half the room. */
static void a_head_without_room_has_no_units(void **state) {
    (void)state;
    static const Column two_bits[] = {{"model", COLUMN_TEXT, ""},
                                      {"repeat_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {"other_bits", COLUMN_DOUBLE, "bits/byte"},
                                      {0}};
    Table *t = table_new("t", two_bits);
    table_add_text(t, "transformer");
    table_add_real(t, 0.5);
    table_add_real(t, 0.25);
    Figure f = {FIGURE_BARS, "t", "model", "repeat_bits other_bits", NULL};
    char *wide = draw(&f, t, 80, 6), *narrow = draw(&f, t, 54, 6);
    assert_non_null(strstr(wide, "repeat_bits (bits/byte)  other_bits (bits/byte)"));
    assert_non_null(strstr(narrow, "repeat_bits  other_bits\n"));
    assert_non_null(strstr(narrow, "transformer repeat_bits"));
    mem_free(wide);
    mem_free(narrow);
    table_free(t);
}

/* More bars than rows go into panels; what has no room is counted. */
static void many_bars_go_side_by_side(void **state) {
    (void)state;
    Table *t = table_of(12, 1, 1);
    Figure f = {FIGURE_BARS, "t", "x", "with", "kind"};
    char *text = draw(&f, t, 50, 13);
    assert_int_equal(bars_in(text), 12);
    assert_null(strstr(text, "more"));
    mem_free(text);
    text = draw(&f, t, 100, 7);
    assert_int_equal(bars_in(text), 12);
    assert_null(strstr(text, "more"));
    mem_free(text);
    text = draw(&f, t, 100, 6);
    assert_int_equal(bars_in(text), 9);
    assert_non_null(strstr(text, "… and 3 more in the table"));
    mem_free(text);
    text = draw(&f, t, 50, 6);
    assert_int_equal(bars_in(text), 4);
    assert_non_null(strstr(text, "… and 8 more in the table"));
    mem_free(text);
    table_free(t);
}

/* Rows in another unit are left out of bars; a level goes across lines. */
static void more_than_the_table_says(void **state) {
    (void)state;
    Table *t = table_of(4, 1, 3);
    Canvas *c = canvas_new(60, 12, GLYPHS_HALF);
    Str s;
    str_init(&s);
    figure_draw(c, (Rect){0, 0, 60, 12}, &(Figure){FIGURE_BARS, "t", "x", "with", "kind"}, t,
                &(FigureMore){.without = "even", .level = (double)NAN});
    canvas_dump(c, false, &s);
    assert_int_equal(bars_in(s.s), 2);
    assert_null(strstr(s.s, "even"));
    canvas_clear(c);
    str_clear(&s);
    figure_draw(c, (Rect){0, 0, 60, 12}, &(Figure){FIGURE_LINE, "t", "x", "with", NULL}, t,
                &(FigureMore){.level = 5, .level_label = "floor 5"});
    canvas_dump(c, false, &s);
    assert_non_null(strstr(s.s, "floor 5"));
    str_done(&s);
    canvas_free(c);
    table_free(t);
}

static void nothing_breaks_in_little_room(void **state) {
    (void)state;
    Table *t = table_of(7, -1, -3), *none = table_new("t", columns);
    for (int kind = FIGURE_NONE; kind <= FIGURE_TREE; kind++)
        for (int w = 1; w < 40; w += 6)
            for (int h = 1; h < 9; h += 3) {
                Figure f = {(FigureKind)kind, "t", "x", "with without", kind == FIGURE_HEAT ? "with" : NULL};
                mem_free(draw(&f, t, w, h));
                mem_free(draw(&f, none, w, h));
                mem_free(draw(&f, NULL, w, h));
            }
    table_free(t);
    table_free(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_the_names_of_columns_or_series),
        cmocka_unit_test(many_lines_are_drawn_or_counted),
        cmocka_unit_test(logarithmic_axes),
        cmocka_unit_test(bars_keep_their_sign),
        cmocka_unit_test(bars_have_readable_numbers),
        cmocka_unit_test(bars_that_differ_little_read_differently),
        cmocka_unit_test(a_head_without_room_has_no_units),
        cmocka_unit_test(many_bars_go_side_by_side),
        cmocka_unit_test(more_than_the_table_says),
        cmocka_unit_test(nothing_breaks_in_little_room),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
