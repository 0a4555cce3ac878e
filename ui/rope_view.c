#include "rope_view.h"

#include "dial.h"
#include "format.h"
#include "intl.h"
#include "mem.h"
#include "reading.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    X_LABEL_LEAST_W = 48,
    LABEL_W = 6,     /* "pair 1" */
    FACE_LEAST = 7,  /* columns of a face that still reads well */
    FACE_MOST = 41,  /* larger ones tell no more */
    PLOT_MARGIN = 6, /* columns of a plot beside its lines */
    TALL_ROWS = 3,   /* rows of words below a face: pair, angle, period */
    SCHEME_W = 12,   /* "▸no position" */
    SCORE_W = 9,     /* "-123.4567" */
};

/* --- what is seen --- */

bool rope_see(const PaneContext *x, RopeSeen *out) {
    const RopeState *state = x->state;
    *out = (RopeSeen){.look = {.layer = x->cursor->layer,
                               .head = x->cursor->head,
                               .query = x->cursor->query,
                               .key = x->cursor->key,
                               .base = state->base,
                               .pairing = state->pairing,
                               .formula = state->formula,
                               .shift = state->shift}};
    if (!observe_positions(x->snapshot, &out->facts)) return false;
    RopeLook here = out->look;
    here.shift = 0;
    out->hands = observe_rope_hands(x->snapshot, &here);
    out->vectors = observe_rope_vectors(x->snapshot, &here);
    out->distance = observe_rope_distance(x->snapshot, &here);
    out->shift = observe_rope_shift(x->snapshot, &out->look);
    out->similarity = observe_rope_similarity(x->snapshot);
    out->turns = out->hands != NULL;
    return out->turns || (out->shift && isnan(out->facts.base));
}

void rope_seen_done(RopeSeen *s) {
    Table *const all[] = {s->hands, s->vectors, s->distance, s->shift, s->similarity};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) table_free(all[i]);
    *s = (RopeSeen){0};
}

static double cell(const Table *t, long row, const char *column) {
    return table_real(t, row, table_find(t, column));
}

/* Other than what the model was trained with. */
static bool is_what_if(const RopeSeen *s) {
    return s->look.formula != ROPE_TURNED || (s->look.base > 0 && s->look.base != s->facts.base) ||
           (s->look.pairing >= 0 && (s->look.pairing > 0) != s->facts.half);
}

/* --- the head --- */

/* A number of which the size matters: 6.3, 628, 10,000. */
static Text large_text(double x) {
    return fabs(x) < 100 ? format_fixed(x, x == floor(x) ? 0 : 1) : format_count(llround(x));
}

/* "RoPE · base 10,000 · adjacent pairs"; BRIEF 1: in fewer words, 2: the formula alone. */
static void settings_text(const RopeSeen *s, int brief, char *out, size_t bytes) {
    static const char *const formulas[] = {N_("RoPE"), N_("one speed"), N_("both by t−j (wrong)"), N_("no position")};
    bool half = s->look.pairing < 0 ? s->facts.half : s->look.pairing > 0;
    double base = s->look.base > 0 ? s->look.base : s->facts.base;
    int used = snprintf(out, bytes, is_what_if(s) ? _("what if: %s") : "%s", _(formulas[s->look.formula]));
    if (brief > 1) return;
    if (s->look.formula == ROPE_TURNED || s->look.formula == ROPE_WRONG)
        used += snprintf(out + used, bytes - (size_t)used, _(" · base %s"), large_text(base).s);
    bool scaled = s->look.formula == ROPE_TURNED && strcmp(s->facts.scaling, "none") != 0;
    if (scaled) /* "llama3:8:1:4:8192", or its kind */
        used += snprintf(out + used, bytes - (size_t)used, " · %.*s",
                         (int)(brief ? strcspn(s->facts.scaling, ":") : strlen(s->facts.scaling)), s->facts.scaling);
    if (s->look.formula != ROPE_NONE)
        snprintf(out + used, bytes - (size_t)used, " · %s",
                 brief ? (half ? _("half") : _("adjacent")) : (half ? _("half pairs") : _("adjacent pairs")));
}

