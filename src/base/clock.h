/* clock: monotonic seconds, and those of a thread. The only reader of the time, so that a test can stop it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_now(void);            /* seconds since some start */
double clock_cpu(void);            /* seconds that the processor gave to this thread: others do not disturb it */
void clock_freeze(double seconds); /* tests: both give this from now on; negative: runs again */

#endif
