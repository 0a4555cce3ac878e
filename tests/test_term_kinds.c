/* Terminals of all kinds: which can be used, how many colours they have, which signs. */
#include "expect.h"

#include "term_stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const PtyOptions plain;

static void assert_refused(const char *term, const char *sentence) {
    Pty *p = pty_call(&(PtyOptions){.w = 200, .h = 10, .term = term}, term_stage_run, NULL);
    assert_int_equal(pty_expect_exit(p), STATUS_USAGE);
    pty_expect_line(p, 0, sentence);
    assert_false(pty_alternate(p));
    pty_free(p);
}

static void what_cannot_be_used_is_refused(void **state) {
    (void)state;
    term_stage_new();
    assert_refused("", "TERM is not set; it names the kind of terminal, for example TERM=xterm-256color");
    assert_refused("nosuch", "the terminal TERM=nosuch is not known here; TERM=xterm-256color fits most");
    assert_refused("dumb", "the terminal TERM=dumb cannot move its cursor, so no picture can be drawn");
    term_stage->options.depth = DEPTH_TRUE;
    assert_refused("screen-256color",
                   "GNU screen (TERM=screen-256color) garbles true colour; allowed: 256 colours and less");
    term_stage->options.depth = DEPTH_256;
    assert_refused(
        "vt100",
        "TERM=vt100 has no such colours, and vt100-256color is not known here; leave the colours to be found out");
    term_stage->options.depth = -1;
    term_stage->options.utf8 = false;
    term_stage->options.glyphs = GLYPHS_BRAILLE;
    assert_refused("xterm", "these glyphs need a UTF-8 locale, for example LANG=C.UTF-8; allowed without one: ascii");
    term_stage_free();
}

static int open_without_terminal(void *user) {
    (void)user;
    Term *t;
    int saved = dup(1), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    Status s = term_curses_open(&term_stage->options, &t);
    dup2(saved, 1);
    printf("%s\n", s.text);
    return s.code;
}

static void no_terminal_no_screen(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = pty_call(&plain, open_without_terminal, NULL);
    assert_int_equal(pty_expect_exit(p), STATUS_USAGE);
    pty_expect_line(p, 0, "the screen needs a terminal: standard input or output is none");
    pty_free(p);
    term_stage_free();
}

static void assert_depth(const char *term, const char *const *env, Depth want) {
    Pty *p = term_stage_open(&(PtyOptions){.term = term, .env = env});
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 1, "model truth plain");
    assert_int_equal(term_stage->style.depth, want);
    int fg = pty_cell(p, 0, 1).fg;
    StyleSheet s = term_stage->style;
    assert_int_equal(fg, style_role(&s, STYLE_MODEL, 0).fg);
    pty_type(p, "q");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_free(p);
}

static void the_depth_is_found_out(void **state) {
    (void)state;
    static const char *const no_color[] = {"NO_COLOR=1", NULL}, *const empty[] = {"NO_COLOR=", NULL};
    static const char *const true_color[] = {"COLORTERM=truecolor", NULL};
    term_stage_new();
    assert_depth("xterm-256color", NULL, DEPTH_256);
    assert_depth("tmux-256color", NULL, DEPTH_256);
    assert_depth("xterm-256color", no_color, DEPTH_MONO);
    assert_depth("xterm-256color", empty, DEPTH_256);
    assert_depth("xterm-256color", true_color, DEPTH_256); /* only when asked for */
    assert_depth("xterm", NULL, DEPTH_8);
    assert_depth("linux", NULL, DEPTH_8);
    assert_depth("vt100", NULL, DEPTH_MONO);
    term_stage->options.depth = DEPTH_256;
    assert_depth("xterm", no_color, DEPTH_256); /* what is asked for beats the environment */
    term_stage->options.depth = DEPTH_MONO;
    assert_depth("xterm-256color", NULL, DEPTH_MONO);
    term_stage->options.depth = DEPTH_8;
    assert_depth("xterm-256color", NULL, DEPTH_8);
    term_stage_free();
}

static void without_utf8_all_is_ascii(void **state) {
    (void)state;
    term_stage_new();
    term_stage->options.utf8 = false;
    term_stage->locale = "C";
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 2,
                    "????|e|"
                    "|");
    for (size_t i = 0; i < pty_bytes(p)->len; i++) assert_in_range((unsigned char)pty_bytes(p)->s[i], 1, 0x7F);
    term_stage_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_used_is_refused),
        cmocka_unit_test(no_terminal_no_screen),
        cmocka_unit_test(the_depth_is_found_out),
        cmocka_unit_test(without_utf8_all_is_ascii),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
