#include "expect.h"

#include "mem.h"
#include "rng.h"
#include "str.h"
#include "utf8.h"

#include <string.h>

static void every_scalar_value_survives_the_way_there_and_back(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x110000; code++) {
        char bytes[4];
        uint32_t back = 0;
        int expected = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) expected = 0;
        int n = utf8_encode(code, bytes);
        if (n != expected) fail_msg("U+%04X takes %d bytes", (unsigned)code, n);
        if (n == 0) continue;
        if (utf8_decode(bytes, (size_t)n, &back) != n || back != code) fail_msg("U+%04X", (unsigned)code);
        if (utf8_decode(bytes, (size_t)n - 1 ? (size_t)n - 1 : 1, &back) != (n == 1))
            fail_msg("a part of U+%04X was taken", (unsigned)code);
    }
}

static void bytes_that_are_not_utf8_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "\xfe",
        "\xc3",
        "\xc3(",
        "\xe4\xb8",
        "\xe4\xb8(",
        "\xf0\x9f\x98",
    };
    uint32_t code;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(utf8_decode(bad[i], strlen(bad[i]), &code), 0);
}

static void the_first_bad_byte_is_found(void **state) {
    (void)state;
    size_t at = 99;
    assert_true(utf8_valid("", 0, &at));
    assert_true(utf8_valid("a\0b", 3, &at));
    assert_int_equal(at, 99);
    assert_false(utf8_valid("\xe4\xb8\xad\xc3\xa9\xff"
                            "a",
                            7, &at));
    assert_int_equal(at, 5);
    assert_false(utf8_valid("\xe4\xb8\xad", 2, NULL));
}

