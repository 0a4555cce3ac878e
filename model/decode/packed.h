/* packed: a weight matrix laid out for products with a few rows: panels of a fixed number of outputs, each [1 +
 * in][outputs], the bias (or zeros) first. A product streams through it once, without sums across a vector.
 *
 * Every output is bias + x[0] w[0] + x[1] w[1] + ..., added in this order: the same bits for one row and for many, and
 * with vectors of any width. Where the processor has it, a product and its sum are rounded once (fused). */
#ifndef DECODE_PACKED_H
#define DECODE_PACKED_H

#include "real.h"

#include <stdbool.h>

typedef struct {
    int in, out;
    real *w; /* [panels][1 + in][outputs], owned */
} Packed;

void packed_init(Packed *p, int out, int in); /* all 0 */
void packed_done(Packed *p);
/* Puts WEIGHT [rows x in] and BIAS [rows] (NULL: zeros) in the place of outputs first .. first+rows-1. */
void packed_set(Packed *p, int first, int rows, const real *weight, const real *bias);
/* y [rows x out] = x [rows x in] W^T + b; ldx, ldy: numbers from one row to the next. */
void packed_apply(const Packed *p, int rows, const real *x, int ldx, real *y, int ldy);
/* For tests: vectors of so many bits, 0: what every processor has, -1: the widest again. False: not on this processor.
 * Not while a product runs. */
bool packed_choose(int bits);

#endif
