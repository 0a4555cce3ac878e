/* lm.bigram, lm.minibatch, lm.tagger, lm.autoencoder: what the lectures say must be seen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

/* L3 2.3: down to about 1.33 and never below; seen pairs to 1e-3; unseen above 0. */
static void descent_comes_down_to_counting(void **state) {
    (void)state;
    Study *s = run_study("lm.bigram", NULL);
    Table *curve = study_result(s, "curve"), *summary = study_result(s, "summary");
    double floor_loss = cell_real(summary, 0, "count_loss");
    assert_near(floor_loss, 1.3308, 0.003); /* of these sentences; of the language it is 1.3308 */
    assert_int_equal(table_rows(curve), 1500);
    for (long i = 0; i < table_rows(curve); i++) assert_true(cell_real(curve, i, "loss") > floor_loss);
    assert_near(cell_real(summary, 0, "final_loss"), floor_loss, 1e-3);
    assert_true(cell_real(summary, 0, "max_seen_difference") < 1e-3);
    assert_true(cell_real(summary, 0, "min_unseen_p") > 0);
    table_free(curve);
    table_free(summary);
    study_free(s);
}

/* A batch of all sentences has the full gradient; errors fall about as 1/B. */
static void noise_falls_with_the_batch(void **state) {
    (void)state;
    Study *s = run_study("lm.minibatch", "d=16", "sizes=1,16,200", "sentences=200", "draws=32", NULL);
    Table *t = study_result(s, "noise");
    assert_int_equal(table_rows(t), 3);
    double one = cell_real(t, 0, "mean_squared_error"), sixteen = cell_real(t, 1, "mean_squared_error");
    assert_true(one / sixteen > 10 && one / sixteen < 30); /* 16, and a little more without replacement */
    assert_true(cell_real(t, 0, "cosine") < cell_real(t, 1, "cosine"));
    assert_true(cell_real(t, 2, "mean_squared_error") < 1e-6 * one);
    assert_near(cell_real(t, 2, "cosine"), 1, 1e-6);
    table_free(t);
    study_free(s);
    expect_refused("sizes", "lm.minibatch", "sizes=65", "sentences=64", NULL);
}

/* L3 1.4. */
static void recurrence_uses_context(void **state) {
    (void)state;
    Study *s = run_study("lm.tagger", "sentences=1000", "epochs=6", "text=time flies like an arrow", "shown=2", NULL);
    Table *a = study_result(s, "accuracy"), *tagged = study_result(s, "tagged");
    long frequent = row_with(a, "model", "most_frequent"), word = row_with(a, "model", "word_only"),
         recurrent = row_with(a, "model", "recurrent");
    assert_true(cell_real(a, word, "ambiguous_accuracy") < 0.75);
    assert_near(cell_real(a, word, "accuracy"), cell_real(a, frequent, "accuracy"), 0.03);
    assert_true(cell_real(a, recurrent, "ambiguous_accuracy") > 0.85);
    assert_true(cell_real(a, recurrent, "accuracy") > cell_real(a, word, "accuracy") + 0.08);
    static const char *const words[] = {"time", "flies", "like", "an", "arrow"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(cell_text(tagged, i, "word"), words[i]);
        assert_true(table_is_empty(tagged, i, table_find(tagged, "tag")));
    }
    assert_string_equal(cell_text(tagged, 3, "predicted"), "d");
    assert_string_equal(cell_text(tagged, 4, "predicted"), "n");
    assert_int_equal(cell_int(tagged, table_rows(tagged) - 1, "sentence"), 2);
    table_free(a);
    table_free(tagged);
    study_free(s);
}

static void tokens_of_a_tagger_have_tags(void **state) {
    (void)state;
    char path[] = "/tmp/lantern-test-XXXXXX", pair[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "the/d dog/n\na/d dog\n", 20), 20);
    close(fd);
    snprintf(pair, sizeof pair, "corpus=%s", path);
    Study *s = run_study_until(STATUS_USAGE, "lm.tagger", pair, NULL);
    assert_non_null(strstr(study_state(s).status.text, "'dog'"));
    study_free(s);
    unlink(path);
    s = run_study_until(STATUS_USAGE, "lm.tagger", "text=time zebra", "epochs=1", NULL);
    assert_non_null(strstr(study_state(s).status.text, "zebra"));
    study_free(s);
}

/* L4 2.3: with few labels a deep network of sigmoids that begins from pre-trained layers beats one that does not. */
static void pretraining_helps_a_deep_network(void **state) {
    (void)state;
    Study *s =
        run_study("lm.autoencoder", "unlabelled=1000", "tests=300", "pretrain=600", "finetune=400", "seeds=2", NULL);
    Table *error = study_result(s, "error"), *seeds = study_result(s, "seeds"), *codes = study_result(s, "codes"),
          *curve = study_result(s, "curve");
    double scratch = cell_real(error, row_with(error, "method", "deep_scratch"), "test_error");
    assert_true(cell_real(error, row_with(error, "method", "deep_supervised"), "test_error") < scratch);
    assert_true(cell_real(error, row_with(error, "method", "deep_unsupervised"), "test_error") < scratch);
    assert_int_equal(table_rows(error), 4);
    assert_int_equal(table_rows(seeds), 8);
    for (int i = 0; i < 4; i++)
        assert_near(cell_real(error, i, "test_error"),
                    (cell_real(seeds, i, "test_error") + cell_real(seeds, 4 + i, "test_error")) / 2, 1e-12);
    assert_int_equal(table_rows(codes), 300);
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (long i = 0; i < 300; i++) {
        double a = cell_real(codes, i, "x"), b = cell_real(codes, i, "y");
        x += a;
        y += b;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    assert_near(x, 0, 1e-6); /* components of centred codes: no mean, no correlation, the first the longer one */
    assert_near(y, 0, 1e-6);
    assert_true(xx > yy && fabs(xy) < 1e-3 * xx);
    long first = row_with(curve, "stage", "deep_unsupervised layer 1"), last = first;
    while (strcmp(cell_text(curve, last + 1, "stage"), "deep_unsupervised layer 1") == 0) last++;
    assert_true(cell_real(curve, last, "loss") < cell_real(curve, first, "loss") / 2);
    table_free(error);
    table_free(seeds);
    table_free(codes);
    table_free(curve);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descent_comes_down_to_counting),   cmocka_unit_test(noise_falls_with_the_batch),
        cmocka_unit_test(recurrence_uses_context),          cmocka_unit_test(tokens_of_a_tagger_have_tags),
        cmocka_unit_test(pretraining_helps_a_deep_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
