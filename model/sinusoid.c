#include "sinusoid.h"

#include "bug.h"
#include "rope_scaling.h"

#include <math.h>

void sinusoid(int d, double base, double position, double *y) {
    BUG_ON(d % 2);
    for (int i = 0; i < d / 2; i++) {
        double angle = position * rope_speed(base, d, i, &rope_unscaled);
        y[2 * i] = sin(angle);
        y[2 * i + 1] = cos(angle);
    }
}
