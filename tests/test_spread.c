/* spread: a change is felt L(W-1) positions further on and no position more; where nothing arrives the difference is
 * exactly 0. */
#include "expect.h"

#include "cancel.h"
#include "decode/spread.h"
#include "rng.h"

#include <string.h>

enum { N = 40, LAYERS = 3 };

typedef struct {
    double difference[LAYERS][N];
    int told[LAYERS];
} Felt;

static void note(void *data, int layer, int position, double difference) {
    Felt *f = data;
    assert_int_equal(f->told[layer]++, position); /* in order, each once */
    f->difference[layer][position] = difference;
}

static Model *make_model(ModelConfig c) {
    c.vocab = 20;
    c.context = N;
    c.layers = LAYERS;
    assert_ok(config_check(&c));
    return model_new(&c, 5);
}

static Felt feel(const Model *m, const ModelTweak *tweak, int changed) {
    int ids[N], other[N];
    Rng r = rng_at(1, "ids", 0);
    for (int i = 0; i < N; i++) ids[i] = other[i] = (int)rng_below(&r, 20);
    other[changed] = (ids[changed] + 1) % 20;
    Felt f = {0};
    assert_true(
        spread_run(&(Spread){.m = m, .tweak = tweak, .ids = ids, .other = other, .n = N, .tell = note, .data = &f}));
    for (int l = 0; l < LAYERS; l++) assert_int_equal(f.told[l], N);
    return f;
}

/* Layer l is felt from CHANGED to CHANGED + reach[l], and nowhere else. */
static void expect_reach(const Felt *f, int changed, const int reach[LAYERS]) {
    for (int l = 0; l < LAYERS; l++)
        for (int i = 0; i < N; i++) {
            bool within = i >= changed && i <= changed + reach[l];
            if (within != (f->difference[l][i] > 0)) fail_msg("layer %d, position %d: %g", l, i, f->difference[l][i]);
        }
}

static void windows(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.window = 4;
    Model *m = make_model(c);
    Felt f = feel(m, NULL, 0);
    expect_reach(&f, 0, (const int[]){3, 6, 9});
    f = feel(m, NULL, 7);
    expect_reach(&f, 7, (const int[]){3, 6, 9});
    const ModelTweak one = {.window = 1}, six = {.window = 6}, none = {.window = 0};
    f = feel(m, &one, 5);
    expect_reach(&f, 5, (const int[]){0, 0, 0});
    f = feel(m, &six, 5);
    expect_reach(&f, 5, (const int[]){5, 10, 15});
    f = feel(m, &none, 5);
    expect_reach(&f, 5, (const int[]){N, N, N});
    model_free(m);
}

static void other_models(void **state) {
    (void)state;
    ModelConfig c = config_gpt();
    c.window = 3;
    Model *m = make_model(c);
    Felt f = feel(m, NULL, 2);
    expect_reach(&f, 2, (const int[]){2, 4, 6});
    model_free(m);
    c = config_modern();
    c.window = 3;
    c.global_every = 2; /* the second layer sees all, and the third all that it told */
    m = make_model(c);
    f = feel(m, NULL, 2);
    expect_reach(&f, 2, (const int[]){2, N, N});
    model_free(m);
}

static void nothing_changed(void **state) {
    (void)state;
    Model *m = make_model(config_modern());
    int ids[N] = {0};
    Felt f = {0};
    assert_true(spread_run(&(Spread){.m = m, .ids = ids, .other = ids, .n = N, .tell = note, .data = &f}));
    expect_reach(&f, N, (const int[]){0, 0, 0});
    model_free(m);
}

static void it_can_be_stopped(void **state) {
    (void)state;
    Model *m = make_model(config_modern());
    int ids[N] = {0};
    Felt f = {0};
    atomic_bool stop = true;
    const atomic_bool *before = cancel_lend(&stop);
    assert_false(spread_run(&(Spread){.m = m, .ids = ids, .other = ids, .n = N, .tell = note, .data = &f}));
    cancel_lend(before);
    assert_true(f.told[0] < N);
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),           cmocka_unit_test(other_models), cmocka_unit_test(nothing_changed),
        cmocka_unit_test(it_can_be_stopped), cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
