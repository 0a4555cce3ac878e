/* Sub-words learnt while people look: the notes' example merge by merge, forward and back; the same tables as the
 * experiments bpe.train and bpe.encode; bytes, and what is refused. */
#include "lab_fixture.h"

#include "bpe_live.h"
#include "io/tokenizer_json.h"
#include "mem.h"
#include "run_study.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOW "low low low low low lower lower\nnewest newest newest newest newest newest widest widest widest\n"

static char path[] = "/tmp/lantern-test-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    ssize_t n = write(fd, LOW, strlen(LOW));
    close(fd);
    return n != (ssize_t)strlen(LOW);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

/* With that corpus, at a merge. */
static BpeLive *low_at(int merges) {
    char corpus[64], goal[32];
    snprintf(corpus, sizeof corpus, "corpus=%s", path);
    snprintf(goal, sizeof goal, "merges=%d", merges);
    const char *const pairs[] = {corpus, goal};
    BpeLive *b = bpe_live_new();
    assert_ok(bpe_live_learn(b, pairs, 2, "farm"));
    return b;
}

static Snapshot *look(BpeLive *b) {
    SnapshotFacts facts = snapshot_facts_unknown();
    Snapshot *s = snapshot_new(&facts);
    for (int turns = 0; bpe_live_wait(b, false) == 0; turns++) {
        assert_true(turns < 100000);
        assert_ok(bpe_live_turn(b, false));
    }
    bpe_live_show(b, NULL, "", s);
    return s;
}

static const char *text(const Snapshot *s, const char *table, long row, const char *column) {
    const Table *t = snapshot_table(s, table);
    assert_non_null(t);
    return table_text(t, row, table_find(t, column));
}

static long long number(const Snapshot *s, const char *table, long row, const char *column) {
    const Table *t = snapshot_table(s, table);
    assert_non_null(t);
    return table_int(t, row, table_find(t, column));
}

static void expect_same(const Table *a, const Table *b, long rows) {
    assert_int_equal(table_columns(a), table_columns(b));
    for (long r = 0; r < rows; r++)
        for (int c = 0; c < table_columns(a); c++) {
            Str x, y;
            str_init(&x);
            str_init(&y);
            table_cell(a, r, c, &x);
            table_cell(b, r, c, &y);
            assert_string_equal(x.s, y.s);
            str_done(&x);
            str_done(&y);
        }
}

/* ---- the notes ---- */

/* Lecture 3, exercise 5: which pair is next, and how many are as frequent. */
static void the_next_pair_is_that_of_the_notes(void **state) {
    (void)state;
    static const char *const pair[6][2] = {{"e", "s"}, {"es", "t"}, {"est", "</w>"},
                                           {"l", "o"}, {"lo", "w"}, {"e", "w"}};
    static const int count[6] = {9, 9, 9, 7, 7, 6}, ties[6] = {3, 2, 1, 2, 1, 3};
    BpeLive *b = low_at(0);
    for (int i = 0; i < 6; i++) {
        Snapshot *s = look(b);
        assert_int_equal(number(s, "bpe", 0, "merges"), i);
        assert_int_equal(number(s, "bpe", 0, "ties"), ties[i]);
        assert_string_equal(text(s, "pairs", 0, "left"), pair[i][0]);
        assert_string_equal(text(s, "pairs", 0, "right"), pair[i][1]);
        assert_int_equal(number(s, "pairs", 0, "count"), count[i]);
        for (int k = 0; k < 4; k++) assert_int_equal(number(s, "pairs", k, "tied"), ties[i] > 1 && k < ties[i]);
        snapshot_unref(s);
        assert_ok(bpe_live_by(b, 1));
    }
    bpe_live_free(b);
}

static void the_three_way_tie_at_six(void **state) {
    (void)state;
    BpeLive *b = low_at(5);
    Snapshot *s = look(b);
    static const char *const left[] = {"e", "n", "w"}, *const right[] = {"w", "e", "est</w>"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(text(s, "pairs", i, "left"), left[i]);
        assert_string_equal(text(s, "pairs", i, "right"), right[i]);
        assert_int_equal(number(s, "pairs", i, "count"), 6);
    }
    snapshot_unref(s);
    assert_ok(bpe_live_by(b, 1));
    s = look(b);
    assert_string_equal(text(s, "words", 0, "pieces"), "n ew est</w>");
    assert_string_equal(text(s, "merges", 5, "merged"), "ew");
    assert_int_equal(number(s, "merges", 5, "ties"), 3);
    snapshot_unref(s);
    bpe_live_free(b);
}

