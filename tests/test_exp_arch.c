/* arch.account, arch.cards, arch.norm, arch.ffn, arch.stability: the figures of seminar 3 and lecture 4. */
#include <math.h>
#include <stdio.h>

#include "run_study.h"

/* One that must be there. */
static long row_of(const Table *t, const char *column, const char *text) {
    long row = row_with(t, column, text);
    if (row < 0) fail_msg("no row %s", text);
    return row;
}

static long long count_of(const Table *t, const char *column, const char *part) {
    return cell_int(t, row_of(t, "part", part), column);
}

static double part_of(const Table *t, const char *column, const char *part) {
    return cell_real(t, row_of(t, "part", part), column);
}

static const char *about_value(const Study *s, const char *key) {
    static char value[1000];
    Table *t = study_result(s, "about");
    snprintf(value, sizeof value, "%s", cell_text(t, row_of(t, "key", key), "value"));
    table_free(t);
    return value;
}

/* ---- arch.account ---- */

/* Seminar 3, exercises 1 and 6. */
static void account_of_the_assignment(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "vocab=10000", "d=512", "layers=4", "d_ff=1344", "T=256", NULL);
    Table *t = study_result(s, "parameters");
    assert_int_equal(count_of(t, "count", "total"), 22696448);
    assert_int_equal(count_of(t, "count", "token_embedding") + count_of(t, "count", "output"), 10240000);
    assert_near(part_of(t, "share", "token_embedding") + part_of(t, "share", "output"), .45, .005);
    assert_near(part_of(t, "share", "total"), 1, 0);
    table_free(t);
    t = study_result(s, "flops");
    assert_near(part_of(t, "flops", "attention_projections"), 2.15e9, 5e6);
    assert_near(part_of(t, "flops", "attention_core"), .54e9, 5e6);
    assert_near(part_of(t, "flops", "feed_forward"), 4.23e9, 5e6);
    assert_near(part_of(t, "flops", "output"), 2.62e9, 5e6);
    assert_near(part_of(t, "share", "output"), .27, .005);
    table_free(t);
    study_free(s);
}

/* Lecture 4, 7.1. */
static void account_of_llama(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "card=llama3-8b", NULL);
    Table *t = study_result(s, "parameters");
    assert_near(part_of(t, "count", "total"), 8.03e9, 5e6);
    assert_near(part_of(t, "share", "feed_forward"), .702, .0005);
    assert_near(part_of(t, "share", "attention"), .167, .0005);
    assert_near(part_of(t, "share", "token_embedding") + part_of(t, "share", "output"), .13, .005);
    assert_string_equal(about_value(s, "model_kv_heads"), "8");
    table_free(t);
    study_free(s);
}

static bool about_has(const Study *s, const char *key) {
    Table *t = study_result(s, "about");
    bool found = false;
    for (long i = 0; i < table_rows(t); i++) found = found || strcmp(table_text(t, i, 0), key) == 0;
    table_free(t);
    return found;
}

/* No card says an epsilon; some say a base. What is counted is always said. */
static void an_account_makes_nothing_up(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "card=llama3-8b", NULL);
    assert_false(about_has(s, "model_norm_eps"));
    assert_false(about_has(s, "model_dropout"));
    assert_string_equal(about_value(s, "model_rope_base"), "500000");
    assert_string_equal(about_value(s, "model_bias"), "0");
    study_free(s);
    s = run_study("arch.account", "card=gpt2", "norm_eps=1e-4", NULL);
    assert_false(about_has(s, "model_rope_base"));
    assert_string_equal(about_value(s, "model_norm_eps"), "0.0001");
    study_free(s);
    s = run_study("arch.account", "arch=gpt", NULL); /* the preset's own */
    assert_string_equal(about_value(s, "model_norm_eps"), "1e-05");
    study_free(s);
    Options *o = catalog_options(catalog_find("arch.account"));
    Str shown;
    str_init(&shown);
    Status set = options_set_pair(o, "card=llama3-8b");
    assert_int_equal(set.code, STATUS_OK);
    assert_false(options_follow(o, "norm_eps", &shown));
    assert_true(options_follow(o, "d_ff", &shown));
    assert_string_equal(shown.s, "14336");
    str_done(&shown);
    options_free(o);
}

