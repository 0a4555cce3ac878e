/* spread: how far the change of some tokens is felt: two texts of the same length go through the same model side by
 * side, and every state of the residual stream is compared (lecture 4, 6.3: with a window of W, L layers carry a change
 * L(W-1) positions). A state that nothing reaches has the same bits in both: its difference is exactly 0. */
#ifndef DECODE_SPREAD_H
#define DECODE_SPREAD_H

#include "decode/decoder.h"
#include "model.h"

typedef struct {
    const Model *m;
    const ModelTweak *tweak; /* NULL: the model as it is */
    const Decoder *beside;   /* of the same model, whose copy of the parameters is used; NULL: none */
    const int *ids, *other;  /* [n] */
    int n;
    /* Told once for each layer and position, positions rising in every layer: the largest |difference| of the D numbers
     * that the block leaves there. */
    void (*tell)(void *data, int layer, int position, double difference);
    void *data;
} Spread;

/* False: cancel_wanted. The model must take texts of n tokens (decoder_room). */
bool spread_run(const Spread *s);

#endif
