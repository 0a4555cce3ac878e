/* thread: a thread beside the one of the terminal. Signals belong to that one: others never see any, except those that
 * report a fault of their own: a blocked fault ends the program before its handler could give the terminal back. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* False when there is no room for another one. pthread_join ends it as usual. */
bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user);
int thread_cores(int most); /* processors that are there, 1 to MOST */
/* A condition whose waits are not moved when somebody sets the clock. */
void thread_cond_init(pthread_cond_t *c);
/* SECONDS from now, as pthread_cond_timedwait takes it of such a condition. */
struct timespec thread_deadline(double seconds);

#endif
