/* pane rope: rotary positions: a clock hand per pair of numbers, and what turning does to the product of a query and a
 * key. */
#include "intl.h"
#include "mem.h"
#include "reading.h"
#include "rope_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_W = 42, WIDE_SIDE_W = 74, SIDE_BY_SIDE_W = 72, SHIFT_H = 9, STRIPS_H = 6, FULL_H = 16 };

#define SHIFT_FIRST 100
#define SHIFT_MOST  1000000

static void rope_init(void *state) {
    *(RopeState *)state = (RopeState){.pairing = -1, .shift = SHIFT_FIRST};
}

/* Where the parts stand; a part without room has height 0. */
typedef struct {
    Rect head, dials, plot, shift, strips, numbers, pair, spark, big;
} RopePlan;

/* The column at the right: what is further on, the vectors as numbers where all of them have room, and as colours. */
static void plan_side(RopePlan *p, Rect r, int rows) {
    bool numbers = r.w >= WIDE_SIDE_W && r.h >= SHIFT_H + rows + 2 + STRIPS_H + 1;
    p->shift = (Rect){r.x, r.y, r.w, r.h};
    if (r.h < SHIFT_H + STRIPS_H) return;
    p->shift.h = SHIFT_H;
    if (numbers) p->numbers = (Rect){r.x, r.y + SHIFT_H, r.w, rows + 1};
    p->strips = (Rect){r.x, r.y + r.h - STRIPS_H, r.w, STRIPS_H};
}

static RopePlan plan_focus(int w, int h, int rows) {
    int dials = h * 2 / 5 > 6 ? h * 2 / 5 : 6, below = h - 1 - dials, y = 1 + dials;
    int side = w >= 2 * WIDE_SIDE_W + 10 ? WIDE_SIDE_W : SIDE_W;
    RopePlan p = {.head = {0, 0, w, 1}, .dials = {0, 1, w, dials}, .plot = {0, y, w - side - 2, below}};
    plan_side(&p, (Rect){w - side, y, side, below}, rows);
    return p;
}

static RopePlan plan_wall(int w, int h) {
    int head = h >= 8, foot = h >= 6 ? 2 : h >= 4 ? 1 : 0;
    RopePlan p = {.head = {0, 0, w, head}, .dials = {0, head, w, h - head - foot}};
    if (foot > 1) p.spark = (Rect){0, h - 2, w, 1};
    if (foot > 0) p.pair = (Rect){0, h - 1, w, 1};
    return p;
}

static RopePlan plan_present(int w, int h) {
    RopePlan p = {.head = {0, 0, w, 1}};
    int foot = h >= 24 ? h / 3 : h >= 8 ? 2 : 0;
    p.dials = (Rect){0, 1, w, h - 1 - foot};
    if (foot > 2) {
        p.plot = (Rect){0, h - foot, w - SIDE_W - 2, foot};
        p.big = (Rect){w - SIDE_W, h - foot, SIDE_W, foot};
    } else if (foot > 0) {
        p.pair = (Rect){0, h - foot, w, foot};
    }
    return p;
}

static RopePlan plan_of(const PaneContext *x, const RopeSeen *s, int w, int h) {
    if (x->detail == DETAIL_PRESENT && w >= SIDE_BY_SIDE_W) return plan_present(w, h);
    if (x->detail == DETAIL_FOCUS && w >= SIDE_BY_SIDE_W && h >= FULL_H) return plan_focus(w, h, rope_number_rows(s));
    return plan_wall(w, h);
}

static void draw_parts(const PaneContext *x, const RopeSeen *s, Canvas *c) {
    RopePlan p = plan_of(x, s, c->w, c->h);
    if (p.head.h) rope_draw_head(x, s, c, p.head);
    if (p.dials.h > 0) rope_draw_dials(s, c, p.dials);
    if (p.plot.h) rope_draw_distance(s, c, p.plot);
    if (p.shift.h) rope_draw_shift(s, c, p.shift);
    if (p.strips.h) rope_draw_strips(s, c, p.strips);
    if (p.numbers.h) rope_draw_numbers(s, c, p.numbers, 0);
    if (p.spark.h) rope_draw_spark(s, c, p.spark);
    if (p.big.h) rope_draw_big(s, c, p.big);
    if (p.pair.h) rope_draw_pair(s, c, p.pair);
}

static void rope_draw(const PaneContext *x, Canvas *c) {
    const RopeState *state = x->state;
    RopeSeen s;
    if (!rope_see(x, &s)) {
        pane_draw_empty(&pane_rope, c);
    } else if (!s.turns) {
        rope_draw_added(x, &s, c);
    } else if (state->numbers && x->detail != DETAIL_WALL) {
        rope_draw_head(x, &s, c, (Rect){0, 0, c->w, 1});
        rope_draw_numbers(&s, c, (Rect){0, 1, c->w, c->h - 1}, state->first);
    } else {
        draw_parts(x, &s, c);
    }
    rope_seen_done(&s);
}

