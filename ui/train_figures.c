#include "train_figures.h"

#include "format.h"
#include "intl.h"
#include "reading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Figures: a label on the left, the number at the right edge. */
static void draw_figure(Canvas *c, Rect r, int *y, const char *label, const char *number, StyleRole role) {
    int columns = canvas_columns(c, number);
    canvas_text(c, r.x, *y, r.w - columns - 1, label, STYLE_DIM, CANVAS_ELLIPSIS);
    canvas_text(c, r.x + r.w - columns, *y, columns, number, role,
                role == STYLE_STRONG ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    ++*y;
}

static double at_cursor_of(const PaneContext *x, const char *table, const char *column) {
    const Table *curve = snapshot_table(x->snapshot, table);
    long row = reading_row_of_step(curve, train_step(x));
    int at = curve ? table_find(curve, column) : -1;
    return row >= 0 && at >= 0 ? table_real(curve, row, at) : (double)NAN;
}

static double at_cursor(const PaneContext *x, const char *column) {
    return at_cursor_of(x, "curve", column);
}

/* The losses of two runs, below each other: whose is the smaller one? */
static void draw_side_losses(const PaneContext *x, Canvas *c, Rect r, int *y) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    for (int i = 0; i < 2; i++) {
        char letter = (char)('A' + i), label[64];
        bool here = f->versus == letter;
        snprintf(label, sizeof label, _("loss of %c"), letter);
        draw_figure(c, r, y, label, format_fixed(at_cursor_of(x, here ? "curve" : "rival_curve", "loss"), 4).s,
                    train_role(letter));
    }
}

/* When a run was tested, and how far above the floor of those sentences it was. */
static void draw_side_tested(Canvas *c, Rect r, int *y, long step, double nll, double floor) {
    if (isnan(nll)) return;
    double over = reading_over(nll, floor);
    char label[64];
    snprintf(label, sizeof label, _("at step %s"), format_count(step).s);
    draw_figure(c, r, y, label, isnan(over) ? "" : format_percent(over, 2).s, STYLE_STRONG);
}

/* The last tests of two runs, which need not be of the same step. */
static void draw_side_tests(const SnapshotFacts *f, Canvas *c, Rect r, int *y) {
    for (int i = 0; i < 2; i++) {
        char letter = (char)('A' + i), label[64];
        bool here = f->versus == letter;
        double nll = here ? f->test_nll : f->rival_test_nll, floor = here ? f->floor_nll : f->rival_floor_nll;
        snprintf(label, sizeof label, _("test perplexity of %c"), letter);
        draw_figure(c, r, y, label, format_fixed(exp(nll), 4).s, train_role(letter));
        draw_side_tested(c, r, y, here ? f->test_step : f->rival_test_step, nll, floor);
    }
}

static void draw_side_floors(const SnapshotFacts *f, Canvas *c, Rect r, int *y) {
    if (!isnan(f->floor_nll))
        draw_figure(c, r, y, train_floor_name(f, false), format_fixed(exp(f->floor_nll), 4).s, STYLE_TRUTH);
    if (!isnan(f->language_floor))
        draw_figure(c, r, y, _("floor, language"), format_fixed(exp(f->language_floor), 4).s, STYLE_TRUTH);
}

/* Of a model that was read and learns on: what it was worth before. */
static void draw_side_before(const PaneContext *x, Canvas *c, Rect r, int *y) {
    const Table *t = snapshot_table(x->snapshot, "test");
    if (!t || table_rows(t) == 0 || table_int(t, 0, table_find(t, "step")) != 0) return;
    draw_figure(c, r, y, _("as it was read"), format_fixed(table_real(t, 0, table_find(t, "perplexity")), 4).s,
                STYLE_TEXT);
}

static void draw_side_test(const SnapshotFacts *f, Canvas *c, Rect r, int *y) {
    draw_figure(c, r, y, _("test perplexity"), format_fixed(reading_perplexity(f), 4).s, STYLE_STRONG);
    char text[64];
    snprintf(text, sizeof text, _("measured at step %s"), format_count(f->test_step).s);
    if (!isnan(f->test_nll)) canvas_text(c, r.x, (*y)++, r.w, text, STYLE_DIM, ATTRIBUTE_NONE);
    if (!isnan(f->floor_nll))
        draw_figure(c, r, y, _("over the floor"), format_percent(reading_over_floor(f), 2).s, STYLE_STRONG);
}

