#include "bars.h"

#include "draw.h"
#include "format.h"
#include "intl.h"
#include "reading.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_W = 10, ONE_ROW_W = 110, LINE_LEAST_W = 16, TOKEN_GAP = 1 };

/* Title. */

static const char *state_words(const SnapshotFacts *f) {
    if (f->unfinished && f->state != RUN_RUNNING) return _("… looking");
    switch (f->state) {
    case RUN_LOADING:
        return _("loading …");
    case RUN_RUNNING:
        return f->step < f->head ? _("▶ replaying") : _("▶ training");
    case RUN_FINISHED:
        break;
    case RUN_DIVERGED:
        return _("✗ diverged");
    case RUN_FAILED:
        return _("✗ failed");
    case RUN_PAUSED:
        break;
    }
    if (f->reads_only) return _("□ only read");
    if (f->step < f->head) return _("◂ the past");
    return f->state == RUN_FINISHED ? _("■ finished") : _("‖ paused");
}

static char other_run(const SnapshotFacts *f) {
    return f->versus == 'A' ? 'B' : 'A';
}

/* The run that is not looked at. */
static int draw_beside(Canvas *c, int at, int room, const SnapshotFacts *f) {
    char other = other_run(f);
    return canvas_textf(c, at, 0, room - at, STYLE_BAR, CANVAS_ELLIPSIS, _("  beside %c: %s"), other,
                        f->run_name[other - 'A']);
}

void bars_draw_title(Canvas *c, const Snapshot *s, const StyleSheet *style) {
    const SnapshotFacts *f = snapshot_facts(s);
    canvas_fill(c, (Rect){0, 0, c->w, c->h}, ' ', STYLE_BAR, ATTRIBUTE_NONE);
    const char *state = state_words(f);
    char right[160];
    snprintf(right, sizeof right, _("seed %llu  %s  "), (unsigned long long)f->seed, style_map_name(style->map));
    int state_w = canvas_columns(c, state) + 1, right_w = c->w >= 90 ? utf8_columns(right) : 0,
        room = c->w - state_w - right_w - 1;
    int at = canvas_text(c, 1, 0, room, "lantern", STYLE_BAR, ATTRIBUTE_BOLD) + 1;
    if (f->waiting[0])
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_BOLD, _(" %s (your run waits)"), f->name);
    else if (f->reads_only)
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_NONE, " %s · %s", f->name, f->corpus);
    else if (f->tunes && !f->versus)
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_NONE, _(" %s learns %s"), f->name, f->corpus);
    else if (f->versus)
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_BOLD, _(" %s · run %c: %s"), f->corpus, f->versus,
                           f->tunes ? f->name : f->arch);
    else if (f->arch[0])
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_NONE, " %s · %s", f->corpus, f->arch);
    if (f->recipe[0])
        at += canvas_textf(c, at, 0, room - at, STYLE_BAR, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS, " %s", f->recipe);
    if (f->versus) at += draw_beside(c, at, room, f);
    char part[96];
    snprintf(part, sizeof part, _("  d %d  layers %d  heads %d/%d"), f->d, f->layers, f->heads, f->kv_heads);
    if (f->d > 0 && at + canvas_columns(c, part) <= room)
        at += canvas_text(c, at, 0, room - at, part, STYLE_BAR, ATTRIBUTE_NONE);
    snprintf(part, sizeof part, _("  %s parameters"), format_count(f->parameters).s);
    if (f->parameters > 0 && at + canvas_columns(c, part) <= room)
        canvas_text(c, at, 0, room - at, part, STYLE_BAR, ATTRIBUTE_NONE);
    if (right_w) canvas_text(c, c->w - state_w - right_w, 0, right_w, right, STYLE_BAR, ATTRIBUTE_NONE);
    canvas_text(c, c->w - state_w, 0, state_w, state, STYLE_BAR, ATTRIBUTE_BOLD);
}

/* Transport. */

typedef struct {
    Rect train, decode; /* width 0: not drawn */
} Clocks;

static Clocks place(int w, int h, Clock focused) {
    if (h >= 2) return (Clocks){{0, 0, w, 1}, {0, 1, w, 1}};
    if (h == 1 && w >= ONE_ROW_W) return (Clocks){{0, 0, w * 6 / 10, 1}, {w * 6 / 10 + 2, 0, w - w * 6 / 10 - 2, 1}};
    if (h == 1 && focused == CLOCK_TRAIN) return (Clocks){.train = {0, 0, w, 1}};
    if (h == 1) return (Clocks){.decode = {0, 0, w, 1}};
    return (Clocks){0};
}

