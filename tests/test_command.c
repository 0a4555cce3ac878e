/* Splitting command lines, finding rows, and what is said of wrong ones. */
#include "expect.h"

#include "command.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    int runs;
    char got[64];
} Owner;

static Status note(void *owner, const Words *w) {
    Owner *o = owner;
    o->runs++;
    snprintf(o->got, sizeof o->got, "%s", w->count > 1 ? w->rest[1] : "");
    return status_ok();
}

static Status refuse(void *owner, const Words *w) {
    (void)owner;
    return status_failed("%s is not to be had", w->word[0]);
}

static const Command table[] = {
    {"step", "[N]", "steps forward", 0, 1, note},
    {"stop", "", "stops", 0, 0, refuse},
    {"prompt", "TEXT", "sets the prompt", 1, -1, note},
    {"set", "NAME VALUE", "sets a value", 2, 2, note},
    {"settle", "", "settles", 0, 0, note},
    {0},
};

static void expect_says(Status s, const char *part) {
    assert_int_not_equal(s.code, STATUS_OK);
    if (!strstr(s.text, part)) fail_msg("'%s' does not say '%s'", s.text, part);
}

static void splits_at_blanks(void **state) {
    (void)state;
    Words w;
    Status s = command_split("  prompt \t the  dog ", &w);
    assert_true(status_is_ok(&s));
    assert_int_equal(w.count, 3);
    assert_string_equal(w.word[0], "prompt");
    assert_string_equal(w.word[2], "dog");
    assert_string_equal(w.rest[1], "the  dog");
    s = command_split("   ", &w);
    assert_true(status_is_ok(&s));
    assert_int_equal(w.count, 0);
}

static void quotes_keep_blanks(void **state) {
    (void)state;
    Words w;
    Status s = command_split("save \"a b\" c\" d\"e \"\" \"q\\\"\\\\\"", &w);
    assert_true(status_is_ok(&s));
    assert_int_equal(w.count, 5);
    assert_string_equal(w.word[1], "a b");
    assert_string_equal(w.word[2], "c de");
    assert_string_equal(w.word[3], "");
    assert_string_equal(w.word[4], "q\"\\");
    expect_says(command_split("save \"a b", &w), "not closed");
    s = command_split("experiment 'a b' text='the \"dog' don't 'tis it x", &w); /* apostrophes are none */
    assert_true(status_is_ok(&s));
    assert_int_equal(w.count, 7);
    assert_string_equal(w.word[1], "a b");
    assert_string_equal(w.word[2], "text=the \"dog");
    assert_string_equal(w.word[3], "don't");
    assert_string_equal(w.word[4], "'tis");
    assert_string_equal(w.word[5], "it");
}

static void bounds_are_sentences(void **state) {
    (void)state;
    Words w;
    char line[COMMAND_BYTES + 1];
    memset(line, 'x', COMMAND_BYTES);
    line[COMMAND_BYTES] = '\0';
    expect_says(command_split(line, &w), "4095 bytes");
    line[COMMAND_BYTES - 1] = '\0';
    Status s = command_split(line, &w);
    assert_true(status_is_ok(&s));
    for (int i = 0; i <= COMMAND_WORDS; i++) memcpy(line + 2 * i, "w ", 3);
    expect_says(command_split(line, &w), "1024 words");
    line[2 * COMMAND_WORDS] = '\0';
    s = command_split(line, &w);
    assert_true(status_is_ok(&s));
    assert_int_equal(w.count, COMMAND_WORDS);
}

static void a_unique_beginning_will_do(void **state) {
    (void)state;
    Owner o = {0};
    bool found;
    Status s = command_run(table, &o, "pro the dog", &found);
    assert_true(status_is_ok(&s) && found);
    assert_string_equal(o.got, "the dog");
    s = command_run(table, &o, "set lr 1", &found); /* a whole name wins over one that it begins */
    assert_true(status_is_ok(&s) && found);
    assert_int_equal(o.runs, 2);
    expect_says(command_run(table, &o, "st", &found), "step, stop");
    assert_true(found);
    assert_string_equal(command_find(table, "settl")->name, "settle");
    assert_null(command_find(table, "s"));
    assert_null(command_find(table, "nothing"));
}

static void the_number_of_arguments_is_checked(void **state) {
    (void)state;
    Owner o = {0};
    bool found;
    expect_says(command_run(table, &o, "prompt", &found), "prompt TEXT");
    assert_true(found);
    expect_says(command_run(table, &o, "set lr", &found), "set NAME VALUE");
    expect_says(command_run(table, &o, "step 1 2", &found), "step [N]");
    expect_says(command_run(table, &o, "stop now", &found), "no argument");
    assert_int_equal(o.runs, 0);
}

static void unknown_names_get_a_suggestion(void **state) {
    (void)state;
    Owner o = {0};
    bool found;
    expect_says(command_run(table, &o, "promt the", &found), "did you mean 'prompt'");
    assert_false(found);
    expect_says(command_run(table, &o, "xyzzy", &found), "settle");
    assert_false(found);
    assert_int_equal(o.runs, 0);
}

static void the_answer_of_the_command_comes_back(void **state) {
    (void)state;
    bool found;
    expect_says(command_run(table, NULL, "stop", &found), "stop is not to be had");
    assert_true(found);
    Status s = command_run(table, NULL, " \t", &found);
    assert_true(status_is_ok(&s) && found);
}

static void one_of_two_words(void **state) {
    (void)state;
    Words w;
    bool linear = false, on = true;
    assert_ok(command_split("axis", &w));
    assert_ok(command_choose(&w, "log", "linear", &linear));
    assert_true(linear);
    assert_ok(command_split("axis linear", &w));
    assert_ok(command_choose(&w, "log", "linear", &linear));
    assert_true(linear);
    assert_ok(command_split("axis log", &w));
    assert_ok(command_choose(&w, "log", "linear", &linear));
    assert_false(linear);
    assert_ok(command_split("axis polar", &w));
    assert_status(command_choose(&w, "log", "linear", &linear), STATUS_USAGE, "axis is log or linear, not polar");
    assert_false(linear);
    assert_ok(command_split("mouse", &w));
    assert_ok(command_switch(&w, &on));
    assert_false(on);
    assert_ok(command_split("mouse on", &w));
    assert_ok(command_switch(&w, &on));
    assert_true(on);
    assert_ok(command_split("mouse maybe", &w));
    assert_status(command_switch(&w, &on), STATUS_USAGE, "mouse is on or off, not maybe");
    assert_true(on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_at_blanks),
        cmocka_unit_test(quotes_keep_blanks),
        cmocka_unit_test(bounds_are_sentences),
        cmocka_unit_test(a_unique_beginning_will_do),
        cmocka_unit_test(the_number_of_arguments_is_checked),
        cmocka_unit_test(unknown_names_get_a_suggestion),
        cmocka_unit_test(the_answer_of_the_command_comes_back),
        cmocka_unit_test(one_of_two_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
