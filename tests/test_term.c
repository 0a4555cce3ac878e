/* The real terminal, inside a pseudo-terminal that libvterm shows: what is drawn, sizes, ends and stops, and what it
 * costs in writes and bytes. */
#include "expect.h"

#include "term_stage.h"

#include "mapping.h"
#include "rng.h"
#include "term_signals.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const PtyOptions plain;

/* ---- drawing ---- */

/* Halves may come with either in front, and what is in front of a cell of one colour does not show. */
static void assert_cell(Pty *p, int x, int y, uint32_t ch, int fg, int bg) {
    PtyCell cell = pty_cell(p, x, y);
    if (cell.ch == 0x2584 && ch == 0x2580 && cell.bg >= 0) cell = (PtyCell){.ch = 0x2580, .fg = cell.bg, .bg = cell.fg};
    if (cell.ch == 0xA0 && ch == 0xA0) cell.fg = fg;
    if (cell.ch != ch || cell.fg != fg || cell.bg != bg)
        fail_msg("(%d, %d): U+%04X %d on %d, not U+%04X %d on %d", x, y, cell.ch, cell.fg, cell.bg, ch, fg, bg);
}

static void cells_come_out_as_drawn(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 2, TERM_STAGE_WIDE "|\xC3\xA9|\xE2\x94\x82");
    const StyleSheet *s = &term_stage->style;
    PtyCell model = pty_cell(p, 0, 1), truth = pty_cell(p, 6, 1), reversed = pty_cell(p, 12, 1);
    assert_int_equal(model.fg, style_role(s, STYLE_MODEL, 0).fg);
    assert_int_equal(model.bg, -1);
    assert_true(model.bold && !model.underline && !model.reverse);
    assert_int_equal(truth.fg, style_role(s, STYLE_TRUTH, 0).fg);
    assert_true(!truth.bold && truth.underline);
    assert_true(reversed.reverse);
    assert_int_equal(pty_cell(p, 0, 2).width, 2);
    assert_int_equal(pty_cell(p, 2, 2).ch, 0x6587);
    term_stage_close(p);
}

static void heat_comes_out_in_its_colours(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    const StyleSheet *s = &term_stage->style;
    int low = style_heat(s, HEAT_SEQUENTIAL, 0), middle = style_heat(s, HEAT_SEQUENTIAL, 90),
        high = style_heat(s, HEAT_SEQUENTIAL, 255);
    int model = style_role(s, STYLE_MODEL, 0).fg, truth = style_role(s, STYLE_TRUTH, 0).fg;
    assert_cell(p, 0, 3, 0x2580, low, high);
    assert_cell(p, 1, 3, 0xA0, -1, middle);
    assert_cell(p, 2, 3, 0x2580, style_heat(s, HEAT_DIVERGING, 255), style_heat(s, HEAT_DIVERGING, 0));
    assert_cell(p, 3, 3, '7', style_on_heat(s, HEAT_SEQUENTIAL, 255).fg, high);
    assert_cell(p, 4, 3, 0x2584, high, -1);
    assert_cell(p, 5, 3, 0x2580, high, -1);
    assert_cell(p, 6, 3, 0x2580, model, truth);
    assert_cell(p, 7, 3, 0xA0, -1, model);
    pty_type(p, "l");
    pty_expect_line(p, 0, "#1 key l"); /* the theme changes: every cell follows */
    s = &term_stage->style;
    assert_cell(p, 6, 3, 0x2580, style_role(s, STYLE_MODEL, 0).fg, style_role(s, STYLE_TRUTH, 0).fg);
    assert_int_not_equal(model, style_role(s, STYLE_MODEL, 0).fg);
    term_stage_close(p);
}

