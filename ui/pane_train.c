/* pane train: the loss against the exact floor of the language, and how far the perplexity is above it.
 *
 * All numbers are those of the tables `curve` and `test` and of the facts. Where the plot has fewer columns than steps
 * a column shows the mean of its steps, and says so. */
#include "draw.h"
#include "format.h"
#include "intl.h"
#include "lab.h"
#include "reading.h"
#include "ticks.h"
#include "train_figures.h"
#include "train_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECENT_STEPS = 200,
    SIDE_W = 27,
    SIDE_LEAST_W = 74,
    SMALL_PLOT_H = 10,
    SMALL_TICKS = 3,
    SMALL_PLOTS_LEAST_H = 28
};

typedef struct {
    bool linear; /* the loss axis; logarithmic at first, so that what is left above the floor shows */
    bool recent;
} TrainState;

static Span span_of(const TrainState *state, const Table *curve, const SnapshotFacts *f) {
    long rows = curve ? table_rows(curve) : 0;
    long last = rows > 0 ? rows : f->head;
    return (Span){state->recent && last > RECENT_STEPS ? last - RECENT_STEPS : 0, last};
}

/* Returns how many steps a point stands for. */
static long draw_loss(const PaneContext *x, Canvas *c, Rect r) {
    LossPlot l;
    const TrainState *state = x->state;
    loss_plot_init(&l, x, span_of(state, snapshot_table(x->snapshot, "curve"), snapshot_facts(x->snapshot)),
                   state->linear, r.w);
    draw_plot(c, r, &l.plot);
    loss_plot_done(&l);
    return l.loss.every;
}

static void draw_small(const PaneContext *x, Canvas *c, Rect r, const char *column, const char *label, StyleRole role) {
    const Table *curve = snapshot_table(x->snapshot, "curve");
    Span span = span_of(x->state, curve, snapshot_facts(x->snapshot));
    Points p = points_new(curve, column, span, r.w - 8);
    const Series series = {p.x, p.y, p.n, role, NULL, 0};
    double low = 0, high = -(double)INFINITY;
    points_extend(&p, &low, &high);
    high = ticks_top(low, high, SMALL_TICKS);
    Plot plot = {.series = &series,
                 .count = 1,
                 .x0 = (double)span.first,
                 .x1 = (double)span.last,
                 .whole_x = true,
                 .y0 = low,
                 .y1 = high,
                 .y_label = label,
                 .level = (double)NAN,
                 .cursor_x = x->cursor->step >= 0 ? (double)x->cursor->step : (double)NAN};
    if (p.n > 0) draw_plot(c, r, &plot);
    points_free(&p);
}

static void draw_about(const SnapshotFacts *f, Canvas *c, Rect r, long every) {
    Str note;
    str_init(&note);
    str_add(&note, _("The loss is the mean of −ln p(next token) over the batch."));
    if (!isnan(train_floor(f)))
        str_add(&note, _(" The floor is what the language itself costs: with the true probabilities no model can do "
                         "better on these sentences."));
    str_add(&note, _(" Perplexity = exp(loss)."));
    if (every > 1) str_addf(&note, _(" A column is the mean of %ld steps."), every);
    draw_paragraph(c, r, note.s, STYLE_DIM);
    str_done(&note);
}

/* Where the parts stand; a part without room has height 0. */
typedef struct {
    Rect big, plot, side, line, small, about;
} TrainPlan;

