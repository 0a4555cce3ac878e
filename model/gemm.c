#include "gemm.h"

#include "blas.h"
#include "product.h"
#include "simd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* --- own kernels --- */

enum {
    GEMM_K = 256,       /* of k at a time: a panel then fits the first cache */
    GEMM_ROWS = 384,    /* of A at a time: multiples of the rows of a block */
    GEMM_NEAR = 256,    /* rows of B, or of an A that lies turned, further apart than this are copied together first */
    GEMM_FAR_ROWS = 96, /* of such an A at a time */
};

/* A(r, k) = a[r * a_row + k * a_step]; B(k, j) = b[k * ldb + j], turned: b[j * ldb + k]. */
typedef struct {
    int m, n, k;
    const real *a, *b;
    ptrdiff_t a_row, a_step, ldb, ldc;
    bool b_turned, add;
    real *c;
} GemmSides;

#ifdef SIMD_TARGET_256
#define KERNEL(name)  name##_256
#define KERNEL_BYTES  32
#define KERNEL_ROWS   6
#define KERNEL_TARGET SIMD_TARGET_256
#include "gemm_kernel.h"
#undef KERNEL
#undef KERNEL_BYTES
#undef KERNEL_ROWS
#undef KERNEL_TARGET

#define KERNEL(name)  name##_512
#define KERNEL_BYTES  64
#define KERNEL_ROWS   12
#define KERNEL_TARGET SIMD_TARGET_512
#include "gemm_kernel.h"
#endif

/* --- choice --- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*own_product)(const GemmSides *g); /* NULL: OpenBLAS for all */

static bool choose(int bits) {
    own_product = NULL;
#ifdef SIMD_TARGET_256
    if (bits == 256 && simd_has_256()) own_product = product_256;
    if (bits == 512 && simd_has_512()) own_product = product_512;
#endif
    return bits == 0 || own_product;
}

static void begin(void) {
    if (!choose(512)) (void)choose(256);
}

static void ready(void) {
    (void)pthread_once(&once, begin);
}

static _Thread_local long long flops;

static void count(int m, int n, int k) {
    flops += 2LL * m * n * k;
}

long long gemm_flops(void) {
    return flops;
}

void gemm(GemmForm form, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb, real beta,
          real *c, int ldc) {
    if (m == 0 || n == 0) return;
    ready();
    count(m, n, k);
    if (own_product && alpha == 1 && (beta == 0 || beta == 1) && k > 0) {
        GemmSides g = {.m = m,
                       .n = n,
                       .k = k,
                       .a = a,
                       .b = b,
                       .a_row = form == GEMM_TN ? 1 : lda,
                       .a_step = form == GEMM_TN ? lda : 1,
                       .ldb = ldb,
                       .ldc = ldc,
                       .b_turned = form == GEMM_NT,
                       .add = beta == 1,
                       .c = c};
        own_product(&g);
        return;
    }
    blas_gemm(form == GEMM_TN, form == GEMM_NT, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemv(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y) {
    if (m == 0) return;
    count(m, n, 1);
    blas_gemv(false, m, n, alpha, a, lda, x, beta, y);
}

void gemv_transposed(int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y) {
    if (n == 0) return;
    count(m, n, 1);
    blas_gemv(true, m, n, alpha, a, lda, x, beta, y);
}

const char *gemm_core(void) {
    return blas_core();
}

const char *gemm_library(void) {
    return blas_library();
}

const char *gemm_parallel(void) {
    return blas_parallel();
}

int gemm_threads(void) {
    return blas_threads();
}

bool gemm_misses_library(void) {
    return blas_is_missed();
}

const char *gemm_kernel(void) {
    ready();
#ifdef SIMD_TARGET_256
    if (own_product == product_512) return "512-bit";
    if (own_product == product_256) return "256-bit";
#endif
    return "OpenBLAS";
}

bool gemm_choose(int bits) {
    ready();
    return choose(bits);
}
