#include "draw_tree.h"

#include "format.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP = 3,         /* columns between two steps: a blank, the branch, a blank */
    GAP_LEAST = 2,   /* the same where labels would be cut */
    LABEL_MOST = 16, /* columns of a label */
    LABEL_SMALL = 5, /* labels are cut down to this before a column of numbers is given up for them, */
    LABEL_LEAST = 3, /* and to this before steps are left out */
    NUMBER_W = 8,    /* a column of numbers at the right */
    INNER_W = 7,     /* a number behind a label */
    MARKS_W = 3,     /* before the numbers: is there more above or below, and what became of the leaf */
    OUT_W = 2,       /* a sign that steps are left out, and a blank */
    TREE_LEAST = 20, /* columns that must remain beside the numbers */
};

typedef struct {
    int children, first, next; /* visible children; the first of them; the next sibling; -1: none */
    int row, x;                /* row -1: not shown */
    bool live;                 /* something below it is open or finished */
} Place;

typedef struct {
    const Canvas *canvas; /* how wide labels are drawn */
    Place *place;         /* [nodes] */
    int rows;             /* leaves that are shown */
    int hidden;           /* leaves that are not */
    int top;              /* row at the top of the rectangle */
    int first, last;      /* steps at the left and at the right; those before and behind do not fit */
    int *x, *w;           /* [depth + 1] of each step's labels; 0: the root */
    int gap;              /* columns between two steps */
    int begin;            /* the first node behind the root */
    bool visits, news;    /* how many pass is shown, and what is new */
    int inner;            /* numbers behind each label: 0, 1 or 2 */
    int columns;          /* of numbers behind the tree: 0, 1 or 2 */
    int numbers;          /* how wide those are, the marks included */
    int decimals;         /* of each, so that the largest has a blank before it */
    int beside;           /* where they begin */
} Layout;

/* ---- which nodes are there ---- */

TreeState draw_tree_state(const Tree *t, int node) {
    const TreeNode *n = &t->node[node];
    return n->state == TREE_KEPT && n->depth == t->depth ? TREE_OPEN : n->state;
}

static bool is_there(const Tree *t, int node) {
    return t->node[node].depth <= t->depth && !(t->bare && t->node[node].state == TREE_PRUNED);
}

static bool on_path(const Tree *t, int node, int end) {
    while (end > node) end = t->node[end].parent;
    return end == node;
}

/* ---- which leaves are shown ---- */

typedef struct {
    int node, class; /* lower classes first */
    int order;       /* within the class */
} Leaf;

static int by_class(const void *a, const void *b) {
    const Leaf *x = a, *y = b;
    if (x->class != y->class) return x->class - y->class;
    return x->order != y->order ? x->order - y->order : x->node - y->node;
}

static Leaf leaf_of(const Tree *t, int node, int pruned) {
    switch (draw_tree_state(t, node)) {
    case TREE_FINISHED:
    case TREE_OPEN:
        return (Leaf){node, 0, 0};
    case TREE_KEPT:
        return (Leaf){node, 1, t->depth - t->node[node].depth};
    case TREE_PRUNED:
        break;
    }
    return (Leaf){node, 2, pruned};
}

/* Leaves in the order in which they are given room; returns how many. */
static int find_leaves(const Tree *t, Leaf *leaf) {
    bool *inner = MEM_ARRAY(bool, (size_t)t->nodes);
    int n = 0, pruned = 0, depth = 0;
    for (int i = 0; i < t->nodes; i++)
        if (is_there(t, i) && t->node[i].parent >= 0) inner[t->node[i].parent] = true;
    for (int i = 0; i < t->nodes; i++) {
        if (!is_there(t, i)) continue;
        if (t->node[i].depth != depth) pruned = 0;
        depth = t->node[i].depth;
        pruned += t->node[i].state == TREE_PRUNED;
        if (inner[i]) continue;
        leaf[n] = leaf_of(t, i, pruned);
        if (i == t->cursor || (t->cursor >= 0 && on_path(t, t->cursor, i))) leaf[n].class = leaf[n].class > 0 ? 1 : 0;
        if (i == t->cursor) leaf[n].class = 0;
        n++;
    }
    qsort(leaf, (size_t)n, sizeof *leaf, by_class);
    mem_free(inner);
    return n;
}

static void show_path(const Tree *t, Layout *l, int node, bool live) {
    for (; node >= 0; node = t->node[node].parent) {
        l->place[node].row = 0;
        l->place[node].live |= live;
    }
}

