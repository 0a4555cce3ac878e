/* vmath: exp, tanh, sigmoid and the activations over arrays. libm in an inner loop is 13 to 30 times slower than these.
 *
 * In float the error is below 3e-7 of the result (exp 1.2e-7), in double libm is used. NaN gives NaN; infinities give
 * the limits (gelu(-inf) = silu(-inf) = -0); exp of less than -86.98 is 0 (no denormals). Y may be X itself. */
#ifndef MODEL_VMATH_H
#define MODEL_VMATH_H

#include "real.h"

void vmath_exp(int n, const real *x, real *y);
void vmath_tanh(int n, const real *x, real *y);
void vmath_sigmoid(int n, const real *x, real *y);   /* 1 / (1 + exp(-x)) */
void vmath_gelu(int n, const real *x, real *y);      /* x Phi(x), the exact form (Hendrycks and Gimpel 2016) */
void vmath_gelu_tanh(int n, const real *x, real *y); /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's */
void vmath_silu(int n, const real *x, real *y);      /* x sigmoid(x) */

/* Each of ROWS rows of COLS numbers: y = exp(x - max) / sum. A row of only -inf becomes NaN: mask before. */
void vmath_softmax(int rows, int cols, const real *x, real *y);

#endif
