#include "layout.h"

#include "bug.h"

#include <math.h>
#include <string.h>

#define BORDER 2
#define ASPECT 3.0 /* columns to rows of a pane that looks right */

/* Some panes, and how they are cut into rows: bit i of CUTS is set when a new row begins after pane i. */
typedef struct {
    const PaneNeed *need;
    int pane[LAYOUT_MOST];
    int count;
    unsigned cuts;
} Wall;

/* ---- bars ---- */

static void place_bars(Layout *out, int w, int h) {
    int title = h >= 10, keys = h >= 8, transport = h >= 5 ? 1 : 0;
    if (h >= 20 && w < 110) transport = 2;
    int y = 0;
    out->title = (Rect){0, y, w, title};
    y += title;
    out->body = (Rect){0, y, w, h - title - keys - transport};
    y += out->body.h;
    out->transport = (Rect){0, y, w, transport};
    out->keys = (Rect){0, y + transport, w, keys};
}

/* ---- walls ---- */

static int need_w(const Wall *wall, int i) {
    return wall->need[wall->pane[i]].min_w + BORDER;
}
static int need_h(const Wall *wall, int i) {
    return wall->need[wall->pane[i]].min_h + BORDER;
}
static int weight(const Wall *wall, int i) {
    int x = wall->need[wall->pane[i]].weight;
    return x > 0 ? x : 1;
}

/* One past the last pane of the row that begins with pane I. */
static int row_end(const Wall *wall, int i) {
    while (i < wall->count - 1 && (wall->cuts >> i & 1) == 0) i++;
    return i + 1;
}

typedef struct {
    int least_w, least_h, weight, panes;
} Row;

static Row measure_row(const Wall *wall, int from, int to) {
    Row row = {.panes = to - from};
    for (int i = from; i < to; i++) {
        row.least_w += need_w(wall, i);
        if (need_h(wall, i) > row.least_h) row.least_h = need_h(wall, i);
        row.weight += weight(wall, i);
    }
    return row;
}

/* Shares SPACE among COUNT parts: each its least, what is left by weight, to the last column. */
static void share(int space, int count, const int *leasts, const int *weights, int *out) {
    int left = space, total = 0;
    for (int i = 0; i < count; i++) left -= leasts[i], total += weights[i];
    int given = 0, before = 0;
    for (int i = 0; i < count; i++) {
        before += weights[i];
        int upto = (int)((long)left * before / (total > 0 ? total : 1));
        out[i] = leasts[i] + upto - given;
        given = upto;
    }
}

/* Shares SPACE by weight alone, but gives each part its least: parts whose share is too small get the least and the
 * others share the rest. */
static void share_fairly(int space, int count, const int *leasts, const int *weights, int *out) {
    int fixed_least[LAYOUT_MOST], open_weight[LAYOUT_MOST];
    bool fixed[LAYOUT_MOST] = {false};
    for (bool again = true; again;) {
        int rest = space, total = 0;
        for (int i = 0; i < count; i++) {
            if (fixed[i]) rest -= leasts[i];
            if (!fixed[i]) total += weights[i];
        }
        again = false;
        for (int i = 0; i < count; i++) {
            if (fixed[i] || (long)rest * weights[i] >= (long)leasts[i] * total) continue;
            fixed[i] = true;
            again = true;
        }
    }
    bool any_open = false;
    for (int i = 0; i < count; i++) {
        fixed_least[i] = fixed[i] ? leasts[i] : 0;
        open_weight[i] = fixed[i] ? 0 : weights[i];
        any_open = any_open || !fixed[i];
    }
    share(space, count, fixed_least, any_open ? open_weight : weights, out);
}

static bool wall_fits(const Wall *wall, int w, int h) {
    int least_h = 0;
    for (int i = 0; i < wall->count;) {
        int end = row_end(wall, i);
        Row row = measure_row(wall, i, end);
        if (row.least_w > w) return false;
        least_h += row.least_h;
        i = end;
    }
    return least_h <= h;
}

/* Leaves in CUTS the first cut that fits. */
static bool some_cut_fits(Wall *wall, int w, int h) {
    for (wall->cuts = 0; wall->cuts < 1u << (wall->count - 1); wall->cuts++)
        if (wall_fits(wall, w, h)) return true;
    return false;
}

static int row_heights(const Wall *wall, int h, int *heights) {
    int leasts[LAYOUT_MOST] = {0}, weights[LAYOUT_MOST] = {0}, rows = 0;
    for (int i = 0; i < wall->count; rows++) {
        int end = row_end(wall, i);
        Row row = measure_row(wall, i, end);
        leasts[rows] = row.least_h;
        weights[rows] = row.weight;
        i = end;
    }
    share_fairly(h, rows, leasts, weights, heights);
    return rows;
}

static void row_widths(const Wall *wall, int from, int to, int w, int *widths) {
    int leasts[LAYOUT_MOST] = {0}, weights[LAYOUT_MOST] = {0};
    for (int i = from; i < to; i++) leasts[i - from] = need_w(wall, i), weights[i - from] = weight(wall, i);
    share_fairly(w, to - from, leasts, weights, widths);
}

/* Moves the edges between panes onto those of the row above where they are near, so that edges run through. */
static void align_edges(const Wall *wall, int from, int to, int w, const int *above, int above_count, int *widths) {
    int edge = 0, reach = w / 16 + 1;
    for (int i = 0; i < to - from - 1; i++) {
        edge += widths[i];
        int above_edge = 0;
        for (int k = 0; k < above_count - 1; k++) {
            above_edge += above[k];
            int shift = above_edge - edge;
            bool near = shift >= -reach && shift <= reach && shift != 0;
            if (!near || widths[i] + shift < need_w(wall, from + i) ||
                widths[i + 1] - shift < need_w(wall, from + i + 1))
                continue;
            widths[i] += shift;
            widths[i + 1] -= shift;
            edge += shift;
            break;
        }
    }
}

