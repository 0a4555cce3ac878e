/* Shapes: as they must look (golden/draw-*.txt, UPDATE=1), within their rectangle at every size, and in ASCII. */
#include "draw_fixture.h"

#include <string.h>

#define WIDE  "\xE4\xB8\xAD"
#define WORDS 7

static const char *const words[WORDS] = {"<s>", "the", "dogs", "near", "the", "cat", "chase"};

/* ---- things to draw ---- */

/* A causal map: each query looks at two keys before it. */
static int causal(const void *data, int row, int col) {
    (void)data;
    if (col > row) return -1;
    return (row * 97 + col * 53) % 256;
}

static int signed_value(const void *data, int row, int col) {
    (void)data;
    return 128 + (row % 2 == 0 ? 1 : -1) * (col * 30 % 128);
}

static void percent(const void *data, int row, int col, char *out, size_t bytes) {
    int heat = causal(data, row, col);
    if (heat >= 0) snprintf(out, bytes, ".%02d", heat * 99 / 255);
}

static Heat attention(void) {
    return (Heat){.rows = WORDS,
                  .cols = WORDS,
                  .heat = causal,
                  .map = HEAT_SEQUENTIAL,
                  .cursor_row = 6,
                  .cursor_col = 2,
                  .row_label = words,
                  .col_label = words,
                  .row_axis = "queries",
                  .col_axis = "keys"};
}

static Table *small_table(void) {
    static const Column columns[] = {
        {"token", COLUMN_TEXT, ""}, {"p", COLUMN_DOUBLE, ""}, {"count", COLUMN_INT, "tokens"}, {0}};
    Table *t = table_new("next", columns);
    for (int i = 0; i < 6; i++) {
        table_add_text(t, i == 2 ? WIDE "x" : words[i]);
        table_add_real(t, 1.0 / (1 << i));
        table_add_int(t, i * i * 37);
    }
    return t;
}

static const char story[] =
    "The dogs near the cat chase bones every day. " WIDE WIDE WIDE WIDE WIDE WIDE "\xE3\x80\x82" WIDE "\n\nAnd "
    "averyveryverylongword that fits nowhere.";

static void draw_all_of(Canvas *c, Rect r, int what) {
    Heat h = attention();
    Plot p = loss_plot();
    switch (what) {
    case 0:
        draw_box(c, r, "1 train \xE2\x94\x80 all", true);
        break;
    case 1:
        draw_heat(c, r, &h);
        break;
    case 2:
        h.rows = h.cols = 100;
        h.row_label = h.col_label = NULL;
        h.cursor_row = 99, h.cursor_col = 55;
        draw_heat(c, r, &h);
        break;
    case 3:
        draw_plot(c, r, &p);
        break;
    case 4:
        p.log_y = true;
        p.cursor_x = 400;
        draw_plot(c, r, &p);
        break;
    case 5: {
        Table *t = small_table();
        draw_table(c, r, t, 1, 3);
        table_free(t);
        break;
    }
    case 6:
        draw_paragraph(c, r, story, STYLE_TEXT);
        break;
    case 7:
        draw_big(c, r, "2.535", STYLE_STRONG);
        break;
    default:
        break;
    }
}

#define SHAPES 8

/* ---- inside ---- */

static void draw_lines_of(Canvas *view, int w) {
    const double values[] = {1, 3, 2, NONE, 5, 4, 9, 7};
    draw_rule(view, 0, 0, w, STYLE_BORDER);
    draw_bar(view, 0, 0, w, 0.7, STYLE_MODEL);
    draw_pair(view, 0, 0, w, 1, 0.6, 0.9);
    draw_progress(view, 0, 0, w, 0.4, 0.8, STYLE_TEXT);
    draw_spark(view, 0, 0, w, values, 8, STYLE_TEXT);
    draw_heat_bar(view, 0, 0, w, HEAT_SEQUENTIAL, "0", "1");
}

static void check_guard(Canvas *c, int w, int h, int what) {
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            if (x >= 2 && x < 2 + w && y >= 1 && y < 1 + h) continue;
            const Cell *cell = canvas_cell(c, x, y);
            if (cell->ch != '#' || cell->role != STYLE_ERROR)
                fail_msg("shape %d at %dx%d draws outside, at (%d, %d)", what, w, h, x - 2, y - 1);
        }
}

