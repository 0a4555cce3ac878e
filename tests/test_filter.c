/* filter: the figures of the lecture's exercises, the stages and their order, ties, the edges, and drawing. */
#include "expect.h"

#include "decode/filter.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <string.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define PRINTED               5.0000001e-4 /* figures with three decimals */

static void run(Filter *f, FilterConfig c, int n, const double *x, bool from_probs) {
    assert_ok(filter_check(&c));
    filter_init(f, n);
    assert_ok(filter_run(f, &c, x, from_probs));
}

static void expect_final(FilterConfig c, int n, const double *x, bool from_probs, const double *expected) {
    Filter f;
    run(&f, c, n, x, from_probs);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        NEAR(filter_final(&f)[i], expected[i], PRINTED);
        sum += filter_final(&f)[i];
    }
    NEAR(sum, 1, 1e-12);
    filter_done(&f);
}

static FilterConfig with(double tau, int top_k, double top_p, FilterOrder order) {
    return (FilterConfig){.tau = tau, .top_k = top_k, .top_p = top_p, .order = order};
}

/* Lecture 3, exercise 6. */
static void test_temperature(void **state) {
    (void)state;
    const double logits[] = {2, 1, 0};
    expect_final(filter_defaults(), 3, logits, false, (double[]){.665, .245, .090});
    expect_final(with(.5, 0, 1, ORDER_TAU_FIRST), 3, logits, false, (double[]){.867, .117, .016});
    expect_final(with(2, 0, 1, ORDER_TAU_FIRST), 3, logits, false, (double[]){.506, .307, .186});
    expect_final(with(0, 0, 1, ORDER_TAU_FIRST), 3, logits, false, (double[]){1, 0, 0});
    expect_final(with(1e9, 0, 1, ORDER_TAU_FIRST), 3, logits, false, (double[]){1 / 3., 1 / 3., 1 / 3.});
    expect_final(with(1e-300, 0, 1, ORDER_TAU_FIRST), 3, logits, false, (double[]){1, 0, 0});
}

static const double five[] = {.5, .2, .15, .1, .05};

/* Lecture 3, exercise 7. */
static void test_top(void **state) {
    (void)state;
    expect_final(with(1, 2, 1, ORDER_TAU_FIRST), 5, five, true, (double[]){.714, .286, 0, 0, 0});
    expect_final(with(1, 0, .8, ORDER_TAU_FIRST), 5, five, true, (double[]){.588, .235, .176, 0, 0});
    expect_final(with(1, 0, .7, ORDER_TAU_FIRST), 5, five, true, (double[]){.714, .286, 0, 0, 0});
    expect_final(with(1, 0, .5, ORDER_TAU_FIRST), 5, five, true, (double[]){1, 0, 0, 0, 0});
    expect_final(with(1, 0, 0, ORDER_TAU_FIRST), 5, five, true, (double[]){1, 0, 0, 0, 0});
    expect_final(with(1, 0, 1, ORDER_TAU_FIRST), 5, five, true, five);
    expect_final(with(1, 0, .9999999999, ORDER_TAU_FIRST), 5, five, true, five);
    expect_final(with(1, 99, 1, ORDER_TAU_FIRST), 5, five, true, five);
}

/* The smallest set: without its last member the sum stays below p. Every p, every place in the vocabulary. */
static void test_top_p_is_smallest(void **state) {
    (void)state;
    Rng r = rng_at(7, "test", 0);
    for (int round = 0; round < 200; round++) {
        double x[12];
        for (int i = 0; i < 12; i++) x[i] = 3 * rng_normal(&r);
        double p = rng_unit(&r);
        Filter f;
        run(&f, with(1, 0, p, ORDER_TAU_FIRST), 12, x, false);
        const FilterStage *s = &f.stage[1];
        assert_string_equal(s->name, "top_p");
        double sum = 0, smallest = 1, largest_dropped = 0;
        double whole = 0;
        for (int i = 0; i < 12; i++) whole += exp(x[i]);
        for (int i = 0; i < 12; i++) {
            double probability = exp(x[i]) / whole;
            sum += s->value[i];
            if (s->kept[i]) NEAR(s->value[i], probability, 1e-12);
            if (s->kept[i]) smallest = fmin(smallest, probability);
            if (!s->kept[i]) largest_dropped = fmax(largest_dropped, probability);
        }
        assert_true(sum >= p - 1e-9);
        assert_true(sum - smallest < p);
        assert_true(smallest >= largest_dropped);
        filter_done(&f);
    }
}

