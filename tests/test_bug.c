#include "expect.h"

#include "child.h"

#include <signal.h>
#include <string.h>

/* CONDITION (int) 2 breaks it. */
static void break_condition(const void *data) {
    int condition = *(const int *)data;
    (void)signal(SIGABRT, SIG_DFL);
    bug_set_hook(child_say_hook);
    BUG_ON(condition == 2);
}

static void a_bug_runs_the_hook_says_where_and_aborts(void **state) {
    (void)state;
    char text[1000];
    int end = child_end(break_condition, &(int){2}, text, sizeof text);
    assert_true(WIFSIGNALED(end));
    assert_int_equal(WTERMSIG(end), SIGABRT);
    assert_ptr_equal(strstr(text, "hook "), text);
    assert_non_null(strstr(text, "test_bug.c:"));
    assert_non_null(strstr(text, "condition == 2"));
}

static void no_bug_does_nothing(void **state) {
    (void)state;
    char text[1000];
    int end = child_end(break_condition, &(int){1}, text, sizeof text);
    assert_string_equal(text, "");
    assert_true(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

static int evaluations;

static int count_one(void) {
    evaluations++;
    return 0;
}

static void the_condition_is_evaluated_once(void **state) {
    (void)state;
    evaluations = 0;
    BUG_ON(count_one());
    assert_int_equal(evaluations, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bug_runs_the_hook_says_where_and_aborts),
        cmocka_unit_test(no_bug_does_nothing),
        cmocka_unit_test(the_condition_is_evaluated_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
