/* digits: handwriting that nobody wrote: the ten digits as strokes of a pen, each drawn a little differently. For
 * experiments that need pictures and no file. */
#ifndef MODEL_DIGITS_H
#define MODEL_DIGITS_H

#include "real.h"
#include "rng.h"

/* Draws DIGIT (0..9) into pixel [size x size], row by row from the top, 0 is paper and 1 is ink. Turned, slanted,
 * stretched, moved, with a thicker or a thinner pen, its corners moved, and NOISE times a normal number on every
 * pixel, cut to 0..1. */
void digits_draw(Rng *r, int digit, int size, double noise, real *pixel);

#endif
