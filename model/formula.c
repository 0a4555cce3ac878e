#include "formula.h"

#include <math.h>

double formula_rms(int n, const double *x, double eps) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum / n + eps);
}

void formula_rms_norm(int n, const double *x, double eps, double *y) {
    double rms = formula_rms(n, x, eps);
    for (int i = 0; i < n; i++) y[i] = x[i] / rms;
}

void formula_layer_norm(int n, const double *x, double eps, double *y) {
    double mean = 0, variance = 0;
    for (int i = 0; i < n; i++) mean += x[i] / n;
    for (int i = 0; i < n; i++) variance += (x[i] - mean) * (x[i] - mean) / n;
    double deviation = sqrt(variance + eps);
    for (int i = 0; i < n; i++) y[i] = (x[i] - mean) / deviation;
}

double formula_rms_norm_rounded(FpFormat stored, FpFormat inside, int n, const double *x, double eps, double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double value = fpformat_round(inside, fpformat_round(stored, x[i]));
        double square = fpformat_round(inside, value * value);
        sum = fpformat_round(inside, sum + square);
    }
    double mean = fpformat_round(inside, fpformat_round(inside, sum / n) + fpformat_round(inside, eps));
    double rms = fpformat_round(inside, sqrt(mean));
    for (int i = 0; i < n; i++) {
        double value = fpformat_round(inside, fpformat_round(stored, x[i]));
        y[i] = fpformat_round(stored, fpformat_round(inside, value / rms));
    }
    return rms;
}

static const double sqrt_half = 0.70710678118654752440, gelu_scale = 0.79788456080286535588; /* sqrt(2 / pi) */

double formula_activation(FfnKind kind, double x) {
    double positive = x > 0 ? x : isnan(x) ? x : 0;
    switch (kind) {
    case FFN_RELU:
    case FFN_REGLU:
        return positive;
    case FFN_GELU:
    case FFN_GEGLU:
        return isinf(x) ? positive : 0.5 * x * erfc(-x * sqrt_half);
    case FFN_GELU_TANH:
        return isinf(x) ? positive : 0.5 * x * (1 + tanh(gelu_scale * (x + 0.044715 * x * x * x)));
    case FFN_SILU:
    case FFN_SWIGLU:
        return isinf(x) ? positive : x / (1 + exp(-x));
    case FFN_SQUARED_RELU:
        break;
    }
    return positive * positive;
}

double formula_softcap(double cap, double x) {
    return cap * tanh(x / cap);
}

void formula_softmax(int n, const double *x, double *p) {
    double most = -HUGE_VAL, sum = 0;
    for (int i = 0; i < n; i++) most = fmax(most, x[i]);
    for (int i = 0; i < n; i++) {
        p[i] = exp(x[i] - most);
        sum += p[i];
    }
    for (int i = 0; i < n; i++) p[i] /= sum;
}

double formula_entropy(int n, const double *p) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (!(p[i] == 0)) sum -= p[i] * log(p[i]);
    return sum;
}
