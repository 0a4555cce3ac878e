#include "beam_list.h"

#include "format.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MARK_W = 2, NUMBER_W = 8, TRUTH_LEAST_W = 34 };

typedef struct {
    int node, class; /* 0: finished and open, 1: died out, 2: pruned */
    double worth;    /* within the class, the larger first */
} Line;

static int by_worth(const void *a, const void *b) {
    const Line *x = a, *y = b;
    if (x->class != y->class) return x->class - y->class;
    if (x->worth != y->worth) return x->worth < y->worth ? 1 : -1;
    return x->node - y->node;
}

/* What lived longest comes first among those that do not compete any more. */
static Line line_of(const BeamReading *r, int node) {
    const TreeNode *n = &r->nodes.node[node];
    TreeState state = draw_tree_state(&r->drawn, node);
    if (state == TREE_FINISHED || state == TREE_OPEN) return (Line){node, 0, beam_score(r, node)};
    return (Line){node, state == TREE_KEPT ? 1 : 2, n->depth + 1 / (2 - n->value)};
}

/* LINE [nodes]; returns how many. */
static int find_lines(const BeamReading *r, Line *line) {
    bool *inner = MEM_ARRAY(bool, (size_t)r->nodes.nodes + 1);
    int n = 0;
    for (int i = 0; i < r->nodes.nodes; i++)
        if (beam_is_shown(r, i) && r->nodes.node[i].parent >= 0) inner[r->nodes.node[i].parent] = true;
    for (int i = 0; i < r->nodes.nodes; i++)
        if (beam_is_shown(r, i) && !inner[i]) line[n++] = line_of(r, i);
    qsort(line, (size_t)n, sizeof *line, by_worth);
    mem_free(inner);
    return n;
}

/* Whether another path goes on with another word where a node stands; [nodes], the caller frees it. */
static bool *find_forks(const BeamReading *r) {
    int n = r->nodes.nodes;
    int *children = MEM_ARRAY(int, (size_t)n + 1); /* of each node; the last: of what stands before the tree */
    bool *forks = MEM_ARRAY(bool, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        int parent = r->nodes.node[i].parent;
        children[parent < 0 ? n : parent] += beam_is_shown(r, i);
    }
    for (int i = 0; i < n; i++) {
        int parent = r->nodes.node[i].parent;
        forks[i] = children[parent < 0 ? n : parent] > 1;
    }
    mem_free(children);
    return forks;
}

/* The words from the root on; those that give way are marks in the line. */
typedef struct {
    const char *word[BEAM_PATH];
    int columns[BEAM_PATH];
    bool forks[BEAM_PATH], left_out[BEAM_PATH];
    int n;
} Path;

static void find_path(const BeamReading *r, const bool *forks, const Canvas *c, int node, Path *p) {
    int n = 0, node_at[BEAM_PATH];
    for (; node >= 0 && n < BEAM_PATH; node = r->nodes.node[node].parent) node_at[n++] = node;
    *p = (Path){.n = n};
    for (int i = 0; i < n; i++) {
        int at = node_at[n - 1 - i];
        p->word[i] = r->nodes.node[at].label;
        p->columns[i] = canvas_columns(c, p->word[i]);
        p->forks[i] = forks[at];
    }
}

/* Whether word I is left out like the one before it: both have one mark. */
static bool is_one_mark(const Path *p, int i) {
    return i > 0 && p->left_out[i] && p->left_out[i - 1];
}

static int path_columns(const Path *p) {
    int columns = 0;
    for (int i = 0; i < p->n; i++)
        if (!is_one_mark(p, i)) columns += (columns > 0) + (p->left_out[i] ? 1 : p->columns[i]);
    return columns;
}

/* The first word that can be spared: one that all paths have here, else the end of a path that ENDS, for its mark says
 * so, else any but the last; -1: none. */
static int spare_word(const Path *p, bool ends) {
    for (int i = 0; i < p->n - 1; i++)
        if (!p->left_out[i] && !p->forks[i]) return i;
    if (ends && p->n > 1 && !p->left_out[p->n - 1]) return p->n - 1;
    for (int i = 0; i < p->n - 1; i++)
        if (!p->left_out[i]) return i;
    return -1;
}

