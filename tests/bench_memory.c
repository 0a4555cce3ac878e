/* bench_memory: the most memory that the program held in a whole training run on the screen, its history included: in a
 * pseudo-terminal, as most people start it, to the last step of training.
 *   bench_memory */
#include "expect.h"

#include "bench.h"
#include "pty.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *const usual[] = {LANTERN_PROGRAM, NULL};
static const char *const tiny[] = {LANTERN_PROGRAM, "d=16", "layers=1", "sentences=640", "epochs=1", NULL};

/* The train row stands at "1,565/1,565", not at the "0/0" before there is a run. */
static bool is_done(Pty *p, void *unused) {
    (void)unused;
    for (int y = 0; y < pty_height(p); y++) {
        Str line;
        str_init(&line);
        pty_line(p, y, &line);
        const char *slash = strstr(line.s, "train ") ? strchr(line.s, '/') : NULL;
        const char *from = slash;
        while (from && from > line.s && strchr("0123456789,", from[-1])) from--;
        size_t n = (size_t)(slash - from);
        bool same = slash && n > 0 && *from != '0' && strncmp(from, slash + 1, n) == 0 && !strchr("0123456789,", slash[1 + n]);
        str_done(&line);
        if (same) return true;
    }
    return false;
}

/* Kilobytes of the line KEY in /proc/PID/status; -1: not known. */
static double kilobytes(pid_t pid, const char *key) {
    char path[64], line[256];
    double found = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) (void)sscanf(line + strlen(key), ": %lf", &found);
    if (f) (void)fclose(f);
    return found;
}

int main(void) {
    BenchFigure f = {.name = "memory.live", .unit = "MB", .threads = 2};
    for (int r = 0; r < (bench_is_tiny() ? 1 : 5); r++) {
        Pty *p = pty_spawn(&(PtyOptions){.w = 120, .h = 40}, bench_is_tiny() ? tiny : usual);
        pty_expect_if(p, is_done, NULL, "the end of training");
        bench_add(&f, kilobytes(pty_child(p), "VmHWM") * 1024 / 1e6);
        pty_signal(p, SIGTERM);
        (void)pty_expect_exit(p);
        pty_free(p);
    }
    bench_print(&f);
    return 0;
}
