#include "filter_view.h"

#include "format.h"
#include "intl.h"
#include "next_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FORM_ROWS = 4, LABEL_W = 8, NAME_W = 13, KEEPS_W = 7, STAGES_MOST = 8 };

/* The form. */

static void value_of(const SnapshotFacts *f, FilterSetting setting, long sentences, char *out, size_t bytes) {
    const char *off = _("off");
    switch (setting) {
    case FILTER_HOW:
        snprintf(out, bytes, "%s", f->sampling ? _("drawn") : _("likeliest"));
        break;
    case FILTER_TAU:
        snprintf(out, bytes, "%s", format_fixed(f->tau, 2).s);
        break;
    case FILTER_TOP_K:
        snprintf(out, bytes, "%s", f->top_k > 0 ? format_count(f->top_k).s : off);
        break;
    case FILTER_TOP_P:
        snprintf(out, bytes, "%s", f->top_p < 1 ? format_fixed(f->top_p, 2).s : off);
        break;
    case FILTER_ORDER:
        snprintf(out, bytes, "%s", f->tau_last ? _("τ last") : _("τ first"));
        break;
    case FILTER_SEED:
        snprintf(out, bytes, "%llu", (unsigned long long)f->draw_seed);
        break;
    case FILTER_SENTENCES:
        snprintf(out, bytes, "%s", format_count(sentences).s);
        break;
    case FILTER_SETTINGS:
        break;
    }
}

static const char *const setting_names[FILTER_SETTINGS] = {N_("next"),  "τ",        N_("top-k"), N_("top-p"),
                                                           N_("order"), N_("seed"), N_("many")};

int filter_draw_form(const Snapshot *s, Canvas *c, Rect r, int setting, long sentences) {
    const SnapshotFacts *f = snapshot_facts(s);
    for (int i = 0; i < FILTER_SETTINGS; i++) {
        int x = r.x + i / FORM_ROWS * (r.w / 2), y = r.y + i % FORM_ROWS;
        if (y >= r.y + r.h) continue;
        bool here = i == setting;
        char value[48];
        value_of(f, (FilterSetting)i, sentences, value, sizeof value);
        const char *name = setting_names[i];
        if (here) canvas_text(c, x, y, 1, "▸", STYLE_CURSOR, ATTRIBUTE_BOLD);
        canvas_text(c, x + 1, y, LABEL_W - 1, i == FILTER_TAU ? name : _(name), STYLE_DIM, ATTRIBUTE_NONE);
        canvas_text(c, x + 1 + LABEL_W, y, r.w / 2 - LABEL_W - 2, value, here ? STYLE_CURSOR : STYLE_STRONG,
                    CANVAS_ELLIPSIS | (here ? ATTRIBUTE_BOLD : 0));
    }
    return r.h < FORM_ROWS ? r.h : FORM_ROWS;
}

int filter_form_at(Rect r, int x, int y) {
    int at = (x - r.x < r.w / 2 ? 0 : FORM_ROWS) + y - r.y;
    bool inside = x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h && y < r.y + FORM_ROWS;
    return inside && at < FILTER_SETTINGS ? at : -1;
}

static double step_of(double x, int by, double step, double most) {
    double to = (floor(x / step + 0.5) + by) * step;
    return fmin(fmax(to, 0), most);
}

void filter_change(const Snapshot *s, FilterSetting setting, int by, char *out, size_t bytes) {
    const SnapshotFacts *f = snapshot_facts(s);
    static const char *const typed[FILTER_SETTINGS] = {
        [FILTER_TAU] = "tau", [FILTER_TOP_K] = "top_k", [FILTER_TOP_P] = "top_p", [FILTER_SEED] = "seed"};
    out[0] = '\0';
    if (by == 0) {
        if (typed[setting]) snprintf(out, bytes, "filter %s=", typed[setting]);
        return;
    }
    long k = (long)f->top_k + by;
    double seed = (double)f->draw_seed + by;
    switch (setting) {
    case FILTER_HOW:
        snprintf(out, bytes, "filter %s", f->sampling ? "greedy" : "draw");
        break;
    case FILTER_TAU:
        snprintf(out, bytes, "filter tau=%.10g", step_of(f->tau, by, f->tau + by * .01 > 2 ? .5 : .1, 100));
        break;
    case FILTER_TOP_K:
        snprintf(out, bytes, "filter top_k=%ld", k < 0 ? 0 : k > f->vocab ? (long)f->vocab : k);
        break;
    case FILTER_TOP_P:
        snprintf(out, bytes, "filter top_p=%.10g", step_of(f->top_p, by, .05, 1));
        break;
    case FILTER_ORDER:
        snprintf(out, bytes, "filter order=%s", f->tau_last ? "tau_first" : "tau_last");
        break;
    case FILTER_SEED:
        snprintf(out, bytes, "filter seed=%.0f", seed < 0 ? 0 : seed);
        break;
    case FILTER_SENTENCES:
    case FILTER_SETTINGS:
        break;
    }
}

