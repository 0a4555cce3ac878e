#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic double clock_frozen = -1; /* negative: the clock runs */

static double read_clock(clockid_t clock) {
    double frozen = atomic_load(&clock_frozen);
    if (frozen >= 0) return frozen;
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double clock_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double clock_cpu(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void clock_freeze(double seconds) {
    atomic_store(&clock_frozen, seconds);
}
