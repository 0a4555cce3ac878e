/* window_kernel: causal attention of one head over a sliding window, made in three ways that give the same numbers
 * (Beltagy et al. 2020; lecture 4, 6.2).
 *
 *   masked  every score of the T x T matrix, then the mask: nothing is saved, in time or in room
 *   loop    one query at a time, only the scores that it needs: the least work, in T small pieces
 *   chunks  W queries at a time against their own W keys and the W before: at most 2 W scores a query, in products of
 *           matrices. A chunk is worked through in strips of queries; blocks of 16 keys that a whole strip is too far
 *           from, or too early for, are left out
 *
 * The window counts the query itself. For lessons and measurements; the engine's own attention is attention_kernel. */
#ifndef MODEL_WINDOW_KERNEL_H
#define MODEL_WINDOW_KERNEL_H

#include "real.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum { WINDOW_MASKED, WINDOW_LOOP, WINDOW_CHUNKS, WINDOW_METHODS } WindowMethod;

typedef struct {
    int T, d, window;      /* all >= 1; scores are q k / sqrt(d) */
    const real *q, *k, *v; /* [T x d] */
    real *y;               /* [T x d] softmax(scores within the window) v */
} WindowAttention;

/* Queries [row, row + rows) against keys [key, key + keys): scores that are worked out together. */
typedef struct {
    int row, rows, key, keys;
} WindowTile;

const char *window_method_name(WindowMethod m); /* "masked" */
/* The tile of a method that begins with query ROW; the next begins at row + rows. */
WindowTile window_tile(WindowMethod m, int T, int window, int row);
/* Scores that the method works out: those of its tiles. */
long long window_scores(WindowMethod m, int T, int window);
/* Numbers that the method holds besides q, k, v and y. */
size_t window_scratch(WindowMethod m, int T, int d, int window);
/* False: cancel_wanted, and Y is not complete. SCRATCH: window_scratch numbers, any content. */
bool window_attend(WindowMethod m, const WindowAttention *a, real *scratch);
/* What row ROW of Y should be, worked out in double from the definition: y [d]; SCRATCH: window numbers. */
void window_define(const WindowAttention *a, int row, double *y, double *scratch);

#endif
