#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic double clock_frozen = -1; /* negative: the clock runs */

double clock_now(void) {
    double frozen = atomic_load(&clock_frozen);
    if (frozen >= 0) return frozen;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_freeze(double seconds) {
    atomic_store(&clock_frozen, seconds);
}
