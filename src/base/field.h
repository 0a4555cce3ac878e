/* field: a named array of numbers, rank 1 to 4, row-major: what an observer saw in a tensor. */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include "real.h"

#include <stddef.h>

#define FIELD_RANK 4

typedef struct {
    char name[64];       /* "attention.0.weight" */
    int rank;            /* 1 .. FIELD_RANK */
    int dim[FIELD_RANK]; /* unused ones are 1 */
    real *x;             /* dim[0]*dim[1]*dim[2]*dim[3] numbers, owned */
} Field;

/* Name is printf-like; x is cleared. */
Field *field_new(int rank, const int *dim, const char *name_format, ...) __attribute__((format(printf, 3, 4)));
void field_free(Field *f);
size_t field_count(const Field *f);
/* Index with as many subscripts as the rank has (the rest 0). BUG when outside. */
real field_at(const Field *f, int i, int j, int k, int l);
double field_most(const Field *f); /* the largest |x| among those that are finite; 0: there is none */

#endif
