/* History: even spacing within a limit of memory, and the first state always there. */
#include "expect.h"

#include "history.h"
#include "mem.h"

static Run *small_run(void) {
    Options *o = run_options();
    static const char *const pairs[] = {"d=8", "layers=1", "heads=2", "context=16", "sentences=400", "batch=2"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) assert_ok(options_set_pair(o, pairs[i]));
    Run *r;
    assert_ok(run_new(o, 1, 1, &r));
    options_free(o);
    return r;
}

static size_t one_memory(Run *r) {
    return sizeof(RunMemory) + 3 * model_params(run_model(r))->count * sizeof(real);
}

static void keeps_every_multiple_of_the_spacing(void **state) {
    (void)state;
    Run *r = small_run();
    History *h = history_new(100 * one_memory(r));
    assert_null(history_nearest(h, 0));
    history_keep(h, r);
    for (int i = 1; i <= 100; i++) {
        run_step(r);
        history_keep(h, r);
    }
    const long *steps;
    int n = history_kept(h, &steps);
    assert_int_equal(n, 1 + 100 / history_spacing(h));
    for (int i = 0; i < n; i++) assert_int_equal(steps[i], i * history_spacing(h));
    assert_int_equal(history_nearest(h, 0)->done, 0);
    assert_int_equal(history_nearest(h, history_spacing(h) - 1)->done, 0);
    assert_int_equal(history_nearest(h, history_spacing(h))->done, history_spacing(h));
    assert_int_equal(history_nearest(h, 1000000)->done, steps[n - 1]);
    history_keep(h, r); /* the same step again is not kept twice */
    assert_int_equal(history_kept(h, &steps), n);
    history_free(h);
    run_free(r);
}

static void never_needs_more_than_the_limit(void **state) {
    (void)state;
    Run *r = small_run();
    for (int room = 1; room <= 5; room++) {
        History *h = history_new((size_t)room * one_memory(r) + 10);
        Run *twin = run_twin(r);
        history_keep(h, twin);
        for (int i = 0; i < 300; i++) {
            run_step(twin);
            history_keep(h, twin);
            assert_true(history_bytes(h) <= (size_t)room * one_memory(r) + 10);
        }
        const long *steps;
        int n = history_kept(h, &steps);
        assert_int_equal(steps[0], 0);
        assert_true(n >= (room > 1 ? room / 2 + 1 : 1));
        for (int i = 1; i < n; i++) assert_true(steps[i] > steps[i - 1] && steps[i] % history_spacing(h) == 0);
        if (room > 2) assert_true(steps[n - 1] >= 100); /* spread over the whole past */
        run_free(twin);
        history_free(h);
    }
    run_free(r);
}

static void the_first_state_stays_whatever_the_limit(void **state) {
    (void)state;
    size_t before = mem_count().live;
    Run *r = small_run();
    History *h = history_new(1);
    history_keep(h, r);
    for (int i = 0; i < 50; i++) {
        run_step(r);
        history_keep(h, r);
    }
    const long *steps;
    assert_int_equal(history_kept(h, &steps), 1);
    assert_int_equal(history_nearest(h, 50)->done, 0);
    history_free(h);
    run_free(r);
    assert_int_equal(mem_count().live, before);
}

static void a_fork_forgets_what_came_after(void **state) {
    (void)state;
    Run *r = small_run();
    History *h = history_new(1 << 30);
    history_keep(h, r);
    for (int i = 0; i < 64; i++) {
        run_step(r);
        history_keep(h, r);
    }
    long spacing = history_spacing(h);
    history_forget_after(h, spacing + 4);
    assert_int_equal(history_nearest(h, 64)->done, spacing);
    history_forget_after(h, 0);
    assert_int_equal(history_nearest(h, 64)->done, 0);
    history_free(h);
    run_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_every_multiple_of_the_spacing),
        cmocka_unit_test(never_needs_more_than_the_limit),
        cmocka_unit_test(the_first_state_stays_whatever_the_limit),
        cmocka_unit_test(a_fork_forgets_what_came_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