static TrainPlan plan_of(const PaneContext *x, int w, int h) {
    TrainPlan p = {.line = {0, h - 1, w, 1}, .plot = {0, 0, w, h - 1}};
    if (x->detail == DETAIL_PRESENT) {
        int big = h >= 14 ? (h / 5 < 12 ? 7 : 12) : 0;
        p.big = (Rect){1, 0, w - 1, big};
        p.line.h = big ? 0 : 1;
        p.plot = (Rect){0, big, w, h - big - p.line.h};
    } else if (x->detail == DETAIL_FOCUS) {
        bool side = w >= SIDE_LEAST_W;
        int about = h >= 14 ? 3 : 0, small = side && h >= SMALL_PLOTS_LEAST_H ? SMALL_PLOT_H : 0, line = side ? 0 : 1;
        p.about = (Rect){0, h - about, w, about};
        p.small = (Rect){0, h - about - small, w, small};
        p.line = (Rect){0, h - about - small - line, w, line};
        p.plot = (Rect){0, 0, side ? w - SIDE_W - 2 : w, h - about - small - line};
        if (side) p.side = (Rect){w - SIDE_W, 0, SIDE_W, p.plot.h};
    }
    return p;
}

static void draw_smalls(const PaneContext *x, Canvas *c, Rect r) {
    int w = r.w / 3;
    draw_small(x, c, (Rect){0, r.y, w - 1, r.h}, "grad_norm", _("gradient norm"), STYLE_SERIES_B);
    draw_small(x, c, (Rect){w, r.y, w - 1, r.h}, "learning_rate", _("learning rate"), STYLE_SERIES_C);
    draw_small(x, c, (Rect){2 * w, r.y, r.w - 2 * w, r.h}, "tokens_per_s", _("tokens/s"), STYLE_SERIES_D);
}