/* 95 units of 16 words; each of the first merges takes away as many as it counts. */
static void growth_is_that_of_the_merges(void **state) {
    (void)state;
    BpeLive *b = low_at(6);
    Snapshot *s = look(b);
    const Table *growth = snapshot_table(s, "growth");
    long long tokens = 95;
    for (int i = 0; i <= 6; i++) {
        if (i > 0) tokens -= number(s, "merges", i - 1, "count");
        assert_int_equal(number(s, "growth", i, "vocabulary"), 11 + i);
        assert_float_equal(table_real(growth, i, 2), (double)tokens / 16, 1e-12);
    }
    assert_int_equal(number(s, "bpe", 0, "tokens"), tokens);
    snapshot_unref(s);
    bpe_live_free(b);
}

/* ---- forward and back ---- */

/* Asked twice before it has done the first. */
static void two_steps_at_once_are_two(void **state) {
    (void)state;
    BpeLive *b = low_at(0);
    assert_ok(bpe_live_by(b, 1));
    assert_ok(bpe_live_by(b, 1));
    Snapshot *s = look(b);
    assert_int_equal(number(s, "bpe", 0, "merges"), 2);
    snapshot_unref(s);
    bpe_live_free(b);
}

static void back_and_forward_is_the_same(void **state) {
    (void)state;
    BpeLive *straight = low_at(4), *around = low_at(9);
    snapshot_unref(look(around));
    assert_ok(bpe_live_by(around, -6));
    Snapshot *s = look(around);
    assert_int_equal(number(s, "bpe", 0, "merges"), 3);
    snapshot_unref(s);
    assert_ok(bpe_live_by(around, 1));
    Snapshot *a = look(straight), *b = look(around);
    static const char *const names[] = {"bpe", "pairs", "words", "merges", "growth", "steps", "encoded"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Table *t = snapshot_table(a, names[i]);
        assert_int_equal(table_rows(t), table_rows(snapshot_table(b, names[i])));
        expect_same(t, snapshot_table(b, names[i]), table_rows(t));
    }
    snapshot_unref(a);
    snapshot_unref(b);
    assert_ok(bpe_live_to(around, 0));
    snapshot_unref(look(around));
    Status none = bpe_live_by(around, -1);
    assert_int_equal(none.code, STATUS_USAGE);
    bpe_live_free(straight);
    bpe_live_free(around);
}

/* low, lower, newest, widest: one token each at the end, and nothing more to merge. */
static void it_runs_to_the_last_pair(void **state) {
    (void)state;
    BpeLive *b = low_at(0);
    assert_ok(bpe_live_run(b, 5));
    Snapshot *s = look(b);
    assert_int_equal(number(s, "bpe", 0, "running"), 0);
    assert_int_equal(number(s, "bpe", 0, "tokens"), 16);
    assert_int_equal(table_rows(snapshot_table(s, "pairs")), 0);
    assert_string_equal(text(s, "words", 0, "pieces"), "newest</w>");
    snapshot_unref(s);
    Status more = bpe_live_by(b, 1);
    assert_int_equal(more.code, STATUS_FAILED);
    bpe_live_free(b);
}

/* ---- the experiments ---- */

static void tables_are_those_of_the_experiments(void **state) {
    (void)state;
    Lab *l = fixture_lab("sentences=64");
    fixture_do(l, "watch bpe");
    fixture_do(l, "bpe to 60");
    fixture_do(l, "bpe text the unkindest painters");
    Snapshot *s = lab_snapshot(l);
    Study *train = run_study("bpe.train", "merges=60", NULL);
    Study *encode = run_study("bpe.encode", "merges=60", "text=the unkindest painters", NULL);
    Table *merges = study_result(train, "merges"), *words = study_result(train, "words"),
          *tokens = study_result(encode, "tokens"), *steps = study_result(encode, "steps");
    assert_int_equal(table_rows(snapshot_table(s, "merges")), 60);
    assert_int_equal(table_rows(merges), 60);
    expect_same(merges, snapshot_table(s, "merges"), 60);
    expect_same(words, snapshot_table(s, "words"), 200);
    assert_int_equal(table_rows(tokens), table_rows(snapshot_table(s, "encoded")));
    assert_int_equal(table_rows(steps), table_rows(snapshot_table(s, "steps")));
    expect_same(tokens, snapshot_table(s, "encoded"), table_rows(tokens));
    expect_same(steps, snapshot_table(s, "steps"), table_rows(steps));
    assert_true(table_rows(steps) > 3);
    table_free(merges);
    table_free(words);
    table_free(tokens);
    table_free(steps);
    study_free(train);
    study_free(encode);
    snapshot_unref(s);
    lab_free(l);
}

/* ---- the tokenizer of a model that was read ---- */

static Tokenizer *letters(void) {
    static const char json[] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":{\"type\":"
        "\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"\u0120\":2,\"ab\":3},"
        "\"merges\":[\"a b\"]}}";
    Tokenizer *t;
    assert_ok(tokenizer_json_parse("file", json, strlen(json), &t));
    return t;
}