static void draw_side_spark(const PaneContext *x, Canvas *c, Rect r, int *y, Span span, const char *column,
                            const char *label, const char *number) {
    draw_figure(c, r, y, label, number, STYLE_TEXT);
    const Table *curve = snapshot_table(x->snapshot, "curve");
    Points p = points_new(curve, column, span, r.w);
    if (p.n > 1) draw_spark(c, r.x, *y, r.w, p.y, p.n, STYLE_SERIES_C);
    points_free(&p);
    ++*y;
}

/* The tests up to the one that is shown above, the newest first. */
static void draw_side_past(const PaneContext *x, Canvas *c, Rect r, int y) {
    enum { STEP_END = 7, PERPLEXITY_END = 18, LEAST = 3 };
    const Table *t = snapshot_table(x->snapshot, "test");
    int step = t ? table_find(t, "step") : -1, nll = t ? table_find(t, "nll") : -1,
        floor = t ? table_find(t, "floor_perplexity") : -1;
    long row = reading_row_of_step(t, snapshot_facts(x->snapshot)->test_step);
    if (step < 0 || nll < 0 || floor < 0 || row < 1 || r.y + r.h - y < LEAST + 2) return;
    y++;
    draw_right(c, (Rect){r.x, y, STEP_END, 1}, _("step"), STYLE_DIM);
    draw_right(c, (Rect){r.x, y, PERPLEXITY_END, 1}, _("perplexity"), STYLE_DIM);
    if (!table_is_empty(t, row, floor)) draw_right(c, (Rect){r.x, y, r.w, 1}, _("over"), STYLE_DIM);
    for (y++; row >= 0 && y < r.y + r.h; row--, y++) {
        double loss = table_real(t, row, nll);
        draw_right(c, (Rect){r.x, y, STEP_END, 1}, format_count(table_int(t, row, step)).s, STYLE_DIM);
        draw_right(c, (Rect){r.x, y, PERPLEXITY_END, 1}, format_fixed(exp(loss), 4).s, STYLE_TEXT);
        if (table_is_empty(t, row, floor)) continue;
        double over = reading_over(loss, log(table_real(t, row, floor)));
        draw_right(c, (Rect){r.x, y, r.w, 1}, format_percent(over, 1).s, STYLE_DIM);
    }
}

void train_draw_side(const PaneContext *x, Canvas *c, Rect r, Span span, bool sparks) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    int y = r.y;
    if (f->versus)
        draw_side_tests(f, c, r, &y);
    else
        draw_side_test(f, c, r, &y);
    draw_side_floors(f, c, r, &y);
    if (f->tunes) draw_side_before(x, c, r, &y);
    y += 1;
    int begin = y;
    draw_figure(c, r, &y, x->cursor->step >= 0 ? _("step under the cursor") : _("step"), format_count(train_step(x)).s,
                STYLE_TEXT);
    if (f->versus)
        draw_side_losses(x, c, r, &y);
    else
        draw_figure(c, r, &y, _("loss of this step"), format_fixed(at_cursor(x, "loss"), 4).s, STYLE_MODEL);
    if (sparks) {
        draw_side_spark(x, c, r, &y, span, "grad_norm", _("gradient norm"),
                        format_fixed(at_cursor(x, "grad_norm"), 3).s);
        draw_side_spark(x, c, r, &y, span, "learning_rate", _("learning rate"),
                        format_small(at_cursor(x, "learning_rate")).s);
        draw_side_spark(x, c, r, &y, span, "tokens_per_s", _("tokens/s"), format_short(at_cursor(x, "tokens_per_s")).s);
    } else {
        draw_figure(c, r, &y, _("gradient norm"), format_fixed(at_cursor(x, "grad_norm"), 3).s, STYLE_TEXT);
        draw_figure(c, r, &y, _("learning rate"), format_small(at_cursor(x, "learning_rate")).s, STYLE_TEXT);
        draw_figure(c, r, &y, _("tokens/s"), format_short(at_cursor(x, "tokens_per_s")).s, STYLE_TEXT);
    }
    if (x->cursor->step >= 0) canvas_light(c, (Rect){r.x, begin, r.w, y - begin});
    if (!f->versus) draw_side_past(x, c, r, y);
}

