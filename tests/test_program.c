/* The program itself in a pseudo-terminal, training all the while: what stands on the screen at once, every way to
 * leave it and what the terminal is like afterwards, stopping and going on, sizes. All waiting is for a state. */
#include "expect.h"

#include "clock.h"
#include "pty.h"
#include "str.h"
#include "style.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const PtyOptions small_window = {.w = 80, .h = 24}, large_window = {.w = 120, .h = 40};

/* As from a shell that has printed something already. */
static int run_program(void *user) {
    const char *const *argv = user;
    if (write(1, "before\r\n", 8) != 8) return 99;
    execv(argv[0], (char *const *)argv);
    return 98;
}

/* A run that no test sees the end of. */
static const char *const endless[] = {LANTERN_PROGRAM, "sentences=2000", "epochs=90000", "threads=2", NULL};

static Pty *open_program(const PtyOptions *o) {
    return pty_call(o, run_program, (void *)endless);
}

/* Title and keys stand where they belong in a screen of this size. */
static bool is_whole(Pty *p, void *user) {
    (void)user;
    return pty_line_holds(p, 0, " lantern ") && pty_line_holds(p, pty_height(p) - 1, "q quit");
}

/* The step that the transport shows, "1,032/1,565"; -1: none. */
static long step_shown(Pty *p) {
    Str text;
    str_init(&text);
    pty_text(p, &text);
    long step = -1;
    const char *slash = strstr(text.s, "train ");
    while (slash != NULL && (slash = strchr(slash, '/')) != NULL && slash[1] != '2') slash++;
    if (slash != NULL) {
        const char *digit = slash;
        while (digit[-1] == ',' || (digit[-1] >= '0' && digit[-1] <= '9')) digit--;
        for (step = 0; digit < slash; digit++)
            if (*digit != ',') step = 10 * step + (*digit - '0');
    }
    str_done(&text);
    return step;
}

static bool is_beyond(Pty *p, void *step) {
    return step_shown(p) > *(const long *)step;
}

/* Two steps at least are made from now on. */
static void expect_training(Pty *p) {
    long step = 0;
    pty_expect_if(p, is_beyond, &step, "training");
    step = step_shown(p);
    pty_expect_if(p, is_beyond, &step, "further training");
}

/* What a shell prints next stands below what it had printed, in the terminal's own colours. */
static void expect_shell(Pty *p) {
    pty_expect_given_back(p);
    pty_print(p, "after");
    pty_expect_line(p, 0, "before");
    pty_expect(p, "after");
    int y = 1;
    while (pty_cell(p, 0, y).ch != 'a') y++;
    for (int x = 0; x < 5; x++) {
        PtyCell cell = pty_cell(p, x, y);
        assert_true(cell.fg == -1 && cell.bg == -1 && !cell.bold && !cell.reverse && !cell.underline);
    }
    assert_int_equal(pty_cell(p, 5, y).ch, ' ');
}

static void expect_end(Pty *p, int status) {
    assert_int_equal(pty_expect_exit(p), status);
    expect_shell(p);
    pty_free(p);
}

/* ---- starting ---- */

/* The corpus of this run takes many minutes to make: the screen stands before it, and leaving does not wait for it. */
static void the_first_frame_comes_before_the_corpus(void **state) {
    (void)state;
    static const char *const large[] = {LANTERN_PROGRAM, "sentences=90000000", NULL};
    Pty *p = pty_call(&small_window, run_program, (void *)large);
    pty_expect(p, "loading");
    pty_expect_if(p, is_whole, NULL, "the whole screen");
    assert_true(pty_alternate(p) && pty_mouse(p) && pty_paste(p) && !pty_cursor_visible(p));
    pty_type(p, "q");
    expect_end(p, 0);
}

static void without_a_terminal_it_says_what_goes(void **state) {
    (void)state;
    static const char *const nowhere[] = {"/bin/sh", "-c", LANTERN_PROGRAM " >/dev/null", NULL};
    Pty *p = pty_call(&large_window, run_program, (void *)nowhere);
    pty_expect(p, "lantern: the screen needs a terminal");
    pty_expect(p, "lantern run ID");
    expect_end(p, 2);
    p = pty_call(&(PtyOptions){.w = 120, .h = 40, .term = "dumb"}, run_program, (void *)endless);
    pty_expect(p, "lantern: the terminal TERM=dumb cannot move its cursor");
    expect_end(p, 2);
}

