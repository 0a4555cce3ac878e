#include "blas.h"

#include "bug.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#if REAL_IS_DOUBLE
#define BLAS(name) cblas_d##name
#define BLAS_TEXT  "cblas_d"
#else
#define BLAS(name) cblas_s##name
#define BLAS_TEXT  "cblas_s"
#endif

/* What is called; all NULL: plain loops. */
typedef struct {
    __typeof__(BLAS(gemm)) *gemm;
    __typeof__(BLAS(gemv)) *gemv;
    __typeof__(openblas_set_num_threads) *set_threads;
    __typeof__(openblas_get_num_threads) *threads;
    __typeof__(openblas_get_corename) *core;
    __typeof__(openblas_get_config) *config;
    __typeof__(openblas_get_parallel) *parallel;
} Blas;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static Blas loaded, chosen;
static char core_name[64],
    config_text[256]; /* asked for once: OpenBLAS puts its answer together in a place of its own */
static atomic_bool missed;

/* --- loading --- */

static void *open_library(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    void *library = NULL;
    for (int i = 0; i < 2 && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* The function NAME in *TO, a pointer to one. */
static bool find(void *library, const char *name, void *to) {
    return (*(void **)to = dlsym(library, name)) != NULL;
}

static void load(void) {
    Blas b;
    if (!getenv("OPENBLAS_NUM_THREADS")) (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
    void *library = open_library();
    if (!library) return;
    bool whole = find(library, BLAS_TEXT "gemm", &b.gemm) && find(library, BLAS_TEXT "gemv", &b.gemv) &&
                 find(library, "openblas_set_num_threads", &b.set_threads) &&
                 find(library, "openblas_get_num_threads", &b.threads) &&
                 find(library, "openblas_get_corename", &b.core) && find(library, "openblas_get_config", &b.config) &&
                 find(library, "openblas_get_parallel", &b.parallel);
    if (!whole) return; /* some other library of that name */
    b.set_threads(1);   /* the engine has threads of its own */
    BUG_ON(b.threads() != 1);
    snprintf(core_name, sizeof core_name, "%s", b.core());
    snprintf(config_text, sizeof config_text, "%s", b.config());
    chosen = loaded = b;
}

static const Blas *blas(void) {
    (void)pthread_once(&once, load);
    return &chosen;
}

bool blas_choose(bool library) {
    (void)blas();
    chosen = library ? loaded : (Blas){0};
    return !library || loaded.gemm;
}

bool blas_is_missed(void) {
    return atomic_load_explicit(&missed, memory_order_relaxed);
}

/* --- plain loops --- */

static void do_without(void) {
    if (!blas_is_missed()) atomic_store_explicit(&missed, true, memory_order_relaxed);
}

/* Y = BETA Y, which is not read when that is 0. */
static void scale(int n, real beta, real *y) {
    for (int i = 0; i < n; i++) y[i] = beta == 0 ? 0 : beta * y[i];
}

static void plain_gemm(bool a_turned, bool b_turned, int m, int n, int k, real alpha, const real *a, int lda,
                       const real *b, int ldb, real beta, real *c, int ldc) {
    do_without();
    for (int i = 0; i < m; i++, c += ldc) {
        scale(n, beta, c);
        for (int l = 0; l < k; l++) {
            real x =
                alpha * (a_turned ? a[(size_t)l * (size_t)lda + (size_t)i] : a[(size_t)i * (size_t)lda + (size_t)l]);
            const real *row = b_turned ? b + l : b + (size_t)l * (size_t)ldb;
            size_t step = b_turned ? (size_t)ldb : 1;
            for (int j = 0; j < n; j++) c[j] += x * row[(size_t)j * step];
        }
    }
}

static void plain_gemv(bool turned, int m, int n, real alpha, const real *a, int lda, const real *x, real beta,
                       real *y) {
    do_without();
    scale(turned ? n : m, beta, y);
    for (int i = 0; i < m; i++, a += lda) {
        if (turned)
            for (int j = 0; j < n; j++) y[j] += alpha * x[i] * a[j];
        else
            for (int j = 0; j < n; j++) y[i] += alpha * a[j] * x[j];
    }
}

/* --- products --- */

static CBLAS_TRANSPOSE turn(bool turned) {
    return turned ? CblasTrans : CblasNoTrans;
}

void blas_gemm(bool a_turned, bool b_turned, int m, int n, int k, real alpha, const real *a, int lda, const real *b,
               int ldb, real beta, real *c, int ldc) {
    if (blas()->gemm)
        chosen.gemm(CblasRowMajor, turn(a_turned), turn(b_turned), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else
        plain_gemm(a_turned, b_turned, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void blas_gemv(bool turned, int m, int n, real alpha, const real *a, int lda, const real *x, real beta, real *y) {
    if (blas()->gemv)
        chosen.gemv(CblasRowMajor, turn(turned), m, n, alpha, a, lda, x, 1, beta, y, 1);
    else
        plain_gemv(turned, m, n, alpha, a, lda, x, beta, y);
}

/* --- what it is --- */

const char *blas_core(void) {
    return blas()->core ? core_name : "none";
}

const char *blas_library(void) {
    return blas()->config ? config_text : "none";
}

const char *blas_parallel(void) {
    if (!blas()->parallel) return "none";
    switch (chosen.parallel()) {
    case OPENBLAS_SEQUENTIAL:
        return "serial";
    case OPENBLAS_OPENMP:
        return "openmp";
    default:
        return "pthread";
    }
}

int blas_threads(void) {
    return blas()->threads ? chosen.threads() : 1;
}
