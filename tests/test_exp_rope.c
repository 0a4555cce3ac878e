/* rope.*: the figures of lecture 4 (4.2 to 4.7, exercises 1, 2, 7) and of seminar 3 (5.3 to 5.5), and what must hold at
 * any width, base and position. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "small_model.h"

/* A table of a run; the study is freed. */
static Table *table_of(const char *id, const char *table, const char *a, const char *b, const char *c) {
    Study *s = run_study(id, a ? a : "seed=1", b, b ? c : NULL, NULL);
    Table *t = study_result(s, table);
    study_free(s);
    return t;
}

static void refuse(const char *id, const char *a, const char *b) {
    study_free(run_study_until(STATUS_USAGE, id, a, b, NULL));
}

/* The text of a row of about. */
static void about_of(const Study *s, const char *key, char *out, size_t bytes) {
    Table *t = study_result(s, "about");
    out[0] = '\0';
    for (long i = 0; i < table_rows(t); i++)
        if (strcmp(table_text(t, i, 0), key) == 0) snprintf(out, bytes, "%s", table_text(t, i, 1));
    table_free(t);
    if (!out[0]) fail_msg("about has no %s", key);
}

/* ---- rope.rotate ---- */

static void rotations_of_the_lecture(void **state) {
    (void)state;
    static const struct {
        const char *pairing;
        double after[4];
        int pair[4];
    } rows[] = {{"pairing=adjacent", {-1.1426, 1.9221, 2.9599, 4.0298}, {0, 0, 1, 1}},
                {"pairing=half", {-1.9841, 1.9599, 2.4624, 4.0198}, {0, 1, 0, 1}}};
    for (int i = 0; i < 2; i++) {
        Table *t = table_of("rope.rotate", "rotated", rows[i].pairing, NULL, NULL);
        assert_int_equal(table_rows(t), 4);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(cell_int(t, k, "index"), k);
            assert_int_equal(cell_int(t, k, "pair"), rows[i].pair[k]);
            assert_near(cell_real(t, k, "angle"), rows[i].pair[k] ? 0.01 : 1, 1e-15);
            assert_near(cell_real(t, k, "before"), k + 1, 0);
            assert_near(cell_real(t, k, "after"), rows[i].after[k], 5e-5);
        }
        table_free(t);
    }
}

static void far_positions_keep_the_length(void **state) {
    (void)state;
    Table *t = table_of("rope.rotate", "rotated", "x=3,4,-1,0.5,2,7", "m=1000000", "base=500000");
    double before = 0, after = 0;
    for (int i = 0; i < 6; i++) {
        before += pow(cell_real(t, i, "before"), 2);
        after += pow(cell_real(t, i, "after"), 2);
    }
    assert_near(after, before, 1e-13);
    assert_near(cell_real(t, 0, "after"), 3 * cos(1e6) - 4 * sin(1e6), 1e-13);
    assert_near(cell_real(t, 2, "angle"), 1e6 * pow(500000, -1.0 / 3), 1e-7);
    table_free(t);
}

static void bad_rotations(void **state) {
    (void)state;
    refuse("rope.rotate", "x=1,2,3", NULL);
    refuse("rope.rotate", "x=1,inf", NULL);
    Options *o = catalog_options(catalog_find("rope.rotate"));
    static const char *const bad[] = {"base=0", "base=-1", "base=nan", "base=inf", "x=1,nan", "m=1.5", "pairing=third"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Status s = options_set_pair(o, bad[i]);
        assert_int_equal(s.code, STATUS_USAGE);
    }
    options_free(o);
}

/* ---- rope.matrix ---- */

static void the_matrix_turns_by_five(void **state) {
    (void)state;
    Table *t = table_of("rope.matrix", "matrix", NULL, NULL, NULL);
    assert_int_equal(table_rows(t), 64);
    for (long i = 0; i < 64; i++) {
        long long row = cell_int(t, i, "row"), column = cell_int(t, i, "column");
        assert_int_equal(row, i / 8);
        assert_int_equal(column, i % 8);
        double angle = 5 * pow(10000, -2.0 * (double)(row / 2) / 8), want = 0;
        if (row == column) want = cos(angle);
        if (row / 2 == column / 2 && row != column) want = row < column ? -sin(angle) : sin(angle);
        assert_near(cell_real(t, i, "value"), want, 1e-15);
    }
    table_free(t);
}

static void every_form_agrees(void **state) {
    (void)state;
    static const char *const forms[] = {"matrix", "elementwise", "complex", "half_permuted"};
    static const char *const how[][2] = {{"d=8", "m=5"}, {"d=2", "m=0"}, {"d=64", "m=1000000"}, {"d=250", "m=-7"}};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        Study *s = run_study("rope.matrix", how[i][0], how[i][1], NULL);
        Table *t = study_result(s, "agree");
        assert_int_equal(table_rows(t), 4);
        for (int k = 0; k < 4; k++) {
            assert_string_equal(cell_text(t, k, "form"), forms[k]);
            assert_true(cell_real(t, k, "max_difference") >= 0);
            assert_true(cell_real(t, k, "max_difference") < 1e-14);
        }
        table_free(t);
        char engine[200];
        about_of(s, "engine", engine, sizeof engine);
        double away = strtod(strrchr(engine, ':') + 1, NULL);
        if (!(away < 1e-6)) fail_msg("%s", engine);
        study_free(s);
    }
    refuse("rope.matrix", "d=7", NULL);
}

