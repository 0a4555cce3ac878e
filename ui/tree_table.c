#include "tree_table.h"

#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    TreeState state;
} states[] = {{"open", TREE_OPEN}, {"kept", TREE_KEPT}, {"pruned", TREE_PRUNED}, {"finished", TREE_FINISHED}};

static TreeState state_named(const char *name) {
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!strcmp(states[i].name, name)) return states[i].state;
    return TREE_PRUNED;
}

static double number_at(const Table *t, long row, int column) {
    return column >= 0 ? table_real(t, row, column) : (double)NAN;
}

/* A token without a name is its id. */
static const char *label_at(const Table *t, long row, int label, int id, char unnamed[16]) {
    if (!table_is_empty(t, row, label) && table_text_bytes(t, row, label) > 0) return table_text(t, row, label);
    snprintf(unnamed, 16, "#%lld", id >= 0 ? table_int(t, row, id) : (long long)row);
    return unnamed;
}

/* Whether A is better than B: finished before open, then by score; of equals the lower. */
static bool is_better(const TreeTable *out, const Table *t, int score, int a, int b) {
    if (b < 0) return true;
    TreeState x = out->node[a].state, y = out->node[b].state;
    if (x != y) return x == TREE_FINISHED;
    return number_at(t, a, score) > number_at(t, b, score);
}

bool tree_table_read(TreeTable *out, const Table *t, const char *label, const char *value, const char *truth) {
    *out = (TreeTable){.best = -1};
    if (!t || table_rows(t) == 0) return false;
    int parent = table_find(t, "parent"), depth = table_find(t, "depth"), state = table_find(t, "state");
    int name = table_find(t, label), x = table_find(t, value), y = truth ? table_find(t, truth) : -1;
    int id = table_find(t, "id"), score = table_find(t, "score");
    if (parent < 0 || depth < 0 || state < 0 || name < 0) return false;
    out->nodes = (int)table_rows(t);
    out->node = MEM_ARRAY(TreeNode, (size_t)out->nodes);
    out->unnamed = mem_zero((size_t)out->nodes, sizeof *out->unnamed);
    for (int i = 0; i < out->nodes; i++) {
        TreeNode *n = &out->node[i];
        *n = (TreeNode){.parent = table_is_empty(t, i, parent) ? -1 : (int)table_int(t, i, parent),
                        .depth = (int)table_int(t, i, depth),
                        .label = label_at(t, i, name, id, out->unnamed[i]),
                        .state = state_named(table_text(t, i, state)),
                        .value = number_at(t, i, x),
                        .truth = number_at(t, i, y)};
        if (n->depth > out->depth) out->depth = n->depth;
        if ((n->state == TREE_FINISHED || n->state == TREE_OPEN) && is_better(out, t, score, i, out->best))
            out->best = i;
    }
    return true;
}

void tree_table_done(TreeTable *t) {
    mem_free(t->node);
    mem_free(t->unnamed);
    *t = (TreeTable){.best = -1};
}