static int run_without_threads(void *user) {
    unsetenv("OPENBLAS_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    return run_program(user);
}

/* Threads of the child; -1: unknown here. */
static int threads_of(Pty *p) {
    char path[64], line[128];
    int threads = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pty_child(p));
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) (void)sscanf(line, "Threads: %d", &threads);
    if (f != NULL) fclose(f);
    return threads;
}

/* OpenBLAS would make some as it is loaded. */
static void the_only_threads_are_ours(void **state) {
    (void)state;
    Pty *p = pty_call(&small_window, run_without_threads, (void *)endless);
    expect_training(p);
    int threads = threads_of(p);
    if (threads >= 0 && !EXPECT_THREAD_SANITIZER)
        assert_int_equal(threads, 3); /* the screen, the laboratory, its helper */
    pty_type(p, "qq");
    expect_end(p, 0);
}

/* The environment says it, whether or not such a locale is installed. Wide characters leave the borders where they are.
 */
static void words_are_those_of_the_language(void **state) {
    (void)state;
#ifdef LANTERN_TRANSLATED
    static const char *const chinese[] = {"LC_ALL=", "LANG=zh_CN.UTF-8", NULL};
    Pty *p = pty_call(&(PtyOptions){.env = chinese}, run_program, (void *)endless);
    pty_expect(p, "\u25B8\u8BAD\u7EC3   \u25B6"); /* train */
    pty_expect(p, "q \u9000\u51FA");              /* quit */
    for (int y = 2; y < 12; y++) assert_int_equal(pty_cell(p, 79, y).ch, 0x2502);
    pty_type(p, "qq");
    expect_end(p, 0);
#else
    skip();
#endif
}

/* ---- leaving ---- */

static void leave_by_keys(const PtyOptions *o, const char *first, const char *second) {
    Pty *p = open_program(o);
    expect_training(p);
    pty_expect_if(p, is_whole, NULL, "the whole screen");
    pty_type(p, first);
    pty_expect(p, "q quits, any other key stays");
    pty_type(p, second);
    expect_end(p, 0);
}

static void keys_leave(void **state) {
    (void)state;
    leave_by_keys(&small_window, "q", "q");
    leave_by_keys(&large_window, "q", "q");
    leave_by_keys(&small_window, "\x03", "\x03");
    leave_by_keys(&large_window, "q", "\x03");
}

static void any_other_key_stays(void **state) {
    (void)state;
    Pty *p = open_program(&small_window);
    expect_training(p);
    pty_type(p, "q");
    pty_expect(p, "q quits, any other key stays");
    pty_type(p, "x");
    expect_training(p);
    pty_type(p, ":quit now\r");
    expect_end(p, 0);
}

static void signals_leave(void **state) {
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGUSR1, SIGXCPU};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        Pty *p = open_program(i % 2 ? &small_window : &large_window);
        expect_training(p);
        pty_signal(p, signals[i]);
        expect_end(p, 128 + signals[i]);
    }
}

/* The first frame is more than a pseudo-terminal takes in when nobody reads: the program waits, and must go all the
 * same. */
static void it_leaves_though_nobody_reads(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++) {
        Pty *p = open_program(&large_window);
        pty_expect_full(p);
        for (int again = 0; again < 4; again++) pty_signal(p, signals[i]);
        assert_int_equal(pty_expect_exit_unread(p), 128 + signals[i]);
        pty_free(p);
    }
}

/* A window that is closed, a connection that breaks: the shell passes the signal on, or the program is told by nothing
 * but its terminal. Nothing of it stays either way. */
static void a_hang_up_ends_it(void **state) {
    (void)state;
    Pty *p = open_program(&small_window);
    expect_training(p);
    pty_hang_up(p);
    assert_int_equal(pty_expect_exit_unread(p), 128 + SIGHUP);
    pty_free(p);
    p = open_program(&(PtyOptions){.w = 80, .h = 24, .deaf = true});
    expect_training(p);
    pty_hang_up(p);
    assert_int_equal(pty_expect_exit_unread(p), 128 + SIGHUP);
    pty_free(p);
}

