/* The live laboratory's sentence: the decoding clock, and many sentences at once. */
#include "lab_fixture.h"

#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void a_prompt_is_words_of_the_language(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.prompt_tokens, 6); /* <s> the dogs near the cat */
    assert_int_equal(f.position, 6);
    fixture_refused(l, "prompt the dogz near", "dogz");
    fixture_refused(l, "prompt the </s>", "no word for a prompt");
    assert_int_equal(fixture_facts(l).prompt_tokens, 6);
    fixture_do(l, "prompt \"the owl\"");
    f = fixture_facts(l);
    assert_int_equal(f.prompt_tokens, 3);
    assert_int_equal(f.position, 3);
    fixture_do(l, "prompt");
    assert_int_equal(fixture_facts(l).prompt_tokens, 1);
    char line[400] = "prompt";
    for (int i = 0; i < 32; i++) strcat(line, " the");
    fixture_refused(l, line, "33 tokens");
    lab_free(l);
}

static void tokens_go_forward_and_back(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "token back");
    assert_int_equal(fixture_facts(l).position, 5);
    fixture_do(l, "token back 31");
    assert_int_equal(fixture_facts(l).position, 1);
    fixture_refused(l, "token back", "<s>");
    fixture_do(l, "token to 6");
    assert_int_equal(fixture_facts(l).generated_tokens, 0);
    fixture_do(l, "token next 2");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.position, 8);
    assert_int_equal(f.generated_tokens, 2);
    fixture_do(l, "token back 2");
    fixture_do(l, "token next"); /* already known */
    f = fixture_facts(l);
    assert_int_equal(f.position, 7);
    assert_int_equal(f.generated_tokens, 2);
    fixture_do(l, "forget");
    f = fixture_facts(l);
    assert_int_equal(f.position, 6);
    assert_int_equal(f.generated_tokens, 0);
    fixture_refused(l, "token to", "token to N");
    fixture_refused(l, "token sideways", "token next");
    lab_free(l);
}

/* Text of the tokens known. */
static void known_text(Lab *l, char *out) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "tokens");
    out[0] = '\0';
    for (long i = 0; i < table_rows(t); i++) {
        strcat(out, table_text(t, i, table_find(t, "token")));
        strcat(out, " ");
    }
    snapshot_unref(s);
}

static void what_is_shown_is_what_the_model_says(void **state) {
    (void)state;
    char before[600], after[600], fresh[600];
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "decode run");
    known_text(l, before);
    SnapshotFacts f = fixture_facts(l);
    assert_true(f.ended || f.position == f.context);
    assert_false(f.decode_running);
    fixture_do(l, "run"); /* the model learns: other tokens */
    known_text(l, after);
    assert_string_not_equal(before, after);
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, fresh);
    assert_int_equal(strncmp(fresh, after, strlen(after) < strlen(fresh) ? strlen(after) : strlen(fresh)), 0);
    assert_true(fixture_facts(l).ended);
    fixture_refused(l, "token next", "ended");
    fixture_refused(l, "decode run", "ended");
    lab_free(l);
}

/* A prompt that comes after training is not answered by the model of before. */
static void a_new_prompt_asks_the_new_model(void **state) {
    (void)state;
    char late[600], early[600];
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "token next");
    fixture_do(l, "run");
    fixture_do(l, "prompt the owl");
    fixture_do(l, "decode run");
    known_text(l, late);
    lab_free(l);
    l = fixture_lab("prompt=the");
    fixture_do(l, "run");
    fixture_do(l, "watch tokens");
    snapshot_unref(lab_snapshot(l));
    fixture_do(l, "prompt the owl");
    snapshot_unref(lab_snapshot(l));
    fixture_do(l, "decode run");
    known_text(l, early);
    assert_string_equal(late, early);
    lab_free(l);
}

static void sampling_is_the_same_each_time(void **state) {
    (void)state;
    char first[600], second[600], greedy[600], other[600];
    Lab *l = fixture_lab("epochs=1");
    fixture_do(l, "run");
    fixture_do(l, "decode run");
    known_text(l, greedy);
    fixture_do(l, "filter tau=1.5 top_k=20");
    known_text(l, first);
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, second);
    assert_int_equal(strncmp(first, second, strlen(first) < strlen(second) ? strlen(first) : strlen(second)), 0);
    assert_string_not_equal(second, greedy);
    SnapshotFacts f = fixture_facts(l);
    assert_true(f.sampling && f.tau > 1.49 && f.top_k == 20 && !f.tau_last);
    fixture_do(l, "filter top_k=1");
    fixture_do(l, "forget");
    fixture_do(l, "decode run");
    known_text(l, other);
    assert_string_equal(other, greedy);
    fixture_refused(l, "filter tau=-1", "tau");
    fixture_refused(l, "filter top=1", "top");
    lab_free(l);
}

static Table *table_of(Lab *l, const char *name) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, name);
    Table *copy = t ? table_copy(t) : NULL;
    snapshot_unref(s);
    return copy;
}

