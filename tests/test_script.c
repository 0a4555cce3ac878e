/* The script language itself, on an application without a laboratory. */
#include "expect.h"

#include "screen.h"
#include "script.h"

#include <string.h>

static Status play(const char *text, Str *screen) {
    App *a = screen_new(NULL);
    Status s = script_run_text("test", text, a, NULL, screen);
    app_free(a);
    return s;
}

static void scripts_that_hold(void **unused) {
    (void)unused;
    static const char *const scripts[] = {
        "",
        "# only a comment\n",
        "expect lantern\nrefuse whale",
        "key z\nrefuse 2 attention\nkey z\nexpect 2 attention",
        "keys 2z<Enter>\nexpect so far",
        ":theme light\nexpect-message theme light",
        "  resize 40 12  \nexpect train\n",
        "key e\npaste  and the owl\nexpect owl",
        "wheel down 2 2\nmouse 60 3\nexpect ▸2",
        "wait idle\nwait loaded\nwait job\nwait step 1000\n",
        "keys qq\nexpect-quit",
        ":quit now\nexpect-quit\n",
        "resize 3 2\nresize 300 100\nexpect laboratory",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        Str screen;
        str_init(&screen);
        Status s = play(scripts[i], &screen);
        if (!status_is_ok(&s)) fail_msg("%s\n%s", s.text, screen.s);
        str_done(&screen);
    }
}

static void scripts_that_do_not(void **unused) {
    (void)unused;
    static const struct {
        const char *script, *say;
    } rows[] = {
        {"# one\n\nexpect whale", "test:3: the screen does not hold: whale"},
        {"refuse lantern", "test:1: the screen holds: lantern"},
        {"expect-message whale", "test:1: the message does not hold: whale"},
        {"dance", "test:1: no such verb: dance"},
        {"resize 0 5", "test:1: needs a width"},
        {"resize", "needs a width"},
        {"mouse 3", "needs two numbers"},
        {"wheel left 1 1", "needs up or down"},
        {"wait for it", "not for: for it"},
        {"wait step 5000", "test:1: waits for what will never be: step 5000"},
        {"keys qq\nkey n", "test:2: the program ended before this line: key n"},
        {"expect-quit", "test:1: the program has not ended"},
        {"expect-file /no/such/file", "/no/such/file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Status s = play(rows[i].script, NULL);
        if (status_is_ok(&s) || !strstr(s.text, rows[i].say))
            fail_msg("'%s' says '%s', not '%s'", rows[i].script, s.text, rows[i].say);
    }
}

static void a_failure_shows_the_screen(void **unused) {
    (void)unused;
    Str screen;
    str_init(&screen);
    Status s = play("resize 100 30\nexpect whale", &screen);
    assert_false(status_is_ok(&s));
    assert_non_null(strstr(screen.s, "lantern"));
    str_done(&screen);
    s = script_run_file("/no/such.script", NULL, NULL, NULL);
    assert_int_equal(s.code, STATUS_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_that_hold),
        cmocka_unit_test(scripts_that_do_not),
        cmocka_unit_test(a_failure_shows_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