static void draw_guarded(int w, int h, Glyphs glyphs) {
    Canvas *c = canvas_new(w + 4, h + 2, glyphs);
    for (int what = 0; what < SHAPES; what++) {
        canvas_fill(c, (Rect){0, 0, c->w, c->h}, '#', STYLE_ERROR, ATTRIBUTE_NONE);
        canvas_fill(c, (Rect){2, 1, w, h}, ' ', STYLE_TEXT, ATTRIBUTE_NONE);
        draw_all_of(c, (Rect){2, 1, w, h}, what);
        check_guard(c, w, h, what);
    }
    canvas_free(c);
    c = canvas_new(w, 1, glyphs);
    draw_lines_of(c, w); /* within W columns: else the sanitizer sees it */
    canvas_free(c);
}

static void every_shape_stays_inside(void **state) {
    (void)state;
    for (int h = 1; h <= 100; h += h < 26 ? 1 : 13)
        for (int w = 1; w <= 300; w += w < 60 ? 1 : 23)
            for (int glyphs = GLYPHS_ASCII; glyphs <= GLYPHS_BRAILLE; glyphs++) draw_guarded(w, h, (Glyphs)glyphs);
}

static void every_shape_is_ascii_on_ascii(void **state) {
    (void)state;
    Canvas *c = canvas_new(70, 22, GLYPHS_ASCII);
    for (int what = 0; what < SHAPES; what++) draw_all_of(c, (Rect){0, 0, 70, 22}, what);
    draw_lines_of(c, 70);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) assert_in_range(canvas_cell(c, x, y)->ch, ' ', '~');
    canvas_free(c);
}

static void a_rectangle_partly_outside_is_clipped(void **state) {
    (void)state;
    Canvas *c = canvas_new(20, 8, GLYPHS_HALF);
    for (int what = 0; what < SHAPES; what++) {
        draw_all_of(c, (Rect){-5, -3, 300, 100}, what);
        draw_all_of(c, (Rect){15, 5, 300, 100}, what);
        draw_all_of(c, (Rect){90, 90, 3, 3}, what);
        draw_all_of(c, (Rect){3, 3, -4, -4}, what);
    }
    canvas_free(c);
}

/* What draw_big_size says is what draw_big fills, on heat and beside it. */
static void big_digits_have_their_size(void **state) {
    (void)state;
    static const char *const texts[] = {"0.87", ".87", "+1.6 %", "-12", "cat"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int w = 1; w < 90; w += 3)
            for (int h = 1; h < 22; h++)
                for (int heat = 0; heat < 2; heat++) {
                    Canvas *c = canvas_new(w, h, GLYPHS_HALF);
                    for (int i = 0; i < w * h && heat; i++)
                        canvas_heat(c, i % w, i / w, CANVAS_HALF_UPPER, HEAT_SEQUENTIAL, 99, 99);
                    DrawnSize size = draw_big_size(c, w, h, texts[t]);
                    assert_in_range(size.w, 1, w);
                    assert_in_range(size.h, 1, h);
                    draw_big(c, (Rect){0, 0, w, h}, texts[t], STYLE_STRONG);
                    int right = 0, bottom = 0;
                    for (int i = 0; i < w * h; i++) {
                        bool drawn = size.h == 1 || !heat ? c->cell[i].role == STYLE_STRONG : c->cell[i].over;
                        if (drawn && i % w >= right) right = i % w + 1;
                        if (drawn && i / w >= bottom) bottom = i / w + 1;
                        if (heat && size.h > 1) assert_int_equal(c->cell[i].top, 99); /* the colour stays */
                    }
                    assert_int_equal(right, size.w);
                    assert_int_equal(bottom, size.h);
                    canvas_free(c);
                }
}

static void rows_that_do_not_show_are_counted(void **state) {
    (void)state;
    Canvas *c = canvas_new(40, 3, GLYPHS_HALF);
    Str got;
    str_init(&got);
    (void)draw_box(c, (Rect){0, 0, 40, 3}, "box", false);
    draw_box_more(c, (Rect){0, 0, 40, 3}, 7, 12345);
    canvas_dump(c, false, &got);
    assert_non_null(strstr(got.s, " ▴ 7 ▾ 12,345 more rows "));
    str_done(&got);
    canvas_free(c);
}

/* ---- as they must look ---- */

