#include "next_view.h"

#include "format.h"
#include "intl.h"
#include "mem.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_MOST = 14,
    NUMBER_W = 7,
    COLUMN_W = 9,
    LARGE_NUMBER_W = 18,
    BAR_LEAST_W = 12,
    THICK_MOST = 3,
    LIKELY_MOST = 8
};

static const double LIKELY = 0.01;

#define BEFORE_MARK 0x2502u

/* Order. */

typedef struct {
    double first, second;
    long row;
} Rank;

static int compare(const void *a, const void *b) {
    const Rank *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? 1 : -1;
    if (x->second != y->second) return x->second < y->second ? 1 : -1;
    return x->row < y->row ? -1 : x->row > y->row;
}

NextOrder next_order(const Table *next, bool by_model) {
    NextOrder o = {.n = table_rows(next)};
    int model = table_find(next, "model_p"), truth = table_find(next, "true_p");
    o.truth = o.n > 0 && !table_is_empty(next, 0, truth);
    Rank *rank = MEM_ARRAY(Rank, (size_t)(o.n + 1));
    for (long i = 0; i < o.n; i++) {
        double m = table_real(next, i, model), t = o.truth ? table_real(next, i, truth) : m;
        rank[i] = (Rank){by_model ? m : t, by_model ? t : m, i};
        o.largest = fmax(o.largest, fmax(m, t));
    }
    qsort(rank, (size_t)o.n, sizeof *rank, compare);
    o.row = MEM_ARRAY(long, (size_t)(o.n + 1));
    for (long i = 0; i < o.n; i++) o.row[i] = rank[i].row;
    mem_free(rank);
    return o;
}

void next_order_done(NextOrder *o) {
    mem_free(o->row);
    o->row = NULL;
}

/* The filter. */

bool next_stage(const Table *filter, long *at, const char **name, long *kept) {
    long rows = table_rows(filter);
    if (*at >= rows) return false;
    int stage = table_find(filter, "stage"), keeps = table_find(filter, "kept");
    *name = table_text(filter, *at, stage);
    for (*kept = 0; *at < rows && !strcmp(table_text(filter, *at, stage), *name); ++*at)
        *kept += (long)table_int(filter, *at, keeps); /* one row may stand for many words */
    return true;
}

/* Rows FIRST .. END-1 are of the stage; false: there are fewer stages. STAGE -1: the last. */
static bool stage_rows(const Table *filter, int stage, long *first, long *end) {
    const char *name;
    long at = 0, kept;
    bool found = false;
    for (int i = 0; stage < 0 || i <= stage; i++) {
        long from = at;
        if (!next_stage(filter, &at, &name, &kept)) break;
        *first = from;
        *end = at;
        found = stage < 0 || i == stage;
    }
    return found;
}

double next_at_stage(const Table *filter, int stage, long long id, bool *kept) {
    *kept = false;
    long first, end;
    if (!filter || table_rows(filter) == 0 || !stage_rows(filter, stage, &first, &end)) return (double)NAN;
    int index = table_find(filter, "index"), value = table_find(filter, "value"), keeps = table_find(filter, "kept");
    long guess = first + (long)id;
    long at = guess >= first && guess < end && table_int(filter, guess, index) == id ? guess : first;
    while (at < end && table_int(filter, at, index) != id) at++;
    if (at == end) return (double)NAN;
    *kept = table_int(filter, at, keeps) != 0;
    return table_real(filter, at, value);
}

double next_filtered(const Table *filter, long long id, bool *kept) {
    return next_at_stage(filter, -1, id, kept);
}

/* Drawing. */

typedef struct {
    char token[READING_TOKEN];
    long long id;
    double logit, model, truth, filtered, before; /* before: without tampering; NaN: the same */
    bool kept;
} Word;

/* The table has a row for each id, in order. */
static double untouched_p(const Table *t, long long id) {
    if (!t || id < 0 || id >= table_rows(t)) return (double)NAN;
    return table_real(t, (long)id, table_find(t, "model_p"));
}

