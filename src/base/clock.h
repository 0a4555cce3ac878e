/* clock: monotonic seconds. The only reader of the time, so that a test can stop it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_now(void);            /* seconds since some start */
void clock_freeze(double seconds); /* tests: clock_now gives this from now on; negative: runs again */

#endif
