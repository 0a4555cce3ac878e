/* cues: how a file is cut into cues, and what is refused; that what is refused leaves the cues that were there. */
#include "expect.h"

#include "cues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/lantern-test-XXXXXX";

static Status known(const char *line) {
    return strncmp(line, "pane ", 5) == 0 ? status_ok() : status_usage("there is no command '%s'", line);
}

static Status read_text(Cues *c, const char *text) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    return cues_read(c, path, known);
}

static void cues_are_separated_by_empty_lines(void **state) {
    (void)state;
    Cues c = {.at = -1};
    assert_ok(read_text(&c, "\n\n# the first\n#  of all\n pane train \r\npane mask\n\t\n\npane rope\n\n# only words"));
    assert_int_equal(c.count, 3);
    assert_int_equal(c.at, -1);
    assert_string_equal(c.cue[0].comment, "the first of all");
    assert_string_equal(c.cue[0].text, "pane train\npane mask\n");
    assert_string_equal(c.cue[1].text, "pane rope\n");
    assert_string_equal(c.cue[1].comment, "");
    assert_string_equal(c.cue[2].text, "");
    assert_string_equal(c.cue[2].comment, "only words");
    Status s = read_text(&c, "pane train\n\nplane\n");
    assert_int_equal(s.code, STATUS_USAGE);
    assert_non_null(strstr(s.text, "line 3: there is no command 'plane'"));
    assert_int_equal(c.count, 3); /* as before */
    s = read_text(&c, "\n \n");
    assert_non_null(strstr(s.text, "no cues"));
    s = cues_read(&c, "/nowhere/at all", known);
    assert_true(!status_is_ok(&s));
    assert_string_equal(c.path, path);
    cues_done(&c);
    assert_int_equal(c.count, 0);
}

/* As lines are typed, with the ':' or without; a '!' before one lets the cue drop a run. */
static void lines_may_have_marks(void **state) {
    (void)state;
    Cues c = {.at = -1};
    assert_ok(read_text(&c, ":pane train\n: pane mask\n\n!pane rope\n\npane bpe\n! : pane step\n\n:!pane lab"));
    assert_int_equal(c.count, 4);
    assert_string_equal(c.cue[0].text, "pane train\npane mask\n");
    assert_string_equal(c.cue[1].text, "pane rope\n");
    assert_string_equal(c.cue[2].text, "pane bpe\npane step\n");
    static const bool sure[] = {false, true, true, true};
    for (int i = 0; i < 4; i++) assert_int_equal(c.cue[i].sure, sure[i]);
    cues_done(&c);
}

static void cues_are_found(void **state) {
    (void)state;
    Cues c = {.at = -1};
    assert_ok(read_text(&c, "pane train\n\npane mask\n"));
    static const struct {
        int at;
        const char *word;
        int found;
    } rows[] = {{-1, "next", 0},     {0, "next", 1},       {1, "next", -1}, {1, "previous", 0},
                {0, "previous", -1}, {-1, "previous", -1}, {0, "1", 0},     {0, "2", 1},
                {0, "3", -1},        {0, "0", -1},         {0, "-1", -1},   {0, "first", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        c.at = rows[i].at;
        if (cues_find(&c, rows[i].word) != rows[i].found) fail_msg("'%s' at %d", rows[i].word, rows[i].at);
    }
    cues_done(&c);
}

static int make(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int drop(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cues_are_separated_by_empty_lines),
                                       cmocka_unit_test(lines_may_have_marks), cmocka_unit_test(cues_are_found)};
    return cmocka_run_group_tests(tests, make, drop);
}