/* The number of the WHICH-th thread besides the one of the terminal; 0: there is none, or it is unknown here. */
static int other_thread(pid_t process, int which) {
    char command[64];
    int thread = 0;
    snprintf(command, sizeof command, "ls /proc/%d/task 2>/dev/null", (int)process);
    FILE *f = popen(command, "r");
    if (f == NULL) return 0;
    for (int n; fscanf(f, "%d", &n) == 1;)
        if (n != process && which-- == 0) thread = n;
    pclose(f);
    return thread;
}

/* The worker, and who helps it. */
static void a_crash_of_any_thread_leaves(void **state) {
    (void)state;
#ifdef SYS_tgkill
    if (EXPECT_THREAD_SANITIZER) skip(); /* it has a thread of its own, which sees no signal */
    for (int which = 0; which < 2; which++) {
        Pty *p = open_program(&small_window);
        expect_training(p);
        int thread = other_thread(pty_child(p), which);
        if (thread == 0) {
            print_message("no thread %d in /proc: its crash is not tried\n", which);
            pty_free(p);
            return;
        }
        assert_int_equal(syscall(SYS_tgkill, pty_child(p), thread, SIGSEGV), 0);
        expect_end(p, 128 + SIGSEGV);
    }
#else
    skip();
#endif
}

/* ---- light and dark ---- */

/* Whether the orange that stands for the model somewhere is the light theme's. The bars of the next word are of it. */
static bool has_colour(Pty *p, void *colour) {
    for (int y = 0; y < pty_height(p); y++)
        for (int x = 0; x < pty_width(p); x++)
            if (pty_cell(p, x, y).fg == *(int *)colour || pty_cell(p, x, y).bg == *(int *)colour) return true;
    return false;
}

static void expect_theme(Pty *p, ThemeName theme) {
    const StyleSheet sheet = {theme, MAP_VIRIDIS, DEPTH_256, THEME_DARK};
    int bar = style_role(&sheet, STYLE_BAR, ATTRIBUTE_NONE).bg;
    pty_expect_if(p, has_colour, &bar, style_theme_name(theme));
}

/* The first frame waits for no answer; a late one changes the theme, unless there is one already. */
static void the_terminal_says_whether_it_is_light(void **state) {
    (void)state;
    static const char white[] = "\033]11;rgb:ffff/ffff/ffff\033\\", black[] = "\033]11;rgb:0000/0000/0000\x07";
    Pty *p = open_program(&small_window);
    expect_training(p);
    expect_theme(p, THEME_DARK);
    pty_type(p, white);
    expect_theme(p, THEME_LIGHT);
    pty_type(p, black);
    expect_theme(p, THEME_DARK);
    pty_type(p, "tt");
    pty_type(p, white);
    pty_type(p, "ttt");
    pty_expect(p, "theme light"); /* contrast, mono, dark, light: the answer changed nothing */
    pty_type(p, "qq");
    expect_end(p, 0);
}

static void a_hint_of_the_environment_counts(void **state) {
    (void)state;
    static const char *const light[] = {"COLORFGBG=0;15", NULL}, *const other[] = {"COLORFGBG=default;default", NULL};
    static const char *const chosen[] = {LANTERN_PROGRAM, "--theme", "dark", "sentences=2000", NULL};
    Pty *p = open_program(&(PtyOptions){.env = light});
    expect_theme(p, THEME_LIGHT);
    pty_type(p, "qq");
    expect_end(p, 0);
    p = open_program(&(PtyOptions){.env = other});
    expect_theme(p, THEME_DARK);
    pty_type(p, "qq");
    expect_end(p, 0);
    p = pty_call(&(PtyOptions){.env = light}, run_program, (void *)chosen);
    expect_theme(p, THEME_DARK);
    assert_null(strstr(pty_bytes(p)->s, "\033]11;?")); /* nothing to ask */
    pty_type(p, "qq");
    expect_end(p, 0);
}

/* ---- typing ---- */

/* At once and while it trains, in no bracketed paste: each character stands in the line. */
static void a_burst_of_keys_loses_none(void **state) {
    (void)state;
    static const int lengths[] = {500, 3600};
    for (int i = 0; i < 2; i++) {
        Str typed;
        str_init(&typed);
        str_add(&typed, ":");
        for (int group = 0; (int)typed.len <= lengths[i]; group++) str_addf(&typed, "%03d.", group);
        Pty *p = open_program(&(PtyOptions){.w = lengths[i] + 20, .h = 24});
        expect_training(p);
        pty_type(p, typed.s);
        pty_expect_line(p, 23, typed.s);
        pty_type(p, "\x03qq");
        str_done(&typed);
        expect_end(p, 0);
    }
}

