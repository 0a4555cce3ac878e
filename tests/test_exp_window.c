/* window.mask, window.cost, window.reach, window.rolling: the figures of lecture 4, 6.1 to 6.4 and exercises 5 and 6.
 */
#include "real.h"
#include "run_study.h"

#include <math.h>

/* --- mask --- */

static long row_of(const Table *t, const char *column, const char *text) {
    for (long row = 0; row < table_rows(t); row++)
        if (strcmp(cell_text(t, row, column), text) == 0) return row;
    fail_msg("no %s %s", column, text);
    return -1;
}

static void expect_counts(const Study *s, long long full, long long causal, long long window, long long chunks) {
    static const char *const rules[] = {"full", "causal", "window", "chunks"};
    const long long scores[] = {full, causal, window, chunks};
    Table *t = study_result(s, "counts");
    assert_int_equal(table_rows(t), 4);
    for (long row = 0; row < 4; row++) {
        assert_string_equal(cell_text(t, row, "rule"), rules[row]);
        if (cell_int(t, row, "scores") != scores[row])
            fail_msg("%s: %lld, not %lld", rules[row], cell_int(t, row, "scores"), scores[row]);
        assert_near(cell_real(t, row, "share"), (double)scores[row] / (double)full, 1e-15);
    }
    table_free(t);
}

/* The pairs of the table mask are those between the diagonal and WINDOW - 1 places left of it. */
static void expect_mask(const Study *s, int T, int window) {
    Table *t = study_result(s, "mask");
    assert_int_equal(table_rows(t), T * T);
    for (int query = 0; query < T; query++)
        for (int key = 0; key < T; key++) {
            long row = query * T + key;
            assert_int_equal(cell_int(t, row, "query"), query);
            assert_int_equal(cell_int(t, row, "key"), key);
            assert_int_equal(cell_int(t, row, "allowed"), key <= query && key > query - window);
        }
    table_free(t);
}

static void exercise_5(void **state) {
    (void)state;
    Study *s = run_study("window.mask", "T=32768", "window=4096", NULL);
    Table *t = study_result(s, "counts");
    assert_near(cell_real(t, row_of(t, "rule", "causal"), "share"), .50, 5e-5);
    assert_near(cell_real(t, row_of(t, "rule", "window"), "share"), .117, 5e-4);
    assert_near(cell_real(t, row_of(t, "rule", "chunks"), "share"), .25, 0);
    table_free(t);
    expect_counts(s, 1073741824, 536887296, 125831168, 268435456);
    t = study_result(s, "mask");
    assert_int_equal(table_rows(t), 0); /* not built */
    table_free(t);
    assert_non_null(strstr(study_state(s).warning, "pairs=1048576"));
    study_free(s);
}

