/* classifier: gradients against differences, in double; what learns and what stands still. */
#include "classifier.h"

#include "mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const int a[] = {1, 4, 5}, b[] = {1, 6}, c[] = {1, 5, 4, 4};
static const ClassifierText texts[] = {{a, 3, 2}, {b, 2, 0}, {c, 4, 1}};
enum { TEXTS = 3, CLASSES = 3 };

static Model *small(const char *arch) {
    ModelConfig config;
    assert_true(config_preset(arch, &config));
    config.vocab = 7;
    config.d = 8;
    config.heads = config.kv_heads = 2;
    config.head_dim = 4;
    config.d_ff = 8;
    config.context = 8;
    Status s = config_check(&config);
    assert_int_equal(s.code, STATUS_OK);
    return model_new(&config, 5);
}

static void check_gradient(const char *arch, bool whole) {
    OptimConfig optim = optim_defaults();
    Model *m = small(arch);
    Classifier k;
    classifier_init(&k, m, CLASSES, whole, &optim, 1);
    (void)classifier_gradient(&k, texts, TEXTS);
    real *grad = MEM_ARRAY(real, k.params.count);
    memcpy(grad, k.grad, k.params.count * sizeof *grad);
    for (size_t i = 0; i < k.params.count; i += i < k.params.slice[k.head].at ? 7 : 1) {
        real at = k.params.x[i];
        k.params.x[i] = at + 1e-5;
        double up = classifier_gradient(&k, texts, TEXTS);
        k.params.x[i] = at - 1e-5;
        double down = classifier_gradient(&k, texts, TEXTS);
        k.params.x[i] = at;
        double want = whole || i >= k.params.slice[k.head].at ? (up - down) / 2e-5 : 0;
        if (fabs((double)grad[i] - want) > 1e-6 * (1 + fabs(want)))
            fail_msg("%s, parameter %zu: %g, not %g", arch, i, (double)grad[i], want);
    }
    mem_free(grad);
    classifier_done(&k);
    model_free(m);
}

static void gradients_agree_with_differences(void **state) {
    (void)state;
    check_gradient("gpt", true);
    check_gradient("gpt", false);
    check_gradient("modern", true);
}

/* Learns its three texts; the model that was given is never touched, and a probe changes its head alone. */
static void only_what_learns_moves(bool whole) {
    OptimConfig optim = optim_defaults();
    Model *m = small("gpt");
    uint64_t before = params_hash(model_read_params(m));
    size_t count = model_read_params(m)->count;
    Classifier k;
    classifier_init(&k, m, CLASSES, whole, &optim, 1);
    assert_int_equal(classifier_learns(&k), (whole ? count : 0) + CLASSES * 8 + CLASSES);
    assert_memory_equal(k.params.x, model_read_params(m)->x, count * sizeof(real));
    double first = classifier_gradient(&k, texts, TEXTS);
    for (int i = 0; i < 200; i++) {
        (void)classifier_gradient(&k, texts, TEXTS);
        classifier_update(&k, 0.02);
    }
    assert_true(classifier_gradient(&k, texts, TEXTS) < first / 4);
    assert_true(classifier_accuracy(&k, texts, TEXTS) == 1);
    assert_true(params_hash(model_read_params(m)) == before);
    assert_true((memcmp(k.params.x, model_read_params(m)->x, count * sizeof(real)) == 0) != whole);
    classifier_done(&k);
    model_free(m);
}

static void a_probe_learns_its_head_alone(void **state) {
    (void)state;
    only_what_learns_moves(false);
}

static void tuning_learns_everything(void **state) {
    (void)state;
    only_what_learns_moves(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(a_probe_learns_its_head_alone),
        cmocka_unit_test(tuning_learns_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