/* "▸train ▶ ": the mark says which clock n, N and space act on. */
static void draw_label(Canvas *c, Rect r, const char *name, bool focused, bool running) {
    canvas_text(c, r.x, r.y, 1, focused ? "▸" : " ", STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_text(c, r.x + 1, r.y, LABEL_W - 4, name, focused ? STYLE_STRONG : STYLE_DIM,
                focused ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    canvas_text(c, r.x + LABEL_W - 2, r.y, 1, running ? "▶" : "‖", running ? STYLE_GOOD : STYLE_DIM, ATTRIBUTE_BOLD);
}

enum { FIGURES = 7 };
typedef struct {
    char text[80];
    StyleRole role;
} FigureText;

/* The last test: how far above the floor it was, or, of an old one, of which step it is. */
static void test_figure(const SnapshotFacts *f, int w, FigureText *out) {
    bool old = reading_test_is_old(f);
    char more[48] = "";
    if (old)
        snprintf(more, sizeof more, _("at step %s"), format_count(f->test_step).s);
    else if (!isnan(f->floor_nll))
        snprintf(more, sizeof more, "%s", format_percent(reading_over_floor(f), 1).s);
    snprintf(out->text, sizeof out->text,
             w >= 100  ? _("test perplexity %s %s")
             : w >= 70 ? _("perplexity %s %s")
                       : _("ppl %s %s"),
             format_fixed(reading_perplexity(f), 3).s, more);
    out->role = old ? STYLE_DIM : STYLE_STRONG;
}

/* What stands right of the time line, the most needed first. */
static int figures_of(const SnapshotFacts *f, int w, FigureText out[FIGURES]) {
    int n = 0;
    if (f->reads_only) {
        snprintf(out[n].text, sizeof out[n].text, "%s", _("this model is only read"));
        out[n++].role = STYLE_DIM;
        return n;
    }
    char run[3] = {f->versus, f->versus ? ' ' : '\0', '\0'};
    snprintf(out[n].text, sizeof out[n].text, "%s%s/%s", run, format_count(f->step).s, format_count(f->steps).s);
    out[n++].role = STYLE_STRONG;
    if (f->versus && f->rival_head != f->head) {
        snprintf(out[n].text, sizeof out[n].text, _("%c at %s"), other_run(f), format_count(f->rival_head).s);
        out[n++].role = STYLE_WARNING;
    }
    if (f->step < f->head) {
        snprintf(out[n].text, sizeof out[n].text, _("newest %s"), format_count(f->head).s);
        out[n++].role = STYLE_WARNING;
    }
    if (!isnan(f->test_nll)) test_figure(f, w, &out[n++]);
    if (!isnan(f->loss)) {
        snprintf(out[n].text, sizeof out[n].text, _("loss %s"), format_fixed(f->loss, 4).s);
        out[n++].role = f->versus == 'B' ? STYLE_SERIES_B : STYLE_MODEL;
    }
    if (f->versus && !isnan(f->rival_loss)) {
        snprintf(out[n].text, sizeof out[n].text, _("%c loss %s"), other_run(f), format_fixed(f->rival_loss, 4).s);
        out[n++].role = f->versus == 'B' ? STYLE_MODEL : STYLE_SERIES_B;
    }
    if (!isnan(f->tokens_per_s)) {
        snprintf(out[n].text, sizeof out[n].text, _("%s tokens/s"), format_short(f->tokens_per_s).s);
        out[n++].role = STYLE_DIM;
    }
    return n;
}

/* How many figures fit, and the rectangle of the time line. */
static int fit_figures(const FigureText *figures, int n, Rect r, Rect *time) {
    int used = 0, shown = 0;
    while (shown < n) {
        int w = utf8_columns(figures[shown].text) + 2;
        if (LABEL_W + LINE_LEAST_W + used + w > r.w && shown > 0) break;
        used += w;
        shown++;
    }
    *time = (Rect){r.x + LABEL_W, r.y, r.w - LABEL_W - used, 1};
    return shown;
}

static double share(long part, long whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void draw_train(Canvas *c, Rect r, const SnapshotFacts *f, bool focused) {
    FigureText figures[FIGURES];
    Rect time;
    int n = fit_figures(figures, figures_of(f, r.w, figures), r, &time);
    draw_label(c, r, _("train"), focused, f->state == RUN_RUNNING);
    if (time.w > 0)
        draw_progress(c, time.x, r.y, time.w, share(f->step, f->steps), share(f->head, f->steps), STYLE_GOOD);
    int x = time.x + time.w;
    for (int i = 0; i < n; i++)
        x += 2 + canvas_text(c, x + 2, r.y, r.x + r.w - x - 2, figures[i].text, figures[i].role, ATTRIBUTE_NONE);
}

/* The first token to draw so that the position mark shows within W columns, with some of what follows. */
static int first_token(const Snapshot *s, int visible, int w) {
    int used = 0, first = visible;
    while (first > 0) {
        char token[READING_TOKEN];
        reading_token(s, first - 1, token);
        used += utf8_columns(token) + TOKEN_GAP;
        if (used > w * 3 / 4) break;
        first--;
    }
    return first;
}

static void draw_tokens(Canvas *c, Rect r, const Snapshot *s) {
    int n = reading_tokens(s), visible = reading_visible(s), first = first_token(s, visible, r.w);
    int at = first > 0 ? canvas_text(c, r.x, r.y, r.w, "… ", STYLE_DIM, ATTRIBUTE_NONE) : 0;
    for (int i = first; i < n && at < r.w; i++) {
        char token[READING_TOKEN];
        reading_token(s, i, token);
        StyleRole role = i >= visible ? STYLE_DIM : reading_is_generated(s, i) ? STYLE_GENERATED : STYLE_PROMPT;
        at += canvas_text(c, r.x + at, r.y, r.w - at, token, role, CANVAS_ELLIPSIS);
        bool here = i + 1 == visible;
        at += canvas_text(c, r.x + at, r.y, r.w - at, here ? "▏" : " ", here ? STYLE_STRONG : STYLE_TEXT,
                          here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
    }
}

/* "⚠ layer 1 head 2 off, window 4" where that fits into ROOM columns, else how many there are and the key that lists
 * them. */
static void tamper_words(const Canvas *c, const Snapshot *s, int room, char *out, size_t bytes) {
    const Table *t = snapshot_table(s, "tampering");
    const char *tamper = snapshot_facts(s)->tamper;
    long n = t ? table_rows(t) : 0;
    snprintf(out, bytes, tamper[0] ? "⚠ %s" : "%s", tamper);
    if (canvas_columns(c, out) <= room || n == 0) return;
    snprintf(out, bytes, ngettext("⚠ %ld intervention (!)", "⚠ %ld interventions (!)", (unsigned long)n), n);
}

static void draw_decode(Canvas *c, Rect r, const Snapshot *s, bool focused) {
    const SnapshotFacts *f = snapshot_facts(s);
    draw_label(c, r, _("decode"), focused, f->decode_running);
    char tamper[sizeof f->tamper + 40];
    tamper_words(c, s, r.w / 2, tamper, sizeof tamper);
    int tamper_w = canvas_columns(c, tamper);
    if (tamper_w > r.w / 2) tamper_w = r.w / 2;
    draw_tokens(c, (Rect){r.x + LABEL_W, r.y, r.w - LABEL_W - tamper_w - (tamper_w > 0), 1}, s);
    canvas_text(c, r.x + r.w - tamper_w, r.y, tamper_w, tamper, STYLE_WARNING, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
}

void bars_draw_transport(Canvas *c, const Snapshot *s, Clock clock) {
    Clocks p = place(c->w, c->h, clock);
    if (p.train.w > 0) draw_train(c, p.train, snapshot_facts(s), clock == CLOCK_TRAIN);
    if (p.decode.w > 0) draw_decode(c, p.decode, s, clock == CLOCK_DECODE);
}

bool bars_hit(const Canvas *c, const Snapshot *s, Clock focused, int x, int y, Clock *clock, long *step) {
    const SnapshotFacts *f = snapshot_facts(s);
    Clocks p = place(c->w, c->h, focused);
    bool train = p.train.w > 0 && y == p.train.y && x < p.train.x + p.train.w;
    *clock = train ? CLOCK_TRAIN : CLOCK_DECODE;
    if (!train) return false;
    FigureText figures[FIGURES];
    Rect time;
    fit_figures(figures, figures_of(f, p.train.w, figures), p.train, &time);
    if (x < time.x || x >= time.x + time.w || time.w < 2) return false;
    *step = lround((double)(x - time.x) / (time.w - 1) * (double)f->steps);
    if (*step > f->head) *step = f->head;
    return true;
}

/* Keys. */

static int hint_width(const KeyRow *row) {
    char key[24];
    keymap_show(row->key, key, sizeof key);
    return utf8_columns(key) + 1 + utf8_columns(_(row->brief)) + 2;
}

/* False: no room before column END. */
static bool draw_hint(Canvas *c, int *x, int end, const KeyRow *row) {
    if (*x + hint_width(row) > end + 2) return false;
    char key[24];
    keymap_show(row->key, key, sizeof key);
    *x += canvas_text(c, *x, 0, -1, key, STYLE_KEY, ATTRIBUTE_BOLD) + 1;
    *x += canvas_text(c, *x, 0, -1, _(row->brief), STYLE_BAR, ATTRIBUTE_NONE) + 2;
    return true;
}

static bool is_last(const KeyRow *row) {
    return !strcmp(row->key, "?") || !strcmp(row->key, "q");
}

/* Where keys are pressed, and what they find there. */
typedef struct {
    const PaneType *pane;
    const PaneContext *x;
    Clock clock;
} Offer;

/* Without a run there is nothing that the panes could do, but for the laboratory. */
static bool pane_offers(const Offer *o, const char *line) {
    if (snapshot_facts(o->x->snapshot)->state == RUN_FAILED && o->pane != &pane_lab) return false;
    return !o->pane->offers || o->pane->offers(o->x, line);
}

static bool is_offered_everywhere(const Offer *o, const char *line) {
    const SnapshotFacts *f = snapshot_facts(o->x->snapshot);
    bool moves = !strcmp(line, "toggle") || !strcmp(line, "next");
    bool over = f->state == RUN_FINISHED && f->step == f->head, run = f->state != RUN_FAILED;
    bool needs_run = moves || !strcmp(line, "token next") || !strcmp(line, "clock") || !strcmp(line, "edit");
    if (needs_run && !run) return false;
    if (!strcmp(line, "rewind")) return !f->reads_only && f->head > 0;
    if (!strcmp(line, "clock")) return !f->reads_only;
    if (moves) return o->clock == CLOCK_DECODE || !(over || f->reads_only);
    if (strcmp(line, "enter") != 0 || o->x->detail == DETAIL_WALL) return true; /* there it goes into the pane */
    return o->pane->enter && pane_offers(o, line);
}

/* False: the row is full. */
static bool draw_hints(Canvas *c, int *x, int end, const KeyRow *row, const Offer *o) {
    bool own = row == o->pane->keys;
    for (; row && row->key; row++) {
        if (!row->key[0] || !row->brief || is_last(row)) continue;
        if (!(own ? pane_offers : is_offered_everywhere)(o, row->command)) continue;
        if (!draw_hint(c, x, end, row)) return false;
    }
    return true;
}

/* Help and quit stand at the right end, whatever else there is room for. Returns where they begin. */
static int draw_last_hints(Canvas *c) {
    int w = 0;
    for (const KeyRow *row = keymap_rows(); row->key; row++)
        if (row->brief && is_last(row)) w += hint_width(row);
    int x = c->w - w + 1, begin = x;
    for (const KeyRow *row = keymap_rows(); row->key; row++)
        if (row->brief && is_last(row)) draw_hint(c, &x, c->w, row);
    return begin;
}

void bars_draw_keys(Canvas *c, KeyPlace place, const PaneType *pane, const PaneContext *context, Clock clock) {
    Offer o = {pane, context, clock};
    canvas_fill(c, (Rect){0, 0, c->w, c->h}, ' ', STYLE_BAR, ATTRIBUTE_NONE);
    int x = 1, end = draw_last_hints(c) - 2;
    if (place != KEYMAP_PANE && !draw_hints(c, &x, end, keymap_of(place), &o)) return;
    if (place != KEYMAP_OPTIONS && !draw_hints(c, &x, end, pane->keys, &o)) return;
    draw_hints(c, &x, end, keymap_of(KEYMAP_PANE), &o);
}
