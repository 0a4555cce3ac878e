/* bpe.*: the figures of lecture 3, 5.3 to 5.5, and the reference merges of LANTERN_SHARED. */
#include "csvfile.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_study.h"

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

/* KEY=path of a file that holds these bytes. */
static const char *file_of(const char *key, const char *text, size_t bytes) {
    static char pair[64];
    FILE *f = fopen(path, "wb");
    fwrite(text, 1, bytes, f);
    fclose(f);
    snprintf(pair, sizeof pair, "%s=%s", key, path);
    return pair;
}

#define LOW "low low low low low lower lower\nnewest newest newest newest newest newest widest widest widest\n"

/* ---- bpe.train ---- */

static void exercise_5(void **state) {
    (void)state;
    Study *s = run_study("bpe.train", file_of("corpus", LOW, strlen(LOW)), "merges=6", NULL);
    Table *t = study_result(s, "merges");
    static const char *const pair[6][3] = {{"e", "s", "es"}, {"es", "t", "est"}, {"est", "</w>", "est</w>"},
                                           {"l", "o", "lo"}, {"lo", "w", "low"}, {"e", "w", "ew"}};
    static const int count[6] = {9, 9, 9, 7, 7, 6}, ties[6] = {3, 2, 1, 2, 1, 3};
    assert_int_equal(table_rows(t), 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(cell_int(t, i, "rank"), i + 1);
        assert_string_equal(cell_text(t, i, "left"), pair[i][0]);
        assert_string_equal(cell_text(t, i, "right"), pair[i][1]);
        assert_string_equal(cell_text(t, i, "merged"), pair[i][2]);
        assert_int_equal(cell_int(t, i, "count"), count[i]);
        assert_int_equal(cell_int(t, i, "ties"), ties[i]);
    }
    assert_string_equal(cell_text(t, 2, "right_hex"), "3c2f773e");
    table_free(t);
    t = study_result(s, "words");
    assert_int_equal(table_rows(t), 4);
    assert_string_equal(cell_text(t, 0, "word"), "newest");
    assert_int_equal(cell_int(t, 0, "count"), 6);
    assert_string_equal(cell_text(t, 0, "pieces"), "n ew est</w>");
    assert_string_equal(cell_text(t, 1, "pieces_hex"), "6c6f77 3c2f773e");
    table_free(t);
    study_free(s);
}

static void bytes_and_capitals(void **state) {
    (void)state;
    const char *text = "\xff\xfe \xff\xfe X\xc3\x89 x\xc3\xa9";
    Study *s = run_study_until(STATUS_USAGE, "bpe.train", file_of("corpus", text, strlen(text)), NULL);
    assert_non_null(strstr(study_state(s).status.text, "line 1 is not UTF-8"));
    study_free(s);
    s = run_study("bpe.train", file_of("corpus", text, strlen(text)), "unit=byte", "lowercase=1", "merges=3", NULL);
    Table *t = study_result(s, "merges");
    assert_string_equal(cell_text(t, 0, "left"), "x");
    assert_string_equal(cell_text(t, 0, "right"), "<c3>");
    assert_string_equal(cell_text(t, 0, "merged_hex"), "78c3");
    assert_int_equal(cell_int(t, 0, "ties"), 5);
    assert_string_equal(cell_text(t, 1, "merged"), "x\xc3\xa9");
    table_free(t);
    study_free(s);
}

static void empty_corpora_are_refused(void **state) {
    (void)state;
    Study *s = run_study_until(STATUS_USAGE, "bpe.train", file_of("corpus", " \n", 2), NULL);
    assert_non_null(strstr(study_state(s).status.text, "has no words"));
    study_free(s);
    s = run_study_until(STATUS_USAGE, "bpe.train", "corpus=/nowhere/at/all", NULL);
    study_free(s);
}

