#include "beam_view.h"

#include "beam_list.h"
#include "draw.h"
#include "format.h"
#include "intl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBER_W = 9,      /* a column of numbers in the foot */
    SCORE_W = 18,      /* "  -0.491 a token" */
    LABEL_W = 8,       /* "greedy" */
    SUM_W = 62,        /* the arithmetic of a node, */
    BESIDE_W = 130,    /* which stands beside the sentences where there is so much room */
    FOOT_ROWS = 5,     /* three sentences, why it stopped, since when */
    TREE_LEAST_W = 56, /* of the wall: below, words are cut to a letter or two */
    TREE_ROWS = 8,     /* that the tree keeps before the foot gets all of it */
};

/* ---- reading ---- */

static long cell_int(const Table *t, long row, const char *column, long otherwise) {
    int at = t ? table_find(t, column) : -1;
    return at >= 0 && row < table_rows(t) && !table_is_empty(t, row, at) ? (long)table_int(t, row, at) : otherwise;
}

static double cell_real(const Table *t, long row, const char *column) {
    int at = t ? table_find(t, column) : -1;
    return at >= 0 && row < table_rows(t) ? table_real(t, row, at) : (double)NAN;
}

static const char *cell_text(const Table *t, long row, const char *column) {
    int at = t ? table_find(t, column) : -1;
    return at >= 0 && row < table_rows(t) && !table_is_empty(t, row, at) ? table_text(t, row, at) : "";
}

int beam_width_shown(const Snapshot *s) {
    return (int)cell_int(snapshot_table(s, "beam"), 0, "width", 0);
}

bool beam_is_of_truth(const Snapshot *s) {
    return !strcmp(cell_text(snapshot_table(s, "beam"), 0, "of"), "truth");
}

bool beam_is_normed(const Snapshot *s) {
    return cell_int(snapshot_table(s, "beam"), 0, "length_norm", 0) != 0;
}

double beam_score(const BeamReading *r, int node) {
    return cell_real(r->tree, node, "score");
}

/* Greedy, new, and how many samples pass. */
static void read_marks(BeamReading *r, bool samples) {
    const Table *t = snapshot_table(r->snapshot, "beam_marks");
    for (int i = 0; t && i < r->nodes.nodes && i < table_rows(t); i++) {
        TreeNode *n = &r->nodes.node[i];
        if (cell_int(t, i, "greedy", 0)) n->marks |= TREE_GREEDY;
        if (cell_int(t, i, "new", 0)) n->marks |= TREE_NEW;
        if (samples) n->visits = (int)cell_int(t, i, "samples", 0);
    }
}

/* The best leaf of the tree as it is shown: finished before open, then by score; of equals the first. */
static int best_now(const BeamReading *r) {
    int best = -1;
    for (int i = 0; i < r->nodes.nodes && r->nodes.node[i].depth <= r->drawn.depth; i++) {
        TreeState state = draw_tree_state(&r->drawn, i), other;
        if (state != TREE_FINISHED && state != TREE_OPEN) continue;
        other = best < 0 ? TREE_OPEN : draw_tree_state(&r->drawn, best);
        bool better = best < 0 || (state == TREE_FINISHED && other == TREE_OPEN);
        if (better || (state == other && beam_score(r, i) > beam_score(r, best))) best = i;
    }
    return best;
}

/* The deepest node that is shown of the cursor's path; -1: none. */
static int find_cursor(const BeamReading *r, const BeamState *state) {
    int at = -1, depth = 1, id = table_find(r->tree, "id");
    for (int i = 0; id >= 0 && i < r->nodes.nodes && depth <= state->depth; i++) {
        const TreeNode *n = &r->nodes.node[i];
        if (n->depth > depth || n->depth > r->drawn.depth) break;
        bool hidden = r->drawn.bare && n->state == TREE_PRUNED;
        if (n->depth < depth || n->parent != at || hidden || table_int(r->tree, i, id) != state->path[depth - 1])
            continue;
        at = i;
        depth++;
    }
    return at;
}

/* How far the decoding clock has let the tree grow: at the prompt's end it is whole, then a step a token. */
static void read_clock(BeamReading *r) {
    const SnapshotFacts *f = snapshot_facts(r->snapshot);
    int grown = f->position - f->prompt_tokens;
    r->steps = r->nodes.depth;
    r->growing = grown > 0 && grown < r->steps;
    r->drawn.depth = r->growing ? grown : r->steps;
}

