#include "differ.h"

#include <math.h>

double differ_most(const real *a, const real *b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double away = fabs((double)a[i] - (double)b[i]);
        if (isnan(away)) return away;
        if (away > most) most = away;
    }
    return most;
}