/* The same of two runs. */
static void draw_line_of_runs(const PaneContext *x, Canvas *c, int y) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    bool a = f->versus == 'A';
    double mine = at_cursor(x, "loss"), others = at_cursor_of(x, "rival_curve", "loss");
    double loss[2] = {a ? mine : others, a ? others : mine};
    double nll[2] = {a ? f->test_nll : f->rival_test_nll, a ? f->rival_test_nll : f->test_nll};
    int at = 0;
    for (int i = 0; i < 2; i++)
        at += 2 + canvas_textf(c, at, y, -1, train_role((char)('A' + i)), ATTRIBUTE_BOLD, _("loss %c %s"), 'A' + i,
                               format_fixed(loss[i], 4).s);
    if (isnan(nll[0]) || isnan(nll[1])) return;
    long step[2] = {a ? f->test_step : f->rival_test_step, a ? f->rival_test_step : f->test_step};
    char text[120];
    snprintf(text, sizeof text, _("test perplexity A %s at %s, B %s at %s"), format_fixed(exp(nll[0]), 3).s,
             format_count(step[0]).s, format_fixed(exp(nll[1]), 3).s, format_count(step[1]).s);
    if (at + canvas_columns(c, text) <= c->w) canvas_text(c, at, y, -1, text, STYLE_DIM, ATTRIBUTE_NONE);
}

typedef struct {
    const char *label;
    Text number;
    StyleRole role;
    int gap; /* columns behind it */
} Part;

/* As many as fit in full; a number that is not known is left out. */
static void draw_parts(Canvas *c, int y, const Part *part, int n) {
    Text none = format_fixed((double)NAN, 0);
    for (int i = 0, at = 0; i < n; i++) {
        if (!strcmp(part[i].number.s, none.s)) continue;
        if (at + canvas_columns(c, part[i].label) + canvas_columns(c, part[i].number.s) > c->w && at > 0) return;
        at += canvas_text(c, at, y, -1, part[i].label, STYLE_DIM, ATTRIBUTE_NONE);
        at += canvas_text(c, at, y, -1, part[i].number.s, part[i].role,
                          part[i].role == STYLE_STRONG ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE) +
              part[i].gap;
    }
}

void train_draw_line(const PaneContext *x, Canvas *c, int y) {
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    if (f->state == RUN_DIVERGED) {
        canvas_textf(c, 0, y, -1, STYLE_ERROR, ATTRIBUTE_BOLD, _("diverged: not a number in %s"), f->bad_tensor);
        return;
    }
    if (f->versus) {
        draw_line_of_runs(x, c, y);
        return;
    }
    bool old = reading_test_is_old(f), known = !isnan(f->test_nll) && (old || !isnan(f->floor_nll));
    char floor[64];
    snprintf(floor, sizeof floor, "%s ", train_floor_name(f, c->w < TRAIN_NARROW_W));
    const Part now[] = {{_("perplexity "), format_fixed(reading_perplexity(f), 3), STYLE_STRONG, known ? 1 : 2},
                        old && known ? (Part){_("at step "), format_count(f->test_step), STYLE_TEXT, 2}
                                     : (Part){"", format_percent(reading_over_floor(f), 1), STYLE_STRONG, 2},
                        {floor, format_fixed(exp(train_floor(f)), 3), STYLE_TRUTH, 2},
                        {_("loss "), format_fixed(f->loss, 4), STYLE_MODEL, 2}};
    const Part there[] = {{_("step "), format_count(train_step(x)), STYLE_CURSOR, 2},
                          {_("loss "), format_fixed(at_cursor(x, "loss"), 4), STYLE_MODEL, 2},
                          {_("gradient norm "), format_fixed(at_cursor(x, "grad_norm"), 3), STYLE_TEXT, 2}};
    if (x->cursor->step >= 0)
        draw_parts(c, y, there, 3);
    else
        draw_parts(c, y, now, 4);
}