static void boxes_and_bars(void **state) {
    (void)state;
    const double values[] = {1, 3, 2, NONE, 5, 4, 9, 7};
    for (int glyphs = GLYPHS_ASCII; glyphs <= GLYPHS_HALF; glyphs++) {
        Canvas *c = canvas_new(44, 16, (Glyphs)glyphs);
        Rect in = draw_box(c, (Rect){0, 0, 22, 5}, "2 attention", true);
        assert_true(in.x == 1 && in.y == 1 && in.w == 20 && in.h == 3);
        draw_box(c, (Rect){22, 0, 12, 5}, "a title that is cut", false);
        draw_box(c, (Rect){34, 0, 4, 5}, "x", false);
        for (int i = 0; i <= 8; i++) draw_bar(c, 24, 5 + i, 4, i / 32.0, STYLE_MODEL);
        draw_pair(c, 0, 6, 20, 2, 0.441, 0.444);
        draw_pair(c, 0, 9, 20, 1, 0.6, 0.3);
        draw_pair(c, 0, 10, 20, 1, 0.3, 0.6);
        draw_pair(c, 0, 11, 20, 1, 0.5, NONE);
        draw_progress(c, 0, 12, 20, 0.5, 0.75, STYLE_TEXT);
        draw_spark(c, 0, 13, 20, values, 8, STYLE_SERIES_A);
        draw_spark(c, 12, 13, 4, values, 8, STYLE_SERIES_A);
        draw_heat_bar(c, 0, 14, 20, HEAT_SEQUENTIAL, "0", "1");
        draw_heat_bar(c, 0, 15, 20, HEAT_DIVERGING, "-1", "1");
        assert_looks(c, glyphs == GLYPHS_ASCII ? "bars-ascii" : "bars");
    }
}

static void heat_maps(void **state) {
    (void)state;
    Heat h = attention();
    Canvas *c = canvas_new(50, 20, GLYPHS_HALF);
    Rect r = draw_heat(c, (Rect){1, 1, 48, 18}, &h);
    assert_true(r.w == WORDS * 5 && r.h == WORDS * 2);
    assert_looks(c, "heat-large");
    c = canvas_new(24, 10, GLYPHS_HALF);
    draw_heat(c, (Rect){0, 0, 24, 10}, &h);
    assert_looks(c, "heat-narrow");
    c = canvas_new(12, 5, GLYPHS_HALF);
    draw_heat(c, (Rect){0, 0, 12, 5}, &h);
    assert_looks(c, "heat-tiny");
    c = canvas_new(40, 10, GLYPHS_ASCII);
    draw_heat(c, (Rect){0, 0, 40, 10}, &h);
    assert_looks(c, "heat-ascii");
    c = canvas_new(50, 18, GLYPHS_HALF);
    h.text = percent;
    draw_heat(c, (Rect){0, 0, 50, 18}, &h);
    assert_looks(c, "heat-numbers");
    c = canvas_new(40, 10, GLYPHS_HALF);
    c->heat_colour = false;
    h.text = NULL;
    draw_heat(c, (Rect){0, 0, 40, 10}, &h);
    assert_looks(c, "heat-shades");
}

/* Numbers that stand at some columns alone have those between for their digits. */
static void labels_between_columns_without_any(void **state) {
    (void)state;
    static const char *const numbers[24] = {[0] = "0", [8] = "8", [16] = "16"};
    Heat h = attention();
    h.rows = h.cols = 24;
    h.row_label = h.col_label = numbers;
    Canvas *c = canvas_new(28, 14, GLYPHS_HALF);
    Str got;
    str_init(&got);
    draw_heat(c, (Rect){0, 0, 28, 14}, &h);
    canvas_dump(c, false, &got);
    assert_non_null(strstr(got.s, "\n    0       8       16\n"));
    str_done(&got);
    canvas_free(c);
}

static void wide_numbers(const void *data, int row, int col, char *out, size_t bytes) {
    (void)data;
    snprintf(out, bytes, "%.*f", row % 3, 10.0 * row - 10 * col - 0.5);
}

/* Without colours a number stands alone: no glyph of the shade, no other number and no bracket touches it. */
static void numbers_touch_nothing(void **state) {
    (void)state;
    for (int cell_w = 3; cell_w <= 8; cell_w++)
        for (int cell_h = 2; cell_h <= 6; cell_h += 2) {
            Heat h = attention();
            h.text = wide_numbers;
            h.cell_w = cell_w, h.cell_h = cell_h;
            h.row_label = h.col_label = NULL;
            h.row_axis = h.col_axis = NULL;
            Canvas *c = canvas_new(cell_w * WORDS, cell_h * WORDS / 2, GLYPHS_ASCII);
            draw_heat(c, (Rect){0, 0, c->w, c->h}, &h);
            for (int y = 0; y < c->h; y++)
                for (int x = 0; x < c->w; x++) {
                    uint32_t ch = canvas_cell(c, x, y)->ch;
                    if (ch < '0' || ch > '9') continue;
                    int from = x, to = x;
                    while (from > 0 && strchr("-.0123456789", (int)canvas_cell(c, from - 1, y)->ch)) from--;
                    while (to + 1 < c->w && strchr(".0123456789", (int)canvas_cell(c, to + 1, y)->ch)) to++;
                    assert_int_equal(from / cell_w, to / cell_w);
                    if (from > 0) assert_non_null(strchr(" []", (int)canvas_cell(c, from - 1, y)->ch));
                    if (to + 1 < c->w) assert_non_null(strchr(" []", (int)canvas_cell(c, to + 1, y)->ch));
                    x = to;
                }
            canvas_free(c);
        }
}