/* Seminar 3, 11.2 and 11.3: GPT-2 XL in the architecture of the assignment. */
static void account_of_xl(void **state) {
    (void)state;
    Study *s =
        run_study("arch.account", "vocab=50257", "d=1600", "layers=48", "heads=25", "kv_heads=25", "d_ff=6400", NULL);
    Table *t = study_result(s, "memory");
    assert_near(part_of(t, "gb", "parameters"), 8.5, .05);
    assert_near(part_of(t, "gb", "gradients"), 8.5, .05);
    assert_near(part_of(t, "gb", "adamw_moments"), 17.0, .05);
    assert_near(part_of(t, "gb", "training_state"), 34.0, .05);
    double scores = part_of(t, "gb", "attention_scores"), kept = scores + part_of(t, "gb", "other_activations");
    assert_near(kept, 18.0, .05);
    assert_near(scores / kept, .56, .005);
    assert_near(part_of(t, "gib", "parameters"), part_of(t, "bytes", "parameters") / 1073741824, 1e-9);
    table_free(t);
    t = study_result(s, "flops");
    assert_near(part_of(t, "share", "output"), .036, .0005);
    assert_near(part_of(t, "share", "attention_core"), .07, .005);
    table_free(t);
    study_free(s);
    s = run_study("arch.account", "vocab=50257", "d=1600", "layers=48", "heads=25", "d_ff=6400", "T=16384", NULL);
    t = study_result(s, "flops");
    assert_true(part_of(t, "share", "attention_core") > part_of(t, "share", "feed_forward"));
    table_free(t);
    study_free(s);
}

/* Lecture 3, 3.1: GPT-3 on 300 billion tokens. */
static void training_of_gpt3(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "card=gpt3", "tokens=3e11", NULL);
    Table *t = study_result(s, "training");
    assert_near(cell_real(t, row_of(t, "quantity", "flops_6nd"), "value"), 3.14e23, 1e21);
    assert_near(cell_real(t, row_of(t, "quantity", "petaflop_s_days"), "value"), 3640, 10);
    assert_near(cell_real(t, row_of(t, "quantity", "tokens"), "value"), 3e11, 0);
    assert_string_equal(cell_text(t, row_of(t, "quantity", "parameters"), "unit"), "parameters");
    double forward = 3 * 362454328541184.0 / 1024; /* three forward passes of 1024 tokens */
    assert_near(cell_real(t, row_of(t, "quantity", "flops_three_forwards"), "value") / (forward * 3e11), 1, 1e-12);
    table_free(t);
    study_free(s);
}

static void account_of_the_presets(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "arch=gpt", "vocab=56", "d=64", "layers=2", "heads=4", "context=64", NULL);
    Table *t = study_result(s, "parameters");
    assert_int_equal(count_of(t, "count", "total"), 111360);
    assert_string_equal(about_value(s, "sequence_length"), "64 tokens"); /* no more positions than that */
    table_free(t);
    study_free(s);
    s = run_study("arch.account", "vocab=56", "d=64", "layers=2", "heads=4", "kv_heads=2", NULL);
    t = study_result(s, "parameters");
    assert_int_equal(count_of(t, "count", "total"), 99648);
    table_free(t);
    study_free(s);
}