/* ---- rope.relative ---- */

enum { NONE, SINUSOID, ROPE, WRONG };
static const char *const schemes[] = {"none", "sinusoid", "rope", "wrong"};

static void only_rope_depends_on_the_distance_alone(void **state) {
    (void)state;
    static const char *const at[] = {"at=5:2,105:102,1005:1002", "at=0:3,10:13,50:53",
                                     "at=3:0,1000003:1000000,999:996"};
    for (int a = 0; a < 3; a++) {
        Table *t = table_of("rope.relative", "score", at[a], "seed=3", NULL);
        assert_int_equal(table_rows(t), 12);
        double first[4];
        for (int i = 0; i < 12; i++) {
            assert_string_equal(cell_text(t, i, "scheme"), schemes[i / 3]);
            double score = cell_real(t, i, "score");
            if (i % 3 == 0) first[i / 3] = score;
            if (i / 3 != SINUSOID) assert_near(score, first[i / 3], 1e-12);
            if (i / 3 == SINUSOID && i % 3) assert_true(fabs(score - first[SINUSOID]) > 0.1);
        }
        assert_near(first[WRONG], first[NONE], 1e-13);
        assert_true(fabs(first[ROPE] - first[NONE]) > 0.1);
        assert_int_equal(cell_int(t, 1, "t") - cell_int(t, 1, "j"), a == 1 ? -3 : 3);
        table_free(t);
    }
}

static void turning_keeps_lengths(void **state) {
    (void)state;
    Table *t = table_of("rope.relative", "length", NULL, NULL, NULL);
    assert_int_equal(table_rows(t), 4);
    for (int i = 0; i < 4; i++) assert_string_equal(cell_text(t, i, "scheme"), schemes[i]);
    assert_near(cell_real(t, NONE, "change"), 0, 0);
    assert_true(cell_real(t, SINUSOID, "change") > 0.1);
    assert_near(cell_real(t, ROPE, "change"), 0, 1e-14);
    assert_near(cell_real(t, WRONG, "change"), 0, 1e-14);
    table_free(t);
}

/* Lecture 4, exercises 1 and 7: q = k = (1, 0), one step apart. */
static void exercise_one(void **state) {
    (void)state;
    Table *t = table_of("rope.relative", "score", "q=1,0", "k=1,0", "at=1:0,5:4");
    for (int i = 0; i < 2; i++) {
        assert_near(cell_real(t, 2 * NONE + i, "score"), 1, 0);
        assert_near(cell_real(t, 2 * ROPE + i, "score"), 0.5403, 5e-5);
        assert_near(cell_real(t, 2 * WRONG + i, "score"), 1, 1e-15);
    }
    /* (1,0) + (sin p, cos p): the product has terms that stay */
    assert_near(cell_real(t, 2 * SINUSOID, "score"), 1 + sin(1) + cos(1), 1e-15);
    assert_near(cell_real(t, 2 * SINUSOID + 1, "score"), 1 + sin(5) + sin(4) + cos(1), 1e-14);
    table_free(t);
}

