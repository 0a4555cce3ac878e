/* pane sample: the next word: what the model says, what the language says, and what the sampling filter leaves of it.
 */
#include "format.h"
#include "intl.h"
#include "next_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_W = 38, SIDE_LEAST_W = 70, COLUMNS_LEAST_W = 110, LABEL_W = 7, KL_LEAST_W = 9 };

typedef struct {
    bool by_model;
    bool browsing; /* the row cursor shows */
    long at;       /* place in the order */
} SampleState;

static int table_line(const Table *t, const char *of) {
    int column = t ? table_find(t, "of") : -1;
    for (long i = 0; column >= 0 && i < table_rows(t); i++) {
        if (!strcmp(table_text(t, i, column), of)) return (int)i;
    }
    return -1;
}

/* "model  chase the cat every day ." and below it its log-probabilities. */
static int draw_sentence(const Snapshot *s, Canvas *c, Rect r, const char *of, const char *label, StyleRole role) {
    const Table *t = snapshot_table(s, "sentence");
    int row = table_line(t, of);
    if (row < 0 || r.h < 1) return 0;
    int at = canvas_text(c, r.x, r.y, r.w, label, role, ATTRIBUTE_BOLD) + 1;
    if (at < LABEL_W) at = LABEL_W;
    canvas_text(c, r.x + at, r.y, r.w - at,
                reading_continuation(s, reading_visible(s), table_text(t, row, table_find(t, "text"))), role,
                CANVAS_ELLIPSIS);
    if (r.h < 2) return 1;
    canvas_textf(c, r.x + at, r.y + 1, r.w - at, STYLE_DIM, ATTRIBUTE_NONE, _("ln p %s   true %s"),
                 format_fixed(table_real(t, row, table_find(t, "log_p")), 4).s,
                 format_fixed(table_real(t, row, table_find(t, "true_log_p")), 4).s);
    return 2;
}

/* What the model would go on with, without the words that are there already. */
static void draw_greedy(const Snapshot *s, Canvas *c, Rect r) {
    const Table *t = snapshot_table(s, "path");
    int token = t ? table_find(t, "token") : -1;
    int at = canvas_text(c, r.x, r.y, r.w, _("greedy"), STYLE_MODEL, ATTRIBUTE_BOLD);
    for (long i = 0; token >= 0 && i < table_rows(t); i++) {
        if (table_is_empty(t, i, token)) continue;
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_MODEL, CANVAS_ELLIPSIS, " %s", table_text(t, i, token));
    }
}

static bool is_over(const Snapshot *s) {
    const SnapshotFacts *f = snapshot_facts(s);
    return f->ended && f->position == f->prompt_tokens + f->generated_tokens;
}

static const char *why_no_truth(const Snapshot *s) {
    if (isnan(snapshot_facts(s)->language_floor)) return _("no grammar, no truth");
    return is_over(s) ? _("the sentence is over: , goes back") : _("no sentence of the language begins so");
}

/* With as many words around the number as there is room for. */
static void draw_kl(const Snapshot *s, const Table *next, Canvas *c, Rect r) {
    double kl = reading_kl(next);
    if (isnan(kl)) {
        canvas_text(c, r.x, r.y, r.w, why_no_truth(s), STYLE_DIM, CANVAS_ELLIPSIS);
        return;
    }
    Text number = format_fixed(kl, 4);
    const char *before = _("KL(truth‖model) "), *after = _(" nats");
    int columns = canvas_columns(c, number.s);
    if (canvas_columns(c, before) + columns + canvas_columns(c, after) > r.w) before = _("KL ");
    if (canvas_columns(c, before) + columns + canvas_columns(c, after) > r.w) after = "";
    int at = canvas_text(c, r.x, r.y, r.w, before, STYLE_DIM, ATTRIBUTE_NONE);
    at += canvas_text(c, r.x + at, r.y, r.w - at, number.s, STYLE_STRONG, ATTRIBUTE_BOLD);
    canvas_text(c, r.x + at, r.y, r.w - at, after, STYLE_DIM, ATTRIBUTE_NONE);
}

