/* kv.*: cached decoding is exact, what the cache holds and what it saves (lecture 3, 4.2 to 4.4). */
#include "real.h"
#include "saved_model.h"

#define TOLERANCE (REAL_IS_DOUBLE ? 1e-11 : 2e-5)

static void refused(const char *id, const char *a, const char *b, const char *says) {
    Study *s = run_study_until(STATUS_USAGE, id, a, b, NULL);
    if (!strstr(study_state(s).status.text, says)) fail_msg("%s %s: %s", id, b, study_state(s).status.text);
    study_free(s);
}

/* ---- kv.exact ---- */

static void expect_exact(const char *model, const char *feeds, int rows) {
    Study *s = run_study("kv.exact", model, feeds, NULL);
    Table *t = study_result(s, "diff");
    assert_int_equal(table_rows(t), rows);
    for (long i = 0; i < rows; i++) {
        double off = cell_real(t, i, "max_difference");
        if (!(off <= TOLERANCE)) fail_msg("%s differs by %g", cell_text(t, i, "feed"), off);
        assert_int_equal(cell_int(t, i, "same_greedy"), 1);
    }
    table_free(t);
    study_free(s);
}

static void every_feed_is_exact(void **state) {
    (void)state;
    SavedModel gpt = saved_model("d=16", "epochs=2", NULL, NULL);
    SavedModel modern = saved_model("arch=modern", "d=16", "window=5", "global_every=2");
    expect_exact(gpt.pair, "feeds=all,1,5+1,3", 4);
    expect_exact(modern.pair, "feeds=all,1,5+1,3,1+2+4,19,1000", 7);
    saved_model_remove(&gpt);
    saved_model_remove(&modern);
}

static void feeds_keep_their_names(void **state) {
    (void)state;
    SavedModel m = saved_model("d=16", "epochs=0", NULL, NULL);
    Study *s = run_study("kv.exact", m.pair, "feeds=2,all,2+1", "tokens=1", NULL);
    Table *t = study_result(s, "diff");
    static const char *const names[] = {"2", "all", "2+1"};
    for (long i = 0; i < 3; i++) assert_string_equal(cell_text(t, i, "feed"), names[i]);
    table_free(t);
    study_free(s);
    saved_model_remove(&m);
}

/* As far as the context goes, and not at all beyond the next token. */
static void a_full_context_is_fed_too(void **state) {
    (void)state;
    SavedModel m = saved_model("d=16", "epochs=0", "context=20", NULL);
    Study *s = run_study("kv.exact", m.pair, "ids=1,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22", NULL);
    Table *t = study_result(s, "diff"), *about = study_result(s, "about");
    assert_int_equal(table_rows(t), 4);
    for (long i = 0; i < table_rows(about); i++)
        if (strcmp(cell_text(about, i, "key"), "greedy_tokens") == 0)
            assert_string_equal(cell_text(about, i, "value"), "1");
    table_free(t);
    table_free(about);
    study_free(s);
    saved_model_remove(&m);
}

