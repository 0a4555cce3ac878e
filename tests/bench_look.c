/* bench_look: what it costs to look: a snapshot of a live run that has trained for a while, by each observer alone and
 * by all of them, in ms of this thread's time. One JSON line each. Not a test: it asserts no time.
 *   bench_look [looks [key=value ...]] */
#include "lab.h"

#include "bug.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 120, LOOKS_MOST = 10000 };

static const char *const watches[] = {
#define OBSERVER(name, help) "watch " #name,
#include "observers.def"
#undef OBSERVER
    "watch tokens curve attention rope next path filter beam mask step cache bpe", /* of the wall */
};

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double thread_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1000 * (double)t.tv_sec + (double)t.tv_nsec / 1e6;
}

static void check(Status s) {
    if (status_is_ok(&s)) return;
    fprintf(stderr, "bench_look: %s\n", s.text);
    exit(1);
}

/* Looks of a running lab: between any two there is a step. */
static void measure(Lab *l, const char *watch, int looks, double *ms) {
    check(lab_do(l, watch));
    snapshot_unref(lab_snapshot(l));
    for (int i = 0; i < looks; i++) {
        (void)lab_turn(l);
        double begin = thread_ms();
        Snapshot *s = lab_snapshot(l);
        ms[i] = thread_ms() - begin;
        snapshot_unref(s);
    }
    qsort(ms, (size_t)looks, sizeof *ms, compare);
    printf("{\"figure\": \"look\", \"observers\": \"%s\", \"looks\": %d, \"unit\": \"ms\", \"median\": %.3f, "
           "\"worst\": %.3f}\n",
           watch + sizeof "watch", looks, ms[looks / 2], ms[looks - 1]);
}

int main(int argc, char **argv) {
    int looks = argc > 1 ? atoi(argv[1]) : 100;
    if (looks < 1 || looks > LOOKS_MOST) looks = 100;
    double *ms = MEM_ARRAY(double, (size_t)looks);
    Options *o = lab_options();
    check(options_set_pair(o, "epochs=1000"));
    for (int i = 2; i < argc; i++) check(options_set_pair(o, argv[i]));
    Lab *l = lab_new(o);
    check(lab_prepare(l));
    for (int i = 0; i < STEPS; i++) (void)lab_turn(l);
    for (size_t i = 0; i < sizeof watches / sizeof *watches; i++) measure(l, watches[i], looks, ms);
    lab_free(l);
    mem_free(ms);
    return 0;
}
