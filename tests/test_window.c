/* window_kernel: the three ways give what the definition says, worked out here in double; how many scores each takes;
 * what is not theirs stays as it was. */
#include "expect.h"

#include "cancel.h"
#include "mask.h"
#include "rng.h"
#include "window_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE (REAL_IS_DOUBLE ? 1e-13 : 3e-6)

/* y [T x d] by the definition, with the mask that the engine uses. */
static void define(const WindowAttention *a, double *y) {
    const MaskRule rule = {.window = a->window, .causal = true};
    for (int i = 0; i < a->T; i++) {
        double sum = 0, *out = y + (size_t)i * (size_t)a->d, most = (double)-INFINITY, *score = MEM_ARRAY(double, a->T);
        for (int j = 0; j < a->T; j++) {
            for (int c = 0; c < a->d; c++) score[j] += (double)a->q[i * a->d + c] * (double)a->k[j * a->d + c];
            score[j] = mask_allows(&rule, i, j) ? score[j] / sqrt(a->d) : (double)-INFINITY;
            most = fmax(most, score[j]);
        }
        for (int j = 0; j < a->T; j++) sum += exp(score[j] - most);
        for (int c = 0; c < a->d; c++) {
            out[c] = 0;
            for (int j = 0; j < a->T; j++) out[c] += exp(score[j] - most) / sum * (double)a->v[j * a->d + c];
        }
        mem_free(score);
    }
}

static real *random_numbers(size_t n, double size) {
    real *x = mem_aligned(n, sizeof *x);
    Rng r = rng_at(3, "test", n);
    for (size_t i = 0; i < n; i++) x[i] = (real)(size * rng_normal(&r));
    return x;
}

/* SIZE of queries, keys and values: 30 makes scores that would overflow exp. Rounding grows with it: scores as SIZE^2.
 */
static void check_shape(int T, int d, int window, double size) {
    enum { GUARD = 16 };
    size_t n = (size_t)T * (size_t)d;
    real *x = random_numbers(3 * n, size), *y = mem_aligned(n + GUARD, sizeof *y);
    WindowAttention a = {.T = T, .d = d, .window = window, .q = x, .k = x + n, .v = x + 2 * n, .y = y};
    double *wanted = MEM_ARRAY(double, n);
    define(&a, wanted);
    for (WindowMethod m = 0; m < WINDOW_METHODS; m++) {
        size_t room = window_scratch(m, T, d, window);
        real *scratch = mem_aligned(room + GUARD, sizeof *scratch);
        for (size_t i = 0; i < room + GUARD; i++) scratch[i] = (real)NAN;
        for (size_t i = 0; i < n + GUARD; i++) y[i] = 77;
        assert_true(window_attend(m, &a, scratch));
        for (size_t i = 0; i < n; i++)
            if (!(fabs((double)y[i] - wanted[i]) <= TOLERANCE * size * size * size))
                fail_msg("%s T=%d d=%d window=%d: row %zu is %g, not %g", window_method_name(m), T, d, window,
                         i / (size_t)d, (double)y[i], wanted[i]);
        for (int i = 0; i < GUARD; i++) assert_true(isnan(scratch[room + (size_t)i]) && y[n + (size_t)i] == 77);
        mem_free(scratch);
    }
    double *row = MEM_ARRAY(double, d), *room = MEM_ARRAY(double, window);
    for (int i = 0; i < T; i++) {
        window_define(&a, i, row, room);
        for (int c = 0; c < d; c++) assert_true(fabs(row[c] - wanted[i * d + c]) < 1e-12 * size);
    }
    mem_free(row);
    mem_free(room);
    mem_free(wanted);
    mem_free(x);
    mem_free(y);
}

static void the_three_agree(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 7, 16, 17, 64, 65, 130, 257};
    static const int windows[] = {1, 2, 3, 5, 16, 31, 64, 100, 128, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof windows / sizeof *windows; j++)
            check_shape(sizes[i], j % 2 ? 1 + (int)i : 16, windows[j], 1);
    check_shape(300, 64, 64, 1);
    check_shape(600, 5, 256, 1);
    check_shape(600, 8, 512, 1);
    check_shape(90, 8, 20, 30);
}

/* A pair that the mask allows lies in exactly one tile; tiles follow each other without a gap. */
static void check_tiles(WindowMethod m, int T, int window) {
    const MaskRule rule = {.window = window, .causal = true};
    long long scores = 0;
    for (int row = 0; row < T;) {
        WindowTile t = window_tile(m, T, window, row);
        assert_int_equal(t.row, row);
        assert_true(t.rows >= 1 && t.key >= 0 && t.keys >= 1 && t.row + t.rows <= T && t.key + t.keys <= T);
        for (int i = t.row; i < t.row + t.rows; i++)
            for (int j = 0; j < T; j++)
                if (mask_allows(&rule, i, j)) assert_true(j >= t.key && j < t.key + t.keys);
        scores += (long long)t.rows * t.keys;
        row += t.rows;
    }
    assert_true(window_scores(m, T, window) == scores);
}

static void tiles_hold_what_is_seen(void **state) {
    (void)state;
    for (int T = 1; T < 90; T += 4)
        for (int window = 1; window < 100; window += window < 20 ? 1 : 13)
            for (WindowMethod m = 0; m < WINDOW_METHODS; m++) check_tiles(m, T, window);
}

static void scores_are_counted(void **state) {
    (void)state;
    assert_true(window_scores(WINDOW_MASKED, 100, 7) == 10000);
    assert_true(window_scores(WINDOW_LOOP, 12, 3) == 1 + 2 + 10 * 3);
    assert_true(window_scores(WINDOW_LOOP, 32768, 4096) == 125831168); /* lecture 4, exercise 5: 11.7 % */
    for (int window = 1; window <= 16; window++) {                     /* whole chunks: 2 W T, less W^2 at the start */
        int T = 12 * window;
        assert_true(window_scores(WINDOW_CHUNKS, T, window) == 2 * window * T - window * window);
    }
    for (int window = 1; window < 300; window += 7) {
        long long chunks = window_scores(WINDOW_CHUNKS, 1200, window);
        assert_true(chunks <= 2LL * window * 1200 && chunks >= window_scores(WINDOW_LOOP, 1200, window));
    }
    assert_true(window_scores(WINDOW_CHUNKS, 4096, 64) < 2LL * 64 * 4096 * 7 / 10); /* corners are left out */
}

static void it_can_be_stopped(void **state) {
    (void)state;
    enum { T = 2000, D = 64 };
    atomic_bool stop = true;
    real *x = random_numbers((size_t)3 * T * D, 1), *y = mem_aligned((size_t)T * D, sizeof *y);
    const atomic_bool *before = cancel_lend(&stop);
    for (WindowMethod m = 0; m < WINDOW_METHODS; m++) {
        WindowAttention a = {.T = T, .d = D, .window = 1000, .q = x, .k = x + T * D, .v = x + 2 * T * D, .y = y};
        real *scratch = mem_aligned(window_scratch(m, T, D, 1000), sizeof *scratch);
        memset(y, 0, (size_t)T * D * sizeof *y);
        assert_false(window_attend(m, &a, scratch));
        assert_true(y[(size_t)T * D - 1] == 0); /* the last row was not reached */
        mem_free(scratch);
    }
    cancel_lend(before);
    mem_free(x);
    mem_free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_agree),    cmocka_unit_test(tiles_hold_what_is_seen),
        cmocka_unit_test(scores_are_counted), cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
