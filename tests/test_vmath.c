/* vmath and gemm against libm and plain loops. */
#include "blas.h"
#include "gemm.h"
#include "mem.h"
#include "rng.h"
#include "vmath.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef void (*Function)(int n, const real *x, real *y);

static double true_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double true_gelu(double x) {
    return x * 0.5 * erfc(-x / sqrt(2));
}
static double true_gelu_tanh(double x) {
    return x * true_sigmoid(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
}
static double true_silu(double x) {
    return x * true_sigmoid(x);
}

typedef struct {
    const char *name;
    Function fast;
    double (*slow)(double);
    double from, to, error; /* greatest relative error allowed in float */
} Row;

/* Where the result itself loses digits (exp(-x^2/2) far out: x^2 is rounded) the range ends. */
static const Row rows[] = {
    {"exp", vmath_exp, exp, -86.9, 88.7, 1.5e-7},
    {"tanh", vmath_tanh, tanh, -20, 20, 3e-7},
    {"sigmoid", vmath_sigmoid, true_sigmoid, -80, 80, 3e-7},
    {"gelu", vmath_gelu, true_gelu, -4, 30, 1.5e-6},
    {"gelu_tanh", vmath_gelu_tanh, true_gelu_tanh, -3, 30, 1.5e-6},
    {"silu", vmath_silu, true_silu, -80, 80, 3e-7},
};
enum { ROWS = sizeof rows / sizeof *rows, POINTS = 200003 };

static void test_accuracy(void **state) {
    (void)state;
    real *x = MEM_ARRAY(real, POINTS), *y = MEM_ARRAY(real, POINTS);
    for (int f = 0; f < ROWS; f++) {
        const Row *r = &rows[f];
        for (int i = 0; i < POINTS; i++) x[i] = (real)(r->from + (r->to - r->from) * i / (POINTS - 1));
        x[1] = (real)1e-20;
        x[2] = (real)-1e-4;
        r->fast(POINTS, x, y);
        double worst = 0, at = 0;
        for (int i = 0; i < POINTS; i++) {
            double right = r->slow((double)x[i]), error = fabs((double)y[i] - right) / fmax(fabs(right), 1e-30);
            if (!(error <= worst)) worst = error, at = (double)x[i];
        }
        double limit = REAL_IS_DOUBLE ? 1e-13 : r->error;
        if (!(worst <= limit))
            fail_msg("%s is off by %.3g of the result at %.9g (limit %g)", r->name, worst, at, limit);
    }
    mem_free(x);
    mem_free(y);
}

/* Absolute error over the whole range, tails included. */
static void test_absolute_error(void **state) {
    (void)state;
    real *x = MEM_ARRAY(real, POINTS), *y = MEM_ARRAY(real, POINTS);
    for (int f = 3; f < ROWS; f++) {
        for (int i = 0; i < POINTS; i++) x[i] = (real)(-60 + 70.0 * i / (POINTS - 1));
        rows[f].fast(POINTS, x, y);
        for (int i = 0; i < POINTS; i++)
            if (!(fabs((double)y[i] - rows[f].slow((double)x[i])) < 2e-6))
                fail_msg("%s(%g) = %g", rows[f].name, (double)x[i], (double)y[i]);
    }
    mem_free(x);
    mem_free(y);
}

static real one(Function f, double at) {
    real x[19], y[19];
    for (int i = 0; i < 19; i++) x[i] = (real)at;
    f(19, x, y);
    /* the vectors and the end of the loop agree */
    for (int i = 1; i < 19; i++) assert_true(y[i] == y[0] || (isnan(y[i]) && isnan(y[0])));
    return y[0];
}

static void test_special_values(void **state) {
    (void)state;
    const double infinity = HUGE_VAL, nan_value = nan("");
    for (int f = 0; f < ROWS; f++) assert_true(isnan(one(rows[f].fast, nan_value)));
    assert_true(one(vmath_exp, infinity) == (real)HUGE_VAL && one(vmath_exp, -infinity) == 0);
    assert_true(one(vmath_exp, 1000) == (real)HUGE_VAL && one(vmath_exp, -1000) == 0);
    assert_true(one(vmath_exp, 0) == 1);
    assert_true(one(vmath_tanh, infinity) == 1 && one(vmath_tanh, -infinity) == -1 && one(vmath_tanh, 0) == 0);
    assert_true(one(vmath_sigmoid, infinity) == 1 && one(vmath_sigmoid, -infinity) == 0);
    assert_true(one(vmath_sigmoid, 0) == (real)0.5);
    const Function activations[] = {vmath_gelu, vmath_gelu_tanh, vmath_silu};
    for (int i = 0; i < 3; i++) {
        assert_true(one(activations[i], infinity) == (real)HUGE_VAL);
        assert_true(one(activations[i], -infinity) == 0);
        assert_true(one(activations[i], 0) == 0);
    }
}

static void test_softmax(void **state) {
    (void)state;
    const real x[] = {1, 2, 3, 1000, 1001, 1002, -(real)HUGE_VAL, 0, 0};
    real y[9];
    vmath_softmax(3, 3, x, y);
    /* hand-checked: 1/(1+e+e^2), e/.., e^2/.. */
    const double right[] = {0.09003057, 0.24472847, 0.66524096};
    for (int i = 0; i < 6; i++) assert_true(fabs((double)y[i] - right[i % 3]) < 1e-7);
    assert_true(y[6] == 0 && y[7] == (real)0.5 && y[8] == (real)0.5);
    const real bad[] = {0, (real)NAN, 1};
    vmath_softmax(1, 3, bad, y);
    assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
}

/* --- products --- */

typedef struct {
    GemmForm form;
    int m, n, k, gap; /* gap: numbers between the end of a row and the next */
} Shape;

static real at(const real *x, int ld, bool turned, int r, int c) {
    return turned ? x[c * ld + r] : x[r * ld + c];
}

static real *random_numbers(int n, uint64_t stream) {
    Rng rng = rng_at(1, "gemm", stream);
    real *x = MEM_ARRAY(real, (size_t)n);
    for (int i = 0; i < n; i++) x[i] = (real)rng_normal(&rng);
    return x;
}

static void check_product(const Shape *s, double alpha, double beta) {
    bool a_turned = s->form == GEMM_TN, b_turned = s->form == GEMM_NT;
    int lda = (a_turned ? s->m : s->k) + s->gap, ldb = (b_turned ? s->k : s->n) + s->gap, ldc = s->n + s->gap;
    real *a = random_numbers((a_turned ? s->k : s->m) * lda, 1), *b = random_numbers((b_turned ? s->n : s->k) * ldb, 2);
    real *c = random_numbers(s->m * ldc, 3), *before = random_numbers(s->m * ldc, 3);
    for (int i = 0; beta == 0 && i < s->m * ldc; i++) c[i] = (real)NAN; /* beta 0 does not read C */
    gemm(s->form, s->m, s->n, s->k, (real)alpha, a, lda, b, ldb, (real)beta, c, ldc);
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n + s->gap; j++) {
            double got = (double)c[i * ldc + j], old = (double)before[i * ldc + j], sum = 0;
            if (j >= s->n) { /* the gap is not ours */
                assert_true(beta == 0 ? isnan(got) : got == old);
                continue;
            }
            for (int k = 0; k < s->k; k++)
                sum += (double)at(a, lda, a_turned, i, k) * (double)at(b, ldb, b_turned, k, j);
            if (!(fabs(got - alpha * sum - beta * old) < 1e-4))
                fail_msg("form %d, %d x %d x %d: [%d,%d] is %g", (int)s->form, s->m, s->n, s->k, i, j, got);
        }
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(before);
}

