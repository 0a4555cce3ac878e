/* pane cache: the keys and values that a decoder keeps, filling token by token, and what they cost and save. */
#include "cache_sums.h"
#include "format.h"
#include "intl.h"
#include "observe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_LEAST_W = 72, SIDE_LEAST_H = 10, WINDOW_TRIED = 4, CARD_BYTES = 48 };

typedef struct {
    int column;            /* 0 .. 2 hd - 1: the number under the cursor, of K, then of V */
    bool models;           /* the side shows real models where it has no room for all */
    bool check;            /* the comparison with the whole pass shows */
    char card[CARD_BYTES]; /* the real model */
} CacheState;

static void cache_init(void *state) {
    *(CacheState *)state = (CacheState){.card = "llama3-8b"};
}

/* Drawing. */

typedef int DrawPart(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r);

static int part_bytes(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    (void)x;
    return cache_draw_bytes(s, c, r);
}

static int part_flops(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    (void)x;
    return cache_draw_flops(s, c, r);
}

static int part_schemes(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    (void)x;
    return cache_draw_schemes(s, c, r);
}

static int part_card(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    return cache_draw_card(s, c, r, ((const CacheState *)x->state)->card);
}

static int part_cards(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    return cache_draw_cards(s, c, r, ((const CacheState *)x->state)->card);
}

static int part_check(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    if (((const CacheState *)x->state)->check) return cache_draw_check(s, c, r);
    canvas_text(c, r.x, r.y, r.w, _("s compares it with the whole pass"), STYLE_DIM, CANVAS_ELLIPSIS);
    return 1;
}

/* What has just happened. */
static void words_of(const CacheSeen *s, char *out, size_t bytes) {
    int newest = s->fed - 1, gone = newest - s->capacity;
    if (s->rolls && gone >= 0)
        snprintf(out, bytes,
                 _("Slot = position mod %d: position %d took slot %d from position %d, which no query will see again. "
                   "Positions stay absolute, so the other rows are as they were."),
                 s->capacity, newest, s->newest, gone);
    else if (s->fed > s->prefill)
        snprintf(out, bytes, "%s",
                 _("Only the row marked + was worked out for the last token; the others are as they were, for nobody "
                   "before it sees it. Queries are not kept: an old one is never asked again."));
    else
        snprintf(
            out, bytes, "%s",
            _("The prompt went in at once: one row of K and V for each token, in every layer and KV head. The next "
              "token adds a row, and nothing else is worked out again."));
}

static int part_words(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    char words[400];
    (void)x;
    words_of(s, words, sizeof words);
    return draw_paragraph(c, r, words, STYLE_TEXT);
}

/* Rows that a part needs at least. */
typedef struct {
    DrawPart *draw;
    int rows;
} SidePart;

static const SidePart run_parts[] = {{part_bytes, 3}, {part_flops, 4}, {part_check, 3}, {part_schemes, 5},
                                     {part_words, 6}, {part_card, 7},  {part_cards, 4}, {NULL, 0}};
static const SidePart model_parts[] = {{part_card, 7}, {part_cards, 4}, {NULL, 0}};

/* One below the other, those that there is room for. */
static void draw_side(const PaneContext *x, const CacheSeen *s, Canvas *c, Rect r) {
    const CacheState *state = x->state;
    int y = r.y;
    for (const SidePart *part = state->models ? model_parts : run_parts; part->draw; part++)
        if (r.y + r.h - y >= part->rows) y += part->draw(x, s, c, (Rect){r.x, y, r.w, r.y + r.h - y}) + 1;
}

static int side_w(int w) {
    return w < 100 ? 34 : w < 150 ? 36 : w < 200 ? 46 : 64;
}

/* Where things stand; what has no room has no height. */
typedef struct {
    Rect cells, overview, foot, side;
} CachePlan;

