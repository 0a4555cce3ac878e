/* account: parameters against models that are built, operations against products that are made, and the figures of the
 * lectures. */
#include "account.h"
#include "batch.h"
#include "flop_count.h"
#include "gemm.h"
#include "mask.h"
#include "model.h"

#include <pthread.h>
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

static double share(Count part, Count whole) {
    return (double)part / (double)whole;
}

/* Assignment 1's architecture: pre-norm, RMS norm, SwiGLU, RoPE, own output matrix, no biases. */
static ModelConfig assignment(int vocab, int d, int layers, int heads, int d_ff) {
    ModelConfig c = config_modern();
    c.vocab = vocab, c.d = d, c.layers = layers, c.heads = c.kv_heads = heads, c.head_dim = d / heads, c.d_ff = d_ff;
    return c;
}

static ModelConfig llama3_8b(void) {
    ModelConfig c = assignment(128256, 4096, 32, 32, 14336);
    c.kv_heads = 8;
    return c;
}

/* --- parameters --- */

static void presets(void **state) {
    (void)state;
    ModelConfig gpt = config_gpt(), modern = config_modern();
    assert_int_equal(account_parameters(&gpt).total, 111360);
    assert_int_equal(account_parameters(&modern).total, 99648);
    assert_int_equal(account_parameters(&gpt).total, model_count(&gpt));
    assert_int_equal(account_parameters(&modern).total, model_count(&modern));
}

static void expect_count(const ModelConfig *c) {
    Status s = config_check(c);
    assert_true(status_is_ok(&s));
    size_t built = model_count(c);
    Count counted = account_parameters(c).total;
    if ((size_t)counted != built)
        fail_msg("norm %d place %d ffn %d pos %d bias %d tie %d qk %d parallel %d: %lld, built %zu", (int)c->norm,
                 (int)c->norm_place, (int)c->ffn, (int)c->pos, c->bias, c->tie, c->qk_norm, c->parallel, counted,
                 built);
}

static ModelConfig variant(int i) {
    static const int kv_heads[] = {6, 3, 1};
    ModelConfig c = {.vocab = 11,
                     .context = 13,
                     .d = 10,
                     .layers = 2,
                     .heads = 6,
                     .head_dim = 4,
                     .d_ff = 7,
                     .rope_base = 10000,
                     .norm_eps = 1e-5};
    c.norm = (NormKind)(i % 3), i /= 3;
    c.norm_place = (NormPlace)(i % 4), i /= 4;
    c.ffn = (FfnKind)(i % 8), i /= 8;
    c.pos = (PosKind)(i % 4), i /= 4;
    c.kv_heads = kv_heads[i % 3], i /= 3;
    c.bias = i & 1, c.tie = i & 2, c.qk_norm = i & 4, c.parallel = i & 8;
    return c;
}

enum { VARIANTS = 3 * 4 * 8 * 4 * 3 * 16 };

static void every_switch_counts_as_it_builds(void **state) {
    (void)state;
    for (int i = 0; i < VARIANTS; i++) {
        ModelConfig c = variant(i);
        expect_count(&c);
    }
    ModelConfig none = config_gpt();
    none.layers = 0;
    expect_count(&none);
}

/* Seminar 3, exercise 1; lecture 4, 7.1 and exercise 4. */
static void figures_of_parameters(void **state) {
    (void)state;
    ModelConfig stories = assignment(10000, 512, 4, 16, 1344);
    ParameterAccount a = account_parameters(&stories);
    assert_int_equal(a.total, 22696448);
    assert_int_equal(a.token_embedding + a.output, 10240000);
    assert_int_equal(a.attention + a.feed_forward + a.norm, 12455936 + 512);
    assert_near(share(a.token_embedding + a.output, a.total), .45, .005);
    ModelConfig llama = llama3_8b();
    a = account_parameters(&llama);
    assert_int_equal(a.total, 8030261248);
    assert_near(share(a.feed_forward, a.total), .702, .0005);
    assert_near(share(a.attention, a.total), .167, .0005);
    assert_near(share(a.token_embedding + a.output, a.total), .13, .005);
    assert_int_equal(a.attention, 32LL * 41943040); /* exercise 4: 41.9 million a layer */
    llama.kv_heads = 32;
    assert_int_equal(account_parameters(&llama).attention, 32LL * 67108864);
}

/* --- operations --- */