/* Longformer's w = 4: a token sees 3; w = 6: 4. */
static void a_width_of_longformer(void **state) {
    (void)state;
    static const struct {
        const char *w;
        int T, window;
    } rows[] = {{"w=4", 12, 3}, {"w=6", 12, 4}, {"w=0", 12, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Study *s = run_study("window.mask", rows[i].w, NULL);
        expect_mask(s, rows[i].T, rows[i].window);
        study_free(s);
    }
}

static void masks_of_any_size(void **state) {
    (void)state;
    Study *s = run_study("window.mask", NULL);
    expect_mask(s, 12, 3);
    expect_counts(s, 144, 78, 33, 72);
    Table *layers = study_result(s, "layers");
    assert_int_equal(table_rows(layers), 0); /* one layer: the counts say it */
    table_free(layers);
    study_free(s);
    s = run_study("window.mask", "T=7", "window=9", NULL); /* as wide as the text: causal */
    expect_mask(s, 7, 9);
    expect_counts(s, 49, 28, 28, 126);
    study_free(s);
    s = run_study("window.mask", "T=1", "window=1", NULL);
    expect_mask(s, 1, 1);
    expect_counts(s, 1, 1, 1, 2);
    study_free(s);
    s = run_study("window.mask", "T=1000000000", "window=1000000000", NULL);
    expect_counts(s, 1000000000000000000, 500000000500000000, 500000000500000000, 2000000000000000000);
    study_free(s);
    s = run_study("window.mask", "T=5", "pairs=24", NULL);
    Table *t = study_result(s, "mask");
    assert_int_equal(table_rows(t), 0);
    table_free(t);
    study_free(s);
}

static void layers_take_turns(void **state) {
    (void)state;
    Study *s = run_study("window.mask", "T=10", "window=4", "layers=5", "global_every=2", NULL);
    Table *t = study_result(s, "layers");
    assert_int_equal(table_rows(t), 5);
    for (int layer = 0; layer < 5; layer++) {
        assert_int_equal(cell_int(t, layer, "layer"), layer);
        assert_int_equal(cell_int(t, layer, "window"), layer % 2 ? 0 : 4);
        assert_int_equal(cell_int(t, layer, "scores"), layer % 2 ? 55 : 34);
        assert_near(cell_real(t, layer, "share"), layer % 2 ? .55 : .34, 1e-15);
    }
    table_free(t);
    expect_mask(s, 10, 4); /* that of a local layer */
    study_free(s);
}

/* --- cost --- */

static void expect_agreement(const Study *s) {
    Table *t = study_result(s, "agree");
    assert_int_equal(table_rows(t), 3);
    for (long row = 0; row < 3; row++) {
        assert_true(cell_real(t, row, "max_difference") < (REAL_IS_DOUBLE ? 1e-13 : 5e-6));
        assert_true(cell_real(t, row, "max_difference") > 0); /* from a reference in double, not from itself */
    }
    table_free(t);
}

static void methods_agree(void **state) {
    (void)state;
    static const char *const methods[] = {"masked", "loop", "chunks"};
    static const int T[] = {200, 50, 333};
    Study *s = run_study("window.cost", "T=200,50,333", "window=17", "d=24", NULL);
    Table *t = study_result(s, "cost");
    assert_int_equal(table_rows(t), 9);
    for (long row = 0; row < 9; row++) {
        assert_string_equal(cell_text(t, row, "method"), methods[row % 3]);
        assert_int_equal(cell_int(t, row, "T"), T[row / 3]);
        assert_true(cell_real(t, row, "milliseconds") > 0);
        long long bytes = cell_int(t, row, "bytes"), all = (long long)sizeof(real) * T[row / 3] * T[row / 3];
        if (row % 3 == 0) assert_true(bytes == all);
        if (row % 3 == 1) assert_int_equal(bytes, 17 * sizeof(real));
        if (row % 3 == 2) assert_int_equal(bytes, cell_int(t, 2, "bytes")); /* does not grow with T */
    }
    table_free(t);
    expect_agreement(s);
    study_free(s);
    s = run_study("window.cost", "T=1,2,40", "window=1000", "d=1", NULL);
    expect_agreement(s);
    study_free(s);
}

static void what_is_too_large_is_left_out(void **state) {
    (void)state;
    Study *s = run_study("window.cost", "T=40000", "window=4", "d=1", NULL);
    Table *t = study_result(s, "cost");
    assert_true(table_is_empty(t, 0, table_find(t, "milliseconds")));
    assert_true(cell_int(t, 0, "bytes") == 1600000000LL * (long long)sizeof(real));
    assert_true(cell_real(t, 2, "milliseconds") > 0);
    table_free(t);
    t = study_result(s, "agree");
    assert_true(table_is_empty(t, 0, table_find(t, "max_difference")));
    assert_true(cell_real(t, 2, "max_difference") < 5e-6);
    table_free(t);
    assert_non_null(strstr(study_state(s).warning, "masked"));
    study_free(s);
}

/* --- reach --- */

static void expect_reach(const char *layers, const char *window, int L, int W) {
    Study *s = run_study("window.reach", layers, window, NULL);
    Table *t = study_result(s, "reach");
    assert_int_equal(table_rows(t), L);
    for (int layer = 0; layer < L; layer++) {
        assert_int_equal(cell_int(t, layer, "layer"), layer);
        assert_int_equal(cell_int(t, layer, "farthest_measured"), (layer + 1) * (W - 1));
        assert_int_equal(cell_int(t, layer, "farthest_formula"), (layer + 1) * (W - 1));
    }
    table_free(t);
    study_free(s);
}

static void layers_relay(void **state) {
    (void)state;
    expect_reach("layers=4", "window=4", 4, 4);
    expect_reach("layers=2", "window=4", 2, 4); /* exercise 6: 6, so that a subject 9 tokens away is lost */
    expect_reach("layers=1", "window=1", 1, 1);
    expect_reach("layers=1", "window=300", 1, 300);
    expect_reach("layers=3", "window=64", 3, 64);
    expect_reach("layers=50", "window=9", 50, 9); /* fainter at each step: no rounding hides it */
}

/* --- rolling --- */

static void expect_rolling(const char *window, const char *tokens, const char *position, int W, int n, bool agrees) {
    Study *s = run_study("window.rolling", window, tokens, position, NULL);
    Table *t = study_result(s, "diff");
    assert_int_equal(table_rows(t), n);
    for (int step = 0; step < n; step++) {
        assert_int_equal(cell_int(t, step, "step"), step);
        assert_int_equal(cell_int(t, step, "position"), step);
        assert_int_equal(cell_int(t, step, "slot"), step % W);
        double difference = cell_real(t, step, "max_difference");
        bool same = agrees || step <= W; /* until the cache holds no more, its length is the position */
        if (same ? !(difference < 2e-5) : !(difference > 1e-2))
            fail_msg("%s %s: step %d differs by %g", window, position, step, difference);
    }
    table_free(t);
    study_free(s);
}

static void positions_are_absolute(void **state) {
    (void)state;
    expect_rolling("window=6", "tokens=40", "position=absolute", 6, 40, true);
    expect_rolling("window=6", "tokens=40", "position=length", 6, 40, false);
    expect_rolling("window=2", "tokens=90", "position=absolute", 2, 90, true);
    expect_rolling("window=3", "tokens=20", "position=length", 3, 20, false);
    expect_rolling("window=30", "tokens=12", "position=length", 30, 12, true); /* never full */
    expect_rolling("window=1", "tokens=9", "position=length", 1, 9, true);     /* nothing to be far from */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exercise_5),        cmocka_unit_test(a_width_of_longformer),
        cmocka_unit_test(masks_of_any_size), cmocka_unit_test(layers_take_turns),
        cmocka_unit_test(methods_agree),     cmocka_unit_test(what_is_too_large_is_left_out),
        cmocka_unit_test(layers_relay),      cmocka_unit_test(positions_are_absolute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
