/* formula: what the lectures write on the board, number by number in double: norms, activations, softmax, entropy, soft
 * cap; and the same norm on a machine that rounds every step to a short format. For explaining; the engine has its own.
 */
#ifndef MODEL_FORMULA_H
#define MODEL_FORMULA_H

#include "config.h"
#include "fpformat.h"

/* x [n], n > 0. Root of the mean square, eps added under the root. */
double formula_rms(int n, const double *x, double eps);
/* y = x / rms (Zhang and Sennrich 2019); y = (x - mean) / sqrt(variance + eps) (Ba et al. 2016): without gain and bias.
 * 0/0 is NaN. x and y may be the same. */
void formula_rms_norm(int n, const double *x, double eps, double *y);
void formula_layer_norm(int n, const double *x, double eps, double *y);
/* RMS norm of numbers stored in STORED, with every square, sum, root and quotient rounded to INSIDE and the result to
 * STORED again. Gives the rms as INSIDE has it. */
double formula_rms_norm_rounded(FpFormat stored, FpFormat inside, int n, const double *x, double eps, double *y);

/* The function inside a feed-forward layer; a gated kind's is that of its gate. */
double formula_activation(FfnKind kind, double x);
double formula_softcap(double cap, double x); /* cap tanh(x / cap) (Gemma 2) */

void formula_softmax(int n, const double *x, double *p); /* x and p may be the same */
double formula_entropy(int n, const double *p);          /* nats; 0 log 0 is 0 */

#endif
