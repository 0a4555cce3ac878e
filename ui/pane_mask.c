/* pane mask: who may look at whom: the mask that attention uses, in every layer; what each way of making a window works
 * out; and how far the change of one word is felt. */
#include "mask_view.h"

#include "intl.h"
#include "observe.h"

#include <stdio.h>
#include <string.h>

static void mask_draw(const PaneContext *x, Canvas *c) {
    MaskPlan p;
    if (!mask_plan(x, c->w, c->h, &p)) {
        pane_draw_empty(&pane_mask, c);
        return;
    }
    mask_draw_map(x, &p, c);
    mask_draw_reach(x, &p, c);
    mask_draw_side(x, &p, c);
    mask_draw_legend(x, &p, c);
    mask_draw_foot(x, &p, c);
}

/* The cursor. */

static void place(PaneCall *call, int row, int col) {
    MaskState *state = call->state;
    if (state->view == MASK_SENTENCE) {
        call->cursor->query = row;
        call->cursor->key = col;
    } else {
        state->row = row;
        state->col = col;
    }
}

static int bounded(int x, int n) {
    return x >= n ? n - 1 : x < 0 ? 0 : x;
}

static void mask_move(PaneCall *call, Move move, int times) {
    PaneContext x = pane_context(call);
    MaskPlan p;
    if (!mask_plan(&x, 80, 24, &p)) return;
    switch (move) {
    case MOVE_UP:
        p.row -= times;
        break;
    case MOVE_DOWN:
        p.row += times;
        break;
    case MOVE_LEFT:
        p.col -= times;
        break;
    case MOVE_RIGHT:
        p.col += times;
        break;
    case MOVE_PAGE_UP:
        p.row -= 8 * times;
        break;
    case MOVE_PAGE_DOWN:
        p.row += 8 * times;
        break;
    case MOVE_FIRST:
        p.row = p.col = 0;
        break;
    case MOVE_LAST:
        p.row = p.rows - 1, p.col = p.cols - 1;
        break;
    }
    place(call, bounded(p.row, p.rows), bounded(p.col, p.cols));
}

static bool mask_find(PaneCall *call, const char *text) {
    MaskState *state = call->state;
    int at = state->view == MASK_SENTENCE ? reading_find_token(call->snapshot, text, call->cursor->query) : -1;
    if (at >= 0) call->cursor->query = at;
    return at >= 0;
}

static void mask_click(PaneCall *call, const Canvas *like, int x, int y) {
    PaneContext context = pane_context(call);
    MaskPlan p;
    int row, col;
    if (!mask_plan(&context, like->w, like->h, &p)) return;
    if (mask_map_hit(&context, &p, like, x, y, &row, &col))
        place(call, row, col);
    else if (mask_reach_hit(&context, &p, like, x, y, &row, &col))
        call->cursor->layer = row, call->cursor->key = col;
}

/* Changing a word. */

static Status run_change(void *owner, const Words *words) {
    PaneCall *call = owner;
    const MaskState *state = call->state;
    if (state->view != MASK_SENTENCE) return status_usage(_("a word is changed in the sentence alone: batch sentence"));
    if (call->cursor->key < 1) return status_usage(_("<s> stays as it is; move to the column of a word"));
    snprintf(call->command, sizeof call->command, "poke %d%s%s", call->cursor->key, words->count > 1 ? " " : "",
             words->count > 1 ? words->rest[1] : "");
    return status_ok();
}

static bool mask_enter(PaneCall *call) {
    const MaskState *state = call->state;
    bool there = snapshot_field(call->snapshot, "poke.change") != NULL && state->view == MASK_SENTENCE;
    if (call->detail == DETAIL_WALL || !there || call->cursor->key < 1) return false;
    snprintf(call->command, sizeof call->command, "poke %d", call->cursor->key);
    return true;
}

/* The window. */

/* The one that the layer under the cursor is looked at with; 0: none. */
static long long window_in_use(const PaneCall *call) {
    return mask_number(call->snapshot, "scores", call->cursor->layer, "window", 0);
}

static Status run_wider(void *owner, const Words *words) {
    PaneCall *call = owner;
    long long window = window_in_use(call);
    (void)words;
    if (window == 0) return status_usage(_("this layer has no window: every query sees all before it"));
    snprintf(call->command, sizeof call->command, "window %lld", window + 1);
    return status_ok();
}

/* Without a window the first narrower one leaves out the first token of the sentence. */
static Status run_narrower(void *owner, const Words *words) {
    PaneCall *call = owner;
    long long window = window_in_use(call), T = reading_visible(call->snapshot);
    (void)words;
    if (window == 0 || window > T) window = T;
    if (window < 2) return status_usage(_("a window of 1 is the narrowest: a query sees itself alone"));
    snprintf(call->command, sizeof call->command, "window %lld", window - 1);
    return status_ok();
}

static Status run_own(void *owner, const Words *words) {
    PaneCall *call = owner;
    (void)words;
    snprintf(call->command, sizeof call->command, "window model");
    return status_ok();
}

/* The line is left to be sent off: it changes the run that is live. */
static Status run_retrain(void *owner, const Words *words) {
    PaneCall *call = owner;
    int window = snapshot_facts(call->snapshot)->probe_window;
    (void)words;
    if (window < 0) return status_usage(_("it was trained with this window; look with another first: + or -"));
    snprintf(call->command, sizeof call->command, "ask command set window=%d", window);
    return status_ok();
}

/* What is shown. */

static Status run_batch(void *owner, const Words *words) {
    MaskState *state = ((PaneCall *)owner)->state;
    if (words->count == 1) {
        state->view = (MaskView)((state->view + 1) % MASK_VIEWS);
        return status_ok();
    }
    for (int i = 0; i < MASK_VIEWS; i++) {
        if (strcmp(words->word[1], mask_view_name((MaskView)i))) continue;
        state->view = (MaskView)i;
        return status_ok();
    }
    return status_usage(_("batch is sentence, packed or padded, not %s"), words->word[1]);
}