/* True colour in the ";" form, which libvterm reads well; the description comes with ncurses-term. */
static void true_colour_when_asked_for(void **state) {
    (void)state;
    if (access("/usr/share/terminfo/v/vte-direct", R_OK) != 0) skip();
    term_stage_new();
    term_stage->options.depth = DEPTH_TRUE;
    Pty *p = term_stage_open(&(PtyOptions){.term = "vte-256color"});
    pty_expect_line(p, 0, "ready");
    assert_int_equal(term_stage->style.depth, DEPTH_TRUE);
    const StyleSheet *s = &term_stage->style;
    assert_cell(p, 0, 3, 0x2580, style_heat(s, HEAT_SEQUENTIAL, 0), style_heat(s, HEAT_SEQUENTIAL, 255));
    assert_int_equal(pty_cell(p, 0, 1).fg, style_role(s, STYLE_MODEL, 0).fg);
    term_stage_close(p);
}

static bool is_mixed(Pty *p, void *user) {
    const Canvas *c = user;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *want = &c->cell[(size_t)y * (size_t)c->stride + (size_t)x];
            PtyCell cell = pty_cell(p, x, y);
            if (want->map == HEAT_NONE && cell.ch != want->ch) return false;
            if (want->map == HEAT_NONE) continue;
            int top = style_heat(&term_stage->style, HEAT_SEQUENTIAL, want->top),
                bottom = style_heat(&term_stage->style, HEAT_SEQUENTIAL, want->bottom);
            bool up = cell.ch == 0x2580 && cell.fg == top && cell.bg == bottom;
            bool down = cell.ch == 0x2584 && cell.fg == bottom && cell.bg == top;
            if (!up && !down && !(cell.ch == 0xA0 && cell.bg == top && top == bottom)) return false;
        }
    return true;
}

/* Of each frame only what differs is sent: after many the screen is as if the last had come alone. */
static void frame_after_frame_is_as_drawn(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    Canvas *c = canvas_new(80, 24, GLYPHS_HALF);
    pty_expect_line(p, 0, "ready");
    term_stage_mixed(c, TERM_STAGE_MIXED - 1);
    pty_type(p, "D");
    pty_expect_if(p, is_mixed, c, "the last frame");
    canvas_free(c);
    pty_type(p, "x");
    pty_expect_line(p, 0, "#1 key D");
    term_stage_close(p);
}

static void the_cursor_is_hidden_at_the_caret(void **state) {
    (void)state;
    int x = 0, y = 0;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    assert_false(pty_cursor_visible(p));
    pty_cursor(p, &x, &y);
    assert_int_equal(x, 5);
    assert_int_equal(y, 23);
    assert_true(pty_alternate(p));
    term_stage_close(p);
}

/* ---- size ---- */

static void a_new_size_is_followed(void **state) {
    (void)state;
    static const int sizes[][2] = {{40, 10}, {120, 50}, {20, 6}, {200, 60}, {12, 3}};
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char line[60];
        snprintf(line, sizeof line, "#%d resize %dx%d", (int)i + 1, sizes[i][0], sizes[i][1]);
        if (strlen(line) > (size_t)sizes[i][0]) line[sizes[i][0]] = '\0';
        pty_resize(p, sizes[i][0], sizes[i][1]);
        pty_expect_line(p, 0, line);
    }
    pty_resize(p, 1, 2);
    pty_expect_line(p, 1, "m");
    pty_resize(p, 1, 1); /* may go by unseen */
    pty_resize(p, 80, 24);
    pty_expect(p, "resize 80x24");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 23, "     c");
    term_stage_close(p);
}

/* Smaller and back before anybody looks: the size is the same, what was on the terminal is gone. */
static void a_size_that_comes_back_is_drawn_again(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 1, "model truth plain");
    pty_print(p, "\033[2J");
    pty_expect_line(p, 1, "");
    pty_signal(p, SIGWINCH);
    pty_expect_line(p, 0, "#1 resize 80x24");
    pty_expect_line(p, 1, "model truth plain");
    term_stage_close(p);
}