static bool has_truth(const BeamReading *r) {
    int at = table_find(r->tree, "true_log_p");
    return at >= 0 && !table_is_empty(r->tree, 0, at);
}

bool beam_read(const Snapshot *s, const BeamState *state, Detail detail, BeamReading *out) {
    *out = (BeamReading){.snapshot = s,
                         .settings = snapshot_table(s, "beam"),
                         .tree = snapshot_table(s, "tree"),
                         .stop = snapshot_table(s, "stop"),
                         .rivals = snapshot_table(s, "beam_rivals"),
                         .samples = snapshot_table(s, "beam_samples")};
    if (!out->settings || !tree_table_read(&out->nodes, out->tree, "token", "log_p", "true_log_p")) return false;
    bool truth = beam_is_of_truth(s);
    read_marks(out, !state->no_samples && detail != DETAIL_WALL);
    reading_token(s, (int)cell_int(out->settings, 0, "prompt_tokens", 1) - 1, out->root);
    out->drawn = (Tree){.node = out->nodes.node,
                        .nodes = out->nodes.nodes,
                        .root = out->root,
                        .value_label = _("log p"),
                        .value_role = truth ? STYLE_TRUTH : STYLE_MODEL,
                        .truth_label = !truth && has_truth(out) ? _("truth") : NULL,
                        .bare = state->no_pruned};
    read_clock(out);
    out->drawn.cursor = find_cursor(out, state);
    out->drawn.best = best_now(out);
    return true;
}

void beam_read_done(BeamReading *r) {
    tree_table_done(&r->nodes);
}

/* ---- the foot: sentences, why it stopped ---- */

bool beam_is_shown(const BeamReading *r, int node) {
    const TreeNode *n = &r->nodes.node[node];
    return n->depth <= r->drawn.depth && !(r->drawn.bare && n->state == TREE_PRUNED);
}

void beam_draw_number(Canvas *c, int right, int y, double value, StyleRole role) {
    Text text = format_fixed(value, 3);
    if (!isnan(value)) canvas_text(c, right - canvas_columns(c, text.s), y, -1, text.s, role, ATTRIBUTE_NONE);
}

static const char *rival_name(const char *of) {
    if (!strcmp(of, "beam")) return _("beam");
    if (!strcmp(of, "greedy")) return _("greedy");
    return !strcmp(of, "mode") ? _("mode") : of;
}

/* The words of a rival after the root. */
static const char *rival_words(const BeamReading *r, long row) {
    int root = (int)cell_int(r->settings, 0, "prompt_tokens", 1);
    return reading_continuation(r->snapshot, root, cell_text(r->rivals, row, "text"));
}

/* Columns for the words: as many as the longest has, or there are. */
static int rival_columns(const BeamReading *r, const Canvas *c, int room) {
    int most = 0;
    for (long i = 0; r->rivals && i < table_rows(r->rivals); i++) {
        int w = canvas_columns(c, rival_words(r, i));
        if (w > most) most = w;
    }
    return most < room ? most : room;
}

static int draw_rivals(const BeamReading *r, Canvas *c, Rect at) {
    bool truth = r->drawn.truth_label != NULL, normed = beam_is_normed(r->snapshot);
    int words = rival_columns(r, c, at.w - LABEL_W - NUMBER_W * (1 + truth) - (normed ? SCORE_W : 0)), y = 0;
    int right = at.x + LABEL_W + words + NUMBER_W;
    for (long i = 0; r->rivals && i < table_rows(r->rivals) && y < at.h; i++) {
        const char *of = cell_text(r->rivals, i, "of");
        bool best = !strcmp(of, "beam");
        if (best && r->growing) continue; /* not found yet */
        canvas_text(c, at.x, at.y + y, LABEL_W - 1, rival_name(of), STYLE_DIM,
                    !strcmp(of, "greedy") ? ATTRIBUTE_UNDERLINE : ATTRIBUTE_NONE);
        canvas_text(c, at.x + LABEL_W, at.y + y, words, rival_words(r, i), best ? STYLE_STRONG : STYLE_TEXT,
                    CANVAS_ELLIPSIS | (best ? ATTRIBUTE_BOLD : ATTRIBUTE_NONE));
        beam_draw_number(c, right, at.y + y, cell_real(r->rivals, i, "log_p"), r->drawn.value_role);
        if (truth) beam_draw_number(c, right + NUMBER_W, at.y + y, cell_real(r->rivals, i, "true_log_p"), STYLE_TRUTH);
        if (normed)
            canvas_textf(c, right + NUMBER_W * truth + 2, at.y + y, SCORE_W - 2, STYLE_STRONG, ATTRIBUTE_NONE,
                         _("%s a token"), format_fixed(cell_real(r->rivals, i, "score"), 3).s);
        y++;
    }
    return y;
}