/* Exactly k, of equals the lowest ids; the same for top_p and for the argmax. */
static void test_ties(void **state) {
    (void)state;
    const double equal[] = {1, 2, 2, 2, 1};
    expect_final(with(1, 2, 1, ORDER_TAU_FIRST), 5, equal, false, (double[]){0, .5, .5, 0, 0});
    expect_final(with(0, 0, 1, ORDER_TAU_FIRST), 5, equal, false, (double[]){0, 1, 0, 0, 0});
    const double flat[] = {.25, .25, .25, .25};
    expect_final(with(1, 0, .5, ORDER_TAU_FIRST), 4, flat, true, (double[]){.5, .5, 0, 0});
    expect_final(with(1, 0, .51, ORDER_TAU_FIRST), 4, flat, true, (double[]){1 / 3., 1 / 3., 1 / 3., 0});
    Filter f;
    run(&f, with(1, 4, 1, ORDER_TAU_FIRST), 5, (double[]){1, 0, 0, 0, 0}, true);
    assert_int_equal(f.stage[1].count, 4); /* also of what has probability 0 */
    assert_true(f.stage[1].kept[3] && !f.stage[1].kept[4]);
    filter_done(&f);
}

/* top_p looks at what top_k left, renormalised: .6 of .714 is reached by the first alone. */
static void test_top_p_after_top_k(void **state) {
    (void)state;
    Filter f;
    run(&f, with(1, 2, .6, ORDER_TAU_FIRST), 5, five, true);
    assert_int_equal(f.stages, 4);
    NEAR(f.stage[1].value[0], .5, 1e-12);
    NEAR(f.stage[1].value[1], .2, 1e-12);
    assert_int_equal(f.stage[1].count, 2);
    NEAR(f.stage[2].value[0], .5 / .7, 1e-12);
    assert_int_equal(f.stage[2].count, 1);
    NEAR(filter_final(&f)[0], 1, 1e-12);
    filter_done(&f);
    expect_final(with(1, 0, .6, ORDER_TAU_FIRST), 5, five, true, (double[]){.714, .286, 0, 0, 0});
}

static void expect_stages(FilterConfig c, const char *names) {
    Filter f;
    run(&f, c, 3, (double[]){2, 1, 0}, false);
    char got[100] = "";
    for (int s = 0; s < f.stages; s++) {
        strcat(got, s ? " " : "");
        strcat(got, f.stage[s].name);
        int count = 0;
        for (int i = 0; i < 3; i++) {
            count += f.stage[s].kept[i];
            if (!f.stage[s].kept[i]) assert_true(f.stage[s].value[i] == 0);
        }
        assert_int_equal(f.stage[s].count, count);
    }
    assert_string_equal(got, names);
    assert_ptr_equal(filter_final(&f), f.stage[f.stages - 1].value);
    NEAR(f.stage[0].value[0], 2, 0);
    filter_done(&f);
}

static void test_stages(void **state) {
    (void)state;
    expect_stages(filter_defaults(), "logits final");
    expect_stages(with(2, 2, .9, ORDER_TAU_FIRST), "logits temperature top_k top_p final");
    expect_stages(with(2, 2, .9, ORDER_TAU_LAST), "logits top_k top_p temperature final");
    expect_stages(with(0, 0, .9, ORDER_TAU_LAST), "logits top_p temperature final");
    expect_stages(with(1, 2, 1, ORDER_TAU_LAST), "logits top_k final");
    expect_stages(with(.5, 0, 1, ORDER_TAU_FIRST), "logits temperature final");
}

/* A high temperature first lets top_p keep more; last it only flattens what was kept. */
static void test_order_matters(void **state) {
    (void)state;
    const double logits[] = {4, 2, 1, 0};
    Filter f;
    run(&f, with(4, 0, .8, ORDER_TAU_FIRST), 4, logits, false);
    assert_int_equal(f.stage[f.stages - 1].count, 3);
    filter_done(&f);
    run(&f, with(4, 0, .8, ORDER_TAU_LAST), 4, logits, false);
    assert_int_equal(f.stage[f.stages - 1].count, 1);
    filter_done(&f);
    run(&f, with(4, 2, 1, ORDER_TAU_LAST), 4, logits, false);
    double odds = exp(-2 / 4.);
    NEAR(filter_final(&f)[0], 1 / (1 + odds), 1e-12);
    NEAR(filter_final(&f)[1], odds / (1 + odds), 1e-12);
    filter_done(&f);
}

