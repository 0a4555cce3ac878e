#define _XOPEN_SOURCE 700
#include "expect.h"

#include "pty.h"

#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

#define LIMIT 30.0 /* s that a state may take to come */

struct Pty {
    int w, h;
    int master, slave; /* our slave keeps the terminal alive behind the child */
    pid_t shell, child;
    int reports, orders; /* pipes from and to the shell */
    VTerm *vterm;
    VTermScreen *screen;
    bool alternate, cursor_visible, mouse;
    bool stopped, ended;
    int status;
    struct termios fresh; /* settings before the child */
    Str bytes;
    size_t shown; /* of them, to the terminal */
    bool away;
};

typedef struct {
    enum { REPORT_CHILD, REPORT_STOP, REPORT_END } kind;
    int value;
} Report;

/* ---- the shell: the leader of the session, in a process of its own ---- */

static void report(int fd, int kind, int value) {
    Report r = {kind, value};
    if (write(fd, &r, sizeof r) != (ssize_t)sizeof r) _exit(99);
}

static void set_environment(const PtyOptions *o) {
    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    unsetenv("LINES");
    unsetenv("COLUMNS");
    setenv("LC_ALL", "C.UTF-8", 1);
    if (o->term != NULL && o->term[0] == '\0')
        unsetenv("TERM");
    else
        setenv("TERM", o->term == NULL ? "xterm-256color" : o->term, 1);
    for (int i = 0; o->env != NULL && o->env[i] != NULL; i++) {
        char *name = strdup(o->env[i]), *equals = strchr(name, '=');
        *equals = '\0';
        setenv(name, equals + 1, 1);
        free(name);
    }
}

typedef struct {
    const PtyOptions *options;
    const char *const *argv;
    int (*function)(void *);
    void *user;
} Job;

static _Noreturn void run_job(const Job *job) {
    setpgid(0, 0);
    signal(SIGHUP, SIG_DFL);
    signal(SIGTTOU, SIG_DFL);
    set_environment(job->options);
    if (job->argv != NULL) {
        execv(job->argv[0], (char *const *)job->argv);
        _exit(127);
    }
    int status = job->function(job->user);
    fflush(stdout);
    _exit(status);
}

static volatile pid_t job_group; /* the shell's only job */

static void pass_on(int number) {
    kill(-job_group, number);
}

/* Waits for the job; when it stops the terminal is the shell's until the order to go on. The shell outlives the job: at
 * its end the system would hang up the terminal, which is looked at afterwards. Of a hang-up the leader of the session
 * alone is told, and tells its job unless it is DEAF; it ends when nobody reads its reports. */
