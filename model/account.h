/* account: what a configuration costs, counted from its description without building it: parameters, floating-point
 * operations, numbers that must be kept (seminar 3, section 11; lecture 3, 4.5).
 *
 * Counts are exact. What does not fit is ACCOUNT_TOO_MANY, and so is every sum and product with it. CONFIG was checked
 * by config_check_shape. */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H

#include "config.h"

#include <limits.h>

typedef long long Count; /* >= 0 */
#define ACCOUNT_TOO_MANY LLONG_MAX

Count account_add(Count a, Count b);
Count account_times(Count a, Count b);
/* Bytes of so many values of BITS bits each; a part of a byte counts as one. */
Count account_bytes(Count values, int bits);

/* The same sums as model_count and the slices of model.h: attention with its query and key norms, output 0 when tied.
 */
typedef struct {
    Count token_embedding, position_embedding, attention, feed_forward, norm, output, total;
} ParameterAccount;
ParameterAccount account_parameters(const ModelConfig *c);

/* Which scores of the T x T square are worked out in each layer. */
typedef enum {
    ACCOUNT_ALL_SCORES,     /* all, hidden ones included: as a plain product does it, and as the seminar counts */
    ACCOUNT_ALLOWED_SCORES, /* those that the causal mask and the layer's window leave */
} AccountScores;
/* Pairs of query and key in T tokens that a causal mask with WINDOW (0: none) leaves. */
Count account_allowed(Count T, Count window);

/* Forward pass of BATCH sequences of T tokens: matrix products alone, 2 m n k each. Everything else (norms, softmax,
 * activations, the embedding's look-up) is left out. */
typedef struct {
    Count projections;  /* q, k, v and the output of attention */
    Count core;         /* q k^T and weights v */
    Count feed_forward; /* two or three matrices */
    Count output;       /* the head over the vocabulary */
    Count total;
} FlopAccount;
FlopAccount account_flops(const ModelConfig *c, Count T, Count batch, AccountScores scores);

/* Values that a training step of BATCH sequences of T tokens keeps from forward to backward. A row has, in every layer,
 * the output of each norm and of each matrix, q and k after their norms, the mix of attention, and the feed-forward's
 * inner values (activation, and gate times up); behind the last, the final norm, the logits and their probabilities. */
typedef struct {
    Count square; /* H T^2 in each layer: scores and weights (with a softcap also tanh) */
    Count rows;   /* all that grows with T alone */
    Count total;
} ActivationAccount;
ActivationAccount account_activations(const ModelConfig *c, Count T, Count batch);

/* Values of keys and values for one sequence of T tokens, all layers: everything kept. */
Count account_cache(const ModelConfig *c, Count T);
/* The same when a layer with a window keeps the tokens in its window alone (Mistral's rolling buffer). */
Count account_rolling_cache(const ModelConfig *c, Count T);

#endif
