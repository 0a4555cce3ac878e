/* pane beam: beam search from the prompt as a tree: what is kept, pruned and finished, with the model's log p and the
 * truth's; searched afresh as the model trains. */
#include "beam_list.h"
#include "beam_view.h"

#include "intl.h"

#include <stdio.h>
#include <string.h>

/* ---- the cursor ---- */

static void point_at(BeamState *state, const BeamReading *r, int node) {
    int id = table_find(r->tree, "id"), depth = r->nodes.node[node].depth;
    if (depth > BEAM_PATH) return;
    state->depth = depth;
    for (; node >= 0; node = r->nodes.node[node].parent)
        state->path[r->nodes.node[node].depth - 1] = (int)table_int(r->tree, node, id);
}

static int first_child(const BeamReading *r, int node) {
    for (int i = node + 1; i < r->nodes.nodes; i++)
        if (r->nodes.node[i].parent == node && beam_is_shown(r, i)) return i;
    return -1;
}

/* Whether A stands above B; both are of one step. */
static bool is_above(const BeamReading *r, int a, int b) {
    while (a >= 0 && b >= 0 && r->nodes.node[a].parent != r->nodes.node[b].parent) {
        a = r->nodes.node[a].parent;
        b = r->nodes.node[b].parent;
    }
    return a < b;
}

/* The next node of the same step, below or above; NODE itself when there is none. */
static int neighbour(const BeamReading *r, int node, bool below) {
    int best = node;
    for (int i = 0; i < r->nodes.nodes; i++) {
        if (i == node || r->nodes.node[i].depth != r->nodes.node[node].depth || !beam_is_shown(r, i)) continue;
        bool on_side = below ? is_above(r, node, i) : is_above(r, i, node);
        if (on_side && (best == node || (below ? is_above(r, i, best) : is_above(r, best, i)))) best = i;
    }
    return best;
}

static int move_once(const BeamReading *r, int node, Move move) {
    int next = node;
    switch (move) {
    case MOVE_UP:
    case MOVE_PAGE_UP:
        return neighbour(r, node, false);
    case MOVE_DOWN:
    case MOVE_PAGE_DOWN:
        return neighbour(r, node, true);
    case MOVE_LEFT:
        next = r->nodes.node[node].parent;
        return next < 0 ? node : next;
    case MOVE_RIGHT:
        next = first_child(r, node);
        return next < 0 ? node : next;
    case MOVE_FIRST:
        while (r->nodes.node[node].parent >= 0) node = r->nodes.node[node].parent;
        return node;
    case MOVE_LAST:
        for (; next >= 0; next = first_child(r, node)) node = next;
        return node;
    }
    return node;
}

/* The first move shows the cursor, on what is best. */
static void beam_move(PaneCall *call, Move move, int times) {
    BeamState *state = call->state;
    BeamReading r;
    if (!beam_read(call->snapshot, state, call->detail, &r)) return;
    int node = r.drawn.cursor;
    bool page = move == MOVE_PAGE_UP || move == MOVE_PAGE_DOWN;
    if (node < 0) {
        node = r.drawn.best;
    } else {
        for (long i = 0, n = page ? 8L * times : times; i < n; i++) {
            int next = move_once(&r, node, move);
            if (next == node) break;
            node = next;
        }
    }
    if (node >= 0) point_at(state, &r, node);
    beam_read_done(&r);
}

static bool beam_escape(PaneCall *call) {
    BeamState *state = call->state;
    bool there = state->depth > 0;
    state->depth = 0;
    return there;
}

static bool beam_find(PaneCall *call, const char *text) {
    BeamState *state = call->state;
    BeamReading r;
    if (!beam_read(call->snapshot, state, call->detail, &r)) return false;
    int found = -1, n = r.nodes.nodes;
    for (int i = 1; i <= n && found < 0; i++) {
        int at = (r.drawn.cursor + i) % n;
        if (beam_is_shown(&r, at) && reading_holds(r.nodes.node[at].label, text)) found = at;
    }
    if (found >= 0) point_at(state, &r, found);
    beam_read_done(&r);
    return found >= 0;
}

static void beam_click(PaneCall *call, const Canvas *like, int x, int y) {
    BeamState *state = call->state;
    BeamReading r;
    if (!beam_read(call->snapshot, state, call->detail, &r)) return;
    Rect tree = beam_plan(&r, call->detail, like->w, like->h).tree;
    int node = beam_is_list(call->detail, like->w) ? beam_list_at(&r, tree, y) : draw_tree_at(like, tree, &r.drawn, x, y);
    if (node >= 0) point_at(state, &r, node);
    beam_read_done(&r);
}

/* ---- its commands ---- */

static Status run_widen(void *owner, const Words *words) {
    PaneCall *call = owner;
    (void)words;
    snprintf(call->command, sizeof call->command, "beam wider");
    return status_ok();
}