/* What is not given follows from what is, never from the default model's numbers. */
static void fields_follow_from_each_other(void **state) {
    (void)state;
    static const struct {
        const char *pairs[4], *field, *value;
    } rows[] = {
        {{"heads=8"}, "kv_heads", "8"},
        {{"heads=8"}, "head_dim", "64"},
        {{"d=64", "heads=4"}, "d_ff", "176"},
        {{"d=512"}, "d_ff", "1344"},
        {{"ffn=gelu"}, "d_ff", "2048"},
        {{"d=64", "ffn=relu"}, "d_ff", "256"},
        {{"arch=gpt"}, "context", "1024"},
        {{"card=llama3-8b", "ffn=gelu"}, "d_ff", "16384"},
        {{"card=llama3-8b", "kv_heads=32"}, "head_dim", "128"},
        {{"card=llama3-8b", "heads=64"}, "kv_heads", "8"},
        {{"card=gpt2", "heads=6"}, "kv_heads", "6"},
        {{"card=gpt2", "heads=6"}, "head_dim", "128"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[40];
        Study *s = run_study("arch.account", rows[i].pairs[0], rows[i].pairs[1], rows[i].pairs[2], NULL);
        snprintf(key, sizeof key, "model_%s", rows[i].field);
        assert_string_equal(about_value(s, key), rows[i].value);
        study_free(s);
    }
}

static void the_count_is_the_real_one(void **state) {
    (void)state;
    Study *s =
        run_study("arch.account", "vocab=100", "d=64", "layers=2", "heads=4", "T=96", "batch=2", "count=1", NULL);
    Table *t = study_result(s, "counted");
    assert_int_equal(table_rows(t), 5);
    for (long row = 0; row < 5; row++) assert_int_equal(cell_int(t, row, "flops"), cell_int(t, row, "counted"));
    assert_true(cell_int(t, 4, "counted") > 0);
    table_free(t);
    study_free(s);
}

static void other_scores_and_bytes(void **state) {
    (void)state;
    Study *s = run_study("arch.account", "window=4", "T=10", "scores=allowed", "bytes=0.5", NULL);
    Table *t = study_result(s, "flops");
    assert_int_equal(count_of(t, "flops", "attention_core"),
                     4LL * 4 * 512 * (10 + 6 * 4)); /* 1+2+3+4 and 6 full rows */
    table_free(t);
    t = study_result(s, "memory");
    assert_int_equal(count_of(t, "bytes", "parameters"), 22696448 / 2);
    table_free(t);
    study_free(s);
}

static void account_refuses(void **state) {
    (void)state;
    const char *id = "arch.account";
    expect_refused("latent attention and 256 experts", id, "card=deepseek-v3", NULL);
    expect_refused("mixtral-8x7b cannot be counted: it has 8 experts", id, "card=mixtral", NULL);
    expect_refused("an encoder of 24 layers", id, "card=t5-11b", NULL);
    expect_refused("did you mean llama3-8b", id, "card=llama3-9b", NULL);
    expect_refused("not both", id, "card=llama3-8b", "arch=gpt", NULL);
    expect_refused("file= goes with card=", id, "file=cards.csv", NULL);
    expect_refused("nowhere", id, "card=gpt2", "file=nowhere", NULL);
    expect_refused("heads (6) must be a multiple of kv_heads (4)", id, "heads=6", "kv_heads=4", "head_dim=64", NULL);
    expect_refused("100 / 16 is no whole number", id, "d=100", NULL);
    expect_refused("head_dim (1) must be even", id, "d=16", NULL);
    expect_refused("d: 0 is below", id, "d=0", NULL);
    expect_refused("layers: -1 is below", id, "layers=-1", NULL);
    expect_refused("T: 0 is below", id, "T=0", NULL);
    expect_refused("'nan' is not a number", id, "tokens=nan", NULL);
    expect_refused("'nan' is not a number", id, "bytes=nan", NULL);
    expect_refused("bytes: 0.3 is no whole number of bits", id, "bytes=0.3", NULL);
    expect_refused("T=65 is more than the 64 learned positions", id, "arch=gpt", "context=64", "T=65", NULL);
    expect_refused("needs a window", id, "global_every=2", NULL);
    expect_refused("more than 9.2e18", id, "T=1000000000", "batch=1000000000", NULL);
    expect_refused("count=1 would take", id, "count=1", NULL);
    expect_refused("T of at least 65", id, "count=1", "T=64", NULL);
    expect_refused("at most 1000000000 are allowed", id, "count=1", "card=gpt3", NULL);
}

/* ---- arch.cards ---- */

/* Seminar 3, 7. */
static void cards_agree_and_have_exceptions(void **state) {
    (void)state;
    static const char *const aspect_128[] = {"gpt3", "opt-175b", "mistral-7b", "qwen-7b", "olmo-7b"};
    Study *s = run_study("arch.cards", NULL);
    Table *t = study_result(s, "cards");
    for (int i = 0; i < 5; i++) assert_near(cell_real(t, row_of(t, "model", aspect_128[i]), "aspect"), 128, 0);
    assert_near(cell_real(t, row_of(t, "model", "t5-11b"), "ffn_ratio"), 64, 0);
    assert_near(cell_real(t, row_of(t, "model", "t5-v1.1-xxl"), "ffn_ratio"), 2.5, 0);
    assert_string_equal(cell_text(t, row_of(t, "model", "nemotron4-340b"), "ffn"), "squared_relu");
    assert_string_equal(cell_text(t, row_of(t, "model", "t5-11b"), "pos"), "relative");
    assert_int_equal(cell_int(t, row_of(t, "model", "mistral-7b"), "kv_bytes_per_token"), 131072);
    assert_int_equal(cell_int(t, row_of(t, "model", "llama2-7b"), "kv_bytes_per_token"), 524288);
    assert_int_equal(cell_int(t, row_of(t, "model", "deepseek-v3"), "kv_bytes_per_token"), 61 * 576 * 2);
    assert_int_equal(cell_int(t, row_of(t, "model", "mistral-7b"), "window"), 4096);
    assert_string_equal(about_value(s, "special_mixtral-8x7b"), "8 experts");
    table_free(t);
    study_free(s);
}

/* ---- arch.norm ---- */

static void expect_values(const Study *s, const char *norm, int n, const double *want, double tolerance) {
    Table *t = study_result(s, "values");
    long first = row_of(t, "norm", norm);
    for (int i = 0; i < n; i++) {
        assert_string_equal(cell_text(t, first + i, "norm"), norm);
        assert_int_equal(cell_int(t, first + i, "index"), i);
        assert_near(cell_real(t, first + i, "value"), want[i], tolerance);
    }
    table_free(t);
}

#define SMALL_COST "d=8", "rows=4"

static void norms(void **state) {
    (void)state;
    Study *s = run_study("arch.norm", SMALL_COST, NULL);
    expect_values(s, "rms", 4, (const double[]){.365, .730, 1.095, 1.461}, 5e-4);
    expect_values(s, "layer", 4, (const double[]){-1.342, -.447, .447, 1.342}, 5e-4);
    study_free(s);
    s = run_study("arch.norm", "x=0,0", SMALL_COST, NULL);
    Table *t = study_result(s, "values");
    assert_true(isnan(cell_real(t, 0, "value")));
    assert_non_null(strstr(study_state(s).warning, "eps"));
    table_free(t);
    study_free(s);
    s = run_study("arch.norm", "x=3,3", "eps=1", SMALL_COST, NULL);
    expect_values(s, "rms", 2, (const double[]){3 / sqrt(10), 3 / sqrt(10)}, 1e-15);
    expect_values(s, "layer", 2, (const double[]){0, 0}, 0);
    assert_string_equal(study_state(s).warning, "");
    study_free(s);
}

static void expect_half(const Study *s, const char *method, double rms, double output, double tolerance) {
    Table *t = study_result(s, "half");
    long row = row_of(t, "method", method);
    if (isinf(rms)) {
        assert_true(cell_real(t, row, "rms") == rms);
    } else {
        assert_near(cell_real(t, row, "rms"), rms, tolerance);
    }
    assert_near(cell_real(t, row, "output"), output, tolerance);
    table_free(t);
}

/* Seminar 3, 3.2: near 300 the squares are beyond 65504. */
static void half_precision_inside(void **state) {
    (void)state;
    Study *s = run_study("arch.norm", SMALL_COST, NULL);
    expect_half(s, "fp16", HUGE_VAL, 0, 0);
    expect_half(s, "fp32", 300, 1.461, .1);
    study_free(s);
    s = run_study("arch.norm", "x=300,-310,290", "scale=0", SMALL_COST, NULL);
    expect_half(s, "fp16", HUGE_VAL, 0, 0);
    expect_half(s, "fp32", sqrt((90000 + 96100 + 84100) / 3.0), -1.0328, 5e-4);
    study_free(s);
    s = run_study("arch.norm", "scale=0", SMALL_COST, NULL); /* small numbers are no trouble */
    expect_half(s, "fp16", 2.73828125, 1.4609375, 0);
    expect_half(s, "fp32", 2.7386, 1.4609375, 5e-5);
    study_free(s);
}

static void cost_of_norms(void **state) {
    (void)state;
    Study *s = run_study("arch.norm", "d=1024", "rows=2", NULL);
    Table *t = study_result(s, "cost");
    assert_near(cell_real(t, row_of(t, "operation", "rms_norm"), "flop_share"), .0005, 5e-5); /* 0.05 % */
    assert_int_equal(cell_int(t, row_of(t, "operation", "matrix_product"), "flops"), 2LL * 2 * 1024 * 4096);
    assert_near(cell_real(t, row_of(t, "operation", "matrix_product"), "time_share"), 1, 0);
    assert_true(cell_real(t, row_of(t, "operation", "layer_norm"), "time_share") > 0);
    table_free(t);
    study_free(s);
    expect_refused("'nan' is not a number", "arch.norm", "x=1,nan", NULL);
    expect_refused("above the largest", "arch.norm", "x=1,inf", NULL);
    expect_refused("eps: -1 is below", "arch.norm", "eps=-1", NULL);
    expect_refused("rows x d", "arch.norm", "d=16384", "rows=100000", NULL);
    expect_refused("too long to time", "arch.norm", "d=16384", "rows=100", NULL);
}

/* ---- arch.ffn ---- */

static void expect_widths(const char *d, const char *round, double wide, int down, int up) {
    Study *s = run_study("arch.ffn", d, round, NULL);
    Table *t = study_result(s, "sizes");
    long gated = row_of(t, "kind", "swiglu"), plain = row_of(t, "kind", "gelu");
    assert_int_equal(cell_int(t, gated, "matrices"), 3);
    assert_int_equal(cell_int(t, plain, "matrices"), 2);
    assert_near(cell_real(t, gated, "d_ff"), wide, .05);
    assert_int_equal(cell_int(t, gated, "rounded_down"), down);
    assert_int_equal(cell_int(t, gated, "rounded_up"), up);
    assert_int_equal(cell_int(t, gated, "parameters"), cell_int(t, plain, "parameters"));
    table_free(t);
    study_free(s);
}

/* Seminar 3, 4.3 and exercise 2; lecture 4, exercise 8. */
static void widths_of_gated_layers(void **state) {
    (void)state;
    expect_widths("d=512", "round=64", 1365.3, 1344, 1408);
    expect_widths("d=768", "round=64", 2048, 2048, 2048);
    expect_widths("d=4096", "round=256", 10922.7, 10752, 11008);
    expect_widths("d=8", "round=64", 21.3, 0, 64);
    expect_widths("d=3", "round=1", 8, 8, 8);
}

static void curves(void **state) {
    (void)state;
    Study *s = run_study("arch.ffn", "from=-1", "to=1", "points=3", NULL);
    Table *t = study_result(s, "curve");
    static const double want[3][5] = {{-1, 0, -.158655, -.268941, 0}, {0, 0, 0, 0, 0}, {1, 1, .841345, .731059, 1}};
    static const char *const columns[] = {"x", "relu", "gelu", "silu", "squared_relu"};
    assert_int_equal(table_rows(t), 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) assert_near(cell_real(t, i, columns[j]), want[i][j], 1e-6);
    table_free(t);
    study_free(s);
    expect_refused("must be below", "arch.ffn", "from=1", "to=1", NULL);
    expect_refused("d: 0 is below", "arch.ffn", "d=0", NULL);
    expect_refused("round: 0 is below", "arch.ffn", "round=0", NULL);
}

/* ---- arch.stability ---- */

static double drift(const Study *s, double offset, const char *format, const char *column) {
    Table *t = study_result(s, "zloss");
    for (long row = 0; row < table_rows(t); row++) {
        if (cell_real(t, row, "offset") != offset || strcmp(cell_text(t, row, "format"), format) != 0) continue;
        double x = cell_real(t, row, column);
        table_free(t);
        return x;
    }
    fail_msg("no offset %g in %s", offset, format);
    return 0;
}

/* Seminar 3, 9.1. */
static void drifted_logits(void **state) {
    (void)state;
    Study *s = run_study("arch.stability", "queries=2", NULL);
    assert_near(drift(s, 1000, "bf16", "spacing"), 4, 0);
    assert_near(drift(s, 1000, "fp16", "spacing"), .5, 0);
    assert_near(drift(s, 100, "bf16", "spacing"), .5, 0);
    assert_true(drift(s, 1000, "bf16", "max_error") > .1);
    assert_true(drift(s, 1000, "fp32", "max_error") < 1e-4);
    assert_true(drift(s, 0, "bf16", "max_error") < .002);
    study_free(s);
    /* 1000 + 1.9 and 1000 - 1.9 are both 1000 in bf16: two halves instead of .978 and .022. */
    s = run_study("arch.stability", "queries=2", "offsets=1000,70000", "logits=1.9,-1.9", NULL);
    assert_near(drift(s, 1000, "bf16", "max_error"), 1 / (1 + exp(-3.8)) - .5, 1e-12);
    assert_true(isnan(drift(s, 70000, "fp16", "max_error"))); /* inf */
    assert_true(isnan(drift(s, 70000, "fp16", "spacing")));
    assert_near(drift(s, 70000, "bf16", "spacing"), 512, 0);
    study_free(s);
}

/* 9.2: with 64 positions even weights have an entropy of 4.16. */
static void growing_queries(void **state) {
    (void)state;
    Study *s = run_study("arch.stability", "scales=0,1,4,16", NULL);
    Table *t = study_result(s, "qknorm");
    assert_near(cell_real(t, 0, "entropy"), 4.16, .005);
    for (long row = 1; row < 4; row++) {
        assert_true(cell_real(t, row, "entropy") < cell_real(t, row - 1, "entropy"));
        assert_near(cell_real(t, row, "entropy_qk_norm"), cell_real(t, 1, "entropy_qk_norm"), 1e-12);
    }
    assert_true(cell_real(t, 3, "entropy") < .1 && cell_real(t, 3, "entropy_qk_norm") > 3);
    table_free(t);
    study_free(s);
}

/* 9.3. */
static void soft_caps(void **state) {
    (void)state;
    Study *s = run_study("arch.stability", "caps=30", "x=10,200", "queries=2", NULL);
    Table *t = study_result(s, "softcap");
    assert_near(cell_real(t, 0, "y"), 9.65, .005);
    assert_near(cell_real(t, 1, "y"), 30, .001);
    table_free(t);
    study_free(s);
    expect_refused("caps", "arch.stability", "caps=0", NULL);
    expect_refused("'nan' is not a number", "arch.stability", "x=nan", NULL);
    expect_refused("keys x queries", "arch.stability", "keys=10000", "queries=10000", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(account_of_the_assignment),
        cmocka_unit_test(account_of_llama),
        cmocka_unit_test(an_account_makes_nothing_up),
        cmocka_unit_test(account_of_xl),
        cmocka_unit_test(training_of_gpt3),
        cmocka_unit_test(account_of_the_presets),
        cmocka_unit_test(fields_follow_from_each_other),
        cmocka_unit_test(the_count_is_the_real_one),
        cmocka_unit_test(other_scores_and_bytes),
        cmocka_unit_test(account_refuses),
        cmocka_unit_test(cards_agree_and_have_exceptions),
        cmocka_unit_test(norms),
        cmocka_unit_test(half_precision_inside),
        cmocka_unit_test(cost_of_norms),
        cmocka_unit_test(widths_of_gated_layers),
        cmocka_unit_test(curves),
        cmocka_unit_test(drifted_logits),
        cmocka_unit_test(growing_queries),
        cmocka_unit_test(soft_caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
