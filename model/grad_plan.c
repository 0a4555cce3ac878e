#include "grad_plan.h"

#include "bug.h"
#include "mem.h"

/* The smallest free room that is large enough, or new room at the end. */
static int take(Tape *t, size_t numbers) {
    int best = -1;
    for (int i = 0; i < t->rooms; i++) {
        const GradRoom *r = &t->room[i];
        if (r->taken || r->numbers < numbers) continue;
        if (best < 0 || r->numbers < t->room[best].numbers) best = i;
    }
    if (best < 0) {
        MEM_GROW(t->room, t->rooms, t->room_capacity);
        t->room[t->rooms] = (GradRoom){.at = t->grad_used, .numbers = numbers};
        t->grad_used += numbers;
        best = t->rooms++;
    }
    t->room[best].taken = true;
    return best;
}

/* Part or whole, the room is the whole's. */
static void place(Tape *t, Vid v) {
    Value *value = &t->value[v], *whole = &t->value[value->whole];
    if (whole->room < 0) {
        whole->room = take(t, op_aligned((size_t)whole->rows * (size_t)whole->ld));
        whole->grad = t->room[whole->room].at;
    }
    value->grad = whole->grad + (size_t)value->column;
    value->planned = true;
}

void grad_plan(Tape *t, Vid loss) {
    t->rooms = 0;
    t->grad_used = 0;
    for (Vid v = 0; v < t->values; v++) {
        t->value[v].planned = false;
        t->value[v].room = -1;
    }
    place(t, loss);
    for (int i = t->nodes - 1; i >= 0; i--) {
        const Node *n = &t->node[i];
        bool reached = false;
        for (int k = 0; k < n->outputs; k++) reached = reached || t->value[n->out[k]].planned;
        if (!reached) continue;
        for (int k = 0; k < n->outputs; k++) place(t, n->out[k]); /* a part that nobody used is cleared there */
        for (int k = 0; k < NODE_INPUTS; k++)
            if (n->in[k] != VID_NONE && t->value[n->in[k]].wants_grad) place(t, n->in[k]);
        if (t->mode != TAPE_PROBE) t->room[t->value[t->value[n->out[0]].whole].room].taken = false;
    }
}
