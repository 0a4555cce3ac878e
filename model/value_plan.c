#include "value_plan.h"

#include "mem.h"

/* Of a whole matrix: the nodes between which it must stand, and where. */
typedef struct ValueLife {
    int first, last; /* who writes it, who reads it last; first -1: nobody writes it */
    size_t at, numbers;
} Life;

static void live_at(Life *l, int node) {
    if (l->first < 0) l->first = node;
    l->last = node;
}

/* In the tape's room for them, so that a pass that comes again allocates nothing. */
static Life *lives_of(Tape *t) {
    if (t->values > t->life_capacity) {
        t->life_capacity = t->values;
        t->life = mem_resize(t->life, (size_t)t->values, sizeof *t->life);
    }
    Life *life = t->life;
    for (int v = 0; v < t->values; v++)
        life[v] = (Life){.first = -1, .numbers = op_aligned((size_t)t->value[v].rows * (size_t)t->value[v].ld)};
    for (int i = 0; i < t->nodes; i++) {
        const Node *n = &t->node[i];
        for (int k = 0; k < n->outputs; k++) live_at(&life[t->value[n->out[k]].whole], i);
        for (int k = 0; k < NODE_INPUTS; k++)
            if (n->in[k] != VID_NONE) live_at(&life[t->value[n->in[k]].whole], i);
    }
    if (t->values > 0) life[t->value[t->values - 1].whole].last = t->nodes;
    return life;
}

/* The lowest room from FROM on that none of life[0 .. v-1] needs while V lives; they began earlier. */
static size_t room_for(const Life *life, int v, size_t from) {
    size_t at = from;
    for (int u = 0; u < v; u++) {
        bool together = life[u].first >= 0 && life[u].last >= life[v].first;
        if (!together || life[u].at >= at + life[v].numbers || at >= life[u].at + life[u].numbers) continue;
        at = life[u].at + life[u].numbers;
        u = -1; /* once more from the beginning */
    }
    return at;
}

size_t value_plan(Tape *t) {
    Life *life = lives_of(t);
    size_t end = t->used;
    for (int v = 0; v < t->values; v++) {
        if (t->value[v].whole != v) life[v].first = -1; /* a part lies where its whole lies */
        if (life[v].first < 0) continue;
        life[v].at = room_for(life, v, t->used);
        if (life[v].at + life[v].numbers > end) end = life[v].at + life[v].numbers;
    }
    for (int v = 0; v < t->values; v++) t->value[v].x = life[t->value[v].whole].at + (size_t)t->value[v].column;
    return end;
}
