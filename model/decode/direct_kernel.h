/* direct_kernel: products with a weight matrix where it lies, for models too large to be laid out a second time. The
 * numbers are read once for all rows of x.
 *
 * Every output is summed in an order of its own: the same bits for one row and for many, and for any number of threads.
 * Not on every processor, and not the order of packed.h. */
#ifndef DECODE_DIRECT_KERNEL_H
#define DECODE_DIRECT_KERNEL_H

#include "params.h"

/* Outputs FIRST .. LAST-1 of y [rows x out] = x [rows x in] W^T + b, W [out x in] seen through V, BIAS NULL: none. */
void direct_apply(const View *v, const real *bias, int in, int first, int last, int rows, const real *x, int ldx,
                  real *y, int ldy);

#endif