static Status run_method(void *owner, const Words *words) {
    MaskState *state = ((PaneCall *)owner)->state;
    state->view = MASK_SENTENCE;
    if (words->count == 1) {
        state->method = (MaskMethod)((state->method + 1) % MASK_METHODS);
        return status_ok();
    }
    for (int i = 0; i < MASK_METHODS; i++) {
        if (strcmp(words->word[1], mask_method_name((MaskMethod)i))) continue;
        state->method = (MaskMethod)i;
        return status_ok();
    }
    return status_usage(_("method is none, masked, loop or chunks, not %s"), words->word[1]);
}

static void mask_save(const void *state, Str *out) {
    const MaskState *s = state;
    str_addf(out, "method %s\nbatch %s\n", mask_method_name(s->method), mask_view_name(s->view));
}

static int mask_tables(const PaneContext *x, Table **out) {
    static const char *const others[] = {"scores", "reach", "poke", NULL};
    static const char *const rows[MASK_VIEWS] = {"", "packed", "padded"};
    const MaskState *state = x->state;
    int n = 0;
    Table *mask = observe_mask_table(x->snapshot, x->cursor->layer, rows[state->view]);
    if (mask) out[n++] = mask;
    if (state->view != MASK_SENTENCE && mask_rows(x->snapshot, state->view))
        out[n++] = table_copy(mask_rows(x->snapshot, state->view));
    Table *changes = observe_poke_table(x->snapshot, -1);
    if (changes) out[n++] = changes;
    return n + pane_copy_tables(x, others, out + n);
}

static void mask_subtitle(const PaneContext *x, char *out, size_t bytes) {
    const MaskState *state = x->state;
    long long window = mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0);
    char kind[64];
    if (window > 0)
        snprintf(kind, sizeof kind, _("window %lld"), window);
    else
        snprintf(kind, sizeof kind, "%s", _("causal"));
    const char *more = state->view != MASK_SENTENCE       ? mask_view_name(state->view)
                       : mask_method(state) != MASK_PLAIN ? mask_method_name(mask_method(state))
                                                          : "";
    snprintf(out, bytes, _("layer %d · %s%s%s"), x->cursor->layer + 1, kind, more[0] ? " · " : "", more);
}

static bool mask_offers(const PaneContext *x, const char *line) {
    const MaskState *state = x->state;
    bool word = state->view == MASK_SENTENCE;
    if (!strcmp(line, "wider")) return mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0) > 0;
    if (!strcmp(line, "narrower")) return mask_number(x->snapshot, "scores", x->cursor->layer, "window", 0) != 1;
    if (!strcmp(line, "change")) return word;
    if (!strcmp(line, "retrain"))
        return !snapshot_facts(x->snapshot)->reads_only && !snapshot_facts(x->snapshot)->tunes;
    if (!strcmp(line, "enter")) return word && x->cursor->key > 0 && snapshot_field(x->snapshot, "poke.change") != NULL;
    return true;
}

static const KeyRow mask_keys[] = {
    {"P", "change", N_("poke"),
     N_("change the word of the column under the cursor (also enter), and see who feels it")},
    {"s", "method", N_("method"), N_("which scores are worked out: by the mask, a loop, sliding chunks")},
    {"v", "batch", N_("batch"), N_("the sentence alone, packed with others, filled up with pads")},
    {"+", "wider", N_("wider"), N_("look with a wider window; training keeps its own")},
    {"-", "narrower", N_("narrower"), N_("look with a narrower window")},
    {"=", "own", NULL, N_("look with the window that the model was trained with")},
    {"W", "retrain", NULL, N_("train on with this window")},
    {NULL, NULL, NULL, NULL},
};

static const Command mask_commands[] = {
    {"change", "[WORD]", N_("change the word of the column under the cursor to WORD, or to any other"), 0, -1,
     run_change},
    {"method", "[none|masked|loop|chunks]", N_("lay over the map which scores a method works out"), 0, 1, run_method},
    {"batch", "[sentence|packed|padded]", N_("the mask of the sentence, of packed sentences, or with pads"), 0, 1,
     run_batch},
    {"wider", "", N_("look with a window wider by one"), 0, 0, run_wider},
    {"narrower", "", N_("look with a window narrower by one"), 0, 0, run_narrower},
    {"own", "", N_("look with the window that the model was trained with"), 0, 0, run_own},
    {"retrain", "", N_("write the line that trains on with the window looked with"), 0, 0, run_retrain},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_mask = {
    .name = "mask",
    .title = N_("mask"),
    .about = N_("Who may look at whom. A row is a query, a column a key; a dot is hidden. A window of W keeps a query "
                "to itself and the W−1 words before; some layers may be without. s lays over it which scores a method "
                "works out, also in vain. Below, one word is changed and every layer shows who feels it: L layers "
                "carry it L(W−1) words on. P changes the word under the cursor, + and - look with another window, W "
                "trains with it, v shows packed and padded batches."),
    .empty = N_("Who may look at whom in every layer will appear here as soon as the model is there; e gives it a "
                "sentence to read."),
    .watch = "mask tokens",
    .min_w = 28,
    .min_h = 8,
    .weight = 3,
    .rank = 3,
    .state_size = sizeof(MaskState),
    .draw = mask_draw,
    .move = mask_move,
    .enter = mask_enter,
    .find = mask_find,
    .click = mask_click,
    .keys = mask_keys,
    .offers = mask_offers,
    .commands = mask_commands,
    .tables = mask_tables,
    .save = mask_save,
    .subtitle = mask_subtitle,
};
