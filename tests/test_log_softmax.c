/* log_softmax: libm's numbers, and what is not a number. */
#include "expect.h"

#include "decode/log_softmax.h"
#include "rng.h"

#include <float.h>
#include <math.h>

enum { MOST = 1000 };

/* The same with libm, the sum in long double. */
static void expect_right(int n, const real *x) {
    double got[MOST], most = (double)-INFINITY;
    long double sum = 0;
    for (int i = 0; i < n; i++) most = fmax(most, (double)x[i]);
    for (int i = 0; i < n; i++) sum += expl((long double)x[i] - (long double)most);
    log_softmax(n, x, got);
    double log_z = log_sum_exp(n, x);
    assert_true((double)x[n / 3] - log_z == got[n / 3] || isinf(x[n / 3]));
    long double exact = (long double)x[n / 3] - (long double)most - logl(sum);
    double one = log_softmax_of(n, x, n / 3);
    if (!isinf(x[n / 3]) && !(fabs(one - (double)exact) <= 4 * DBL_EPSILON * fmax(1, fabs((double)exact))))
        fail_msg("%d: %.17g, not %.17Lg", n, one, exact);
    for (int i = 0; i < n; i++) {
        double want = (double)((long double)x[i] - (long double)most - logl(sum));
        if (got[i] == want) continue; /* -inf */
        if (!(fabs(got[i] - want) <= 4 * DBL_EPSILON * fmax(1, fmax(fabs(want), fabs(most)))))
            fail_msg("%d of %d: %.17g, not %.17g", i, n, got[i], want);
    }
}

static void as_libm_has_it(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 7, 8, 9, 56, 512, MOST};
    static const double spreads[] = {0, 1e-3, 1, 10, 100, 1000};
    real x[MOST];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
            Rng r = rng_at(7, "test", s * 10 + k);
            for (int i = 0; i < sizes[s]; i++) x[i] = (real)(spreads[k] * rng_normal(&r) + (double)k);
            expect_right(sizes[s], x);
            x[sizes[s] / 2] = (real)-INFINITY;
            if (sizes[s] > 1) expect_right(sizes[s], x);
        }
    for (int i = 0; i < MOST; i++) x[i] = (real)(-i * 0.75); /* exp over all its range, down to 0 */
    expect_right(MOST, x);
}

static void not_a_number(void **state) {
    (void)state;
    real nan[20] = {0}, none[3] = {(real)-INFINITY, (real)-INFINITY, (real)-INFINITY};
    double out[20];
    for (int at = 0; at < 20; at++) {
        nan[at] = (real)NAN;
        log_softmax(20, nan, out);
        for (int i = 0; i < 20; i++) assert_true(isnan(out[i]));
        nan[at] = 0;
    }
    log_softmax(3, none, out);
    for (int i = 0; i < 3; i++) assert_true(isnan(out[i]));
    nan[3] = (real)INFINITY;
    log_softmax(20, nan, out);
    assert_true(isnan(out[3]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_libm_has_it),
        cmocka_unit_test(not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
