#include "angles.h"

#include <math.h>
#include <stddef.h>

void angles_fill(int size, double base, const RopeScaling *scaling, int first, int n, real *cosine, real *sine) {
    size_t half = (size_t)size / 2;
    for (size_t i = 0; i < half; i++) {
        double speed = rope_speed(base, size, (int)i, scaling);
        for (int r = 0; r < n; r++) {
            double angle = (first + r) * speed;
            cosine[(size_t)r * half + i] = (real)cos(angle);
            sine[(size_t)r * half + i] = (real)sin(angle);
        }
    }
}