static CachePlan plan_of(Detail detail, const CacheSeen *s, const Canvas *c) {
    bool side = detail != DETAIL_WALL && c->w >= SIDE_LEAST_W && c->h >= SIDE_LEAST_H;
    int beside = detail == DETAIL_PRESENT && c->w >= 100 ? c->w / 3 : side_w(c->w);
    int w = side ? c->w - beside - 2 : c->w, rows = cache_overview_rows(s);
    int foot = c->h < 4 ? 0 : c->h < 8 ? 1 : side && detail == DETAIL_FOCUS ? 3 : 2;
    CachePlan p = {.cells = {0, 0, w, c->h - foot}, .foot = {0, c->h - foot, w, foot}};
    if (!side) return p;
    p.side = (Rect){w + 2, 0, c->w - w - 2, c->h};
    if (p.cells.h < s->used + 3 + rows || cache_shows_all(s, c, p.cells)) return p;
    p.cells.h -= rows;
    p.overview = (Rect){0, p.cells.h + 1, w, rows - 1};
    return p;
}

static void draw_cost_line(const CacheSeen *s, Canvas *c, int y) {
    int at = canvas_text(c, 0, y, -1, format_bytes((double)cache_bytes(s)).s, STYLE_STRONG, ATTRIBUTE_BOLD);
    if (s->rolls && s->used == s->capacity)
        at += canvas_textf(c, at, y, -1, STYLE_DIM, CANVAS_ELLIPSIS, _(" in %d slots, used again"), s->capacity);
    else
        at += canvas_textf(c, at, y, -1, STYLE_DIM, CANVAS_ELLIPSIS, _(" + %s a token"),
                           format_bytes((double)cache_bytes_per_token(s)).s);
    canvas_textf(c, at, y, -1, STYLE_DIM, CANVAS_ELLIPSIS, _(" FLOPs ÷ %s"), format_fixed(cache_ratio(s, false), 1).s);
}

/* What stands below the cells: the cost where no side has it, and what the marks and the cursor say. */
static void draw_foot(const PaneContext *x, const CacheSeen *s, Canvas *c, const CachePlan *p) {
    const CacheState *state = x->state;
    int y = p->foot.y, end = y + p->foot.h;
    if (p->side.h == 0 && y < end) draw_cost_line(s, c, y++);
    if (y >= end) return;
    if (p->side.h == 0 && state->check)
        cache_draw_check_line(s, c, 0, y++, p->foot.w);
    else if (p->side.h > 0 || x->focus)
        cache_draw_number(s, c, 0, y++, p->foot.w);
    if (y < end) cache_draw_marks(s, c, 0, y++, p->foot.w);
    if (y < end) cache_draw_scale(s, c, 0, y, p->foot.w);
}

/* A number in digits as tall as H takes, and what it is; returns the rows used. */
static int draw_number(Canvas *c, Rect r, int h, const char *number, const char *what) {
    canvas_text(c, r.x, r.y, r.w, what, STYLE_TEXT, CANVAS_ELLIPSIS);
    DrawnSize size = draw_big_size(c, r.w, h - 2, number);
    draw_big(c, (Rect){r.x, r.y + 1, r.w, size.h}, number, STYLE_STRONG);
    return size.h + 2;
}

/* For the back row: the bytes and how much less work it is in tall digits, and what others would keep. */
static void draw_present(const CacheSeen *s, Canvas *c, Rect r) {
    int y = r.y, h = (r.h - 7) / 2 > 3 ? (r.h - 7) / 2 : 3;
    char what[80];
    snprintf(what, sizeof what, _("bytes, %s with every token"), format_count(cache_bytes_per_token(s)).s);
    y += draw_number(c, (Rect){r.x, y, r.w, r.h}, h, format_count(cache_bytes(s)).s, what);
    y += draw_number(c, (Rect){r.x, y, r.w, r.h}, h, format_fixed(cache_ratio(s, false), 1).s, _("times less work"));
    if (y < r.y + r.h) (void)cache_draw_schemes(s, c, (Rect){r.x, y, r.w, r.y + r.h - y});
}

