/* packed: every output is bias + x[0] w[0] + x[1] w[1] + ..., to the bit, for any number of rows and every width of
 * vectors that this processor has; the wide ones round a product and its sum once. */
#include "expect.h"

#include "decode/packed.h"
#include "rng.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 14, MOST_IN = 70, MOST_OUT = 200, BESIDE = 3 };

static void fill(Rng *r, int n, real *x) {
    for (int i = 0; i < n; i++) x[i] = (real)rng_normal(r);
}

static real plain(int in, const real *x, const real *w, real bias, bool fused) {
    real sum = bias;
    for (int i = 0; i < in; i++) {
        if (fused)
            sum = REAL_IS_DOUBLE ? (real)fma((double)x[i], (double)w[i], (double)sum)
                                 : (real)fmaf((float)x[i], (float)w[i], (float)sum);
        else
            sum += x[i] * w[i];
    }
    return sum;
}

static void check(int in, int out, bool bias, bool fused) {
    static real w[MOST_OUT * MOST_IN], b[MOST_OUT], x[MOST_ROWS * (MOST_IN + BESIDE)];
    static real y[MOST_ROWS * (MOST_OUT + BESIDE)];
    Rng r = rng_at(3, "test", (uint64_t)(in * 1000 + out));
    fill(&r, out * in, w);
    fill(&r, out, b);
    fill(&r, MOST_ROWS * (in + BESIDE), x);
    Packed p;
    packed_init(&p, out, in);
    int half = out / 2;
    packed_set(&p, 0, half, w, bias ? b : NULL);
    packed_set(&p, half, out - half, w + half * in, bias ? b + half : NULL);
    for (int rows = 1; rows <= MOST_ROWS; rows++) {
        for (int i = 0; i < MOST_ROWS * (out + BESIDE); i++) y[i] = 77;
        packed_apply(&p, rows, x, in + BESIDE, y, out + BESIDE);
        for (int k = 0; k < MOST_ROWS; k++)
            for (int o = 0; o < out + BESIDE; o++) {
                real want = 77; /* nothing else is written */
                if (k < rows && o < out) want = plain(in, x + k * (in + BESIDE), w + o * in, bias ? b[o] : 0, fused);
                if (y[k * (out + BESIDE) + o] != want)
                    fail_msg("in %d out %d rows %d: row %d output %d", in, out, rows, k, o);
            }
    }
    packed_done(&p);
}

static void every_width_gives_the_same_bits(void **state) {
    (void)state;
    static const int widths[] = {0, 256, 512}, outs[] = {1, 3, 16, 31, 32, 33, 56, 64, 65, 192, MOST_OUT};
    int known = 0;
    bool always = false; /* the usual kernel fuses too */
#ifdef __FP_FAST_FMAF
    always = true;
#endif
    for (int w = 0; w < 3; w++) {
        if (!packed_choose(widths[w])) continue;
        known++;
        for (size_t o = 0; o < sizeof outs / sizeof *outs; o++) {
            bool fused = always || widths[w] > 0;
            check(64, outs[o], true, fused);
            check(1, outs[o], false, fused);
            check(MOST_IN, outs[o], o % 2 == 0, fused);
        }
    }
    assert_true(known >= 1);
    assert_false(packed_choose(128));
    assert_true(packed_choose(-1));
    check(12, 40, true, always || packed_choose(256));
    assert_true(packed_choose(-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
