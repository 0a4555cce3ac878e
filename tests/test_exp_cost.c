/* gqa.cost, mla.cost, kv.size: the figures of lectures 3 and 4 and of seminar 3, and what is refused. */
#include <stdio.h>

#include "run_study.h"

/* ---- gqa.cost ---- */

/* Lecture 4, 5.3: a quarter of the cache, about three times as fast, and with all heads it does not fit. */
static void llama_on_one_machine(void **state) {
    (void)state;
    Study *s = run_study("gqa.cost", NULL);
    Table *t = study_result(s, "cost");
    assert_int_equal(table_rows(t), 3);
    assert_string_equal(cell_text(t, 0, "scheme"), "mha");
    assert_string_equal(cell_text(t, 1, "scheme"), "gqa");
    assert_string_equal(cell_text(t, 2, "scheme"), "mqa");
    assert_int_equal(cell_int(t, 0, "cache_bytes"), 128LL << 30);
    assert_int_equal(cell_int(t, 1, "cache_bytes"), 32LL << 30);
    assert_int_equal(cell_int(t, 2, "cache_bytes"), 4LL << 30);
    assert_near((double)cell_int(t, 1, "weights_bytes") / (1 << 30), 15.0, .05);
    assert_true(cell_int(t, 0, "weights_bytes") > cell_int(t, 1, "weights_bytes"));
    assert_int_equal(cell_int(t, 0, "fits"), 0);
    assert_int_equal(cell_int(t, 1, "fits"), 1);
    assert_near(cell_real(t, 0, "step_ms") / cell_real(t, 1, "step_ms"), 3, .1);
    double bytes = (double)(cell_int(t, 1, "cache_bytes") + cell_int(t, 1, "weights_bytes"));
    assert_near(cell_real(t, 1, "step_ms"), bytes / 3.35e9, 1e-9);
    table_free(t);
    study_free(s);
}

static void machines_in_all_units(void **state) {
    (void)state;
    static const struct {
        const char *memory, *bandwidth;
        int fits;
        double step_ms;
    } rows[] = {
        {"memory=50421000000", "bandwidth=1e12", 1, 50.42026},
        {"memory=50.42GB", "bandwidth=1TB/s", 0, 50.42026},
        {"memory=47 GiB", "bandwidth=1000 GB", 1, 50.42026},
        {"memory=46GiB", "bandwidth=1TiB/s", 0, 45.85696},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Study *s = run_study("gqa.cost", rows[i].memory, rows[i].bandwidth, NULL);
        Table *t = study_result(s, "cost");
        assert_int_equal(cell_int(t, 1, "fits"), rows[i].fits);
        assert_near(cell_real(t, 1, "step_ms"), rows[i].step_ms, 1e-4);
        table_free(t);
        study_free(s);
    }
}

