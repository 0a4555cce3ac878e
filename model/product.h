/* product: small matrix products inside a kernel, without a call: C (+)= A B, row after row in blocks of four.
 *
 * A(r, k) = a[r * row_step + k * step], so A may be turned; B and C are row-major. Every number of C is summed in the
 * order of k alone, so it has the same bits in any block. For SIMD_CLONES functions; large products go to gemm.h. */
#ifndef MODEL_PRODUCT_H
#define MODEL_PRODUCT_H

#include "simd.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const real *a;
    ptrdiff_t row_step, step;
    const real *b;
    ptrdiff_t ldb;
    real *c;
    ptrdiff_t ldc;
    int from, to;    /* k */
    int first, last; /* columns of C */
    bool add;        /* else overwrite */
} Product;

#define PRODUCT_START(sum, at)                                                                                         \
    if (p->add)                                                                                                        \
        SIMD_LOAD(sum, at);                                                                                            \
    else                                                                                                               \
        SIMD_ZERO(sum)

/* Four rows from r, two vectors of columns from j. */
SIMD_INLINE void product_block(const Product *p, int r, int j) {
    const real *b = p->b + p->from * p->ldb + j, *a = p->a + r * p->row_step + p->from * p->step;
    ptrdiff_t step = p->step, ldb = p->ldb, row = p->row_step, ldc = p->ldc;
    real *c0 = p->c + r * ldc + j, *c1 = c0 + ldc, *c2 = c1 + ldc, *c3 = c2 + ldc;
    SimdReal s00, s01, s10, s11, s20, s21, s30, s31, b0, b1;
    PRODUCT_START(s00, c0);
    PRODUCT_START(s01, c0 + SIMD_WIDTH);
    PRODUCT_START(s10, c1);
    PRODUCT_START(s11, c1 + SIMD_WIDTH);
    PRODUCT_START(s20, c2);
    PRODUCT_START(s21, c2 + SIMD_WIDTH);
    PRODUCT_START(s30, c3);
    PRODUCT_START(s31, c3 + SIMD_WIDTH);
    for (int k = p->from; k < p->to; k++, b += ldb, a += step) {
        SIMD_LOAD(b0, b);
        SIMD_LOAD(b1, b + SIMD_WIDTH);
        real a0 = a[0], a1 = a[row], a2 = a[2 * row], a3 = a[3 * row];
        SIMD_ADD_SCALED(s00, a0, b0);
        SIMD_ADD_SCALED(s01, a0, b1);
        SIMD_ADD_SCALED(s10, a1, b0);
        SIMD_ADD_SCALED(s11, a1, b1);
        SIMD_ADD_SCALED(s20, a2, b0);
        SIMD_ADD_SCALED(s21, a2, b1);
        SIMD_ADD_SCALED(s30, a3, b0);
        SIMD_ADD_SCALED(s31, a3, b1);
    }
    SIMD_STORE(c0, s00);
    SIMD_STORE(c0 + SIMD_WIDTH, s01);
    SIMD_STORE(c1, s10);
    SIMD_STORE(c1 + SIMD_WIDTH, s11);
    SIMD_STORE(c2, s20);
    SIMD_STORE(c2 + SIMD_WIDTH, s21);
    SIMD_STORE(c3, s30);
    SIMD_STORE(c3 + SIMD_WIDTH, s31);
}

/* One row, two vectors. */
SIMD_INLINE void product_strip(const Product *p, int r, int j) {
    const real *b = p->b + p->from * p->ldb + j, *a = p->a + r * p->row_step + p->from * p->step;
    real *c = p->c + r * p->ldc + j;
    SimdReal s0, s1, b0, b1;
    PRODUCT_START(s0, c);
    PRODUCT_START(s1, c + SIMD_WIDTH);
    for (int k = p->from; k < p->to; k++, b += p->ldb, a += p->step) {
        SIMD_LOAD(b0, b);
        SIMD_LOAD(b1, b + SIMD_WIDTH);
        SIMD_ADD_SCALED(s0, *a, b0);
        SIMD_ADD_SCALED(s1, *a, b1);
    }
    SIMD_STORE(c, s0);
    SIMD_STORE(c + SIMD_WIDTH, s1);
}

