#include "expect.h"

#include "mem.h"
#include "rng.h"
#include "str.h"

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void an_empty_text_needs_no_memory(void **state) {
    (void)state;
    size_t before = mem_count().allocations;
    Str t;
    str_init(&t);
    assert_string_equal(t.s, "");
    str_add(&t, "");
    str_clear(&t);
    str_done(&t);
    str_done(&t);
    assert_int_equal(mem_count().allocations, before);
}

static void pieces_are_added(void **state) {
    (void)state;
    Str t;
    str_init(&t);
    str_add(&t, "a");
    str_add_n(&t, "bcd", 2);
    str_add_char(&t, '!');
    str_add_code(&t, 0x4e2d);
    str_addf(&t, "%s=%d", "x", 12);
    str_add_repeat(&t, '-', 3);
    assert_string_equal(t.s, "abc!\xe4\xb8\xadx=12---");
    assert_int_equal(t.len, strlen(t.s));
    str_truncate(&t, 3);
    assert_string_equal(t.s, "abc");
    str_clear(&t);
    assert_string_equal(t.s, "");
    str_done(&t);
}

static void a_text_may_hold_nul(void **state) {
    (void)state;
    Str t;
    str_init(&t);
    str_add_n(&t, "a\0b", 3);
    str_add_char(&t, '\0');
    assert_int_equal(t.len, 4);
    assert_memory_equal(t.s, "a\0b\0", 5);
    str_done(&t);
}

static void a_text_grows_far(void **state) {
    (void)state;
    Str t;
    str_init(&t);
    for (int i = 0; i < 30000; i++) str_addf(&t, "%d,", i % 10);
    assert_int_equal(t.len, 60000);
    for (int i = 0; i < 30000; i++) assert_true(t.s[2 * i] == '0' + i % 10 && t.s[2 * i + 1] == ',');
    assert_int_equal(t.s[60000], 0);
    str_done(&t);
}

static void a_reserve_is_used(void **state) {
    (void)state;
    Str t;
    str_init(&t);
    str_add(&t, "head");
    assert_true(str_try_reserve(&t, 5000));
    assert_string_equal(t.s, "head");
    size_t before = mem_count().allocations;
    for (int i = 0; i < 5000; i++) str_add_char(&t, 'x');
    assert_int_equal(mem_count().allocations, before);
    mem_set_limit(10000);
    assert_false(str_try_reserve(&t, 20000));
    mem_set_limit(0);
    assert_false(str_try_reserve(&t, SIZE_MAX - 5));
    assert_int_equal(t.len, 5004);
    str_done(&t);
}

static void a_taken_text_is_the_callers(void **state) {
    (void)state;
    Str t;
    str_init(&t);
    char *nothing = str_take(&t);
    assert_string_equal(nothing, "");
    mem_free(nothing);
    str_add(&t, "mine");
    char *s = str_take(&t);
    assert_string_equal(s, "mine");
    assert_string_equal(t.s, "");
    str_add(&t, "again");
    assert_string_equal(t.s, "again");
    mem_free(s);
    str_done(&t);
}

/* Numbers as texts. */

static const char *text_of(double x) {
    static char text[400];
    Str t;
    str_init(&t);
    str_add_double(&t, x);
    snprintf(text, sizeof text, "%s", t.s);
    str_done(&t);
    return text;
}

static const char *text_of_float(float x) {
    static char text[400];
    Str t;
    str_init(&t);
    str_add_float(&t, x);
    snprintf(text, sizeof text, "%s", t.s);
    str_done(&t);
    return text;
}