long filter_more(long sentences, int by) {
    long ten = 1;
    while (ten * 10 <= sentences) ten *= 10;
    long lead = sentences / ten;
    if (by > 0) sentences = lead < 2 ? 2 * ten : lead < 5 ? 5 * ten : 10 * ten;
    if (by < 0)
        sentences = sentences > 5 * ten ? 5 * ten : sentences > 2 * ten ? 2 * ten : sentences > ten ? ten : ten / 2;
    return sentences < 1 ? 1 : sentences > 1000000 ? 1000000 : sentences;
}

/* The stages. */

typedef struct {
    const char *name;
    long first, rows, kept;
    double sum;   /* of what is kept, as the stage compared it */
    long as_good; /* dropped here though as likely as the least that is kept */
} Stage;

/* FROM: the stage before, whose values are what was compared; NULL: none. */
static void read_ties(const Table *t, const Stage *before, Stage *stage) {
    int value = table_find(t, "value"), kept = table_find(t, "kept");
    double least = HUGE_VAL;
    if (!before) return;
    for (long i = 0; i < stage->rows; i++)
        if (table_int(t, stage->first + i, kept)) least = fmin(least, table_real(t, before->first + i, value));
    for (long i = 0; i < stage->rows; i++)
        stage->as_good += table_int(t, before->first + i, kept) && !table_int(t, stage->first + i, kept) &&
                          table_real(t, before->first + i, value) == least;
}

static int read_stages(const Table *t, Stage out[STAGES_MOST]) {
    int n = 0, value = table_find(t, "value"), kept = table_find(t, "kept");
    long at = 0;
    while (n < STAGES_MOST) {
        Stage s = {.first = at};
        if (!next_stage(t, &at, &s.name, &s.kept)) break;
        s.rows = at - s.first;
        for (long i = s.first; i < at; i++)
            if (table_int(t, i, kept)) s.sum += table_real(t, i, value);
        if (n > 0 && s.rows == out[n - 1].rows) read_ties(t, &out[n - 1], &s);
        out[n++] = s;
    }
    return n;
}

static void name_stage(const SnapshotFacts *f, const char *name, char *out, size_t bytes) {
    if (!strcmp(name, "temperature"))
        snprintf(out, bytes, "÷ τ %s", format_fixed(f->tau, 2).s);
    else if (!strcmp(name, "top_k"))
        snprintf(out, bytes, "%s %d", _("top-k"), f->top_k);
    else if (!strcmp(name, "top_p"))
        snprintf(out, bytes, "%s %s", _("top-p"), format_fixed(f->top_p, 2).s);
    else
        snprintf(out, bytes, "%s", strcmp(name, "final") ? _("logits") : _("to one again"));
}

static void draw_stage(const SnapshotFacts *f, Canvas *c, int x, int y, int w, const Stage *s, bool first) {
    char name[48];
    bool cuts = !strcmp(s->name, "top_k") || !strcmp(s->name, "top_p");
    name_stage(f, s->name, name, sizeof name);
    canvas_text(c, x, y, NAME_W, name, STYLE_DIM, CANVAS_ELLIPSIS);
    int at = NAME_W + 1;
    at += canvas_textf(c, x + at, y, w - at, cuts ? STYLE_STRONG : STYLE_TEXT, ATTRIBUTE_NONE, "%5s",
                       format_count(s->kept).s);
    if (first) {
        canvas_text(c, x + at + 1, y, w - at - 1, _("tokens"), STYLE_DIM, ATTRIBUTE_NONE);
    } else if (cuts) {
        at += canvas_textf(c, x + at, y, w - at, STYLE_TEXT, ATTRIBUTE_NONE, "  Σ %s", format_fixed(s->sum, 4).s);
        if (s->as_good > 0)
            canvas_textf(c, x + at, y, w - at, STYLE_WARNING, CANVAS_ELLIPSIS, _("  %ld as likely out"), s->as_good);
    }
}

int filter_draw_stages(const Snapshot *s, Canvas *c, Rect r) {
    const Table *t = snapshot_table(s, "filter");
    Stage stage[STAGES_MOST];
    int n = t ? read_stages(t, stage) : 0, y = 0;
    for (; y < n && y < r.h; y++) draw_stage(snapshot_facts(s), c, r.x, r.y + y, r.w, &stage[y], y == 0);
    return y;
}

/* The number. */

typedef struct {
    double u;
    const char *token;
    long long id;
} Drawn;