/* KL, and at the right which of the numbers and bars is whose. */
static void draw_kl_and_legend(const PaneContext *x, Canvas *c, Rect r, const NextList *l) {
    int legend = next_legend_columns(l), names = next_draw_names(c, r, r.y, l);
    int room = names < r.w ? names - 1 : r.w - legend - 2;
    if (names == r.w && room >= KL_LEAST_W) next_draw_legend(c, r.x + r.w - legend, r.y, legend, l);
    draw_kl(x->snapshot, l->next, c, (Rect){r.x, r.y, room >= KL_LEAST_W || names < r.w ? room : r.w, 1});
}

/* The settings of the filter and what each stage keeps. */
static int draw_filter(const Snapshot *s, Canvas *c, Rect r) {
    const SnapshotFacts *f = snapshot_facts(s);
    const Table *filter = snapshot_table(s, "filter");
    char top_k[24], top_p[FORMAT_BYTES];
    snprintf(top_k, sizeof top_k, f->top_k > 0 ? "%d" : _("off"), f->top_k);
    snprintf(top_p, sizeof top_p, "%s", f->top_p < 1 ? format_fixed(f->top_p, 2).s : _("off"));
    int y = r.y;
    int at = canvas_text(c, r.x, y, r.w, _("next token: "), STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, r.x + at, y++, r.w - at, f->sampling ? _("drawn") : _("the likeliest"), STYLE_STRONG,
                ATTRIBUTE_NONE);
    at = canvas_text(c, r.x, y, r.w, _("filter  "), STYLE_DIM, ATTRIBUTE_NONE);
    canvas_textf(c, r.x + at, y++, r.w - at, STYLE_TEXT, ATTRIBUTE_NONE, _("τ %s top-k %s top-p %s%s"),
                 format_fixed(f->tau, 2).s, top_k, top_p, f->tau_last ? _(" τ last") : "");
    const char *name;
    long kept;
    for (long row = 0; filter && y < r.y + r.h && next_stage(filter, &row, &name, &kept); y++) {
        canvas_text(c, r.x + 2, y, r.w - 2, name, STYLE_DIM, ATTRIBUTE_NONE);
        canvas_textf(c, r.x + 14, y, r.w - 14, STYLE_TEXT, ATTRIBUTE_NONE,
                     ngettext("keeps %ld word", "keeps %ld words", (unsigned long)kept), kept);
    }
    return y - r.y;
}

static int draw_draws(const Snapshot *s, Canvas *c, Rect r) {
    const Table *draws = snapshot_table(s, "draws");
    int token = draws ? table_find(draws, "token") : -1;
    if (token < 0 || table_rows(draws) == 0 || r.h < 1) return 0;
    int at = canvas_textf(c, r.x, r.y, r.w, STYLE_DIM, ATTRIBUTE_NONE, _("draws   "));
    long n = table_rows(draws);
    for (long i = 0; i < n; i++) {
        const char *word = table_text(draws, i, token);
        int sign = i + 1 < n ? 2 : 0; /* whole words only, and a sign that there are more */
        if (at + canvas_columns(c, word) + sign > r.w) {
            canvas_text(c, r.x + at, r.y, r.w - at, "…", STYLE_GENERATED, ATTRIBUTE_NONE);
            break;
        }
        at += canvas_textf(c, r.x + at, r.y, r.w - at, STYLE_GENERATED, ATTRIBUTE_NONE, "%s ", word);
    }
    return 1;
}

static void draw_side(const PaneContext *x, Canvas *c, Rect r) {
    const Table *next = snapshot_table(x->snapshot, "next");
    int y = r.y;
    draw_kl(x->snapshot, next, c, (Rect){r.x, y++, r.w, 1});
    y++;
    y += draw_filter(x->snapshot, c, (Rect){r.x, y, r.w, r.y + r.h - y});
    y += draw_draws(x->snapshot, c, (Rect){r.x, y, r.w, r.y + r.h - y});
    y++;
    if (y >= r.y + r.h) return;
    canvas_text(c, r.x, y++, r.w, _("greedy from here"), STYLE_DIM, ATTRIBUTE_NONE);
    y += draw_sentence(x->snapshot, c, (Rect){r.x, y, r.w, r.y + r.h - y}, "model", _("model"), STYLE_MODEL);
    draw_sentence(x->snapshot, c, (Rect){r.x, y, r.w, r.y + r.h - y}, "truth", _("truth"), STYLE_TRUTH);
}

