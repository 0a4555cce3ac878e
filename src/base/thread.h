/* thread: a thread beside the one of the terminal. Signals belong to that one: others never see any, except those that
 * report a fault of their own: a blocked fault ends the program before its handler could give the terminal back. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False when there is no room for another one. pthread_join ends it as usual. */
bool thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

#endif
