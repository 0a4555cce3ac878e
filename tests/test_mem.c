#include "expect.h"

#include "mem.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static jmp_buf memory_is_out;
static char last_sentence[300];

static void out_of_memory(const char *sentence) {
    strncpy(last_sentence, sentence, sizeof last_sentence - 1);
    longjmp(memory_is_out, 1);
}

#define assert_out_of_memory(statement)                                                                                \
    do {                                                                                                               \
        mem_set_hook(out_of_memory);                                                                                   \
        if (setjmp(memory_is_out) == 0) {                                                                              \
            statement;                                                                                                 \
            fail_msg("memory was given by: %s", #statement);                                                           \
        }                                                                                                              \
        mem_set_hook(NULL);                                                                                            \
    } while (0)

static void counts_follow_every_call(void **state) {
    (void)state;
    MemCount before = mem_count();
    void *a = mem_alloc(10), *b = mem_zero(3, 5), *c = mem_aligned(7, 4), *d = mem_try(2, 2);
    char *e = mem_text("e"), *f = mem_text_n("f", 1);
    void *g = mem_resize(NULL, 4, 4);
    assert_int_equal(mem_count().allocations - before.allocations, 7);
    assert_int_equal(mem_count().live - before.live, 7);
    g = mem_resize(g, 4000, 4);
    assert_int_equal(mem_count().allocations - before.allocations, 8);
    assert_int_equal(mem_count().live - before.live, 7);
    void *all[] = {a, b, c, d, e, f, g, NULL};
    for (int i = 0; i < 8; i++) mem_free(all[i]);
    assert_int_equal(mem_count().live, before.live);
}

static void zeroed_memory_is_zero_and_aligned_memory_aligned(void **state) {
    (void)state;
    for (size_t n = 0; n < 300; n++) {
        unsigned char *p = mem_aligned(n, 1), *q = mem_zero(n, 1);
        assert_int_equal((uintptr_t)p % MEM_ALIGN, 0);
        for (size_t i = 0; i < n; i++) assert_true(p[i] == 0 && q[i] == 0);
        memset(p, 1, n);
        memset(q, 1, n);
        mem_free(p);
        mem_free(q);
    }
}

static void no_bytes_are_memory_too(void **state) {
    (void)state;
    void *p[] = {mem_alloc(0),      mem_zero(0, 8), mem_zero(8, 0),
                 mem_aligned(0, 4), mem_try(0, 0),  mem_resize(NULL, 0, 8)};
    for (int i = 0; i < 6; i++) {
        assert_non_null(p[i]);
        mem_free(p[i]);
    }
}

static void texts_are_copied(void **state) {
    (void)state;
    char *t = mem_text_n("ab\0cd", 5);
    assert_memory_equal(t, "ab\0cd", 6);
    mem_free(t);
    t = mem_text("");
    assert_string_equal(t, "");
    mem_free(t);
    assert_null(mem_text(NULL));
    t = mem_text_n(NULL, 0);
    assert_string_equal(t, "");
    mem_free(t);
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    const size_t half = SIZE_MAX / 2;
    assert_null(mem_try(half, 3));
    assert_null(mem_try(SIZE_MAX, SIZE_MAX));
    assert_null(mem_try(1, SIZE_MAX));
    assert_out_of_memory(mem_zero(half, 3));
    assert_non_null(strstr(last_sentence, "out of memory"));
    assert_out_of_memory(mem_resize(NULL, half, 3));
    assert_out_of_memory(mem_aligned(half, 3));
    assert_out_of_memory(mem_aligned(1, SIZE_MAX - 3));
    assert_out_of_memory(mem_alloc(SIZE_MAX));
    assert_out_of_memory(mem_text_n("", SIZE_MAX));
    assert_out_of_memory(mem_text_n("", SIZE_MAX - 1));
}

static void a_limit_makes_large_requests_fail(void **state) {
    (void)state;
    mem_set_limit(100);
    void *p = mem_try(100, 1);
    assert_non_null(p);
    mem_free(p);
    assert_null(mem_try(101, 1));
    assert_out_of_memory(mem_alloc(101));
    mem_set_limit(0);
    p = mem_try(101, 1);
    assert_non_null(p);
    mem_free(p);
}

static void the_kth_request_fails_once(void **state) {
    (void)state;
    void *p[6] = {NULL};
    mem_set_fail(3);
    for (int i = 0; i < 6; i++) p[i] = mem_try(1, 1);
    for (int i = 0; i < 6; i++) {
        if (i == 2) {
            assert_null(p[i]);
        } else {
            assert_non_null(p[i]);
        }
        mem_free(p[i]);
    }
}

static void fresh_memory_can_be_poisoned(void **state) {
    (void)state;
    mem_set_poison(true);
    float *x = mem_alloc(8 * sizeof *x);
    double *y = mem_alloc(8 * sizeof *y);
    mem_set_poison(false);
    for (int i = 0; i < 8; i++) assert_true(isnan(x[i]) && isnan(y[i]));
    mem_free(x);
    mem_free(y);
}

static void arrays_grow(void **state) {
    (void)state;
    int *x = NULL, used = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        MEM_GROW(x, used, capacity);
        x[used++] = i;
    }
    assert_int_equal(capacity, 1024);
    for (int i = 0; i < 1000; i++) assert_int_equal(x[i], i);
    mem_free(x);
}

static void *allocate_often(void *unused) {
    (void)unused;
    for (int i = 0; i < 20000; i++) mem_free(mem_resize(mem_alloc(8), 2, 8));
    return NULL;
}

static void counts_hold_with_threads(void **state) {
    (void)state;
    MemCount before = mem_count();
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, allocate_often, NULL), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    assert_int_equal(mem_count().live, before.live);
    assert_int_equal(mem_count().allocations - before.allocations, 4 * 2 * 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_follow_every_call),
        cmocka_unit_test(zeroed_memory_is_zero_and_aligned_memory_aligned),
        cmocka_unit_test(no_bytes_are_memory_too),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_limit_makes_large_requests_fail),
        cmocka_unit_test(the_kth_request_fails_once),
        cmocka_unit_test(fresh_memory_can_be_poisoned),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(counts_hold_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
