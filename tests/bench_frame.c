#include "bench_frame.h"

#include "expect.h"

#include "app.h"
#include "bench.h"
#include "clock.h"
#include "draw.h"
#include "intl.h"
#include "pty.h"
#include "style.h"
#include "term.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { FRAMES_MOST = 1000, COLUMNS = 200, ROWS = 60, STEPS = 60 };

/* Of one frame. */
typedef struct {
    double draw_ms, send_ms;
    long writes, bytes;
} Cost;

typedef struct {
    int frames;
    Cost changed[FRAMES_MOST], same[FRAMES_MOST];
    bool failed;
} Result;

static Result *result; /* shared with the child */

static Cost show(Term *t, const Canvas *c, const StyleSheet *style, double drawn_since) {
    Cost cost = {0};
    long writes = 0, bytes = 0;
    double before = clock_cpu();
    cost.draw_ms = 1000 * (before - drawn_since);
    (void)pty_count_writes(&writes, &bytes);
    before = clock_cpu();
    t->present(t, c, style);
    cost.send_ms = 1000 * (clock_cpu() - before);
    (void)pty_count_writes(&cost.writes, &cost.bytes);
    cost.writes -= writes;
    cost.bytes -= bytes;
    return cost;
}

static Term *open_term(void) {
    Term *t = NULL;
    const TermOptions options = {.depth = -1, .glyphs = -1, .utf8 = true};
    setlocale(LC_ALL, "C.UTF-8");
    Status s = term_curses_open(&options, &t);
    return status_is_ok(&s) ? t : NULL;
}

/* --- heat --- */

/* A hill that wanders, so that all values change from frame to frame. */
static int hill(const void *data, int row, int column) {
    int phase = *(const int *)data;
    double x = column / (double)COLUMNS - 0.5 - 0.02 * (phase % 10), y = row / (2.0 * ROWS) - 0.5 + 0.01 * (phase % 10);
    return (int)(250 / (1 + 9 * (x * x + y * y)));
}

static int show_heat(void *user) {
    (void)user;
    Term *t = open_term();
    if (!t) return 1;
    const StyleSheet style = {THEME_DARK, MAP_VIRIDIS, t->depth(t), THEME_DARK};
    Canvas *c = canvas_new(COLUMNS, ROWS, t->glyphs(t));
    int phase = 0;
    Heat heat = {.rows = 2 * ROWS,
                 .cols = COLUMNS,
                 .cell_w = 1,
                 .cell_h = 1,
                 .map = HEAT_SEQUENTIAL,
                 .heat = hill,
                 .data = &phase,
                 .cursor_row = -1,
                 .cursor_col = -1};
    for (int i = 0; i < result->frames; i++) {
        double begin = clock_cpu();
        phase++;
        canvas_clear(c);
        draw_heat(c, (Rect){0, 0, COLUMNS, ROWS}, &heat);
        result->changed[i] = show(t, c, &style, begin);
        result->same[i] = show(t, c, &style, clock_cpu());
    }
    canvas_free(c);
    t->free(t);
    return 0;
}

/* --- the wall --- */

static Worker *train(void) {
    Options *o = lab_options();
    Status s = options_set_pair(o, "epochs=1000");
    if (!status_is_ok(&s)) return NULL;
    Worker *w = worker_new(lab_new(o), WORKER_INLINE);
    for (int i = 0; i < STEPS; i++) (void)worker_pump(w);
    return w;
}

static int show_wall(void *user) {
    (void)user;
    Term *t = open_term();
    Worker *w = t ? train() : NULL;
    if (!w) return 1;
    App *a = app_new(w, t->glyphs(t), t->depth(t));
    Canvas *c = canvas_new(COLUMNS, ROWS, t->glyphs(t));
    for (int i = 0; i < result->frames; i++) {
        (void)worker_pump(w);
        double begin = clock_cpu();
        (void)app_tick(a);
        app_draw(a, c);
        result->changed[i] = show(t, c, app_style(a), begin);
        result->same[i] = show(t, c, app_style(a), clock_cpu());
    }
    canvas_free(c);
    app_free(a);
    worker_free(w);
    t->free(t);
    return 0;
}

/* --- figures --- */

static void print(const char *figure, const char *frame, const Cost *cost, int n) {
    BenchFigure f = {.unit = "ms of CPU", .threads = 1}, draw = {0}, send = {0};
    long writes = 0, bytes = 0;
    for (int i = 0; i < n; i++) {
        if (cost[i].writes > writes) writes = cost[i].writes;
        if (cost[i].bytes > bytes) bytes = cost[i].bytes;
        bench_add(&f, cost[i].draw_ms + cost[i].send_ms);
        bench_add(&draw, cost[i].draw_ms);
        bench_add(&send, cost[i].send_ms);
    }
    (void)snprintf(f.name, sizeof f.name, "frame.%s.%s", figure, frame);
    (void)snprintf(f.more, sizeof f.more,
                   ", \"screen\": \"%dx%d\", \"draw\": %.3g, \"send\": %.3g, \"writes_most\": %ld, \"bytes_most\": %ld",
                   COLUMNS, ROWS, bench_median(&draw), bench_median(&send), writes, bytes);
    bench_print(&f);
}

/* The first frames fill an empty screen and are not counted. */
static void measure(const char *figure, int (*play)(void *), int frames) {
    enum { FIRST = 3 };
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED) exit(1);
    *result = (Result){.frames = frames + FIRST > FRAMES_MOST ? FRAMES_MOST : frames + FIRST};
    Pty *p = pty_call(&(PtyOptions){.w = COLUMNS, .h = ROWS}, play, NULL);
    if (pty_expect_exit(p) != 0) exit(1);
    pty_free(p);
    print(figure, "changed", result->changed + FIRST, result->frames - FIRST);
    print(figure, "same", result->same + FIRST, result->frames - FIRST);
    munmap(result, sizeof *result);
}

void bench_heat(int frames) {
    measure("heat", show_heat, frames);
}

void bench_wall(int frames) {
    measure("wall", show_wall, frames);
}
