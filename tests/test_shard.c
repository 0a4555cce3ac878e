/* Shards: the same bits with any number of threads, nothing allocated in a warm step, NaN named. */
#include "shard.h"

#include "gemm.h"
#include "hash.h"
#include "mem.h"
#include "optim.h"
#include "rng.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SENTENCES = 21, LONGEST = 19 };

static ModelConfig config_of(const char *preset) {
    ModelConfig c;
    assert_true(config_preset(preset, &c));
    return c;
}

static void make_batch(Batch *b, int sentences, uint64_t step) {
    Rng rng = rng_at(9, "test", step);
    batch_clear(b);
    for (int s = 0; s < sentences; s++) {
        int id[LONGEST + 1], n = 8 + (int)rng_below(&rng, LONGEST - 7);
        for (int i = 0; i <= n; i++) id[i] = (int)rng_below(&rng, 56);
        batch_add(b, id, n, true);
    }
}

typedef struct {
    Model *model;
    Shards *shards;
    Optim optim;
    Batch batch;
    real *grad, *before;
} Training;

static void begin(Training *t, const ModelConfig *c, int threads) {
    OptimConfig optim = optim_defaults();
    optim.clip = 1;
    optim.weight_decay = .01;
    t->model = model_new(c, 4);
    t->shards = shards_new(t->model, threads);
    optim_init(&t->optim, &optim, model_params(t->model)->count);
    batch_init(&t->batch);
    t->grad = MEM_ARRAY(real, model_params(t->model)->count);
    t->before = MEM_ARRAY(real, model_params(t->model)->count);
}

static void end(Training *t) {
    shards_free(t->shards);
    optim_done(&t->optim);
    batch_done(&t->batch);
    mem_free(t->grad);
    mem_free(t->before);
    model_free(t->model);
}

static double train_step(Training *t, int sentences, uint64_t step) {
    make_batch(&t->batch, sentences, step);
    double loss = shards_gradient(t->shards, &t->batch, 4, step, t->grad);
    double norm = shards_norm(t->shards, t->grad), rate = optim_rate(&t->optim.config, (long)step, 100);
    shards_update(t->shards, &t->optim, t->grad, norm, rate, t->before);
    return loss;
}

static uint64_t hash_after(const ModelConfig *c, int threads, double *loss) {
    Training t;
    begin(&t, c, threads);
    for (uint64_t step = 0; step < 12; step++) {
        /* few sentences leave shards empty; changing threads half way changes nothing */
        *loss = train_step(&t, step % 4 == 3 ? 1 + (int)(step % 3) : SENTENCES, step);
        if (step == 6) shards_set_threads(t.shards, threads % SHARDS + 1);
    }
    uint64_t h = params_hash(model_params(t.model));
    h = hash_bytes(h, t.optim.v, t.optim.count * sizeof(real));
    end(&t);
    return h;
}

static void test_same_bits_with_any_threads(void **state) {
    (void)state;
    const char *const presets[] = {"gpt", "modern"};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = config_of(presets[i]);
        c.dropout = i ? .1 : 0;
        double loss, other;
        uint64_t one = hash_after(&c, 1, &loss);
        assert_true(isfinite(loss) && loss > 0);
        for (int threads = 2; threads <= SHARDS; threads++) {
            assert_true(hash_after(&c, threads, &other) == one);
            assert_true(loss == other);
        }
    }
}

/* The update by all threads is that of one call: the same norm, parameters and moments, and what was before is kept. */
static void test_update_is_the_optimisers(void **state) {
    (void)state;
    ModelConfig c = config_of("modern");
    for (int kind = 0; kind < 2; kind++) {
        Training t;
        Optim alone;
        Params p = {0};
        begin(&t, &c, 2);
        t.optim.config.kind = kind ? OPTIM_SGD : OPTIM_ADAMW;
        model_params(t.model)->slice[3].frozen = true;
        optim_init(&alone, &t.optim.config, t.optim.count);
        params_copy(&p, model_params(t.model));
        size_t bytes = p.count * sizeof(real);
        for (uint64_t step = 0; step < 3; step++) {
            (void)train_step(&t, SENTENCES, step);
            assert_memory_equal(t.before, p.x, bytes);
            double norm = optim_update(&alone, &p, t.grad, optim_rate(&alone.config, (long)step, 100));
            assert_true(norm > 0 && norm == shards_norm(t.shards, t.grad));
            assert_memory_equal(model_params(t.model)->x, p.x, bytes);
            assert_memory_equal(t.optim.m, alone.m, bytes);
            assert_memory_equal(t.optim.v, alone.v, bytes);
        }
        params_done(&p);
        optim_done(&alone);
        end(&t);
    }
}

static void count_numbers(void *data, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) ((int *)data)[i]++;
}

static void test_stretches_cover_all(void **state) {
    (void)state;
    ModelConfig c = config_of("modern");
    Training t;
    begin(&t, &c, 3);
    for (size_t count = 0; count < 200; count += 7) {
        int seen[200] = {0};
        shards_stretch(t.shards, count, count_numbers, seen);
        for (size_t i = 0; i < 200; i++) assert_int_equal(seen[i], i < count);
    }
    end(&t);
}

static void test_seed_and_step_reach_dropout(void **state) {
    (void)state;
    ModelConfig c = config_of("modern");
    c.dropout = .1;
    Training t;
    begin(&t, &c, 1);
    make_batch(&t.batch, SENTENCES, 0);
    double a = shards_gradient(t.shards, &t.batch, 1, 5, t.grad),
           again = shards_gradient(t.shards, &t.batch, 1, 5, t.grad);
    assert_true(a == again);
    assert_true(a != shards_gradient(t.shards, &t.batch, 1, 6, t.grad));
    assert_true(a != shards_gradient(t.shards, &t.batch, 2, 5, t.grad));
    end(&t);
}

