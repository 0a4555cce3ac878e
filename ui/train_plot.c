#include "train_plot.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "reading.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LEGEND_LEAST = 4, /* columns of a name that says something */
    LEGEND_W = 31,    /* what else stands in the row of the legend */
    LEGEND_NARROW_W = 27
};

Points points_new(const Table *t, const char *column, Span span, int most) {
    Points p = {.every = 1};
    long rows = t ? table_rows(t) : 0, first = 0;
    int step = t ? table_find(t, "step") : -1;
    if (step < 0 || rows == 0 || most < 2) return p;
    while (first < rows && table_int(t, first, step) < span.first) first++;
    double *y = reading_column(t, column, first, rows - first);
    if (!y) return p;
    p.every = (rows - first + most - 1) / most;
    p.x = MEM_ARRAY(double, (size_t)(rows - first));
    p.y = MEM_ARRAY(double, (size_t)(rows - first));
    for (long i = 0; i < rows - first; i += p.every) {
        long n = i + p.every <= rows - first ? p.every : rows - first - i;
        double sum = 0;
        for (long j = 0; j < n; j++) sum += y[i + j];
        p.y[p.n] = sum / (double)n;
        p.x[p.n++] = ((double)table_int(t, first + i, step) + (double)table_int(t, first + i + n - 1, step)) / 2;
    }
    mem_free(y);
    return p;
}

void points_free(Points *p) {
    mem_free(p->x);
    mem_free(p->y);
}

void points_extend(const Points *p, double *low, double *high) {
    for (int i = 0; i < p->n; i++) {
        if (isfinite(p->y[i])) *low = fmin(*low, p->y[i]), *high = fmax(*high, p->y[i]);
    }
}

long train_step(const PaneContext *x) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    return x->cursor->step >= 0 ? x->cursor->step : f->step;
}

double train_floor(const SnapshotFacts *f) {
    return isnan(f->floor_nll) ? f->language_floor : f->floor_nll;
}

const char *train_floor_name(const SnapshotFacts *f, bool narrow) {
    if (isnan(f->floor_nll)) return _("floor, language");
    if (narrow) return f->test_whole ? _("floor, test") : _("floor, part");
    return f->test_whole ? _("floor, whole test") : _("floor, part of test");
}

/* Where the run was changed; what was set at one step stands together. */
static int find_marks(const Snapshot *s, LossPlot *l) {
    const Table *t = snapshot_table(s, "changes");
    int n = 0;
    for (long i = 0; t && i < table_rows(t); i++) {
        double step = (double)table_int(t, i, 0);
        bool more = n > 0 && l->mark[n - 1].x >= step;
        if (!more && n == TRAIN_MARKS) break;
        if (!more) l->mark[n] = (PlotMark){step, l->words[n]}, l->words[n++][0] = '\0';
        size_t used = strlen(l->words[n - 1]);
        snprintf(l->words[n - 1] + used, sizeof l->words[0] - used, "%s%s=%s", more ? " " : "", table_text(t, i, 1),
                 table_text(t, i, 2));
    }
    return n;
}

StyleRole train_role(char letter) {
    return letter == 'A' ? STYLE_MODEL : STYLE_SERIES_B;
}

/* Returns how many series there are. */
static int one_run(LossPlot *l) {
    l->series[0] = (Series){l->loss.x, l->loss.y, l->loss.n, STYLE_MODEL, _("training"), 0};
    l->series[1] = (Series){l->tests.x, l->tests.y, l->tests.n, STYLE_SERIES_B, _("test"), 0};
    return l->tests.n > 0 ? 2 : 1;
}

/* "▸B window=4 so…": the one that is looked at has the mark; ROOM columns for the name itself. Returns those used. */
static int name_run(const SnapshotFacts *f, int i, int room, char out[TRAIN_NAME]) {
    const char *name = f->run_name[i], *mark = f->versus == 'A' + i ? "▸" : "";
    bool cut = utf8_columns(name) > room;
    size_t fits = cut ? utf8_fit(name, room - 1) : strlen(name);
    if (room < LEGEND_LEAST)
        snprintf(out, TRAIN_NAME, "%s%c", mark, 'A' + i);
    else
        snprintf(out, TRAIN_NAME, "%s%c %.*s%s", mark, 'A' + i, (int)fits, name, cut ? "…" : "");
    return cut ? room : utf8_columns(name);
}

/* A and B, in their own colours, whichever is looked at. The plot has W columns. The name of B says what differs: where
 * it fits it is whole, and A has what is left. */
static int two_runs(LossPlot *l, const SnapshotFacts *f, int w) {
    int room = w - (w < TRAIN_NARROW_W ? LEGEND_NARROW_W : LEGEND_W), half = room / 2;
    int differs = utf8_columns(f->run_name[1]),
        used = name_run(f, 0, differs <= room ? room - differs : half, l->name[0]);
    (void)name_run(f, 1, room - used, l->name[1]);
    for (int i = 0; i < 2; i++) {
        const Points *p = f->versus == 'A' + i ? &l->loss : &l->rival;
        l->series[i] = (Series){p->x, p->y, p->n, train_role((char)('A' + i)), l->name[i], 0};
    }
    return 2;
}

void loss_plot_init(LossPlot *l, const PaneContext *x, Span span, bool linear, int w) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    const Table *curve = snapshot_table(x->snapshot, "curve");
    l->loss = points_new(curve, "loss", span, w - 6);
    l->tests = points_new(snapshot_table(x->snapshot, "test"), "nll", span, w - 6);
    l->rival = points_new(f->versus ? snapshot_table(x->snapshot, "rival_curve") : NULL, "loss", span, w - 6);
    int series = f->versus ? two_runs(l, f, w) : one_run(l);
    double floor = train_floor(f), low = isnan(floor) ? (double)INFINITY : floor, high = -(double)INFINITY;
    points_extend(&l->loss, &low, &high);
    points_extend(f->versus ? &l->rival : &l->tests, &low, &high);
    snprintf(l->level, sizeof l->level, "%s %s", train_floor_name(f, w < TRAIN_NARROW_W), format_fixed(floor, 4).s);
    double pad = linear ? 0.04 * (high - low) : 0;
    l->plot =
        (Plot){.series = l->series,
               .count = series,
               .x0 = (double)span.first,
               .x1 = (double)span.last,
               .whole_x = true,
               .y0 = low - pad,
               .y1 = high,
               .log_y = !linear,
               .x_label = _("step"),
               .y_label = w < TRAIN_NARROW_W ? _("nats/token") : _("nats per token"),
               .level = floor,
               .level_label = l->level,
               .cursor_x = x->cursor->step >= 0 || reading_is_past(x->snapshot) ? (double)train_step(x) : (double)NAN,
               .mark = l->mark,
               .marks = find_marks(x->snapshot, l)};
}

void loss_plot_done(LossPlot *l) {
    points_free(&l->loss);
    points_free(&l->tests);
    points_free(&l->rival);
}