/* Every remainder of rows and columns, k beyond a chunk, rows of B far apart. */
static void check_products(void) {
    const int heights[] = {1, 2, 3, 5, 11, 13, 31}, cols[] = {1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 56, 71},
              depth[] = {1, 11, 300};
    for (int form = GEMM_NN; form <= GEMM_TN; form++)
        for (int m = 0; m < 7; m++)
            for (int n = 0; n < 13; n++)
                for (int k = 0; k < 3; k++) {
                    Shape s = {(GemmForm)form, heights[m], cols[n], depth[k], n % 3};
                    check_product(&s, 1, 0);
                    check_product(&s, 1, 1);
                }
    for (int form = GEMM_NN; form <= GEMM_TN; form++) {
        Shape odd = {(GemmForm)form, 7, 5, 11, 3}, far = {(GemmForm)form, 6, 70, 9, 1100};
        check_product(&odd, -2, .5);
        check_product(&far, 1, 1);
    }
}

/* Shapes of all kinds, against OpenBLAS. */
static void test_like_openblas(void **state) {
    (void)state;
    const char *usual = gemm_kernel();
    Rng rng = rng_at(1, "shapes", 0);
    for (int i = 0; i < 60; i++) {
        int m = 1 + (int)rng_below(&rng, 90), n = 1 + (int)rng_below(&rng, 150), k = 1 + (int)rng_below(&rng, 600);
        GemmForm form = (GemmForm)rng_below(&rng, 3);
        int lda = form == GEMM_TN ? m : k, ldb = form == GEMM_NT ? k : n;
        real *a = random_numbers(m * k, 1), *b = random_numbers(k * n, 2), *want = random_numbers(m * n, 3);
        assert_true(gemm_choose(0));
        gemm(form, m, n, k, 1, a, lda, b, ldb, 1, want, n);
        for (int bits = 256; bits <= 512; bits += 256) {
            real *c = random_numbers(m * n, 3);
            if (gemm_choose(bits))
                gemm(form, m, n, k, 1, a, lda, b, ldb, 1, c, n);
            else
                memcpy(c, want, (size_t)(m * n) * sizeof *c);
            for (int j = 0; j < m * n; j++)
                if (!(fabs((double)(c[j] - want[j])) < 2e-4))
                    fail_msg("%d bits, form %d, %d x %d x %d", bits, (int)form, m, n, k);
            mem_free(c);
        }
        mem_free(a);
        mem_free(b);
        mem_free(want);
    }
    assert_true(gemm_choose(512) || gemm_choose(256) || gemm_choose(0));
    assert_string_equal(gemm_kernel(), usual);
}

