#include "thread.h"

#include "bug.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int thread_cores(int most) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > most ? most : (int)n;
}

void thread_cond_init(pthread_cond_t *c) {
    pthread_condattr_t attributes;
    BUG_ON(pthread_condattr_init(&attributes) != 0);
    BUG_ON(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0);
    BUG_ON(pthread_cond_init(c, &attributes) != 0);
    pthread_condattr_destroy(&attributes);
}

struct timespec thread_deadline(double seconds) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    double whole = floor(seconds);
    at.tv_sec += (time_t)whole;
    at.tv_nsec += (long)((seconds - whole) * 1e9);
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}
