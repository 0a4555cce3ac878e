/* Key names: what is written can be read back, and nothing else is read. */
#include "expect.h"

#include "key.h"

#include <string.h>

static void assert_name(Key k, const char *name) {
    char text[32];
    Key back = 0;
    assert_int_equal(key_label(k, text, sizeof text), strlen(name));
    assert_string_equal(text, name);
    assert_int_equal(key_parse(name, &back), strlen(name));
    assert_int_equal(back, k);
}

static void names_are_as_the_help_writes_them(void **state) {
    (void)state;
    assert_name('q', "q");
    assert_name('<', "<lt>");
    assert_name(' ', "<Space>");
    assert_name(0x4E2D, "\xE4\xB8\xAD");
    assert_name(KEYCODE_TAB, "<Tab>");
    assert_name(KEYCODE_BACK_TAB, "<S-Tab>");
    assert_name(KEYCODE_UP, "<Up>");
    assert_name(KEYCODE_PAGE_DOWN, "<PageDown>");
    assert_name(KEYCODE_CTRL | 'p', "<C-p>");
    assert_name(KEYCODE_CTRL | ' ', "<C-Space>");
    assert_name(KEYCODE_CTRL | '\\', "<C-\\>");
    assert_name(KEYCODE_F1, "<F1>");
    assert_name(KEYCODE_F12, "<F12>");
}

static void every_key_is_read_back(void **state) {
    (void)state;
    for (Key k = 0x21; k < 0x3000; k++) {
        char text[32];
        Key back = 0;
        if (k == 0x7F) k = 0xA1;
        size_t n = key_label(k, text, sizeof text);
        assert_int_equal(key_parse(text, &back), n);
        assert_int_equal(back, k);
    }
    for (Key k = KEYCODE_UP; k <= KEYCODE_F12; k++) {
        char text[32];
        Key back = 0;
        assert_true(key_label(k, text, sizeof text) > 2);
        assert_int_equal(key_parse(text, &back), strlen(text));
        assert_int_equal(back, k);
    }
    for (char letter = 'a'; letter <= 'z'; letter++) {
        char text[32];
        Key back = 0;
        key_label(KEYCODE_CTRL | (Key)letter, text, sizeof text);
        assert_int_equal(key_parse(text, &back), 5);
        assert_int_equal(back, KEYCODE_CTRL | (Key)letter);
    }
}

static void one_name_is_read_at_a_time(void **state) {
    (void)state;
    const char *s = "a<C-P> <up><lt>< x";
    const Key want[] = {'a', KEYCODE_CTRL | 'p', ' ', KEYCODE_UP, '<', '<', ' ', 'x'};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        Key k = 0;
        s += key_parse(s, &k);
        assert_int_equal(k, want[i]);
    }
    assert_string_equal(s, "");
}

static void what_is_no_name_is_refused(void **state) {
    (void)state;
    Key k = 'k';
    assert_int_equal(key_parse("", &k), 0);
    assert_int_equal(key_parse("<Foo>", &k), 0);
    assert_int_equal(key_parse("<F13>", &k), 0);
    assert_int_equal(key_parse("<C-ab>", &k), 0);
    assert_int_equal(key_parse("\x01", &k), 0);
    assert_int_equal(key_parse("\xFF", &k), 0);
    assert_int_equal(k, 'k');
    assert_int_equal(key_parse("<", &k), 1);
    assert_int_equal(k, '<');
    assert_int_equal(key_parse("<>", &k), 1);
}

static void a_short_buffer_is_not_overrun(void **state) {
    (void)state;
    char text[4] = {'x', 'x', 'x', 'x'};
    assert_int_equal(key_label(KEYCODE_PAGE_UP, text, 3), strlen("<PageUp>"));
    assert_string_equal(text, "<P");
    assert_int_equal(text[3], 'x');
    assert_int_equal(key_label(0x7FFFFFFF, text, sizeof text), 0);
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_as_the_help_writes_them), cmocka_unit_test(every_key_is_read_back),
        cmocka_unit_test(one_name_is_read_at_a_time),        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(a_short_buffer_is_not_overrun),     cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
