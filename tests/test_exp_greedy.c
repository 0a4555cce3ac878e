/* decode.greedy: lecture 3, exercise 8 on the truth; on a model, that every step is the likeliest of decode.next. */
#include <math.h>
#include <string.h>

#include "small_model.h"

static void the_truth_is_exact(void **state) {
    (void)state;
    static const char *const tokens[] = {"chases", "the", "cat", "in", "the", "morning", ".", "</s>"};
    static const double p[] = {.1875, 1, 2.0 / 9, 5.0 / 9, 1, .6, 1, 1};
    Study *s = run_study("decode.greedy", "of=truth", NULL);
    Table *path = study_result(s, "path"), *sentence = study_result(s, "sentence");
    assert_int_equal(table_rows(path), 8);
    for (long i = 0; i < 8; i++) {
        assert_int_equal(cell_int(path, i, "step"), i);
        assert_string_equal(cell_text(path, i, "token"), tokens[i]);
        assert_near(cell_real(path, i, "p"), p[i], 1e-12);
        assert_near(cell_real(path, i, "true_p"), p[i], 1e-12);
        assert_near(cell_real(path, i, "log_p"), log(p[i]), 1e-12);
    }
    assert_string_equal(cell_text(sentence, 0, "of"), "truth");
    assert_string_equal(cell_text(sentence, 0, "text"), "the dog chases the cat in the morning .");
    assert_near(exp(cell_real(sentence, 0, "log_p")), 0.45 * 5 / 12 * 4 / 9 / 2 * 3 / 9, 1e-12); /* 0.01389 */
    assert_string_equal(cell_text(sentence, 1, "of"), "mode");
    assert_string_equal(cell_text(sentence, 1, "text"), "the dog eats bones every day .");
    assert_near(exp(cell_real(sentence, 1, "true_log_p")), 0.45 * 3 / 12 * 6 / 7 * 4 / 9, 1e-12); /* 0.04286 */
    table_free(path);
    table_free(sentence);
    study_free(s);
}

/* Decoded with a cache here, one pass over everything there. */
static void expect_likeliest(const Table *path, long row, const char *prompt) {
    Str pair;
    str_init(&pair);
    str_addf(&pair, "prompt=%s", prompt);
    Study *s = run_study("decode.next", small_model_pair, pair.s, "top=1", NULL);
    Table *next = study_result(s, "next");
    assert_string_equal(cell_text(next, 0, "token"), cell_text(path, row, "token"));
    assert_near(cell_real(next, 0, "model_p"), cell_real(path, row, "p"), 1e-5);
    double true_p =
        cell_real(next, 0, "true_p"); /* after what is impossible there is no distribution; the path says 0 */
    assert_near(isnan(true_p) ? 0 : true_p, cell_real(path, row, "true_p"), 1e-9);
    table_free(next);
    study_free(s);
    str_done(&pair);
}

static void every_step_is_the_likeliest(void **state) {
    (void)state;
    Study *s = run_study("decode.greedy", small_model_pair, "prompt=the owl eats mice", "tokens=2", NULL);
    Table *path = study_result(s, "path"), *sentence = study_result(s, "sentence");
    assert_in_range(table_rows(path), 1, 2);
    Str prompt;
    str_init(&prompt);
    str_add(&prompt, "the owl eats mice");
    double sum = 0;
    for (long i = 0; i < table_rows(path); i++) {
        expect_likeliest(path, i, prompt.s);
        sum += cell_real(path, i, "log_p");
        if (cell_int(path, i, "id") > 2) str_addf(&prompt, " %s", cell_text(path, i, "token"));
    }
    assert_string_equal(cell_text(sentence, 0, "of"), "model");
    assert_string_equal(cell_text(sentence, 0, "text"), prompt.s);
    assert_near(cell_real(sentence, 0, "log_p"), sum, 1e-12);
    table_free(path);
    table_free(sentence);
    study_free(s);
    str_done(&prompt);
}

/* The model's opinion of the mode is what lm.score says of its last tokens. */
static void the_mode_is_scored_by_the_model(void **state) {
    (void)state;
    Study *greedy = run_study("decode.greedy", small_model_pair, NULL);
    Study *score = run_study("lm.score", small_model_pair, "text=the dog eats bones every day .", NULL);
    Table *sentence = study_result(greedy, "sentence"), *scores = study_result(score, "score");
    double sum = 0;
    for (long i = 2; i < 8; i++) sum += cell_real(scores, i, "log_p");
    assert_string_equal(cell_text(sentence, 1, "text"), "the dog eats bones every day .");
    assert_near(cell_real(sentence, 1, "log_p"), sum, 1e-9);
    table_free(sentence);
    table_free(scores);
    study_free(greedy);
    study_free(score);
}

static void without_truth_the_cells_are_empty(void **state) {
    (void)state;
    Study *s = run_study("decode.greedy", small_model_pair, "ids=54,21", "tokens=3", NULL); /* no <s> */
    Table *path = study_result(s, "path"), *sentence = study_result(s, "sentence");
    assert_true(table_is_empty(path, 0, table_find(path, "true_p")));
    assert_int_equal(table_rows(sentence), 1);
    assert_true(table_is_empty(sentence, 0, table_find(sentence, "true_log_p")));
    table_free(path);
    table_free(sentence);
    study_free(s);
}

static void the_truth_needs_a_beginning(void **state) {
    (void)state;
    static const char *const bad[] = {"prompt=dog the", "prompt=the zebra", "ids=54,21", "ids=1,2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        study_free(run_study_until(STATUS_USAGE, "decode.greedy", "of=truth", bad[i], NULL));
}

/* A model may have more rows than its vocabulary has words: they have no name, and the language never says them. */
static void rows_beyond_the_vocabulary(void **state) {
    (void)state;
    char path[] = "/tmp/lantern-test-XXXXXX", save[60], model[60];
    close(mkstemp(path));
    snprintf(save, sizeof save, "save=%s", path);
    snprintf(model, sizeof model, "model=%s", path);
    study_free(run_study("lm.train", "vocab=500", "d=16", "epochs=0", "sentences=64", save, NULL));
    Study *s = run_study("decode.greedy", model, "tokens=20", NULL);
    Table *steps = study_result(s, "path");
    long beyond = 0;
    for (long i = 0; i < table_rows(steps); i++) {
        if (cell_int(steps, i, "id") < 56) continue;
        beyond++;
        assert_string_equal(cell_text(steps, i, "token"), "");
        for (long after = i; after < table_rows(steps); after++) assert_near(cell_real(steps, after, "true_p"), 0, 0);
    }
    assert_true(beyond > 0); /* 444 of 500 rows have no name */
    table_free(steps);
    study_free(s);
    s = run_study("decode.greedy", model, "ids=1,54,400", "tokens=2", NULL);
    study_free(s);
    study_free(run_study_until(STATUS_USAGE, "decode.greedy", model, "ids=1,54,400", "of=truth", NULL));
    s = run_study("lm.score", model, "ids=1,54,400,21,2", NULL);
    Table *score = study_result(s, "score");
    assert_near(cell_real(score, 0, "true_log_p"), 0, 1e-12);
    for (long i = 1; i < 4; i++) assert_true(isinf(cell_real(score, i, "true_log_p")));
    table_free(score);
    study_free(s);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_exact),
        cmocka_unit_test(every_step_is_the_likeliest),
        cmocka_unit_test(the_mode_is_scored_by_the_model),
        cmocka_unit_test(without_truth_the_cells_are_empty),
        cmocka_unit_test(the_truth_needs_a_beginning),
        cmocka_unit_test(rows_beyond_the_vocabulary),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
