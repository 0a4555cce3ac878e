/* pane sample: the next word: what the model says, what the language says, and what the sampling filter leaves of it.
 */
#include "filter_view.h"
#include "format.h"
#include "intl.h"
#include "next_view.h"
#include "samples_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SIDE_W = 38,
    SIDE_LEAST_W = 70,
    SIDE_LEAST_H = 8,
    SENTENCES_MOST = 1000000,
    COLUMNS_LEAST_W = 110,
    LABEL_W = 7,
    KL_LEAST_W = 9
};

typedef struct {
    bool by_model;
    bool browsing;  /* the row cursor shows */
    long at;        /* place in the order */
    int setting;    /* the FilterSetting that + and - change */
    long sentences; /* that S draws */
} SampleState;

static void sample_init(void *state) {
    SampleState *s = state;
    s->setting = FILTER_TAU;
    s->sentences = 1000;
}

static int table_line(const Table *t, const char *of) {
    int column = t ? table_find(t, "of") : -1;
    for (long i = 0; column >= 0 && i < table_rows(t); i++) {
        if (!strcmp(table_text(t, i, column), of)) return (int)i;
    }
    return -1;
}

/* The model's path from here, token by token: of a tokenizer of others, whose texts do not say where that is. */
static void draw_pieces(const Snapshot *s, Canvas *c, Rect r, StyleRole role) {
    const Table *t = snapshot_table(s, "path");
    int token = t ? table_find(t, "token") : -1;
    Str text;
    str_init(&text);
    for (long i = 0; token >= 0 && i < table_rows(t); i++)
        if (!table_is_empty(t, i, token)) str_add(&text, table_text(t, i, token));
    canvas_text(c, r.x, r.y, r.w, text.s, role, CANVAS_ELLIPSIS);
    str_done(&text);
}

