/* bench_window: milliseconds of sliding-window attention of one head, W=64 and d=64, one thread, by each method and
 * length; "per_token" in microseconds shows whether the time grows with the length alone.
 *   bench_window [seconds per round] */
#include "bench.h"

#include "mem.h"
#include "rng.h"
#include "window_kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 64, WIDTH = 64, LENGTHS = 6, MASKED_MOST = 4096 };

typedef struct {
    BenchFigure figure;
    WindowMethod method;
    WindowAttention a;
    real *scratch;
} Case;

static void open_case(Case *c, WindowMethod m, int T) {
    size_t n = (size_t)T * WIDTH;
    real *x = mem_aligned(4 * n, sizeof *x);
    Rng rng = rng_at(1, "bench", (uint64_t)T);
    for (size_t i = 0; i < 3 * n; i++) x[i] = (real)rng_normal(&rng);
    *c = (Case){.figure = {.unit = "ms", .threads = 1}, .method = m};
    (void)snprintf(c->figure.name, sizeof c->figure.name, "window.%s.T%d", window_method_name(m), T);
    c->a = (WindowAttention){.T = T, .d = WIDTH, .window = WINDOW, .q = x, .k = x + n, .v = x + 2 * n, .y = x + 3 * n};
    c->scratch = mem_aligned(window_scratch(m, T, WIDTH, WINDOW), sizeof *c->scratch);
}

static void close_case(Case *c) {
    mem_free((real *)c->a.q);
    mem_free(c->scratch);
}

static void attend(void *data) {
    Case *c = data;
    if (!window_attend(c->method, &c->a, c->scratch)) exit(1);
}

int main(int argc, char **argv) {
    static const int lengths[LENGTHS] = {512, 1024, 2048, 4096, 8192, 16384};
    double seconds = argc > 1 ? atof(argv[1]) : bench_size(.05, 0);
    static Case cases[LENGTHS * WINDOW_METHODS];
    int n = 0, many = (int)bench_size(LENGTHS, 1);
    for (int t = 0; t < many; t++)
        for (int m = 0; m < WINDOW_METHODS; m++)
            if (m != WINDOW_MASKED || lengths[t] <= MASKED_MOST) open_case(&cases[n++], (WindowMethod)m, lengths[t]);
    for (int i = 0; i < n; i++) attend(&cases[i]);
    for (int r = 0; r < bench_runs(); r++)
        for (int i = 0; i < n; i++) bench_add(&cases[i].figure, 1000 * bench_time(attend, &cases[i], seconds));
    for (int i = 0; i < n; i++) {
        BenchFigure *f = &cases[i].figure;
        (void)snprintf(f->more, sizeof f->more, ", \"per_token\": %.4g", 1000 * bench_median(f) / cases[i].a.T);
        bench_print(f);
        close_case(&cases[i]);
    }
    return 0;
}
