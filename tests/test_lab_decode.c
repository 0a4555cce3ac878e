/* The live laboratory's sentence: the decoding clock, many sentences at once, and what is tampered with. */
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

/* Tampering. */

static void expect_sentence(Lab *l, const char *want) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "tokens");
    Str text;
    str_init(&text);
    for (long i = 0; i < table_rows(t); i++)
        str_addf(&text, "%s%s", i ? " " : "", table_text(t, i, table_find(t, "token")));
    assert_string_equal(text.s, want);
    str_done(&text);
    snapshot_unref(s);
}

static double model_p(Lab *l, const char *word) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "next");
    double p = -1;
    for (long i = 0; i < table_rows(t); i++)
        if (!strcmp(table_text(t, i, table_find(t, "token")), word)) p = table_real(t, i, table_find(t, "model_p"));
    snapshot_unref(s);
    return p;
}

/* Another word in the prompt is seen like one that was typed; what is generated follows it, and goes when it goes. */
static void words_are_swapped_and_forced(void **state) {
    (void)state;
    Lab *l = fixture_lab("prompt=");
    fixture_do(l, "until 20");
    fixture_do(l, "prompt the owls near the cat");
    double owls = model_p(l, "chases");
    fixture_do(l, "prompt the dogs near the cat");
    double dogs = model_p(l, "chases");
    assert_true(fabs(owls - dogs) > 1e-9);
    fixture_do(l, "swap 2 owls");
    assert_string_equal(fixture_facts(l).tamper, "token 2 is owls");
    expect_sentence(l, "<s> the owls near the cat");
    assert_true(fabs(model_p(l, "chases") - owls) < 1e-12);
    fixture_do(l, "swap 2 back");
    assert_string_equal(fixture_facts(l).tamper, "");
    assert_true(fabs(model_p(l, "chases") - dogs) < 1e-12);
    fixture_do(l, "force bones");
    expect_sentence(l, "<s> the dogs near the cat bones");
    assert_int_equal(fixture_facts(l).position, 7);
    fixture_do(l, "token next");
    fixture_do(l, "swap 6 eat");
    assert_string_equal(fixture_facts(l).tamper, "token 6 is eat");
    assert_int_equal(fixture_facts(l).generated_tokens, 2);
    fixture_do(l, "swap 1 every");
    assert_string_equal(fixture_facts(l).tamper, "token 1 is every, token 6 is eat");
    fixture_do(l, "swap all back");
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "forget");
    fixture_do(l, "force </s>");
    assert_true(fixture_facts(l).ended);
    fixture_refused(l, "force eat", "the sentence has ended");
    fixture_refused(l, "swap 1 whale", "unknown words: 'whale'");
    fixture_refused(l, "swap 0 the", "a position");
    fixture_refused(l, "swap 9 the", "from 1 to 6");
    fixture_refused(l, "swap 2 </s>", "ends a sentence");
    fixture_do(l, "prompt the dog");
    assert_string_equal(fixture_facts(l).tamper, ""); /* a new prompt is the prompt */
    lab_free(l);
}

/* The lines that bring a fresh run there do so, though its tokens are blanks and quotes. */
static void letters_are_swapped_and_kept(void **state) {
    (void)state;
    char text[] = "/tmp/lantern-letters-XXXXXX", pairs[200], line[300];
    int fd = mkstemp(text);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    for (int i = 0; i < 60; i++) fputs("\"the owl's\" \\ end \n", f);
    assert_int_equal(fclose(f), 0);
    snprintf(pairs, sizeof pairs, "corpus=%s tokens=char epochs=1", text);
    Lab *l = fixture_lab(pairs), *again = fixture_lab(pairs);
    fixture_do(l, "prompt \"the owl \"");
    fixture_do(l, "swap 2 \" \"");
    fixture_do(l, "force '");
    fixture_do(l, "force \\");
    fixture_do(l, "swap 3 \"\\\"\"");
    fixture_do(l, "poke 3 \" \"");
    Snapshot *s = lab_snapshot(l);
    const Table *lines = snapshot_table(s, "state");
    for (long i = 0; i < table_rows(lines); i++) fixture_do(again, table_text(lines, i, 0));
    snprintf(line, sizeof line, "%s", fixture_facts(l).tamper);
    assert_string_equal(fixture_facts(again).tamper, line);
    assert_string_equal(line, "token 2 is \xe2\x90\xa3, token 3 is \", token 9 is ', token 10 is \\");
    Snapshot *other = lab_snapshot(again);
    const Table *poke = snapshot_table(other, "poke");
    assert_string_equal(table_text(poke, 0, table_find(poke, "other")), "\xe2\x90\xa3");
    snapshot_unref(other);
    snapshot_unref(s);
    lab_free(l);
    lab_free(again);
    remove(text);
}