static void cache_draw(const PaneContext *x, Canvas *c) {
    const CacheState *state = x->state;
    CacheSeen s;
    if (!cache_see(x, state->column, &s)) {
        pane_draw_empty(&pane_cache, c);
        return;
    }
    CachePlan p = plan_of(x->detail, &s, c);
    cache_draw_cells(&s, c, p.cells);
    if (p.overview.h) cache_draw_overview(&s, c, p.overview);
    draw_foot(x, &s, c, &p);
    if (p.side.h == 0) return;
    if (x->detail == DETAIL_PRESENT)
        draw_present(&s, c, p.side);
    else
        draw_side(x, &s, c, p.side);
}

/* Moving: up and down over the tokens, left and right over the numbers of K and V. */

static bool see(const PaneCall *call, CacheSeen *s) {
    const CacheState *state = call->state;
    PaneContext x = {
        .snapshot = call->snapshot, .cursor = call->cursor, .state = state, .detail = call->detail, .focus = true};
    return cache_see(&x, state->column, s);
}

static int within(int x, int n) {
    return x < 0 ? 0 : x >= n ? n - 1 : x;
}

static void cache_move(PaneCall *call, Move move, int times) {
    CacheState *state = call->state;
    CacheSeen s;
    if (!see(call, &s)) return;
    int key = call->cursor->key;
    switch (move) {
    case MOVE_UP:
        key -= times;
        break;
    case MOVE_DOWN:
        key += times;
        break;
    case MOVE_PAGE_UP:
        key -= 8 * times;
        break;
    case MOVE_PAGE_DOWN:
        key += 8 * times;
        break;
    case MOVE_FIRST:
        key = 0;
        break;
    case MOVE_LAST:
        key = s.fed - 1;
        break;
    case MOVE_LEFT:
    case MOVE_RIGHT:
        state->column = within(s.column + (move == MOVE_LEFT ? -times : times), 2 * s.hd);
        break;
    }
    call->cursor->key = within(key, s.fed);
}

static void cache_click(PaneCall *call, const Canvas *like, int x, int y) {
    CacheState *state = call->state;
    CacheSeen s;
    int layer, head, slot, column;
    if (!see(call, &s)) return;
    CachePlan p = plan_of(call->detail, &s, like);
    if (!cache_cell_at(&s, like, p.cells, x, y, &layer, &head, &slot, &column)) return;
    if (slot >= s.used) return;
    call->cursor->layer = layer;
    if (call->cursor->head / s.group != head) call->cursor->head = head * s.group;
    call->cursor->key = cache_position(&s, slot);
    state->column = column;
}

/* A word of the sentence, else a real model. */
static bool cache_find(PaneCall *call, const char *text) {
    CacheState *state = call->state;
    int at = reading_find_token(call->snapshot, text, call->cursor->key);
    if (at >= 0) call->cursor->key = at;
    const char *card = at < 0 ? cache_find_card(call->snapshot, state->card, text) : NULL;
    if (card) snprintf(state->card, sizeof state->card, "%s", card), state->models = true;
    return at >= 0 || card;
}

/* Commands. */

static Status run_show(void *owner, const Words *words) {
    return command_choose(words, "run", "models", &((CacheState *)((PaneCall *)owner)->state)->models);
}

static Status run_check(void *owner, const Words *words) {
    return command_switch(words, &((CacheState *)((PaneCall *)owner)->state)->check);
}

/* A name is taken whether or not the cards are there yet. */
static Status run_card(void *owner, const Words *words) {
    PaneCall *call = owner;
    CacheState *state = call->state;
    const char *word = words->count > 1 ? words->word[1] : "next", *card = NULL;
    bool steps = !strcmp(word, "next") || !strcmp(word, "previous");
    if (steps) {
        card = cache_card(call->snapshot, state->card, !strcmp(word, "next") ? 1 : -1);
    } else {
        card = cache_card(call->snapshot, word, 0);
        if (card && strcmp(card, word) != 0) card = cache_find_card(call->snapshot, state->card, word);
        if (!card && cache_card(call->snapshot, word, 0)) return status_usage(_("there is no model '%s'"), word);
        if (!card) card = word;
    }
    if (card) snprintf(state->card, sizeof state->card, "%s", card);
    state->models = state->models || words->count == 1 || steps;
    return status_ok();
}

