/* What panes read of a snapshot, how numbers are written, and the arithmetic of an attention cell. */
#include "expect.h"

#include "cell_sum.h"
#include "fixture.h"
#include "format.h"
#include "mem.h"
#include "mix_sum.h"
#include "observe.h"

#include <math.h>
#include <string.h>

#define assert_text(call, wanted) assert_string_equal((call).s, wanted)
#define assert_close(got, want, tolerance)                                                                             \
    do {                                                                                                               \
        double got_ = (got), want_ = (want);                                                                           \
        if (!(fabs(got_ - want_) <= (tolerance))) fail_msg("%s is %.17g, not %.17g", #got, got_, want_);               \
    } while (0)

static void numbers_as_people_read_them(void **state) {
    (void)state;
    assert_text(format_count(0), "0");
    assert_text(format_count(999), "999");
    assert_text(format_count(1000), "1,000");
    assert_text(format_count(-1234567), "-1,234,567");
    assert_text(format_count(-123), "-123");
    assert_text(format_fixed(0.93017, 4), "0.9302");
    assert_text(format_fixed((double)NAN, 2), "–");
    assert_text(format_fixed(-(double)INFINITY, 2), "−∞");
    assert_text(format_short(251340), "251k");
    assert_text(format_short(2500000), "2.5M");
    assert_text(format_short(999600), "1.0M");
    assert_text(format_short(12), "12");
    assert_text(format_small(2e-8), "2.0e-8");
    assert_text(format_small(0.41234), "0.4123");
    assert_text(format_small(0), "0");
    assert_text(format_figures(56), "56");
    assert_text(format_figures(0.66524), "0.6652");
    assert_text(format_probability(0), "0");
    assert_text(format_probability(0.2121212), "0.2121");
    assert_text(format_probability(3e-6), "3.0e-6");
    assert_text(format_percent(0.0163, 1), "+1.6 %");
    assert_text(format_percent(-0.01, 0), "-1 %");
}

static void tokens_and_positions(void **state) {
    (void)state;
    FixtureSpec p = fixture_spec();
    p.tokens = 8, p.position = 7;
    Snapshot *s = fixture_snapshot(&p);
    char token[READING_TOKEN];
    assert_int_equal(reading_tokens(s), 8);
    assert_int_equal(reading_visible(s), 7);
    reading_token(s, 2, token);
    assert_string_equal(token, "dogs");
    reading_token(s, 8, token);
    assert_string_equal(token, "");
    assert_false(reading_is_generated(s, 5));
    assert_true(reading_is_generated(s, 6));
    assert_int_equal(reading_find_token(s, "THE", 1), 4);
    assert_int_equal(reading_find_token(s, "the", 4), 1);
    assert_int_equal(reading_find_token(s, "whale", 0), -1);
    snapshot_unref(s);
}

static void a_cursor_stays_in_the_snapshot(void **state) {
    (void)state;
    Snapshot *s = fixture_plain();
    Cursor c = {.layer = 9, .head = -3, .query = 100, .key = -1, .step = 5000};
    reading_clamp(s, &c);
    assert_int_equal(c.layer, 1);
    assert_int_equal(c.head, 0);
    assert_int_equal(c.query, 5);
    assert_int_equal(c.key, 0);
    assert_int_equal(c.step, -1);
    snapshot_unref(s);
    s = fixture_empty();
    c = (Cursor){.layer = 1, .head = 1, .query = 1, .key = 1, .step = 1};
    reading_clamp(s, &c);
    assert_int_equal(c.layer + c.head + c.query + c.key, 0);
    snapshot_unref(s);
}

static void rows_of_a_curve(void **state) {
    (void)state;
    Snapshot *s = fixture_plain();
    const Table *curve = snapshot_table(s, "curve");
    assert_int_equal(reading_row_of_step(curve, 1), 0);
    assert_int_equal(reading_row_of_step(curve, 1240), 1239);
    assert_int_equal(reading_row_of_step(curve, 1241), -1);
    assert_int_equal(reading_row_of_step(curve, 0), -1);
    assert_int_equal(reading_row_of_step(NULL, 0), -1);
    double *tokens = reading_column(curve, "tokens", 10, 2);
    assert_close(tokens[0], 11 * 640.0, 0);
    assert_close(tokens[1], 12 * 640.0, 0);
    mem_free(tokens);
    assert_null(reading_column(curve, "nothing", 0, 1));
    snapshot_unref(s);
}

static void divergence_of_model_from_truth(void **state) {
    (void)state;
    static const Column columns[] = {{"model_p", COLUMN_DOUBLE, ""}, {"true_p", COLUMN_DOUBLE, ""}, {NULL, 0, NULL}};
    Table *t = table_new("next", columns);
    table_add_real(t, 0.25), table_add_real(t, 0.5);
    table_add_real(t, 0.75), table_add_real(t, 0.5);
    table_add_real(t, 0), table_add_real(t, 0);
    assert_close(reading_kl(t), 0.5 * log(2) + 0.5 * log(2.0 / 3), 1e-15);
    table_add_real(t, 0), table_add_real(t, 0.1);
    assert_true(isinf(reading_kl(t)));
    table_free(t);
    t = table_new("next", columns);
    table_add_real(t, 1), table_add_empty(t);
    assert_true(isnan(reading_kl(t)));
    table_free(t);
}

/* The cell's numbers are the fields' numbers, and they follow from each other. */
static void the_arithmetic_of_a_cell(void **state) {
    (void)state;
    FixtureSpec p = fixture_spec();
    p.window = 4;
    Snapshot *s = fixture_snapshot(&p);
    for (int layer = 0; layer < 2; layer++) {
        for (int head = 0; head < 4; head++) {
            for (int i = 0; i < 36; i++) {
                Cursor at = {.layer = layer, .head = head, .query = i / 6, .key = i % 6};
                CellSum c;
                assert_true(cell_sum(s, &at, &c));
                assert_int_equal(c.kv_head, head / 2);
                assert_int_equal(c.masked, at.key > at.query || at.query - at.key >= 4);
                assert_close(c.scaled, c.dot / 4, 1e-6);
                assert_close(cell_sum_term(s, &c, 15).so_far, c.dot, 1e-5);
                assert_close(c.numerator / c.denominator, c.weight, 1e-7);
                assert_close(c.again, c.weight, 1e-6);
                assert_close(c.row_sum, 1, 1e-6);
                assert_int_equal(c.allowed, at.query < 4 ? at.query + 1 : 4);
                if (c.masked) assert_true(c.weight == 0);
            }
        }
    }
    snapshot_unref(s);
}

static void a_soft_cap_stands_between(void **state) {
    (void)state;
    FixtureSpec p = fixture_spec();
    p.softcap = 2;
    Snapshot *s = fixture_snapshot(&p);
    Cursor at = {.layer = 1, .head = 1, .query = 5, .key = 2};
    CellSum c;
    assert_true(cell_sum(s, &at, &c));
    assert_close(c.cap, 2, 0);
    assert_close(c.again, c.weight, 1e-6);
    assert_close(c.entered, 2 * tanh(c.scaled / 2), 1e-6);
    assert_close(c.numerator / c.denominator, c.weight, 1e-7);
    snapshot_unref(s);
    s = fixture_empty();
    assert_false(cell_sum(s, &at, &c));
    snapshot_unref(s);
}

static void the_arithmetic_of_the_mix(void **state) {
    (void)state;
    FixtureSpec p = fixture_spec();
    p.window = 4;
    Snapshot *s = fixture_snapshot(&p);
    MixSum m;
    for (int head = 0; head < 4; head++) {
        for (int d = 0; d < 16; d++) {
            Cursor at = {.layer = 1, .head = head, .query = 5};
            assert_true(mix_sum(s, &at, d, &m));
            assert_int_equal(m.kv_head, head / 2);
            assert_close(m.mix, (double)field_at(snapshot_field(s, "attention.1.mix"), head, 5, d, 0), 0);
            assert_close(m.again, m.mix, 1e-6);
            assert_close(mix_sum_term(s, &m, 5).so_far, m.again, 0);
            assert_true(mix_sum_term(s, &m, 1).weight == 0); /* outside the window */
        }
    }
    assert_false(mix_sum(s, &(Cursor){.layer = 1}, 16, &m));
    Table *t = observe_mix_table(s, 1, 2);
    assert_int_equal(table_rows(t), 6 * 16);
    assert_close(table_real(t, 5 * 16 + 3, table_find(t, "value")),
                 (double)field_at(snapshot_field(s, "attention.1.mix"), 2, 5, 3, 0), 0);
    table_free(t);
    snapshot_unref(s);
}

/* The same word twice is told apart by its place. */
static void tokens_that_are_written_alike(void **state) {
    (void)state;
    FixtureSpec p = fixture_spec();
    Snapshot *s = fixture_snapshot(&p);
    char out[READING_TOKEN + 16];
    reading_token_place(s, 1, out);
    assert_string_equal(out, "the (1)");
    reading_token_place(s, 4, out);
    assert_string_equal(out, "the (4)");
    reading_token_place(s, 5, out);
    assert_string_equal(out, "cat");
    snapshot_unref(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_people_read_them),    cmocka_unit_test(tokens_and_positions),
        cmocka_unit_test(a_cursor_stays_in_the_snapshot), cmocka_unit_test(rows_of_a_curve),
        cmocka_unit_test(divergence_of_model_from_truth), cmocka_unit_test(the_arithmetic_of_a_cell),
        cmocka_unit_test(a_soft_cap_stands_between),      cmocka_unit_test(the_arithmetic_of_the_mix),
        cmocka_unit_test(tokens_that_are_written_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
