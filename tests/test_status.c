#include "expect.h"

#include "mem.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

static void codes_are_exit_codes(void **state) {
    (void)state;
    assert_status(status_ok(), 0, "");
    assert_status(status_failed("a %d", 1), 1, "a 1");
    assert_status(status_usage("b %s", "c"), 2, "b c");
    assert_status(status_cancelled(), 3, "cancelled");
}

static int steps;

static Status step(Status s) {
    steps++;
    return s;
}

static Status two_steps(Status first) {
    STATUS_TRY(step(first));
    STATUS_TRY(step(status_ok()));
    return status_ok();
}

static void try_returns_at_the_first_failure(void **state) {
    (void)state;
    steps = 0;
    assert_ok(two_steps(status_ok()));
    assert_int_equal(steps, 2);
    steps = 0;
    assert_status(two_steps(status_failed("no")), STATUS_FAILED, "no");
    assert_int_equal(steps, 1);
}

static void a_sentence_is_one_harmless_line(void **state) {
    (void)state;
    assert_status(status_usage("no '%s'\nhere", "\x1b[2J\xff"), STATUS_USAGE, "no '\xe2\x90\x9b[2J<ff>' here");
}

/* Every length around the limit, with characters of every size at the cut. */
static void a_long_sentence_is_cut_at_a_character(void **state) {
    (void)state;
    static const char *const character[] = {"x", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80"};
    char text[1300];
    Status s;
    for (size_t bytes = 1; bytes <= 4; bytes++)
        for (size_t lead = 0; lead < 8; lead++) {
            size_t len = 0;
            while (len < lead) text[len++] = 'a';
            while (len + bytes <= 1200) {
                memcpy(text + len, character[bytes - 1], bytes);
                len += bytes;
            }
            text[len] = '\0';
            s = status_failed("%s", text);
            size_t cut = strlen(s.text) - 3;
            assert_true(cut + 4 <= sizeof s.text && cut + 4 + bytes > sizeof s.text);
            assert_true(utf8_valid(s.text, strlen(s.text), NULL));
            assert_memory_equal(s.text, text, cut);
            assert_string_equal(s.text + cut, "\xe2\x80\xa6");
        }
}

static void the_longest_sentence_is_kept(void **state) {
    (void)state;
    char text[600];
    memset(text, 'a', sizeof text);
    text[499] = '\0';
    assert_status(status_failed("%s", text), STATUS_FAILED, text);
    text[499] = 'a';
    text[500] = '\0';
    Status s = status_failed("%s", text);
    assert_int_equal(strlen(s.text), 499);
    assert_string_equal(s.text + 496, "\xe2\x80\xa6");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_exit_codes),
        cmocka_unit_test(try_returns_at_the_first_failure),
        cmocka_unit_test(a_sentence_is_one_harmless_line),
        cmocka_unit_test(a_long_sentence_is_cut_at_a_character),
        cmocka_unit_test(the_longest_sentence_is_kept),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
