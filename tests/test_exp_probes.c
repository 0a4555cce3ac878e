/* lm.finetune and pos.extrapolate: rows, spreads and what a small pre-trained model already shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run_study.h"

static char folder[] = "/tmp/lantern-test-XXXXXX";

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int tear_down(void **state) {
    (void)state;
    char line[64];
    snprintf(line, sizeof line, "rm -r '%s'", folder);
    return system(line);
}

/* A model of a language without nouns between knows its verbs soon. */
static void expect_summary(const Table *accuracy, const Table *summary) {
    assert_int_equal(table_rows(summary), 1 + 2 + 2 + 2);
    for (long i = 0; i < table_rows(summary); i++) {
        double sum = 0;
        for (long seed = 0; seed < 2; seed++) sum += cell_real(accuracy, i * 4 + seed * 2, "accuracy") / 2;
        assert_near(cell_real(summary, i, "trained"), sum, 1e-12);
        assert_true(cell_real(summary, i, "beyond_lowest") <= cell_real(summary, i, "beyond"));
        assert_true(cell_real(summary, i, "beyond_highest") >= cell_real(summary, i, "beyond"));
    }
}

static void a_probe_beats_learning_from_nothing(void **state) {
    (void)state;
    char model[64], save[64];
    snprintf(model, sizeof model, "model=%s/farm", folder);
    snprintf(save, sizeof save, "save=%s/farm", folder);
    study_free(run_study("lm.train", "d=32", "sentences=6000", "epochs=3", "lr=0.01", save, NULL));
    Study *s = run_study("lm.finetune", model, "samples=16,32", "seeds=2", "k=1,4", "tests=60", "steps=60",
                         "full_lr=0.001", NULL);
    Table *accuracy = study_result(s, "accuracy"), *summary = study_result(s, "summary");
    assert_int_equal(table_rows(accuracy), 7 * 2 * 2);
    expect_summary(accuracy, summary);
    double scratch = cell_real(summary, row_with(summary, "run", "scratch 16 0.001"), "trained");
    double probe = cell_real(summary, row_with(summary, "run", "linear_probe 16 0.01"), "trained");
    double zero = cell_real(summary, row_with(summary, "run", "zero_shot"), "trained");
    if (!(zero > 0.9 && probe > scratch + 0.2)) fail_msg("zero %g, probe %g, scratch %g", zero, probe, scratch);
    assert_int_equal(cell_int(summary, row_with(summary, "run", "linear_probe 16 0.01"), "learns"), 32 * 2 + 2);
    assert_non_null(strstr(study_state(s).model, "/farm"));
    assert_int_equal(study_state(s).look.query, 14); /* of a probe with four nouns between */
    table_free(accuracy);
    table_free(summary);
    study_free(s);
    expect_refused("k:", "lm.finetune", model, "k=1,2,3,4,5,6,7,8,9,10,11,12,13", NULL);
}

static void extrapolation_has_every_row(void **state) {
    (void)state;
    Study *s = run_study("pos.extrapolate", "d=16", "sentences=256", "epochs=1", "seeds=2", "encodings=rope,none",
                         "k=1,5", "tests=40", NULL);
    Table *a = study_result(s, "agreement"), *spread = study_result(s, "spread"), *look = study_result(s, "look");
    assert_int_equal(table_rows(a), 2 * 2 * 2);
    assert_int_equal(table_rows(look), 2 * 2);
    assert_int_equal(table_rows(spread), 2 * 2);
    assert_string_equal(cell_text(a, 0, "encoding"), "rope");
    assert_string_equal(cell_text(spread, 3, "encoding"), "none");
    for (int i = 0; i < 2; i++) {
        double x = cell_real(a, i, "accuracy"), y = cell_real(a, 2 + i, "accuracy");
        assert_near(cell_real(spread, i, "mean"), (x + y) / 2, 1e-12);
        assert_near(cell_real(spread, i, "lowest"), fmin(x, y), 0);
        assert_near(cell_real(spread, i, "highest"), fmax(x, y), 0);
    }
    for (long i = 0; i < 4; i++) {
        double w = cell_real(look, i, "max_weight_on_subject");
        assert_true(w > 0 && w < 1);
    }
    double offered = 2, worst = 2; /* at k = 5: the model that is left for the live panes */
    for (long i = 1; i < 8; i += 2) {
        char name[40];
        snprintf(name, sizeof name, "%s-%lld", cell_text(a, i, "encoding"), cell_int(a, i, "seed"));
        worst = fmin(worst, cell_real(a, i, "accuracy"));
        if (strstr(study_state(s).model, name)) offered = cell_real(a, i, "accuracy");
    }
    assert_near(offered, worst, 0);
    assert_int_equal(study_state(s).look.key, 2);
    table_free(a);
    table_free(spread);
    table_free(look);
    study_free(s);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    Study *s = run_study_until(STATUS_USAGE, "pos.extrapolate", "k=1,30", "sentences=10", NULL);
    assert_non_null(strstr(study_state(s).status.text, "k=30"));
    study_free(s);
    expect_refused("corpus", "pos.extrapolate", "corpus=-", NULL);
    s = run_study_until(STATUS_USAGE, "pos.extrapolate", "corpus=tags", "sentences=10", NULL);
    assert_non_null(strstr(study_state(s).status.text, "no word"));
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_probe_beats_learning_from_nothing),
        cmocka_unit_test(extrapolation_has_every_row),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