/* "chase … day . </s>" in W columns: where the words are too many those that tell the path from the others stay. */
static void path_words(const BeamReading *r, const bool *forks, const Canvas *c, int node, int w, Str *out) {
    Path p;
    bool ends = draw_tree_state(&r->drawn, node) == TREE_FINISHED;
    find_path(r, forks, c, node, &p);
    for (int i; path_columns(&p) > w && (i = spare_word(&p, ends)) >= 0;) p.left_out[i] = true;
    for (int i = 0; i < p.n; i++)
        if (!is_one_mark(&p, i)) str_addf(out, "%s%s", out->len ? " " : "", p.left_out[i] ? "…" : p.word[i]);
}

static int number_columns(const BeamReading *r, int w) {
    return r->drawn.truth_label && w >= TRUTH_LEAST_W ? 2 : 1;
}

static bool on_cursor(const BeamReading *r, int node) {
    while (node >= 0 && node != r->drawn.cursor) node = r->nodes.node[node].parent;
    return node >= 0;
}

static void draw_line(const BeamReading *r, const bool *forks, Canvas *c, Rect at, int node) {
    const TreeNode *n = &r->nodes.node[node];
    TreeState state = draw_tree_state(&r->drawn, node);
    int numbers = number_columns(r, at.w), words = at.w - MARK_W - numbers * NUMBER_W;
    bool lives = state == TREE_FINISHED || state == TREE_OPEN, best = node == r->drawn.best;
    StyleRole role = on_cursor(r, node) ? STYLE_CURSOR : !lives ? STYLE_DIM : best ? STYLE_STRONG : STYLE_TEXT;
    Str text;
    str_init(&text);
    path_words(r, forks, c, node, words, &text);
    canvas_put(c, at.x, at.y, draw_tree_mark(state), state == TREE_FINISHED ? STYLE_GOOD : STYLE_DIM, ATTRIBUTE_NONE);
    canvas_text(c, at.x + MARK_W, at.y, words, text.s, role,
                CANVAS_ELLIPSIS | (best ? ATTRIBUTE_BOLD : 0) | (n->marks & TREE_GREEDY ? ATTRIBUTE_UNDERLINE : 0));
    str_done(&text);
    int right = at.x + at.w;
    if (numbers > 1) beam_draw_number(c, right, at.y, n->truth, lives ? STYLE_TRUTH : STYLE_DIM), right -= NUMBER_W;
    beam_draw_number(c, right, at.y, n->value, lives ? r->drawn.value_role : STYLE_DIM);
}

static void draw_head(const BeamReading *r, Canvas *c, Rect at) {
    int right = at.x + at.w;
    canvas_textf(c, at.x, at.y, at.w - 2 * NUMBER_W, STYLE_DIM, CANVAS_ELLIPSIS, _("%s … after step %d"), r->root,
                 r->drawn.depth);
    if (number_columns(r, at.w) > 1) {
        canvas_text(c, right - canvas_columns(c, r->drawn.truth_label), at.y, -1, r->drawn.truth_label, STYLE_TRUTH,
                    ATTRIBUTE_NONE);
        right -= NUMBER_W;
    }
    canvas_text(c, right - canvas_columns(c, r->drawn.value_label), at.y, -1, r->drawn.value_label, r->drawn.value_role,
                ATTRIBUTE_NONE);
}

void beam_draw_list(const BeamReading *r, Canvas *c, Rect at) {
    Line *line = MEM_ARRAY(Line, (size_t)r->nodes.nodes + 1);
    bool *forks = find_forks(r);
    int n = find_lines(r, line);
    if (at.h > 0) draw_head(r, c, at);
    for (int i = 0; i < n && i + 1 < at.h; i++)
        draw_line(r, forks, c, (Rect){at.x, at.y + 1 + i, at.w, 1}, line[i].node);
    mem_free(forks);
    mem_free(line);
}

int beam_list_at(const BeamReading *r, Rect at, int y) {
    Line *line = MEM_ARRAY(Line, (size_t)r->nodes.nodes + 1);
    int n = find_lines(r, line), i = y - at.y - 1, node = i >= 0 && i < n && i + 1 < at.h ? line[i].node : -1;
    mem_free(line);
    return node;
}