static void widths_are_those_of_terminals(void **state) {
    (void)state;
    static const struct {
        uint32_t code;
        int width;
    } row[] = {
        {'a', 1},    {' ', 1},      {0, 0},      {'\n', 0},   {0x7f, 0},   {0x9b, 0},    {0xa0, 1},    {0xad, 1},
        {0xe9, 1},   {0x301, 0},    {0x200b, 0}, {0x200d, 0}, {0xfe0f, 0}, {0x3042, 2},  {0x4e2d, 2},  {0xff21, 2},
        {0xff71, 1}, {0xac00, 2},   {0x1100, 2}, {0x1161, 0}, {0xd7b0, 0}, {0x1f600, 2}, {0x1f468, 2}, {0x2580, 1},
        {0x2588, 1}, {0x2500, 1},   {0x25cf, 1}, {0x2423, 1}, {0x23ce, 1}, {0x21e5, 1},  {0x2400, 1},  {0x25cc, 1},
        {0xfffd, 1}, {0x3000, 2},   {0x93e, 1},  {0x903, 1},  {0x600, 1},  {0x378, 1},   {0xe000, 1},  {0x10ffff, 1},
        {0xd800, 1}, {0x110000, 1}, {0x2026, 1}, {0x221a, 1}, {0x2802, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (utf8_width(row[i].code) != row[i].width)
            fail_msg("U+%04X has width %d", (unsigned)row[i].code, utf8_width(row[i].code));
}

static void no_character_is_wider_than_two(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x110000; code++) {
        int width = utf8_width(code);
        if (width < 0 || width > 2) fail_msg("U+%04X has width %d", (unsigned)code, width);
    }
}

static void columns_are_added_up(void **state) {
    (void)state;
    assert_int_equal(utf8_columns(""), 0);
    assert_int_equal(utf8_columns("cow"), 3);
    assert_int_equal(utf8_columns("\xe4\xb8\xad\xe6\x96\x87"), 4);
    assert_int_equal(utf8_columns("e\xcc\x81"), 1);
    assert_int_equal(utf8_columns("\xff\xe4\xb8"), 3);
}

/* A text of letters, wide characters, combining marks and broken bytes. */
static void random_text(Rng *r, char *text, size_t pieces) {
    static const char *const piece[] = {"a",    " ",        "\xc3\xa9", "\xe4\xb8\xad", "\xcc\x81", "\xf0\x9f\x98\x80",
                                        "\xff", "\xe4\xb8", "\t",       "\xe2\x80\x8d"};
    *text = '\0';
    for (size_t i = 0; i < pieces; i++) strcat(text, piece[rng_below(r, sizeof piece / sizeof *piece)]);
}

static void what_fits_is_the_longest_whole_prefix(void **state) {
    (void)state;
    assert_int_equal(utf8_fit("\xe4\xb8\xad\xe6\x96\x87", 3), 3);
    assert_int_equal(utf8_fit("e\xcc\x81x", 1), 3);
    assert_int_equal(utf8_fit("abc", 0), 0);
    assert_int_equal(utf8_fit("abc", -1), 0);
    assert_int_equal(utf8_fit("abc", 100), 3);
    Rng r = rng_at(1, "test.fit", 0);
    for (int i = 0; i < 2000; i++) {
        char text[100], prefix[100];
        random_text(&r, text, 12);
        for (int columns = 0; columns < 26; columns++) {
            size_t n = utf8_fit(text, columns);
            memcpy(prefix, text, n);
            prefix[n] = '\0';
            assert_true(utf8_columns(prefix) <= columns);
            if (text[n] == '\0') continue;
            uint32_t code;
            int next = utf8_decode(text + n, strlen(text + n), &code);
            assert_true(utf8_columns(prefix) + (next ? utf8_width(code) : 1) > columns);
        }
    }
}

static void assert_shown(const char *s, size_t len, bool plain, const char *expected) {
    Str out;
    str_init(&out);
    utf8_show(&out, s, len, plain);
    assert_string_equal(out.s, expected);
    str_done(&out);
}

static void spaces_and_controls_become_marks(void **state) {
    (void)state;
    assert_shown("the cow", 7, true, "the cow");
    assert_shown(" the cow", 8, false,
                 "\xe2\x90\xa3the\xe2\x90\xa3"
                 "cow");
    for (int plain = 0; plain < 2; plain++) {
        assert_shown("a\nb\t\r\0\x1b\x7f", 9 - 1, plain,
                     "a\xe2\x8f\x8e"
                     "b\xe2\x87\xa5\xe2\x90\x8d\xe2\x90\x80\xe2\x90\x9b\xe2\x90\xa1");
        assert_shown("\xc2\x9b", 2, plain, "<U+009B>");
        assert_shown("\xe2\x80\xa8", 3, plain, "\xe2\x8f\x8e");
    }
}

static void bytes_that_are_not_utf8_are_shown_in_hexadecimal(void **state) {
    (void)state;
    assert_shown("a\xff\xe4\xb8", 4, true, "a<ff><e4><b8>");
    assert_shown("\xed\xa0\x80", 3, true, "<ed><a0><80>");
}

static void characters_without_a_picture_vanish_or_are_named(void **state) {
    (void)state;
    assert_shown("\xe2\x9d\xa4\xef\xb8\x8f", 6, true, "\xe2\x9d\xa4");
    assert_shown("\xe2\x9d\xa4\xef\xb8\x8f", 6, false, "\xe2\x9d\xa4<U+FE0F>");
    assert_shown("a\xe2\x80\x8d"
                 "b",
                 5, true, "ab");
    assert_shown("\xe2\x80\xae"
                 "abc",
                 6, true, "abc");
    assert_shown("\xe2\x80\xae"
                 "abc",
                 6, false, "<U+202E>abc");
    assert_shown("a\xc2\xad"
                 "b",
                 4, true, "ab");
    assert_shown("\xef\xbb\xbf"
                 "a",
                 4, true, "a");
    assert_shown("\xd8\x80", 2, true, "\xd8\x80"); /* a sign around Arabic numbers does have a picture */
}

static void characters_nobody_knows_are_replaced(void **state) {
    (void)state;
    assert_shown("\xcd\xb8", 2, true, "\xef\xbf\xbd");
    assert_shown("\xee\x80\x80", 3, true, "\xef\xbf\xbd");
    assert_shown("\xf4\x8f\xbf\xbf", 4, false, "\xef\xbf\xbd");
}

static void a_combining_mark_alone_gets_a_circle(void **state) {
    (void)state;
    assert_shown("e\xcc\x81\xcc\x88", 5, true, "e\xcc\x81\xcc\x88");
    assert_shown("\xcc\x81\xcc\x88", 4, true, "\xe2\x97\x8c\xcc\x81\xcc\x88");
    assert_shown("\n\xcc\x81", 3, true, "\xe2\x8f\x8e\xe2\x97\x8c\xcc\x81");
    assert_shown("\xff\xcc\x81", 3, true, "<ff>\xe2\x97\x8c\xcc\x81");
    assert_shown(" \xcc\x81", 3, false, "\xe2\x90\xa3\xe2\x97\x8c\xcc\x81");
    Str out;
    str_init(&out);
    str_add(&out, "|");
    utf8_show(&out, "\xcc\x81", 2, true); /* must not sit on the border before it */
    assert_string_equal(out.s, "|\xe2\x97\x8c\xcc\x81");
    str_done(&out);
}

/* Any bytes: what comes out is one line of UTF-8 without controls, and showing it again changes nothing. */
static void what_is_shown_can_go_to_any_terminal(void **state) {
    (void)state;
    Rng r = rng_at(2, "test.show", 0);
    Str once, twice;
    str_init(&once);
    str_init(&twice);
    for (int i = 0; i < 20000; i++) {
        char bytes[24];
        size_t len = rng_below(&r, sizeof bytes);
        if (i % 2) {
            for (size_t k = 0; k < len; k++) bytes[k] = (char)rng_next(&r);
        } else {
            char code[4];
            size_t n = 0;
            while (n + 4 <= len) {
                int size = utf8_encode((uint32_t)rng_below(&r, rng_below(&r, 2) ? 0x3000 : 0x110000), code);
                memcpy(bytes + n, code, (size_t)size);
                n += (size_t)size;
            }
            len = n;
        }
        str_clear(&once);
        str_clear(&twice);
        utf8_show(&once, bytes, len, i % 4 < 2);
        assert_int_equal(strlen(once.s), once.len);
        assert_true(utf8_valid(once.s, once.len, NULL));
        for (size_t k = 0; k < once.len;) {
            uint32_t c;
            k += (size_t)utf8_decode(once.s + k, once.len - k, &c);
            assert_true(c >= ' ' && c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x200d && c != 0x202e);
        }
        utf8_show(&twice, once.s, once.len, true);
        assert_string_equal(once.s, twice.s);
    }
    str_done(&once);
    str_done(&twice);
}

static void letters_and_marks_are_composed_where_unicode_has_them(void **state) {
    (void)state;
    assert_int_equal(utf8_compose('e', 0x301), 0xE9);
    assert_int_equal(utf8_compose('u', 0x308), 0xFC);
    assert_int_equal(utf8_compose('q', 0x301), 0);
    assert_int_equal(utf8_compose('e', 0x200D), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_value_survives_the_way_there_and_back),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(the_first_bad_byte_is_found),
        cmocka_unit_test(widths_are_those_of_terminals),
        cmocka_unit_test(no_character_is_wider_than_two),
        cmocka_unit_test(columns_are_added_up),
        cmocka_unit_test(what_fits_is_the_longest_whole_prefix),
        cmocka_unit_test(spaces_and_controls_become_marks),
        cmocka_unit_test(bytes_that_are_not_utf8_are_shown_in_hexadecimal),
        cmocka_unit_test(characters_without_a_picture_vanish_or_are_named),
        cmocka_unit_test(characters_nobody_knows_are_replaced),
        cmocka_unit_test(a_combining_mark_alone_gets_a_circle),
        cmocka_unit_test(what_is_shown_can_go_to_any_terminal),
        cmocka_unit_test(letters_and_marks_are_composed_where_unicode_has_them),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
