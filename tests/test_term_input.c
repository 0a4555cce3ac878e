/* What is typed into the real terminal, and what it answers. */
#include "expect.h"

#include "term_stage.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const PtyOptions plain;

static int events;

static void assert_event(Pty *p, const char *bytes, const char *want) {
    char line[200];
    pty_type(p, bytes);
    snprintf(line, sizeof line, "#%d %s", ++events, want);
    pty_expect_line(p, 0, line);
}

/* A stage whose terminal is there; ASK_GROUND: its ground is asked for. */
static Pty *open_ready(const PtyOptions *o, bool ask_ground) {
    term_stage_new();
    events = 0;
    term_stage->options.ask_ground = ask_ground;
    Pty *p = term_stage_open(o);
    pty_expect_line(p, 0, "ready");
    return p;
}

static void keys_of_all_terminals(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *name;
    } keys[] = {
        {"a", "a"},
        {"\xE4\xB8\xAD", "\xE4\xB8\xAD"},
        {"\r", "<Enter>"},
        {"\t", "<Tab>"},
        {"\x7F", "<Backspace>"},
        {"\033", "<Esc>"},
        {"\x03", "<C-c>"},
        {"\x1A", "<C-z>"},
        {"\x13", "<C-s>"},
        {"\x16", "<C-v>"},
        {"\x0F", "<C-o>"},
        {"\033[A", "<Up>"},
        {"\033OA", "<Up>"},
        {"\033[B", "<Down>"},
        {"\033OB", "<Down>"},
        {"\033[C", "<Right>"},
        {"\033OC", "<Right>"},
        {"\033[D", "<Left>"},
        {"\033OD", "<Left>"},
        {"\033[H", "<Home>"},
        {"\033OH", "<Home>"},
        {"\033[1~", "<Home>"},
        {"\033[7~", "<Home>"},
        {"\033[F", "<End>"},
        {"\033OF", "<End>"},
        {"\033[4~", "<End>"},
        {"\033[8~", "<End>"},
        {"\033[2~", "<Insert>"},
        {"\033[3~", "<Delete>"},
        {"\033[5~", "<PageUp>"},
        {"\033[6~", "<PageDown>"},
        {"\033[Z", "<S-Tab>"},
        {"\033OP", "<F1>"},
        {"\033OS", "<F4>"},
        {"\033[15~", "<F5>"},
        {"\033[24~", "<F12>"},
        {"\033[99;5u\033[?62cx", "x"},
        {"\xFF\xFEy", "y"},
        {"\033[I\033[Oz", "z"},
    };
    static const char *const terms[] = {"xterm-256color", "tmux-256color", "screen-256color", "linux", "vt100"};
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        term_stage_new();
        events = 0;
        Pty *p = term_stage_open(&(PtyOptions){.term = terms[t]});
        pty_expect_line(p, 0, "ready");
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            char want[40];
            snprintf(want, sizeof want, "key %s", keys[i].name);
            assert_event(p, keys[i].bytes, want);
        }
        term_stage_close(p);
    }
}

static void what_is_split_is_joined(void **state) {
    (void)state;
    Pty *p = open_ready(&plain, false);
    pty_type(p, "\xE4\xB8");
    assert_event(p, "\xAD", "key \xE4\xB8\xAD");
    pty_type(p, "\033");
    assert_event(p, "[A", "key <Up>");
    pty_type(p, "\033[<0;1");
    assert_event(p, "1;6M", "mouse press 10,5");
    term_stage_close(p);
}

/* Typed faster than it is read: more than any buffer on the way holds. */
static void a_burst_comes_whole(void **state) {
    (void)state;
    static const int lengths[] = {500, 5000};
    for (int i = 0; i < 2; i++) {
        Str burst;
        str_init(&burst);
        for (int n = 0; n < lengths[i]; n++) str_add_char(&burst, "123456789."[n % 10]);
        term_stage_new();
        Pty *p = term_stage_open(&plain);
        pty_expect_line(p, 0, "ready");
        events = lengths[i];
        pty_type(p, burst.s);
        assert_event(p, "x", "key x");
        str_done(&burst);
        term_stage_close(p);
    }
}