static void a_model_cuts_by_its_own(void **state) {
    (void)state;
    Tokenizer *t = letters();
    BpeLive *b = bpe_live_new();
    SnapshotFacts facts = snapshot_facts_unknown();
    Snapshot *s = snapshot_new(&facts);
    bpe_live_show(b, t, "ab a", s);
    assert_string_equal(text(s, "bpe", 0, "text"), "ab a");
    assert_string_equal(text(s, "bpe", 0, "text_units"), "a b \xc4\xa0 a");
    assert_int_equal(table_rows(snapshot_table(s, "encoded")), 3);
    assert_int_equal(table_rows(snapshot_table(s, "steps")), 1);
    assert_null(snapshot_table(s, "pairs")); /* nothing is learnt */
    snapshot_unref(s);
    assert_ok(bpe_live_text(b, "bab", t));
    s = snapshot_new(&facts);
    bpe_live_show(b, t, "ab a", s);
    assert_string_equal(text(s, "steps", 0, "pieces"), "b ab");
    snapshot_unref(s);
    const char *const corpus[] = {"corpus=morph"};
    assert_true(bpe_live_is_own(b, t));
    assert_ok(bpe_live_learn(b, corpus, 1, "farm"));
    assert_false(bpe_live_is_own(b, t)); /* somebody asked to learn beside it */
    bpe_live_return(b);
    assert_true(bpe_live_is_own(b, t));
    bpe_live_free(b);
    tokenizer_free(t);
}

/* ---- units, and what is refused ---- */

static void a_partial_character_shows_as_its_bytes(void **state) {
    (void)state;
    BpeLive *b = low_at(0);
    const char *const unit[] = {"unit=byte"};
    assert_ok(bpe_live_learn(b, unit, 1, "farm"));
    assert_ok(bpe_live_text(b, "\xe7\x94\x9f", NULL));
    Snapshot *s = look(b);
    assert_string_equal(text(s, "bpe", 0, "text_units"), "\\xe7 \\x94 \\x9f </w>");
    assert_int_equal(table_rows(snapshot_table(s, "encoded")), 4);
    snapshot_unref(s);
    bpe_live_free(b);
}

static void it_sleeps_until_somebody_looks(void **state) {
    (void)state;
    BpeLive *b = bpe_live_new();
    assert_true(bpe_live_wait(b, false) > 0);
    Snapshot *s = look(b);
    assert_null(snapshot_table(s, "bpe"));
    snapshot_unref(s);
    bpe_live_wake(b);
    assert_true(bpe_live_wait(b, true) == 0);
    s = look(b);
    assert_string_equal(text(s, "bpe", 0, "corpus"), "morph");
    assert_int_equal(number(s, "bpe", 0, "merges"), 0);
    snapshot_unref(s);
    bpe_live_free(b);
}

static void refusals_leave_all_as_it_was(void **state) {
    (void)state;
    Lab *l = fixture_lab("sentences=64");
    char learn[96];
    snprintf(learn, sizeof learn, "bpe learn corpus=%s merges=3", path);
    fixture_do(l, learn);
    fixture_refused(l, "bpe learn corpus=no-such-file", "no-such-file");
    fixture_refused(l, "bpe learn corpus=-", "standard input");
    fixture_refused(l, "bpe learn unit=word", "unit");
    fixture_refused(l, "bpe learn merges=10001", "at most 10000 merges");
    fixture_refused(l, "bpe to", "which merge");
    fixture_refused(l, "bpe to 10001", "10000");
    fixture_refused(l, "bpe run 0", "above 0");
    fixture_refused(l, "bpe sideways", "bpe back [N]");
    fixture_refused(l, "bpe back 0", "from 1");
    Snapshot *s = lab_snapshot(l);
    assert_int_equal(number(s, "bpe", 0, "merges"), 3);
    assert_string_equal(text(s, "bpe", 0, "corpus"), path);
    snapshot_unref(s);
    lab_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_pair_is_that_of_the_notes),     cmocka_unit_test(the_three_way_tie_at_six),
        cmocka_unit_test(growth_is_that_of_the_merges),           cmocka_unit_test(two_steps_at_once_are_two),
        cmocka_unit_test(back_and_forward_is_the_same),           cmocka_unit_test(it_runs_to_the_last_pair),
        cmocka_unit_test(tables_are_those_of_the_experiments),    cmocka_unit_test(a_model_cuts_by_its_own),
        cmocka_unit_test(a_partial_character_shows_as_its_bytes), cmocka_unit_test(it_sleeps_until_somebody_looks),
        cmocka_unit_test(refusals_leave_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