/* Far apart logits: nothing underflows that a temperature would have brought back. */
static void test_extremes(void **state) {
    (void)state;
    Filter f;
    run(&f, with(1000, 0, 1, ORDER_TAU_FIRST), 2, (double[]){0, -2000}, false);
    NEAR(filter_final(&f)[1], exp(-2.) / (1 + exp(-2.)), 1e-12);
    filter_done(&f);
    run(&f, with(1, 0, .5, ORDER_TAU_FIRST), 3, (double[]){-HUGE_VAL, 1e308, -1e308}, false);
    NEAR(filter_final(&f)[1], 1, 0);
    filter_done(&f);
    run(&f, filter_defaults(), 1, (double[]){-5}, false);
    NEAR(filter_final(&f)[0], 1, 0);
    assert_int_equal(filter_draw(&f, .999), 0);
    filter_done(&f);
}

static void expect_refused(const double *x, bool from_probs) {
    Filter f;
    FilterConfig c = filter_defaults();
    filter_init(&f, 2);
    Status s = filter_run(&f, &c, x, from_probs);
    assert_int_equal(s.code, from_probs ? STATUS_USAGE : STATUS_FAILED);
    assert_true(strlen(s.text) > 10);
    filter_done(&f);
}

static void test_refusals(void **state) {
    (void)state;
    expect_refused((double[]){(double)NAN, 0}, false);
    expect_refused((double[]){HUGE_VAL, 0}, false);
    expect_refused((double[]){-HUGE_VAL, -HUGE_VAL}, false);
    expect_refused((double[]){0, 0}, true);
    expect_refused((double[]){-.1, 1.1}, true);
    expect_refused((double[]){(double)NAN, 1}, true);
    expect_refused((double[]){1.5e308, 1.5e308}, true);
    const FilterConfig bad[] = {
        with(-1, 0, 1, 0),  with((double)NAN, 0, 1, 0), with(HUGE_VAL, 0, 1, 0),    with(1, -1, 1, 0),
        with(1, 0, -.1, 0), with(1, 0, 1.1, 0),         with(1, 0, (double)NAN, 0),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Status s = filter_check(&bad[i]);
        assert_int_equal(s.code, STATUS_USAGE);
    }
}

/* U walks the ids from 0; a token of probability 0 is never drawn, not even by rounding. */
static void test_draw(void **state) {
    (void)state;
    Filter f;
    run(&f, filter_defaults(), 5, (double[]){0, .5, 0, .5, 0}, true);
    assert_int_equal(filter_draw(&f, 0), 1);
    assert_int_equal(filter_draw(&f, .4999), 1);
    assert_int_equal(filter_draw(&f, .5), 3);
    assert_int_equal(filter_draw(&f, .9999999999999999), 3);
    assert_int_equal(filter_draw(&f, 1), 3);
    filter_done(&f);
    run(&f, filter_defaults(), 5, five, true);
    Rng r = rng_at(1, "draw", 0);
    int count[5] = {0};
    for (int i = 0; i < 20000; i++) count[filter_draw(&f, rng_unit(&r))]++;
    for (int i = 0; i < 5; i++) NEAR(count[i] / 20000., five[i], .015);
    filter_done(&f);
}

/* Running again allocates nothing: a sampler calls this for every token. */
static void test_allocates_nothing(void **state) {
    (void)state;
    Filter f;
    FilterConfig c = with(.7, 4, .9, ORDER_TAU_LAST);
    run(&f, c, 5, five, true);
    size_t before = mem_count().allocations;
    for (int i = 0; i < 10; i++) {
        assert_ok(filter_run(&f, &c, five, true));
    }
    assert_int_equal(mem_count().allocations, before);
    filter_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temperature),       cmocka_unit_test(test_top),
        cmocka_unit_test(test_top_p_is_smallest), cmocka_unit_test(test_ties),
        cmocka_unit_test(test_top_p_after_top_k), cmocka_unit_test(test_stages),
        cmocka_unit_test(test_order_matters),     cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_draw),
        cmocka_unit_test(test_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