static void the_mouse_is_reported_and_can_be_switched_off(void **state) {
    (void)state;
    Pty *p = open_ready(&(PtyOptions){.w = 250, .h = 30, .term = "tmux-256color"}, false);
    assert_true(pty_mouse(p));
    assert_event(p, "\033[<0;240;6M", "mouse press 239,5"); /* beyond what the old reports can say */
    assert_event(p, "\033[<32;241;7M", "mouse drag 240,6");
    assert_event(p, "\033[<0;241;7m", "mouse release 240,6");
    assert_event(p, "\033[<64;1;1M", "mouse up 0,0");
    assert_event(p, "\033[<65;1;1M", "mouse down 0,0");
    assert_event(p, "\033[M +&", "mouse press 10,5");
    assert_event(p, "m", "key m");
    assert_false(pty_mouse(p));
    assert_event(p, "M", "key M");
    assert_true(pty_mouse(p));
    term_stage_close(p);
}

static void a_paste_runs_nothing(void **state) {
    (void)state;
    Pty *p = open_ready(&plain, false);
    assert_true(pty_paste(p));
    assert_event(p, "\033[200~q \xE4\xB8\xAD\033[A!\033[201~", "paste [q \xE4\xB8\xAD!]");
    assert_event(p, "x", "key x");
    term_stage_close(p);
}

/* Asked at once, answered whenever: keys before it are answered, and nothing of it becomes one. */
static void the_ground_is_asked_for(void **state) {
    (void)state;
    Pty *p = open_ready(&plain, true);
    assert_non_null(strstr(pty_bytes(p)->s, "\033]11;?\033\\"));
    assert_event(p, "x", "key x");
    assert_event(p, "\033", "key <Esc>");
    assert_event(p, "\033]11;rgb:ffff/0000/8080\033\\", "ground ff0080");
    assert_event(p, "\033]11;rgb:0000/0000/8080\x07", "ground 000080"); /* a second one, unasked */
    assert_event(p, "y", "key y");
    term_stage_close(p);
}

static void an_answer_may_come_in_pieces(void **state) {
    (void)state;
    static const char *const pieces[] = {"\033", "]", "1", "1;rg", "b:ffff/", "eeee", "/dddd", "\033", NULL};
    Pty *p = open_ready(&(PtyOptions){.term = "screen-256color"}, true);
    for (int i = 0; pieces[i] != NULL; i++) {
        pty_type(p, pieces[i]);
        pty_expect_read(p);
    }
    assert_event(p, "\\", "ground ffeedd");
    assert_event(p, "x", "key x");
    term_stage_close(p);
}

/* The answer to come goes on at once after its escape: what comes later is a key of its own. */
static void an_escape_is_a_key_before_the_answer(void **state) {
    (void)state;
    Pty *p = open_ready(&plain, true);
    for (int i = 0; i < 3; i++) {
        pty_type(p, "\033");
        pty_expect_read(p);
        poll(NULL, 0, 300);
        events++;
        assert_event(p, "x", "key x");
    }
    assert_event(p, "\033]11;rgb:ffff/0000/8080\033\\", "ground ff0080");
    term_stage_close(p);
}

static void who_would_print_the_question_is_not_asked(void **state) {
    (void)state;
    static const char *const terms[] = {"linux", "vt100"};
    for (int i = 0; i < 2; i++) {
        term_stage_new();
        term_stage->options.ask_ground = true;
        Pty *p = term_stage_open(&(PtyOptions){.term = terms[i]});
        pty_expect_line(p, 0, "ready");
        assert_null(strstr(pty_bytes(p)->s, "\033]11"));
        term_stage_close(p);
    }
}

static void a_wake_and_time_outs(void **state) {
    (void)state;
    Pty *p = open_ready(&plain, false);
    pty_type(p, "w");
    pty_expect_line(p, 0, "#2 wake");
    events = 2;
    assert_event(p, "0", "key 0");
    term_stage_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_terminals),
        cmocka_unit_test(what_is_split_is_joined),
        cmocka_unit_test(a_burst_comes_whole),
        cmocka_unit_test(the_mouse_is_reported_and_can_be_switched_off),
        cmocka_unit_test(a_paste_runs_nothing),
        cmocka_unit_test(the_ground_is_asked_for),
        cmocka_unit_test(an_answer_may_come_in_pieces),
        cmocka_unit_test(an_escape_is_a_key_before_the_answer),
        cmocka_unit_test(who_would_print_the_question_is_not_asked),
        cmocka_unit_test(a_wake_and_time_outs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
