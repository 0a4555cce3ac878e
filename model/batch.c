#include "batch.h"

#include "bug.h"
#include "mem.h"

#include <string.h>

void batch_init(Batch *b) {
    *b = (Batch){0};
}

void batch_done(Batch *b) {
    mem_free(b->start);
    mem_free(b->id);
    mem_free(b->target);
    mem_free(b->position);
    mem_free(b->pad);
    *b = (Batch){0};
}

void batch_clear(Batch *b) {
    b->sequences = b->targets = 0;
    mem_free(b->pad);
    b->pad = NULL;
}

static void *grown(void *old, int capacity, size_t size) {
    return mem_resize(old, (size_t)capacity, size);
}

static void make_room(Batch *b, int rows, int sequences) {
    if (rows > b->row_capacity) {
        int capacity = rows > 2 * b->row_capacity ? rows : 2 * b->row_capacity;
        b->id = grown(b->id, capacity, sizeof *b->id);
        b->target = grown(b->target, capacity, sizeof *b->target);
        b->position = grown(b->position, capacity, sizeof *b->position);
        if (b->pad) b->pad = grown(b->pad, capacity, sizeof *b->pad);
        b->row_capacity = capacity;
    }
    if (sequences > b->sequence_capacity) {
        int capacity = sequences > 2 * b->sequence_capacity ? sequences : 2 * b->sequence_capacity;
        b->start = grown(b->start, capacity + 1, sizeof *b->start);
        b->sequence_capacity = capacity;
    }
}

void batch_add(Batch *b, const int *ids, int n, bool with_last) {
    BUG_ON(n < 1);
    int at = batch_rows(b);
    make_room(b, at + n, b->sequences + 1);
    for (int i = 0; i < n; i++) {
        b->id[at + i] = ids[i];
        b->target[at + i] = i + 1 < n || with_last ? ids[i + 1] : TARGET_NONE;
        b->position[at + i] = i;
        if (b->pad) b->pad[at + i] = 0;
    }
    b->targets += with_last ? n : n - 1;
    b->start[b->sequences] = at;
    b->start[++b->sequences] = at + n;
}

void batch_mark_pad(Batch *b, int row) {
    BUG_ON(row < 0 || row >= batch_rows(b));
    if (!b->pad) b->pad = mem_zero((size_t)b->row_capacity, sizeof *b->pad);
    b->pad[row] = 1;
    if (b->target[row] == TARGET_NONE) return;
    b->target[row] = TARGET_NONE;
    b->targets--;
}

int batch_sequence(const Batch *b, int row) {
    int s = 0;
    BUG_ON(row < 0 || row >= batch_rows(b));
    while (b->start[s + 1] <= row) s++;
    return s;
}

void batch_slice(const Batch *b, int from, int to, Batch *slice) {
    BUG_ON(from < 0 || to < from || to > b->sequences);
    int n = to - from, first = from < to ? b->start[from] : 0;
    if (n > slice->sequence_capacity) {
        slice->start = grown(slice->start, n + 1, sizeof *slice->start);
        slice->sequence_capacity = n;
    }
    slice->sequences = n;
    for (int i = 0; i <= n && n > 0; i++) slice->start[i] = b->start[from + i] - first;
    slice->id = b->id + first;
    slice->target = b->target + first;
    slice->position = b->position + first;
    slice->pad = b->pad ? b->pad + first : NULL;
    slice->row_capacity = 0;
    slice->targets = 0;
    for (int r = 0; r < batch_rows(slice); r++) slice->targets += slice->target[r] != TARGET_NONE;
}

void batch_slice_done(Batch *slice) {
    mem_free(slice->start);
    *slice = (Batch){0};
}