/* The shards' gradient is the gradient of the whole batch on one tape. */
static void test_sum_is_the_whole(void **state) {
    (void)state;
    ModelConfig c = config_of("gpt");
    c.z_loss = .01;
    Training t;
    begin(&t, &c, 2);
    Params *p = model_params(t.model);
    make_batch(&t.batch, SENTENCES, 0);
    double loss = shards_gradient(t.shards, &t.batch, 4, 0, t.grad);
    Tape *tape = tape_new(TAPE_TRAIN);
    real *whole = MEM_ARRAY(real, p->count);
    tape_begin(tape, p, &t.batch, 4, 0);
    Vid y = tape_cross_entropy(tape, model_graph(t.model, tape, NULL), c.z_loss, 0);
    tape_forward(tape);
    tape_backward(tape, y, whole);
    double wrong = 0, norm = 0;
    for (size_t i = 0; i < p->count; i++) {
        wrong += ((double)whole[i] - (double)t.grad[i]) * ((double)whole[i] - (double)t.grad[i]);
        norm += (double)whole[i] * (double)whole[i];
    }
    assert_true(fabs(loss - tape_scalar(tape, y)) < 1e-6);
    assert_true(norm > 1e-4 && sqrt(wrong / norm) < 1e-5);
    /* and the summed negative log-probability is targets * mean, without the z-loss */
    tape_begin(tape, p, &t.batch, 4, 0);
    y = tape_cross_entropy(tape, model_graph(t.model, tape, NULL), 0, 0);
    tape_forward(tape);
    assert_true(fabs(shards_nll(t.shards, &t.batch) / t.batch.targets - tape_scalar(tape, y)) < 1e-5);
    mem_free(whole);
    tape_free(tape);
    end(&t);
}

static void test_warm_step_allocates_nothing(void **state) {
    (void)state;
    const char *const presets[] = {"gpt", "modern"};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = config_of(presets[i]);
        c.dropout = .1;
        Training t;
        begin(&t, &c, 2);
        /* the same batches again: sooner or later each thread has seen the largest shard, also of those that it does
         * for another */
        size_t before, rounds = 0;
        do {
            assert_in_range(++rounds, 1, 50);
            before = mem_count().allocations;
            for (uint64_t step = 0; step < 4; step++) (void)train_step(&t, SENTENCES, step);
            (void)shards_nll(t.shards, &t.batch);
        } while (mem_count().allocations != before);
        end(&t);
    }
}

static void test_first_bad_is_named(void **state) {
    (void)state;
    ModelConfig c = config_of("modern");
    Training t;
    begin(&t, &c, 2);
    (void)train_step(&t, SENTENCES, 0);
    assert_string_equal(shards_first_bad(t.shards), "");
    Params *p = model_params(t.model);
    real *weight = p->x + p->slice[params_find(p, "block1.ffn.down.weight")].at, kept = *weight;
    *weight = (real)NAN;
    make_batch(&t.batch, SENTENCES, 1);
    assert_true(isnan(shards_gradient(t.shards, &t.batch, 4, 1, t.grad)));
    assert_string_equal(shards_first_bad(t.shards), "block1.ffn.down");
    assert_true(isnan(shards_nll(t.shards, &t.batch)));
    assert_string_equal(shards_first_bad(t.shards), "block1.ffn.down");
    *weight = kept;
    assert_true(isfinite(shards_gradient(t.shards, &t.batch, 4, 1, t.grad)));
    assert_string_equal(shards_first_bad(t.shards), "");
    end(&t);
}

static volatile sig_atomic_t signals;
static void count_signal(int number) {
    (void)number, signals++;
}

/* Blocked here and in the helpers, a signal stays pending. (OpenBLAS's own pool, without OPENBLAS_NUM_THREADS=1, takes
 * it.) */
static void test_helpers_block_signals(void **state) {
    (void)state;
    const char *pool = getenv("OPENBLAS_NUM_THREADS");
    if (!pool || strcmp(pool, "1") != 0) skip();
    ModelConfig c = config_of("modern");
    struct sigaction action = {.sa_handler = count_signal}, old;
    sigset_t set, before, pending;
    Training t;
    begin(&t, &c, 4);
    (void)sigaction(SIGUSR1, &action, &old);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &set, &before);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    for (uint64_t step = 0; step < 3; step++) (void)train_step(&t, SENTENCES, step);
    assert_int_equal(signals, 0);
    (void)sigpending(&pending);
    assert_true(sigismember(&pending, SIGUSR1));
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(signals, 1);
    (void)sigaction(SIGUSR1, &old, NULL);
    end(&t);
}

static void test_blas_has_one_thread(void **state) {
    (void)state;
    assert_int_equal(gemm_threads(), 1);
    assert_true(strlen(gemm_core()) > 0 && strlen(gemm_library()) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_with_any_threads), cmocka_unit_test(test_seed_and_step_reach_dropout),
        cmocka_unit_test(test_sum_is_the_whole),           cmocka_unit_test(test_warm_step_allocates_nothing),
        cmocka_unit_test(test_first_bad_is_named),         cmocka_unit_test(test_helpers_block_signals),
        cmocka_unit_test(test_update_is_the_optimisers),   cmocka_unit_test(test_stretches_cover_all),
        cmocka_unit_test(test_blas_has_one_thread),
    };
    return cmocka_run_group_tests_name("shard", tests, NULL, NULL);
}