static bool read_draw(const Snapshot *s, Drawn *out) {
    const Table *t = snapshot_table(s, "draws");
    if (!t || table_rows(t) == 0) return false;
    *out = (Drawn){table_real(t, 0, table_find(t, "number")), table_text(t, 0, table_find(t, "token")),
                   table_int(t, 0, table_find(t, "id"))};
    return true;
}

static void word_of(const Snapshot *s, long long id, char out[READING_TOKEN]) {
    const Table *next = snapshot_table(s, "next");
    int column = next ? table_find(next, "id") : -1;
    out[0] = '\0';
    for (long i = 0; column >= 0 && i < table_rows(next); i++)
        if (table_int(next, i, column) == id) reading_cell(next, i, "token", out);
}

/* Segment after segment of the final stage over W columns, their names above where they have room. */
static void draw_segments(const Snapshot *s, const Table *t, const Stage *last, Canvas *c, Rect r, const Drawn *d) {
    int value = table_find(t, "value"), index = table_find(t, "index"), shown = 0;
    double sum = 0;
    for (long i = last->first; i < last->first + last->rows; i++) {
        double p = table_real(t, i, value);
        if (!(p > 0)) continue;
        int from = (int)(sum * r.w + .5), to = (int)((sum + p) * r.w + .5);
        bool here = table_int(t, i, index) == d->id;
        StyleRole role = here ? STYLE_GENERATED : STYLE_MODEL;
        for (int x = from; x < to && x < r.w; x++)
            canvas_put(c, r.x + x, r.y + 1, shown % 2 ? 0x2592 : 0x2588, role, ATTRIBUTE_NONE);
        char word[READING_TOKEN];
        word_of(s, table_int(t, i, index), word);
        if (canvas_columns(c, word) < to - from)
            canvas_text(c, r.x + from, r.y, to - from - 1, word, role, here ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE);
        shown += to > from;
        sum += p;
    }
}

static int draw_more_draws(const Snapshot *s, Canvas *c, Rect r) {
    const Table *draws = snapshot_table(s, "draws");
    if (r.h < 1) return 0;
    int at = canvas_text(c, r.x, r.y, r.w, _("draws   "), STYLE_DIM, ATTRIBUTE_NONE);
    long n = table_rows(draws);
    for (long i = 0; i < n; i++) {
        char word[READING_TOKEN];
        reading_cell(draws, i, "token", word);
        int sign = i + 1 < n ? 2 : 0; /* whole words only, and a sign that there are more */
        if (at + canvas_columns(c, word) + sign > r.w) {
            canvas_text(c, r.x + at, r.y, r.w - at, "…", STYLE_GENERATED, ATTRIBUTE_NONE);
            break;
        }
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_GENERATED, ATTRIBUTE_NONE, "%s ", word);
    }
    return 1;
}

int filter_draw_number(const Snapshot *s, Canvas *c, Rect r) {
    const Table *t = snapshot_table(s, "filter");
    Stage stage[STAGES_MOST];
    Drawn d;
    int n = t ? read_stages(t, stage) : 0, y = r.y;
    if (n == 0 || !read_draw(s, &d) || r.h < 1) return 0;
    int at = canvas_textf(c, r.x, y, r.w, STYLE_DIM, ATTRIBUTE_NONE, _("u %s falls on "), format_fixed(d.u, 4).s);
    canvas_text(c, r.x + at, y++, r.w - at, d.token, STYLE_GENERATED, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    if (r.h >= 4) {
        draw_segments(s, t, &stage[n - 1], c, (Rect){r.x, y, r.w, 2}, &d);
        int mark = (int)(d.u * r.w);
        canvas_text(c, r.x + (mark < r.w ? mark : r.w - 1), y + 2, 1, "▲", STYLE_GENERATED, ATTRIBUTE_BOLD);
        y += 3;
    }
    return y - r.y + draw_more_draws(s, c, (Rect){r.x, y, r.w, r.y + r.h - y});
}

void filter_draw_line(const Snapshot *s, Canvas *c, Rect r) {
    const SnapshotFacts *f = snapshot_facts(s);
    Drawn d;
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, CANVAS_ELLIPSIS, "τ %s ", format_fixed(f->tau, 2).s);
    if (f->top_k > 0)
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, "%s %d ", _("top-k"), f->top_k);
    if (f->top_p < 1)
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, CANVAS_ELLIPSIS, "%s %s ", _("top-p"),
                           format_fixed(f->top_p, 2).s);
    if (!read_draw(s, &d)) return;
    at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_TEXT, CANVAS_ELLIPSIS, "u %s → ", format_fixed(d.u, 3).s);
    canvas_text(c, r.x + at, r.y, r.w - at, d.token, STYLE_GENERATED, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
}