static void heat_maps_that_scroll(void **state) {
    (void)state;
    Heat h = attention();
    h.rows = h.cols = 64;
    h.row_label = h.col_label = NULL;
    h.cursor_row = 40, h.cursor_col = 39;
    Canvas *c = canvas_new(20, 8, GLYPHS_HALF);
    draw_heat(c, (Rect){0, 0, 20, 8}, &h);
    assert_looks(c, "heat-scrolled");
    c = canvas_new(24, 6, GLYPHS_ASCII);
    h = (Heat){.rows = 4, .cols = 20, .heat = signed_value, .map = HEAT_DIVERGING, .cursor_row = -1, .cursor_col = -1};
    draw_heat(c, (Rect){0, 0, 24, 6}, &h);
    assert_looks(c, "heat-diverging");
}

/* What a click at each cell finds is what is drawn there. */
static void clicks_find_values(void **state) {
    (void)state;
    for (int h = 1; h < 30; h++)
        for (int w = 1; w < 70; w++) {
            Heat heat = attention();
            heat.rows = heat.cols = 12;
            heat.row_label = heat.col_label = NULL;
            heat.cursor_row = heat.cursor_col = -1;
            Canvas *c = canvas_new(w, h, GLYPHS_HALF);
            Rect r = draw_heat(c, (Rect){0, 0, w, h}, &heat);
            int hits = 0;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++) {
                    int row = -1, col = -1;
                    bool hit = draw_heat_at(c, (Rect){0, 0, w, h}, &heat, x, y, &row, &col);
                    assert_int_equal(hit, x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h);
                    if (!hit) continue;
                    hits++;
                    const Cell *cell = canvas_cell(c, x, y);
                    if (cell->map != HEAT_NONE && !cell->void_top) assert_int_equal(cell->top, causal(NULL, row, col));
                }
            assert_int_equal(hits, r.w * r.h);
            canvas_free(c);
        }
}

static void paragraphs_tables_digits(void **state) {
    (void)state;
    Canvas *c = canvas_new(60, 24, GLYPHS_HALF);
    int rows = draw_paragraph(c, (Rect){0, 0, 16, 24}, story, STYLE_TEXT);
    assert_int_equal(rows, draw_paragraph_rows(16, story));
    Table *t = small_table();
    draw_table(c, (Rect){20, 0, 30, 5}, t, 1, 3);
    draw_table(c, (Rect){20, 6, 14, 3}, t, 0, -1);
    assert_int_equal(draw_table_from(c, (Rect){36, 6, 11, 3}, t, 0, 1, -1), 1);
    table_free(t);
    draw_big(c, (Rect){20, 10, 40, 6}, "2.535", STYLE_STRONG);
    draw_big(c, (Rect){20, 16, 18, 3}, "-0.17", STYLE_MODEL);
    draw_big(c, (Rect){20, 20, 6, 1}, "12,345", STYLE_MODEL);
    draw_big(c, (Rect){20, 22, 20, 6}, "words", STYLE_MODEL);
    assert_looks(c, "text");
}

