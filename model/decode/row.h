/* row: what a decoder does to one token between the products. The formulas are those of the tape's operations; the
 * results for a token do not depend on what is decoded beside it. */
#ifndef DECODE_ROW_H
#define DECODE_ROW_H

#include "config.h"
#include "real.h"

/* y [n] = layer norm or RMS norm of x [n], times GAIN plus BIAS (NULL: none); y is not x. */
void row_norm(NormKind kind, int n, const real *x, const real *gain, const real *bias, real eps, real *y);
/* x [heads x head_dim]: RMS norm of each head, in place. */
void row_norm_heads(int heads, int head_dim, const real *gain, real eps, real *x);
/* x [heads x head_dim]: turns pair i of each head by the angle with COSINE[i] and SINE[i], in place. */
void row_turn(int heads, int head_dim, Pairing pairing, const real *cosine, const real *sine, real *x);
/* x [n] = f(x), in place; gated kinds: f(x) times UP [n], else UP is not read. */
void row_activate(FfnKind kind, int n, real *x, const real *up);
/* y [n] += x [n]. */
void row_add(int n, const real *x, real *y);

#endif