static void numbers_look_as_people_write_them(void **state) {
    (void)state;
    static const struct {
        double x;
        const char *text;
    } row[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1, "-1"},
        {10, "10"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100000, "100000"},
        {123456.789, "123456.789"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {0.00001, "1e-05"},
        {1e-7, "1e-07"},
        {1.5e-7, "1.5e-07"},
        {1e15, "1000000000000000"},
        {1234567890123456, "1234567890123456"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {9007199254740992, "9007199254740992"},
        {9.5367431640625e-07, "9.5367431640625e-07"},
        {0x1p-44, "5.684341886080802e-14"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {M_PI, "3.141592653589793"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) assert_string_equal(text_of(row[i].x), row[i].text);
    assert_string_equal(text_of((double)NAN), "nan");
    assert_string_equal(text_of(-(double)NAN), "nan");
    assert_string_equal(text_of((double)INFINITY), "inf");
    assert_string_equal(text_of(-(double)INFINITY), "-inf");
}

static void floats_look_as_people_write_them(void **state) {
    (void)state;
    static const struct {
        float x;
        const char *text;
    } row[] = {
        {0.1f, "0.1"},
        {1.0f / 3, "0.33333334"},
        {16777216.0f, "16777216"},
        {123456789.0f, "123456790"},
        {1e10f, "10000000000"},
        {3.4028235e38f, "3.4028235e+38"},
        {1.1754944e-38f, "1.1754944e-38"},
        {1e-45f, "1e-45"},
        {-0.7f, "-0.7"},
        {0x1p-24f, "5.9604645e-08"},
        {9.5367432e-07f, "9.536743e-07"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) assert_string_equal(text_of_float(row[i].x), row[i].text);
    assert_string_equal(text_of_float(NAN), "nan");
    assert_string_equal(text_of_float(-INFINITY), "-inf");
}

/* A number of every kind: any bits, whole numbers, short decimals, powers of two and their neighbours. */
static double some_double(Rng *r) {
    uint64_t bits = rng_next(r);
    double x;
    switch (rng_below(r, 4)) {
    case 0:
        memcpy(&x, &bits, sizeof x);
        return x;
    case 1:
        return (double)(int64_t)bits;
    case 2:
        return (double)rng_below(r, 1000000) / (double)(1 + rng_below(r, 1000));
    default:
        x = ldexp(1, (int)rng_below(r, 2098) - 1074);
        return rng_below(r, 2) ? x : nextafter(x, 0);
    }
}

/* Whether some decimal with one digit less reads back X: the nearest one or a neighbour of it. */
static bool shorter_exists(double x, bool single) {
    char shortest[400], text[40];
    snprintf(shortest, sizeof shortest, "%s", single ? text_of_float((float)x) : text_of(x));
    int digits = 0, significant = 0;
    for (const char *c = shortest; *c && *c != 'e'; c++) {
        if (*c < '0' || *c > '9' || (*c == '0' && digits == 0)) continue;
        digits++;
        if (*c != '0') significant = digits;
    }
    if (significant < 2) return false;
    snprintf(text, sizeof text, "%.*e", significant - 2, x);
    double nearest = strtod(text, NULL);
    double unit = pow(10, floor(log10(fabs(nearest))) - (significant - 2));
    for (int k = -1; k <= 1; k++) {
        snprintf(text, sizeof text, "%.*e", significant - 2, nearest + k * unit);
        if (single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x) return true;
    }
    return false;
}

static void every_double_reads_back_from_its_shortest_text(void **state) {
    (void)state;
    Rng r = rng_at(1, "test.double", 0);
    for (int i = 0; i < 50000; i++) {
        double x = some_double(&r), back;
        if (isnan(x)) continue;
        const char *text = text_of(x);
        assert_true(str_to_double(text, &back));
        assert_memory_equal(&back, &x, sizeof x);
        assert_true(strtod(text, NULL) == x);
        if (isfinite(x) && x != 0 && shorter_exists(x, false)) fail_msg("%a has a shorter text than %s", x, text_of(x));
    }
}

static void every_float_reads_back_from_its_shortest_text(void **state) {
    (void)state;
    Rng r = rng_at(2, "test.float", 0);
    for (int i = 0; i < 50000; i++) {
        uint32_t bits = (uint32_t)rng_next(&r);
        if (rng_below(&r, 4) == 0) bits &= 0xff800000; /* a power of two */
        float x;
        memcpy(&x, &bits, sizeof x);
        if (isnan(x)) continue;
        float back = strtof(text_of_float(x), NULL);
        assert_memory_equal(&back, &x, sizeof x);
        if (isfinite(x) && x != 0 && shorter_exists((double)x, true))
            fail_msg("%a has a shorter text than %s", (double)x, text_of_float(x));
    }
}

static void texts_that_are_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double x;
    } row[] = {
        {"1", 1},
        {"+1", 1},
        {"-1.5", -1.5},
        {"1.", 1},
        {".5", .5},
        {"1e3", 1000},
        {"1E3", 1000},
        {"1e+3", 1000},
        {"1.25e-2", .0125},
        {"0", 0},
        {"007", 7},
        {"1e-999", 0},
        {"0e999999999999999999999", 0},
        {"1e-99999999999999999999", 0},
        {"0.1", 0.1},
        {"inf", HUGE_VAL},
        {"-inf", -HUGE_VAL},
        {"+inf", HUGE_VAL},
        {"17976931348623157"
         "0000000000"
         "0000000000"
         "0000000000",
         1.7976931348623157e46},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double x = 99;
        if (!str_to_double(row[i].text, &x) || x != row[i].x) fail_msg("%s was read as %g", row[i].text, x);
    }
    double x = 0;
    assert_true(str_to_double("nan", &x) && isnan(x));
    assert_true(str_to_double("-0", &x) && x == 0 && signbit(x));
}

static void texts_that_are_no_numbers(void **state) {
    (void)state;
    static const char *const text[] = {"",       " ",        "1 ",    " 1",     "1x",   "0x10",  "1e",  "1e+",
                                       "e5",     ".",        "-",     "+",      "--1",  "1.2.3", "1,5", "1_0",
                                       "nan(1)", "infinity", "1e999", "-1e999", "1e5.", "NaN",   "Inf", "-nan",
                                       "1d5",    "1e5e5",    "\n1",   "+-1",    "1e 5", "- 1"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        double x;
        if (str_to_double(text[i], &x)) fail_msg("'%s' was read as %g", text[i], x);
    }
}

static void whole_numbers_are_read_to_their_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        long long x;
    } row[] = {
        {"0", 0},
        {"-0", 0},
        {"+12", 12},
        {"0012", 12},
        {"9223372036854775807", LLONG_MAX},
        {"-9223372036854775807", -LLONG_MAX},
        {"-9223372036854775808", LLONG_MIN},
    };
    long long x;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_true(str_to_long(row[i].text, &x));
        assert_true(x == row[i].x);
    }
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999",
                                      "--1",
                                      "1a",
                                      "18446744073709551617"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (str_to_long(bad[i], &x)) fail_msg("'%s' was read as %lld", bad[i], x);
}

