/* The optimisers against their definitions worked out step by step in double, schedules at their ends, clipping,
 * frozen. */
#include "optim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 37 }; /* no multiple of a vector */

static void make(Params *p) {
    params_init(p);
    (void)params_add(p, "matrix", N, 1, INIT_NORMAL, 1);
    (void)params_add(p, "gain", 1, N, INIT_ONE, 0);
    params_seal(p);
    params_fill(p, 1);
}

static void gradient(real *g, int step) {
    for (int i = 0; i < 2 * N; i++) g[i] = (real)(sin(i + 3 * step) * (i % 5 == 0 ? 1e-3 : 1));
}

/* AdamW (Loshchilov and Hutter 2019, algorithm 2, as PyTorch): decay first, then the step with both corrections. */
static void adam_by_the_book(const OptimConfig *c, int steps, double rate, double *x, double clip) {
    for (int i = 0; i < 2 * N; i++) {
        double m = 0, v = 0;
        for (int t = 1; t <= steps; t++) {
            real all[2 * N];
            gradient(all, t - 1);
            double g = (double)all[i] * clip;
            m = c->beta1 * m + (1 - c->beta1) * g;
            v = c->beta2 * v + (1 - c->beta2) * g * g;
            if (i < N) x[i] *= 1 - rate * c->weight_decay;
            double m_hat = m / (1 - pow(c->beta1, t)), v_hat = v / (1 - pow(c->beta2, t));
            x[i] -= rate * m_hat / (sqrt(v_hat) + c->eps);
        }
    }
}

static void test_adamw(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    c.weight_decay = .1;
    Params p;
    Optim o;
    make(&p);
    optim_init(&o, &c, p.count);
    double right[2 * N];
    for (int i = 0; i < 2 * N; i++) right[i] = (double)p.x[i];
    adam_by_the_book(&c, 5, .01, right, 1);
    for (int t = 0; t < 5; t++) {
        real g[2 * N];
        gradient(g, t);
        double norm = optim_update(&o, &p, g, .01), sum = 0;
        for (int i = 0; i < 2 * N; i++) sum += (double)g[i] * (double)g[i];
        assert_true(fabs(norm - sqrt(sum)) < 1e-9);
    }
    assert_int_equal((int)o.updates, 5);
    for (int i = 0; i < 2 * N; i++) assert_true(fabs((double)p.x[i] - right[i]) < 1e-6);
    optim_done(&o);
    params_done(&p);
}

/* The first step is rate * sign(g), whatever the size of g. */
static void test_first_step_is_the_rate(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    Params p;
    Optim o;
    make(&p);
    optim_init(&o, &c, p.count);
    real g[2 * N], before[2 * N];
    gradient(g, 1);
    memcpy(before, p.x, sizeof before);
    (void)optim_update(&o, &p, g, .003);
    for (int i = 0; i < 2 * N; i++) {
        double moved = (double)p.x[i] - (double)before[i];
        assert_true(fabs(moved + (g[i] > 0 ? .003 : -.003)) < 1e-6);
    }
    optim_done(&o);
    params_done(&p);
}

static void test_sgd(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    c.kind = OPTIM_SGD, c.momentum = .9, c.weight_decay = .1;
    Params p;
    Optim o;
    make(&p);
    optim_init(&o, &c, p.count);
    double x[2 * N], m[2 * N] = {0};
    for (int i = 0; i < 2 * N; i++) x[i] = (double)p.x[i];
    for (int t = 0; t < 4; t++) {
        real g[2 * N];
        gradient(g, t);
        (void)optim_update(&o, &p, g, .1);
        for (int i = 0; i < 2 * N; i++) {
            m[i] = .9 * m[i] + (double)g[i] + (i < N ? .1 * x[i] : 0);
            x[i] -= .1 * m[i];
        }
    }
    for (int i = 0; i < 2 * N; i++) assert_true(fabs((double)p.x[i] - x[i]) < 1e-6);
    optim_done(&o);
    params_done(&p);
}