/* Chooses the leaves that fit in ROOM rows; the open and the finished are there in any case and scroll. */
static void choose(const Tree *t, Layout *l, int room) {
    Leaf *leaf = MEM_ARRAY(Leaf, (size_t)t->nodes);
    int n = find_leaves(t, leaf), shown = 0;
    for (int i = 0; i < t->nodes; i++) l->place[i] = (Place){.first = -1, .next = -1, .row = -1};
    for (; shown < n && (shown < room || leaf[shown].class == 0); shown++) {
        TreeState state = draw_tree_state(t, leaf[shown].node);
        show_path(t, l, leaf[shown].node, state == TREE_OPEN || state == TREE_FINISHED);
    }
    l->rows = shown;
    l->hidden = n - shown;
    mem_free(leaf);
}

/* ---- where they stand ---- */

static void link_children(const Tree *t, Layout *l) {
    int *last = MEM_ARRAY(int, (size_t)t->nodes + 1); /* child of the node before in number; 0: of the root */
    l->begin = -1;
    for (int i = 0; i < t->nodes; i++) {
        if (l->place[i].row < 0) continue;
        int parent = t->node[i].parent;
        int *before = parent < 0 ? &l->begin : &l->place[parent].first;
        if (*before < 0)
            *before = i;
        else
            l->place[last[parent + 1]].next = i;
        last[parent + 1] = i;
        if (parent >= 0) l->place[parent].children++;
    }
    mem_free(last);
}

/* The rows of a node and of all below it, from ROW on; returns the row behind them. */
static int set_rows(Layout *l, int node, int row) {
    l->place[node].row = row;
    if (l->place[node].first < 0) return row + 1;
    for (int child = l->place[node].first; child >= 0; child = l->place[child].next) row = set_rows(l, child, row);
    return row;
}

static int label_columns(const Layout *l, const TreeNode *n) {
    char visits[16];
    int w = canvas_columns(l->canvas, n->label) + (l->news && n->marks & TREE_NEW ? 1 : 0);
    if (l->visits && n->visits > 0) w += 1 + snprintf(visits, sizeof visits, "%d", n->visits);
    return w;
}

/* Columns of the tree as its steps are now. */
static int tree_columns(const Tree *t, const Layout *l) {
    int all = l->w[0];
    for (int d = 1; d <= t->depth; d++) all += l->gap + l->w[d];
    return all;
}

/* Steps as wide as their widest label. */
static void set_widths(const Tree *t, Layout *l) {
    int root = canvas_columns(l->canvas, t->root);
    l->w[0] = root < LABEL_MOST ? root : LABEL_MOST;
    for (int d = 1; d <= t->depth; d++) l->w[d] = 1;
    for (int i = 0; i < t->nodes; i++) {
        if (l->place[i].row < 0) continue;
        int w = label_columns(l, &t->node[i]), *step = &l->w[t->node[i].depth];
        if (w > LABEL_MOST) w = LABEL_MOST;
        if (w > *step) *step = w;
    }
}

/* The widest steps give a column each until the tree fits into W or none is wider than LEAST. */
static bool shrink(const Tree *t, Layout *l, int w, int least) {
    int all = tree_columns(t, l);
    while (all > w) {
        int widest = 0;
        for (int d = 1; d <= t->depth; d++)
            if (l->w[d] > l->w[widest]) widest = d;
        if (l->w[widest] <= least) return false;
        l->w[widest]--;
        all--;
    }
    return true;
}

/* The step that must show: the cursor's, else the last. */
static int wanted_step(const Tree *t) {
    return t->cursor >= 0 && is_there(t, t->cursor) ? t->node[t->cursor].depth : t->depth;
}

/* Beside the tree: the marks, and as many COLUMNS of numbers as there are and W leaves room for. */
static void set_numbers(const Tree *t, Layout *l, int w, int columns) {
    while (columns > 0 && w < TREE_LEAST + MARKS_W + columns * NUMBER_W) columns--;
    l->columns = columns;
    l->numbers = t->value_label ? MARKS_W + columns * NUMBER_W : 0;
}

/* Three, or as many as leave a blank before the largest number. */
static int decimals_of(const Tree *t) {
    double least = 0;
    for (int i = 0; i < t->nodes; i++) {
        if (isfinite(t->node[i].value)) least = fmin(least, t->node[i].value);
        if (isfinite(t->node[i].truth)) least = fmin(least, t->node[i].truth);
    }
    return least > -99.9995 ? 3 : least > -999.995 ? 2 : 1;
}

