/* text.batch: the figures of lecture 3, exercise 1, and the matrix itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_study.h"

static void expect_waste(const char *block, int cut_sentences, int cut_tokens, int pads, int positions, double share) {
    Study *s = run_study("text.batch", block, NULL);
    Table *t = study_result(s, "waste");
    assert_int_equal(table_rows(t), 1);
    assert_int_equal(cell_int(t, 0, "sentences"), 8);
    assert_int_equal(cell_int(t, 0, "cut_sentences"), cut_sentences);
    assert_int_equal(cell_int(t, 0, "cut_tokens"), cut_tokens);
    assert_int_equal(cell_int(t, 0, "pads"), pads);
    assert_int_equal(cell_int(t, 0, "positions"), positions);
    assert_near(cell_real(t, 0, "pad_share"), share, 0);
    table_free(t);
    study_free(s);
}

static void exercise_1(void **state) {
    (void)state;
    expect_waste("block=10", 3, 4, 7, 80, 0.0875);
    expect_waste("block=8", 6, 15, 2, 64, 0.03125);
    expect_waste("block=12", 0, 0, 19, 96, 19.0 / 96);
}

static void ids_follow_the_bytes(void **state) {
    (void)state;
    Study *s = run_study("text.batch", "block=12", NULL);
    Table *t = study_result(s, "batch");
    assert_int_equal(table_rows(t), 96);
    long long largest = 0;
    for (long i = 0; i < table_rows(t); i++) {
        long long id = cell_int(t, i, "id");
        if (id > largest) largest = id;
        assert_int_equal(id == 0, strcmp(cell_text(t, i, "token"), "<PAD>") == 0);
        for (long j = 0; j < i; j++) {
            int order = strcmp(cell_text(t, j, "token"), cell_text(t, i, "token"));
            if (id && cell_int(t, j, "id"))
                assert_true((order < 0) == (cell_int(t, j, "id") < id) && (order == 0) == (cell_int(t, j, "id") == id));
        }
    }
    assert_int_equal(largest, 56); /* 57 entries with <PAD>: four begin with a capital letter */
    assert_string_equal(cell_text(t, 0, "token"), "The");
    assert_int_equal(cell_int(t, 0, "id"), 4);
    assert_int_equal(cell_int(t, 36, "id"), 1); /* Even */
    table_free(t);
    study_free(s);
}

static void pads_stand_on_the_side_asked_for(void **state) {
    (void)state;
    Study *right = run_study("text.batch", "block=8", NULL),
          *left = run_study("text.batch", "block=8", "pad=left", NULL);
    Table *r = study_result(right, "batch"), *l = study_result(left, "batch");
    for (long i = 0; i < 8; i++) { /* sentence 3 has six tokens */
        assert_int_equal(cell_int(r, 24 + i, "position"), i);
        assert_int_equal(cell_int(r, 24 + i, "id") == 0, i >= 6);
        assert_int_equal(cell_int(l, 24 + i, "id") == 0, i < 2);
        if (i < 6) assert_int_equal(cell_int(r, 24 + i, "id"), cell_int(l, 26 + i, "id"));
    }
    table_free(r);
    table_free(l);
    study_free(right);
    study_free(left);
}

static char path[] = "/tmp/lantern-test-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    return fd < 0;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static Study *batch_of(const char *text, StatusCode code) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    char pair[64];
    snprintf(pair, sizeof pair, "file=%s", path);
    return run_study_until(code, "text.batch", pair, "block=3", NULL);
}

static void files_are_read(void **state) {
    (void)state;
    Study *s = batch_of("\xEF\xBB\xBF"
                        "b  a\tb\r\n\n猫",
                        STATUS_OK);
    Table *t = study_result(s, "batch");
    static const int ids[] = {2, 1, 2, 3, 0, 0};
    assert_int_equal(table_rows(t), 6);
    for (int i = 0; i < 6; i++) assert_int_equal(cell_int(t, i, "id"), ids[i]);
    table_free(t);
    study_free(s);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    Study *s = batch_of("a b\n<PAD> c\n", STATUS_USAGE);
    assert_non_null(strstr(study_state(s).status.text, "line 2"));
    study_free(s);
    s = batch_of("a b\nc \xff\n", STATUS_USAGE);
    assert_non_null(strstr(study_state(s).status.text, "line 2 is not UTF-8"));
    study_free(s);
    s = batch_of("\n \n", STATUS_USAGE);
    study_free(s);
    s = run_study_until(STATUS_USAGE, "text.batch", "file=/nowhere/at/all", NULL);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exercise_1),
        cmocka_unit_test(ids_follow_the_bytes),
        cmocka_unit_test(pads_stand_on_the_side_asked_for),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
