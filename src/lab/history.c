#include "history.h"

#include "bug.h"
#include "mem.h"

enum { HISTORY_SPACING = 32 }; /* steps; a replay of so many is not felt, and new memory takes its time, too */

struct History {
    size_t limit;
    long spacing;
    RunMemory *memory; /* by rising step */
    long *step;        /* of each */
    int count, capacity, step_capacity;
};

History *history_new(size_t limit_bytes) {
    History *h = MEM_NEW(History);
    h->limit = limit_bytes;
    h->spacing = HISTORY_SPACING;
    return h;
}

void history_set_limit(History *h, size_t limit_bytes) {
    h->limit = limit_bytes;
}

void history_free(History *h) {
    if (!h) return;
    for (int i = 0; i < h->count; i++) run_memory_done(&h->memory[i]);
    mem_free(h->memory);
    mem_free(h->step);
    mem_free(h);
}

static size_t memory_bytes(const RunMemory *m) {
    return sizeof *m + 3 * m->count * sizeof(real);
}

size_t history_bytes(const History *h) {
    size_t sum = 0;
    for (int i = 0; i < h->count; i++) sum += memory_bytes(&h->memory[i]);
    return sum;
}

long history_spacing(const History *h) {
    return h->spacing;
}

int history_kept(const History *h, const long **steps) {
    *steps = h->step;
    return h->count;
}

/* Doubles the spacing; the first stays. */
static void thin_out(History *h) {
    h->spacing *= 2;
    int kept = 1;
    for (int i = 1; i < h->count; i++) {
        if (h->step[i] % h->spacing != 0) {
            run_memory_done(&h->memory[i]);
            continue;
        }
        h->memory[kept] = h->memory[i];
        h->step[kept++] = h->step[i];
    }
    h->count = kept;
}

/* Whether another memory as large as the first fits, after thinning out as often as that may help. */
static bool make_room(History *h) {
    size_t each = memory_bytes(&h->memory[0]);
    while (history_bytes(h) + each > h->limit && h->count > 1) thin_out(h);
    return history_bytes(h) + each <= h->limit;
}

void history_keep(History *h, const Run *r) {
    if (!run_keeps_past(r)) return;
    long step = run_done(r);
    if (h->count > 0) {
        if (step % h->spacing != 0 || step <= h->step[h->count - 1] || !make_room(h)) return;
        if (step % h->spacing != 0) return; /* the spacing grew */
    }
    MEM_GROW(h->memory, h->count, h->capacity);
    MEM_GROW(h->step, h->count, h->step_capacity);
    h->memory[h->count] = (RunMemory){0};
    run_remember(r, &h->memory[h->count]);
    h->step[h->count++] = step;
}

const RunMemory *history_nearest(const History *h, long step) {
    int i = h->count;
    while (i > 0 && h->step[i - 1] > step) i--;
    return i > 0 ? &h->memory[i - 1] : NULL;
}

void history_forget_after(History *h, long step) {
    while (h->count > 1 && h->step[h->count - 1] > step) run_memory_done(&h->memory[--h->count]);
    BUG_ON(h->count == 1 && h->step[0] > step);
}
