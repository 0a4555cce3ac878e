/* cell_sum: the whole arithmetic of one attention cell: from q and k to the weight, stage by stage.
 *
 * The stages are the numbers that the model itself computed, read from the snapshot's fields; nothing is rounded or
 * repaired. Beside them stands an independent recomputation of the row in double from q and k alone, so that the two
 * can be compared. */
#ifndef UI_CELL_SUM_H
#define UI_CELL_SUM_H

#include "reading.h"

typedef struct {
    int layer, head, kv_head, query, key;
    int head_dim, tokens;
    bool masked;        /* hidden: the weight is exactly 0 and was never a candidate */
    double cap;         /* of the scores; 0: none */
    int allowed;        /* keys that this query may look at */
    double dot;         /* q·k, as computed */
    double scaled;      /* dot / sqrt(head_dim) */
    double entered;     /* what entered the softmax: scaled, or soft-capped; -inf when masked */
    double largest;     /* of the row: subtracted before exp */
    double numerator;   /* exp(entered - largest) */
    double denominator; /* sum of numerators over the allowed keys */
    double weight;      /* as computed */
    double again;       /* the weight again, in double from q and k */
    double row_sum;     /* of the weights of this query */
    double entropy;     /* of the row, nats */
} CellSum;

/* False: the snapshot has no attention at that place. */
bool cell_sum(const Snapshot *s, const Cursor *at, CellSum *out);

/* One term of q·k. */
typedef struct {
    double q, k, product, so_far;
} CellTerm;
CellTerm cell_sum_term(const Snapshot *s, const CellSum *c, int i); /* i < head_dim; so_far sums terms 0..i in double */

#endif
