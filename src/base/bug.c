#include "bug.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*BugHook)(void);

static _Atomic(BugHook) bug_hook;

void bug_set_hook(void (*hook)(void)) {
    atomic_store(&bug_hook, hook);
}

void bug_run_hook(void) {
    BugHook hook = atomic_exchange(&bug_hook, NULL); /* once: the hook itself may break */
    if (hook) hook();
}

_Noreturn void bug_abort(const char *file, int line, const char *condition) {
    bug_run_hook();
    fprintf(stderr, "lantern: bug at %s:%d: %s\n", file, line, condition);
    fflush(stderr);
    abort();
}