static NextList list_of(const PaneContext *x, const NextOrder *order, int rows, bool tall) {
    const SampleState *state = x->state;
    NextList l = {.next = snapshot_table(x->snapshot, "next"),
                  .untouched = snapshot_table(x->snapshot, "untouched"),
                  .order = order,
                  .tall = tall,
                  .cursor = state->browsing ? state->at : -1};
    if (x->detail != DETAIL_PRESENT) l.filter = snapshot_table(x->snapshot, "filter");
    long room = rows / (tall && order->truth ? 2 : 1);
    l.first = state->browsing && state->at >= room / 2 ? state->at - room / 2 : 0;
    if (l.first + room > order->n) l.first = order->n > room ? order->n - room : 0;
    return l;
}

static void draw_head(Canvas *c, Rect r, const NextList *l) {
    next_draw_legend(c, r.x + 2, r.y, r.w - 2, l);
    next_draw_names(c, r, r.y, l);
    if (l->columns)
        canvas_textf(c, r.x + r.w - 27, r.y, 27, STYLE_DIM, ATTRIBUTE_NONE, "%8s%9s%9s", _("id"), _("logit"),
                     _("drawn p"));
}

static void draw_focus(const PaneContext *x, Canvas *c, const NextOrder *order) {
    bool side = c->w >= SIDE_LEAST_W && c->h >= 8;
    Rect list = {0, 1, side ? c->w - SIDE_W - 2 : c->w, c->h - 1 - (side ? 0 : 1)};
    NextList l = list_of(x, order, list.h, list.h >= 12);
    l.columns = c->w >= COLUMNS_LEAST_W;
    next_draw(c, list, &l);
    draw_head(c, (Rect){0, 0, list.w, 1}, &l);
    if (side)
        draw_side(x, c, (Rect){c->w - SIDE_W, 0, SIDE_W, c->h});
    else
        draw_kl(x->snapshot, l.next, c, (Rect){0, c->h - 1, c->w, 1});
}

static void draw_wall(const PaneContext *x, Canvas *c, const NextOrder *order) {
    int bottom = c->h >= 8 ? 2 : c->h >= 4 ? 1 : 0;
    NextList l = list_of(x, order, c->h - bottom, c->h >= 6);
    next_draw(c, (Rect){0, 0, c->w, c->h - bottom}, &l);
    if (bottom > 0) draw_kl_and_legend(x, c, (Rect){0, c->h - 1, c->w, 1}, &l);
    if (bottom > 1) draw_greedy(x->snapshot, c, (Rect){0, c->h - 2, c->w, 1});
}

/* The words that the model sees, the newest at the right end, with what it would go on with. */
static void draw_so_far(const Snapshot *s, Canvas *c, Rect r) {
    int visible = reading_visible(s), first = visible, used = 4;
    char token[READING_TOKEN];
    while (first > 0) {
        reading_token(s, first - 1, token);
        used += canvas_columns(c, token) + 1;
        if (used > r.w) break;
        first--;
    }
    int at = first > 0 ? canvas_text(c, r.x, r.y, r.w, "… ", STYLE_DIM, ATTRIBUTE_NONE) : 0;
    for (int i = first; i < visible; i++) {
        reading_token(s, i, token);
        StyleRole role = reading_is_generated(s, i) ? STYLE_GENERATED : STYLE_STRONG;
        at += canvas_textf(c, r.x + at, r.y, r.w - at, role, ATTRIBUTE_BOLD, "%s ", token);
    }
    canvas_text(c, r.x + at, r.y, r.w - at, "▏", STYLE_STRONG, ATTRIBUTE_BOLD);
}

/* For a hall: the sentence so far, few words with thick bars, and how far the model is off. */
static void draw_present(const PaneContext *x, Canvas *c, const NextOrder *order) {
    int head = c->h >= 12 ? 2 : c->h >= 6 ? 1 : 0, foot = c->h >= 14 ? 2 : c->h >= 6 ? 1 : 0;
    NextList l = list_of(x, order, c->h - head - foot, true);
    if (head) draw_so_far(x->snapshot, c, (Rect){1, 0, c->w - 1, 1});
    next_draw_large(c, (Rect){0, head, c->w, c->h - head - foot}, &l);
    if (foot) draw_kl_and_legend(x, c, (Rect){1, c->h - 1, c->w - 1, 1}, &l);
}