/* The mask does not let the query look there. */
static bool is_hidden(const Snapshot *s, const RopeLook *at) {
    const Field *f = snapshot_field(s, "attention.%d.masked", at->layer);
    return f && at->head < f->dim[0] && at->query < f->dim[1] && at->key < f->dim[2] &&
           isinf(field_at(f, at->head, at->query, at->key, 0));
}

static int draw_word(const PaneContext *x, Canvas *c, int at, int y, int w, int token, StyleRole role) {
    char word[READING_TOKEN];
    reading_token(x->snapshot, token, word);
    return canvas_text(c, at, y, w, word, role, ATTRIBUTE_BOLD | CANVAS_ELLIPSIS);
}

void rope_draw_head(const PaneContext *x, const RopeSeen *s, Canvas *c, Rect r) {
    int at = r.x, end = r.x + r.w, most = r.w / 5 > 4 ? r.w / 5 : 4;
    at += draw_word(x, c, at, r.y, most, s->look.query, ROPE_QUERY);
    at += canvas_textf(c, at, r.y, end - at, ROPE_QUERY, ATTRIBUTE_NONE, _(" at %d"), s->look.query);
    at += canvas_text(c, at, r.y, end - at, _(" looks at "), STYLE_DIM, ATTRIBUTE_NONE);
    at += draw_word(x, c, at, r.y, most < end - at ? most : end - at, s->look.key, ROPE_KEY);
    at += canvas_textf(c, at, r.y, end - at, ROPE_KEY, ATTRIBUTE_NONE, _(" at %d"), s->look.key);
    if (is_hidden(x->snapshot, &s->look))
        at += canvas_text(c, at, r.y, end - at, _("  hidden"), STYLE_DIM, ATTRIBUTE_NONE);
    if (!s->turns) return;
    for (int brief = 0; brief < 3; brief++) {
        char text[200];
        settings_text(s, brief, text, sizeof text);
        int columns = utf8_columns(text);
        if (at + columns + 2 > end) continue;
        canvas_text(c, end - columns, r.y, columns, text, is_what_if(s) ? STYLE_WARNING : STYLE_DIM, ATTRIBUTE_NONE);
        return;
    }
}

/* --- faces --- */

typedef struct {
    int pairs, columns, rows; /* shown, in a grid */
    int face, words;          /* columns of a face; rows of words below */
} Grid;

/* The largest faces with which PAIRS of them fill W x H, in words rows of words each. */
static Grid fill(int pairs, int w, int h, int words) {
    Grid best = {.pairs = pairs};
    for (int rows = 1; rows <= pairs; rows++) {
        int columns = (pairs + rows - 1) / rows, wide = w / columns - 1, high = 2 * (h / rows - words);
        int face = wide < high ? wide : high;
        if (face > FACE_MOST) face = FACE_MOST;
        if (face > best.face) best = (Grid){pairs, columns, rows, face, words};
    }
    return best;
}

/* All pairs, or as many as leave faces that read well. */
static Grid grid_of(int pairs, int w, int h) {
    int words = h >= 14 ? TALL_ROWS : h >= 7 ? 2 : 1;
    for (int n = pairs; n > 1; n = n > 16 ? n / 2 : n - 1) {
        Grid g = fill(n, w, h, words);
        if (g.face >= FACE_LEAST) return g;
    }
    Grid one = fill(1, w, h, words);
    return one.face >= DIAL_LEAST_W ? one : fill(1, w, h, 0);
}

/* The pair that place I of N shows: the first, the last, and evenly between. */
static int shown_pair(int i, int n, int pairs) {
    return n < 2 ? 0 : (int)lround((double)i * (pairs - 1) / (n - 1));
}

static Text angle_text(double angle) {
    return format_fixed(angle, fabs(angle) < 0.01 && angle != 0 ? 4 : fabs(angle) < 100 ? 2 : 0);
}

static void centred(Canvas *c, int x, int y, int w, StyleRole role, const char *text) {
    int columns = utf8_columns(text);
    canvas_text(c, x + (columns < w ? (w - columns) / 2 : 0), y, w, text, role, ATTRIBUTE_NONE);
}

