/* lm.train, lm.score and decode.next on small models: what the tables hold, and what is refused. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "small_model.h"

#define SMALL "d=16", "sentences=256", "epochs=2"

/* ---- lm.train ---- */

static void a_row_per_step(void **state) {
    (void)state;
    Study *s = run_study("lm.train", SMALL, NULL);
    Table *curve = study_result(s, "curve");
    assert_int_equal(table_rows(curve), 8);
    for (long i = 0; i < 8; i++) {
        assert_int_equal(cell_int(curve, i, "step"), i + 1);
        assert_true(cell_int(curve, i, "tokens") > 64 * 8);
        assert_true(isfinite(cell_real(curve, i, "loss")) && cell_real(curve, i, "grad_norm") > 0);
    }
    assert_near(cell_real(curve, 0, "learning_rate"), 0.003, 1e-12);
    assert_true(cell_real(curve, 7, "loss") < cell_real(curve, 0, "loss"));
    table_free(curve);
    study_free(s);
}

static void expect_result(const Table *t, long row, const char *split) {
    assert_string_equal(cell_text(t, row, "split"), split);
    assert_near(exp(cell_real(t, row, "nll")), cell_real(t, row, "perplexity"), 1e-9);
    double below = cell_real(t, row, "floor_perplexity");
    assert_true(below > 2.3 && below < 2.7 && below < cell_real(t, row, "perplexity"));
}

static void two_splits(void **state) {
    (void)state;
    Study *s = run_study("lm.train", SMALL, NULL);
    Table *t = study_result(s, "result");
    assert_int_equal(table_rows(t), 2);
    expect_result(t, 0, "train");
    expect_result(t, 1, "test");
    assert_true(cell_int(t, 1, "tokens") > 2000 * 11);
    table_free(t);
    study_free(s);
}

static void expect_parameters(const char *a, const char *b, const char *c, long long total) {
    Study *s = run_study("lm.train", "epochs=0", "sentences=64", a, b, c, NULL);
    Table *t = study_result(s, "model");
    long last = table_rows(t) - 1;
    long long sum = 0;
    for (long i = 0; i < last; i++) sum += cell_int(t, i, "parameters");
    assert_string_equal(cell_text(t, last, "part"), "total");
    assert_int_equal(cell_int(t, last, "parameters"), sum);
    assert_int_equal(sum, total);
    table_free(t);
    study_free(s);
}

/* Lecture 4, 7.2; and what is not given follows from what is. */
static void parameters_are_exact(void **state) {
    (void)state;
    expect_parameters("arch=gpt", NULL, NULL, 111360);
    expect_parameters("arch=modern", NULL, NULL, 99648);
    /* d 32, 1 layer: 2 x 56 d, 64 d, q k v o with biases, 4 d wide, 3 norms */
    expect_parameters("d=32", "layers=1", NULL,
                      2 * 56 * 32 + 64 * 32 + 4 * (32 * 32 + 32) + 2 * 32 * 128 + 128 + 32 + 6 * 32);
}

static void without_epochs_the_model_is_untrained(void **state) {
    (void)state;
    Study *s = run_study("lm.train", "d=16", "sentences=64", "epochs=0", NULL);
    Table *curve = study_result(s, "curve"), *result = study_result(s, "result");
    assert_int_equal(table_rows(curve), 0);
    assert_int_equal(table_rows(result), 2);
    assert_true(cell_real(result, 1, "perplexity") > 40); /* of 56 tokens: it knows nothing */
    table_free(curve);
    table_free(result);
    study_free(s);
}

static void a_text_has_no_floor(void **state) {
    (void)state;
    char path[] = "/tmp/lantern-test-XXXXXX", pair[60];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    for (int i = 0; i < 40; i++) fprintf(f, "a b %s d\n", i % 2 ? "c" : "e");
    fclose(f);
    snprintf(pair, sizeof pair, "corpus=%s", path);
    Study *s = run_study("lm.train", "d=16", "epochs=1", pair, NULL);
    Table *t = study_result(s, "result");
    assert_true(table_is_empty(t, 1, table_find(t, "floor_perplexity")));
    assert_true(isfinite(cell_real(t, 1, "perplexity")));
    table_free(t);
    study_free(s);
    unlink(path);
}

static void the_seed_decides(void **state) {
    (void)state;
    Study *a = run_study("lm.train", SMALL, NULL), *b = run_study("lm.train", SMALL, "seed=2", NULL);
    Table *x = study_result(a, "curve"), *y = study_result(b, "curve");
    assert_true(cell_real(x, 7, "loss") != cell_real(y, 7, "loss"));
    table_free(x);
    table_free(y);
    study_free(a);
    study_free(b);
}

static void divergence_is_a_failure(void **state) {
    (void)state;
    Study *s = run_study_until(STATUS_FAILED, "lm.train", SMALL, "lr=1e9", "optimizer=sgd", "norm=none", NULL);
    StudyState end = study_state(s);
    assert_non_null(strstr(end.status.text, "diverged at step"));
    study_free(s);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"heads=3",         "kv_heads=3", "vocab=10", "corpus=nowhere",
                                      "save=/nowhere/x", "lr_min=1",   "save="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        study_free(run_study_until(STATUS_USAGE, "lm.train", "epochs=0", "sentences=64", bad[i], NULL));
}