static void lines_are_broken_by_columns(void **state) {
    (void)state;
    for (int columns = 1; columns < 40; columns++) {
        const char *s = story;
        while (*s != '\0') {
            size_t next = 0, bytes = draw_wrap(s, columns, &next);
            char line[200];
            assert_true(next > 0 && bytes < sizeof line);
            memcpy(line, s, bytes);
            line[bytes] = '\0';
            Canvas *c = canvas_new(columns < 2 ? 2 : columns, 1, GLYPHS_HALF);
            canvas_text(c, 0, 0, -1, line, STYLE_TEXT, 0);
            canvas_free(c);
            bool trailing = bytes > 0 && s[bytes - 1] == ' ' && s[bytes] != '\n' && s[bytes] != '\0';
            assert_false(trailing);
            s += next;
        }
    }
    size_t next = 0;
    assert_int_equal(draw_wrap("the dogs", 5, &next), 3);
    assert_int_equal(next, 4);
    assert_int_equal(draw_wrap("the dogs", 8, &next), 8);
    assert_int_equal(draw_wrap("thedogs", 4, &next), 4);
    assert_int_equal(draw_wrap(WIDE WIDE WIDE, 5, &next), 6);
    assert_int_equal(draw_wrap(WIDE "（" WIDE, 5, &next), 3);           /* what opens ends no line */
    assert_int_equal(draw_wrap(WIDE WIDE "，" WIDE, 5, &next), 3);      /* what closes begins none */
    assert_int_equal(draw_wrap(WIDE WIDE "\xE3\x80\x82", 4, &next), 3); /* the full stop takes a character along */
    assert_int_equal(draw_wrap(WIDE, 1, &next), 3);
    assert_int_equal(draw_wrap("a\nb", 9, &next), 1);
    assert_int_equal(next, 2);
    assert_int_equal(draw_paragraph_rows(0, "abc"), 0);
}

/* What of a text has no room is not left out in silence. */
static void paragraphs_say_where_they_are_cut(void **state) {
    (void)state;
    static const struct {
        int w, h;
        const char *ending, *want;
    } cases[] = {{8, 2, NULL, "the dogs\nnear…\n"},
                 {8, 3, NULL, "the dogs\nnear the\ncat\n"},
                 {12, 1, "… more", "the… more\n"},
                 {4, 1, "… more", "the\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Canvas *c = canvas_new(cases[i].w, cases[i].h, GLYPHS_HALF);
        Rect all = {0, 0, c->w, c->h};
        const char *text = "the dogs near the cat \n";
        Str got;
        str_init(&got);
        if (cases[i].ending)
            draw_paragraph_ending(c, all, text, STYLE_TEXT, cases[i].ending);
        else
            draw_paragraph(c, all, text, STYLE_TEXT);
        canvas_dump(c, false, &got);
        assert_string_equal(got.s, cases[i].want);
        str_done(&got);
        canvas_free(c);
    }
}

/* The glyphs from the least to the greatest heat, each once. */
static void assert_ramp(Glyphs glyphs, HeatMap map, const char *want) {
    Canvas *c = canvas_new(1, 1, glyphs);
    Str got;
    uint32_t before = 0;
    str_init(&got);
    for (int heat = 0; heat < 256; heat++) {
        uint32_t ch = draw_heat_glyph(c, map, (uint8_t)heat);
        if (ch != before) str_add_code(&got, ch);
        before = ch;
    }
    assert_string_equal(got.s, want);
    str_done(&got);
    canvas_free(c);
}

/* No glyph stands for a value above and one below zero. */
static void ramps_rise(void **state) {
    (void)state;
    assert_ramp(GLYPHS_ASCII, HEAT_SEQUENTIAL, " .:-=+*#%@");
    assert_ramp(GLYPHS_ASCII, HEAT_DIVERGING, "Oo~;, .:-=+*#%@");
    assert_ramp(GLYPHS_HALF, HEAT_SEQUENTIAL, " \xE2\x96\x91\xE2\x96\x92\xE2\x96\x93\xE2\x96\x88");
    assert_ramp(GLYPHS_HALF, HEAT_DIVERGING,
                "\xE2\x96\xA4\xE2\x89\xA1=\xE2\x94\x80 \xE2\x96\x91\xE2\x96\x92\xE2\x96\x93\xE2\x96\x88");
}

int main(void) {
    const struct CMUnitTest tests_of_draw[] = {
        cmocka_unit_test(every_shape_stays_inside),
        cmocka_unit_test(every_shape_is_ascii_on_ascii),
        cmocka_unit_test(a_rectangle_partly_outside_is_clipped),
        cmocka_unit_test(big_digits_have_their_size),
        cmocka_unit_test(rows_that_do_not_show_are_counted),
        cmocka_unit_test(boxes_and_bars),
        cmocka_unit_test(heat_maps),
        cmocka_unit_test(numbers_touch_nothing),
        cmocka_unit_test(labels_between_columns_without_any),
        cmocka_unit_test(heat_maps_that_scroll),
        cmocka_unit_test(clicks_find_values),
        cmocka_unit_test(paragraphs_tables_digits),
        cmocka_unit_test(lines_are_broken_by_columns),
        cmocka_unit_test(paragraphs_say_where_they_are_cut),
        cmocka_unit_test(ramps_rise),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests_of_draw, NULL, NULL);
}