/* What an open beam may still come to. */
static double attainable(const BeamReading *r, int node) {
    double log_p = r->nodes.node[node].value;
    return beam_is_normed(r->snapshot) ? log_p / (double)cell_int(r->settings, 0, "tokens", 1) : log_p;
}

static double best_attainable(const BeamReading *r) {
    double best = (double)-INFINITY;
    for (int i = 0; i < r->nodes.nodes; i++)
        if (r->nodes.node[i].state == TREE_OPEN) best = fmax(best, attainable(r, i));
    return best;
}

/* In at most W columns, as exactly as they allow. */
static void why_found(const BeamReading *r, const Canvas *c, int w, char *out, size_t bytes) {
    double open = best_attainable(r);
    Text best = format_fixed(beam_score(r, r->drawn.best), 3), most = format_fixed(open, 3);
    if (isinf(open))
        snprintf(out, bytes, _("stopped after step %d: no beam is open any more"), r->steps);
    else
        snprintf(out, bytes, _("stopped after step %d: best finished %s ≥ %s, attainable by any open"), r->steps,
                 best.s, most.s);
    if (canvas_columns(c, out) > w && !isinf(open))
        snprintf(out, bytes, _("stopped: finished %s ≥ %s for any open"), best.s, most.s);
}

static void why_stopped(const BeamReading *r, const Canvas *c, int w, char *out, size_t bytes) {
    const char *reason = cell_text(r->stop, 0, "reason");
    if (r->growing)
        snprintf(out, bytes, _("after step %d of %d; . takes the next"), r->drawn.depth, r->steps);
    else if (!strcmp(reason, "finished"))
        why_found(r, c, w, out, bytes);
    else if (!strcmp(reason, "tokens"))
        snprintf(out, bytes, _("stopped after step %d: that many tokens and no more"), r->steps);
    else if (!strcmp(reason, "context"))
        snprintf(out, bytes, _("stopped after step %d: the context is full"), r->steps);
    else
        snprintf(out, bytes, _("stopped after step %d: nothing can follow"), r->steps);
    if (canvas_columns(c, out) > w)
        snprintf(out, bytes, r->growing ? _("after step %d") : _("stopped after step %d"),
                 r->growing ? r->drawn.depth : r->steps);
}

static int new_nodes(const BeamReading *r) {
    int n = 0;
    for (int i = 0; i < r->nodes.nodes; i++) n += (r->nodes.node[i].marks & TREE_NEW) != 0;
    return n;
}

/* "+7 new since step 1,000": against the tree that was looked at before. */
static void add_news(const BeamReading *r, Str *out) {
    long compared = cell_int(r->settings, 0, "compared_step", -1);
    int n = new_nodes(r);
    if (compared < 0) return;
    if (n > 0) str_addf(out, _("+%d new since step %s   "), n, format_count(compared).s);
    if (n == 0) str_addf(out, _("nothing new since step %s   "), format_count(compared).s);
}

/* How the search changed its mind while the model trained, in W columns. */
static void since_when(const BeamReading *r, const Canvas *c, int w, Str *out) {
    int root = (int)cell_int(r->settings, 0, "prompt_tokens", 1);
    Text since = format_count(cell_int(r->settings, 0, "since_step", 0));
    const char *before = cell_text(r->settings, 0, "before");
    if (beam_is_of_truth(r->snapshot)) return; /* it does not learn */
    add_news(r, out);
    size_t news = out->len;
    if (!before[0]) return;
    str_addf(out, _("best since step %s, before: %s"), since.s, reading_continuation(r->snapshot, root, before));
    if (canvas_columns(c, out->s) <= w) return;
    str_truncate(out, news);
    str_addf(out, _("best since step %s"), since.s);
}

static void draw_foot(const BeamReading *r, Canvas *c, Rect at) {
    char line[400];
    int y = draw_rivals(r, c, at);
    why_stopped(r, c, at.w, line, sizeof line);
    if (y < at.h) canvas_text(c, at.x, at.y + y++, at.w, line, STYLE_DIM, CANVAS_ELLIPSIS);
    Str news;
    str_init(&news);
    since_when(r, c, at.w, &news);
    if (y < at.h) canvas_text(c, at.x, at.y + y, at.w, news.s, STYLE_WARNING, CANVAS_ELLIPSIS);
    str_done(&news);
}