/* Where there is much room there are numbers behind the labels too. */
static void set_inner(const Tree *t, Layout *l, int w, int columns) {
    for (int n = columns; n > 0 && l->inner == 0; n--)
        if (tree_columns(t, l) + n * INNER_W * t->depth <= w - l->numbers) l->inner = n;
    for (int d = 1; d <= t->depth; d++) l->w[d] += l->inner * INNER_W;
}

/* Where there is little room the branches move together, then the visits go; then labels are cut, but not far before
 * the numbers go, the truth first; then the marks of what is new, then labels are cut further. */
static void set_room(const Tree *t, Layout *l, int w) {
    int most = !t->value_label ? 0 : t->truth_label ? 2 : 1, columns = most;
    l->visits = l->news = true;
    l->gap = GAP;
    set_widths(t, l);
    set_numbers(t, l, w, columns);
    set_inner(t, l, w, columns);
    if (tree_columns(t, l) <= w - l->numbers) return;
    l->gap = GAP_LEAST;
    if (tree_columns(t, l) <= w - l->numbers) return;
    l->visits = false;
    for (; columns >= 0; columns--) {
        set_widths(t, l);
        set_numbers(t, l, w, columns);
        if (shrink(t, l, w - l->numbers, LABEL_SMALL)) return;
    }
    l->news = false;
    set_widths(t, l);
    if (shrink(t, l, w - l->numbers, LABEL_LEAST)) return;
    l->news = true; /* steps are left out in any case */
    set_widths(t, l);
    set_numbers(t, l, w, most);
}

/* Where each step stands. If not all fit into W those show that end with the one that must, and what of the others has
 * room. */
static void set_columns(const Tree *t, Layout *l, int w) {
    int until = wanted_step(t), used = l->w[until], x = 0;
    bool whole = tree_columns(t, l) <= w;
    for (l->first = whole ? 0 : until; l->first > 0; l->first--) {
        used += l->gap + l->w[l->first - 1];
        if (used + OUT_W > w) break;
    }
    if (l->first > 0) x = OUT_W;
    l->last = until;
    for (int d = 0; d <= t->depth; d++) {
        l->x[d] = d < l->first ? -1 : x;
        if (d < l->first) continue;
        if (x + l->w[d] <= w) l->last = d;
        x += l->w[d] + l->gap;
    }
}

/* The row of the cursor, or of what is best, in the middle where not all fit. */
static void scroll(const Tree *t, Layout *l, int room) {
    int node = t->cursor >= 0 && is_there(t, t->cursor) ? t->cursor
               : t->best >= 0 && is_there(t, t->best)   ? t->best
                                                        : 0;
    l->top = l->place[node].row - room / 2;
    if (l->top > l->rows - room) l->top = l->rows - room;
    if (l->top < 0) l->top = 0;
}

static Layout lay_out(const Canvas *c, const Tree *t) {
    Layout l = {.canvas = c, .decimals = decimals_of(t)};
    int w = c->w, h = c->h;
    size_t steps = (size_t)t->depth + 1;
    l.place = MEM_ARRAY(Place, (size_t)t->nodes);
    l.x = MEM_ARRAY(int, steps);
    l.w = MEM_ARRAY(int, steps);
    choose(t, &l, h - 1);
    link_children(t, &l);
    int row = 0;
    for (int node = l.begin; node >= 0; node = l.place[node].next) row = set_rows(&l, node, row);
    set_room(t, &l, w);
    set_columns(t, &l, w - l.numbers);
    l.beside = l.x[t->depth] + l.w[t->depth];
    if (l.first > 0 || l.last < t->depth || l.beside > w - l.numbers) l.beside = w - l.numbers;
    scroll(t, &l, h - 1);
    return l;
}

static void layout_done(Layout *l) {
    mem_free(l->place);
    mem_free(l->x);
    mem_free(l->w);
}

/* ---- drawing ---- */

static StyleRole role_of(const Tree *t, const Layout *l, int node) {
    TreeState state = draw_tree_state(t, node);
    if (node == t->cursor) return STYLE_CURSOR;
    if (state == TREE_FINISHED) return STYLE_GOOD;
    if (state == TREE_PRUNED || !l->place[node].live) return STYLE_DIM;
    return t->best >= 0 && on_path(t, node, t->best) ? STYLE_STRONG : STYLE_TEXT;
}

static void draw_number(Canvas *c, int right, int y, double value, int decimals, StyleRole role) {
    if (isnan(value)) return;
    Text text = format_fixed(value, decimals);
    canvas_text(c, right - canvas_columns(c, text.s), y, -1, text.s, role, ATTRIBUTE_NONE);
}

