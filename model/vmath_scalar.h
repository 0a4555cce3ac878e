/* vmath_scalar: the formulas of vmath for one number, written so that a loop around them becomes vector code: no calls,
 * no branches; and the two loops of every softmax. For the kernels in model/; everybody else uses the arrays of
 * vmath.h.
 *
 * The coefficients are minimax fits (Remez) of relative error; in double libm does the work and the loops are not
 * vectorised. */
#ifndef MODEL_VMATH_SCALAR_H
#define MODEL_VMATH_SCALAR_H

#include "real.h"
#include "simd.h"

#include <math.h>
#include <stdint.h>

#define REAL_INFINITY ((real)INFINITY)

#if REAL_IS_DOUBLE

SIMD_INLINE real scalar_sqrt(real x) {
    return sqrt(x);
}
SIMD_INLINE real scalar_abs(real x) {
    return fabs(x);
}
SIMD_INLINE real scalar_exp(real x) {
    return exp(x);
}
SIMD_INLINE real scalar_tanh(real x) {
    return tanh(x);
}

/* The normal distribution function; *bell = exp(-x^2/2). */
SIMD_INLINE real scalar_normal(real x, real *bell) {
    *bell = exp(-0.5 * x * x);
    return 0.5 * erfc(x * -0.70710678118654752440);
}

#else

SIMD_INLINE real scalar_sqrt(real x) {
    return sqrtf(x);
}
SIMD_INLINE real scalar_abs(real x) {
    return fabsf(x);
}

/* exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 P(r). Of x in [-86.98, 88.72]. */
SIMD_INLINE real scalar_exp_inside(real c) {
    const float shift = 12582912.0F; /* adding 1.5 * 2^23 rounds to an integer */
    union {
        float f;
        int32_t i;
    } t = {.f = c * 1.44269504F + shift}, power;
    float k = t.f - shift;
    float r = (c - k * 0.693359375F) + k * 2.12194440e-4F;
    float p = 0.0013814320554956794F;
    p = p * r + 0.00836885068565607F;
    p = p * r + 0.041668400168418884F;
    p = p * r + 0.1666651964187622F;
    p = p * r + 0.4999999403953552F;
    p = p * (r * r) + r + 1.0F;
    power.i = (int32_t)((uint32_t)(t.i - 0x4B400000 + 126) << 23); /* 2^(k-1): k reaches 128 */
    return p * 2.0F * power.f;
}

SIMD_INLINE real scalar_exp(real x) {
    const float low = -86.98F, high = 88.7228F;
    float c = x < low ? low : x; /* NaN passes both comparisons */
    float y = scalar_exp_inside(c > high ? high : c);
    y = x < low ? 0.0F : y;
    return x > high ? INFINITY : y;
}

/* The same of x <= 0, as a softmax asks for it. */
SIMD_INLINE real scalar_exp_below(real x) {
    const float low = -86.98F;
    float y = scalar_exp_inside(x < low ? low : x);
    return x < low ? 0.0F : y;
}

/* Near 0 an odd polynomial, else 1 - 2 / (exp(2|x|) + 1) with the sign of x. */
SIMD_INLINE real scalar_tanh(real x) {
    float z = x * x, a = fabsf(x);
    float p = -0.005717045311003415F;
    p = p * z + 0.02065058756692837F;
    p = p * z + -0.0537434981827989F;
    p = p * z + 0.13331491288573813F;
    p = p * z + -0.3333328392536763F;
    float small = x + x * z * p;
    float large = copysignf(1.0F - 2.0F / (scalar_exp(2.0F * a) + 1.0F), x);
    return a < 0.625F ? small : large;
}

/* The normal distribution function: for x >= 0 the tail is exp(-x^2/2) P(t), t = 1 / (1 + p x); *bell = exp(-x^2/2). */
SIMD_INLINE real scalar_normal(real x, real *bell) {
    float t = 1.0F / (1.0F + 0.2316419F * fabsf(x));
    float p = -0.07115218528780935F;
    p = p * t + 0.25082469020248105F;
    p = p * t + -0.2072916003750067F;
    p = p * t + 0.2306953946715104F;
    p = p * t + 0.010499343110900214F;
    p = p * t + 0.10364228930879804F;
    p = p * t + 0.09024746482757784F;
    p = p * t + 0.09253464930764893F;
    *bell = scalar_exp(-0.5F * x * x);
    float tail = *bell * (p * t);
    return x >= 0.0F ? 1.0F - tail : tail;
}

#endif

/* cap tanh(x / cap); *t: the tanh. */
SIMD_INLINE real scalar_softcap(real x, real cap, real *t) {
    *t = scalar_tanh(x / cap);
    return cap * *t;
}

SIMD_INLINE real scalar_sigmoid(real x) {
    return (real)1 / ((real)1 + scalar_exp(-x));
}

/* Far from 0 the activations are -0 or x and their slopes are flat: the limit keeps infinity * 0 from becoming NaN. */
SIMD_INLINE real scalar_within(real x, real limit) {
    return x < -limit ? -limit : x > limit ? limit : x;
}
SIMD_INLINE real scalar_not_below(real x, real limit) {
    return x < limit ? limit : x;
}

