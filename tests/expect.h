/* expect: what every test file needs. Include it first; it brings cmocka. */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bug.h"
#include "mem.h"
#include "status.h"

#ifdef __SANITIZE_THREAD__
#define EXPECT_THREAD_SANITIZER 1
#elif defined __has_feature
#define EXPECT_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define EXPECT_THREAD_SANITIZER 0
#endif

/* Under a sanitizer every path still runs, but what only repeats it with other numbers may be done less often. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define EXPECT_SANITIZER 1
#elif defined __has_feature
#define EXPECT_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define EXPECT_SANITIZER 0
#endif

static jmp_buf expect_jump;

static inline void expect_hook(void) {
    longjmp(expect_jump, 1);
}

/* STATEMENT must run into a BUG_ON. It must not change locals that are read afterwards. */
#define assert_bug(statement)                                                                                          \
    do {                                                                                                               \
        bug_set_hook(expect_hook);                                                                                     \
        if (setjmp(expect_jump) == 0) {                                                                                \
            statement;                                                                                                 \
            bug_set_hook(NULL);                                                                                        \
            fail_msg("no bug was noticed in: %s", #statement);                                                         \
        }                                                                                                              \
    } while (0)

/* CALL gives a Status that must be STATUS_OK. */
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        Status expect_status_ = (call);                                                                                \
        if (!status_is_ok(&expect_status_)) fail_msg("%s: %s", #call, expect_status_.text);                            \
    } while (0)

/* CALL gives a Status with this code and exactly this sentence. */
#define assert_status(call, wanted_code, wanted_text)                                                                  \
    do {                                                                                                               \
        Status expect_status_ = (call);                                                                                \
        assert_string_equal(expect_status_.text, wanted_text);                                                         \
        assert_int_equal(expect_status_.code, wanted_code);                                                            \
    } while (0)

/* The last test of a file: those before it gave back all that they took. (A failing group teardown would not count.) */
static inline void all_is_freed(void **state) {
    (void)state;
    assert_int_equal(mem_count().live, 0);
}

#endif