/* "model  chase the cat every day ." and below it its log-probabilities. */
static int draw_sentence(const Snapshot *s, Canvas *c, Rect r, const char *of, const char *label, StyleRole role) {
    const Table *t = snapshot_table(s, "sentence");
    int row = table_line(t, of);
    if (row < 0 || r.h < 1) return 0;
    int at = canvas_text(c, r.x, r.y, r.w, label, role, ATTRIBUTE_BOLD) + 1;
    if (at < LABEL_W) at = LABEL_W;
    Rect line = {r.x + at, r.y, r.w - at, 1};
    const char *text = table_text(t, row, table_find(t, "text")),
               *rest = reading_continuation(s, reading_visible(s), text);
    if (rest == text && reading_visible(s) > 1 && strcmp(of, "model") == 0)
        draw_pieces(s, c, line, role);
    else
        canvas_text(c, line.x, line.y, line.w, rest, role, CANVAS_ELLIPSIS);
    if (r.h < 2) return 1;
    double log_p = table_real(t, row, table_find(t, "log_p")), truth = table_real(t, row, table_find(t, "true_log_p"));
    canvas_textf(c, r.x + at, r.y + 1, r.w - at, STYLE_DIM, ATTRIBUTE_NONE,
                 isnan(truth) ? _("ln p %s") : _("ln p %s   true %s"), format_fixed(log_p, 4).s,
                 format_fixed(truth, 4).s);
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

static int draw_greedy_path(const Snapshot *s, Canvas *c, Rect r) {
    if (r.h < 3) return 0;
    int y = r.y;
    canvas_text(c, r.x, y++, r.w, _("greedy from here"), STYLE_DIM, ATTRIBUTE_NONE);
    y += draw_sentence(s, c, (Rect){r.x, y, r.w, r.y + r.h - y}, "model", _("model"), STYLE_MODEL);
    y += draw_sentence(s, c, (Rect){r.x, y, r.w, r.y + r.h - y}, "truth", _("truth"), STYLE_TRUTH);
    return y - r.y;
}

/* The greedy path token by token: how sure the model is of each, and what the language says of it. */
static void draw_greedy_steps(const Snapshot *s, Canvas *c, Rect r) {
    enum { MODEL_END = 28, TRUTH_END = 37 };
    const Table *t = snapshot_table(s, "path");
    int p = t ? table_find(t, "p") : -1, truth = t ? table_find(t, "true_p") : -1;
    if (p < 0 || truth < 0 || table_rows(t) == 0 || r.h < 3) return;
    int y = r.y;
    canvas_text(c, r.x + LABEL_W, r.y, MODEL_END - LABEL_W - 7, _("token by token"), STYLE_DIM, ATTRIBUTE_NONE);
    draw_right(c, (Rect){r.x, y, MODEL_END, 1}, _("model"), STYLE_MODEL);
    if (!table_is_empty(t, 0, truth)) draw_right(c, (Rect){r.x, y, TRUTH_END, 1}, _("truth"), STYLE_TRUTH);
    for (long i = 0; i < table_rows(t) && i < r.h - 1; i++) {
        char token[READING_TOKEN];
        y++;
        reading_cell(t, i, "token", token);
        canvas_text(c, r.x + LABEL_W, y, MODEL_END - LABEL_W - 7, token, STYLE_TEXT, CANVAS_ELLIPSIS);
        draw_right(c, (Rect){r.x, y, MODEL_END, 1}, format_probability(table_real(t, i, p)).s, STYLE_MODEL);
        if (!table_is_empty(t, i, truth))
            draw_right(c, (Rect){r.x, y, TRUTH_END, 1}, format_probability(table_real(t, i, truth)).s, STYLE_TRUTH);
    }
}

/* Where the parts of the side stand: from top to bottom, with air between them where there is room. */
typedef struct {
    Rect kl, form, stages, number, samples, rest;
} SidePlan;

enum { STAGES_MOST = 5, FORM_H = 4, NUMBER_H = 5, SAMPLES_H = 7 };

static Rect take_rows(Rect *r, int rows, int air) {
    Rect part = {r->x, r->y, r->w, rows < r->h ? rows : r->h};
    int used = part.h + air < r->h ? part.h + air : r->h;
    r->y += used;
    r->h -= used;
    return part;
}

static SidePlan side_plan(const Snapshot *s, Rect r) {
    const Table *filter = snapshot_table(s, "filter");
    int stages = 0, air = r.h >= 26;
    const char *name;
    long kept, samples = snapshot_table(s, "sampling") ? SAMPLES_H : 1;
    for (long row = 0; filter && next_stage(filter, &row, &name, &kept);) stages++;
    SidePlan p;
    p.kl = take_rows(&r, 1, 1);
    p.form = take_rows(&r, FORM_H, r.h >= 18);
    int number = r.h >= stages + (int)samples + NUMBER_H ? NUMBER_H : 2;
    p.stages = take_rows(&r, stages, air);
    p.number = take_rows(&r, number, air);
    p.samples = take_rows(&r, (int)samples, 1);
    p.rest = r;
    return p;
}

static void draw_side(const PaneContext *x, Canvas *c, Rect r) {
    const SampleState *state = x->state;
    const Snapshot *s = x->snapshot;
    SidePlan p = side_plan(s, r);
    draw_kl(s, snapshot_table(s, "next"), c, p.kl);
    filter_draw_form(s, c, p.form, state->setting, state->sentences);
    filter_draw_stages(s, c, p.stages);
    filter_draw_number(s, c, p.number);
    samples_draw(s, c, p.samples);
    int used = draw_greedy_path(s, c, p.rest);
    if (used > 0) used++;
    Rect below = {p.rest.x, p.rest.y + used, p.rest.w, p.rest.h - used};
    const Table *samples = snapshot_table(s, "samples");
    if (samples && table_rows(samples) > 0)
        samples_draw_newest(s, c, below);
    else
        draw_greedy_steps(s, c, below);
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
    next_draw_column_names(c, r, l);
}

static void draw_focus(const PaneContext *x, Canvas *c, const NextOrder *order) {
    bool side = c->w >= SIDE_LEAST_W && c->h >= SIDE_LEAST_H;
    Rect list = {0, 1, side ? c->w - SIDE_W - 2 : c->w, c->h - 1 - (side ? 0 : 1)};
    NextList l = list_of(x, order, list.h, list.h >= 12);
    l.columns = c->w >= COLUMNS_LEAST_W;
    next_choose_stages(&l, list.w);
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
    if (bottom < 2) return;
    Rect line = {0, c->h - 2, c->w, 1};
    if (snapshot_facts(x->snapshot)->sampling)
        filter_draw_line(x->snapshot, c, line);
    else
        draw_greedy(x->snapshot, c, line);
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
    if (move == MOVE_LEFT || move == MOVE_RIGHT) {
        int by = (move == MOVE_RIGHT ? times : -times) % FILTER_SETTINGS;
        state->setting = (state->setting + by + FILTER_SETTINGS) % FILTER_SETTINGS;
        return;
    }
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
    return command_choose(words, "truth", "model", &((SampleState *)((PaneCall *)owner)->state)->by_model);
}

static void change(PaneCall *call, int by) {
    SampleState *state = call->state;
    if (state->setting == FILTER_SENTENCES)
        state->sentences = filter_more(state->sentences, by);
    else
        filter_change(call->snapshot, (FilterSetting)state->setting, by, call->command, sizeof call->command);
}

static Status run_more(void *owner, const Words *words) {
    (void)words;
    change(owner, 1);
    return status_ok();
}

static Status run_less(void *owner, const Words *words) {
    (void)words;
    change(owner, -1);
    return status_ok();
}

static Status run_sentences(void *owner, const Words *words) {
    PaneCall *call = owner;
    SampleState *state = call->state;
    long long n = state->sentences;
    bool stop = words->count == 2 && !strcmp(words->word[1], "stop");
    if (words->count == 2 && !stop && (!str_to_long(words->word[1], &n) || n < 1 || n > SENTENCES_MOST))
        return status_usage(_("sentences must be a whole number from 1 to %d, or stop, not '%s'"), SENTENCES_MOST,
                            words->word[1]);
    state->sentences = (long)n;
    if (stop || (words->count == 1 && samples_running(call->snapshot)))
        snprintf(call->command, sizeof call->command, "sampling stop");
    else
        snprintf(call->command, sizeof call->command, "sampling %ld", state->sentences);
    return status_ok();
}

/* The value of the setting is typed; what has two values only takes the other. */
static bool sample_enter(PaneCall *call) {
    SampleState *state = call->state;
    char line[64];
    if (call->detail == DETAIL_WALL) return false;
    filter_change(call->snapshot, (FilterSetting)state->setting, 0, line, sizeof line);
    if (state->setting == FILTER_SENTENCES) snprintf(line, sizeof line, "sentences ");
    if (line[0])
        snprintf(call->command, sizeof call->command, "ask command \"%s\"", line);
    else
        change(call, 1);
    return true;
}

static void sample_click(PaneCall *call, const Canvas *like, int x, int y) {
    SampleState *state = call->state;
    if (call->detail != DETAIL_FOCUS || like->w < SIDE_LEAST_W || like->h < SIDE_LEAST_H) return;
    SidePlan p = side_plan(call->snapshot, (Rect){like->w - SIDE_W, 0, SIDE_W, like->h});
    int setting = filter_form_at(p.form, x, y);
    if (setting >= 0) state->setting = setting;
}

static int sample_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"next",     "untouched", "filter", "draws", "path",
                                        "sentence", "sampling",  "worth",  NULL};
    static const char *const drawn[] = {"samples", NULL};
    int n = pane_copy_tables(x, names, out);
    const Table *samples = snapshot_table(x->snapshot, "samples");
    return samples && table_rows(samples) > 0 ? n + pane_copy_tables(x, drawn, out + n) : n;
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