/* ---- lm.score ---- */

static void the_chain_rule(void **state) {
    (void)state;
    Study *s = run_study("lm.score", small_model_pair, "text=the dog eats bones every day .", NULL);
    Table *score = study_result(s, "score"), *summary = study_result(s, "summary");
    assert_int_equal(table_rows(score), 8);
    double sum = 0, true_sum = 0;
    for (long i = 0; i < 8; i++) {
        assert_int_equal(cell_int(score, i, "position"), i + 1);
        sum += cell_real(score, i, "log_p");
        true_sum += cell_real(score, i, "true_log_p");
    }
    assert_string_equal(cell_text(score, 7, "token"), "</s>");
    assert_int_equal(cell_int(score, 7, "id"), 2);
    assert_near(exp(true_sum), 0.0625 * 0.45 * 3 / 12 * 6 / 7 * 4 / 9, 1e-12);
    assert_int_equal(cell_int(summary, 0, "tokens"), 8);
    assert_near(cell_real(summary, 0, "nll"), -sum / 8, 1e-12);
    assert_near(cell_real(summary, 0, "perplexity"), exp(-sum / 8), 1e-9);
    assert_near(cell_real(summary, 0, "true_nll"), -true_sum / 8, 1e-12);
    table_free(score);
    table_free(summary);
    study_free(s);
}

static Table *scores_of(const char *pair) {
    Study *s = run_study("lm.score", small_model_pair, pair, NULL);
    Table *t = study_result(s, "score");
    study_free(s);
    return t;
}

static void ids_are_taken_as_they_are(void **state) {
    (void)state;
    Table *text = scores_of("text=the dog"), *ids = scores_of("ids=1,54,21,2");
    assert_int_equal(table_rows(ids), 3);
    for (long i = 0; i < 3; i++) assert_near(cell_real(text, i, "log_p"), cell_real(ids, i, "log_p"), 0);
    table_free(text);
    table_free(ids);
    ids = scores_of("ids=54,21"); /* no <s>: there is no truth */
    assert_int_equal(table_rows(ids), 1);
    assert_true(table_is_empty(ids, 0, table_find(ids, "true_log_p")));
    table_free(ids);
    ids = scores_of("ids=1,54,2,54"); /* nothing comes after the end */
    assert_true(isinf(cell_real(ids, 1, "true_log_p")) && isinf(cell_real(ids, 2, "true_log_p")));
    table_free(ids);
}

static void scores_need_a_sentence(void **state) {
    (void)state;
    study_free(run_study_until(STATUS_USAGE, "lm.score", small_model_pair, NULL));
    static const char *const bad[] = {"ids=1", "ids=1,56", "text=the zebra"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        study_free(run_study_until(STATUS_USAGE, "lm.score", small_model_pair, bad[i], NULL));
}

/* ---- decode.next ---- */

static void the_next_token(void **state) {
    (void)state;
    Study *s = run_study("decode.next", small_model_pair, NULL);
    Table *t = study_result(s, "next");
    assert_int_equal(table_rows(t), 56);
    double sum = 0, true_sum = 0;
    for (long i = 0; i < 56; i++) {
        sum += cell_real(t, i, "model_p");
        true_sum += cell_real(t, i, "true_p");
        if (i > 0) assert_true(cell_real(t, i, "logit") <= cell_real(t, i - 1, "logit"));
        if (strcmp(cell_text(t, i, "token"), "chases") == 0) assert_near(cell_real(t, i, "true_p"), .1875, 1e-12);
        double ratio = log(cell_real(t, 0, "model_p") / cell_real(t, i, "model_p"));
        assert_near(ratio, cell_real(t, 0, "logit") - cell_real(t, i, "logit"), 1e-9);
    }
    assert_near(sum, 1, 1e-12);
    assert_near(true_sum, 1, 1e-12);
    table_free(t);
    study_free(s);
}

static void top_and_truth(void **state) {
    (void)state;
    Study *s = run_study("decode.next", small_model_pair, "prompt=dog the", "top=5", NULL);
    Table *t = study_result(s, "next");
    assert_int_equal(table_rows(t), 5);
    for (long i = 0; i < 5; i++) assert_true(table_is_empty(t, i, table_find(t, "true_p")));
    table_free(t);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_per_step),          cmocka_unit_test(two_splits),
        cmocka_unit_test(parameters_are_exact),    cmocka_unit_test(without_epochs_the_model_is_untrained),
        cmocka_unit_test(a_text_has_no_floor),     cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(divergence_is_a_failure), cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(the_chain_rule),          cmocka_unit_test(ids_are_taken_as_they_are),
        cmocka_unit_test(scores_need_a_sentence),  cmocka_unit_test(the_next_token),
        cmocka_unit_test(top_and_truth),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
