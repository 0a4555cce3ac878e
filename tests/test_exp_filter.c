/* decode.filter: the figures of lecture 3, exercises 6 and 7, and which stages there are. */
#include <string.h>

#include "run_study.h"

static void expect_stages(const Study *s, const char *stages) {
    Table *t = study_result(s, "steps");
    Str seen;
    str_init(&seen);
    for (long row = 0; row < table_rows(t); row++)
        if (cell_int(t, row, "index") == 0) str_addf(&seen, "%s%s", seen.len ? " " : "", cell_text(t, row, "stage"));
    assert_string_equal(seen.s, stages);
    str_done(&seen);
    table_free(t);
}

/* The N values of a stage, and how many are kept. */
static void expect_stage(const Study *s, const char *stage, int n, const double *value, double tolerance, int kept) {
    Table *t = study_result(s, "steps");
    int seen = 0;
    for (long row = 0; row < table_rows(t); row++) {
        if (strcmp(cell_text(t, row, "stage"), stage) != 0) continue;
        int i = (int)cell_int(t, row, "index");
        assert_int_equal(i, seen++);
        assert_near(cell_real(t, row, "value"), value[i], tolerance);
        kept -= (int)cell_int(t, row, "kept");
    }
    assert_int_equal(seen, n);
    assert_int_equal(kept, 0);
    table_free(t);
}

static void expect_final(const char *what, const char *how, int n, const double *value, double tolerance, int kept) {
    Study *s = run_study("decode.filter", what, how, NULL);
    expect_stage(s, "final", n, value, tolerance, kept);
    study_free(s);
}

static void temperature(void **state) {
    (void)state;
    expect_final("logits=2,1,0", "tau=1", 3, (const double[]){.665, .245, .090}, 5e-4, 3);
    expect_final("logits=2,1,0", "tau=0.5", 3, (const double[]){.867, .117, .016}, 5e-4, 3);
    expect_final("logits=2,1,0", "tau=2", 3, (const double[]){.506, .307, .186}, 5e-4, 3);
    expect_final("logits=2,1,0", "tau=0", 3, (const double[]){1, 0, 0}, 0, 1);
    expect_final("logits=1,1,0", "tau=0", 3, (const double[]){1, 0, 0}, 0, 1); /* of equals the lowest */
}

#define EXERCISE_7 "probs=0.5,0.2,0.15,0.1,0.05"

static void top_k_and_top_p(void **state) {
    (void)state;
    expect_final(EXERCISE_7, "top_k=2", 5, (const double[]){.714, .286, 0, 0, 0}, 5e-4, 2);
    expect_final(EXERCISE_7, "top_p=0.8", 5, (const double[]){.588, .235, .176, 0, 0}, 5e-4, 3);
    expect_final(EXERCISE_7, "top_p=0.7", 5, (const double[]){.714, .286, 0, 0, 0}, 5e-4, 2);
    expect_final(EXERCISE_7, "top_p=0.5", 5, (const double[]){1, 0, 0, 0, 0}, 1e-12, 1);
    expect_final(EXERCISE_7, "top_p=0", 5, (const double[]){1, 0, 0, 0, 0}, 1e-12, 1);
    expect_final(EXERCISE_7, "top_k=0", 5, (const double[]){.5, .2, .15, .1, .05}, 1e-12, 5);
    expect_final("probs=0.25,0.25,0.25,0.25", "top_k=2", 4, (const double[]){.5, .5, 0, 0}, 1e-12, 2);
}

static void stages_that_are_off_are_left_out(void **state) {
    (void)state;
    static const struct {
        const char *how, *stages;
    } rows[] = {
        {"tau=1", "logits final"},
        {"tau=2", "logits temperature final"},
        {"top_k=1", "logits top_k final"},
        {"top_p=0.9", "logits top_p final"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Study *s = run_study("decode.filter", rows[i].how, NULL);
        expect_stages(s, rows[i].stages);
        study_free(s);
    }
    Study *s = run_study("decode.filter", "tau=2", "top_k=2", "top_p=0.9", NULL);
    expect_stages(s, "logits temperature top_k top_p final");
    study_free(s);
    s = run_study("decode.filter", "tau=2", "top_k=2", "top_p=0.9", "order=tau_last", NULL);
    expect_stages(s, "logits top_k top_p temperature final");
    study_free(s);
}

/* Before the temperature top-p sees .665 .245 .090; after it (tau 2) .506 .307 .186: .85 keeps two or three. */
static void the_order_matters(void **state) {
    (void)state;
    expect_final("tau=2", "top_p=0.85", 3, (const double[]){.506, .307, .186}, 5e-4, 3);
    Study *s = run_study("decode.filter", "tau=2", "top_p=0.85", "order=tau_last", NULL);
    expect_stage(s, "final", 3, (const double[]){.622459, .377541, 0}, 1e-6, 2);
    expect_stage(s, "logits", 3, (const double[]){2, 1, 0}, 0, 3);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(temperature),
        cmocka_unit_test(top_k_and_top_p),
        cmocka_unit_test(stages_that_are_off_are_left_out),
        cmocka_unit_test(the_order_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