/* Hundreds of sizes at once, most of them never seen: the last one counts. */
static void a_storm_of_sizes(void **state) {
    (void)state;
    Rng rng = rng_at(1, "sizes", 0);
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    for (int i = 0; i < 400; i++) {
        pty_resize(p, 1 + (int)rng_below(&rng, 300), 1 + (int)rng_below(&rng, 100));
        if (i % 7 == 0) pty_type(p, "\033[A\xE4\xB8\xAD\033[<0;9;9M\xFFx");
    }
    pty_resize(p, 70, 20);
    pty_expect_line(p, 19, "     c");
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 2, TERM_STAGE_WIDE "|\xC3\xA9|\xE2\x94\x82");
    pty_expect_line(p, 10, "");
    term_stage_close(p);
}

/* ---- restoring ---- */

static void every_end_gives_the_terminal_back(void **state) {
    (void)state;
    const int signals[] = {0,       SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGSEGV, SIGABRT, SIGBUS, SIGFPE,   SIGILL,
                           SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGTRAP, SIGSYS, SIGRTMIN, SIGRTMAX};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        term_stage_new();
        Pty *p = term_stage_open(&plain);
        pty_expect_line(p, 0, "ready");
        assert_false(pty_is_given_back(p));
        if (signals[i] == 0)
            pty_type(p, "q");
        else
            pty_signal(p, signals[i]);
        assert_int_equal(pty_expect_exit(p), signals[i] == 0 ? 0 : 128 + signals[i]);
        pty_expect_given_back(p);
        pty_free(p);
        term_stage_free();
    }
}

/* A file that was opened while the screen was there, cut when it is gone. */
static int read_cut_file(void *user) {
    char path[] = "/tmp/lantern-term-XXXXXX", block[1 << 16] = {1};
    Mapping *m = NULL;
    (void)user;
    Status s = signals_begin();
    int fd = mkstemp(path);
    if (!status_is_ok(&s) || fd < 0 || write(fd, block, sizeof block) < (ssize_t)sizeof block) return 9;
    s = mapping_open(path, &m);
    signals_end();
    unlink(path);
    if (!status_is_ok(&s) || ftruncate(fd, 0) != 0) return 9;
    return mapping_data(m)[sizeof block / 2] == 0 ? 7 : 8;
}

static void a_cut_file_is_told_of_after_the_screen(void **state) {
    (void)state;
    Pty *p = pty_call(&plain, read_cut_file, NULL);
    assert_int_equal(pty_expect_exit(p), 1);
    pty_expect(p, "was cut short while it was open");
    pty_free(p);
}

/* What is ignored stays so: it is somebody's wish. */
static int ignore_a_signal(void *user) {
    (void)user;
    signal(SIGUSR1, SIG_IGN);
    Status s = signals_begin();
    if (!status_is_ok(&s)) return 9;
    raise(SIGUSR1);
    signals_end();
    raise(SIGUSR1);
    return 3;
}

static void an_ignored_signal_stays_ignored(void **state) {
    (void)state;
    Pty *p = pty_call(&plain, ignore_a_signal, NULL);
    assert_int_equal(pty_expect_exit(p), 3);
    pty_free(p);
}

static void the_quit_character_is_a_way_out(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "\x1C");
    assert_int_equal(pty_expect_exit(p), 128 + SIGQUIT);
    pty_expect_given_back(p);
    pty_free(p);
    term_stage_free();
}

static void a_bug_is_told_on_a_terminal_given_back(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "B");
    assert_int_equal(pty_expect_exit(p), 128 + SIGABRT);
    pty_expect_given_back(p);
    pty_expect(p, "lantern: bug at ");
    pty_free(p);
    term_stage_free();
}

static void stop_and_go_on(Pty *p, int number) {
    char line[60];
    pty_expect_stop(p);
    pty_expect_given_back(p);
    pty_resize(p, 60, 20 + number); /* while it is stopped */
    pty_continue(p);
    snprintf(line, sizeof line, "#%d resume 60x%d", number, 20 + number);
    pty_expect_line(p, 0, line);
    pty_expect_line(p, 1, "model truth plain");
    pty_expect_line(p, 19 + number, "     c");
    assert_true(pty_alternate(p) && pty_mouse(p) && pty_paste(p) && !pty_cursor_visible(p));
}

