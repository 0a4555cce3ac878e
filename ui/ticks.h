/* ticks: round numbers along an axis, and how they are written: all of one axis with the same decimals and unit. */
#ifndef UI_TICKS_H
#define UI_TICKS_H

#include <stddef.h>

#define TICKS_MOST 16

typedef struct {
    double at[TICKS_MOST]; /* rising */
    int count;
    int decimals;       /* -1: as many as a number has */
    double scale;       /* labels show a number times this, and the suffix */
    const char *suffix; /* "", "k", "M" */
} Ticks;

/* At most MOST steps of 1, 2 or 5 times a power of ten from LOW to HIGH; none when the range is empty. */
Ticks ticks_linear(double low, double high, int most);
Ticks ticks_whole(double low, double high, int most); /* the same at whole numbers alone: steps, positions, counts */
/* Where an axis from LOW should end so that its last tick stands at its end: the first step at or above HIGH. */
double ticks_top(double low, double high, int most);
/* LOW, HIGH and the ticks are exponents of ten. Ticks at 1, 2 and 5 times powers of ten, or at powers
 * alone when those are enough; within one decade at round numbers. */
Ticks ticks_log(double low, double high, int most);
void ticks_label(const Ticks *t, double value, char *out, size_t bytes);

#endif
