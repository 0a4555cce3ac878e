/* bench_screen: what the screen costs and how fast it answers, end to end: the program in a pseudo-terminal, training
 * with two threads. Beside those of bench_frame its figures are
 *   screen.first_frame  from the start of the program to its whole first picture, at 120 x 40
 *   screen.idle     processor time of a run that is held, as a share of a core
 *   screen.latency  from a byte that is typed to the cell that shows it, at 80 x 24 and at 200 x 60; the keys come at
 *                   random moments, so all phases of a frame are met
 *   screen.steps    per second of the same training: live at 200 x 60, with its tests on the way, its history and its
 *                   pictures, and headless, by rounds that take turns; share: of the two
 *
 *   bench_screen [keys [rounds [seconds per round]]]     keys 0: the steps alone */
#include "expect.h"

#include "bench.h"
#include "bench_frame.h"
#include "clock.h"
#include "pty.h"
#include "rng.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME "\033[?2026h" /* begins a picture */
#define MARK  0x25B8        /* ▸ before the clock that the keys move */

static const char *const live[] = {LANTERN_PROGRAM, "epochs=1000", "threads=2", NULL};

static BenchFigure figure(const char *name, const char *unit, int w, int h) {
    BenchFigure f = {.unit = unit, .threads = 2};
    (void)snprintf(f.name, sizeof f.name, "screen.%s", name);
    (void)snprintf(f.more, sizeof f.more, ", \"screen\": \"%dx%d\"", w, h);
    return f;
}

/* ---- the screen ---- */

/* The step of the row "▸train ▶ ━━━ 1,032/1,565"; -1: none yet. *Y: where it stands. */
static long step_shown(Pty *p, int *y) {
    for (*y = 0; *y < pty_height(p); ++*y) {
        Str line;
        long step = -1;
        str_init(&line);
        pty_line(p, *y, &line);
        const char *slash = strstr(line.s, "train ") ? strstr(line.s, "/313,") : NULL; /* of 313,000 */
        if (slash) {
            const char *digit = slash;
            while (digit[-1] == ',' || (digit[-1] >= '0' && digit[-1] <= '9')) digit--;
            for (step = 0; digit < slash; digit++)
                if (*digit != ',') step = 10 * step + (*digit - '0');
        }
        str_done(&line);
        if (step >= 0) return step;
    }
    return -1;
}

static bool is_beyond(Pty *p, void *step) {
    int y;
    return step_shown(p, &y) > *(long *)step;
}

/* Well under way: tests and the first frames are behind it. */
static Pty *open_screen(int w, int h) {
    long step = 60;
    Pty *p = pty_spawn(&(PtyOptions){.w = w, .h = h}, live);
    pty_expect_if(p, is_beyond, &step, "training");
    return p;
}

static void close_screen(Pty *p) {
    pty_signal(p, SIGTERM);
    (void)pty_expect_exit(p);
    pty_free(p);
}

/* Takes in what the screen writes for so long. */
static void watch(Pty *p, double seconds) {
    double end = clock_now() + seconds;
    for (double left = seconds; left > 0; left = end - clock_now()) pty_pump(p, left);
}

/* ---- at rest ---- */

static bool is_whole(Pty *p, void *user) {
    (void)user;
    return pty_line_holds(p, 39, "quit") && pty_line_holds(p, 38, "train");
}

static void measure_first_frame(int n) {
    BenchFigure f = figure("first_frame", "ms", 120, 40);
    static const char *const plain[] = {LANTERN_PROGRAM, NULL};
    for (int i = 0; i < n; i++) {
        double begin = clock_now();
        Pty *p = pty_spawn(&(PtyOptions){.w = 120, .h = 40}, plain);
        pty_expect_if(p, is_whole, NULL, "the first picture");
        bench_add(&f, 1000 * (clock_now() - begin));
        close_screen(p);
    }
    bench_print(&f);
}

/* Of the child: seconds of the processor that its threads have used so far. */
static double seconds_of(Pty *p) {
    char path[300];
    double sum = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pty_child(p));
    DIR *threads = opendir(path);
    for (struct dirent *e; threads && (e = readdir(threads)) != NULL;) {
        double nanoseconds = 0;
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pty_child(p), e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%lf", &nanoseconds) == 1) sum += 1e-9 * nanoseconds;
        if (f) (void)fclose(f);
    }
    if (threads) (void)closedir(threads);
    return sum;
}

/* After some steps, held: so many times for so long. */
static void measure_rest(int runs, double seconds) {
    BenchFigure idle = figure("idle", "share of a core", 120, 40);
    Pty *p = open_screen(120, 40);
    pty_type(p, " ");
    watch(p, 1);
    for (int i = 0; i < runs; i++) {
        double before = seconds_of(p);
        watch(p, seconds);
        bench_add(&idle, (seconds_of(p) - before) / seconds);
    }
    close_screen(p);
    bench_print(&idle);
}

/* ---- latency ---- */

typedef struct {
    int y;
    bool marked;
} Wanted;