static void stopping_and_going_on(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_signal(p, SIGTSTP); /* from outside */
    stop_and_go_on(p, 1);
    pty_type(p, "S"); /* by a key: event 2 is the key, event 3 the return */
    stop_and_go_on(p, 3);
    pty_type(p, "x");
    pty_expect_line(p, 0, "#4 key x");
    term_stage_close(p);
}

static void a_stop_that_nobody_sees_coming(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_signal(p, SIGSTOP);
    pty_expect_stop(p);
    pty_continue(p);
    pty_expect_line(p, 0, "#1 resume 80x24");
    pty_expect_line(p, 1, "model truth plain");
    term_stage_close(p);
}

static void a_repaint_draws_everything(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    size_t before = pty_bytes(p)->len;
    pty_type(p, "R");
    pty_expect_line(p, 0, "#1 key R");
    pty_expect_line(p, 1, "model truth plain");
    assert_non_null(strstr(pty_bytes(p)->s + before, "model"));
    before = pty_bytes(p)->len;
    pty_type(p, "x");
    pty_expect_line(p, 0, "#2 key x");
    assert_null(strstr(pty_bytes(p)->s + before, "model")); /* and otherwise only what changed */
    term_stage_close(p);
}

/* ---- cost ---- */

static void frames_cost_few_writes(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&(PtyOptions){.w = 200, .h = 60});
    pty_expect_line(p, 0, "ready");
    pty_type(p, "C");
    pty_expect_line(p, 0, "#1 key C");
    if (term_stage->counted) {
        assert_in_range(term_stage->writes, 1, 20);
        assert_in_range(term_stage->bytes, 1000, 35 * 1024);
        assert_int_equal(term_stage->same_writes, 0);
        assert_int_equal(term_stage->same_bytes, 0);
    } else {
        print_message("no /proc/self/io: writes are not counted\n");
    }
    term_stage_close(p);
}

/* Each frame lies between the two marks of synchronised output, and no frame is sent in parts without them. */
static void frames_are_synchronised(void **state) {
    (void)state;
    term_stage_new();
    Pty *p = term_stage_open(&plain);
    pty_expect_line(p, 0, "ready");
    pty_type(p, "x");
    pty_expect_line(p, 0, "#1 key x");
    const char *s = pty_bytes(p)->s;
    const char *begin = strstr(s, "\033[?2026h"), *text = strstr(s, "ready"), *end = strstr(s, "\033[?2026l");
    assert_true(begin != NULL && begin < text && text < end);
    term_stage_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_come_out_as_drawn),
        cmocka_unit_test(heat_comes_out_in_its_colours),
        cmocka_unit_test(true_colour_when_asked_for),
        cmocka_unit_test(frame_after_frame_is_as_drawn),
        cmocka_unit_test(the_cursor_is_hidden_at_the_caret),
        cmocka_unit_test(a_new_size_is_followed),
        cmocka_unit_test(a_size_that_comes_back_is_drawn_again),
        cmocka_unit_test(a_storm_of_sizes),
        cmocka_unit_test(every_end_gives_the_terminal_back),
        cmocka_unit_test(a_cut_file_is_told_of_after_the_screen),
        cmocka_unit_test(an_ignored_signal_stays_ignored),
        cmocka_unit_test(the_quit_character_is_a_way_out),
        cmocka_unit_test(a_bug_is_told_on_a_terminal_given_back),
        cmocka_unit_test(stopping_and_going_on),
        cmocka_unit_test(a_stop_that_nobody_sees_coming),
        cmocka_unit_test(a_repaint_draws_everything),
        cmocka_unit_test(frames_cost_few_writes),
        cmocka_unit_test(frames_are_synchronised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