static void rows_of_other_cards(void **state) {
    (void)state;
    static const struct {
        const char *card, *more;
        long rows;
        int grouped;
    } rows[] = {
        {"card=llama2-7b", NULL, 3, 8},  {"card=gemma-2b", NULL, 3, 2},          {"card=gpt2-xl", NULL, 2, 0},
        {"card=mistral-7b", NULL, 3, 8}, {"card=llama3-8b", "kv_heads=4", 3, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Study *s = run_study("gqa.cost", rows[i].card, rows[i].more, NULL);
        Table *t = study_result(s, "cost");
        assert_int_equal(table_rows(t), rows[i].rows);
        if (rows[i].grouped) assert_int_equal(cell_int(t, 1, "kv_heads"), rows[i].grouped);
        table_free(t);
        study_free(s);
    }
}

static void gqa_refuses(void **state) {
    (void)state;
    const char *id = "gqa.cost";
    expect_refused("32 heads cannot share 5", id, "kv_heads=5", NULL);
    expect_refused("kv_heads: 0 is below", id, "kv_heads=0", NULL);
    expect_refused("32 heads cannot share 64", id, "kv_heads=64", NULL);
    expect_refused("there is no card 'nothing'", id, "card=nothing", NULL);
    expect_refused("cannot be counted", id, "card=deepseek-v3", NULL);
    expect_refused("batch", id, "batch=-1", NULL);
    expect_refused("T: 0", id, "T=0", NULL);
    expect_refused("more than 9.2e18", id, "T=1000000000", "batch=1000000000", NULL);
    static const char *const amounts[] = {"memory=",      "memory=0GB",    "memory=-80GB", "memory=80 apples",
                                          "memory=nan",   "memory=infGB",  "memory=80G B", "memory=GB",
                                          "memory=1e999", "memory=80GB/s", "memory=8 0GB"};
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        expect_refused("is no amount above 0", id, amounts[i], NULL);
    expect_refused("bandwidth: 'fast' is no amount above 0 like 80GB/s", id, "bandwidth=fast", NULL);
}

/* ---- mla.cost ---- */

/* Seminar 3, 10.3; DeepSeek-V2, table 1: (d_c + d_h^R) values a layer, as grouped queries with 2.25 groups. */
static void latent_attention(void **state) {
    (void)state;
    Study *s = run_study("mla.cost", NULL);
    Table *t = study_result(s, "cost");
    long mla = row_with(t, "scheme", "mla"), mha = row_with(t, "scheme", "mha"), mqa = row_with(t, "scheme", "mqa");
    assert_int_equal(cell_int(t, mla, "values_per_token_per_layer"), 512 + 64);
    assert_int_equal(cell_int(t, mla, "values_per_token"), 61 * 576);
    assert_int_equal(cell_int(t, mla, "bytes_per_token"), 70272);
    assert_int_equal(cell_int(t, mha, "values_per_token_per_layer"), 2 * 128 * 128);
    assert_int_equal(cell_int(t, row_with(t, "scheme", "gqa"), "values_per_token_per_layer"), 2 * 8 * 128);
    assert_near(cell_real(t, mla, "values_per_token") / cell_real(t, mqa, "values_per_token"), 2.25, 0);
    table_free(t);
    study_free(s);
    s = run_study("mla.cost", "card=llama3-8b", "latent=100", "latent_rope=0", "kv_heads=16", "bytes=1", NULL);
    t = study_result(s, "cost");
    assert_int_equal(cell_int(t, row_with(t, "scheme", "mla"), "bytes_per_token"), 3200);
    assert_int_equal(cell_int(t, row_with(t, "scheme", "gqa"), "bytes_per_token"), 2 * 16 * 128 * 32);
    table_free(t);
    study_free(s);
    expect_refused("128 heads cannot share 7", "mla.cost", "kv_heads=7", NULL);
    expect_refused("latent: 0", "mla.cost", "latent=0", NULL);
    expect_refused("did you mean deepseek-v", "mla.cost", "card=deepseek-v4", NULL);
}

/* ---- kv.size ---- */

/* The bytes of KIND of the first model. */
static long long bytes_of(const Study *s, const char *kind) {
    Table *t = study_result(s, "size");
    long row = row_with(t, "kind", kind);
    assert_true(row >= 0);
    long long bytes = cell_int(t, row, "bytes");
    assert_near(cell_real(t, row, "gib"), (double)bytes / 1073741824, 1e-12);
    table_free(t);
    return bytes;
}

#define EXPECT_SIZE(want, kind, ...)                                                                                   \
    do {                                                                                                               \
        Study *study_ = run_study("kv.size", __VA_ARGS__, NULL);                                                       \
        assert_int_equal(bytes_of(study_, kind), want);                                                                \
        study_free(study_);                                                                                            \
    } while (0)

#define GIB (1LL << 30)
#define KIB (1LL << 10)

static void caches_of_the_lectures(void **state) {
    (void)state;
    EXPECT_SIZE(2 * GIB, "kv_cache", "cards=llama2-7b", "T=4096"); /* lecture 3, exercise 3 */
    EXPECT_SIZE(32 * GIB, "kv_cache", "cards=llama2-7b", "T=4096", "batch=16");
    EXPECT_SIZE(GIB / 2, "kv_cache", "cards=llama2-7b", "T=4096", "kv_heads=8");
    EXPECT_SIZE(13476831232, "weights", "cards=llama2-7b", "batch=16"); /* about 13 GB */
    EXPECT_SIZE(128 * KIB, "kv_cache", "cards=mistral-7b", "T=1");      /* lecture 4, exercise 3 */
    EXPECT_SIZE(512 * KIB * KIB, "rolling", "cards=mistral-7b", "T=32768");
    EXPECT_SIZE(4 * GIB, "kv_cache", "cards=mistral-7b", "T=32768");
    EXPECT_SIZE(16 * GIB, "kv_cache", "cards=llama3-8b", "T=131072"); /* lecture 3, 4.5: more than the weights */
    EXPECT_SIZE(16060522496, "weights", "cards=llama3-8b");
    EXPECT_SIZE(32 * 4096 * 2, "rnn_state", "cards=llama3-8b", "T=131072");
    /* Seminar 3, exercise 5: 53.7 and 10.7 GB. */
    EXPECT_SIZE(53687091200, "kv_cache", "layers=40", "kv_heads=40", "head_dim=128", "batch=8", "T=8192");
    EXPECT_SIZE(10737418240, "kv_cache", "layers=40", "kv_heads=8", "head_dim=128", "batch=8", "T=8192");
    EXPECT_SIZE(4096, "kv_cache", "layers=2", "kv_heads=4", "head_dim=16", "bytes=4", "T=4"); /* lecture 3, 4.3 */
}

static void windows_and_latents(void **state) {
    (void)state;
    EXPECT_SIZE(2 * 2 * 3 * 5 * 7 * 2, "rolling", "layers=2", "kv_heads=3", "head_dim=5", "window=7", "T=100");
    EXPECT_SIZE(2 * 2 * 3 * 5 * 4 * 2, "rolling", "layers=2", "kv_heads=3", "head_dim=5", "window=7", "T=4");
    EXPECT_SIZE(2LL * 8 * 256 * 2 * 21 * (4096 + 32768), "rolling", "cards=gemma2-9b", "T=32768"); /* every second */
    EXPECT_SIZE(2LL * 8 * 256 * 2 * 42 * 1000, "rolling", "cards=gemma2-9b", "T=32768", "window=1000");
    EXPECT_SIZE(61 * 576 * 2 * 10, "kv_cache", "cards=deepseek-v3", "T=10");
    EXPECT_SIZE(61 * 576 * 2 * 3, "rolling", "cards=deepseek-v3", "T=10", "window=3");
    EXPECT_SIZE(2 * 3 * 3 * 4 / 2, "kv_cache", "layers=3", "kv_heads=1", "head_dim=3", "bytes=0.5", "T=4");
}

static void rows_that_are_there(void **state) {
    (void)state;
    Study *s = run_study("kv.size", "cards=Mistral 7B,gpt2,deepseek-v3", NULL);
    Table *t = study_result(s, "size");
    static const char *const rows[][2] = {
        {"mistral-7b", "kv_cache"}, {"mistral-7b", "rolling"},   {"mistral-7b", "rnn_state"},
        {"mistral-7b", "weights"},  {"gpt2", "kv_cache"},        {"gpt2", "rnn_state"},
        {"gpt2", "weights"},        {"deepseek-v3", "kv_cache"}, {"deepseek-v3", "rnn_state"}};
    assert_int_equal(table_rows(t), sizeof rows / sizeof *rows);
    for (long i = 0; i < table_rows(t); i++) {
        assert_string_equal(cell_text(t, i, "model"), rows[i][0]);
        assert_string_equal(cell_text(t, i, "kind"), rows[i][1]);
    }
    assert_non_null(strstr(study_state(s).warning, "gpt2 has learned positions for 1024 tokens"));
    table_free(t);
    study_free(s);
    s = run_study("kv.size", "layers=1", "kv_heads=1", "head_dim=1", NULL);
    t = study_result(s, "size");
    assert_int_equal(table_rows(t), 1); /* no d is known, and no weights */
    table_free(t);
    study_free(s);
}

static void sizes_refuse(void **state) {
    (void)state;
    const char *id = "kv.size";
    expect_refused("head_dim= is missing", id, "layers=2", "kv_heads=1", NULL);
    expect_refused("layers= is missing", id, "head_dim=2", NULL);
    expect_refused("there is no card ''", id, "cards=llama2-7b,,gpt2", NULL);
    expect_refused("there is no card ''", id, "cards=", NULL);
    expect_refused("gpt2 is there twice", id, "cards=gpt2,GPT-2", NULL);
    expect_refused("did you mean llama2-7b", id, "cards=lama2-7b", NULL);
    expect_refused("heads (32) must be a multiple of kv_heads (5)", id, "cards=llama2-7b", "kv_heads=5", NULL);
    expect_refused("it caches a latent vector", id, "cards=deepseek-v3", "kv_heads=8", NULL);
    expect_refused("bytes: 0 is below", id, "bytes=0", NULL);
    expect_refused("'nan' is not a number", id, "bytes=nan", NULL);
    expect_refused("T: -4 is below", id, "T=-4", NULL);
    expect_refused("window: -1 is below", id, "window=-1", NULL);
    expect_refused("more than 9.2e18", id, "T=1000000000", "batch=1000000000", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_on_one_machine), cmocka_unit_test(machines_in_all_units),
        cmocka_unit_test(rows_of_other_cards),  cmocka_unit_test(gqa_refuses),
        cmocka_unit_test(latent_attention),     cmocka_unit_test(caches_of_the_lectures),
        cmocka_unit_test(windows_and_latents),  cmocka_unit_test(rows_that_are_there),
        cmocka_unit_test(sizes_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
