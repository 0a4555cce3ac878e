/* layers and digits: gradients against differences, in double; what learns at each stage; drawn digits that can be told
 * apart. */
#include "digits.h"
#include "layers.h"

#include "mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PICTURES = 5, PIXELS = 6, CLASSES = 3 };
static const int picture[] = {4, 0, 2}, label[] = {2, 0, 1};

static void make(Layers *l) {
    LayersShape shape = {PICTURES, PIXELS, CLASSES, 3, {5, 4, 3}, ACT_TANH};
    real x[PICTURES * PIXELS];
    Rng r = rng_at(1, "pictures", 0);
    for (int i = 0; i < PICTURES * PIXELS; i++) x[i] = (real)rng_unit(&r);
    layers_init(l, &shape, x, 3);
}

static double loss_of(Layers *l, LayersStage stage, int layer) {
    return layers_step(l, stage, layer, picture, label, 3, 0); /* a step of rate 0 moves nothing */
}

static void check_gradient(LayersStage stage, int layer) {
    OptimConfig config = optim_defaults();
    Layers l;
    make(&l);
    layers_begin(&l, stage, layer, &config);
    (void)loss_of(&l, stage, layer);
    real *grad = MEM_ARRAY(real, l.params.count);
    memcpy(grad, l.grad, l.params.count * sizeof *grad);
    int moving = 0;
    for (int s = 0; s < l.params.slices; s++) {
        const Slice *slice = &l.params.slice[s];
        moving += !slice->frozen;
        for (size_t i = slice->at; i < slice->at + slice_count(slice) && !slice->frozen; i++) {
            real at = l.params.x[i];
            l.params.x[i] = at + 1e-5;
            double up = loss_of(&l, stage, layer);
            l.params.x[i] = at - 1e-5;
            double down = loss_of(&l, stage, layer);
            l.params.x[i] = at;
            if (fabs((double)grad[i] - (up - down) / 2e-5) > 1e-7)
                fail_msg("%s: %g, not %g", slice->name, (double)grad[i], (up - down) / 2e-5);
        }
    }
    assert_int_equal(moving, stage == LAYERS_ALL ? 2 * (layer + 1) + 2 : 4);
    mem_free(grad);
    layers_done(&l);
}

static void gradients_agree_with_differences(void **state) {
    (void)state;
    for (int layer = 0; layer < 3; layer++) {
        check_gradient(LAYERS_BACK, layer);
        check_gradient(LAYERS_CLASS, layer);
        check_gradient(LAYERS_ALL, layer);
    }
}

static void every_stage_learns(void **state) {
    (void)state;
    OptimConfig config = optim_defaults();
    Layers l;
    make(&l);
    for (LayersStage stage = LAYERS_BACK; stage <= LAYERS_ALL; stage++) {
        layers_begin(&l, stage, 1, &config);
        double first = loss_of(&l, stage, 1);
        for (int i = 0; i < 300; i++) (void)layers_step(&l, stage, 1, picture, label, 3, 0.02);
        assert_true(loss_of(&l, stage, 1) < first / 2);
    }
    int guess[3];
    layers_classify(&l, 1, picture, 3, guess);
    assert_memory_equal(guess, label, sizeof label);
    layers_done(&l);
}

/* tanh(W x + b), layer upon layer */
static void codes_are_what_the_formula_says(void **state) {
    (void)state;
    Layers l;
    real code[2 * 4];
    make(&l);
    layers_code(&l, 1, picture, 2, code);
    const Params *p = &l.params;
    const real *x = p->x + picture[1] * PIXELS, *w0 = p->x + p->slice[params_find(p, "layer0.weight")].at,
               *w1 = p->x + p->slice[params_find(p, "layer1.weight")].at;
    for (int i = 0; i < 4; i++) {
        double sum = 0;
        for (int k = 0; k < 5; k++) {
            double in = 0;
            for (int j = 0; j < PIXELS; j++) in += (double)(w0[k * PIXELS + j] * x[j]);
            sum += (double)w1[i * 5 + k] * tanh(in);
        }
        assert_true(fabs((double)code[4 + i] - tanh(sum)) < 1e-12);
    }
    layers_done(&l);
}

/* The mean of some of each kind names most of the others. */
static void digits_can_be_told_apart(void **state) {
    (void)state;
    enum { SIDE = 12, EACH = 40 };
    double mean[10][SIDE * SIDE] = {{0}};
    real x[SIDE * SIDE], again[SIDE * SIDE];
    int right = 0;
    for (int i = 0; i < 2 * EACH * 10; i++) {
        Rng r = rng_at(1, "digit", (uint64_t)i), same = r;
        digits_draw(&r, i % 10, SIDE, 0.1, x);
        digits_draw(&same, i % 10, SIDE, 0.1, again);
        assert_memory_equal(x, again, sizeof x);
        double nearest = 1e9;
        int best = -1;
        for (int d = 0; d < 10; d++) {
            double far = 0;
            for (int k = 0; k < SIDE * SIDE; k++) {
                assert_true(x[k] >= 0 && x[k] <= 1);
                far += pow((double)x[k] - mean[d][k], 2);
            }
            if (far < nearest) {
                nearest = far;
                best = d;
            }
        }
        if (i < EACH * 10)
            for (int k = 0; k < SIDE * SIDE; k++) mean[i % 10][k] += (double)x[k] / EACH;
        else
            right += best == i % 10;
    }
    assert_in_range(right, EACH * 10 * 7 / 10, EACH * 10 - 1); /* and some are badly written */
}

/* Between a twentieth of the paper and two fifths are ink, near the middle, and next to none at the edge. */
static void digits_stand_on_their_paper(void **state) {
    (void)state;
    enum { SIDE = 24, DRAWN = 300 };
    real x[SIDE * SIDE];
    double edge = 0, all = 0, least = 1, most = 0, worst = 0;
    for (int i = 0; i < DRAWN; i++) {
        Rng r = rng_at(2, "digit", (uint64_t)i);
        double ink = 0, across = 0, down = 0;
        digits_draw(&r, i % 10, SIDE, 0, x);
        for (int k = 0; k < SIDE * SIDE; k++) {
            int row = k / SIDE, col = k % SIDE;
            bool at_edge = row == 0 || col == 0 || row == SIDE - 1 || col == SIDE - 1;
            ink += (double)x[k];
            across += (double)x[k] * (col - SIDE / 2 + 0.5);
            down += (double)x[k] * (row - SIDE / 2 + 0.5);
            edge += at_edge ? (double)x[k] : 0;
        }
        all += ink;
        least = fmin(least, ink / (SIDE * SIDE));
        most = fmax(most, ink / (SIDE * SIDE));
        worst = fmax(worst, fmax(fabs(across), fabs(down)) / ink / SIDE);
    }
    if (!(least > 0.05 && most < 0.4 && most > 2 * least)) fail_msg("ink from %g to %g", least, most);
    if (!(edge < 0.02 * all)) fail_msg("%g at the edge", edge / all);
    if (!(worst < 0.25)) fail_msg("%g of the side from the middle", worst);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_differences), cmocka_unit_test(every_stage_learns),
        cmocka_unit_test(codes_are_what_the_formula_says),  cmocka_unit_test(digits_can_be_told_apart),
        cmocka_unit_test(digits_stand_on_their_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
