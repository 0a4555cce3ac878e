/* formula: the exercises of the lectures, and the same functions as the engine computes them. */
#include "batch.h"
#include "formula.h"
#include "tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define assert_near(got, want, tolerance)                                                                              \
    do {                                                                                                               \
        double got_ = (got), want_ = (want);                                                                           \
        if (!(got_ - want_ <= (tolerance) && want_ - got_ <= (tolerance)))                                             \
            fail_msg("%s is %.17g, not %.17g", #got, got_, want_);                                                     \
    } while (0)

static const double four[] = {1, 2, 3, 4};

/* Lecture 4, exercise 9. */
static void norms_of_the_exercise(void **state) {
    (void)state;
    static const double rms[] = {.365, .730, 1.095, 1.461}, layer[] = {-1.342, -.447, .447, 1.342};
    double y[4];
    assert_near(formula_rms(4, four, 0), 2.7386, 5e-5);
    formula_rms_norm(4, four, 0, y);
    for (int i = 0; i < 4; i++) assert_near(y[i], rms[i], 5e-4);
    formula_layer_norm(4, four, 0, y);
    for (int i = 0; i < 4; i++) assert_near(y[i], layer[i], 5e-4);
}

static void what_cannot_be_divided(void **state) {
    (void)state;
    static const double zeros[] = {0, 0}, equal[] = {3, 3};
    double y[2];
    formula_rms_norm(2, zeros, 0, y);
    assert_true(isnan(y[0]));
    formula_rms_norm(2, zeros, 1e-6, y);
    assert_true(y[0] == 0);
    formula_layer_norm(2, equal, 0, y);
    assert_true(isnan(y[1]));
    formula_layer_norm(2, equal, 1e-5, y);
    assert_true(y[1] == 0);
}

/* Seminar 3, 3.2: numbers near 300 square to more than 65504. */
static void half_overflows_where_single_does_not(void **state) {
    (void)state;
    static const double large[] = {300, -310, 290, 305}, small[] = {1, 2, 3, 4};
    double y[4], exact[4];
    assert_true(isinf(formula_rms_norm_rounded(FP16, FP16, 4, large, 0, y)));
    for (int i = 0; i < 4; i++) assert_true(y[i] == 0);
    formula_rms_norm(4, large, 0, exact);
    assert_near(formula_rms_norm_rounded(FP16, FP32, 4, large, 0, y), formula_rms(4, large, 0), 1e-4);
    for (int i = 0; i < 4; i++) {
        assert_near(y[i], exact[i], 5e-4);
        assert_true(fpformat_round(FP16, y[i]) == y[i]);
    }
    /* Step by step: 1 + 4 + 9 + 16 = 30, 7.5, sqrt = 2.7386 -> 2.73828125, and 4 / that -> 1.4609375. */
    assert_true(formula_rms_norm_rounded(FP16, FP16, 4, small, 0, y) == 2.73828125);
    assert_true(y[3] == 1.4609375);
}

/* --- against the engine --- */

static Batch one_token(void) {
    Batch b;
    batch_init(&b);
    batch_add(&b, (const int[]){0}, 1, false);
    return b;
}

/* F of the row VALUES [n] as a tape has it, into y [n]. */
static void by_tape(Vid (*f)(Tape *t, Vid x, int kind), int kind, int n, const double *values, double *y) {
    Params p;
    params_init(&p);
    int slice = params_add(&p, "x", 1, n, INIT_ZERO, 0);
    params_seal(&p);
    for (int i = 0; i < n; i++) p.x[i] = (real)values[i];
    Batch b = one_token();
    Tape *t = tape_new(TAPE_PROBE);
    tape_begin(t, &p, &b, 1, 0);
    Vid v = f(t, tape_embed(t, slice, EMBED_TOKEN), kind);
    tape_forward(t);
    const real *x = tape_value(t, v, NULL, NULL);
    for (int i = 0; i < n; i++) y[i] = (double)x[i];
    tape_free(t);
    batch_done(&b);
    params_done(&p);
}

static Vid norm_node(Tape *t, Vid x, int kind) {
    return tape_norm(t, x, (NormKind)kind, SLICE_NONE, SLICE_NONE, 0, 1e-5);
}

static Vid act_node(Tape *t, Vid x, int kind) {
    return tape_act(t, x, (ActKind)kind);
}

static Vid cap_node(Tape *t, Vid x, int kind) {
    return tape_softcap(t, x, kind);
}

enum { POINTS = 161 };

static void the_engine_computes_the_same(void **state) {
    (void)state;
    static const struct {
        FfnKind ffn;
        ActKind act;
    } kinds[] = {{FFN_RELU, ACT_RELU},
                 {FFN_GELU, ACT_GELU},
                 {FFN_GELU_TANH, ACT_GELU_TANH},
                 {FFN_SILU, ACT_SILU},
                 {FFN_SQUARED_RELU, ACT_SQUARED_RELU},
                 {FFN_SWIGLU, ACT_SILU},
                 {FFN_GEGLU, ACT_GELU},
                 {FFN_REGLU, ACT_RELU}};
    double x[POINTS], y[POINTS], own[POINTS];
    for (int i = 0; i < POINTS; i++) x[i] = (i - 80) * .125;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        by_tape(act_node, (int)kinds[k].act, POINTS, x, y);
        for (int i = 0; i < POINTS; i++) assert_near(formula_activation(kinds[k].ffn, x[i]), y[i], 2e-5);
    }
    by_tape(cap_node, 3, POINTS, x, y);
    for (int i = 0; i < POINTS; i++) assert_near(formula_softcap(3, x[i]), y[i], 1e-6);
    by_tape(norm_node, NORM_RMS, POINTS, x, y);
    formula_rms_norm(POINTS, x, 1e-5, own);
    for (int i = 0; i < POINTS; i++) assert_near(own[i], y[i], 1e-6);
    by_tape(norm_node, NORM_LAYER, POINTS, x, y);
    formula_layer_norm(POINTS, x, 1e-5, own);
    for (int i = 0; i < POINTS; i++) assert_near(own[i], y[i], 1e-6);
}

