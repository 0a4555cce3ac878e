/* bench_look: what it costs to look: a snapshot of a live run that has trained for a while, by each observer alone and
 * by those of the wall together, in ms of this thread's time. A figure each; "name" says which.
 *   bench_look [looks [key=value ...]] */
#include "lab.h"

#include "bench.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *watch;
} looks[] = {
#define OBSERVER(name, help) {#name, "watch " #name},
#include "observers.def"
#undef OBSERVER
    {"wall", "watch tokens curve attention rope next path filter beam mask step cache bpe"},
};

static void check(Status s) {
    if (status_is_ok(&s)) return;
    fprintf(stderr, "bench_look: %s\n", s.text);
    exit(1);
}

/* Looks of a running lab: between any two there is a step. */
static void measure(Lab *l, const char *name, const char *watch, int runs) {
    BenchFigure f = {.unit = "ms of CPU", .threads = 1};
    (void)snprintf(f.name, sizeof f.name, "look.%s", name);
    check(lab_do(l, watch));
    snapshot_unref(lab_snapshot(l));
    while (f.runs < runs) {
        (void)lab_turn(l);
        double begin = clock_cpu();
        Snapshot *s = lab_snapshot(l);
        bench_add(&f, 1000 * (clock_cpu() - begin));
        snapshot_unref(s);
    }
    bench_print(&f);
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 0, steps = (int)bench_size(120, 4);
    if (runs < 1 || runs > BENCH_RUNS_MOST) runs = (int)bench_size(100, 1);
    Options *o = lab_options();
    check(options_set_pair(o, "epochs=1000"));
    for (int i = 2; i < argc; i++) check(options_set_pair(o, argv[i]));
    Lab *l = lab_new(o);
    check(lab_prepare(l));
    for (int i = 0; i < steps; i++) (void)lab_turn(l);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) measure(l, looks[i].name, looks[i].watch, runs);
    lab_free(l);
    return 0;
}