/* What a hall must read: each number below its name. */
static void draw_bigs(const SnapshotFacts *f, Canvas *c, Rect r) {
    bool old = reading_test_is_old(f) && !isnan(f->test_nll);
    const struct {
        const char *name;
        Text number;
    } parts[] = {
        {_("test perplexity"), format_fixed(reading_perplexity(f), 3)},
        {old ? _("at step") : _("over the floor"),
         old ? format_count(f->test_step) : format_percent(reading_over_floor(f), 1)},
    };
    int x = r.x;
    for (int i = 0; i < 2 && (i == 0 || old || !isnan(reading_over_floor(f))); i++) {
        Rect number = {x, r.y + 1, i == 0 ? r.w * 6 / 11 : r.x + r.w - x, r.h - 2};
        canvas_text(c, x, r.y, number.w, parts[i].name, STYLE_TEXT, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
        draw_big(c, number, parts[i].number.s, STYLE_STRONG);
        int columns = canvas_columns(c, parts[i].name),
            used = draw_big_size(c, number.w, number.h, parts[i].number.s).w;
        x += (used > columns ? used : columns) + (r.w > 160 ? 12 : 4);
    }
}

/* A model that somebody else trained: what it is made of, and that nothing here changes it. */
static void draw_reads_only(const PaneContext *x, Canvas *c) {
    const Table *parts = snapshot_table(x->snapshot, "model");
    int y = draw_paragraph(c, (Rect){1, 0, c->w - 2, c->h},
                           _("This model is only read: somebody else trained it. :restart corpus=FILE trains it on a "
                             "text, :restart model=none one of our own."),
                           STYLE_TEXT);
    int name = parts ? table_find(parts, "part") : -1, count = parts ? table_find(parts, "parameters") : -1;
    if (name < 0 || count < 0) return;
    long rows = table_rows(parts), room = c->h - y - 1, shown = rows <= room ? rows : room;
    for (long line = 0; line < shown; line++) {
        bool gap = rows > room && line == room - 2; /* the last row is the total: it stays */
        long i = rows > room && line == room - 1 ? rows - 1 : line;
        int at = y + 1 + (int)line;
        if (gap) {
            canvas_text(c, 1, at, c->w - 2, "…", STYLE_DIM, ATTRIBUTE_NONE);
            continue;
        }
        Text number = format_count(table_int(parts, i, count));
        int w = canvas_columns(c, number.s), width = c->w < 44 ? c->w - 2 : 42;
        canvas_text(c, 1, at, width - w - 1, table_text(parts, i, name), STYLE_DIM, CANVAS_ELLIPSIS);
        canvas_text(c, 1 + width - w, at, w, number.s, STYLE_STRONG, ATTRIBUTE_NONE);
    }
}

/* A model of others before its first step here. */
static void draw_not_tuned(const SnapshotFacts *f, Canvas *c) {
    char text[400], test[120] = "";
    if (!isnan(f->test_nll))
        snprintf(test, sizeof test, _(" On the part of it that is kept for testing its perplexity is %s."),
                 format_fixed(reading_perplexity(f), 3).s);
    snprintf(text, sizeof text, _("%s as it was read, before it learns %s.%s space trains it, n makes one step."),
             f->name, f->corpus, test);
    pane_draw_words(text, c);
}

/* Nothing is learnt yet; or a model came from a file, with what it learnt and not with how. */
static void draw_no_curve(const SnapshotFacts *f, Canvas *c) {
    long head = f->head;
    if (head == 0 && f->tunes) {
        draw_not_tuned(f, c);
        return;
    }
    if (head == 0) {
        pane_draw_empty(&pane_train, c);
        return;
    }
    char text[256];
    snprintf(text, sizeof text,
             _("This model was read at step %s, without the losses of the steps before. What it learns from here on "
               "will appear."),
             format_count(head).s);
    pane_draw_words(text, c);
}

static void train_draw(const PaneContext *x, Canvas *c) {
    const Table *curve = snapshot_table(x->snapshot, "curve");
    if (snapshot_facts(x->snapshot)->reads_only) {
        draw_reads_only(x, c);
        return;
    }
    if (!curve && snapshot_facts(x->snapshot)->head > 0) return; /* nobody has looked yet */
    if (!curve || table_rows(curve) == 0) {
        draw_no_curve(snapshot_facts(x->snapshot), c);
        return;
    }
    TrainPlan p = plan_of(x, c->w, c->h);
    const SnapshotFacts *f = snapshot_facts(x->snapshot);
    if (p.big.h > 0) {
        draw_bigs(f, c, p.big);
    }
    long every = draw_loss(x, c, p.plot);
    if (p.line.h > 0) train_draw_line(x, c, p.line.y);
    Span span = span_of(x->state, snapshot_table(x->snapshot, "curve"), snapshot_facts(x->snapshot));
    if (p.side.h > 0) train_draw_side(x, c, p.side, span, p.small.h == 0 && p.side.h >= 14);
    if (p.small.h > 0) draw_smalls(x, c, p.small);
    if (p.about.h > 0) draw_about(snapshot_facts(x->snapshot), c, p.about, every);
}

static void train_click(PaneCall *call, const Canvas *like, int x, int y) {
    PaneContext context = pane_context(call);
    TrainPlan p = plan_of(&context, like->w, like->h);
    if (y < p.plot.y || y >= p.plot.y + p.plot.h) return;
    LossPlot l;
    const TrainState *state = call->state;
    loss_plot_init(&l, &context,
                   span_of(state, snapshot_table(call->snapshot, "curve"), snapshot_facts(call->snapshot)),
                   state->linear, p.plot.w);
    double step = draw_plot_x(like, p.plot, &l.plot, x);
    loss_plot_done(&l);
    if (!isnan(step)) call->cursor->step = lround(step);
}

static void train_move(PaneCall *call, Move move, int times) {
    const SnapshotFacts *f = snapshot_facts(call->snapshot);
    Span span = span_of(call->state, snapshot_table(call->snapshot, "curve"), f);
    long unit = (span.last - span.first) / 100, at = call->cursor->step >= 0 ? call->cursor->step : f->step;
    if (unit < 1) unit = 1;
    switch (move) {
    case MOVE_LEFT:
        at -= unit * times;
        break;
    case MOVE_RIGHT:
        at += unit * times;
        break;
    case MOVE_UP:
        at -= times;
        break;
    case MOVE_DOWN:
        at += times;
        break;
    case MOVE_PAGE_UP:
        at -= 10 * unit * times;
        break;
    case MOVE_PAGE_DOWN:
        at += 10 * unit * times;
        break;
    case MOVE_FIRST:
        at = span.first;
        break;
    case MOVE_LAST:
        at = f->head + 1;
        break;
    }
    call->cursor->step = at > f->head ? -1 : at < 0 ? 0 : at;
}

static bool train_enter(PaneCall *call) {
    if (call->cursor->step < 0) return false;
    snprintf(call->command, sizeof call->command, "seek %ld", call->cursor->step);
    return true;
}

static bool train_escape(PaneCall *call) {
    bool there = call->cursor->step >= 0;
    call->cursor->step = -1;
    return there;
}

static bool train_find(PaneCall *call, const char *text) {
    long long step;
    if (!str_to_long(text, &step) || step < 0 || step > snapshot_facts(call->snapshot)->head) return false;
    call->cursor->step = (long)step;
    return true;
}

static Status run_axis(void *owner, const Words *words) {
    return command_choose(words, "log", "linear", &((TrainState *)((PaneCall *)owner)->state)->linear);
}

static Status run_span(void *owner, const Words *words) {
    return command_choose(words, "all", "recent", &((TrainState *)((PaneCall *)owner)->state)->recent);
}

static int train_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"curve", "test", NULL};
    int n = pane_copy_tables(x, names, out);
    Table *both = lab_versus_curve(x->snapshot), *tests = lab_versus_test(x->snapshot);
    if (both) out[n++] = both;
    if (tests) out[n++] = tests;
    return n;
}