/* The window of what is looked at, so that every pane shows the same. */
static Status run_rolling(void *owner, const Words *words) {
    PaneCall *call = owner;
    bool on = snapshot_facts(call->snapshot)->probe_window > 0;
    if (words->count > 1)
        snprintf(call->command, sizeof call->command, "window %.32s",
                 !strcmp(words->word[1], "off") ? "model" : words->word[1]);
    else if (on)
        snprintf(call->command, sizeof call->command, "window model");
    else
        snprintf(call->command, sizeof call->command, "window %d", WINDOW_TRIED);
    return status_ok();
}

/* Export and words. */

static int cache_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"cache_slots", "cache_layers", "cache_steps",
                                        "cache_check", "cache_sizes",  NULL};
    Table *cells = observe_cache_table(x->snapshot, -1, -1);
    if (cells) out[0] = cells;
    return (cells ? 1 : 0) + pane_copy_tables(x, names, out + (cells ? 1 : 0));
}

static void cache_subtitle(const PaneContext *x, char *out, size_t bytes) {
    CacheSeen s;
    if (!cache_see(x, 0, &s)) return;
    int decoded = s.fed - s.prefill;
    if (x->detail != DETAIL_WALL)
        snprintf(out, bytes,
                 ngettext("layer %d KV head %d · %d token by prefill, %d by decoding",
                          "layer %d KV head %d · %d tokens by prefill, %d by decoding", (unsigned long)s.prefill),
                 s.layer + 1, s.head + 1, s.prefill, decoded);
    else if (decoded > 0)
        snprintf(out, bytes, _("%d + %d tokens"), s.prefill, decoded);
    else
        snprintf(out, bytes, ngettext("%d token", "%d tokens", (unsigned long)s.prefill), s.prefill);
}

static void cache_save(const void *state, Str *out) {
    const CacheState *s = state;
    str_addf(out, "show %s\ncard %s\ncheck %s\n", s->models ? "models" : "run", s->card, s->check ? "on" : "off");
}

static const KeyRow cache_keys[] = {
    {"s", "check", N_("self-check"), N_("compare the cached logits with those of the whole pass")},
    {"w", "rolling", N_("rolling"), N_("a window of 4, so that slots are used again, or the model's own")},
    {"v", "show", N_("run/models"), N_("at the side: this run, or a real model")},
    {"C", "card", N_("model"), N_("the next real model (/ finds one by its name)")},
    {NULL, NULL, NULL, NULL},
};

static const Command cache_commands[] = {
    {"check", "[on|off]", N_("compare the cached logits with those of the whole pass"), 0, 1, run_check},
    {"rolling", "[N|off]", N_("a window of N tokens in what is looked at, or the model's own"), 0, 1, run_rolling},
    {"show", "[run|models]", N_("what stands at the side"), 0, 1, run_show},
    {"card", "[NAME|next|previous]", N_("the real model that is shown"), 0, 1, run_card},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_cache = {
    .name = "cache",
    .title = N_("cache"),
    .about = N_(
        "What a decoder keeps: one row of keys (K) and one of values (V) for every token, in every layer and KV "
        "head. The prompt is fed at once (prefill), then a token a step (decode); old rows never change, so only the "
        "new one is computed. Query heads that share a KV head stand above it. With a window in every layer a slot is "
        "used again: slot = position mod window. The side counts bytes and FLOPs, and real models."),
    .empty =
        N_("The keys and values that decoding keeps will appear here as soon as the model is there; . adds a token "
           "and its row."),
    .watch = "cache tokens",
    .min_w = 30,
    .min_h = 6,
    .weight = 3,
    .rank = 4,
    .state_size = sizeof(CacheState),
    .init = cache_init,
    .draw = cache_draw,
    .move = cache_move,
    .find = cache_find,
    .click = cache_click,
    .keys = cache_keys,
    .commands = cache_commands,
    .tables = cache_tables,
    .tables_beside = true,
    .save = cache_save,
    .subtitle = cache_subtitle,
};
