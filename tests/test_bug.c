#include "expect.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say_hook(void) {
    static const char text[] = "hook\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

/* What a child that breaks CONDITION writes to standard error; *END tells how it ended. */
static size_t output_of_bug(int condition, char *text, size_t size, int *end) {
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(pipes[1], STDERR_FILENO);
        bug_set_hook(say_hook);
        BUG_ON(condition == 2);
        _exit(0);
    }
    close(pipes[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(pipes[0], text + len, size - 1 - len)) > 0;) len += (size_t)n;
    text[len] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, end, 0), child);
    return len;
}

static void a_bug_runs_the_hook_says_where_and_aborts(void **state) {
    (void)state;
    char text[1000];
    int end;
    output_of_bug(2, text, sizeof text, &end);
    assert_true(WIFSIGNALED(end));
    assert_int_equal(WTERMSIG(end), SIGABRT);
    assert_ptr_equal(strstr(text, "hook\n"), text);
    assert_non_null(strstr(text, "test_bug.c:"));
    assert_non_null(strstr(text, "condition == 2"));
}

static void no_bug_does_nothing(void **state) {
    (void)state;
    char text[1000];
    int end;
    assert_int_equal(output_of_bug(1, text, sizeof text, &end), 0);
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
