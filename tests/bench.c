#include "bench.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool bench_is_tiny(void) {
    return getenv("BENCH_TINY") != NULL;
}

double bench_size(double normal, double tiny) {
    return bench_is_tiny() ? tiny : normal;
}

int bench_runs(void) {
    return bench_is_tiny() ? 1 : BENCH_RUNS;
}

void bench_add(BenchFigure *f, double value) {
    if (f->runs == BENCH_RUNS_MOST) exit(1);
    f->x[f->runs++] = value;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sorted(const BenchFigure *f, double *x) {
    memcpy(x, f->x, (size_t)f->runs * sizeof *x);
    qsort(x, (size_t)f->runs, sizeof *x, by_size);
}

double bench_median(const BenchFigure *f) {
    double x[BENCH_RUNS_MOST];
    sorted(f, x);
    return (x[(f->runs - 1) / 2] + x[f->runs / 2]) / 2;
}

double bench_quantile(const BenchFigure *f, double q) {
    double x[BENCH_RUNS_MOST];
    int at = (int)(q * f->runs);
    sorted(f, x);
    return x[at < f->runs ? at : f->runs - 1];
}

/* As /proc/cpuinfo calls it. */
static const char *processor(void) {
    static char name[128];
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (!name[0] && f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n\"\\")] = '\0';
        (void)snprintf(name, sizeof name, "%s", colon + 2);
    }
    if (f) (void)fclose(f);
    return name[0] ? name : "unknown";
}

void bench_print(const BenchFigure *f) {
    double x[BENCH_RUNS_MOST], median = bench_median(f);
    const char *commit = getenv("BENCH_COMMIT");
    sorted(f, x);
    printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"max\": %.6g, "
           "\"runs\": %d, \"threads\": %d%s, \"cpu\": \"%s\", \"commit\": \"%s\"}\n",
           f->name, median, f->unit, median, x[0], x[f->runs - 1], f->runs, f->threads, f->more, processor(),
           commit ? commit : "unknown");
    (void)fflush(stdout);
}

static double time_by(double (*now)(void), void (*function)(void *data), void *data, double seconds) {
    long calls = 0;
    double begin = now(), end = begin;
    do {
        function(data);
        calls++;
        end = now();
    } while (end - begin < seconds);
    return (end - begin) / (double)calls;
}

double bench_time(void (*function)(void *data), void *data, double seconds) {
    return time_by(clock_now, function, data, seconds);
}

double bench_cpu_time(void (*function)(void *data), void *data, double seconds) {
    return time_by(clock_cpu, function, data, seconds);
}

double bench_apart(double (*function)(const void *data), const void *data, double *bytes) {
    int end[2], status;
    double value;
    struct rusage used;
    if (pipe(end) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        value = function(data);
        _exit(write(end[1], &value, sizeof value) == sizeof value ? 0 : 1);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
        read(end[0], &value, sizeof value) != sizeof value) {
        fprintf(stderr, "bench: a case failed\n");
        exit(1);
    }
    (void)close(end[0]);
    (void)close(end[1]);
    *bytes = 1024.0 * (double)used.ru_maxrss;
    return value;
}
