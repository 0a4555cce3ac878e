/* params: all parameters of a model in one flat array with named slices, so that the optimiser, clipping, files and
 * norms are single loops. Gradients and moments use the same offsets. */
#ifndef MODEL_PARAMS_H
#define MODEL_PARAMS_H

#include "real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { INIT_ZERO, INIT_ONE, INIT_NORMAL } InitKind;

typedef struct {
    char name[56];  /* "block0.attention.query.weight" */
    int rows, cols; /* a weight is [out x in], a vector is [1 x n] */
    size_t at;      /* offset in the flat array, in numbers */
    InitKind init;
    double std;  /* INIT_NORMAL */
    bool decay;  /* takes weight decay: matrices do, gains and biases do not */
    bool frozen; /* no gradient, no update */
    double rate; /* learning-rate factor, 1 */
} Slice;

/* Where the numbers of a slice lie: row after row, or column after column. */
typedef struct {
    const real *x;
    int ld;      /* numbers from one row (turned: column) to the next */
    bool turned; /* number (r, c) is x[c * ld + r], else x[r * ld + c] */
} View;

typedef struct {
    Slice *slice;
    int slices, capacity;
    size_t count; /* numbers in all slices */
    real *x;      /* [count], MEM_ALIGN aligned; NULL before params_seal, and of parameters that are only read */
    View *view;   /* [slices] of parameters that are only read, where x is NULL; owned */
    void *owner;  /* of the numbers that the views show; given to release at the end */
    void (*release)(void *owner);
    void (*forget)(void *owner); /* for params_forget; NULL: nothing can be forgotten */
} Params;

void params_init(Params *p);
void params_done(Params *p);
/* Registers a slice and gives its number; only before params_seal. Slices lie one after the other without gaps, in the
 * order of registration. decay is set for matrices (rows > 1), frozen is not, rate is 1: change them in slice[] at any
 * time. */
int params_add(Params *p, const char *name, int rows, int cols, InitKind init, double std);
void params_seal(Params *p);
/* Fills every slice from the stream "init" of SEED; slice by slice, so that equal shapes give equal numbers. */
void params_fill(Params *p, uint64_t seed);
/* Instead of params_seal: the numbers are OWNER's and only read. VIEW [slices] and OWNER pass to P. */
void params_lend(Params *p, View *view, void *owner, void (*release)(void *owner));
View params_view(const Params *p, int slice);
/* Of parameters that lie in a file: its pages may go for now, they come again when they are read. */
void params_forget(const Params *p);
/* Number (r, c) of a slice, wherever it lies. */
real params_number(const Params *p, int slice, int r, int c);
int params_find(const Params *p, const char *name); /* -1: none */
static inline size_t slice_count(const Slice *s) {
    return (size_t)s->rows * (size_t)s->cols;
}
/* A deep copy into TO, which holds nothing yet; it may be changed, wherever the numbers of FROM lie. */
void params_copy(Params *to, const Params *from);
/* Slices first .. first+n-1 have equal columns and equal frozen marks and lie one after the other: they are one matrix.
 */
bool params_adjacent(const Params *p, int first, int n);
/* How the slices of B differ from those of A: by name, then by shape. */
typedef struct {
    int gone, fresh, reshaped; /* only in A; only in B; in both, with other rows or columns */
    Slice a, b;                /* the first of them, as it is in A and in B; rows 0 where it is not */
} ParamsDifference;
/* True: the same names and shapes in the same order, so that numbers and offsets of one serve the other. */
bool params_same(const Params *a, const Params *b, ParamsDifference *out);
uint64_t params_hash(const Params *p); /* of the bits of all numbers */
int params_first_bad(const Params *p); /* the slice with the first number that is not finite; -1: there is none */

#endif