static void expect_cell(const Table *t, long row, const char *column, const char *value) {
    Str s;
    str_init(&s);
    table_cell(t, row, table_find(t, column), &s);
    assert_string_equal(s.s, value);
    str_done(&s);
}

/* Ten steps of training go by while they are drawn: they are of the model of the moment when it began. */
static void many_sentences_are_of_one_moment(void **state) {
    (void)state;
    Lab *l = fixture_lab("epochs=1 prompt=the");
    fixture_do(l, "until 20");
    assert_null(table_of(l, "sampling"));
    fixture_do(l, "sampling 100");
    Table *still = table_of(l, "samples"), *run = table_of(l, "sampling"), *worth = table_of(l, "worth");
    assert_int_equal(table_rows(still), 100);
    expect_cell(run, 0, "state", "done");
    expect_cell(run, 0, "taken", "100");
    expect_cell(run, 0, "step", "20");
    expect_cell(run, 0, "prompt", "the");
    expect_cell(worth, 1, "of", "truth");
    expect_cell(worth, 1, "sentences", "100");
    expect_cell(worth, 1, "possible", "1");
    assert_ok(lab_do(l, "step 10"));
    assert_ok(lab_do(l, "sampling 100"));
    fixture_finish(l);
    Table *moving = table_of(l, "samples");
    assert_int_equal(fixture_facts(l).step, 30);
    for (long i = 0; i < 100; i++)
        assert_string_equal(table_text(still, i, table_find(still, "text")),
                            table_text(moving, i, table_find(moving, "text")));
    fixture_do(l, "filter seed=7");
    assert_int_equal(fixture_facts(l).draw_seed, 7);
    table_free(still);
    table_free(moving);
    table_free(run);
    table_free(worth);
    lab_free(l);
}

static void many_sentences_can_be_stopped(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_refused(l, "sampling 0", "1 to 1000000");
    fixture_refused(l, "sampling stop", "no sentences");
    assert_ok(lab_do(l, "sampling 1000000"));
    assert_true(lab_busy(l));
    lab_turn(l);
    assert_ok(lab_do(l, "sampling stop"));
    assert_false(lab_busy(l));
    Table *run = table_of(l, "sampling");
    expect_cell(run, 0, "state", "stopped");
    table_free(run);
    fixture_do(l, "restart seed=2"); /* the vocabulary goes, and with it what was drawn */
    run = table_of(l, "sampling");
    assert_null(run);
    lab_free(l);
}

static void the_decoding_clock_keeps_its_pace(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    lab_set_paced(l, true);
    clock_freeze(100);
    assert_ok(lab_do(l, "decode run 2"));
    assert_true(lab_busy(l));
    assert_true(lab_turn(l));
    assert_int_equal(fixture_facts(l).position, 7);
    assert_false(lab_turn(l));
    assert_true(lab_wait(l) > 0.49 && lab_wait(l) < 0.51);
    clock_freeze(100.5);
    assert_true(lab_turn(l));
    assert_int_equal(fixture_facts(l).position, 8);
    assert_ok(lab_do(l, "decode pause"));
    assert_true(isinf(lab_wait(l)));
    clock_freeze(-1);
    fixture_refused(l, "decode run 0", "tokens per second");
    fixture_refused(l, "decode backwards", "decode run");
    lab_free(l);
}

static bool has_line(Lab *l, const char *line) {
    Snapshot *s = lab_snapshot(l);
    const Table *lines = snapshot_table(s, "state");
    bool has = false;
    for (long i = 0; i < table_rows(lines); i++) has = has || strcmp(table_text(lines, i, 0), line) == 0;
    snapshot_unref(s);
    return has;
}

/* A search of the truth is taken along to another run where there is a truth, and to no other. */
static void a_beam_of_the_truth_needs_one(void **state) {
    (void)state;
    static const char of_truth[] = "beam width=4 length_norm=0 of=truth";
    Lab *l = fixture_lab(NULL);
    assert_false(has_line(l, of_truth));
    fixture_do(l, "beam of=truth");
    assert_true(has_line(l, of_truth));
    fixture_do(l, "restart seed=2");
    assert_true(has_line(l, of_truth));
    fixture_do(l, "restart tokens=char");
    assert_false(has_line(l, of_truth));
    fixture_refused(l, "beam of=truth", "no grammar");
    fixture_do(l, "restart tokens=word");
    assert_false(has_line(l, of_truth));
    lab_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_words_of_the_language),    cmocka_unit_test(tokens_go_forward_and_back),
        cmocka_unit_test(what_is_shown_is_what_the_model_says), cmocka_unit_test(a_new_prompt_asks_the_new_model),
        cmocka_unit_test(sampling_is_the_same_each_time),       cmocka_unit_test(many_sentences_are_of_one_moment),
        cmocka_unit_test(many_sentences_can_be_stopped),        cmocka_unit_test(the_decoding_clock_keeps_its_pace),
        cmocka_unit_test(a_beam_of_the_truth_needs_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
