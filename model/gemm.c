#include "gemm.h"

#include "bug.h"

#include <cblas.h>
#include <pthread.h>

#if REAL_IS_DOUBLE
#define BLAS(name) cblas_d##name
#else
#define BLAS(name) cblas_s##name
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_one_thread(void) {
    openblas_set_num_threads(1);
    BUG_ON(openblas_get_num_threads() != 1);
}

static void ready(void) {
    (void)pthread_once(&once, set_one_thread);
}

void gemm(GemmForm form, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb, real beta,
          real *c, int ldc) {
    if (m == 0 || n == 0) return;
    ready();
    CBLAS_TRANSPOSE ta = form == GEMM_TN ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE tb = form == GEMM_NT ? CblasTrans : CblasNoTrans;
    BLAS(gemm)(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemv(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y) {
    if (m == 0) return;
    ready();
    BLAS(gemv)(CblasRowMajor, CblasNoTrans, m, n, alpha, a, lda, x, 1, beta, y, 1);
}

void gemv_transposed(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y) {
    if (n == 0) return;
    ready();
    BLAS(gemv)(CblasRowMajor, CblasTrans, m, n, alpha, a, lda, x, 1, beta, y, 1);
}

real gemm_dot(int n, const real *x, const real *y) {
    ready();
    return BLAS(dot)(n, x, 1, y, 1);
}

void gemm_axpy(int n, real alpha, const real *x, real *y) {
    ready();
    BLAS(axpy)(n, alpha, x, 1, y, 1);
}

const char *gemm_core(void) {
    ready();
    return openblas_get_corename();
}

const char *gemm_library(void) {
    ready();
    return openblas_get_config();
}

const char *gemm_parallel(void) {
    ready();
    switch (openblas_get_parallel()) {
    case OPENBLAS_SEQUENTIAL:
        return "serial";
    case OPENBLAS_OPENMP:
        return "openmp";
    default:
        return "pthread";
    }
}

int gemm_threads(void) {
    ready();
    return openblas_get_num_threads();
}