/* Each gives f(x) and stores f'(x); where the slope is not used the compiler leaves it out. */
SIMD_INLINE real scalar_relu_slope(real x, real *slope) {
    *slope = x < 0 ? 0 : x > 0 ? (real)1 : x;
    return x < 0 ? 0 : x;
}

SIMD_INLINE real scalar_squared_relu_slope(real x, real *slope) {
    real y = x < 0 ? 0 : x;
    *slope = (real)2 * y;
    return y * y;
}

SIMD_INLINE real scalar_gelu_slope(real x, real *slope) {
    real bell, near = scalar_within(x, 50), phi = scalar_normal(near, &bell);
    *slope = phi + near * (real)0.39894228040143267794 * bell;
    return scalar_not_below(x, -50) * phi;
}

SIMD_INLINE real scalar_gelu_tanh_slope(real x, real *slope) {
    const real twice_root = (real)1.5957691216057308; /* 2 sqrt(2 / pi): (1 + tanh u) / 2 = sigmoid(2 u) */
    real near = scalar_within(x, 50), square = near * near;
    real s = scalar_sigmoid(twice_root * near * ((real)1 + (real)0.044715 * square));
    *slope = s + near * s * ((real)1 - s) * twice_root * ((real)1 + (real)0.134145 * square);
    return scalar_not_below(x, -50) * s;
}

SIMD_INLINE real scalar_silu_slope(real x, real *slope) {
    real near = scalar_within(x, 800), s = scalar_sigmoid(near);
    *slope = s + near * s * ((real)1 - s);
    return scalar_not_below(x, -800) * s;
}

SIMD_INLINE real scalar_tanh_slope(real x, real *slope) {
    real y = scalar_tanh(x);
    *slope = (real)1 - y * y;
    return y;
}

SIMD_INLINE real scalar_sigmoid_slope(real x, real *slope) {
    real y = scalar_sigmoid(x);
    *slope = y * ((real)1 - y);
    return y;
}

/* --- rows: sums and maxima in vectors, whose lanes are joined at the end in a fixed order --- */

SIMD_INLINE real row_sum(int n, const real *x) {
    SimdReal sum0, sum1, x0, x1;
    int i = 0;
    SIMD_ZERO(sum0);
    SIMD_ZERO(sum1);
    for (; i + 2 * SIMD_WIDTH <= n; i += 2 * SIMD_WIDTH) {
        SIMD_LOAD(x0, x + i);
        SIMD_LOAD(x1, x + i + SIMD_WIDTH);
        sum0 += x0;
        sum1 += x1;
    }
    sum0 += sum1;
    real sum = simd_total(&sum0);
    for (; i < n; i++) sum += x[i];
    return sum;
}

SIMD_INLINE real row_dot(int n, const real *x, const real *y) {
    SimdReal sum0, sum1, x0, x1, y0, y1;
    int i = 0;
    SIMD_ZERO(sum0);
    SIMD_ZERO(sum1);
    for (; i + 2 * SIMD_WIDTH <= n; i += 2 * SIMD_WIDTH) {
        SIMD_LOAD(x0, x + i);
        SIMD_LOAD(y0, y + i);
        SIMD_LOAD(x1, x + i + SIMD_WIDTH);
        SIMD_LOAD(y1, y + i + SIMD_WIDTH);
        sum0 += x0 * y0;
        sum1 += x1 * y1;
    }
    sum0 += sum1;
    real sum = simd_total(&sum0);
    for (; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The largest of x [n], n > 0; where there is a NaN, any of the others or NaN. */
SIMD_INLINE real row_max(int n, const real *x) {
    real most = x[0];
    int i = 0;
    if (n >= SIMD_WIDTH) {
        SimdReal lanes, next, more[3]; /* four, as each has to wait for the one before */
        SIMD_LOAD(lanes, x);
        for (int k = 0; k < 3; k++) more[k] = lanes;
        for (; i + 4 * SIMD_WIDTH <= n; i += 4 * SIMD_WIDTH) {
            SIMD_LOAD(next, x + i);
            SIMD_MAX(lanes, next);
            for (int k = 0; k < 3; k++) {
                SIMD_LOAD(next, x + i + (k + 1) * SIMD_WIDTH);
                SIMD_MAX(more[k], next);
            }
        }
        for (int k = 0; k < 3; k++) SIMD_MAX(lanes, more[k]);
        for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) {
            SIMD_LOAD(next, x + i);
            SIMD_MAX(lanes, next);
        }
        most = simd_most(&lanes);
    }
    for (; i < n; i++) most = x[i] > most ? x[i] : most;
    return most;
}

/* y = exp(x - shift) [n]; returns the sum. */
SIMD_INLINE real row_exp(int n, const real *x, real shift, real *y) {
    SIMD_LOOP for (int i = 0; i < n; i++) y[i] = scalar_exp(x[i] - shift);
    return row_sum(n, y);
}

#endif
