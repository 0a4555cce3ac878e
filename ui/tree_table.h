/* tree_table: a table of nodes as a tree to draw: columns node, parent (empty: after the root), depth, id, score and
 * state (open, kept, pruned, finished), a row per node in their order, as decode.beam makes it. */
#ifndef UI_TREE_TABLE_H
#define UI_TREE_TABLE_H

#include "draw_tree.h"
#include "table.h"

typedef struct {
    TreeNode *node; /* [nodes] labels are borrowed from the table or from `unnamed` */
    char (*unnamed)[16];
    int nodes, depth; /* depth: of the deepest */
    int best;         /* the finished node with the best score; when none is finished the open one; -1: none */
} TreeTable;

/* False when T is no such table or has no row. LABEL, VALUE and TRUTH (NULL: none) are columns. */
bool tree_table_read(TreeTable *out, const Table *t, const char *label, const char *value, const char *truth);
void tree_table_done(TreeTable *t);

#endif