static void test_gemm(void **state) {
    (void)state;
    const char *usual = gemm_kernel();
    const int bits[] = {0, 256, 512};
    for (int i = 0; i < 3; i++)
        if (gemm_choose(bits[i])) check_products();
    assert_true(gemm_choose(512) || gemm_choose(256) || gemm_choose(0));
    assert_string_equal(gemm_kernel(), usual);
    gemm(GEMM_NN, 0, 3, 3, 1, NULL, 3, NULL, 3, 0, NULL, 3); /* nothing to do */
}

/* With own kernels a row is the same bits alone and among others. */
static void test_rows_stand_alone(void **state) {
    (void)state;
    enum { M = 11, N = 72, K = 300 };
    if (strcmp(gemm_kernel(), "OpenBLAS") == 0) skip();
    real *a = random_numbers(M * K, 1), *b = random_numbers(N * K, 2), *all = random_numbers(M * N, 3), one[N];
    gemm(GEMM_NT, M, N, K, 1, a, K, b, K, 0, all, N);
    for (int i = 0; i < M; i++) {
        gemm(GEMM_NT, 1, N, K, 1, a + i * K, K, b, K, 0, one, N);
        assert_memory_equal(one, all + i * N, sizeof one);
    }
    mem_free(a);
    mem_free(b);
    mem_free(all);
}

static void test_vectors(void **state) {
    (void)state;
    const real a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 10, 100}, z[] = {1, 10};
    real y[3] = {1, 1, 1};
    gemv(2, 3, 1, a, 3, x, 0, y);
    assert_true(y[0] == 321 && y[1] == 654 && y[2] == 1);
    gemv(2, 3, 2, a, 3, x, 1, y);
    assert_true(y[0] == 3 * 321 && y[1] == 3 * 654);
    gemv_transposed(2, 3, 1, a, 3, z, 0, y);
    assert_true(y[0] == 41 && y[1] == 52 && y[2] == 63);
}

/* Where there is no library. */
static void test_plain_loops(void **state) {
    assert_false(gemm_misses_library());
    assert_true(blas_choose(false) && gemm_choose(0));
    assert_string_equal(gemm_library(), "none");
    check_products();
    test_vectors(state);
    assert_true(gemm_misses_library());
    assert_true(blas_choose(true));
    assert_true(strlen(gemm_library()) > 4);
    assert_true(gemm_choose(512) || gemm_choose(256) || gemm_choose(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_absolute_error),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_like_openblas),
        cmocka_unit_test(test_rows_stand_alone),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_plain_loops),
    };
    return cmocka_run_group_tests_name("vmath", tests, NULL, NULL);
}