static void place_wall(const Wall *wall, Rect body, Layout *out) {
    int heights[LAYOUT_MOST], widths[LAYOUT_MOST], above[LAYOUT_MOST], above_count = 0;
    row_heights(wall, body.h, heights);
    int y = body.y, row = 0;
    out->count = 0;
    for (int from = 0; from < wall->count; row++) {
        int to = row_end(wall, from), x = body.x;
        row_widths(wall, from, to, body.w, widths);
        align_edges(wall, from, to, body.w, above, above_count, widths);
        for (int i = from; i < to; i++) {
            out->place[out->count++] = (Place){wall->pane[i], {x, y, widths[i - from], heights[row]}};
            x += widths[i - from];
        }
        y += heights[row];
        above_count = to - from;
        memcpy(above, widths, sizeof widths[0] * (size_t)above_count);
        from = to;
    }
}

/* How far from harmony: panes of odd shape, and areas that do not follow the weights. */
static double wall_penalty(const Wall *wall, Rect body) {
    Layout trial;
    place_wall(wall, body, &trial);
    double total_weight = 0, penalty = 0;
    for (int i = 0; i < wall->count; i++) total_weight += weight(wall, i);
    for (int i = 0; i < trial.count; i++) {
        Rect r = trial.place[i].r;
        double shape = log((double)r.w / r.h / ASPECT);
        double area = log((double)r.w * r.h / ((double)body.w * body.h) * total_weight / weight(wall, i));
        penalty += shape * shape + area * area;
    }
    return penalty;
}

static void choose_cuts(Wall *wall, Rect body) {
    double best = HUGE_VAL;
    unsigned best_cuts = 0;
    for (wall->cuts = 0; wall->cuts < 1u << (wall->count - 1); wall->cuts++) {
        if (!wall_fits(wall, body.w, body.h)) continue;
        double penalty = wall_penalty(wall, body);
        if (penalty < best) best = penalty, best_cuts = wall->cuts;
    }
    wall->cuts = best_cuts;
}

/* W with PANE put where its number belongs. */
static Wall with_pane(const Wall *wall, int pane) {
    Wall next = *wall;
    int at = next.count++;
    for (; at > 0 && next.pane[at - 1] > pane; at--) next.pane[at] = next.pane[at - 1];
    next.pane[at] = pane;
    return next;
}

/* ORDER [n]: the panes by rank, those of the same rank in order. */
static void by_rank(const PaneNeed *need, int n, int *order) {
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && need[order[at - 1]].rank > need[i].rank; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

static void compute_wall(Layout *out, const PaneNeed *need, int n, int focus, const bool *hidden) {
    Wall wall = {.need = need, .pane = {focus}, .count = 1};
    bool alone = !wall_fits(&wall, out->body.w, out->body.h);
    int order[LAYOUT_MOST];
    by_rank(need, n, order);
    for (int i = 0; i < n && !alone; i++) {
        int pane = order[i];
        if (pane == focus || (hidden != NULL && hidden[pane])) continue;
        Wall next = with_pane(&wall, pane);
        if (some_cut_fits(&next, out->body.w, out->body.h)) wall = next;
    }
    if (wall.count > 1) choose_cuts(&wall, out->body);
    if (wall.count > 1)
        place_wall(&wall, out->body, out);
    else
        out->place[out->count++] = (Place){focus, out->body};
}

/* ---- the other views ---- */

static int next_shown(int n, int focus, const bool *hidden) {
    for (int i = 1; i < n; i++) {
        int pane = (focus + i) % n;
        if (hidden == NULL || !hidden[pane]) return pane;
    }
    return -1;
}

static void compute_split(Layout *out, const PaneNeed *need, int n, int focus, const bool *hidden) {
    int other = next_shown(n, focus, hidden);
    Rect b = out->body;
    if (other < 0) {
        out->place[out->count++] = (Place){focus, b};
        return;
    }
    Wall wall = {.need = need, .pane = {focus, other}, .count = 2};
    bool beside = wall_fits(&wall, b.w, b.h);
    wall.cuts = 1;
    bool above = wall_fits(&wall, b.w, b.h);
    if (!beside && !above) {
        out->place[out->count++] = (Place){focus, b};
        return;
    }
    if (beside && above) beside = b.w >= 2 * ASPECT * b.h / 1.6;
    wall.cuts = beside ? 0 : 1;
    place_wall(&wall, b, out);
}

void layout_compute(Layout *out, ViewKind view, int w, int h, const PaneNeed *need, int n, int focus,
                    const bool *hidden) {
    BUG_ON(n < 1 || n > LAYOUT_MOST || focus < 0 || focus >= n);
    memset(out, 0, sizeof *out);
    place_bars(out, w > 0 ? w : 0, h > 0 ? h : 0);
    switch (view) {
    case VIEW_WALL:
        compute_wall(out, need, n, focus, hidden);
        break;
    case VIEW_SPLIT:
        compute_split(out, need, n, focus, hidden);
        break;
    case VIEW_FOCUS:
        out->place[out->count++] = (Place){focus, out->body};
        break;
    }
}

int layout_hit(const Layout *l, int x, int y) {
    for (int i = 0; i < l->count; i++) {
        Rect r = l->place[i].r;
        if (x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h) return i;
    }
    return -1;
}