/* While something is tampered with, what the model would say without it stands beside. */
static void the_untouched_model_stands_beside(void **state) {
    (void)state;
    Lab *l = fixture_lab("prompt=");
    fixture_do(l, "until 20");
    fixture_do(l, "prompt the dogs near the cat");
    Snapshot *s = lab_snapshot(l);
    assert_null(snapshot_table(s, "untouched"));
    const Table *next = snapshot_table(s, "next");
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "swap 2 owls");
    Snapshot *tampered = lab_snapshot(l);
    const Table *t = snapshot_table(tampered, "untouched"), *other = snapshot_table(tampered, "next");
    assert_non_null(t);
    double far = 0;
    for (long i = 0; i < table_rows(next); i++) {
        long id = (long)table_int(next, i, table_find(next, "id"));
        double p = table_real(next, i, table_find(next, "model_p"));
        assert_int_equal(table_int(t, id, table_find(t, "id")), id);
        assert_true(fabs(table_real(t, id, table_find(t, "model_p")) - p) < 1e-6);
        for (long k = 0; k < table_rows(other); k++)
            if (table_int(other, k, table_find(other, "id")) == id)
                far = fmax(far, fabs(table_real(other, k, table_find(other, "model_p")) - p));
    }
    assert_true(far > 1e-4); /* tampering does something */
    snapshot_unref(tampered);
    snapshot_unref(s);
    lab_free(l);
}

static void tampering_is_said_and_changes_no_parameter(void **state) {
    (void)state;
    uint64_t hash[FIXTURE_STEPS + 1];
    fixture_straight(hash);
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "head 2 1 off");
    fixture_do(l, "window 2");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.tamper, "layer 2 head 1 off, window 2");
    assert_int_equal(f.probe_window, 2);
    fixture_do(l, "run");
    assert_true(lab_hash(l) == hash[FIXTURE_STEPS]);
    Snapshot *s = lab_snapshot(l);
    const Field *off = snapshot_field(s, "attention.head_off"), *w = snapshot_field(s, "attention.%d.weights", 0);
    assert_true(field_at(off, 1, 0, 0, 0) > 0 && !(field_at(off, 0, 0, 0, 0) > 0));
    assert_true(field_at(w, 0, 5, 5, 0) > 0 && !(field_at(w, 0, 5, 3, 0) > 0));
    const Field *mix = snapshot_field(s, "attention.%d.mix", 1);
    for (int i = 0; i < mix->dim[1] * mix->dim[2]; i++) assert_true(fabs((double)mix->x[i]) <= 0);
    snapshot_unref(s);
    fixture_do(l, "head 2 1 toggle");
    fixture_do(l, "window model");
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "window none"); /* it has none */
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "set window 3");
    fixture_do(l, "window none");
    assert_string_equal(fixture_facts(l).tamper, "no window");
    fixture_do(l, "head 1 2 off");
    fixture_do(l, "head all on");
    assert_string_equal(fixture_facts(l).tamper, "no window");
    fixture_do(l, "undo");
    assert_string_equal(fixture_facts(l).tamper, "");
    fixture_do(l, "undo");
    assert_string_equal(fixture_facts(l).message, "nothing is done to what is looked at");
    fixture_refused(l, "head 3 1 off", "a layer must be a whole number from 1 to 2");
    fixture_refused(l, "head 1 0 off", "a head");
    fixture_refused(l, "head 1 1 away", "toggle");
    lab_free(l);
}

