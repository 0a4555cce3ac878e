#include "expect.h"

#include "rng.h"

#include <math.h>
#include <stdlib.h>

/* The first outputs of the reference implementation (prng.di.unimi.it) from this state. */
static void next_gives_the_published_vectors(void **state) {
    (void)state;
    static const uint64_t expected[] = {
        11520ULL,
        0ULL,
        1509978240ULL,
        1215971899390074240ULL,
        1216172134540287360ULL,
        607988272756665600ULL,
        16172922978634559625ULL,
        8476171486693032832ULL,
        10595114339597558777ULL,
        2904607092377533576ULL,
    };
    Rng r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_true(rng_next(&r) == expected[i]);
}

static void split_gives_the_published_vectors(void **state) {
    (void)state;
    static const uint64_t expected[] = {
        6457827717110365317ULL, 3203168211198807973ULL,  9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL,
    };
    uint64_t s = 1234567;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_true(rng_split(&s) == expected[i]);
}

static bool same(Rng a, Rng b) {
    for (int i = 0; i < 4; i++)
        if (a.s[i] != b.s[i]) return false;
    return true;
}

/* Files and expected numbers elsewhere depend on this never changing. */
static void a_place_gives_always_the_same_numbers(void **state) {
    (void)state;
    Rng r = rng_at(42, "init", 7);
    assert_true(same(r, rng_at(42, "init", 7)));
    assert_true(rng_next(&r) == 5016256089651164308ULL);
    assert_true(rng_next(&r) == 617263416637747045ULL);
}