static Status run_thin(void *owner, const Words *words) {
    PaneCall *call = owner;
    (void)words;
    snprintf(call->command, sizeof call->command, "beam narrower");
    return status_ok();
}

static Status run_of(void *owner, const Words *words) {
    PaneCall *call = owner;
    const char *other = beam_is_of_truth(call->snapshot) ? "model" : "truth";
    snprintf(call->command, sizeof call->command, "beam of=%.20s", words->count > 1 ? words->word[1] : other);
    return status_ok();
}

static Status run_norm(void *owner, const Words *words) {
    PaneCall *call = owner;
    bool on = beam_is_normed(call->snapshot);
    STATUS_TRY(command_switch(words, &on));
    snprintf(call->command, sizeof call->command, "beam length_norm=%d", on);
    return status_ok();
}

static Status run_samples(void *owner, const Words *words) {
    return command_choose(words, "on", "off", &((BeamState *)((PaneCall *)owner)->state)->no_samples);
}

static Status run_pruned(void *owner, const Words *words) {
    return command_choose(words, "on", "off", &((BeamState *)((PaneCall *)owner)->state)->no_pruned);
}

static void beam_save(const void *state, Str *out) {
    const BeamState *s = state;
    str_addf(out, "samples %s\npruned %s\n", s->no_samples ? "off" : "on", s->no_pruned ? "off" : "on");
}

/* ---- what it shows ---- */

static int beam_tables(const PaneContext *x, Table **out) {
    static const char *const names[] = {"tree",        "best",         "stop",       "beam",
                                        "beam_rivals", "beam_samples", "beam_marks", NULL};
    return pane_copy_tables(x, names, out);
}

static void beam_subtitle(const PaneContext *x, char *out, size_t bytes) {
    BeamReading r;
    if (beam_width_shown(x->snapshot) == 0) return;
    int used = snprintf(out, bytes, beam_is_of_truth(x->snapshot) ? _("width %d, the truth%s") : _("width %d%s"),
                        beam_width_shown(x->snapshot), beam_is_normed(x->snapshot) ? _(", length norm") : "");
    if (used < 0 || used >= (int)bytes || !beam_read(x->snapshot, x->state, x->detail, &r)) return;
    if (r.growing) snprintf(out + used, bytes - (size_t)used, _(" · step %d of %d"), r.drawn.depth, r.steps);
    beam_read_done(&r);
}

static bool beam_offers(const PaneContext *x, const char *line) {
    return strcmp(line, "of") != 0 || beam_is_of_truth(x->snapshot) || reading_has_truth(x->snapshot);
}

static const KeyRow beam_keys[] = {
    {"+", "widen", N_("wider"), N_("one beam more")},
    {"-", "thin", N_("narrower"), N_("one beam less; width 1 is greedy")},
    {"v", "of", N_("model/truth"), N_("search what the model likes best, or the language itself")},
    {"u", "norm", N_("length norm"), N_("score by log p per token, or by log p")},
    {"a", "samples", NULL, N_("how many of twenty samples pass a node, or not")},
    {"d", "pruned", NULL, N_("with the candidates that were pruned, or without")},
    {NULL, NULL, NULL, NULL},
};

static const Command beam_commands[] = {
    {"widen", "", N_("one beam more"), 0, 0, run_widen},
    {"thin", "", N_("one beam less"), 0, 0, run_thin},
    {"of", "[model|truth]", N_("whose probabilities are searched"), 0, 1, run_of},
    {"norm", "[on|off]", N_("score by log p per token"), 0, 1, run_norm},
    {"samples", "[on|off]", N_("how many of twenty samples pass a node"), 0, 1, run_samples},
    {"pruned", "[on|off]", N_("the likeliest candidates that were pruned"), 0, 1, run_pruned},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const PaneType pane_beam = {
    .name = "beam",
    .title = N_("beam search"),
    .about = N_("The search for the likeliest sentence after the prompt. Every column is a step: of all continuations "
                "of the open beams the likeliest are kept, the rest is pruned (grey). At the end of a row stands the "
                "sum of log p, beside it the same by the truth. Underlined is the greedy path; a number behind a word "
                "says how many of twenty samples pass there, a + that the node was not in the tree before. At the end "
                "of the prompt the tree is whole; . lets it grow step by step. Arrows show the arithmetic of a node."),
    .empty = N_("Beam search from the prompt will appear here as a tree; e gives the words to go on from."),
    .watch = "beam tokens",
    .watch_closely = "beam_samples",
    .min_w = 34,
    .min_h = 6,
    .weight = 4,
    .rank = 3,
    .state_size = sizeof(BeamState),
    .draw = beam_draw,
    .move = beam_move,
    .escape = beam_escape,
    .find = beam_find,
    .click = beam_click,
    .keys = beam_keys,
    .offers = beam_offers,
    .commands = beam_commands,
    .tables = beam_tables,
    .save = beam_save,
    .subtitle = beam_subtitle,
};