static void test_clip(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    c.kind = OPTIM_SGD, c.clip = .5;
    Params p;
    Optim o;
    make(&p);
    optim_init(&o, &c, p.count);
    real g[2 * N], before[2 * N], kept[2 * N];
    gradient(g, 0);
    memcpy(before, p.x, sizeof before);
    memcpy(kept, g, sizeof g);
    double norm = optim_update(&o, &p, g, 1), moved = 0;
    for (int i = 0; i < 2 * N; i++) moved += pow((double)p.x[i] - (double)before[i], 2);
    assert_true(norm > 1 && fabs(sqrt(moved) - .5) < 1e-5);
    assert_memory_equal(g, kept, sizeof g);
    for (int i = 0; i < 2 * N; i++) g[i] *= (real)1e-3; /* below the limit: not touched */
    memcpy(before, p.x, sizeof before);
    norm = optim_update(&o, &p, g, 1);
    moved = 0;
    for (int i = 0; i < 2 * N; i++) moved += pow((double)p.x[i] - (double)before[i], 2);
    assert_true(fabs(sqrt(moved) - norm) < 1e-5);
    optim_done(&o);
    params_done(&p);
}

static void test_frozen_and_rate(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    c.weight_decay = .1;
    Params p;
    Optim o;
    make(&p);
    optim_init(&o, &c, p.count);
    p.slice[0].frozen = true;
    p.slice[1].rate = .5;
    real g[2 * N], before[2 * N];
    gradient(g, 1);
    memcpy(before, p.x, sizeof before);
    double norm = optim_update(&o, &p, g, .01), sum = 0;
    assert_memory_equal(p.x, before, N * sizeof(real));
    for (int i = N; i < 2 * N; i++) {
        sum += (double)g[i] * (double)g[i];
        assert_true(fabs(fabs((double)p.x[i] - (double)before[i]) - .005) < 1e-6);
    }
    assert_true(fabs(norm - sqrt(sum)) < 1e-9);
    for (int i = 0; i < N; i++) assert_true(o.m[i] == 0 && o.v[i] == 0);
    optim_done(&o);
    params_done(&p);
}

static void test_nan_norm(void **state) {
    (void)state;
    Params p;
    make(&p);
    real g[2 * N];
    gradient(g, 1);
    g[N + 3] = (real)NAN;
    assert_true(isnan(optim_norm(&p, g)));
    params_done(&p);
}

static void expect_near(double x, double right) {
    if (!(fabs(x - right) < 1e-12)) fail_msg("%.15g instead of %.15g", x, right);
}

static void test_schedules(void **state) {
    (void)state;
    OptimConfig c = optim_defaults();
    expect_near(optim_rate(&c, 0, 100), 3e-3);
    expect_near(optim_rate(&c, 50, 100), (3e-3 + 3e-4) / 2);
    expect_near(optim_rate(&c, 25, 100), 3e-4 + 2.7e-3 * .5 * (1 + sqrt(.5)));
    expect_near(optim_rate(&c, 100, 100), 3e-4);
    expect_near(optim_rate(&c, 500, 100), 3e-4);
    c.schedule = SCHEDULE_LINEAR;
    expect_near(optim_rate(&c, 25, 100), 3e-3 - 2.7e-3 / 4);
    c.schedule = SCHEDULE_CONSTANT;
    expect_near(optim_rate(&c, 99, 100), 3e-3);
    c.schedule = SCHEDULE_COSINE;
    c.warmup = 10;
    expect_near(optim_rate(&c, 0, 110), 3e-4);
    expect_near(optim_rate(&c, 4, 110), 1.5e-3);
    expect_near(optim_rate(&c, 9, 110), 3e-3);
    expect_near(optim_rate(&c, 10, 110), 3e-3);
    expect_near(optim_rate(&c, 60, 110), (3e-3 + 3e-4) / 2);
    expect_near(optim_rate(&c, 50, 10), 3e-3); /* nothing left after the warm-up */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adamw),
        cmocka_unit_test(test_first_step_is_the_rate),
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_clip),
        cmocka_unit_test(test_frozen_and_rate),
        cmocka_unit_test(test_nan_norm),
        cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests_name("optim", tests, NULL, NULL);
}