static const char *poked(Lab *l) {
    static char text[64];
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "poke"), *lines = snapshot_table(s, "state");
    snprintf(text, sizeof text, "%lld %s", table_int(t, 0, table_find(t, "position")),
             table_text(t, 0, table_find(t, "other")));
    for (long i = 0; i < table_rows(lines); i++)
        if (strncmp(table_text(lines, i, 0), "poke", 4) == 0)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", %s", table_text(lines, i, 0));
    snapshot_unref(s);
    return text;
}

static void a_word_may_be_poked(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    assert_int_equal(strncmp(poked(l), "1 ", 2), 0);
    assert_null(strchr(poked(l), ',')); /* as at first: no line brings it back */
    fixture_do(l, "poke 3");
    assert_int_equal(strncmp(poked(l), "3 ", 2), 0);
    assert_non_null(strstr(poked(l), ", poke 3"));
    fixture_do(l, "poke 2 cat");
    assert_string_equal(poked(l), "2 cat, poke 2 cat");
    fixture_refused(l, "poke 2 zebra", "no word 'zebra'");
    fixture_refused(l, "poke 0", "from 1 to 31");
    fixture_refused(l, "poke cat", "whole number");
    assert_string_equal(poked(l), "2 cat, poke 2 cat");
    fixture_do(l, "restart seed=2");
    assert_int_equal(strncmp(poked(l), "1 ", 2), 0);
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

/* Each by itself with the command of its row; all with one; their number where the text has no room. */
static void all_tampering_is_listed_and_taken_back(void **state) {
    (void)state;
    Lab *l = fixture_lab("prompt=");
    fixture_do(l, "prompt the dogs near the cat");
    fixture_do(l, "head 1 2 off");
    fixture_do(l, "window 2");
    fixture_do(l, "swap 2 owls");
    fixture_do(l, "force eat");
    static const char *const rows[][2] = {{"layer 1 head 2 off", "head 1 2 on"},
                                          {"window 2", "window model"},
                                          {"token 2 is owls", "swap 2 back"},
                                          {"token 6 is eat", "swap 6 back"}};
    for (int left = 4; left >= 0; left--) {
        Snapshot *s = lab_snapshot(l);
        const Table *t = snapshot_table(s, "tampering");
        assert_int_equal(table_rows(t), left);
        for (int i = 0; i < left; i++) {
            assert_string_equal(table_text(t, i, 0), rows[i][0]);
            assert_string_equal(table_text(t, i, 1), rows[i][1]);
        }
        snapshot_unref(s);
        if (left > 0) fixture_do(l, rows[left - 1][1]);
    }
    for (int i = 1; i <= 5; i++) {
        char line[40];
        (void)snprintf(line, sizeof line, "swap %d every", i);
        fixture_do(l, line);
    }
    for (int i = 0; i < 4; i++) {
        static const char *const lines[] = {"head 1 1 off", "head 1 2 off", "head 2 1 off", "head 2 2 off"};
        fixture_do(l, lines[i]);
    }
    assert_string_equal(fixture_facts(l).tamper, "9 interventions");
    fixture_do(l, "undo");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.tamper, "");
    assert_non_null(strstr(f.message, "9 interventions"));
    fixture_do(l, "forget");
    expect_sentence(l, "<s> the dogs near the cat");
    lab_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_words_of_the_language),
        cmocka_unit_test(tokens_go_forward_and_back),
        cmocka_unit_test(what_is_shown_is_what_the_model_says),
        cmocka_unit_test(a_new_prompt_asks_the_new_model),
        cmocka_unit_test(sampling_is_the_same_each_time),
        cmocka_unit_test(many_sentences_are_of_one_moment),
        cmocka_unit_test(many_sentences_can_be_stopped),
        cmocka_unit_test(the_decoding_clock_keeps_its_pace),
        cmocka_unit_test(words_are_swapped_and_forced),
        cmocka_unit_test(letters_are_swapped_and_kept),
        cmocka_unit_test(the_untouched_model_stands_beside),
        cmocka_unit_test(tampering_is_said_and_changes_no_parameter),
        cmocka_unit_test(all_tampering_is_listed_and_taken_back),
        cmocka_unit_test(a_word_may_be_poked),
        cmocka_unit_test(a_beam_of_the_truth_needs_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