/* --- keys that mean the same everywhere --- */

static int bounded(int x, int n) {
    return x >= n ? (n > 0 ? n - 1 : 0) : x < 0 ? 0 : x;
}

static void rope_move(PaneCall *call, Move move, int times) {
    RopeState *state = call->state;
    Cursor *at = call->cursor;
    PositionFacts facts;
    int tokens = reading_visible(call->snapshot);
    int rows = observe_positions(call->snapshot, &facts) ? facts.head_dim : 0;
    switch (move) {
    case MOVE_UP:
        at->query -= times;
        break;
    case MOVE_DOWN:
        at->query += times;
        break;
    case MOVE_LEFT:
        at->key -= times;
        break;
    case MOVE_RIGHT:
        at->key += times;
        break;
    case MOVE_PAGE_UP:
        state->first -= 8 * times;
        break;
    case MOVE_PAGE_DOWN:
        state->first += 8 * times;
        break;
    case MOVE_FIRST:
        at->query = at->key = state->first = 0;
        break;
    case MOVE_LAST:
        at->query = at->key = tokens - 1;
        break;
    }
    at->query = bounded(at->query, tokens);
    at->key = bounded(at->key, tokens);
    state->first = bounded(state->first, rows);
}

static bool rope_enter(PaneCall *call) {
    RopeState *state = call->state;
    PositionFacts facts;
    if (call->detail == DETAIL_WALL || !observe_positions(call->snapshot, &facts) || isnan(facts.base)) return false;
    state->numbers = !state->numbers;
    return true;
}

static bool rope_escape(PaneCall *call) {
    RopeState *state = call->state;
    bool there = state->numbers;
    state->numbers = false;
    return there;
}

/* The distance under a column of the curve; NaN: there is none. */
static double distance_at(const RopeSeen *s, const Canvas *like, Rect r, int x) {
    Series series[2];
    double *columns;
    Plot plot = rope_plot(s, r.w, series, &columns);
    double distance = draw_plot_x(like, r, &plot, x);
    mem_free(columns);
    return distance;
}

/* A click on the curve takes the key of that distance. */
static void rope_click(PaneCall *call, const Canvas *like, int x, int y) {
    PaneContext context = pane_context(call);
    RopeSeen s;
    if (rope_see(&context, &s) && s.turns) {
        Rect plot = plan_of(&context, &s, like->w, like->h).plot;
        bool inside = plot.h > 0 && y >= plot.y && y < plot.y + plot.h;
        double distance = inside ? distance_at(&s, like, plot, x) : (double)NAN;
        if (isfinite(distance) && distance <= call->cursor->query)
            call->cursor->key = bounded(call->cursor->query - (int)lround(distance), call->cursor->query + 1);
    }
    rope_seen_done(&s);
}

/* --- its own --- */

/* What only a model with RoPE can answer. */
static Status check_turns(const PaneCall *call) {
    PositionFacts facts;
    if (observe_positions(call->snapshot, &facts) && isnan(facts.base))
        return status_usage(_("this model has no RoPE (pos=%s): nothing turns"), facts.kind);
    return status_ok();
}

static Status run_formula(void *owner, const Words *words) {
    RopeState *state = ((PaneCall *)owner)->state;
    STATUS_TRY(check_turns(owner));
    if (words->count == 1) {
        state->formula = (RopeFormula)((state->formula + 1) % ROPE_FORMULAS);
        return status_ok();
    }
    for (int i = 0; i < ROPE_FORMULAS; i++) {
        if (strcmp(words->word[1], observe_rope_formulas[i])) continue;
        state->formula = (RopeFormula)i;
        return status_ok();
    }
    return status_usage(_("formula is rope, single, wrong or none, not %s"), words->word[1]);
}

static Status run_base(void *owner, const Words *words) {
    RopeState *state = ((PaneCall *)owner)->state;
    STATUS_TRY(check_turns(owner));
    static const double turns[] = {0, 100, 10000, 500000};
    double base = 0;
    if (words->count == 1) {
        int i = 0;
        while (i < 3 && state->base != turns[i]) i++;
        state->base = turns[(i + 1) % 4];
        return status_ok();
    }
    if (strcmp(words->word[1], "model") && (!str_to_double(words->word[1], &base) || !(base >= 1 && base <= 1e12)))
        return status_usage(_("base is model or a number from 1 to 1e12, not %s"), words->word[1]);
    state->base = base;
    return status_ok();
}

static Status run_pairing(void *owner, const Words *words) {
    PaneCall *call = owner;
    RopeState *state = call->state;
    PositionFacts facts = {0};
    STATUS_TRY(check_turns(call));
    (void)observe_positions(call->snapshot, &facts);
    if (words->count == 1) {
        bool half = state->pairing < 0 ? facts.half : state->pairing > 0;
        state->pairing = half ? 0 : 1;
    } else if (!strcmp(words->word[1], "model")) {
        state->pairing = -1;
    } else if (!strcmp(words->word[1], "adjacent") || !strcmp(words->word[1], "half")) {
        state->pairing = words->word[1][0] == 'h';
    } else {
        return status_usage(_("pairing is adjacent, half or model, not %s"), words->word[1]);
    }
    return status_ok();
}

