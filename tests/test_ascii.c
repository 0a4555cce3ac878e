/* Signs as ASCII words and cells. */
#include "expect.h"

#include "ascii.h"
#include "canvas.h"

#include <string.h>

static void assert_words(const char *text, const char *want) {
    Str got;
    str_init(&got);
    ascii_words(text, &got);
    assert_string_equal(got.s, want);
    str_done(&got);
}

static void signs_become_words(void **state) {
    (void)state;
    assert_words("KL(truth\u2016model) 0.02", "KL(truth||model) 0.02");
    assert_words("\u03A3 exp \u00F7 \u221A16", "sum exp \u00F7 sqrt(16)");
    assert_words("\u221Ahead_dim, \u221A(a) \u221A", "sqrt(head_dim), sqrt (a) sqrt ");
    assert_words("\u03C4 0.70 \u2265 \u2212\u221E",
                 "tau 0.70 >= \u2212inf"); /* a sign of one cell is left to the cell */
    assert_words("dogs \u2192 cat\u2026", "dogs -> cat...");
    assert_words("plain \xFF\xE4\xB8\xAD", "plain \xFF\xE4\xB8\xAD");
    assert_words("", "");
}

static void every_cell_is_ascii(void **state) {
    (void)state;
    static const char signs[] = "\u00B7.\u26A0!\u2212-\u2016|\u2713v\u2588#\u2591.\u2500-\u253C+\u25B8>\u00B5u\u1D62i";
    for (uint32_t ch = 0x20; ch < 0x30000; ch++) assert_in_range(ascii_cell(ch), ch == 0x7F ? 0 : ' ', '~');
    Canvas *c = canvas_new(1, 1, GLYPHS_ASCII);
    for (const char *s = signs; *s;) {
        int bytes = 1;
        while (((unsigned char)s[bytes] & 0xC0) == 0x80) bytes++;
        char sign[8] = "";
        memcpy(sign, s, (size_t)bytes);
        canvas_text(c, 0, 0, -1, sign, STYLE_TEXT, ATTRIBUTE_NONE);
        assert_int_equal(canvas_cell(c, 0, 0)->ch, s[bytes]);
        s += bytes + 1;
    }
    canvas_free(c);
}

/* Words where there is room for all of them, else a cell for each sign: nothing is cut because it became longer. */
static void words_need_room(void **state) {
    (void)state;
    static const struct {
        int columns;
        const char *want;
    } rows[] = {{20, "KL(t||m) sqrt(16)\n"}, {17, "KL(t||m) sqrt(16)\n"}, {16, "KL(t|m) V16\n"}, {11, "KL(t|m) V16\n"}};
    Canvas *c = canvas_new(20, 1, GLYPHS_ASCII);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Str got;
        str_init(&got);
        canvas_clear(c);
        int used = canvas_text(c, 0, 0, rows[i].columns, "KL(t\u2016m) \u221A16", STYLE_TEXT, CANVAS_ELLIPSIS);
        canvas_dump(c, false, &got);
        assert_string_equal(got.s, rows[i].want);
        assert_int_equal(used, strlen(rows[i].want) - 1);
        str_done(&got);
    }
    assert_int_equal(canvas_columns(c, "KL(t\u2016m) \u221A16"), 17);
    canvas_free(c);
    c = canvas_new(20, 1, GLYPHS_HALF);
    assert_int_equal(canvas_columns(c, "KL(t\u2016m) \u221A16"), 11);
    canvas_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_become_words),
        cmocka_unit_test(every_cell_is_ascii),
        cmocka_unit_test(words_need_room),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