/* Seminar 3, 11.2 and exercise 6. */
static void figures_of_operations(void **state) {
    (void)state;
    ModelConfig stories = assignment(10000, 512, 4, 16, 1344), xl = assignment(50257, 1600, 48, 25, 6400);
    FlopAccount a = account_flops(&stories, 256, 1, ACCOUNT_ALL_SCORES);
    assert_near((double)a.projections, 2.15e9, 5e6);
    assert_near((double)a.core, .54e9, 5e6);
    assert_near((double)a.feed_forward, 4.23e9, 5e6);
    assert_near((double)a.output, 2.62e9, 5e6);
    assert_near(share(a.output, a.total), .27, .005);
    a = account_flops(&xl, 1024, 1, ACCOUNT_ALL_SCORES);
    assert_near(share(a.output, a.total), .036, .0005);
    assert_near(share(a.core, a.total), .07, .005);
    FlopAccount far = account_flops(&xl, 16384, 1, ACCOUNT_ALL_SCORES);
    assert_true(far.core > far.feed_forward && far.core > far.projections);
    assert_int_equal(account_flops(&xl, 1024, 7, ACCOUNT_ALL_SCORES).total, 7 * a.total);
    /* Apart from the core, each part is 2 T times its parameters. */
    ParameterAccount p = account_parameters(&xl);
    assert_int_equal(a.projections, 2 * 1024 * p.attention);
    assert_int_equal(a.feed_forward, 2 * 1024 * p.feed_forward);
    assert_int_equal(a.output, 2 * 1024 * p.output);
}

static void feed_forward_grows_with_the_model(void **state) {
    (void)state;
    static const int size[][3] = {{768, 12, 12}, {1024, 24, 16}, {1280, 36, 20}, {1600, 48, 25}}; /* GPT-2 */
    double ffn = 0, output = 1;
    for (int i = 0; i < 4; i++) {
        ModelConfig c = assignment(50257, size[i][0], size[i][1], size[i][2], 4 * size[i][0]);
        FlopAccount a = account_flops(&c, 1024, 1, ACCOUNT_ALL_SCORES);
        assert_true(share(a.feed_forward, a.total) > ffn);
        assert_true(share(a.output, a.total) < output);
        ffn = share(a.feed_forward, a.total);
        output = share(a.output, a.total);
    }
}

static void expect_flops(const ModelConfig *c, int T, int batch) {
    Status s = config_check(c);
    assert_true(status_is_ok(&s));
    FlopAccount want = account_flops(c, T, batch, ACCOUNT_ALL_SCORES), made = flop_count(c, T, batch);
    assert_int_equal(made.projections, want.projections);
    assert_int_equal(made.core, want.core);
    assert_int_equal(made.feed_forward, want.feed_forward);
    assert_int_equal(made.output, want.output);
    assert_int_equal(made.total, want.total);
}

static void a_real_forward_makes_these_products(void **state) {
    (void)state;
    ModelConfig gpt = config_gpt(), modern = config_modern();
    gpt.context = modern.context = 256;
    expect_flops(&gpt, 65, 1);
    expect_flops(&gpt, 128, 3);
    expect_flops(&modern, 65, 2);
    expect_flops(&modern, 200, 1);
    modern.window = 7; /* a probe works out all scores and hides some */
    modern.global_every = 2;
    expect_flops(&modern, 130, 1);
    for (int i = 0; i < VARIANTS; i += 97) {
        ModelConfig c = variant(i);
        c.context = 80;
        expect_flops(&c, 65 + i % 11, 1 + i % 2);
    }
    ModelConfig narrow = assignment(10000, 64, 2, 4, 168); /* the head outweighs the rest */
    expect_flops(&narrow, 66, 1);
}

/* On other tapes attention leaves out what blocks of 48 rows do not see. */
static void training_leaves_out_half_of_the_core(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.context = 256;
    int ids[257];
    for (int i = 0; i < 257; i++) ids[i] = i % c.vocab;
    Batch b;
    batch_init(&b);
    batch_add(&b, ids, 256, true);
    Model *m = model_new(&c, 1);
    Tape *t = tape_new(TAPE_EVAL);
    tape_begin(t, model_read_params(m), &b, 1, 0);
    (void)model_graph(m, t, NULL);
    long long before = gemm_flops();
    tape_forward(t);
    FlopAccount all = account_flops(&c, 256, 1, ACCOUNT_ALL_SCORES),
                need = account_flops(&c, 256, 1, ACCOUNT_ALLOWED_SCORES);
    Count core = gemm_flops() - before - (all.total - all.core), blocks = 48 * (48 + 96 + 144 + 192 + 240) + 16 * 256;
    assert_int_equal(core, c.layers * 4 * blocks * c.heads * c.head_dim);
    assert_true(core < all.core && core > need.core);
    tape_free(t);
    model_free(m);
    batch_done(&b);
}

