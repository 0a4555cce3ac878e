#include "params.h"

#include "bug.h"
#include "hash.h"
#include "mem.h"
#include "rng.h"

#include <stdio.h>
#include <string.h>

void params_init(Params *p) {
    *p = (Params){0};
}

void params_done(Params *p) {
    mem_free(p->slice);
    mem_free(p->x);
    *p = (Params){0};
}

int params_add(Params *p, const char *name, int rows, int cols, InitKind init, double std) {
    BUG_ON(p->x || rows < 1 || cols < 1 || params_find(p, name) >= 0);
    MEM_GROW(p->slice, p->slices, p->capacity);
    Slice *s = &p->slice[p->slices];
    *s = (Slice){.rows = rows, .cols = cols, .at = p->count, .init = init, .std = std, .decay = rows > 1, .rate = 1};
    int length = snprintf(s->name, sizeof s->name, "%s", name);
    BUG_ON(length < 0 || (size_t)length >= sizeof s->name);
    p->count += slice_count(s);
    return p->slices++;
}

void params_seal(Params *p) {
    BUG_ON(p->x);
    p->x = mem_aligned(p->count, sizeof *p->x);
}

static void fill_slice(real *x, const Slice *s, uint64_t seed, uint64_t number) {
    Rng rng = rng_at(seed, "init", number);
    for (size_t i = 0; i < slice_count(s); i++) {
        switch (s->init) {
        case INIT_ZERO:
            x[i] = 0;
            break;
        case INIT_ONE:
            x[i] = 1;
            break;
        case INIT_NORMAL:
            x[i] = (real)(s->std * rng_normal(&rng));
            break;
        }
    }
}

void params_fill(Params *p, uint64_t seed) {
    BUG_ON(!p->x);
    for (int i = 0; i < p->slices; i++) fill_slice(p->x + p->slice[i].at, &p->slice[i], seed, (uint64_t)i);
}

void params_copy(Params *to, const Params *from) {
    BUG_ON(to->slice || to->x || !from->x);
    *to = *from;
    to->capacity = from->slices;
    to->slice = MEM_ARRAY(Slice, (size_t)from->slices);
    memcpy(to->slice, from->slice, (size_t)from->slices * sizeof *to->slice);
    to->x = mem_aligned(from->count, sizeof *to->x);
    memcpy(to->x, from->x, from->count * sizeof *to->x);
}

int params_find(const Params *p, const char *name) {
    for (int i = 0; i < p->slices; i++)
        if (strcmp(p->slice[i].name, name) == 0) return i;
    return -1;
}

bool params_adjacent(const Params *p, int first, int n) {
    if (first < 0 || first + n > p->slices) return false;
    for (int i = first; i + 1 < first + n; i++)
        if (p->slice[i].cols != p->slice[i + 1].cols || p->slice[i].frozen != p->slice[i + 1].frozen) return false;
    return true;
}

uint64_t params_hash(const Params *p) {
    return hash_bytes(HASH_START, p->x, p->count * sizeof *p->x);
}