/* Columns that fill no two vectors, one number at a time. */
SIMD_INLINE void product_rest(const Product *p, int r, int first) {
    for (int j = first; j < p->last; j++) {
        real *c = p->c + r * p->ldc + j, sum = p->add ? *c : 0;
        for (int k = p->from; k < p->to; k++) sum += p->a[r * p->row_step + k * p->step] * p->b[k * p->ldb + j];
        *c = sum;
    }
}

/* Rows [begin, end) of C. */
SIMD_INLINE void product_rows(const Product *p, int begin, int end) {
    int whole = p->first + (p->last - p->first) / (2 * SIMD_WIDTH) * (2 * SIMD_WIDTH), r = begin;
    for (; r + 4 <= end; r += 4)
        for (int j = p->first; j < whole; j += 2 * SIMD_WIDTH) product_block(p, r, j);
    for (; r < end; r++)
        for (int j = p->first; j < whole; j += 2 * SIMD_WIDTH) product_strip(p, r, j);
    for (r = begin; r < end && whole < p->last; r++) product_rest(p, r, whole);
}

#if !REAL_IS_DOUBLE && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PRODUCT_TILE
/* Lanes of a and b by turns: one number of each at a time, two, four. */
#define PRODUCT_LOW_1(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define PRODUCT_HIGH_1(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define PRODUCT_LOW_2(a, b)  __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define PRODUCT_HIGH_2(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define PRODUCT_LOW_4(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define PRODUCT_HIGH_4(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#endif
#endif

/* turned [8 x 8] = m^T. */
SIMD_INLINE void product_turn_tile(const real *m, ptrdiff_t ld, real *turned, ptrdiff_t ld_turned) {
    enum { TILE = 8 };
#ifdef PRODUCT_TILE
    SimdReal a[TILE], b[TILE];
    for (int i = 0; i < TILE; i++) SIMD_LOAD(a[i], m + i * ld);
    for (int i = 0; i < TILE; i += 2) b[i] = PRODUCT_LOW_1(a[i], a[i + 1]), b[i + 1] = PRODUCT_HIGH_1(a[i], a[i + 1]);
    for (int i = 0; i < TILE; i += 4) {
        a[i] = PRODUCT_LOW_2(b[i], b[i + 2]), a[i + 1] = PRODUCT_HIGH_2(b[i], b[i + 2]);
        a[i + 2] = PRODUCT_LOW_2(b[i + 1], b[i + 3]), a[i + 3] = PRODUCT_HIGH_2(b[i + 1], b[i + 3]);
    }
    for (int i = 0; i < TILE / 2; i++) b[i] = PRODUCT_LOW_4(a[i], a[i + 4]), b[i + 4] = PRODUCT_HIGH_4(a[i], a[i + 4]);
    for (int i = 0; i < TILE; i++) SIMD_STORE(turned + i * ld_turned, b[i]);
#else
    real tile[TILE][TILE];
    for (int i = 0; i < TILE; i++) memcpy(tile[i], m + i * ld, sizeof tile[i]);
    for (int j = 0; j < TILE; j++)
        for (int i = 0; i < TILE; i++) turned[j * ld_turned + i] = tile[i][j];
#endif
}

/* turned [cols x rows] = m^T, in tiles: whole cache lines are read and written. */
SIMD_INLINE void product_turn(const real *m, ptrdiff_t ld, int rows, int cols, real *turned, ptrdiff_t ld_turned) {
    enum { TILE = 8 };
    int r = 0;
    for (; r + TILE <= rows; r += TILE) {
        int c = 0;
        for (; c + TILE <= cols; c += TILE)
            product_turn_tile(m + r * ld + c, ld, turned + c * ld_turned + r, ld_turned);
        for (; c < cols; c++)
            for (int i = 0; i < TILE; i++) turned[c * ld_turned + r + i] = m[(r + i) * ld + c];
    }
    for (; r < rows; r++)
        for (int c = 0; c < cols; c++) turned[c * ld_turned + r] = m[r * ld + c];
}

#endif
