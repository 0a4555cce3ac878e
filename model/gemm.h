/* gemm: matrix products in the engine's number type, row-major.
 *
 * Ordinary products (alpha 1, beta 0 or 1) are made by own kernels where the processor has vectors of 256 or 512 bits
 * with fused multiply-add: at the sizes of small models they need no copies of their operands and are 5 to 20 % faster
 * than OpenBLAS, and the rows of a product are the same bits whatever the number of rows. All else is OpenBLAS
 * (blas.h), with one thread: the engine has threads of its own. Beta 0 never reads C. */
#ifndef MODEL_GEMM_H
#define MODEL_GEMM_H

#include "real.h"

#include <stdbool.h>

typedef enum {
    GEMM_NN, /* A [m x k],  B [k x n] */
    GEMM_NT, /* A [m x k],  B [n x k], used transposed */
    GEMM_TN, /* A [k x m], used transposed, B [k x n] */
} GemmForm;

/* C [m x n] = alpha A B + beta C; lda, ldb, ldc: numbers from one row to the next. Nothing happens when m or n is 0. */
void gemm(GemmForm form, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb, real beta,
          real *c, int ldc);
/* y [m] = alpha A [m x n] x + beta y: one token through a weight matrix. */
void gemv(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y);
/* y [n] = alpha A^T x + beta y, A [m x n]. */
void gemv_transposed(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y);

/* Floating-point operations of all products that this thread has asked for so far: 2 m n k of a gemm, 2 m n of a gemv,
 * whoever made them. A thread counts its own, so that counting is one addition a call. */
long long gemm_flops(void);

/* For --version: the kernels chosen for this processor, and how the library was built. */
const char *gemm_core(void);
const char *gemm_library(void);
const char *gemm_parallel(void); /* "serial", "pthread", "openmp", or "none": there is no library */
int gemm_threads(void);          /* of OpenBLAS: 1, read back from the library */
bool gemm_misses_library(void);  /* a product was asked for that OpenBLAS should make, and it is not there */
const char *gemm_kernel(void);   /* who makes ordinary products: "512-bit", "256-bit" or "OpenBLAS" */
/* Tests: makes ordinary products with vectors of BITS (512, 256; 0: OpenBLAS). False: the processor has no such. */
bool gemm_choose(int bits);

#endif
