/* window.cost: attention over a sliding window made in three ways: the same numbers, at very different cost (lecture 4,
 * 6.2). */
#include "clock.h"
#include "experiment.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"

#include "window_kernel.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_TIMES = 3, MOST_TIMES = 25 };
static const double enough = 0.02;             /* seconds for one method at one length, once LEAST_TIMES are done */
static const double inputs_most = 2147483648;  /* bytes of q, k, v and y */
static const double scratch_most = 1073741824; /* bytes; a method that needs more is not run */
static const double compared = 268435456;      /* products of numbers for the comparison */

static const Option cost_options[] = {
    {"T", OPTION_INTS, "512,1024,2048,4096", 1, 1e8, NULL, "tokens",
     N_("lengths of the text; masked needs T x T numbers and is left out where that is more than 1 GiB")},
    {"window", OPTION_INT, "64", 1, 1e8, NULL, "tokens", N_("W: tokens that a query sees, itself included")},
    {"d", OPTION_INT, "64", 1, 65536, NULL, "", N_("width of the head")},
    {0},
};

static const Column cost_columns[] = {{"method", COLUMN_TEXT, ""},
                                      {"T", COLUMN_INT, "tokens"},
                                      {"milliseconds", COLUMN_DOUBLE, ""},
                                      {"bytes", COLUMN_INT, ""},
                                      {0}};
static const Column agree_columns[] = {{"method", COLUMN_TEXT, ""}, {"max_difference", COLUMN_DOUBLE, ""}, {0}};

static Status check(const Options *o) {
    const long long *T;
    int n = options_ints(o, "T", &T);
    for (int i = 0; i < n; i++) {
        double bytes = 4.0 * (double)T[i] * (double)options_int(o, "d") * sizeof(real);
        if (bytes > inputs_most)
            return status_usage(_("T=%lld d=%lld: queries, keys, values and outputs take %.1f GiB, more than %.0f GiB"),
                                T[i], options_int(o, "d"), bytes / 1073741824, inputs_most / 1073741824);
    }
    return status_ok();
}

/* One head over one text, and what came of it. */
typedef struct {
    Study *s;
    WindowAttention a;
    double difference[WINDOW_METHODS]; /* the largest so far; NaN: the method never ran */
} Case;

static void case_begin(Case *c, int T, int d, int window) {
    size_t n = (size_t)T * (size_t)d;
    real *x = mem_aligned(3 * n, sizeof *x);
    Rng r = rng_at(study_seed(c->s), "window.cost", (uint64_t)T);
    for (size_t i = 0; i < 3 * n; i++) x[i] = (real)rng_normal(&r);
    c->a = (WindowAttention){
        .T = T, .d = d, .window = window, .q = x, .k = x + n, .v = x + 2 * n, .y = mem_aligned(n, sizeof(real))};
}

