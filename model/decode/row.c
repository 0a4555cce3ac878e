#include "decode/row.h"

#include "simd.h"
#include "vmath_scalar.h"

SIMD_INLINE real mean_of(int n, const real *x) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / (real)n;
}

/* 1 / sqrt(mean((x - mean)^2) + eps) */
SIMD_INLINE real inverse_of(int n, const real *x, real mean, real eps) {
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return (real)1 / scalar_sqrt(sum / (real)n + eps);
}

SIMD_CLONES static void norm(NormKind kind, int n, const real *x, const real *gain, const real *bias, real eps,
                             real *y) {
    real mean = kind == NORM_LAYER ? mean_of(n, x) : 0, inverse = inverse_of(n, x, mean, eps);
    for (int i = 0; i < n; i++) y[i] = (x[i] - mean) * inverse * gain[i];
    if (bias)
        for (int i = 0; i < n; i++) y[i] += bias[i];
}

void row_norm(NormKind kind, int n, const real *x, const real *gain, const real *bias, real eps, real *y) {
    norm(kind, n, x, gain, bias, eps, y);
}

SIMD_CLONES static void norm_heads(int heads, int n, const real *gain, real eps, real *x) {
    for (int h = 0; h < heads; h++, x += n) {
        real inverse = inverse_of(n, x, 0, eps);
        for (int i = 0; i < n; i++) x[i] = x[i] * inverse * gain[i];
    }
}

void row_norm_heads(int heads, int head_dim, const real *gain, real eps, real *x) {
    norm_heads(heads, head_dim, gain, eps, x);
}

SIMD_CLONES static void turn_adjacent(int heads, int half, const real *cosine, const real *sine, real *x) {
    for (int h = 0; h < heads; h++, x += 2 * half)
        for (int i = 0; i < half; i++) {
            real a = x[2 * i], b = x[2 * i + 1];
            x[2 * i] = a * cosine[i] - b * sine[i];
            x[2 * i + 1] = a * sine[i] + b * cosine[i];
        }
}

SIMD_CLONES static void turn_halves(int heads, int half, const real *cosine, const real *sine, real *x) {
    for (int h = 0; h < heads; h++, x += 2 * half)
        for (int i = 0; i < half; i++) {
            real a = x[i], b = x[i + half];
            x[i] = a * cosine[i] - b * sine[i];
            x[i + half] = a * sine[i] + b * cosine[i];
        }
}

void row_turn(int heads, int head_dim, Pairing pairing, const real *cosine, const real *sine, real *x) {
    if (pairing == PAIRING_ADJACENT)
        turn_adjacent(heads, head_dim / 2, cosine, sine, x);
    else
        turn_halves(heads, head_dim / 2, cosine, sine, x);
}

#define ACTIVATE(name, function)                                                                                       \
    SIMD_CLONES static void name(int n, real *x, const real *up) {                                                     \
        real slope;                                                                                                    \
        if (up)                                                                                                        \
            for (int i = 0; i < n; i++) x[i] = function(x[i], &slope) * up[i];                                         \
        else                                                                                                           \
            for (int i = 0; i < n; i++) x[i] = function(x[i], &slope);                                                 \
    }
ACTIVATE(relu, scalar_relu_slope)
ACTIVATE(gelu, scalar_gelu_slope)
ACTIVATE(gelu_tanh, scalar_gelu_tanh_slope)
ACTIVATE(silu, scalar_silu_slope)
ACTIVATE(squared_relu, scalar_squared_relu_slope)

void row_activate(FfnKind kind, int n, real *x, const real *up) {
    switch (kind) {
    case FFN_RELU:
        relu(n, x, NULL);
        break;
    case FFN_REGLU:
        relu(n, x, up);
        break;
    case FFN_GELU:
        gelu(n, x, NULL);
        break;
    case FFN_GEGLU:
        gelu(n, x, up);
        break;
    case FFN_GELU_TANH:
        gelu_tanh(n, x, NULL);
        break;
    case FFN_SILU:
        silu(n, x, NULL);
        break;
    case FFN_SWIGLU:
        silu(n, x, up);
        break;
    case FFN_SQUARED_RELU:
        squared_relu(n, x, NULL);
        break;
    }
}

SIMD_CLONES static void add(int n, const real *x, real *y) {
    for (int i = 0; i < n; i++) y[i] += x[i];
}

void row_add(int n, const real *x, real *y) {
    add(n, x, y);
}
