/* bench_catalog: seconds of every experiment of the catalogue at its defaults (with a sentence where one must be
 * given), as `lantern run ID` takes them from beginning to end, with the processor's seconds and the most memory beside
 * them; the slow ones fewer times. Models that experiments keep are trained before, in a run that is not counted.
 * bench_catalog [ID ...] */
#include "bench.h"

#include "catalog.h"
#include "clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    double seconds, processor, bytes;
} Cost;

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* What has no default. */
static const char *argument_of(const char *id) {
    static const char *const scored[] = {"grammar.score", "lm.score"};
    for (size_t i = 0; i < sizeof scored / sizeof *scored; i++)
        if (strcmp(id, scored[i]) == 0) return "text=the dog eats bones every day .";
    return NULL;
}

static Cost run_once(const char *id) {
    struct rusage used;
    int status;
    double begin = clock_now();
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)execl(LANTERN_PROGRAM, LANTERN_PROGRAM, "run", id, argument_of(id), (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "bench_catalog: %s failed\n", id);
        exit(1);
    }
    return (Cost){clock_now() - begin, seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
                  1024.0 * (double)used.ru_maxrss};
}

static void measure(const char *id) {
    BenchFigure f = {.unit = "s", .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    Cost first = run_once(id), cost = first;
    double least = 0;
    int runs = bench_is_tiny() || first.seconds > 10 ? 1 : 5;
    for (int r = 0; r < runs; r++) {
        if (!bench_is_tiny() && (r > 0 || first.seconds < 30)) cost = run_once(id);
        bench_add(&f, cost.seconds);
        if (r == 0 || cost.processor < least) least = cost.processor;
    }
    (void)snprintf(f.name, sizeof f.name, "catalog.%s", id);
    (void)snprintf(f.more, sizeof f.more, ", \"processor\": %.3f, \"megabytes\": %.0f", least, cost.bytes / 1e6);
    bench_print(&f);
}

int main(int argc, char **argv) {
    if (bench_is_tiny()) return measure("arch.account"), 0;
    for (int i = 1; i < argc; i++) measure(argv[i]);
    for (int i = 0; argc == 1 && i < catalog_count(); i++) measure(catalog_at(i)->id);
    return 0;
}
