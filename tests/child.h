/* child: what a test does in a process of its own: what it says on standard error, and how it ends. */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

/* For bug_set_hook: that the hook was called is said. */
static inline void child_say_hook(void) {
    ssize_t n = write(STDERR_FILENO, "hook ", 5);
    (void)n;
}

/* Runs PLAY(DATA) in a child, which ends with 0 when that returns. SAID [BYTES]: what it said, in full when there is
 * room. Returns how it ended, as waitpid has it. */
static inline int child_end(void (*play)(const void *data), const void *data, char *said, size_t bytes) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        play(data);
        _exit(0);
    }
    close(ends[1]);
    size_t all = 0;
    for (ssize_t n; all < bytes - 1 && (n = read(ends[0], said + all, bytes - 1 - all)) > 0;) all += (size_t)n;
    said[all] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

#endif