static Word word_at(const NextList *l, long i) {
    long row = l->order->row[i];
    Word w = {.id = table_int(l->next, row, table_find(l->next, "id")),
              .logit = table_real(l->next, row, table_find(l->next, "logit")),
              .model = table_real(l->next, row, table_find(l->next, "model_p")),
              .truth = table_real(l->next, row, table_find(l->next, "true_p"))};
    int token = table_find(l->next, "token");
    Str shown;
    str_init(&shown);
    if (!table_is_empty(l->next, row, token))
        utf8_show(&shown, table_text(l->next, row, token), table_text_bytes(l->next, row, token), false);
    size_t bytes = utf8_fit(shown.s, WORD_MOST);
    if (bytes >= sizeof w.token) bytes = 0;
    memcpy(w.token, shown.s, bytes);
    w.token[bytes] = '\0';
    str_done(&shown);
    w.before = untouched_p(l->untouched, w.id);
    w.kept = true;
    if (l->filter) w.filtered = next_filtered(l->filter, w.id, &w.kept);
    return w;
}

/* Widths of the parts of a line. */
typedef struct {
    int word, bar;
} Widths;

static Widths widths_of(const NextList *l, int w) {
    Widths s = {.word = w / 4 < WORD_MOST ? w / 4 : WORD_MOST};
    if (s.word < 4) s.word = w < 4 ? w : 4;
    int numbers = NUMBER_W * (l->order->truth && !l->tall ? 2 : 1),
        columns = l->columns ? (3 + l->stages) * COLUMN_W : 0;
    s.bar = w - s.word - 2 - columns - numbers - 1;
    if (s.bar < 0) s.bar = 0;
    return s;
}

/* Where the model's bar would end had nobody tampered: SHARE of W columns. */
static void draw_before(Canvas *c, int x, int y, int w, double share) {
    int at = (int)(w * share + 0.5);
    canvas_put(c, x + (at < w ? at : w - 1), y, BEFORE_MARK, STYLE_STRONG, ATTRIBUTE_BOLD);
}

/* The pair of bars and their numbers: below each other when tall, else in one row. Returns the columns used. */
static int draw_bars(Canvas *c, int x, int y, const NextList *l, const Widths *s, const Word *w) {
    double most = l->order->largest > 0 ? l->order->largest : 1;
    bool below = l->order->truth && l->tall;
    draw_pair(c, x, y, s->bar, below ? 2 : 1, w->model / most, w->truth / most);
    if (s->bar > 0 && !isnan(w->before)) draw_before(c, x, y, s->bar, w->before / most);
    int at = x + s->bar + 1;
    canvas_text(c, at, y, NUMBER_W, format_probability(w->model).s, STYLE_MODEL, ATTRIBUTE_NONE);
    if (below) {
        canvas_text(c, at, y + 1, NUMBER_W, format_probability(w->truth).s, STYLE_TRUTH, ATTRIBUTE_NONE);
    } else if (l->order->truth) {
        at += NUMBER_W;
        canvas_text(c, at, y, NUMBER_W, format_probability(w->truth).s, STYLE_TRUTH, ATTRIBUTE_NONE);
    }
    return at + NUMBER_W - x;
}

static void draw_stage_value(Canvas *c, int x, int y, double p, bool kept) {
    Text drawn = kept ? format_probability(p) : (Text){"✂"};
    int columns = canvas_columns(c, drawn.s);
    canvas_text(c, x + COLUMN_W - 1 - columns, y, columns, drawn.s, kept ? STYLE_TEXT : STYLE_DIM, ATTRIBUTE_NONE);
}

