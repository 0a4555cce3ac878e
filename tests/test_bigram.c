/* bigram: closed forms, and the gradient against differences, in double. */
#include "bigram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 0 0 0 1 after 0; 2 after 1; nothing after 2. */
static void count(BigramCounts *c) {
    bigram_init(c, 3);
    for (int i = 0; i < 3; i++) bigram_add(c, 0, 0);
    bigram_add(c, 0, 1);
    bigram_add(c, 1, 2);
}

static void near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, not %.17g", got, want);
}

static void counting_is_a_closed_form(void **state) {
    (void)state;
    BigramCounts c;
    count(&c);
    near(c.total, 5, 0);
    near(bigram_count_loss(&c), -(3 * log(.75) + log(.25)) / 5, 1e-15);
    bigram_done(&c);
}

static void equal_logits_cost_log_n(void **state) {
    (void)state;
    const real zero[9] = {0};
    BigramCounts c;
    count(&c);
    near(bigram_loss(&c, zero, NULL), log(3), 1e-15);
    BigramDifference d = bigram_compare(&c, zero);
    near(d.most_seen, 1 - 1.0 / 3, 1e-15); /* row 1: 1 against a third */
    near(d.least_unseen, 1.0 / 3, 1e-15);
    bigram_done(&c);
}

/* Logarithms of the counts are the best table, and their gradient is nothing. */
static void the_best_table_is_the_counts(void **state) {
    (void)state;
    const real best[9] = {(real)log(3), 0, -60, -60, -60, 60, 1, 2, 3};
    real grad[9];
    BigramCounts c;
    count(&c);
    near(bigram_loss(&c, best, grad), bigram_count_loss(&c), 1e-12);
    for (int i = 0; i < 9; i++) near((double)grad[i], 0, 1e-12);
    BigramDifference d = bigram_compare(&c, best);
    near(d.most_seen, 0, 1e-12);
    assert_true(d.least_unseen > 0);
    bigram_done(&c);
}

static void gradient_agrees_with_differences(void **state) {
    (void)state;
    real x[9] = {0.3, -1, 2, 0.1, 0.7, -0.4, 1, 1, 5}, grad[9];
    BigramCounts c;
    count(&c);
    (void)bigram_loss(&c, x, grad);
    for (int i = 0; i < 9; i++) {
        real at = x[i];
        x[i] = at + 1e-5;
        double up = bigram_loss(&c, x, NULL);
        x[i] = at - 1e-5;
        double down = bigram_loss(&c, x, NULL);
        x[i] = at;
        near((double)grad[i], (up - down) / 2e-5, 1e-9);
    }
    bigram_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_is_a_closed_form),
        cmocka_unit_test(equal_logits_cost_log_n),
        cmocka_unit_test(the_best_table_is_the_counts),
        cmocka_unit_test(gradient_agrees_with_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