/* "5.00−2.00": how far the query's hand is turned, and the key's; the first alone where there is no more room. */
static void draw_angles(Canvas *c, int x, int y, int w, double query, double key) {
    Text q = angle_text(query), k = angle_text(key);
    int columns = utf8_columns(q.s) + 1 + utf8_columns(k.s);
    if (columns > w) {
        centred(c, x, y, w, ROPE_QUERY, q.s);
        return;
    }
    int at = x + (w - columns) / 2;
    at += canvas_text(c, at, y, -1, q.s, ROPE_QUERY, ATTRIBUTE_NONE);
    at += canvas_text(c, at, y, -1, "−", STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, at, y, -1, k.s, ROPE_KEY, ATTRIBUTE_NONE);
}

static void draw_words(Canvas *c, Rect r, const Grid *g, const Table *hands, int pair) {
    char text[64];
    double query = cell(hands, pair, "query_angle"), period = cell(hands, pair, "period_tokens");
    if (g->words == 1) {
        snprintf(text, sizeof text, r.w >= 9 ? "%d  %s" : "%d", pair + 1, angle_text(query).s);
        centred(c, r.x, r.y, r.w, ROPE_QUERY, text);
        return;
    }
    snprintf(text, sizeof text, r.w >= LABEL_W + 1 ? _("pair %d") : "%d", pair + 1);
    centred(c, r.x, r.y, r.w, STYLE_TEXT, text);
    draw_angles(c, r.x, r.y + 1, r.w, query, cell(hands, pair, "key_angle"));
    if (g->words < TALL_ROWS) return;
    snprintf(text, sizeof text, r.w >= 14 ? _("round in %s") : "↻ %s", large_text(period).s);
    if (utf8_columns(text) > r.w) snprintf(text, sizeof text, "↻ %s", format_short(period).s);
    if (isfinite(period)) centred(c, r.x, r.y + 2, r.w, STYLE_DIM, text);
}

void rope_draw_dials(const RopeSeen *s, Canvas *c, Rect r) {
    int pairs = (int)table_rows(s->hands);
    Grid g = grid_of(pairs, r.w, r.h);
    if (g.face < DIAL_LEAST_W) return;
    int wide = r.w / g.columns, high = r.h / g.rows, face_h = (g.face + 1) / 2;
    for (int i = 0; i < g.pairs; i++) {
        int pair = shown_pair(i, g.pairs, pairs), x = r.x + i % g.columns * r.w / g.columns,
            y = r.y + i / g.columns * high;
        const Hand hand[2] = {{cell(s->hands, pair, "query_angle"), 0.92, ROPE_QUERY},
                              {cell(s->hands, pair, "key_angle"), 0.6, ROPE_KEY}};
        int top = y + (high - face_h - g.words) / 2;
        dial_draw(c, (Rect){x, top, wide - 1, face_h}, hand, 2);
        if (g.words > 0) draw_words(c, (Rect){x, top + face_h, wide - 1, g.words}, &g, s->hands, pair);
    }
}

/* --- the product against the distance --- */

/* With one speed a column of the plot has one distance, else the turns blur. */
static int distances_shown(const RopeSeen *s, int w) {
    int n = (int)table_rows(s->distance), room = w - PLOT_MARGIN;
    return s->look.formula == ROPE_SINGLE && room < n ? (room > 8 ? room : 8) : n;
}