static void draw_columns(Canvas *c, int x, int y, const NextList *l, const Word *w) {
    canvas_textf(c, x, y, COLUMN_W, STYLE_DIM, ATTRIBUTE_NONE, "%*lld", COLUMN_W - 1, w->id);
    canvas_textf(c, x + COLUMN_W, y, COLUMN_W, STYLE_DIM, ATTRIBUTE_NONE, "%*.3f", COLUMN_W - 1, w->logit);
    for (int i = 0; i < l->stages; i++) {
        bool kept;
        double p = next_at_stage(l->filter, l->stage[i], w->id, &kept);
        draw_stage_value(c, x + (2 + i) * COLUMN_W, y, p, kept);
    }
    if (l->filter) draw_stage_value(c, x + (2 + l->stages) * COLUMN_W, y, w->filtered, w->kept);
}

void next_choose_stages(NextList *l, int w) {
    const char *name;
    long at = 0, kept;
    l->stages = 0;
    if (!l->filter || !l->columns) return;
    for (int i = 0; l->stages < 3 && next_stage(l->filter, &at, &name, &kept); i++) {
        if (i == 0 || !strcmp(name, "final")) continue;
        l->stage[l->stages++] = i;
        if (widths_of(l, w).bar < BAR_LEAST_W) {
            l->stages = 0; /* all or none: a stage that is missing would mislead */
            return;
        }
    }
}

static void draw_name(Canvas *c, int x, int y, const char *name) {
    int columns = canvas_columns(c, name);
    canvas_text(c, x + COLUMN_W - 1 - columns, y, columns, name, STYLE_DIM, ATTRIBUTE_NONE);
}

void next_draw_column_names(Canvas *c, Rect r, const NextList *l) {
    if (!l->columns) return;
    int x = r.x + r.w - (3 + l->stages) * COLUMN_W;
    draw_name(c, x, r.y, _("id"));
    draw_name(c, x + COLUMN_W, r.y, _("logit"));
    for (int i = 0; i < l->stages; i++) {
        long first, end;
        if (!stage_rows(l->filter, l->stage[i], &first, &end)) continue;
        const char *name = table_text(l->filter, first, table_find(l->filter, "stage"));
        const char *shown = !strcmp(name, "temperature") ? "÷ τ" : !strcmp(name, "top_k") ? _("top-k") : _("top-p");
        draw_name(c, x + (2 + i) * COLUMN_W, r.y, shown);
    }
    draw_name(c, x + (2 + l->stages) * COLUMN_W, r.y, _("drawn p"));
}

static void draw_word(Canvas *c, Rect r, int y, const NextList *l, const Widths *s, long i) {
    Word w = word_at(l, i);
    bool here = i == l->cursor;
    canvas_text(c, r.x, y, 1, here ? "▸" : w.kept ? " " : "✂", here ? STYLE_CURSOR : STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, r.x + 1, y, s->word, w.token,
                here     ? STYLE_CURSOR
                : w.kept ? STYLE_TEXT
                         : STYLE_DIM,
                CANVAS_ELLIPSIS);
    int x = r.x + 2 + s->word;
    int used = draw_bars(c, x, y, l, s, &w);
    if (l->columns) draw_columns(c, x + used, y, l, &w);
}

static int bar_rows(const NextList *l) {
    return l->tall && l->order->truth ? 2 : 1;
}

long next_likely(const NextList *l) {
    int model = table_find(l->next, "model_p"), truth = table_find(l->next, "true_p");
    long n = 0;
    for (long i = 0; i < l->order->n; i++) {
        double m = table_real(l->next, l->order->row[i], model), t = table_real(l->next, l->order->row[i], truth);
        n += m >= LIKELY || t >= LIKELY;
    }
    return n < 1 ? 1 : n < LIKELY_MOST ? n : LIKELY_MOST;
}

/* Tall digits in as many rows as the bar, or text on its middle. */
static void draw_large_number(Canvas *c, Rect r, double p, StyleRole role) {
    Text number = r.h >= 3 ? format_fixed(p, 3) : format_probability(p);
    DrawnSize size = draw_big_size(c, r.w, r.h, number.s);
    draw_big(c, (Rect){r.x, r.y + (r.h - size.h) / 2, r.w, size.h}, number.s, role);
}

