/* What terminals say of their ground, and which theme that makes. */
#include "expect.h"

#include "ground.h"

#include <string.h>

static GroundMatch match(const char *answer) {
    return ground_match(answer, (int)strlen(answer));
}

static void answers_of_all_lengths(void **state) {
    (void)state;
    static const struct {
        const char *answer;
        int32_t rgb;
    } rows[] = {
        {"11;rgb:0000/0000/0000", 0x000000},
        {"11;rgb:ffff/FFFF/ffff", 0xFFFFFF},
        {"11;rgb:1a/2B/3c", 0x1A2B3C},
        {"11;rgb:f/0/8", 0xFF0088},
        {"11;rgb:fff/000/800", 0xFF007F},
        {"11;rgb:8000/0/ff", 0x7F00FF},
        {"11;rgba:ffff/8000/0000/7fff", 0xFF7F00},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = (int)strlen(rows[i].answer);
        assert_int_equal(ground_match(rows[i].answer, n), GROUND_WHOLE);
        assert_int_equal(ground_colour(rows[i].answer, n), rows[i].rgb);
        for (int part = 0; part < n; part++) assert_int_not_equal(ground_match(rows[i].answer, part), GROUND_OTHER);
    }
}

static void what_is_no_answer(void **state) {
    (void)state;
    assert_int_equal(match("11;rgb:ffff/ffff/"), GROUND_PART);
    assert_int_equal(match("11;rgb:ffff/ffff"), GROUND_PART);
    static const char *const others[] = {
        "10;rgb:ff/ff/ff", "11;?",          "11;#ffffff",         "11;rgb:/", "11;rgb:ff//",
        "11;rgb:fffff",    "11;rgb:ff/gg/", "11;rgb:ff/ff/ff/ff", "q",        "11;rgba:f/f/f/f/"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_int_equal(match(others[i]), GROUND_OTHER);
}

static void themes_by_lightness(void **state) {
    (void)state;
    static const int32_t dark[] = {0x000000, 0x002B36, 0x282C34, 0x300A24, 0x0000FF, 0x505050};
    static const int32_t light[] = {0xFFFFFF, 0xFDF6E3, 0xEEE8D5, 0xFFFFDD, 0xC0C0C0, 0x00FF00};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(ground_theme(dark[i]), THEME_DARK);
        assert_int_equal(ground_theme(light[i]), THEME_LIGHT);
    }
}

static void hints(void **state) {
    (void)state;
    ThemeName t = THEME_COUNT;
    assert_true(ground_hint("0;15", &t) && t == THEME_LIGHT);
    assert_true(ground_hint("15;0", &t) && t == THEME_DARK);
    assert_true(ground_hint("12;default;7", &t) && t == THEME_LIGHT);
    assert_true(ground_hint("12;8", &t) && t == THEME_DARK);
    t = THEME_COUNT;
    static const char *const empty[] = {NULL, "", "15", "15;", "0;default", "0;16", "0;-1"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) assert_false(ground_hint(empty[i], &t));
    assert_int_equal(t, THEME_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_all_lengths),
        cmocka_unit_test(what_is_no_answer),
        cmocka_unit_test(themes_by_lightness),
        cmocka_unit_test(hints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
