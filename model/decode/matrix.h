/* matrix: a weight matrix for products with a few rows: laid out for them (packed.h), or, of a model whose parameters
 * are only read, where it lies (direct_kernel.h), with threads that share its outputs. */
#ifndef DECODE_MATRIX_H
#define DECODE_MATRIX_H

#include "decode/packed.h"
#include "decode/team.h"
#include "params.h"

enum { MATRIX_PARTS = 3 };

typedef struct {
    int in, out;
    Packed packed; /* empty when it is not */
    int parts;     /* matrices below each other; 0: it is packed */
    struct {
        View view;
        const real *bias; /* NULL: none */
        int first;        /* of its outputs */
    } part[MATRIX_PARTS];
} Matrix;

void matrix_done(Matrix *m);
/* y [rows x out] = x [rows x in] W^T + b; ldx, ldy: numbers from one row to the next. TEAM NULL: this thread alone. */
void matrix_apply(const Matrix *m, Team *team, int rows, const real *x, int ldx, real *y, int ldy);

#endif