/* ---- the arithmetic of a node ---- */

/* Its place among the nodes of its step, from 1, and the last of them that was taken. */
static int place_of(const BeamReading *r, int node, int *last_taken) {
    int place = 1;
    *last_taken = node;
    for (int i = 0; i < r->nodes.nodes; i++) {
        const TreeNode *n = &r->nodes.node[i];
        if (n->depth != r->nodes.node[node].depth) continue;
        if (i < node) place++;
        if (n->state != TREE_PRUNED) *last_taken = i;
    }
    return place;
}

/* "log p  -1.582 - 1.442 = -3.024   p 0.2364": the parent's sum, this step, the sum. */
static void draw_sum(Canvas *c, Rect at, const char *label, double before, double sum, StyleRole role) {
    double step = sum - before;
    canvas_textf(c, at.x, at.y, at.w, role, ATTRIBUTE_NONE, "%-*s%s + ln %s = %s", LABEL_W, label,
                 format_fixed(before, 4).s, format_figures(exp(step)).s, format_fixed(sum, 4).s);
}

static void draw_truth_sum(const BeamReading *r, Canvas *c, Rect at, int node) {
    const TreeNode *n = &r->nodes.node[node];
    double before = n->parent < 0 ? 0 : r->nodes.node[n->parent].truth;
    if (isinf(before))
        canvas_textf(c, at.x, at.y, at.w, STYLE_TRUTH, ATTRIBUTE_NONE, "%-*s%s", LABEL_W, _("truth"),
                     _("no sentence begins so"));
    else
        draw_sum(c, at, _("truth"), before, n->truth, STYLE_TRUTH);
}

static void what_became(const BeamReading *r, int node, char *out, size_t bytes) {
    const TreeNode *n = &r->nodes.node[node];
    int last, place = place_of(r, node, &last);
    TreeState state = draw_tree_state(&r->drawn, node);
    Text least = format_fixed(r->nodes.node[last].value, 3);
    if (state == TREE_PRUNED)
        snprintf(out, bytes, _("pruned: place %d at step %d, and the last that was kept has %s"), place, n->depth,
                 least.s);
    else if (state == TREE_FINISHED)
        snprintf(out, bytes, _("finished: place %d at step %d, and it leaves the beam"), place, n->depth);
    else if (n->state == TREE_OPEN)
        snprintf(out, bytes, _("open at the end: place %d at step %d; it could still attain %s"), place, n->depth,
                 format_fixed(attainable(r, node), 3).s);
    else
        snprintf(out, bytes, _("kept: place %d at step %d; the last that was kept has %s"), place, n->depth, least.s);
}

/* What stands on the line of the path: the root and the labels down to the node. */
static void path_text(const BeamReading *r, int node, Str *out) {
    const TreeNode *n = &r->nodes.node[node];
    if (n->parent >= 0)
        path_text(r, n->parent, out);
    else
        str_add(out, r->root);
    str_addf(out, " %s", n->label);
}

static void draw_node(const BeamReading *r, Canvas *c, Rect at) {
    int node = r->drawn.cursor, y = at.y, bottom = at.y + at.h;
    const TreeNode *n = &r->nodes.node[node];
    double before = n->parent < 0 ? 0 : r->nodes.node[n->parent].value;
    char line[200];
    Str path;
    str_init(&path);
    path_text(r, node, &path);
    if (y < bottom) canvas_text(c, at.x, y++, at.w, path.s, STYLE_STRONG, CANVAS_ELLIPSIS);
    str_done(&path);
    Rect row = {at.x, y, at.w, 1};
    if (row.y < bottom) draw_sum(c, row, _("log p"), before, n->value, r->drawn.value_role);
    row.y++;
    if (row.y < bottom && r->drawn.truth_label) draw_truth_sum(r, c, row, node), row.y++;
    if (row.y < bottom && beam_is_normed(r->snapshot)) {
        canvas_textf(c, at.x, row.y++, at.w, STYLE_TEXT, ATTRIBUTE_NONE, "%-*s%s / %d = %s", LABEL_W, _("score"),
                     format_fixed(n->value, 4).s, n->depth, format_fixed(beam_score(r, node), 4).s);
    }
    what_became(r, node, line, sizeof line);
    if (row.y < bottom) canvas_text(c, at.x, row.y, at.w, line, STYLE_DIM, CANVAS_ELLIPSIS);
}

