/* batch: sentences packed one after the other: R = sum of lengths rows, no pads. Where a lesson is about padding, a row
 * may be marked as a pad: it is never attended to and has no target. */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "mask.h"

#define TARGET_NONE (-1) /* this row has no target */

typedef struct {
    int sequences;      /* S */
    int *start;         /* [S+1] first row of each sequence; start[S] = rows */
    int *id;            /* [R] input token */
    int *target;        /* [R] next token or TARGET_NONE */
    int *position;      /* [R] absolute position of the token in its sequence, from 0 */
    unsigned char *pad; /* [R] 1: a pad; NULL: no pads at all */
    int targets;        /* rows with a target */
    int row_capacity, sequence_capacity;
} Batch;

void batch_init(Batch *b);
void batch_done(Batch *b);
void batch_clear(Batch *b);
static inline int batch_rows(const Batch *b) {
    return b->sequences ? b->start[b->sequences] : 0;
}
/* Appends ids[0..n-1] as inputs and ids[1..n] as targets when with_last (then ids has n+1 numbers), else the last row
 * has no target. Positions run from 0. */
void batch_add(Batch *b, const int *ids, int n, bool with_last);
/* Marks a row as a pad and takes its target away. The next batch_clear forgets all pads. */
void batch_mark_pad(Batch *b, int row);
/* Whether row QUERY may look at row KEY of the same sentence: no pad, and allowed by the rule. */
static inline bool batch_allows(const Batch *b, const MaskRule *m, int query, int key) {
    return !(b->pad && b->pad[key]) && mask_allows(m, b->position[query], b->position[key]);
}
int batch_sequence(const Batch *b, int row); /* which sentence a row belongs to: rows of others are never looked at */
/* A view of sequences [from, to) of B: shares its memory; start[] is copied into SLICE's own and shifted to 0. SLICE
 * was made by batch_init and by nothing else than this; batch_slice_done gives its start[] back (batch_done would free
 * B's). */
void batch_slice(const Batch *b, int from, int to, Batch *slice);
void batch_slice_done(Batch *slice);

#endif