/* THICK rows for each bar. */
static void draw_large_word(Canvas *c, int y, int thick, int w, const NextList *l, long i) {
    Word word = word_at(l, i);
    bool here = i == l->cursor, truth = l->order->truth;
    double most = l->order->largest > 0 ? l->order->largest : 1;
    int label = w / 5 < WORD_MOST ? w / 5 : WORD_MOST, number = thick >= 3 ? LARGE_NUMBER_W : NUMBER_W;
    int bar = w - label - 2 - number - 1, middle = y + (truth ? thick : thick / 2) - (truth && thick > 1 ? 1 : 0);
    if (here) canvas_text(c, 0, middle, 1, "▸", STYLE_CURSOR, ATTRIBUTE_BOLD);
    canvas_text(c, 1, middle, label, word.token, here ? STYLE_CURSOR : STYLE_STRONG, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
    draw_pair(c, label + 2, y, bar, 2 * thick, word.model / most, word.truth / most);
    Rect r = {label + 2 + bar + 1, y, number, thick};
    draw_large_number(c, r, word.model, STYLE_MODEL);
    if (truth) draw_large_number(c, (Rect){r.x, y + thick, number, thick}, word.truth, STYLE_TRUTH);
}

void next_draw_large(Canvas *c, Rect r, const NextList *l) {
    Canvas view = canvas_view(c, r);
    long words = next_likely(l);
    int bars = l->order->truth ? 2 : 1, thick = THICK_MOST, gap = 1;
    while (thick > 1 && words * (bars * thick + gap) > view.h + gap) thick--;
    if (thick == 1 && words * (bars + gap) > view.h + gap) gap = 0;
    long first = l->cursor >= words ? l->cursor - words + 1 : 0;
    for (long i = 0; i < words && first + i < l->order->n; i++)
        draw_large_word(&view, (int)i * (bars * thick + gap), thick, view.w, l, first + i);
}

int next_draw_names(Canvas *c, Rect r, int y, const NextList *l) {
    Widths s = widths_of(l, r.w);
    int at = r.x + 2 + s.word + s.bar + 1;
    if (bar_rows(l) > 1 || s.bar == 0) return r.w;
    canvas_text(c, at, y, NUMBER_W, _("model"), STYLE_MODEL, ATTRIBUTE_NONE);
    if (l->order->truth) canvas_text(c, at + NUMBER_W, y, NUMBER_W, _("truth"), STYLE_TRUTH, ATTRIBUTE_NONE);
    return at - r.x;
}

static const char *before_legend(void) {
    return _("│ untouched");
}

int next_legend_columns(const NextList *l) {
    int columns = 2 + utf8_columns(_("model"));
    if (l->untouched) columns += 2 + utf8_columns(before_legend());
    return l->order->truth ? columns + 4 + utf8_columns(_("truth")) : columns;
}

void next_draw_legend(Canvas *c, int x, int y, int w, const NextList *l) {
    Canvas line = canvas_view(c, (Rect){x, y, w, 1});
    int at = 0;
    for (int truth = 0; truth < 2 && (!truth || l->order->truth); truth++) {
        StyleRole role = truth ? STYLE_TRUTH : STYLE_MODEL;
        canvas_put(&line, at, 0, draw_pair_glyph(c, bar_rows(l), truth != 0), role, ATTRIBUTE_NONE);
        at += 2;
        at += canvas_text(&line, at, 0, -1, truth ? _("truth") : _("model"), role, ATTRIBUTE_NONE) + 2;
    }
    if (l->untouched) canvas_text(&line, at, 0, -1, before_legend(), STYLE_STRONG, ATTRIBUTE_NONE);
}

long next_draw(Canvas *c, Rect r, const NextList *l) {
    Canvas view = canvas_view(c, r);
    Widths s = widths_of(l, r.w);
    int rows = bar_rows(l);
    long room = r.h > 0 ? r.h / rows : 0;
    for (long i = 0; i < room && l->first + i < l->order->n; i++)
        draw_word(&view, (Rect){0, 0, r.w, r.h}, (int)i * rows, l, &s, l->first + i);
    return room;
}
