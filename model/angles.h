/* angles: the cosines and sines that the tape and the decoder turn pairs with, and that sinusoids are made of: pair i
 * of a vector stands at the angle position * rope_speed(base, size, i, scaling), worked out in double. */
#ifndef MODEL_ANGLES_H
#define MODEL_ANGLES_H

#include "real.h"
#include "rope_scaling.h"

/* Of N positions from FIRST on, for vectors of SIZE numbers (even): both [N x SIZE/2]. */
void angles_fill(int size, double base, const RopeScaling *scaling, int first, int n, real *cosine, real *sine);

#endif