/* The regular endings become symbols early; which merge makes them depends on the sample only a little. */
static void endings_are_found(void **state) {
    (void)state;
    Study *s = run_study("bpe.train", NULL);
    Table *t = study_result(s, "merges");
    static const struct {
        const char *ending;
        long latest;
    } ends[] = {{"s</w>", 6}, {"ly</w>", 25}, {"ing</w>", 30}, {"ed</w>", 35}, {"est</w>", 90}, {"ness</w>", 130}};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        long row = 0;
        while (row < table_rows(t) && strcmp(cell_text(t, row, "merged"), ends[k].ending) != 0) row++;
        if (row >= ends[k].latest) fail_msg("%s is made by merge %ld", ends[k].ending, row + 1);
    }
    assert_string_equal(cell_text(t, 0, "merged"), "e</w>");
    assert_string_equal(cell_text(t, 1, "merged"), "th");
    table_free(t);
    study_free(s);
}

/* ---- bpe.tradeoff ---- */

static void more_merges_shorten(void **state) {
    (void)state;
    Study *s = run_study("bpe.tradeoff", NULL);
    Table *t = study_result(s, "tradeoff");
    assert_int_equal(table_rows(t), 6);
    for (long i = 1; i < 6; i++) {
        assert_int_equal(cell_int(t, i, "vocabulary") - cell_int(t, 0, "vocabulary"), cell_int(t, i, "merges"));
        assert_true(cell_real(t, i, "tokens_per_word") < cell_real(t, i - 1, "tokens_per_word"));
    }
    assert_near(cell_real(t, 5, "tokens_per_word"), 1.036, 0.03); /* the notes, of their sample */
    table_free(t);
    study_free(s);
    s = run_study("bpe.tradeoff", file_of("corpus", LOW, strlen(LOW)), "merges=5,0,1000", NULL);
    t = study_result(s, "tradeoff");
    static const int merges[] = {5, 0, 1000}, vocabulary[] = {16, 11, 26}, tokens[] = {54, 95, 16};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cell_int(t, i, "merges"), merges[i]);
        assert_int_equal(cell_int(t, i, "vocabulary"), vocabulary[i]);
        assert_near(cell_real(t, i, "tokens_per_word"), tokens[i] / 16.0, 0);
    }
    table_free(t);
    study_free(s);
}

/* ---- reference values ---- */

static const struct {
    const char *name, *unit;
    bool hex;
} references[] = {{"low", "char", false},     {"runs", "char", false}, {"gpl3", "char", false},
                  {"genesis", "char", false}, {"runs", "byte", true},  {"genesis", "byte", true}};

static void expect_cell(const Table *t, long row, const char *column, const char *want) {
    Str cell;
    str_init(&cell);
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    table_cell(t, row, c, &cell);
    if (strcmp(cell.s, want) != 0) fail_msg("row %ld, %s: %s, not %s", row, column, cell.s, want);
    str_done(&cell);
}

static void merges_are_those_of_the_reference(void **state) {
    (void)state;
    const char *shared = getenv("LANTERN_SHARED");
    if (!shared) skip();
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        char file[500], corpus[500], unit[20];
        snprintf(file, sizeof file, "%s/data/reference/bpe/%s.%s.merges.csv", shared, references[i].name,
                 references[i].unit);
        snprintf(corpus, sizeof corpus, "corpus=%s/data/reference/bpe/%s.txt", shared, references[i].name);
        snprintf(unit, sizeof unit, "unit=%s", references[i].unit);
        CsvText csv;
        Status status = csvfile_read(file, &csv);
        assert_int_equal(status.code, STATUS_OK);
        Study *s = run_study("bpe.train", corpus, unit, NULL);
        Table *t = study_result(s, "merges");
        assert_true(table_rows(t) >= csv.rows - 1);
        for (long row = 1; row < csv.rows; row++)
            for (int column = 0; column < csv.columns; column++)
                expect_cell(t, row - 1, csv.cell[0][column], csv.cell[row][column]);
        table_free(t);
        study_free(s);
        csv_text_done(&csv);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exercise_5),
        cmocka_unit_test(bytes_and_capitals),
        cmocka_unit_test(empty_corpora_are_refused),
        cmocka_unit_test(endings_are_found),
        cmocka_unit_test(more_merges_shorten),
        cmocka_unit_test(merges_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
