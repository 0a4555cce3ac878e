/* lm.train with its own recipe, in full: after five epochs the test perplexity is within 1.5 % of the exact floor of
 * the same sentences (lecture 4, 7.2), for both models of the lectures. Takes some seconds of both cores. */
#include <string.h>

#include "run_study.h"

static void expect_quality(const char *arch, long long parameters) {
    Study *s = run_study("lm.train", arch, NULL);
    Table *model = study_result(s, "model"), *result = study_result(s, "result"), *curve = study_result(s, "curve");
    assert_int_equal(cell_int(model, table_rows(model) - 1, "parameters"), parameters);
    assert_int_equal(table_rows(curve), 1565);
    assert_string_equal(cell_text(result, 1, "split"), "test");
    double perplexity = cell_real(result, 1, "perplexity"), below = cell_real(result, 1, "floor_perplexity");
    assert_near(below, 2.4954, 0.03); /* of 2,000 sentences; 2.4954 is what it is on the average */
    if (perplexity > 1.015 * below || perplexity < below)
        fail_msg("%s: %.4f over a floor of %.4f", arch, perplexity, below);
    table_free(model);
    table_free(result);
    table_free(curve);
    study_free(s);
}

static void gpt_comes_down_to_the_floor(void **state) {
    (void)state;
    expect_quality("arch=gpt", 111360);
}

static void modern_comes_down_to_the_floor(void **state) {
    (void)state;
    expect_quality("arch=modern", 99648);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt_comes_down_to_the_floor),
        cmocka_unit_test(modern_comes_down_to_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
