#include "field.h"

#include "bug.h"
#include "mem.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

Field *field_new(int rank, const int *dim, const char *name_format, ...) {
    BUG_ON(rank < 1 || rank > FIELD_RANK);
    Field *f = MEM_NEW(Field);
    f->rank = rank;
    size_t count = 1;
    for (int i = 0; i < FIELD_RANK; i++) {
        f->dim[i] = i < rank ? dim[i] : 1;
        BUG_ON(f->dim[i] < 0);
        BUG_ON(f->dim[i] > 0 && count > SIZE_MAX / (size_t)f->dim[i]);
        count *= (size_t)f->dim[i];
    }
    va_list args;
    va_start(args, name_format);
    int length = vsnprintf(f->name, sizeof f->name, name_format, args);
    va_end(args);
    BUG_ON(length < 0 || length >= (int)sizeof f->name);
    f->x = MEM_ARRAY(real, count);
    return f;
}

void field_free(Field *f) {
    if (!f) return;
    mem_free(f->x);
    mem_free(f);
}

size_t field_count(const Field *f) {
    size_t count = 1;
    for (int i = 0; i < FIELD_RANK; i++) count *= (size_t)f->dim[i];
    return count;
}

real field_at(const Field *f, int i, int j, int k, int l) {
    const int at[FIELD_RANK] = {i, j, k, l};
    size_t index = 0;
    for (int d = 0; d < FIELD_RANK; d++) {
        BUG_ON(at[d] < 0 || at[d] >= f->dim[d]);
        index = index * (size_t)f->dim[d] + (size_t)at[d];
    }
    return f->x[index];
}

double field_most(const Field *f) {
    double most = 0;
    for (size_t i = 0; i < field_count(f); i++)
        if (isfinite(f->x[i])) most = fmax(most, fabs((double)f->x[i]));
    return most;
}
