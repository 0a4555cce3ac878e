#include "vmath.h"

#include "simd.h"
#include "vmath_scalar.h"

#define MAP(name, formula)                                                                                             \
    SIMD_CLONES static void map_##name(int n, const real *x, real *y) {                                                \
        for (int i = 0; i < n; i++) y[i] = formula;                                                                    \
    }                                                                                                                  \
    void vmath_##name(int n, const real *x, real *y) {                                                                 \
        map_##name(n, x, y);                                                                                           \
    }

/* The slope is worked out for nothing only on paper: the compiler drops what nobody reads. */
#define MAP_SLOPED(name)                                                                                               \
    SIMD_INLINE real value_of_##name(real x) {                                                                         \
        real slope;                                                                                                    \
        return scalar_##name##_slope(x, &slope);                                                                       \
    }                                                                                                                  \
    MAP(name, value_of_##name(x[i]))

MAP(exp, scalar_exp(x[i]))
MAP(tanh, scalar_tanh(x[i]))
MAP(sigmoid, scalar_sigmoid(x[i]))
MAP_SLOPED(gelu)
MAP_SLOPED(gelu_tanh)
MAP_SLOPED(silu)

SIMD_CLONES static void softmax(int rows, int cols, const real *x, real *y) {
    for (int r = 0; r < rows; r++, x += cols, y += cols) {
        real factor = (real)1 / row_exp(cols, x, row_max(cols, x), y);
        for (int i = 0; i < cols; i++) y[i] *= factor;
    }
}

void vmath_softmax(int rows, int cols, const real *x, real *y) {
    softmax(rows, cols, x, y);
}
