/* Round numbers along axes. */
#include "expect.h"

#include "str.h"
#include "ticks.h"

#include <math.h>
#include <string.h>

static void assert_ticks(const Ticks *t, bool log, const char *want) {
    Str got;
    str_init(&got);
    for (int i = 0; i < t->count; i++) {
        char text[32];
        ticks_label(t, log ? pow(10, t->at[i]) : t->at[i], text, sizeof text);
        str_addf(&got, "%s%s", i > 0 ? " " : "", text);
    }
    assert_string_equal(got.s, want);
    str_done(&got);
}

static void assert_linear(double low, double high, int most, const char *want) {
    Ticks t = ticks_linear(low, high, most);
    assert_ticks(&t, false, want);
}

static void assert_log(double low, double high, int most, const char *want) {
    Ticks t = ticks_log(log10(low), log10(high), most);
    assert_ticks(&t, true, want);
}

static void linear_ticks_are_round(void **state) {
    (void)state;
    assert_linear(0, 1565, 4, "0 500 1000 1500");
    assert_linear(0.9, 4.1, 7, "1.0 1.5 2.0 2.5 3.0 3.5 4.0");
    assert_linear(-1, 1, 4, "-1.0 -0.5 0.0 0.5 1.0");
    assert_linear(-0.001, 0.001, 2, "-0.001 0.000 0.001");
    assert_linear(0, 400000, 4, "0 100k 200k 300k 400k");
    assert_linear(0, 3e6, 3, "0 1M 2M 3M");
    assert_linear(2.5, 2.5, 4, "");
    assert_linear(3, 1, 4, "");
    assert_linear(0, 1, 0, "");
    assert_linear((double)NAN, 1, 4, "");
}

static void an_axis_may_end_at_a_tick(void **state) {
    (void)state;
    assert_true(fabs(ticks_top(0, 0.00299, 3) - 0.003) < 1e-12);
    assert_true(fabs(ticks_top(0, 0.003, 3) - 0.003) < 1e-12);
    assert_true(ticks_top(0, 7.2, 3) == 10);
    assert_true(ticks_top(0, 12500, 3) == 15000);
    assert_true(ticks_top(-4, -1, 3) == -1);
    assert_true(ticks_top(2, 2, 3) == 2);
    assert_true(isnan(ticks_top(0, (double)NAN, 3)));
    assert_linear(0, ticks_top(0, 0.00299, 3), 3, "0.000 0.001 0.002 0.003");
}

static void whole_ticks_are_whole(void **state) {
    (void)state;
    static const struct {
        double high;
        const char *want;
    } rows[] = {{1, "0 1"}, {2, "0 1 2"}, {3, "0 1 2 3"}, {7, "0 2 4 6"}, {1565, "0 500 1000 1500"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Ticks t = ticks_whole(0, rows[i].high, 4);
        assert_ticks(&t, false, rows[i].want);
    }
}

static void logarithmic_ticks_are_round(void **state) {
    (void)state;
    assert_log(0.9, 30, 8, "1 2 5 10 20");
    assert_log(1e-6, 1, 4, "1e-06 0.0001 0.01 1");
    assert_log(1, 1e5, 8, "1 10 100 1000 10000 100000");
    assert_log(0.9, 4.2, 6, "1 2 3 4");
    assert_log(5, 5, 4, "");
}

/* Never more than asked for by more than one, never out of the range, and always rising. */
static void ticks_keep_to_the_range(void **state) {
    (void)state;
    for (int most = 1; most <= 20; most++)
        for (double low = -3; low < 3; low += 0.37)
            for (double span = 1e-4; span < 1e7; span *= 2.9) {
                Ticks t = ticks_linear(low, low + span, most);
                assert_in_range(t.count, 0, most + 1 < TICKS_MOST ? most + 1 : TICKS_MOST);
                for (int i = 0; i < t.count; i++) {
                    assert_true(t.at[i] >= low - span * 1e-6 && t.at[i] <= low + span * (1 + 1e-6));
                    assert_true(i == 0 || t.at[i] > t.at[i - 1]);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_ticks_are_round),
        cmocka_unit_test(an_axis_may_end_at_a_tick),
        cmocka_unit_test(whole_ticks_are_whole),
        cmocka_unit_test(logarithmic_ticks_are_round),
        cmocka_unit_test(ticks_keep_to_the_range),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