Plot rope_plot(const RopeSeen *s, int w, Series series[2], double **columns) {
    int n = distances_shown(s, w);
    double *x = reading_column(s->distance, "distance", 0, n), *y = reading_column(s->distance, "score", 0, n),
           *model = reading_column(s->distance, "model_score", 0, n);
    *columns = MEM_ARRAY(double, 3 * (size_t)n);
    double *const part[3] = {x, y, model};
    for (int i = 0; i < 3; i++) {
        memcpy(*columns + (size_t)i * (size_t)n, part[i], (size_t)n * sizeof *x);
        mem_free(part[i]);
    }
    bool what_if = is_what_if(s);
    double *at = *columns;
    series[0] = (Series){at, at + n, n, what_if ? STYLE_WARNING : STYLE_MODEL, what_if ? _("what if") : NULL, 0};
    series[1] = (Series){at, at + 2 * n, n, STYLE_MODEL, _("the model"), 0};
    int distance = s->look.query - s->look.key;
    return (Plot){.series = series,
                  .count = what_if ? 2 : 1,
                  .x_label = w >= X_LABEL_LEAST_W ? _("distance") : NULL, /* the title says it; numbers need the room */
                  .y_label = _("q·k of these two at any distance"),
                  .level = (double)NAN,
                  .cursor_x = distance >= 0 ? distance : (double)NAN};
}

void rope_draw_distance(const RopeSeen *s, Canvas *c, Rect r) {
    Series series[2];
    double *columns;
    Plot plot = rope_plot(s, r.w, series, &columns);
    draw_plot(c, r, &plot);
    mem_free(columns);
}

void rope_draw_spark(const RopeSeen *s, Canvas *c, Rect r) {
    int n = (int)table_rows(s->distance);
    double *y = reading_column(s->distance, "score", 0, n);
    int at = canvas_text(c, r.x, r.y, r.w, _("q·k on distance "), STYLE_DIM, ATTRIBUTE_NONE);
    int room = r.w - at;
    draw_spark(c, r.x + at, r.y, room < n ? room : n, y, room < n ? room : n,
               is_what_if(s) ? STYLE_WARNING : STYLE_MODEL);
    mem_free(y);
}

/* --- further on --- */

static const char *scheme_label(const char *scheme) {
    if (!strcmp(scheme, "engine")) return _("engine");
    if (!strcmp(scheme, "single")) return _("one speed");
    if (!strcmp(scheme, "wrong")) return _("wrong");
    if (!strcmp(scheme, "none")) return _("no position");
    return _("RoPE");
}

/* The engine's second pass may be another number of tokens on. */
static void scheme_text(const RopeSeen *s, const char *scheme, char *out, size_t bytes) {
    bool other = !strcmp(scheme, "engine") && s->facts.shift > 0 && s->facts.shift != s->look.shift && s->turns;
    if (other)
        snprintf(out, bytes, "%s +%ld", scheme_label(scheme), s->facts.shift);
    else
        snprintf(out, bytes, "%s", scheme_label(scheme));
}

static bool is_chosen(const RopeSeen *s, const char *scheme) {
    return s->turns && !strcmp(scheme, observe_rope_formulas[s->look.formula]);
}

static void draw_scheme(const RopeSeen *s, Canvas *c, int x, int y, int w, long row) {
    const char *scheme = table_text(s->shift, row, table_find(s->shift, "scheme"));
    bool chosen = is_chosen(s, scheme);
    StyleRole role = chosen ? STYLE_STRONG : !strcmp(scheme, "engine") ? STYLE_MODEL : STYLE_TEXT;
    char label[40];
    scheme_text(s, scheme, label, sizeof label);
    int bold = chosen ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE, at = x + SCHEME_W;
    canvas_textf(c, x, y, SCHEME_W, role, bold, "%s%s", chosen ? "▸" : " ", label);
    double later = cell(s->shift, row, "score_shifted"), difference = cell(s->shift, row, "difference");
    canvas_textf(c, at, y, SCORE_W, role, bold, "%*s", SCORE_W, format_fixed(cell(s->shift, row, "score"), 4).s);
    at += SCORE_W;
    if (isnan(later)) return;
    canvas_textf(c, at, y, SCORE_W + 1, role, bold, "%*s", SCORE_W + 1, format_fixed(later, 4).s);
    at += SCORE_W + 1;
    double size = fabs(difference);
    bool rounding = size > 0 && size < 1e-12; /* its digits are the processor's, not the formula's */
    canvas_textf(c, at, y, x + w - at, STYLE_DIM, ATTRIBUTE_NONE, " Δ %s", rounding ? "<1e-12" : format_small(size).s);
}