static bool is_dim(const Tree *t, const Layout *l, int node) {
    return draw_tree_state(t, node) == TREE_PRUNED || !l->place[node].live;
}

/* The label, and behind it how many pass and what it is worth. */
static void draw_label(Canvas *c, int x, int y, const Tree *t, const Layout *l, int node) {
    const TreeNode *n = &t->node[node];
    bool best = t->best >= 0 && on_path(t, node, t->best), dim = is_dim(t, l, node);
    int w = l->w[n->depth] - l->inner * INNER_W, at = 0;
    char visits[16] = "";
    if (l->visits && n->visits > 0) snprintf(visits, sizeof visits, "·%d", n->visits);
    int behind = canvas_columns(c, visits);
    if (behind > w - 2) behind = 0;
    if (l->news && n->marks & TREE_NEW) at += canvas_text(c, x, y, w, "+", STYLE_WARNING, ATTRIBUTE_BOLD);
    at +=
        canvas_text(c, x + at, y, w - at - behind, n->label, role_of(t, l, node),
                    CANVAS_ELLIPSIS | (n->marks & TREE_GREEDY ? ATTRIBUTE_UNDERLINE : 0) | (best ? ATTRIBUTE_BOLD : 0));
    if (behind) canvas_text(c, x + at, y, behind, visits, STYLE_SERIES_C, ATTRIBUTE_NONE);
    if (l->inner > 0) draw_number(c, x + w + INNER_W, y, n->value, 2, dim ? STYLE_DIM : t->value_role);
    if (l->inner > 1) draw_number(c, x + w + 2 * INNER_W, y, n->truth, 2, dim ? STYLE_DIM : STYLE_TRUTH);
}

/* What the branch shows in a row. */
static uint32_t branch_glyph(bool top, bool bottom, bool child) {
    if (top) return bottom ? 0x2500 : 0x252C;
    if (!child) return 0x2502;
    return bottom ? 0x2514 : 0x251C;
}

/* From column FROM in ROW, where the parent's label ends, to FIRST and the children after it. */
static void draw_branches(Canvas *c, const Tree *t, const Layout *l, int first, int from, int row) {
    int fork = l->x[t->node[first].depth] - 2, last = row;
    if (t->node[first].depth < l->first || t->node[first].depth > l->last) return;
    for (int x = from; x < fork; x++) canvas_put(c, x, row - l->top, 0x2500, STYLE_BORDER, ATTRIBUTE_NONE);
    for (int child = first; child >= 0; child = l->place[child].next) last = l->place[child].row;
    for (int y = row, child = first; y <= last; y++) {
        bool here = l->place[child].row == y;
        canvas_put(c, fork, y - l->top, branch_glyph(y == row, y == last, here), STYLE_BORDER, ATTRIBUTE_NONE);
        if (here) child = l->place[child].next;
    }
}

uint32_t draw_tree_mark(TreeState state) {
    switch (state) {
    case TREE_FINISHED:
        return 0x25CF;
    case TREE_OPEN:
        return 0x25CB;
    case TREE_PRUNED:
        return 0x2702;
    case TREE_KEPT:
        break;
    }
    return 0x2013;
}

/* The mark and the numbers of a leaf at the right edge. */
static void draw_leaf(Canvas *c, const Tree *t, const Layout *l, int node) {
    const TreeNode *n = &t->node[node];
    TreeState state = draw_tree_state(t, node);
    bool dim = is_dim(t, l, node);
    int y = l->place[node].row - l->top, x = l->beside + MARKS_W;
    if (l->numbers == 0) return;
    canvas_put(c, x - 1, y, draw_tree_mark(state), state == TREE_FINISHED ? STYLE_GOOD : STYLE_DIM, ATTRIBUTE_NONE);
    if (l->columns > 0) draw_number(c, x + NUMBER_W, y, n->value, l->decimals, dim ? STYLE_DIM : t->value_role);
    if (l->columns > 1) draw_number(c, x + 2 * NUMBER_W, y, n->truth, l->decimals, dim ? STYLE_DIM : STYLE_TRUTH);
}

/* The number of each step: whole, with a blank before the next one, or not at all. */
static void draw_steps(Canvas *c, const Layout *l) {
    for (int d = l->first > 0 ? l->first : 1; d <= l->last; d++) {
        char number[16];
        int w = snprintf(number, sizeof number, "%d", d);
        if (w < l->w[d] + l->gap) canvas_text(c, l->x[d], 0, w, number, STYLE_DIM, ATTRIBUTE_NONE);
    }
}

