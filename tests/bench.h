/* bench: what the programs bench_* have in common. A figure is measured several times, cases in turn, and becomes one
 * line of JSON: name, value (the median), unit, median, min, max, runs, threads, cpu, commit, and what else the program
 * says of it. Nothing here is a test: no time is asserted.
 *
 * BENCH_TINY in the environment makes all sizes so small that a suite can run the programs; the figures mean nothing
 * then. BENCH_COMMIT is what stands under "commit" ("unknown" when not set). */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdbool.h>

enum { BENCH_RUNS = 7, BENCH_RUNS_MOST = 1000 };

typedef struct {
    char name[64]; /* "train.modern" */
    const char *unit;
    int threads;
    char more[200]; /* further members of the JSON object, each with a comma before it; "" for none */
    int runs;
    double x[BENCH_RUNS_MOST];
} BenchFigure;

bool bench_is_tiny(void);
/* NORMAL, or TINY when sizes are to be tiny. */
double bench_size(double normal, double tiny);
int bench_runs(void); /* BENCH_RUNS, or 1 */

/* Puts the next run's value into F. */
void bench_add(BenchFigure *f, double value);
double bench_median(const BenchFigure *f);
double bench_quantile(const BenchFigure *f, double q); /* the run below which a share Q of them lies */
void bench_print(const BenchFigure *f);

/* Calls FUNCTION until SECONDS have passed, at least once; returns seconds a call. */
double bench_time(void (*function)(void *data), void *data, double seconds);
/* The same in processor time of this thread. */
double bench_cpu_time(void (*function)(void *data), void *data, double seconds);

/* FUNCTION in a process of its own: what it returns, and the most memory it held, in bytes. Exits when it fails. */
double bench_apart(double (*function)(const void *data), const void *data, double *bytes);

#endif