static void draw_shift_head(const RopeSeen *s, Canvas *c, Rect r) {
    char now[40], later[60];
    long shift = s->turns ? s->look.shift : s->facts.shift;
    snprintf(now, sizeof now, "%d,%d", s->look.query, s->look.key);
    snprintf(later, sizeof later, "%ld,%ld", s->look.query + shift, s->look.key + shift);
    if (utf8_columns(later) > SCORE_W) snprintf(later, sizeof later, "+%s", format_count(shift).s);
    canvas_text(c, r.x, r.y, SCHEME_W, _("q·k at"), STYLE_DIM, ATTRIBUTE_NONE);
    canvas_textf(c, r.x + SCHEME_W, r.y, SCORE_W, STYLE_DIM, ATTRIBUTE_NONE, "%*s", SCORE_W, now);
    int at = SCHEME_W + SCORE_W;
    if (shift > 0) canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_DIM, ATTRIBUTE_NONE, "%*s", SCORE_W + 1, later);
}

static const char *lesson_of(const RopeSeen *s) {
    static const char *const lessons[] = {
        N_("Both further on: the same number. Only the distance counts."),
        N_("The same further on; but after every turn all comes back: far looks like near."),
        N_("Both turned by t−j: the turns cancel, and q·k is that of no position."),
        N_("Nothing is turned: q·k knows nothing of order."),
    };
    return _(lessons[s->look.formula]);
}

void rope_draw_shift(const RopeSeen *s, Canvas *c, Rect r) {
    Canvas view = canvas_view(c, r);
    draw_shift_head(s, &view, (Rect){0, 0, r.w, 1});
    int rows = (int)table_rows(s->shift);
    for (int i = 0; i < rows; i++) draw_scheme(s, &view, 0, i + 1, r.w, i);
    if (s->turns) draw_paragraph(&view, (Rect){0, rows + 1, r.w, r.h - rows - 1}, lesson_of(s), STYLE_DIM);
}

/* The row of the chosen formula; that of the engine where nothing turns. */
static long chosen_row(const RopeSeen *s) {
    int scheme = table_find(s->shift, "scheme");
    for (long i = 0; i < table_rows(s->shift); i++)
        if (is_chosen(s, table_text(s->shift, i, scheme))) return i;
    return 0;
}

static int draw_score_at(const RopeSeen *s, Canvas *c, Rect r, const char *what, bool later, int decimals) {
    long row = chosen_row(s);
    double score = cell(s->shift, row, later ? "score_shifted" : "score");
    if (isnan(score)) return 0;
    int at =
        canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, ATTRIBUTE_NONE, "%s(%.0f,%.0f) ", what,
                     cell(s->shift, row, later ? "t_shifted" : "t"), cell(s->shift, row, later ? "j_shifted" : "j"));
    if (decimals < 0) return at;
    return at + canvas_text(c, r.x + at, r.y, r.w - at, format_fixed(score, decimals).s, STYLE_STRONG, ATTRIBUTE_BOLD);
}

void rope_draw_pair(const RopeSeen *s, Canvas *c, Rect r) {
    if (r.h > 1) {
        draw_score_at(s, c, r, _("q·k"), false, 4);
        draw_score_at(s, c, (Rect){r.x, r.y + 1, r.w, 1}, _("q·k"), true, 4);
        return;
    }
    int at = r.x + draw_score_at(s, c, r, _("q·k"), false, 3) + 2;
    if (r.x + r.w - at >= 18) draw_score_at(s, c, (Rect){at, r.y, r.x + r.w - at, 1}, "", true, 3);
}

void rope_draw_big(const RopeSeen *s, Canvas *c, Rect r) {
    for (int later = 0; later < 2; later++) {
        double score = cell(s->shift, chosen_row(s), later ? "score_shifted" : "score");
        Rect half = {r.x, r.y + later * r.h / 2, r.w, r.h / 2};
        draw_score_at(s, c, half, _("q·k"), later, -1);
        draw_big(c, (Rect){half.x, half.y + 1, half.w, half.h - 1}, format_fixed(score, 2).s,
                 later ? STYLE_STRONG : STYLE_MODEL);
    }
}