static void bad_feeds_are_refused(void **state) {
    (void)state;
    SavedModel m = saved_model("d=16", "epochs=0", NULL, NULL);
    static const char *const bad[] = {"feeds=",     "feeds=0",    "feeds=-1",    "feeds=5+",       "feeds=+5",
                                      "feeds=all,", "feeds=1,,2", "feeds=all+1", "feeds=99999999", "feeds=1.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused("kv.exact", m.pair, bad[i], "feeds:");
    refused("kv.exact", m.pair, "text=the zebra", "zebra");
    saved_model_remove(&m);
}

/* ---- kv.growth ---- */

/* Lecture 3, 4.3: the farm's GPT has 2 layers, 4 heads of 16. */
static void the_figures_of_the_lecture(void **state) {
    (void)state;
    SavedModel m = saved_model("arch=gpt", "epochs=0", NULL, NULL);
    Study *s = run_study("kv.growth", m.pair, "prompt=the dogs near", NULL);
    Table *t = study_result(s, "growth");
    assert_int_equal(table_rows(t), 21 * 2);
    for (long i = 0; i < table_rows(t); i++) {
        long long step = i / 2;
        assert_int_equal(cell_int(t, i, "step"), step);
        assert_int_equal(cell_int(t, i, "layer"), i % 2);
        assert_int_equal(cell_int(t, i, "cached"), 4 + step);
        assert_int_equal(cell_int(t, i, "heads"), 4);
        assert_int_equal(cell_int(t, i, "head_dim"), 16);
        assert_int_equal(cell_int(t, i, "total_bytes") * 4, (4096 + 1024 * step) * (long long)sizeof(real));
        assert_int_equal(cell_int(t, i, "bytes") * 2, cell_int(t, i, "total_bytes"));
    }
    table_free(t);
    study_free(s);
    refused("kv.growth", m.pair, "steps=61", "room for 64");
    study_free(run_study("kv.growth", m.pair, "steps=60", NULL));
    study_free(run_study("kv.growth", m.pair, "steps=0", NULL));
    saved_model_remove(&m);
}

/* Where every layer has a window the cache stops growing, and the context is no end. */
static void a_window_keeps_it_small(void **state) {
    (void)state;
    SavedModel rolling = saved_model("arch=modern", "d=16", "window=6", "epochs=0");
    Study *s = run_study("kv.growth", rolling.pair, "steps=100", NULL);
    Table *t = study_result(s, "growth");
    for (long i = 0; i < table_rows(t); i++) {
        long long fed = 4 + i / 2, cached = fed < 6 ? fed : 6;
        assert_int_equal(cell_int(t, i, "cached"), cached);
        assert_int_equal(cell_int(t, i, "heads"), 2);
        assert_int_equal(cell_int(t, i, "bytes"), 2 * cached * 2 * 4 * (long long)sizeof(real));
    }
    table_free(t);
    study_free(s);
    saved_model_remove(&rolling);
}

/* One layer that sees everything needs everything. */
static void a_global_layer_keeps_all(void **state) {
    (void)state;
    SavedModel m = saved_model("arch=modern", "window=6", "global_every=2", "epochs=0");
    Study *s = run_study("kv.growth", m.pair, NULL);
    Table *t = study_result(s, "growth");
    assert_int_equal(cell_int(t, table_rows(t) - 1, "cached"), 24);
    table_free(t);
    study_free(s);
    refused("kv.growth", m.pair, "steps=100", "room for 64");
    saved_model_remove(&m);
}

/* ---- kv.flops ---- */

/* Every matrix of every layer for every token, written out: modern, d 16, 4 heads of 4 that share 2 KV heads, d_ff 48,
 * a window of 3 in the first of 2 layers; V = 56. */
enum { D = 16, Q = 16, KV = 8, FF = 48, V = 56, WINDOW = 3 };

static long long token_by_hand(int position, bool linear) {
    long long flops = 0;
    for (int layer = 0; layer < 2; layer++) {
        int seen = position + 1;
        if (layer == 0 && seen > WINDOW) seen = WINDOW;
        flops += 2 * D * Q + 2 * (2 * D * KV) + 2 * Q * D; /* q, k and v, out */
        flops += 3 * (2 * D * FF);                         /* gate, up, down */
        if (!linear) flops += 2 * Q * seen + 2 * Q * seen; /* scores, mix */
    }
    return linear ? flops : flops + 2 * D * V;
}

static void expect_flops(int prompt, const char *parts) {
    char pair[32];
    snprintf(pair, sizeof pair, "prompt=%d", prompt);
    bool linear = strcmp(parts, "parts=linear") == 0;
    Study *s = run_study("kv.flops", "arch=modern", "d=16", "window=3", "global_every=2", "tokens=1,2,7,20", pair,
                         parts, NULL);
    Table *t = study_result(s, "flops");
    for (long row = 0; row < 4; row++) {
        int n = (const int[]){1, 2, 7, 20}[row];
        long long with = 0, without = 0;
        for (int p = 0; p < prompt + n; p++) with += token_by_hand(p, linear);
        for (int i = 1; i <= n; i++)
            for (int p = 0; p < prompt + i; p++) without += token_by_hand(p, linear);
        assert_int_equal(cell_int(t, row, "tokens"), n);
        assert_int_equal(cell_int(t, row, "with"), with);
        assert_int_equal(cell_int(t, row, "without"), without);
        assert_near(cell_real(t, row, "ratio"), (double)without / (double)with, 1e-12);
    }
    table_free(t);
    study_free(s);
}

static void flops_by_hand(void **state) {
    (void)state;
    expect_flops(0, "parts=all");
    expect_flops(4, "parts=all");
    expect_flops(4, "parts=linear");
}

/* Exercise 4: 24 d^2 a token and layer, 12 N (N + 1) d^2 L without a cache, (N + 1) / 2 times what it is with one. */
static void exercise_4(void **state) {
    (void)state;
    Study *s = run_study("kv.flops", "prompt=0", "parts=linear", "tokens=1,16,1000", NULL);
    Table *t = study_result(s, "flops");
    for (long row = 0; row < 3; row++) {
        long long n = (const int[]){1, 16, 1000}[row], d = 64, layers = 2;
        assert_int_equal(cell_int(t, row, "without"), 12 * n * (n + 1) * d * d * layers);
        assert_int_equal(cell_int(t, row, "with"), 24 * n * d * d * layers);
        assert_near(cell_real(t, row, "ratio"), (double)(n + 1) / 2, 1e-12);
    }
    table_free(t);
    study_free(s);
    study_free(run_study_until(STATUS_USAGE, "kv.flops", "heads=3", NULL));
}

/* Nothing is built, so a model that no machine here holds is counted too: Llama-2 7B, if its feed-forward had 4 d. */
static void exercise_4_of_a_large_model(void **state) {
    (void)state;
    Study *s =
        run_study("kv.flops", "prompt=0", "parts=linear", "tokens=1000", "d=4096", "layers=32", "heads=32", NULL);
    Table *t = study_result(s, "flops");
    assert_int_equal(cell_int(t, 0, "with"), 24LL * 1000 * 4096 * 4096 * 32);
    assert_near(cell_real(t, 0, "ratio"), 500.5, 1e-12);
    table_free(t);
    study_free(s);
}

/* ---- kv.speed ---- */

static void speed_is_of_the_same_tokens(void **state) {
    (void)state;
    Study *s = run_study("kv.speed", "batch=3", "tokens=9", "d=16", "prompt=1", NULL);
    Table *t = study_result(s, "speed"), *about = study_result(s, "about");
    assert_int_equal(table_rows(t), 2);
    assert_string_equal(cell_text(t, 0, "method"), "without");
    assert_string_equal(cell_text(t, 1, "method"), "with");
    for (long i = 0; i < 2; i++) {
        double ms = cell_real(t, i, "milliseconds");
        assert_true(ms > 0);
        assert_near(cell_real(t, i, "tokens_per_second") * ms / 1000, 27, 1e-9);
        assert_near(cell_real(t, i, "ratio") * ms, cell_real(t, 0, "milliseconds"), 1e-9);
    }
    for (long i = 0; i < table_rows(about); i++)
        if (strcmp(cell_text(about, i, "key"), "same_tokens") == 0)
            assert_string_equal(cell_text(about, i, "value"), "27 of 27");
    table_free(t);
    table_free(about);
    study_free(s);
    refused("kv.speed", "tokens=61", "context=64", "room for 64");
    study_free(run_study("kv.speed", "batch=1", "tokens=61", "d=16", NULL)); /* a context not given has the room */
    refused("kv.speed", "tokens=4096", NULL, "operations");
    refused("kv.speed", "d=4096", "layers=32", "at most 1000000000");
    refused("kv.speed", "context=4096", "tokens=4000", "operations");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_feed_is_exact),
        cmocka_unit_test(feeds_keep_their_names),
        cmocka_unit_test(a_full_context_is_fed_too),
        cmocka_unit_test(bad_feeds_are_refused),
        cmocka_unit_test(the_figures_of_the_lecture),
        cmocka_unit_test(a_window_keeps_it_small),
        cmocka_unit_test(a_global_layer_keeps_all),
        cmocka_unit_test(flops_by_hand),
        cmocka_unit_test(exercise_4),
        cmocka_unit_test(exercise_4_of_a_large_model),
        cmocka_unit_test(speed_is_of_the_same_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
