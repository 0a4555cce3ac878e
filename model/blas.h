/* blas: OpenBLAS, loaded when the first product needs it. Where the own kernels make all products that a run asks for
 * (gemm.h) it never is, and the program starts without the time that it takes: with the Fortran library behind it, that
 * is longer than all else before the first picture. The only user of cblas.h.
 *
 * It makes its threads as it is loaded, unless OPENBLAS_NUM_THREADS says 1; where nothing is set that is set here,
 * which is good while there is but one thread: a program with more sets it before (environment.h). Where there is no
 * such library, plain loops do the same, slowly. */
#ifndef MODEL_BLAS_H
#define MODEL_BLAS_H

#include "real.h"

#include <stdbool.h>

/* As cblas_?gemm and so on, row-major; TURNED: transposed. */
void blas_gemm(bool a_turned, bool b_turned, int m, int n, int k, real alpha, const real *a, int lda, const real *b,
               int ldb, real beta, real *c, int ldc);
void blas_gemv(bool turned, int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y);

/* What was loaded. Without a library: "none". */
const char *blas_core(void);
const char *blas_library(void);
const char *blas_parallel(void); /* "serial", "pthread", "openmp" or "none" */
int blas_threads(void);          /* 1, read back */
bool blas_is_missed(void);       /* a matrix has been multiplied by plain loops */
/* Tests: the plain loops from now on, or the library again. False: there is none. Not while a product runs. */
bool blas_choose(bool library);

#endif
