/* Tampering with what is looked at: heads, windows, tokens; what is said of it, and taking it back. */
#include "lab_fixture.h"
#include "tiny_model.h"

#include "field.h"
#include "hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Brings AGAIN to where L is, by the lines that say so. */
static void replay_state(Lab *l, Lab *again) {
    Snapshot *s = lab_snapshot(l);
    const Table *lines = snapshot_table(s, "state");
    for (long i = 0; i < table_rows(lines); i++) fixture_do(again, table_text(lines, i, 0));
    snapshot_unref(s);
}

/* The token at place AT, and the last one unless LAST is -1. */
static void expect_ids(Lab *l, int at, int id, int last) {
    Snapshot *s = lab_snapshot(l);
    const Table *t = snapshot_table(s, "tokens");
    assert_int_equal(table_int(t, at, table_find(t, "id")), id);
    if (last >= 0) assert_int_equal(table_int(t, table_rows(t) - 1, table_find(t, "id")), last);
    snapshot_unref(s);
}

static uint64_t field_hash(const Snapshot *s, const char *name) {
    const Field *f = snapshot_field(s, "%s", name);
    assert_non_null(f);
    return hash_bytes(HASH_START, f->x, field_count(f) * sizeof *f->x);
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
    replay_state(l, again);
    snprintf(line, sizeof line, "%s", fixture_facts(l).tamper);
    assert_string_equal(fixture_facts(again).tamper, line);
    assert_string_equal(line, "token 2 is \xe2\x90\xa3, token 3 is \", token 9 is ', token 10 is \\");
    Snapshot *other = lab_snapshot(again);
    const Table *poke = snapshot_table(other, "poke");
    assert_string_equal(table_text(poke, 0, table_find(poke, "other")), "\xe2\x90\xa3");
    snapshot_unref(other);
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
    assert_string_equal(fixture_facts(l).message, "taken back: no window"); /* the second has nothing to say */
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

/* A vocabulary of others may have a token that reads like another one; its number does not. */
static void tokens_of_others_are_told_apart(void **state) {
    (void)state;
    const char *shared = getenv("LANTERN_SHARED");
    char line[500], want[500];
    if (!shared) skip();
    Lab *l = fixture_lab(NULL), *again = fixture_lab(NULL);
    snprintf(line, sizeof line, "open %s/data/stories260K/stories260K.bin %s/data/stories260K/tok512.bin", shared,
             shared);
    fixture_do(l, line);
    fixture_do(again, line);
    fixture_do(l, "prompt Once upon a time");
    fixture_do(l, "swap 2 e");
    expect_ids(l, 2, 344, -1);
    fixture_do(l, "swap 2 id=411");
    fixture_do(l, "force id=104"); /* the byte of the same letter */
    fixture_refused(l, "swap 2 id=512", "not one token");
    fixture_refused(l, "swap 2 id=-1", "not one token");
    fixture_do(l, "poke 1 id=412");
    replay_state(l, again);
    expect_ids(again, 2, 411, 104);
    snprintf(want, sizeof want, "%s", fixture_facts(l).tamper);
    assert_string_equal(fixture_facts(again).tamper, want);
    Snapshot *a = lab_snapshot(l), *b = lab_snapshot(again);
    assert_int_equal(field_hash(a, "poke.change"), field_hash(b, "poke.change"));
    snapshot_unref(a);
    snapshot_unref(b);
    lab_free(l);
    lab_free(again);
}

/* The first token of a vocabulary is one like all others. */
static void token_zero_may_be_poked(void **state) {
    (void)state;
    TinyModel t = tiny_model(TINY_GPT2);
    char line[100];
    Lab *l = fixture_lab(NULL);
    snprintf(line, sizeof line, "open %s", t.model);
    fixture_do(l, line);
    fixture_do(l, "prompt bed");
    fixture_do(l, "poke 2 a");
    Snapshot *s = lab_snapshot(l);
    const Table *poke = snapshot_table(s, "poke");
    assert_string_equal(table_text(poke, 0, table_find(poke, "other")), "a");
    snapshot_unref(s);
    lab_free(l);
    tiny_remove(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_swapped_and_forced),
        cmocka_unit_test(letters_are_swapped_and_kept),
        cmocka_unit_test(the_untouched_model_stands_beside),
        cmocka_unit_test(tampering_is_said_and_changes_no_parameter),
        cmocka_unit_test(a_word_may_be_poked),
        cmocka_unit_test(all_tampering_is_listed_and_taken_back),
        cmocka_unit_test(tokens_of_others_are_told_apart),
        cmocka_unit_test(token_zero_may_be_poked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