static bool shows_help(Pty *p, void *shown) {
    bool help = false;
    for (int y = 0; y < pty_height(p) && !help; y++) help = pty_line_holds(p, y, "esc closes");
    return help == *(const bool *)shown;
}

/* This terminal never says whether it is light; an answer may still come, and pictures are drawn all the while.
 * Two times, as the machine may be busy: the end of the waiting for an answer is far from either. */
static void an_escape_is_no_answer_to_come(void **state) {
    (void)state;
    static const bool yes = true, no = false;
    double best = 1e9, worst = 0;
    Pty *p = open_program(&small_window);
    expect_training(p);
    assert_non_null(strstr(pty_bytes(p)->s, "\033]11;?"));
    for (int i = 0; i < 2; i++) {
        pty_type(p, "?");
        pty_expect_if(p, shows_help, (void *)&yes, "the help");
        double begin = clock_now();
        pty_type(p, "\033");
        pty_expect_if(p, shows_help, (void *)&no, "the end of the help");
        double seconds = clock_now() - begin;
        if (seconds < best) best = seconds;
        if (seconds > worst) worst = seconds;
    }
    assert_true(EXPECT_SANITIZER || (best < 0.5 && worst < 3));
    pty_type(p, "qq");
    expect_end(p, 0);
}

/* ---- staying ---- */

static void a_stop_gives_back_and_going_on_trains_on(void **state) {
    (void)state;
    Pty *p = open_program(&small_window);
    expect_training(p);
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            pty_type(p, "\x1A"); /* Ctrl-Z */
        else
            pty_signal(p, SIGTSTP);
        pty_expect_stop(p);
        pty_expect_given_back(p);
        pty_expect_line(p, 0, "before");
        if (i == 1) pty_resize(p, 100, 30);
        pty_continue(p);
        pty_expect_if(p, is_whole, NULL, "the whole screen");
        expect_training(p);
        assert_true(pty_alternate(p) && pty_mouse(p) && pty_paste(p) && !pty_cursor_visible(p));
    }
    pty_type(p, "qq");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_expect_given_back(p);
    pty_free(p);
}

static void sizes_change_while_it_trains(void **state) {
    (void)state;
    static const int sizes[][2] = {{120, 40}, {40, 10}, {200, 60}, {79, 23}, {240, 67}, {80, 24}};
    Pty *p = open_program(&small_window);
    expect_training(p);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pty_resize(p, sizes[i][0], sizes[i][1]);
        pty_expect_if(p, is_whole, NULL, "the whole screen");
        if (sizes[i][0] >= 80) expect_training(p);
    }
    pty_resize(p, 1, 1);
    pty_resize(p, 80, 24);
    pty_expect_if(p, is_whole, NULL, "the whole screen");
    expect_training(p);
    pty_type(p, "qq");
    assert_int_equal(pty_expect_exit(p), 0);
    pty_expect_given_back(p);
    pty_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_frame_comes_before_the_corpus),
        cmocka_unit_test(without_a_terminal_it_says_what_goes),
        cmocka_unit_test(the_only_threads_are_ours),
        cmocka_unit_test(words_are_those_of_the_language),
        cmocka_unit_test(keys_leave),
        cmocka_unit_test(any_other_key_stays),
        cmocka_unit_test(signals_leave),
        cmocka_unit_test(it_leaves_though_nobody_reads),
        cmocka_unit_test(a_hang_up_ends_it),
        cmocka_unit_test(a_crash_of_any_thread_leaves),
        cmocka_unit_test(the_terminal_says_whether_it_is_light),
        cmocka_unit_test(a_hint_of_the_environment_counts),
        cmocka_unit_test(a_burst_of_keys_loses_none),
        cmocka_unit_test(an_escape_is_no_answer_to_come),
        cmocka_unit_test(a_stop_gives_back_and_going_on_trains_on),
        cmocka_unit_test(sizes_change_while_it_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