/* The steps, what the numbers are, and whether there is more than shows. */
static void draw_head(Canvas *c, const Tree *t, const Layout *l, int room) {
    draw_steps(c, l);
    if (l->first > 0) canvas_put(c, 0, 0, 0x25C2, STYLE_WARNING, ATTRIBUTE_NONE);
    int x = l->beside + MARKS_W;
    if (l->last < t->depth) canvas_put(c, x - 3, 0, 0x25B8, STYLE_WARNING, ATTRIBUTE_NONE);
    if (l->top > 0) canvas_put(c, x - 2, 0, 0x25B4, STYLE_WARNING, ATTRIBUTE_NONE);
    if (l->rows - l->top > room) canvas_put(c, x - 1, 0, 0x25BE, STYLE_WARNING, ATTRIBUTE_NONE);
    if (l->columns > 0)
        canvas_text(c, x + NUMBER_W - canvas_columns(c, t->value_label), 0, -1, t->value_label, t->value_role,
                    ATTRIBUTE_NONE);
    if (l->columns > 1)
        canvas_text(c, x + 2 * NUMBER_W - canvas_columns(c, t->truth_label), 0, -1, t->truth_label, STYLE_TRUTH,
                    ATTRIBUTE_NONE);
}

/* A node with what leads from it to its children. */
static void draw_node(Canvas *c, const Tree *t, const Layout *l, int node) {
    const Place *p = &l->place[node];
    int d = t->node[node].depth;
    if (p->first < 0) draw_leaf(c, t, l, node);
    if (p->first < 0 && d < l->first) /* it ended before what shows */
        canvas_textf(c, 0, p->row - l->top, l->beside, STYLE_DIM, CANVAS_ELLIPSIS, "… %s", t->node[node].label);
    if (d < l->first || d > l->last) return;
    int used = label_columns(l, &t->node[node]);
    if (used > l->w[d] || l->inner > 0) used = l->w[d];
    if (p->first >= 0) draw_branches(c, t, l, p->first, l->x[d] + used + 1, p->row);
    draw_label(c, l->x[d], p->row - l->top, t, l, node);
}

TreeShown draw_tree(Canvas *c, Rect r, const Tree *t) {
    Canvas view = canvas_view(c, r);
    if (view.w < 4 || view.h < 2 || t->depth < 1 || t->nodes < 1) return (TreeShown){0};
    Layout l = lay_out(&view, t);
    draw_head(&view, t, &l, view.h - 1);
    Canvas rows = canvas_view(&view, (Rect){0, 1, view.w, view.h - 1});
    int used = canvas_columns(&view, t->root);
    if (l.first == 0 && l.begin >= 0) {
        draw_branches(&rows, t, &l, l.begin, (used < l.w[0] ? used : l.w[0]) + 1, 0);
        canvas_text(&rows, 0, -l.top, l.w[0], t->root, STYLE_PROMPT, CANVAS_ELLIPSIS);
    }
    for (int i = 0; i < t->nodes; i++)
        if (l.place[i].row >= 0) draw_node(&rows, t, &l, i);
    TreeShown shown = {.hidden = l.hidden, .visits = l.visits};
    layout_done(&l);
    return shown;
}

int draw_tree_legend(Canvas *c, int x, int y, int w, int hidden) {
    int at = canvas_text(c, x, y, w, _("● finished"), STYLE_GOOD, ATTRIBUTE_NONE);
    at += canvas_text(c, x + at, y, w - at, _("  ○ open  – died out  ✂ pruned"), STYLE_DIM, ATTRIBUTE_NONE);
    if (hidden > 0) at += canvas_textf(c, x + at, y, w - at, STYLE_DIM, ATTRIBUTE_NONE, _("  +%d hidden"), hidden);
    return at;
}

int draw_tree_at(const Canvas *c, Rect r, const Tree *t, int x, int y) {
    Canvas view = canvas_view(c, r);
    if (view.w < 4 || view.h < 2 || t->depth < 1 || t->nodes < 1) return -1;
    if (x < r.x || x >= r.x + view.w || y <= r.y || y >= r.y + view.h) return -1;
    Layout l = lay_out(&view, t);
    int found = -1;
    for (int i = 0; i < t->nodes; i++) {
        int d = t->node[i].depth, at = x - r.x - (d < l.first || d > l.last ? view.w : l.x[d]);
        bool here = at >= 0 && at < l.w[d] + l.gap, leaf = l.place[i].first < 0 && x - r.x >= l.beside;
        if (l.place[i].row == y - r.y - 1 + l.top && (here || leaf)) found = i;
    }
    layout_done(&l);
    return found;
}