static bool shows_mark(Pty *p, void *user) {
    const Wanted *w = user;
    return (pty_cell(p, 0, w->y).ch == MARK) == w->marked;
}

static void measure_latency(int w, int h, int keys) {
    BenchFigure f = figure("latency", "ms", w, h);
    (void)snprintf(f.name, sizeof f.name, "screen.latency.%dx%d", w, h);
    Rng rng = rng_at(1, "keys", 0);
    Pty *p = open_screen(w, h);
    Wanted wanted = {.marked = true};
    (void)step_shown(p, &wanted.y);
    for (int i = 0; i < keys; i++) {
        watch(p, 0.02 + 0.1 * rng_unit(&rng));
        wanted.marked = !wanted.marked;
        double begin = clock_now();
        pty_type(p, "c");
        pty_expect_if(p, shows_mark, &wanted, "the other clock");
        bench_add(&f, 1000 * (clock_now() - begin));
    }
    close_screen(p);
    (void)snprintf(f.more, sizeof f.more, ", \"screen\": \"%dx%d\", \"p99\": %.3g", w, h, bench_quantile(&f, 0.99));
    bench_print(&f);
}

/* ---- steps ---- */

static long frames_in(const char *bytes) {
    long n = 0;
    while ((bytes = strstr(bytes, FRAME)) != NULL) n++, bytes += strlen(FRAME);
    return n;
}

/* For so long; returns when the last picture came. What a terminal needs for its picture is not the program's: it is
 * made up for at the end, while the program stands still. */
static double watch_away(Pty *p, double seconds) {
    double end = clock_now() + seconds, last = clock_now();
    pty_look_away(p, true);
    for (double left = seconds; left > 0; left = end - clock_now()) {
        size_t before = pty_bytes(p)->len;
        pty_pump(p, left);
        if (pty_bytes(p)->len > before) last = clock_now();
    }
    pty_signal(p, SIGSTOP);
    pty_look_away(p, false);
    return last;
}

/* Between two pictures, since what an older one shows is no longer true. FRAMES: pictures a second. */
static double live_rate(double seconds, double *frames) {
    int y;
    Pty *p = open_screen(200, 60);
    long from = step_shown(p, &y);
    pty_expect_if(p, is_beyond, &from, "the next picture");
    double begin = clock_now();
    from = step_shown(p, &y);
    size_t before = pty_bytes(p)->len;
    double took = watch_away(p, seconds) - begin;
    double rate = (double)(step_shown(p, &y) - from) / took;
    *frames = (double)frames_in(pty_bytes(p)->s + before) / took;
    pty_free(p);
    return rate;
}

/* Steps by the time that lm.train says they took: making the corpus and the tests at the end are not in it. */
static double headless_rate(void) {
    FILE *f = popen(LANTERN_PROGRAM " run lm.train arch=modern threads=2 epochs=5 --csv -", "r");
    if (!f) exit(1);
    char line[400];
    double time = 0;
    long steps = 0;
    if (!fgets(line, sizeof line, f)) exit(1);
    while (fgets(line, sizeof line, f)) {
        long step, tokens;
        double loss, learning_rate, norm, per_second;
        if (sscanf(line, "%ld,%ld,%lf,%lf,%lf,%lf", &step, &tokens, &loss, &learning_rate, &norm, &per_second) != 6)
            exit(1);
        time += (double)tokens / per_second;
        steps++;
    }
    if (pclose(f) != 0 || !(time > 0)) exit(1);
    return (double)steps / time;
}

static void measure_steps(int rounds, double seconds) {
    BenchFigure live_steps = figure("steps.live", "steps/s", 200, 60), share = figure("steps.share", "ratio", 200, 60);
    BenchFigure headless = {.name = "screen.steps.headless", .unit = "steps/s", .threads = 2}, frames = {0};
    for (int i = 0; i < rounds; i++) {
        double pictures, a = live_rate(seconds, &pictures), b = headless_rate();
        bench_add(&live_steps, a);
        bench_add(&headless, b);
        bench_add(&share, a / b);
        bench_add(&frames, pictures);
    }
    (void)snprintf(live_steps.more, sizeof live_steps.more, ", \"screen\": \"200x60\", \"frames_per_s\": %.3g",
                   bench_median(&frames));
    bench_print(&live_steps);
    bench_print(&headless);
    bench_print(&share);
}

static int argument(int argc, char **argv, int i, int otherwise, int least, int most) {
    int n = argc > i ? atoi(argv[i]) : otherwise;
    return n < least ? least : n > most ? most : n;
}

int main(int argc, char **argv) {
    int keys = argument(argc, argv, 1, 300, 0, BENCH_RUNS_MOST),
        rounds = argument(argc, argv, 2, BENCH_RUNS, 1, BENCH_RUNS_MOST);
    int seconds = argument(argc, argv, 3, 3, 1, 3600);
    if (keys > 0) {
        bench_heat(100);
        bench_wall(100);
        measure_first_frame(21);
        measure_rest(5, 3);
        measure_latency(80, 24, keys);
        measure_latency(200, 60, keys);
    }
    measure_steps(rounds, seconds);
    return 0;
}
