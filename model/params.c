#include "params.h"

#include "bug.h"
#include "hash.h"
#include "mem.h"
#include "rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void params_init(Params *p) {
    *p = (Params){0};
}

void params_done(Params *p) {
    mem_free(p->slice);
    mem_free(p->x);
    mem_free(p->view);
    if (p->release) p->release(p->owner);
    *p = (Params){0};
}

int params_add(Params *p, const char *name, int rows, int cols, InitKind init, double std) {
    BUG_ON(p->x || p->view || rows < 1 || cols < 1 || params_find(p, name) >= 0);
    MEM_GROW(p->slice, p->slices, p->capacity);
    Slice *s = &p->slice[p->slices];
    *s = (Slice){.rows = rows, .cols = cols, .at = p->count, .init = init, .std = std, .decay = rows > 1, .rate = 1};
    int length = snprintf(s->name, sizeof s->name, "%s", name);
    BUG_ON(length < 0 || (size_t)length >= sizeof s->name);
    p->count += slice_count(s);
    return p->slices++;
}

void params_seal(Params *p) {
    BUG_ON(p->x || p->view);
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

void params_lend(Params *p, View *view, void *owner, void (*release)(void *owner)) {
    BUG_ON(p->x || p->view);
    p->view = view;
    p->owner = owner;
    p->release = release;
}

View params_view(const Params *p, int slice) {
    const Slice *s = &p->slice[slice];
    return p->view ? p->view[slice] : (View){.x = p->x + s->at, .ld = s->cols};
}

real params_number(const Params *p, int slice, int r, int c) {
    View v = params_view(p, slice);
    return v.turned ? v.x[(size_t)c * (size_t)v.ld + (size_t)r] : v.x[(size_t)r * (size_t)v.ld + (size_t)c];
}

static void gather(const Params *p, int slice, real *to) {
    for (int r = 0; r < p->slice[slice].rows; r++)
        for (int c = 0; c < p->slice[slice].cols; c++) *to++ = params_number(p, slice, r, c);
}

void params_copy(Params *to, const Params *from) {
    BUG_ON(to->slice || to->x || (!from->x && !from->view));
    *to = (Params){.slices = from->slices, .capacity = from->slices, .count = from->count};
    to->slice = MEM_ARRAY(Slice, (size_t)from->slices);
    memcpy(to->slice, from->slice, (size_t)from->slices * sizeof *to->slice);
    to->x = mem_aligned(from->count, sizeof *to->x);
    if (from->x) memcpy(to->x, from->x, from->count * sizeof *to->x);
    for (int i = 0; !from->x && i < from->slices; i++) gather(from, i, to->x + from->slice[i].at);
}

int params_find(const Params *p, const char *name) {
    for (int i = 0; i < p->slices; i++)
        if (strcmp(p->slice[i].name, name) == 0) return i;
    return -1;
}

bool params_adjacent(const Params *p, int first, int n) {
    if (first < 0 || first + n > p->slices || p->view) return false;
    for (int i = first; i + 1 < first + n; i++)
        if (p->slice[i].cols != p->slice[i + 1].cols || p->slice[i].frozen != p->slice[i + 1].frozen) return false;
    return true;
}

static bool same_shape(const Slice *a, const Slice *b) {
    return a->rows == b->rows && a->cols == b->cols;
}

/* The first difference is kept. */
static void note_difference(ParamsDifference *d, const Slice *a, const Slice *b) {
    if (d->gone + d->fresh + d->reshaped == 0) {
        if (a) d->a = *a;
        if (b) d->b = *b;
    }
    if (a && b)
        d->reshaped++;
    else if (a)
        d->gone++;
    else
        d->fresh++;
}

bool params_same(const Params *a, const Params *b, ParamsDifference *out) {
    *out = (ParamsDifference){0};
    bool order = a->slices == b->slices;
    for (int i = 0; i < a->slices; i++) {
        int at = params_find(b, a->slice[i].name);
        if (at < 0 || !same_shape(&a->slice[i], &b->slice[at]))
            note_difference(out, &a->slice[i], at < 0 ? NULL : &b->slice[at]);
        order = order && at == i;
    }
    for (int i = 0; i < b->slices; i++)
        if (params_find(a, b->slice[i].name) < 0) note_difference(out, NULL, &b->slice[i]);
    return order && out->gone + out->fresh + out->reshaped == 0;
}

uint64_t params_hash(const Params *p) {
    uint64_t h = HASH_START;
    if (p->x) return hash_bytes(h, p->x, p->count * sizeof *p->x);
    for (int i = 0; i < p->slices; i++) { /* row by row, as they would lie in x */
        size_t n = slice_count(&p->slice[i]);
        real *numbers = mem_alloc(n * sizeof *numbers);
        gather(p, i, numbers);
        h = hash_bytes(h, numbers, n * sizeof *numbers);
        mem_free(numbers);
    }
    return h;
}

int params_first_bad(const Params *p) {
    for (int i = 0; i < p->slices; i++)
        for (int r = 0; r < p->slice[i].rows; r++)
            for (int c = 0; c < p->slice[i].cols; c++)
                if (!isfinite(params_number(p, i, r, c))) return i;
    return -1;
}

void params_forget(const Params *p) {
    if (p->forget) p->forget(p->owner);
}
