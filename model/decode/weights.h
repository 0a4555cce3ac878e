/* weights: a copy of a model's parameters, laid out for decoding: query|key|value and gate|up are one packed matrix
 * each. Of a model whose parameters are only read there is no copy: they are used where they lie. What the model does
 * not have is empty (gain NULL). */
#ifndef DECODE_WEIGHTS_H
#define DECODE_WEIGHTS_H

#include "decode/matrix.h"
#include "model.h"

typedef struct {
    const real *gain, *bias; /* NULL: none */
} NormWeights;

typedef struct {
    NormWeights norm1, norm2;         /* [D]; names as in the model */
    NormWeights norm1_out, norm2_out; /* [D] */
    NormWeights query_norm, key_norm; /* [hd] */
    Matrix qkv, out;                  /* [(H + 2 Hkv) hd x D], [D x H hd] */
    Matrix up, down;                  /* [F x D], gated [2F x D]: gate, then up; [D x F] */
} BlockWeights;

typedef struct Weights Weights;

Weights *weights_new(const Model *m); /* M is borrowed */
void weights_free(Weights *w);
void weights_refresh(Weights *w); /* takes the model's numbers as they are now */

/* Of parameters that lie in a file and are used there: the pages of each layer, and of the head, may go as soon as it
 * was used, so that a pass needs room for one of them and not for the file. Slower: they come again with the next pass.
 */
void weights_set_forgetful(Weights *w, bool on);
void weights_used(const Weights *w);            /* a layer was, or the head */
bool weights_shares(const Weights *w);          /* its products can be shared by threads */
const real *weights_token(const Weights *w);    /* [V x D] */
const real *weights_position(const Weights *w); /* [context x D] or NULL */
const BlockWeights *weights_block(const Weights *w, int layer);
NormWeights weights_final_norm(const Weights *w);
const Matrix *weights_head(const Weights *w); /* [V x D] */

#endif