static void sample_draw(const PaneContext *x, Canvas *c) {
    const SampleState *state = x->state;
    const Table *next = snapshot_table(x->snapshot, "next");
    if (!next || table_rows(next) == 0) {
        pane_draw_empty(&pane_sample, c);
        return;
    }
    NextOrder order = next_order(next, state->by_model);
    if (x->detail == DETAIL_FOCUS)
        draw_focus(x, c, &order);
    else if (x->detail == DETAIL_PRESENT)
        draw_present(x, c, &order);
    else
        draw_wall(x, c, &order);
    next_order_done(&order);
}

static void sample_move(PaneCall *call, Move move, int times) {
    SampleState *state = call->state;
    const Table *next = snapshot_table(call->snapshot, "next");
    long rows = next ? table_rows(next) : 0;
    if (rows == 0) return;
    long at = state->browsing ? state->at : -1;
    switch (move) {
    case MOVE_UP:
        at -= times;
        break;
    case MOVE_DOWN:
        at += times;
        break;
    case MOVE_PAGE_UP:
        at -= 8 * times;
        break;
    case MOVE_PAGE_DOWN:
        at += 8 * times;
        break;
    case MOVE_FIRST:
        at = 0;
        break;
    case MOVE_LAST:
        at = rows - 1;
        break;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        return;
    }
    state->browsing = true;
    state->at = at < 0 ? 0 : at >= rows ? rows - 1 : at;
}

static bool sample_escape(PaneCall *call) {
    SampleState *state = call->state;
    bool there = state->browsing;
    state->browsing = false;
    return there;
}

static bool sample_find(PaneCall *call, const char *text) {
    SampleState *state = call->state;
    const Table *next = snapshot_table(call->snapshot, "next");
    if (!next) return false;
    NextOrder order = next_order(next, state->by_model);
    long start = state->browsing ? state->at + 1 : 0, found = -1;
    int token = table_find(next, "token");
    for (long i = 0; i < order.n && found < 0; i++) {
        long at = (start + i) % order.n;
        if (!table_is_empty(next, order.row[at], token) && reading_holds(table_text(next, order.row[at], token), text))
            found = at;
    }
    next_order_done(&order);
    if (found >= 0) state->browsing = true, state->at = found;
    return found >= 0;
}

static Status run_order(void *owner, const Words *words) {
    SampleState *state = ((PaneCall *)owner)->state;
    if (words->count == 1)
        state->by_model = !state->by_model;
    else if (!strcmp(words->word[1], "model"))
        state->by_model = true;
    else if (!strcmp(words->word[1], "truth"))
        state->by_model = false;
    else
        return status_usage(_("order is truth or model, not %s"), words->word[1]);
    return status_ok();
}

static int sample_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"next", "untouched", "filter", "draws", "path", "sentence", NULL};
    return pane_copy_tables(x, names, out);
}

static void sample_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const SampleState *state = x->state;
    char last[READING_TOKEN];
    if (reading_visible(x->snapshot) == 0) return;
    reading_token(x->snapshot, reading_visible(x->snapshot) - 1, last);
    const Table *next = snapshot_table(x->snapshot, "next");
    bool truth = next && !isnan(reading_kl(next)) && !state->by_model;
    snprintf(out, bytes, _("after “%s”, by %s"), last, truth ? _("truth") : _("model"));
}

static void sample_save(const void *state, Str *out) {
    const SampleState *s = state;
    str_addf(out, "order %s\n", s->by_model ? "model" : "truth");
}

static const KeyRow sample_keys[] = {
    {"v", "order", N_("order"), N_("order the words by truth or by model")},
    {NULL, NULL, NULL, NULL},
};

static const Command sample_commands[] = {
    {"order", "[truth|model]", N_("order the words by truth or by model"), 0, 1, run_order},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_sample = {
    .name = "sample",
    .title = N_("next word"),
    .about =
        N_("What comes next: the probability that the model gives to each word, and right below it the exact one of "
           "the language. A pair of scissors "
           "marks a word that the sampling filter drops. KL is how many nats the model's opinion costs on average."),
    .empty = N_("The next word as the model and the language see it will appear here; e gives the sentence to go on "
                "from, . adds a token."),
    .watch = "next path filter tokens",
    .min_w = 26,
    .min_h = 5,
    .weight = 3,
    .rank = 1,
    .state_size = sizeof(SampleState),
    .draw = sample_draw,
    .move = sample_move,
    .escape = sample_escape,
    .find = sample_find,
    .keys = sample_keys,
    .commands = sample_commands,
    .tables = sample_tables,
    .save = sample_save,
    .subtitle = sample_subtitle,
};
