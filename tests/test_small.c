/* clock, cancel, thread, hash and field: the smallest modules of the base. */
#include "expect.h"

#include "cancel.h"
#include "clock.h"
#include "field.h"
#include "hash.h"
#include "mem.h"
#include "room.h"
#include "thread.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

static void the_clock_runs_forwards(void **state) {
    (void)state;
    double before = clock_now();
    for (int i = 0; i < 1000; i++) {
        double now = clock_now();
        assert_true(now >= before);
        before = now;
    }
    assert_true(before > 0);
}

static void a_frozen_clock_stands_still(void **state) {
    (void)state;
    clock_freeze(12.5);
    assert_true(clock_now() == 12.5);
    clock_freeze(0);
    assert_true(clock_now() == 0);
    clock_freeze(-1);
    assert_true(clock_now() > 0);
}

static void a_flag_cancels_what_it_was_lent_to(void **state) {
    (void)state;
    atomic_bool outer = false, inner = true;
    assert_false(cancel_wanted()); /* nobody can */
    assert_null(cancel_lend(&outer));
    assert_false(cancel_wanted());
    const atomic_bool *before = cancel_lend(&inner);
    assert_true(cancel_wanted());
    assert_ptr_equal(cancel_lend(before), &inner);
    assert_false(cancel_wanted());
    atomic_store(&outer, true);
    assert_true(cancel_wanted());
    cancel_lend(NULL);
    assert_false(cancel_wanted());
}

static void *ask_for_mask(void *mask) {
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return NULL;
}

static void a_thread_beside_sees_only_its_own_faults(void **state) {
    (void)state;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT, SIGALRM, SIGUSR1};
    pthread_t thread;
    sigset_t before, mask, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_true(thread_start(&thread, ask_for_mask, &mask));
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) assert_false(sigismember(&mask, faults[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_true(sigismember(&mask, others[i]));
    for (int i = 1; i < 32; i++) assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

static void a_wait_ends_at_its_deadline(void **state) {
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never;
    thread_cond_init(&never);
    struct timespec soon = thread_deadline(0.001), later = thread_deadline(1000.75);
    assert_true(soon.tv_nsec >= 0 && soon.tv_nsec < 1000000000L && later.tv_nsec >= 0 && later.tv_nsec < 1000000000L);
    double between = (double)(later.tv_sec - soon.tv_sec) + 1e-9 * (double)(later.tv_nsec - soon.tv_nsec);
    assert_true(between > 1000.7 && between < 1100);
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    assert_int_equal(pthread_cond_timedwait(&never, &lock, &soon), ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&never);
    assert_int_equal(thread_cores(1), 1);
    assert_true(thread_cores(1000) >= 1 && thread_cores(1000) <= 1000);
}

/* http://www.isthe.com/chongo/tech/comp/fnv: the published values of FNV-1a. */
static void hash_gives_the_published_values(void **state) {
    (void)state;
    assert_true(hash_bytes(HASH_START, "", 0) == 0xcbf29ce484222325ULL);
    assert_true(hash_bytes(HASH_START, "a", 1) == 0xaf63dc4c8601ec8cULL);
    assert_true(hash_bytes(HASH_START, "foobar", 6) == 0x85944171f73967e8ULL);
    uint64_t h = hash_bytes(HASH_START, "foo", 3);
    assert_true(hash_bytes(h, "bar", 3) == 0x85944171f73967e8ULL);
}

static void a_field_is_row_major_and_starts_cleared(void **state) {
    (void)state;
    const int dim[] = {2, 3, 4};
    Field *f = field_new(3, dim, "attention.%d.weight", 7);
    assert_string_equal(f->name, "attention.7.weight");
    assert_int_equal(field_count(f), 24);
    assert_int_equal(f->dim[3], 1);
    for (int i = 0; i < 24; i++) assert_true(f->x[i] == 0);
    for (int i = 0; i < 24; i++) f->x[i] = (real)i;
    assert_true(field_at(f, 0, 0, 0, 0) == 0);
    assert_true(field_at(f, 1, 2, 3, 0) == 23);
    assert_true(field_at(f, 1, 0, 2, 0) == 14);
    f->x[3] = -30, f->x[4] = (real)-HUGE_VAL;
    assert_true(field_most(f) == 30);
    field_free(f);
    field_free(NULL);
}

static void a_field_may_have_no_numbers(void **state) {
    (void)state;
    const int dim[] = {0, 5};
    Field *f = field_new(2, dim, "empty");
    assert_int_equal(field_count(f), 0);
    assert_true(field_most(f) == 0);
    assert_bug(field_at(f, 0, 0, 0, 0));
    field_free(f);
}

static void a_subscript_outside_is_a_bug(void **state) {
    (void)state;
    const int dim[] = {2, 3};
    Field *f = field_new(2, dim, "x");
    assert_bug(field_at(f, 2, 0, 0, 0));
    assert_bug(field_at(f, 0, 3, 0, 0));
    assert_bug(field_at(f, 0, 0, 1, 0));
    assert_bug(field_at(f, -1, 0, 0, 0));
    field_free(f);
}

static void there_is_room_or_there_is_not(void **state) {
    (void)state;
    assert_true(room_left() > 1 << 20); /* for this test there was */
    room_pretend(12345);
    assert_int_equal(room_left(), 12345);
    room_pretend(0);
    assert_true(room_left() > 1 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_runs_forwards),
        cmocka_unit_test(a_frozen_clock_stands_still),
        cmocka_unit_test(a_flag_cancels_what_it_was_lent_to),
        cmocka_unit_test(a_thread_beside_sees_only_its_own_faults),
        cmocka_unit_test(a_wait_ends_at_its_deadline),
        cmocka_unit_test(hash_gives_the_published_values),
        cmocka_unit_test(there_is_room_or_there_is_not),
        cmocka_unit_test(a_field_is_row_major_and_starts_cleared),
        cmocka_unit_test(a_field_may_have_no_numbers),
        cmocka_unit_test(a_subscript_outside_is_a_bug),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