static void case_end(Case *c) {
    mem_free((real *)c->a.q);
    mem_free(c->a.y);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median of several times, in processor seconds. False: cancelled. */
static bool measure(const WindowAttention *a, WindowMethod m, real *scratch, double *seconds) {
    double time[MOST_TIMES], sum = 0;
    int n = 0;
    while (n < LEAST_TIMES || (n < MOST_TIMES && sum < enough)) {
        double begun = clock_cpu();
        if (!window_attend(m, a, scratch)) return false;
        time[n] = clock_cpu() - begun;
        sum += time[n++];
    }
    qsort(time, (size_t)n, sizeof *time, by_size);
    *seconds = n % 2 ? time[n / 2] : (time[n / 2 - 1] + time[n / 2]) / 2;
    return true;
}

/* Every how many rows the outputs are compared: 1 while that is quick. */
static int compare_step(const WindowAttention *a) {
    double window = a->window < a->T ? a->window : a->T, work = (double)a->T * window * a->d;
    return (int)ceil(work / compared);
}

/* The rows of Y against the definition, in double. False: cancelled. */
static bool compare(Case *c, WindowMethod m) {
    const WindowAttention *a = &c->a;
    int step = compare_step(a);
    double *row = MEM_ARRAY(double, (size_t)a->d), *scratch = MEM_ARRAY(double, (size_t)a->window);
    double most = isnan(c->difference[m]) ? 0 : c->difference[m];
    bool going = true;
    for (int i = a->T - 1; i >= 0 && going; i -= step) {
        window_define(a, i, row, scratch);
        for (int j = 0; j < a->d; j++)
            most = fmax(most, fabs(row[j] - (double)a->y[(size_t)i * (size_t)a->d + (size_t)j]));
        going = study_progress(c->s, -1, _("comparing %s at T=%d"), window_method_name(m), a->T);
    }
    c->difference[m] = most;
    mem_free(row);
    mem_free(scratch);
    return going;
}

static void add_cost(Table *t, WindowMethod m, int T, double seconds, double bytes) {
    table_add_text(t, window_method_name(m));
    table_add_int(t, T);
    table_add_known(t, 1000 * seconds);
    table_add_int(t, (long long)bytes);
}

static Status try_method(Case *c, WindowMethod m) {
    double seconds = (double)NAN, bytes = (double)window_scratch(m, c->a.T, c->a.d, c->a.window) * sizeof(real);
    bool going = study_progress(c->s, -1, _("%s at T=%d"), window_method_name(m), c->a.T);
    if (bytes > scratch_most) {
        study_warn(c->s, _("%s at T=%d takes %.1f GiB for scores and was not run"), window_method_name(m), c->a.T,
                   bytes / 1073741824);
    } else if (going) {
        real *scratch = mem_aligned((size_t)bytes / sizeof(real), sizeof *scratch);
        going = measure(&c->a, m, scratch, &seconds);
        mem_free(scratch);
        going = going && compare(c, m);
    }
    if (!going) return status_cancelled();
    add_cost(study_table(c->s, "cost"), m, c->a.T, seconds, bytes);
    return status_ok();
}

static Status try_lengths(Case *c, const Options *o) {
    const long long *T;
    int n = options_ints(o, "T", &T);
    Status status = status_ok();
    for (int i = 0; i < n && status_is_ok(&status); i++) {
        case_begin(c, (int)T[i], (int)options_int(o, "d"), (int)options_int(o, "window"));
        for (WindowMethod m = 0; m < WINDOW_METHODS && status_is_ok(&status); m++) status = try_method(c, m);
        case_end(c);
    }
    return status;
}

static Status run(Study *s) {
    Case c = {.s = s};
    for (WindowMethod m = 0; m < WINDOW_METHODS; m++) c.difference[m] = (double)NAN;
    Status status = try_lengths(&c, study_options(s));
    Table *agree = study_table(s, "agree");
    for (WindowMethod m = 0; m < WINDOW_METHODS; m++) {
        table_add_text(agree, window_method_name(m));
        table_add_known(agree, c.difference[m]);
    }
    study_about(s, "window_rule", "the window counts the current token");
    study_about(s, "masked", "every score of the T x T matrix, then the mask");
    study_about(s, "loop", "one query at a time, only the scores that it needs");
    study_about(s, "chunks",
                "`window` queries against their own keys and the chunk before, in strips of queries; blocks of 16 keys "
                "that a whole strip does not see are left out");
    study_about(s, "milliseconds_rule", "processor time of one thread, the median of %d to %d times", LEAST_TIMES,
                MOST_TIMES);
    study_about(s, "bytes_rule", "what the method holds besides queries, keys, values and outputs");
    study_about(s, "max_difference_rule",
                "of all outputs, from the same attention in double by the definition; of evenly spread queries where "
                "all would take long");
    return status;
}

const Experiment experiment_window_cost = {
    .entry = {.id = "window.cost",
              .section = "L4 6.2",
              .title = N_("sliding window in three ways: masked, loop and chunks: the same result, another cost"),
              .see = N_("A mask saves nothing: four times the time for twice the text. Chunks and loop grow with T; "
                        "chunks do it in large products."),
              .options = (const Option *const[]){cost_options, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"cost", cost_columns}, {"agree", agree_columns}, {0}},
              .figure = {FIGURE_LOG_LINE, "cost", "T", "milliseconds", "method"}},
    .check = check,
    .run = run,
};