static void seed_stream_and_step_all_count(void **state) {
    (void)state;
    Rng r = rng_at(1, "batch", 2);
    assert_false(same(r, rng_at(2, "batch", 1)));
    assert_false(same(r, rng_at(1, "batch", 3)));
    assert_false(same(r, rng_at(3, "batch", 2)));
    assert_false(same(r, rng_at(1, "batc", 2)));
    assert_false(same(r, rng_at(1, "batch2", 2)));
    assert_false(same(rng_at(0, "", 0), rng_at(0, "", 1)));
    assert_false(same(rng_at(0, "", 1), rng_at(1, "", 0)));
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Neighbouring seeds and steps: no two generators start alike. */
static void places_do_not_collide(void **state) {
    (void)state;
    enum { SIDE = 200 };
    static uint64_t first[3 * SIDE * SIDE];
    static const char *const stream[] = {"init", "batch", "corpus.train"};
    size_t n = 0;
    for (int k = 0; k < 3; k++)
        for (uint64_t seed = 0; seed < SIDE; seed++)
            for (uint64_t step = 0; step < SIDE; step++) {
                Rng r = rng_at(seed, stream[k], step);
                first[n++] = rng_next(&r);
            }
    qsort(first, n, sizeof *first, compare);
    for (size_t i = 1; i < n; i++) assert_true(first[i] != first[i - 1]);
}

static void unit_is_in_range_with_the_right_moments(void **state) {
    (void)state;
    enum { N = 1000000 };
    Rng r = rng_at(1, "unit", 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        double x = rng_unit(&r);
        assert_true(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / N - 1.0 / 2) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
}

/* The states whose next outputs are all ones and all zeros. */
static void unit_reaches_both_ends(void **state) {
    (void)state;
    const Rng ones = {{0, 0x4fc71c71c71c71c7ULL, 0, 0}}, zeros = {{1, 0, 0, 0}};
    Rng r = ones;
    assert_true(rng_next(&r) == UINT64_MAX);
    r = ones;
    assert_true(rng_unit(&r) == 1 - 0x1p-53);
    r = zeros;
    assert_true(rng_unit(&r) == 0);
}

/* Chi-square with n-1 degrees of freedom, normalised: about N(0,1) when uniform. */
static double surplus(Rng *r, int n, int draws) {
    int count[100] = {0};
    double chi = 0, expected = (double)draws / n;
    for (int i = 0; i < draws; i++) {
        uint64_t x = rng_below(r, (uint64_t)n);
        assert_true(x < (uint64_t)n);
        count[x]++;
    }
    for (int i = 0; i < n; i++) chi += (count[i] - expected) * (count[i] - expected) / expected;
    return n > 1 ? (chi - (n - 1)) / sqrt(2.0 * (n - 1)) : 0;
}

static void below_is_uniform(void **state) {
    (void)state;
    Rng r = rng_at(5, "below", 0);
    for (int n = 1; n <= 100; n++) assert_true(surplus(&r, n, 20000) < 5);
    assert_bug(rng_below(&r, 0));
}

/* With n = 3 * 2^62 four words fall on three results: without drawing again, those that three divides came twice as
 * often. */
static void below_is_unbiased_for_large_ranges(void **state) {
    (void)state;
    enum { N = 300000 };
    const uint64_t n = 3ULL << 62;
    Rng r = rng_at(6, "below", 0);
    int third[3] = {0}, rest[3] = {0};
    for (int i = 0; i < N; i++) {
        uint64_t x = rng_below(&r, n);
        assert_true(x < n);
        third[x >> 62]++;
        rest[x % 3]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(third[i] - N / 3.0) < 5 * sqrt(N * 2.0 / 9));
        assert_true(fabs(rest[i] - N / 3.0) < 5 * sqrt(N * 2.0 / 9));
    }
    for (int i = 0; i < 1000; i++) assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void normal_has_the_right_moments(void **state) {
    (void)state;
    enum { N = 1000000 };
    Rng r = rng_at(3, "normal", 0);
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    int within = 0;
    for (int i = 0; i < N; i++) {
        double x = rng_normal(&r), square = x * x;
        m1 += x;
        m2 += square;
        m3 += square * x;
        m4 += square * square;
        within += fabs(x) < 1;
    }
    assert_true(fabs(m1 / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(m2 / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(m3 / N) < 5 * sqrt(15.0 / N));
    assert_true(fabs(m4 / N - 3) < 5 * sqrt(96.0 / N));
    assert_true(fabs((double)within / N - 0.6826894921370859) < 5 * sqrt(0.217 / N));
}

/* A copy of the state gives the same numbers: nothing is kept elsewhere. */
static void normal_keeps_no_hidden_state(void **state) {
    (void)state;
    Rng r = rng_at(9, "normal", 0);
    for (int i = 0; i < 100; i++) {
        Rng copy = r;
        double x = rng_normal(&r);
        assert_true(rng_normal(&copy) == x);
        assert_true(same(r, copy));
    }
}

static void shuffle_gives_each_order_equally_often(void **state) {
    (void)state;
    enum { N = 24000 };
    int count[256] = {0};
    Rng r = rng_at(8, "shuffle", 0);
    for (int i = 0; i < N; i++) {
        int x[4] = {0, 1, 2, 3};
        rng_shuffle(&r, x, 4);
        count[x[0] | x[1] << 2 | x[2] << 4 | x[3] << 6]++;
    }
    int orders = 0;
    double chi = 0;
    for (int i = 0; i < 256; i++) {
        if (!count[i]) continue;
        orders++;
        chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000.0;
    }
    assert_int_equal(orders, 24);
    assert_true((chi - 23) / sqrt(46.0) < 5);
    rng_shuffle(&r, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_gives_the_published_vectors),
        cmocka_unit_test(split_gives_the_published_vectors),
        cmocka_unit_test(a_place_gives_always_the_same_numbers),
        cmocka_unit_test(seed_stream_and_step_all_count),
        cmocka_unit_test(places_do_not_collide),
        cmocka_unit_test(unit_is_in_range_with_the_right_moments),
        cmocka_unit_test(unit_reaches_both_ends),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_is_unbiased_for_large_ranges),
        cmocka_unit_test(normal_has_the_right_moments),
        cmocka_unit_test(normal_keeps_no_hidden_state),
        cmocka_unit_test(shuffle_gives_each_order_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
