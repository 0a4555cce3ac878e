/* attention_kernel: one sequence and one key/value head with the group of query heads that read it.
 *
 * Row i sees the keys from[i] <= j < to[i], and of these only the allowed ones. Short sequences are worked on by vector
 * loops; their weights are kept in [T x stride] per query head, stride a multiple of ATTENTION_PAD, and everything
 * outside what a row sees is exactly 0. Long ones are worked on in blocks of rows by matrix products, and backward
 * makes the weights of a block again, with the same bits, from two numbers that were kept of each row: memory grows
 * with T, not with its square (Dao et al. 2022). Which one depends on T alone. */
#ifndef MODEL_ATTENTION_KERNEL_H
#define MODEL_ATTENTION_KERNEL_H

#include "real.h"

#include <stdbool.h>
#include <stddef.h>

#define ATTENTION_PAD    16
#define ATTENTION_MANY   4 /* steps of a row that is not short */
#define ATTENTION_STAGES 5 /* scores, scaled, softcapped, masked, weights */

typedef struct {
    int T, head_dim, stride;
    const int *from, *to;         /* [T] keys that a row sees */
    const int *row_from, *row_to; /* [T] rows that see a key */
    const unsigned char *allowed; /* [T x T], NULL: all between from and to */
    real scale, softcap;          /* softcap 0: off */
    real *scratch;                /* attention_scratch numbers */
} AttentionSpan;

/* A matrix inside a wider one: row r begins at x + r * ld. */
typedef struct {
    real *x;
    int ld;
} Part;

typedef struct {
    Part q, y;                     /* [T x hd] */
    real *weights, *tanh;          /* attention_kept numbers; tanh of score / cap when the softcap is on, else NULL */
    real *stage[ATTENTION_STAGES]; /* [T x T] each, or NULL */
    bool off;                      /* the output is 0 */
} QueryHead;

/* Numbers from one row of weights to the next: whole steps, and of long sequences an odd number of them, so that the
 * rows of a block do not meet in the same places of the caches. */
static inline int attention_stride(int T) {
    int steps = (T + ATTENTION_PAD - 1) / ATTENTION_PAD;
    return (steps > ATTENTION_MANY && steps % 2 == 0 ? steps + 1 : steps) * ATTENTION_PAD;
}
size_t attention_kept(int T); /* numbers that backward needs of a query head: T x stride weights, or 2 T */
size_t attention_scratch(int T, int head_dim);

/* Prepares SPAN's scratch for query heads that read K: the keys of one key/value head. */
void attention_load_keys(const AttentionSpan *a, Part k);
void attention_forward(const AttentionSpan *a, const QueryHead *h, Part k, Part v);

typedef struct {
    Part dy, dq, dk, dv;      /* x NULL: not wanted */
    bool add_q, add_k, add_v; /* else overwrite */
} HeadGrads;

/* The same for backward: there the values are what rows are multiplied with. */
void attention_load_values(const AttentionSpan *a, Part v);
void attention_backward(const AttentionSpan *a, const QueryHead *h, Part k, Part v, const HeadGrads *g);

#endif