static void activations_at_the_edges(void **state) {
    (void)state;
    static const FfnKind kinds[] = {FFN_RELU, FFN_GELU, FFN_GELU_TANH, FFN_SILU, FFN_SQUARED_RELU};
    for (int i = 0; i < 5; i++) {
        assert_true(formula_activation(kinds[i], 0) == 0);
        assert_true(formula_activation(kinds[i], -HUGE_VAL) == 0);
        assert_true(formula_activation(kinds[i], HUGE_VAL) == HUGE_VAL);
        assert_true(isnan(formula_activation(kinds[i], (double)NAN)));
    }
    assert_near(formula_softcap(30, 10), 9.65, .005); /* seminar 3, 9.3 */
    assert_near(formula_softcap(30, 200), 30, 1e-3);
}

static void softmax_and_entropy(void **state) {
    (void)state;
    double p[64] = {0}, x[3] = {1001, 1000, 999};
    formula_softmax(64, p, p);
    assert_near(formula_entropy(64, p), 4.16, .005); /* seminar 3, 9.2 */
    formula_softmax(3, x, p);
    assert_near(p[0], .665, 5e-4);
    assert_near(p[0] + p[1] + p[2], 1, 1e-15);
    assert_true(formula_entropy(2, (const double[]){1, 0}) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_of_the_exercise),
        cmocka_unit_test(what_cannot_be_divided),
        cmocka_unit_test(half_overflows_where_single_does_not),
        cmocka_unit_test(the_engine_computes_the_same),
        cmocka_unit_test(activations_at_the_edges),
        cmocka_unit_test(softmax_and_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