/* ---- all of it ---- */

bool beam_is_list(Detail detail, int w) {
    return detail == DETAIL_WALL && w < TREE_LEAST_W;
}

BeamPlan beam_plan(const BeamReading *r, Detail detail, int w, int h) {
    int rivals = r->rivals ? (int)table_rows(r->rivals) : 0, foot = rivals + FOOT_ROWS - 3, legend = 0;
    if (detail == DETAIL_WALL) foot = h >= 12 ? 2 : h >= 6 ? 1 : 0;
    if (beam_is_list(detail, w)) foot = h >= 6 ? 1 : 0; /* the best stands on top already */
    if (detail == DETAIL_FOCUS) legend = h >= 14 ? 1 : 0;
    if (detail == DETAIL_PRESENT) foot = rivals + 1;
    if (detail != DETAIL_WALL && h - foot - legend < TREE_ROWS) foot = h - legend - TREE_ROWS;
    if (foot < 0) foot = 0;
    int gap = detail != DETAIL_WALL && h - foot - legend > TREE_ROWS && foot > 0; /* a blank row */
    BeamPlan p = {.tree = {0, 0, w, h - foot - legend - gap}};
    p.legend = (Rect){0, p.tree.h, w, legend};
    p.foot = (Rect){0, h - foot, w, foot};
    return p;
}

static void draw_legend(const BeamReading *r, Canvas *c, Rect at, TreeShown shown, bool samples) {
    int used = at.x + draw_tree_legend(c, at.x, at.y, at.w, shown.hidden);
    used += canvas_text(c, used, at.y, at.w - used, "  ", STYLE_DIM, ATTRIBUTE_NONE);
    used += canvas_text(c, used, at.y, at.w - used, _("greedy"), STYLE_DIM, ATTRIBUTE_UNDERLINE);
    if (samples && shown.visits && r->samples)
        canvas_textf(c, used, at.y, at.w - used, STYLE_SERIES_C, ATTRIBUTE_NONE, _("  ·n of %ld samples"),
                     table_rows(r->samples));
}

/* On the wall: the best sentence, once it is found, and, where there is room, why it stopped. */
static void draw_wall_foot(const BeamReading *r, Canvas *c, Rect at) {
    char line[400];
    if (beam_is_list(DETAIL_WALL, at.w)) {
        why_stopped(r, c, at.w, line, sizeof line);
        canvas_text(c, at.x, at.y, at.w, at.h > 0 ? line : "", STYLE_DIM, CANVAS_ELLIPSIS);
        return;
    }
    if (!r->growing && at.h > 0) (void)draw_rivals(r, c, (Rect){at.x, at.y, at.w, 1});
    why_stopped(r, c, at.w, line, sizeof line);
    if (at.h > 1) canvas_text(c, at.x, at.y + 1, at.w, line, STYLE_DIM, CANVAS_ELLIPSIS);
}

void beam_draw(const PaneContext *x, Canvas *c) {
    const BeamState *state = x->state;
    BeamReading r;
    if (!beam_read(x->snapshot, state, x->detail, &r)) {
        pane_draw_empty(&pane_beam, c);
        return;
    }
    BeamPlan p = beam_plan(&r, x->detail, c->w, c->h);
    TreeShown shown = {0};
    if (beam_is_list(x->detail, c->w))
        beam_draw_list(&r, c, p.tree);
    else
        shown = draw_tree(c, p.tree, &r.drawn);
    if (p.legend.h > 0) draw_legend(&r, c, p.legend, shown, !state->no_samples);
    bool cursor = r.drawn.cursor >= 0, beside = cursor && c->w >= BESIDE_W;
    Rect left = {p.foot.x, p.foot.y, beside ? p.foot.w - SUM_W - 2 : p.foot.w, p.foot.h};
    if (x->detail == DETAIL_WALL)
        draw_wall_foot(&r, c, p.foot);
    else if (!cursor || beside)
        draw_foot(&r, c, left);
    if (x->detail != DETAIL_WALL && cursor)
        draw_node(&r, c, beside ? (Rect){c->w - SUM_W, p.foot.y, SUM_W, p.foot.h} : p.foot);
    beam_read_done(&r);
}