static _Noreturn void run_shell(const Job *job, int tty, int reports, int orders) {
    struct termios own;
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    tcgetattr(tty, &own);
    pid_t child = fork();
    if (child == 0) {
        tcsetpgrp(tty, getpid());
        setpgid(0, 0);
        tcsetpgrp(tty, getpid());
        close(reports);
        close(orders);
        run_job(job);
    }
    setpgid(child, child);
    job_group = child;
    if (!job->options->deaf) signal(SIGHUP, pass_on);
    tcsetpgrp(tty, child);
    report(reports, REPORT_CHILD, (int)child);
    for (;;) {
        int status;
        if (waitpid(child, &status, WUNTRACED) < 0) {
            if (errno == EINTR) continue;
            _exit(98);
        }
        if (WIFSTOPPED(status)) {
            char order;
            tcsetpgrp(tty, getpid());
            report(reports, REPORT_STOP, WSTOPSIG(status));
            if (read(orders, &order, 1) != 1) _exit(97);
            tcsetpgrp(tty, child);
            kill(-child, SIGCONT);
            continue;
        }
        tcsetpgrp(tty, getpid());
        report(reports, REPORT_END, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        char end;
        while (read(orders, &end, 1) < 0 && errno == EINTR) continue;
        _exit(0);
    }
}

/* ---- the terminal ---- */

static int on_property(VTermProp property, VTermValue *value, void *user) {
    Pty *p = user;
    if (property == VTERM_PROP_ALTSCREEN) p->alternate = value->boolean != 0;
    if (property == VTERM_PROP_CURSORVISIBLE) p->cursor_visible = value->boolean != 0;
    if (property == VTERM_PROP_MOUSE) p->mouse = value->number != VTERM_PROP_MOUSE_NONE;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static void open_vterm(Pty *p) {
    p->cursor_visible = true;
    p->vterm = vterm_new(p->h, p->w);
    assert_non_null(p->vterm);
    vterm_set_utf8(p->vterm, 1);
    p->screen = vterm_obtain_screen(p->vterm);
    vterm_screen_set_callbacks(p->screen, &callbacks, p);
    vterm_screen_enable_altscreen(p->screen, 1);
    vterm_screen_reset(p->screen, 1);
}

static void set_window(const Pty *p) {
    struct winsize size = {.ws_row = (unsigned short)p->h, .ws_col = (unsigned short)p->w};
    assert_int_equal(ioctl(p->master, TIOCSWINSZ, &size), 0);
}

static void open_terminal(Pty *p) {
    p->master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(p->master >= 0);
    assert_int_equal(grantpt(p->master), 0);
    assert_int_equal(unlockpt(p->master), 0);
    p->slave = open(ptsname(p->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(p->slave >= 0);
    fcntl(p->master, F_SETFD, FD_CLOEXEC);
    fcntl(p->master, F_SETFL, O_NONBLOCK);
    p->fresh = pty_settings(p);
    set_window(p);
}

static _Noreturn void become_shell(const Pty *p, const Job *job, int reports, int orders) {
    setsid();
    ioctl(p->slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++) dup2(p->slave, fd);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(p->slave);
    close(p->master); /* or the terminal would live on when the test does not */
    close(p->reports);
    close(p->orders);
    run_shell(job, 0, reports, orders);
}

static void open_pipe(int *ends) {
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
}

static Pty *start(const Job *job) {
    Pty *p = MEM_NEW(Pty);
    p->w = job->options->w > 0 ? job->options->w : 80;
    p->h = job->options->h > 0 ? job->options->h : 24;
    str_init(&p->bytes);
    open_terminal(p);
    open_vterm(p);
    int reports[2], orders[2];
    open_pipe(reports);
    open_pipe(orders);
    p->reports = reports[0];
    p->orders = orders[1];
    fflush(stdout);
    p->shell = fork();
    assert_true(p->shell >= 0);
    if (p->shell == 0) become_shell(p, job, reports[1], orders[0]);
    close(reports[1]);
    close(orders[0]);
    Report first;
    assert_int_equal(read(p->reports, &first, sizeof first), sizeof first);
    assert_int_equal(first.kind, REPORT_CHILD);
    p->child = (pid_t)first.value;
    return p;
}

Pty *pty_spawn(const PtyOptions *o, const char *const *argv) {
    return start(&(Job){.options = o, .argv = argv});
}

Pty *pty_call(const PtyOptions *o, int (*function)(void *user), void *user) {
    return start(&(Job){.options = o, .function = function, .user = user});
}

void pty_free(Pty *p) {
    if (!p->ended) kill(p->child, SIGKILL);
    if (p->stopped) kill(p->child, SIGCONT);
    kill(p->shell, SIGKILL);
    waitpid(p->shell, NULL, 0);
    if (p->master >= 0) pty_hang_up(p);
    close(p->reports);
    close(p->orders);
    vterm_free(p->vterm);
    str_done(&p->bytes);
    mem_free(p);
}

/* ---- input ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_output(Pty *p) {
    char bytes[16384];
    ssize_t n;
    while ((n = read(p->master, bytes, sizeof bytes)) > 0) str_add_n(&p->bytes, bytes, (size_t)n);
    if (p->away || p->shown == p->bytes.len) return;
    vterm_input_write(p->vterm, p->bytes.s + p->shown, p->bytes.len - p->shown);
    p->shown = p->bytes.len;
    vterm_screen_flush_damage(p->screen);
    size_t answer = vterm_output_read(p->vterm, bytes, sizeof bytes); /* what was asked of the terminal */
    if (answer > 0) assert_int_equal(write(p->master, bytes, answer), answer);
}

static void read_report(Pty *p) {
    Report r;
    if (read(p->reports, &r, sizeof r) != (ssize_t)sizeof r) fail_msg("the shell of the terminal is gone");
    p->stopped = r.kind == REPORT_STOP;
    p->ended = r.kind == REPORT_END;
    p->status = r.value;
}

void pty_pump(Pty *p, double seconds) {
    struct pollfd fds[2] = {{p->master, POLLIN, 0}, {p->ended ? -1 : p->reports, POLLIN, 0}};
    poll(fds, 2, (int)(seconds * 1000));
    read_output(p);
    if ((fds[1].revents & POLLIN) == 0) return;
    read_report(p);
    read_output(p); /* all that was written before */
}

void pty_look_away(Pty *p, bool away) {
    p->away = away;
    read_output(p);
}

void pty_type(Pty *p, const char *bytes) {
    for (size_t left = strlen(bytes); left > 0;) {
        ssize_t n = write(p->master, bytes, left);
        if (n < 0) {
            assert_true(errno == EAGAIN || errno == EINTR);
            pty_pump(p, 0.01);
            continue;
        }
        bytes += n;
        left -= (size_t)n;
    }
}

void pty_print(Pty *p, const char *text) {
    assert_int_equal(write(p->slave, text, strlen(text)), strlen(text));
}

pid_t pty_child(const Pty *p) {
    return p->child;
}

void pty_resize(Pty *p, int w, int h) {
    pty_pump(p, 0);
    p->w = w;
    p->h = h;
    vterm_set_size(p->vterm, h, w);
    set_window(p);
}

void pty_signal(Pty *p, int signal) {
    assert_int_equal(kill(p->child, signal), 0);
}

void pty_hang_up(Pty *p) {
    close(p->slave);
    close(p->master);
    p->master = p->slave = -1;
}

void pty_continue(Pty *p) {
    assert_true(p->stopped);
    p->stopped = false;
    assert_int_equal(write(p->orders, "c", 1), 1);
}

/* ---- the screen ---- */

static int index_of(const VTermColor *colour, bool own) {
    if (own) return -1;
    if (VTERM_COLOR_IS_INDEXED(colour)) return colour->indexed.idx;
    return 0x1000000 | colour->rgb.red << 16 | colour->rgb.green << 8 | colour->rgb.blue;
}

PtyCell pty_cell(Pty *p, int x, int y) {
    VTermScreenCell cell;
    pty_pump(p, 0);
    if (!vterm_screen_get_cell(p->screen, (VTermPos){.row = y, .col = x}, &cell)) fail_msg("no cell (%d, %d)", x, y);
    uint32_t ch = cell.chars[0];
    return (PtyCell){.ch = ch == 0              ? ' '
                           : ch == (uint32_t)-1 ? 0
                                                : ch,
                     .width = cell.width,
                     .fg = index_of(&cell.fg, VTERM_COLOR_IS_DEFAULT_FG(&cell.fg)),
                     .bg = index_of(&cell.bg, VTERM_COLOR_IS_DEFAULT_BG(&cell.bg)),
                     .bold = cell.attrs.bold != 0,
                     .reverse = cell.attrs.reverse != 0,
                     .underline = cell.attrs.underline != 0};
}

void pty_line(Pty *p, int y, Str *out) {
    size_t start_of_line = out->len;
    for (int x = 0; x < p->w; x++) {
        PtyCell cell = pty_cell(p, x, y);
        if (cell.ch != 0) str_add_code(out, cell.ch == 0xA0 ? ' ' : cell.ch);
    }
    while (out->len > start_of_line && out->s[out->len - 1] == ' ') out->s[--out->len] = '\0';
}

int pty_width(const Pty *p) {
    return p->w;
}

int pty_height(const Pty *p) {
    return p->h;
}

bool pty_line_holds(Pty *p, int y, const char *text) {
    Str line;
    str_init(&line);
    pty_line(p, y, &line);
    bool holds = strstr(line.s, text) != NULL;
    str_done(&line);
    return holds;
}

void pty_text(Pty *p, Str *out) {
    for (int y = 0; y < p->h; y++) {
        pty_line(p, y, out);
        str_add_char(out, '\n');
    }
}

void pty_cursor(Pty *p, int *x, int *y) {
    VTermPos at;
    pty_pump(p, 0);
    vterm_state_get_cursorpos(vterm_obtain_state(p->vterm), &at);
    *x = at.col;
    *y = at.row;
}

bool pty_cursor_visible(Pty *p) {
    pty_pump(p, 0);
    return p->cursor_visible;
}

bool pty_alternate(Pty *p) {
    pty_pump(p, 0);
    return p->alternate;
}

bool pty_mouse(Pty *p) {
    pty_pump(p, 0);
    return p->mouse;
}

bool pty_paste(Pty *p) {
    pty_pump(p, 0);
    const char *on = NULL, *off = NULL, *s;
    for (s = p->bytes.s; (s = strstr(s, "\033[?2004h")) != NULL; s++) on = s;
    for (s = p->bytes.s; (s = strstr(s, "\033[?2004l")) != NULL; s++) off = s;
    return on != NULL && (off == NULL || on > off);
}

struct termios pty_settings(Pty *p) {
    struct termios settings;
    memset(&settings, 0, sizeof settings);
    assert_int_equal(tcgetattr(p->slave, &settings), 0);
    return settings;
}

static bool same_settings(const struct termios *a, const struct termios *b) {
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

bool pty_is_given_back(Pty *p) {
    struct termios settings = pty_settings(p);
    return same_settings(&settings, &p->fresh) && !pty_alternate(p) && pty_cursor_visible(p) && !pty_mouse(p) &&
           !pty_paste(p);
}

const Str *pty_bytes(Pty *p) {
    pty_pump(p, 0);
    return &p->bytes;
}

/* ---- waiting ---- */

static void fail_with_screen(Pty *p, const char *what) {
    Str text;
    str_init(&text);
    pty_text(p, &text);
    fail_msg("%s did not come%s (status %d); the screen:\n%s", what, p->ended ? ", the child ended" : "", p->status,
             text.s);
}

void pty_expect_if(Pty *p, bool (*holds)(Pty *p, void *user), void *user, const char *what) {
    double end = now() + LIMIT;
    pty_pump(p, 0);
    while (!holds(p, user)) {
        if (now() > end) fail_with_screen(p, what);
        pty_pump(p, 0.1);
    }
}

static bool holds_text(Pty *p, void *user) {
    Str text;
    str_init(&text);
    pty_text(p, &text);
    bool found = strstr(text.s, (const char *)user) != NULL;
    str_done(&text);
    return found;
}

void pty_expect(Pty *p, const char *text) {
    pty_expect_if(p, holds_text, (void *)text, text);
}

typedef struct {
    int y;
    const char *text;
} Line;

static bool holds_line(Pty *p, void *user) {
    const Line *line = user;
    Str text;
    str_init(&text);
    pty_line(p, line->y, &text);
    bool same = strcmp(text.s, line->text) == 0;
    str_done(&text);
    return same;
}

void pty_expect_line(Pty *p, int y, const char *text) {
    pty_expect_if(p, holds_line, &(Line){y, text}, text);
}

static bool has_read(Pty *p) {
    int left = 0;
    return ioctl(p->slave, FIONREAD, &left) == 0 && left == 0;
}

/* Seen at once: what is typed next may have to come soon. */
void pty_expect_read(Pty *p) {
    for (double until = now() + LIMIT; !has_read(p); pty_pump(p, 0.002))
        if (now() > until) fail_with_screen(p, "the reading of what was typed");
}

static bool has_ended(Pty *p, void *user) {
    (void)user;
    return p->ended;
}

static bool has_stopped(Pty *p, void *user) {
    (void)user;
    return p->stopped;
}

int pty_expect_exit(Pty *p) {
    pty_expect_if(p, has_ended, NULL, "the end");
    return p->status;
}

void pty_expect_full(Pty *p) {
    struct pollfd room = {p->slave, POLLOUT, 0};
    for (double until = now() + LIMIT; poll(&room, 1, 0) == 1; room.revents = 0) {
        if (now() > until) fail_msg("the terminal is not full");
        poll(NULL, 0, 5);
    }
}

int pty_expect_exit_unread(Pty *p) {
    struct pollfd report = {p->reports, POLLIN, 0};
    if (poll(&report, 1, (int)(LIMIT * 1000)) != 1) fail_msg("it does not end while nobody reads");
    read_report(p);
    assert_true(p->ended);
    return p->status;
}

void pty_expect_stop(Pty *p) {
    pty_expect_if(p, has_stopped, NULL, "the stop");
}

static bool given_back(Pty *p, void *user) {
    (void)user;
    return pty_is_given_back(p);
}

void pty_expect_given_back(Pty *p) {
    pty_expect_if(p, given_back, NULL, "the terminal as it was");
}

bool pty_count_writes(long *calls, long *bytes) {
    char line[128];
    int found = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (f == NULL) return false;
    while (fgets(line, sizeof line, f) != NULL) {
        found += sscanf(line, "syscw: %ld", calls);
        found += sscanf(line, "wchar: %ld", bytes);
    }
    fclose(f);
    return found == 2;
}
