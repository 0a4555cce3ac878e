/* bench_screen: what the screen costs and how fast it answers, end to end: the program in a pseudo-terminal, training
 * with two threads. One JSON line a figure:
 *   first_frame  from the start of the program to its whole first picture, at 120 x 40
 *   idle     processor time of a run that is held, as a share of a core; memory: the most it held, the past included
 *   latency  from a byte that is typed to the cell that shows it, at 80 x 24 and at 200 x 60; the keys come at random
 *            moments, so all phases of a frame are met
 *   steps    per second of the same training: live at 200 x 60, tests on the way included, and headless, by rounds that
 *            take turns
 * Not a test: it asserts no time.
 *   bench_screen [keys [rounds [seconds per round]]] */
#include "expect.h"

#include "bench_frame.h"
#include "clock.h"
#include "pty.h"
#include "rng.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME "\033[?2026h" /* begins a picture */
#define MARK  0x25B8        /* ▸ before the clock that the keys move */

enum { KEYS_MOST = 100000, ROUNDS_MOST = 100 };

static const char *const live[] = {LANTERN_PROGRAM, "epochs=1000", "threads=2", NULL};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(double *x, int n, double q) {
    qsort(x, (size_t)n, sizeof *x, compare);
    int at = (int)(q * n);
    return x[at < n ? at : n - 1];
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
    double ms[ROUNDS_MOST];
    static const char *const plain[] = {LANTERN_PROGRAM, NULL};
    for (int i = 0; i < n; i++) {
        double begin = clock_now();
        Pty *p = pty_spawn(&(PtyOptions){.w = 120, .h = 40}, plain);
        pty_expect_if(p, is_whole, NULL, "the first picture");
        ms[i] = 1000 * (clock_now() - begin);
        close_screen(p);
    }
    double median = quantile(ms, n, 0.5);
    printf("{\"figure\": \"first_frame\", \"screen\": \"120x40\", \"starts\": %d, \"unit\": \"ms\", \"median\": %.1f, "
           "\"least\": %.1f, \"most\": %.1f}\n",
           n, median, ms[0], ms[n - 1]);
}

/* Of the child: seconds of the processor so far, and the most memory that it held, in MB. */
static void read_child(Pty *p, double *seconds, double *megabytes) {
    char path[64], line[512];
    long user = 0, system = 0, kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pty_child(p));
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
        (void)sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    if (f) fclose(f);
    snprintf(path, sizeof path, "/proc/%d/status", (int)pty_child(p));
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) (void)sscanf(line, "VmHWM: %ld", &kilobytes);
    if (f) fclose(f);
    *seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    *megabytes = (double)kilobytes / 1024;
}

/* After some steps, held for so long. */
static void measure_rest(double seconds) {
    double before, after, megabytes;
    Pty *p = open_screen(120, 40);
    pty_type(p, " ");
    watch(p, 1);
    read_child(p, &before, &megabytes);
    watch(p, seconds);
    read_child(p, &after, &megabytes);
    close_screen(p);
    printf("{\"figure\": \"idle\", \"screen\": \"120x40\", \"seconds\": %g, \"unit\": \"share of a core\", \"value\": "
           "%.4f}\n",
           seconds, (after - before) / seconds);
    printf("{\"figure\": \"memory\", \"screen\": \"120x40\", \"unit\": \"MB\", \"value\": %.1f}\n", megabytes);
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
    double *ms = MEM_ARRAY(double, (size_t)keys);
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
        ms[i] = 1000 * (clock_now() - begin);
    }
    close_screen(p);
    double median = quantile(ms, keys, 0.5);
    printf("{\"figure\": \"latency\", \"screen\": \"%dx%d\", \"keys\": %d, \"unit\": \"ms\", \"median\": %.1f, "
           "\"p99\": %.1f, "
           "\"worst\": %.1f}\n",
           w, h, keys, median, quantile(ms, keys, 0.99), ms[keys - 1]);
    mem_free(ms);
}

/* ---- steps ---- */

static long frames_in(const char *bytes) {
    long n = 0;
    while ((bytes = strstr(bytes, FRAME)) != NULL) n++, bytes += strlen(FRAME);
    return n;
}

/* FRAMES: pictures a second. */
static double live_rate(double seconds, double *frames) {
    int y;
    Pty *p = open_screen(200, 60);
    long from = step_shown(p, &y);
    size_t before = pty_bytes(p)->len;
    double begin = clock_now();
    watch(p, seconds);
    double took = clock_now() - begin, rate = (double)(step_shown(p, &y) - from) / took;
    *frames = (double)frames_in(pty_bytes(p)->s + before) / took;
    close_screen(p);
    return rate;
}

/* Steps by the time that lm.train says they took: making the corpus and the tests at the end are not in it. */
static double headless_rate(void) {
    FILE *f = popen(LANTERN_PROGRAM " run lm.train arch=modern threads=2 epochs=1 --csv -", "r");
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
    double with_screen[ROUNDS_MOST], headless[ROUNDS_MOST], frames[ROUNDS_MOST], share[ROUNDS_MOST];
    for (int i = 0; i < rounds; i++) {
        with_screen[i] = live_rate(seconds, &frames[i]);
        headless[i] = headless_rate();
        share[i] = with_screen[i] / headless[i];
    }
    double a = quantile(with_screen, rounds, 0.5), b = quantile(headless, rounds, 0.5);
    printf("{\"figure\": \"steps\", \"screen\": \"200x60\", \"unit\": \"steps/s\", \"live\": %.1f, \"headless\": %.1f, "
           "\"share\": %.3f, \"frames_per_s\": %.1f}\n",
           a, b, quantile(share, rounds, 0.5), quantile(frames, rounds, 0.5));
}

static int argument(int argc, char **argv, int i, int otherwise, int most) {
    int n = argc > i ? atoi(argv[i]) : otherwise;
    return n < 1 ? 1 : n > most ? most : n;
}

int main(int argc, char **argv) {
    int keys = argument(argc, argv, 1, 300, KEYS_MOST), rounds = argument(argc, argv, 2, 7, ROUNDS_MOST);
    int seconds = argument(argc, argv, 3, 3, 3600);
    bench_heat(100);
    bench_wall(100);
    measure_first_frame(21);
    measure_rest(10);
    measure_latency(80, 24, keys);
    measure_latency(200, 60, keys);
    measure_steps(rounds, seconds);
    return 0;
}