static void train_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const TrainState *state = x->state;
    if (snapshot_facts(x->snapshot)->reads_only) return; /* it has no steps */
    snprintf(out, bytes, "%s%s%s", state->recent ? _("last 200 steps") : _("all steps"),
             state->linear ? _(", linear") : "", snapshot_facts(x->snapshot)->versus ? _(", A beside B") : "");
}

static void train_save(const void *state, Str *out) {
    const TrainState *s = state;
    str_addf(out, "span %s\naxis %s\n", s->recent ? "recent" : "all", s->linear ? "linear" : "log");
}

static bool train_offers(const PaneContext *x, const char *line) {
    if (snapshot_facts(x->snapshot)->reads_only) return false; /* there is no curve */
    return strcmp(line, "enter") != 0 || x->cursor->step >= 0;
}

static const KeyRow train_keys[] = {
    {"a", "span", N_("all/recent"), N_("all steps, or the last 200")},
    {"y", "axis", N_("linear"), N_("logarithmic or linear loss axis")},
    {NULL, NULL, NULL, NULL},
};

static const Command train_commands[] = {
    {"span", "[all|recent]", N_("all steps, or the last 200"), 0, 1, run_span},
    {"axis", "[log|linear]", N_("logarithmic or linear loss axis"), 0, 1, run_axis},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_train = {
    .name = "train",
    .title = N_("train"),
    .about = N_("How the loss falls while the model trains. The dashed line is the exact floor: the entropy of the "
                "language, which no model can "
                "undercut on these sentences. Left and right move the cursor through the steps; Enter looks at the "
                "model as it was there."),
    .empty = N_("The loss of every training step will appear here, with the exact floor of the language below it. "
                "Space runs the training, "
                "n makes one step."),
    .watch = "curve model",
    .min_w = 32,
    .min_h = 7,
    .weight = 4,
    .state_size = sizeof(TrainState),
    .draw = train_draw,
    .move = train_move,
    .enter = train_enter,
    .escape = train_escape,
    .find = train_find,
    .click = train_click,
    .keys = train_keys,
    .offers = train_offers,
    .commands = train_commands,
    .tables = train_tables,
    .save = train_save,
    .subtitle = train_subtitle,
};