static void bad_pairs_of_positions(void **state) {
    (void)state;
    static const char *const bad[] = {"at=5",     "at=",      "at=5:2,",         "at=5:-1", "at=5:x", "at=:",
                                      "at=5,2:1", "at=1e3:2", "at=5:2000000000", "d=3",     "q=1",    "q=1,inf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refuse("rope.relative", bad[i], NULL);
    refuse("rope.relative", "q=1,0", "k=1,0,0,0");
    refuse("rope.relative", "q=1,0", "d=4");
}

/* ---- rope.clock ---- */

static void hands_of_the_clock(void **state) {
    (void)state;
    Table *t = table_of("rope.clock", "pairs", NULL, NULL, NULL);
    assert_int_equal(table_rows(t), 64);
    assert_near(cell_real(t, 0, "radians_per_token"), 1, 0);
    assert_near(cell_real(t, 0, "period_tokens"), 6.283185307179586, 1e-14);
    assert_near(cell_real(t, 63, "radians_per_token"), 1.15e-4, 5e-7);
    assert_near(cell_real(t, 63, "period_tokens"), 54410, 0.5);
    for (int i = 1; i < 64; i++) /* a geometric sequence */
        assert_near(cell_real(t, i, "period_tokens") / cell_real(t, i - 1, "period_tokens"), pow(10000, 2.0 / 128),
                    1e-12);
    table_free(t);
    t = table_of("rope.clock", "pairs", "base=500000", NULL, NULL);
    assert_near(cell_real(t, 63, "radians_per_token"), 2.46e-6, 1e-8);
    assert_near(cell_real(t, 63, "period_tokens"), 2.56e6, 5e3);
    table_free(t);
    t = table_of("rope.clock", "pairs", "d=64", NULL, NULL);
    assert_near(cell_real(t, 31, "period_tokens"), 47117, 0.5); /* lecture 4, 4.5: about 47,000 */
    table_free(t);
    t = table_of("rope.clock", "pairs", "d=6", "base=1", NULL);
    for (int i = 0; i < 3; i++) assert_near(cell_real(t, i, "radians_per_token"), 1, 0);
    table_free(t);
    refuse("rope.clock", "d=9", NULL);
}

/* ---- rope.decay ---- */

static void many_speeds_do_not_come_back(void **state) {
    (void)state;
    Table *one = table_of("rope.decay", "similarity", "speeds=single", NULL, NULL);
    Table *many = table_of("rope.decay", "similarity", NULL, NULL, NULL);
    assert_int_equal(table_rows(one), 1025);
    assert_int_equal(table_rows(many), 1025);
    for (int i = 0; i <= 1024; i++) {
        assert_int_equal(cell_int(one, i, "distance"), i);
        assert_near(cell_real(one, i, "value"), cos(i), 1e-14);
        if (i > 0) assert_true(cell_real(many, i, "value") < 0.97);
    }
    assert_near(cell_real(many, 0, "value"), 1, 1e-15);
    assert_true(cell_real(one, 44, "value") > 0.9998);
    assert_near(cell_real(many, 44, "value"), 0.5984315311469889, 1e-12);
    double near = 0, far = 0;
    for (int i = 0; i < 256; i++) {
        near += cell_real(many, i, "value") / 256;
        far += cell_real(many, 1024 - i, "value") / 256;
    }
    assert_true(far < near - 0.1);
    table_free(one);
    table_free(many);
}

/* Seminar 3, 5.5: a vector of 128 ones: 128, and about 26 at distance 1024. */
static void the_seminars_vector(void **state) {
    (void)state;
    Table *t = table_of("rope.decay", "similarity", "d=128", NULL, NULL);
    assert_near(128 * cell_real(t, 0, "value"), 128, 1e-12);
    assert_near(128 * cell_real(t, 1024, "value"), 26.1685, 1e-4);
    table_free(t);
    t = table_of("rope.decay", "similarity", "to=0", "d=2", NULL);
    assert_int_equal(table_rows(t), 1);
    table_free(t);
    refuse("rope.decay", "d=5", NULL);
}

/* ---- rope.cache ---- */

static void feeding_changes_nothing(void **state) {
    (void)state;
    static const char *const feeds[] = {"all", "1", "5+1", "3"};
    static const char *const texts[] = {"text=the dogs near the cat chase the owl every day .", "text=the dog",
                                        "text="};
    for (int i = 0; i < 3; i++) {
        Study *s = run_study("rope.cache", small_model_pair, texts[i], NULL);
        Table *t = study_result(s, "diff");
        assert_int_equal(table_rows(t), 4);
        for (int k = 0; k < 4; k++) {
            assert_string_equal(cell_text(t, k, "feed"), feeds[k]);
            assert_near(cell_real(t, k, "max_difference"), 0, REAL_IS_DOUBLE ? 1e-12 : 1e-5);
        }
        table_free(t);
        char stored[200];
        about_of(s, "stored_keys", stored, sizeof stored);
        assert_true(str_ends_in(stored, "moved by 0"));
        study_free(s);
    }
}

static void a_model_without_rope_is_refused(void **state) {
    (void)state;
    refuse("rope.cache", "model=gpt", NULL);
    refuse("rope.cache", small_model_pair, "text=the zebra");
    char path[] = "/tmp/lantern-test-XXXXXX", save[60], model[60];
    close(mkstemp(path));
    snprintf(save, sizeof save, "save=%s", path);
    snprintf(model, sizeof model, "model=%s", path);
    study_free(run_study("lm.train", "arch=gpt", "d=16", "sentences=64", "epochs=1", save, NULL));
    Study *s = run_study_until(STATUS_USAGE, "rope.cache", model, NULL);
    StudyState end = study_state(s);
    assert_non_null(strstr(end.status.text, "pos=learned"));
    study_free(s);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_of_the_lecture),
        cmocka_unit_test(far_positions_keep_the_length),
        cmocka_unit_test(bad_rotations),
        cmocka_unit_test(the_matrix_turns_by_five),
        cmocka_unit_test(every_form_agrees),
        cmocka_unit_test(only_rope_depends_on_the_distance_alone),
        cmocka_unit_test(turning_keeps_lengths),
        cmocka_unit_test(exercise_one),
        cmocka_unit_test(bad_pairs_of_positions),
        cmocka_unit_test(hands_of_the_clock),
        cmocka_unit_test(many_speeds_do_not_come_back),
        cmocka_unit_test(the_seminars_vector),
        cmocka_unit_test(feeding_changes_nothing),
        cmocka_unit_test(a_model_without_rope_is_refused),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