/* Numbers keep their point where the C library writes a comma. */
static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof with_comma / sizeof *with_comma && !set; i++)
        set = setlocale(LC_NUMERIC, with_comma[i]);
    if (!set) skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    double x = 0;
    assert_string_equal(text_of(1234.5), "1234.5");
    assert_string_equal(text_of(1.5e-9), "1.5e-09");
    assert_true(str_to_double("1234.5", &x) && x == 1234.5);
    assert_false(str_to_double("1234,5", &x));
    setlocale(LC_NUMERIC, "C");
}

static void the_distance_counts_single_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int distance;
    } row[] = {
        {"", "", 0},          {"", "abc", 3},      {"seed", "seed", 0},      {"seed", "sed", 1},
        {"seed", "seeds", 1}, {"seed", "feed", 1}, {"seed", "sede", 1},      {"heads", "haeds", 1},
        {"ab", "ba", 1},      {"ca", "abc", 3},    {"kitten", "sitting", 3}, {"learning", "laerning_rate", 6},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(str_distance(row[i].a, row[i].b), row[i].distance);
        assert_int_equal(str_distance(row[i].b, row[i].a), row[i].distance);
    }
}

static void the_nearest_word_is_the_likeliest(void **state) {
    (void)state;
    const char *best = NULL;
    best = str_likelier("sede", best, "window");
    assert_null(best);
    best = str_likelier("sede", best, "sides");
    assert_string_equal(best, "sides");
    best = str_likelier("sede", best, "seed");
    assert_string_equal(best, "seed");
    best = str_likelier("sede", best, "side"); /* as near as the one before: the first stays */
    assert_string_equal(best, "seed");
    assert_null(str_likelier("", NULL, "n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_text_needs_no_memory),
        cmocka_unit_test(pieces_are_added),
        cmocka_unit_test(a_text_may_hold_nul),
        cmocka_unit_test(a_text_grows_far),
        cmocka_unit_test(a_reserve_is_used),
        cmocka_unit_test(a_taken_text_is_the_callers),
        cmocka_unit_test(numbers_look_as_people_write_them),
        cmocka_unit_test(floats_look_as_people_write_them),
        cmocka_unit_test(every_double_reads_back_from_its_shortest_text),
        cmocka_unit_test(every_float_reads_back_from_its_shortest_text),
        cmocka_unit_test(texts_that_are_numbers),
        cmocka_unit_test(texts_that_are_no_numbers),
        cmocka_unit_test(whole_numbers_are_read_to_their_limits),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(the_distance_counts_single_mistakes),
        cmocka_unit_test(the_nearest_word_is_the_likeliest),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
