/* draw_tree: a tree of tokens, the root on the left, a column for each step, a row for each leaf. A beam search mostly:
 * what was kept goes on to the right, what was pruned ends grey.
 *
 * The first child of a node goes on in its row, so that a sentence is read along a line. Where there are more leaves
 * than rows, those shown are the finished and the open ones, then the beams that died out, the latest first, then the
 * pruned, the likelier of each step first; what is under the cursor always shows. */
#ifndef UI_DRAW_TREE_H
#define UI_DRAW_TREE_H

#include "canvas.h"

#include <stdbool.h>

typedef enum { TREE_OPEN, TREE_KEPT, TREE_PRUNED, TREE_FINISHED } TreeState;

enum { TREE_GREEDY = 1, TREE_NEW = 2 }; /* marks of a node */

typedef struct {
    int parent; /* a lower node; -1: the root */
    int depth;  /* from 1 */
    const char *label;
    TreeState state;
    double value, truth; /* NaN: not known */
    unsigned marks;      /* TREE_GREEDY: underlined; TREE_NEW: a + before it */
    int visits;          /* a number behind the label: samples that pass; 0: none */
} TreeNode;

typedef struct {
    const TreeNode *node; /* parents before children */
    int nodes;
    int depth;        /* as it was after so many steps: what is deeper is not there, and what was kept then is open */
    const char *root; /* what stands before the tree */
    const char *value_label, *truth_label; /* over the numbers of a row; NULL: no such column */
    StyleRole value_role;                  /* STYLE_MODEL, or STYLE_TRUTH when it is the truth's own tree */
    bool bare;                             /* without what was pruned */
    int best;                              /* the path to this node is strong; -1: none */
    int cursor;                            /* -1: none */
} Tree;

typedef struct {
    int hidden;  /* leaves that there was no room for */
    bool visits; /* there was room for how many pass */
} TreeShown;

uint32_t draw_tree_mark(TreeState state); /* the mark of a leaf */
/* Draws the tree below a line that counts the steps. */
TreeShown draw_tree(Canvas *c, Rect r, const Tree *t);
/* One line: what the marks of the leaves mean, and how many leaves are hidden; returns the columns used. */
int draw_tree_legend(Canvas *c, int x, int y, int w, int hidden);
/* The node that draw_tree, called alike, shows at (x, y); -1: none. */
int draw_tree_at(const Canvas *c, Rect r, const Tree *t, int x, int y);
/* What stands in the tree for its state after so many steps: a node that was kept at the last of them is open. */
TreeState draw_tree_state(const Tree *t, int node);

#endif