static void allowed_pairs_are_those_of_the_mask(void **state) {
    (void)state;
    for (int T = 1; T <= 12; T++)
        for (int window = 0; window <= 14; window++) {
            MaskRule rule = {.window = window, .causal = true};
            Count pairs = 0;
            for (int q = 0; q < T; q++)
                for (int k = 0; k < T; k++) pairs += mask_allows(&rule, q, k);
            assert_int_equal(account_allowed(T, window), pairs);
        }
    /* Lecture 4, exercise 5; seminar 3, 10.4. */
    double square = 32768.0 * 32768;
    assert_near((double)account_allowed(32768, 0) / square, .5, 2e-5);
    assert_near((double)account_allowed(32768, 4096) / square, .117, .0005);
    assert_near((double)account_allowed(32768, 0), 5.4e8, 5e6);
    ModelConfig c = config_modern();
    c.layers = 3, c.window = 4, c.global_every = 3;
    Count pairs = 2 * account_allowed(20, 4) + account_allowed(20, 0);
    assert_int_equal(account_flops(&c, 20, 1, ACCOUNT_ALLOWED_SCORES).core, 4 * pairs * c.heads * c.head_dim);
}

/* --- memory --- */

/* Seminar 3, 11.3: GPT-2 XL in fp32 with AdamW. */
static void figures_of_training_memory(void **state) {
    (void)state;
    ModelConfig xl = assignment(50257, 1600, 48, 25, 6400);
    Count parameters = account_bytes(account_parameters(&xl).total, 32);
    assert_near((double)parameters / 1e9, 8.5, .05);
    assert_near(4 * (double)parameters / 1e9, 34.0, .05);
    ActivationAccount a = account_activations(&xl, 1024, 1);
    double bytes = (double)account_bytes(a.total, 32);
    assert_near(bytes / 1e9, 18.0, .05);
    assert_near(share(a.square, a.total), .56, .005);
    assert_true(4 * (double)parameters + 2 * bytes < 80e9 && 4 * (double)parameters + 3 * bytes > 80e9);
    assert_int_equal(account_activations(&xl, 1024, 2).total, 2 * a.total);
}

/* The values of one small model, counted by hand: L (norms + attention + feed-forward) + last. */
static void kept_values_follow_the_switches(void **state) {
    (void)state;
    ModelConfig c = {.vocab = 11,
                     .context = 13,
                     .d = 10,
                     .layers = 2,
                     .heads = 6,
                     .kv_heads = 3,
                     .head_dim = 4,
                     .d_ff = 7,
                     .norm = NORM_LAYER,
                     .ffn = FFN_GELU,
                     .norm_eps = 1e-5};
    ActivationAccount a = account_activations(&c, 5, 3);
    assert_int_equal(a.square, 2 * 2 * 6 * 25 * 3);
    assert_int_equal(a.rows, 15 * (2 * (20 + 24 + 24 + 24 + 10 + 14 + 10) + 10 + 22));
    c.qk_norm = true, c.softcap = 30, c.ffn = FFN_SWIGLU, c.norm_place = PLACE_POST, c.parallel = true;
    a = account_activations(&c, 5, 1);
    assert_int_equal(a.square, 3 * 2 * 6 * 25);
    assert_int_equal(a.rows, 5 * (2 * (10 + 36 + 24 + 24 + 24 + 10 + 28 + 10) + 22));
}