static Status run_further(void *owner, const Words *words) {
    RopeState *state = ((PaneCall *)owner)->state;
    long long shift;
    STATUS_TRY(check_turns(owner));
    if (words->count == 1) {
        state->shift = state->shift < 1 ? 1 : state->shift >= SHIFT_MOST ? 1 : state->shift * 10;
        return status_ok();
    }
    if (!str_to_long(words->word[1], &shift) || shift < 0 || shift > SHIFT_MOST)
        return status_usage(_("further is a number of tokens from 0 to %d, not %s"), SHIFT_MOST, words->word[1]);
    state->shift = (long)shift;
    return status_ok();
}

static void rope_save(const void *state, Str *out) {
    static const char *const pairings[] = {"model", "adjacent", "half"};
    const RopeState *s = state;
    str_addf(out, "formula %s\nbase ", observe_rope_formulas[s->formula]);
    if (s->base > 0)
        str_add_double(out, s->base);
    else
        str_add(out, "model");
    str_addf(out, "\npairing %s\nfurther %ld\n", pairings[s->pairing + 1], s->shift);
}

static int rope_tables(const PaneContext *x, Table **out) {
    RopeSeen s;
    int n = 0;
    bool known = rope_see(x, &s);
    Table **const all[] = {&s.hands, &s.vectors, &s.distance, &s.shift, &s.similarity};
    for (size_t i = 0; known && i < sizeof all / sizeof *all; i++) {
        if (!*all[i]) continue;
        out[n++] = *all[i];
        *all[i] = NULL;
    }
    rope_seen_done(&s);
    return n;
}

static void rope_subtitle(const PaneContext *x, char *out, size_t bytes) {
    PositionFacts facts;
    const RopeState *state = x->state;
    int used = snprintf(out, bytes, _("layer %d head %d"), x->cursor->layer + 1, x->cursor->head + 1);
    if (!observe_positions(x->snapshot, &facts) || used < 0 || used >= (int)bytes) return;
    if (isnan(facts.base))
        snprintf(out + used, bytes - (size_t)used, _(" · positions: %s"), facts.kind);
    else if (state->formula != ROPE_TURNED)
        snprintf(out + used, bytes - (size_t)used, " · %s", observe_rope_formulas[state->formula]);
}

/* All of them ask what turning would do; nothing turns without RoPE. */
static bool rope_offers(const PaneContext *x, const char *line) {
    PositionFacts facts;
    (void)line;
    return !observe_positions(x->snapshot, &facts) || !isnan(facts.base);
}

static const KeyRow rope_keys[] = {
    {"f", "formula", N_("formula"), N_("next formula: RoPE, one speed for all pairs, the wrong one, no position")},
    {"B", "base", N_("base"), N_("next base: the model's, 100, 10,000, 500,000")},
    {"P", "pairing", N_("pairing"), N_("adjacent or half pairs")},
    {"+", "further", N_("further"), N_("query and key ten times as many tokens further on, both")},
    {NULL, NULL, NULL, NULL},
};

static const Command rope_commands[] = {
    {"formula", "[rope|single|wrong|none]", N_("how queries and keys are turned"), 0, 1, run_formula},
    {"base", "[model|X]", N_("how fast pairs turn: pair i by base^(-2i/d) a token"), 0, 1, run_base},
    {"pairing", "[model|adjacent|half]", N_("which two numbers are a pair"), 0, 1, run_pairing},
    {"further", "[TOKENS]", N_("how much further on query and key are tried, both"), 0, 1, run_further},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_rope = {
    .name = "rope",
    .title = N_("rope"),
    .about =
        N_("Rotary positions. Each face is a pair of numbers: the long hand is how far the query's pair is turned, "
           "the short one the key's; from the top, clockwise. The angle between them depends on the distance alone, "
           "so q·k does too: both further on give the same number. The curve is the product of these two vectors at "
           "any distance. f, B and P ask what if: one speed, the wrong formula, no position, another base or "
           "pairing. Values are not turned. Enter shows the vectors."),
    .empty = N_("A clock hand for every pair of a query and a key will appear here as soon as the model is there; e "
                "gives it a sentence to read."),
    .watch = "rope attention tokens",
    .min_w = 32,
    .min_h = 9,
    .weight = 3,
    .rank = 3,
    .state_size = sizeof(RopeState),
    .init = rope_init,
    .draw = rope_draw,
    .move = rope_move,
    .enter = rope_enter,
    .escape = rope_escape,
    .find = pane_find_query,
    .click = rope_click,
    .keys = rope_keys,
    .offers = rope_offers,
    .commands = rope_commands,
    .tables = rope_tables,
    .tables_beside = true,
    .save = rope_save,
    .subtitle = rope_subtitle,
};