static bool sample_offers(const PaneContext *x, const char *line) {
    return strcmp(line, "order") != 0 || reading_has_truth(x->snapshot);
}

static const KeyRow sample_keys[] = {
    {"+", "more", N_("more"), N_("more of the setting (left and right choose which)")},
    {"-", "less", N_("less"), N_("less of it")},
    {"S", "sentences", N_("many"), N_("draw many sentences from here and count what they are worth, or stop")},
    {"v", "order", N_("order"), N_("order the words by truth or by model")},
    {NULL, NULL, NULL, NULL},
};

static const Command sample_commands[] = {
    {"order", "[truth|model]", N_("order the words by truth or by model"), 0, 1, run_order},
    {"more", "", N_("more of the setting"), 0, 0, run_more},
    {"less", "", N_("less of the setting"), 0, 0, run_less},
    {"sentences", "[N|stop]", N_("draw N sentences (as many as before) and count what they are worth; or stop"), 0, 1,
     run_sentences},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_sample = {
    .name = "sample",
    .title = N_("next word"),
    .about =
        N_("What comes next: the probability that the model gives to each word, and right below it the exact one of "
           "the language. A pair of scissors "
           "marks a word that the sampling filter drops. KL is how many nats the model's opinion costs on average. "
           "Beside it stands how the next word is chosen: left and right go to a setting, + and - change it, Enter "
           "types it; below, what each stage of the filter keeps, and the random number on the line of all "
           "probabilities. S draws many sentences from here and counts those that the grammar can write (legal), "
           "that the language has (possible) and that are distinct."),
    .empty = N_("The next word as the model and the language see it will appear here; e gives the sentence to go on "
                "from, . adds a token."),
    .watch = "next path filter samples tokens",
    .min_w = 26,
    .min_h = 5,
    .weight = 3,
    .rank = 1,
    .state_size = sizeof(SampleState),
    .init = sample_init,
    .draw = sample_draw,
    .move = sample_move,
    .enter = sample_enter,
    .escape = sample_escape,
    .find = sample_find,
    .click = sample_click,
    .keys = sample_keys,
    .offers = sample_offers,
    .commands = sample_commands,
    .tables = sample_tables,
    .save = sample_save,
    .subtitle = sample_subtitle,
};
