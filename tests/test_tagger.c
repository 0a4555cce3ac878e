/* tagger: the gradient through time against differences, in double; what recurrence can and a word alone cannot. */
#include "tagger.h"

#include "mem.h"
#include "optim.h"
#include "rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const int words[] = {2, 0, 3, 3, 1}, tags[] = {1, 0, 2, 1, 1};

static void check_gradient(bool recurrent) {
    TaggerShape shape = {4, 3, 5, recurrent};
    Tagger t;
    tagger_init(&t, &shape, 3);
    Rng r = rng_at(1, "bias", 0);
    for (size_t i = 0; i < t.params.count; i++) t.params.x[i] += (real)(0.1 * rng_normal(&r));
    real *grad = MEM_ARRAY(real, t.params.count);
    (void)tagger_loss(&t, words, tags, 5, 2, grad);
    for (size_t i = 0; i < t.params.count; i++) {
        real at = t.params.x[i];
        t.params.x[i] = at + 1e-5;
        double up = tagger_loss(&t, words, tags, 5, 1, NULL);
        t.params.x[i] = at - 1e-5;
        double down = tagger_loss(&t, words, tags, 5, 1, NULL);
        t.params.x[i] = at;
        double want = 2 * (up - down) / 2e-5;
        if (fabs((double)grad[i] - want) > 1e-7) fail_msg("parameter %zu: %g, not %g", i, (double)grad[i], want);
    }
    mem_free(grad);
    tagger_done(&t);
}

static void gradients_agree_with_differences(void **state) {
    (void)state;
    check_gradient(true);
    check_gradient(false);
}

static double trained_loss(bool recurrent, int *predicted) {
    TaggerShape shape = {4, 3, 8, recurrent};
    OptimConfig config = optim_defaults();
    Tagger t;
    Optim optim;
    tagger_init(&t, &shape, 1);
    optim_init(&optim, &config, t.params.count);
    real *grad = MEM_ARRAY(real, t.params.count);
    for (int i = 0; i < 400; i++) {
        memset(grad, 0, t.params.count * sizeof *grad);
        (void)tagger_loss(&t, words, tags, 5, 1, grad);
        (void)optim_update(&optim, &t.params, grad, 0.03);
    }
    double loss = tagger_loss(&t, words, tags, 5, 1, NULL);
    tagger_predict(&t, words, 5, predicted);
    mem_free(grad);
    optim_done(&optim);
    tagger_done(&t);
    return loss;
}

/* Word 3 has tag 2, then tag 1: only who remembers what came before can know; who does not pays log 2 twice. */
static void recurrence_tells_equal_words_apart(void **state) {
    (void)state;
    int predicted[5];
    double loss = trained_loss(false, predicted);
    if (fabs(loss - 2 * log(2)) > 0.05) fail_msg("%g", loss);
    loss = trained_loss(true, predicted);
    assert_true(loss < 0.1);
    assert_memory_equal(predicted, tags, sizeof tags);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_agree_with_differences),
        cmocka_unit_test(recurrence_tells_equal_words_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
