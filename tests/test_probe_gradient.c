/* The whole graph of a model on a tape for looking: its gradients are those of a training tape and of central
 * differences. Run against the engine in double. */
#include "expect.h"

#include "mem.h"
#include "model.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 7 };

typedef struct {
    Model *model;
    Batch batch;
    Tape *tape;
    Vid loss;
} Pass;

static void record(Pass *p, TapeMode mode) {
    p->tape = tape_new(mode);
    tape_begin(p->tape, model_read_params(p->model), &p->batch, 0, 0);
    p->loss = tape_cross_entropy(p->tape, model_graph(p->model, p->tape, NULL), 0, 0);
    tape_forward(p->tape);
}

static void gradient(Pass *p, TapeMode mode, real *out) {
    record(p, mode);
    tape_backward_over(p->tape, p->loss, out);
    tape_free(p->tape);
}

static double loss_at(Pass *p, size_t at, double by) {
    real *x = &model_params(p->model)->x[at], before = *x;
    *x = (real)((double)before + by);
    record(p, TAPE_PROBE);
    double loss = tape_scalar(p->tape, p->loss);
    tape_free(p->tape);
    *x = before;
    return loss;
}

static void expect_gradients(ModelConfig c) {
    static const int ids[TOKENS] = {1, 9, 4, 17, 9, 11, 5};
    Pass p = {.model = model_new(&c, 3)};
    batch_init(&p.batch);
    batch_add(&p.batch, ids, TOKENS, false);
    const Params *params = model_read_params(p.model);
    real *probe = MEM_ARRAY(real, params->count), *train = MEM_ARRAY(real, params->count);
    gradient(&p, TAPE_PROBE, probe);
    gradient(&p, TAPE_TRAIN, train);
    for (size_t i = 0; i < params->count; i++)
        if (!(fabs((double)(probe[i] - train[i])) <= 1e-12)) fail_msg("parameter %zu differs", i);
    const double step = 1e-5;
    for (int i = 0; i < params->slices; i++)
        for (size_t k = 0; k < slice_count(&params->slice[i]); k += slice_count(&params->slice[i]) / 3 + 1) {
            size_t at = params->slice[i].at + k;
            double want = (loss_at(&p, at, step) - loss_at(&p, at, -step)) / (2 * step);
            if (!(fabs((double)probe[at] - want) <= 1e-8 + 1e-6 * fabs(want)))
                fail_msg("%s[%zu] has %.12g, not %.12g", params->slice[i].name, k, (double)probe[at], want);
        }
    mem_free(probe);
    mem_free(train);
    batch_done(&p.batch);
    model_free(p.model);
}

static void gradients_of_whole_models(void **state) {
    (void)state;
    ModelConfig modern = config_modern(), gpt = config_gpt();
    modern.vocab = gpt.vocab = 30;
    modern.softcap = 5, modern.qk_norm = true, modern.window = 4;
    gpt.dropout = 0;
    expect_gradients(modern);
    expect_gradients(gpt);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_of_whole_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
