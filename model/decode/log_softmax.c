#include "decode/log_softmax.h"

#include "simd.h"
#include "vmath_scalar.h"

#include <math.h>

/* exp(x) for x <= 0, below 1e-307 it is 0: 2^k exp(r), k = round(x / ln 2), exp(r) by its series up to r^13 / 13!,
 * which is exact to 5e-18 for |r| <= ln 2 / 2. No calls, no branches: a loop around it becomes vector code. */
SIMD_INLINE double exp_below(double x) {
    const double shift = 6755399441055744.0; /* adding 1.5 * 2^52 rounds to an integer */
    double c = x < -708 ? -708 : x;          /* a NaN passes */
    union {
        double d;
        int64_t i;
    } t = {.d = c * 1.4426950408889634074 + shift}, power;
    double k = t.d - shift;
    double r = (c - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10; /* ln 2 in two parts */
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * (r * r) + r + 1.0;
    power.i = (int64_t)((uint64_t)(t.i + 1023) << 52);
    return x < -708 ? 0 : p * power.d;
}

enum { PARTS = 8, BLOCK = 64 }; /* a block is whole rounds of the parts */

/* Always in the same order: eight sums, then those. */
SIMD_INLINE void add_up(int n, const double *x, double part[PARTS]) {
    int i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int j = 0; j < PARTS; j++) part[j] += x[i + j];
    for (; i < n; i++) part[i % PARTS] += x[i];
}

/* Sum of exp(x - MOST). */
SIMD_CLONES static double sum_of_exponentials(int n, const real *x, double most) {
    double part[PARTS] = {0}, y[BLOCK];
    for (int from = 0; from < n; from += BLOCK) {
        int here = n - from < BLOCK ? n - from : BLOCK;
#pragma omp simd
        for (int i = 0; i < here; i++) y[i] = exp_below((double)x[from + i] - most);
        add_up(here, y, part);
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

SIMD_CLONES static double most_of(int n, const real *x) {
    return (double)row_max(n, x);
}

SIMD_CLONES static void subtract_row(int n, const real *x, double log_z, double *y) {
#pragma omp simd
    for (int i = 0; i < n; i++) y[i] = (double)x[i] - log_z;
}

double log_sum_exp(int n, const real *logits) {
    double most = most_of(n, logits);
    return most + log(sum_of_exponentials(n, logits, most));
}

double log_softmax_of(int n, const real *logits, int i) {
    double most = most_of(n, logits);
    return (double)logits[i] - most - log(sum_of_exponentials(n, logits, most));
}

void log_softmax(int n, const real *logits, double *log_p) {
    subtract_row(n, logits, log_sum_exp(n, logits), log_p);
}