/* Lecture 3, exercise 3 and 4.3; lecture 4, exercise 3; seminar 3, exercise 5. */
static void figures_of_caches(void **state) {
    (void)state;
    ModelConfig llama2 = assignment(32000, 4096, 32, 32, 11008), llama3 = llama3_8b(), mistral = llama3,
                gpt = config_gpt();
    assert_int_equal(account_bytes(account_cache(&llama2, 4096), 16), 2LL << 30);
    llama2.kv_heads = 8;
    assert_int_equal(account_bytes(account_cache(&llama2, 4096), 16), 1LL << 29);
    assert_int_equal(account_bytes(account_cache(&gpt, 4), 32), 4096);
    assert_int_equal(account_bytes(account_cache(&gpt, 5), 32), 5120);
    mistral.window = 4096;
    assert_int_equal(account_bytes(account_rolling_cache(&mistral, 1), 16), 128 << 10);
    assert_int_equal(account_bytes(account_rolling_cache(&mistral, 32768), 16), 512 << 20);
    assert_int_equal(account_bytes(account_cache(&mistral, 32768), 16), 4LL << 30);
    Count weights = account_bytes(account_parameters(&llama3).total, 16);
    assert_true(account_bytes(account_cache(&llama3, 131072), 16) > weights);
    assert_near((double)weights / (1 << 30), 15.0, .05); /* lecture 4, 5.3 */
    ModelConfig c = assignment(100, 5120, 40, 40, 100);
    assert_near((double)account_bytes(8 * account_cache(&c, 8192), 16), 53.7e9, 5e7);
    c.kv_heads = 8;
    assert_near((double)account_bytes(8 * account_cache(&c, 8192), 16), 10.7e9, 5e7);
    c.window = 100, c.global_every = 4;
    assert_int_equal(account_rolling_cache(&c, 1000), 2LL * 8 * 128 * (30 * 100 + 10 * 1000));
    assert_int_equal(account_bytes(3, 4), 2);
}

/* --- the edges --- */

static void what_is_too_much_stays_too_much(void **state) {
    (void)state;
    assert_int_equal(account_times(1LL << 40, 1LL << 40), ACCOUNT_TOO_MANY);
    assert_int_equal(account_times(0, ACCOUNT_TOO_MANY), ACCOUNT_TOO_MANY);
    assert_int_equal(account_add(ACCOUNT_TOO_MANY, 0), ACCOUNT_TOO_MANY);
    assert_int_equal(account_add(LLONG_MAX - 1, 2), ACCOUNT_TOO_MANY);
    assert_int_equal(account_bytes(ACCOUNT_TOO_MANY, 16), ACCOUNT_TOO_MANY);
    assert_int_equal(account_allowed(1LL << 40, 0), ACCOUNT_TOO_MANY);
    ModelConfig c = assignment(1000000, 1000000, 1000, 1000, 1000000);
    c.head_dim = 100000;
    assert_true(account_parameters(&c).total < ACCOUNT_TOO_MANY);
    assert_int_equal(account_flops(&c, 1000000, 1000, ACCOUNT_ALL_SCORES).total, ACCOUNT_TOO_MANY);
    assert_int_equal(account_activations(&c, 1000000000, 1000000000).total, ACCOUNT_TOO_MANY);
}

static void *count_in_a_thread(void *data) {
    real a[4] = {1, 2, 3, 4}, c[4];
    for (int i = 0; i < 1000; i++) gemm(GEMM_NN, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2);
    *(long long *)data = gemm_flops();
    return NULL;
}

static void every_thread_counts_its_own(void **state) {
    (void)state;
    pthread_t thread[2];
    long long counted[2] = {0}, before = gemm_flops();
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, count_in_a_thread, &counted[i]), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(counted[0], 16000);
    assert_int_equal(counted[1], 16000);
    assert_int_equal(gemm_flops(), before);
    real x[3] = {1, 2, 3}, y[2], A[6] = {0};
    gemv(2, 3, 1, A, 3, x, 0, y);
    assert_int_equal(gemm_flops(), before + 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets),
        cmocka_unit_test(every_switch_counts_as_it_builds),
        cmocka_unit_test(figures_of_parameters),
        cmocka_unit_test(figures_of_operations),
        cmocka_unit_test(feed_forward_grows_with_the_model),
        cmocka_unit_test(a_real_forward_makes_these_products),
        cmocka_unit_test(training_leaves_out_half_of_the_core),
        cmocka_unit_test(allowed_pairs_are_those_of_the_mask),
        cmocka_unit_test(figures_of_training_memory),
        cmocka_unit_test(kept_values_follow_the_switches),
        cmocka_unit_test(figures_of_caches),
        cmocka_unit_test(what_is_too_much_stays_too_much),
        cmocka_unit_test(every_thread_counts_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
