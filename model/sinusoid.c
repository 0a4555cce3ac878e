#include "sinusoid.h"

#include "bug.h"

#include <math.h>

void sinusoid(int d, double base, double position, double *y) {
    BUG_ON(d % 2);
    for (int i = 0; i < d / 2; i++) {
        double angle = position * pow(base, -2.0 * i / d);
        y[2 * i] = sin(angle);
        y[2 * i + 1] = cos(angle);
    }
}
