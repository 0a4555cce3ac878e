/* observe_rope: what positions do to queries and keys, as tables made from a snapshot's fields: what the rope pane
 * draws and what it exports. Everything is of the live model's own vectors; what it would be with another base, pairing
 * or formula is worked out in double from the queries and keys before they are turned.
 *
 * The observer `rope` puts these into the snapshot (with the fields of `attention`):
 *   table rope: kind,base,scaling,pairing,head_dim,farthest,shift (one row; base, scaling and pairing only with RoPE;
 *   shift empty where the model has no room for later positions)
 *   fields rope.{l}.shifted [H T T]: the scores of a second pass with every token `shift` positions later
 *   fields rope.cosine [N N] and rope.length [N]: of the vectors that the model adds (learned, sinusoid) */
#ifndef LAB_OBSERVE_ROPE_H
#define LAB_OBSERVE_ROPE_H

#include "snapshot.h"

typedef enum {
    ROPE_TURNED, /* q by its position, k by its own */
    ROPE_SINGLE, /* the same, every pair by one radian a token */
    ROPE_WRONG,  /* both by the distance (lecture 4, 4.3) */
    ROPE_NONE,   /* not at all */
    ROPE_FORMULAS,
} RopeFormula;

extern const char *const observe_rope_formulas[ROPE_FORMULAS]; /* rope, single, wrong, none */

typedef struct {
    int layer, head, query, key;
    double base; /* 0: the model's */
    int pairing; /* -1: the model's; 0: adjacent, 1: half */
    RopeFormula formula;
    long shift; /* q and k stand so many tokens later, both */
} RopeLook;

typedef struct {
    const char *kind; /* of the model's positions: none, learned, sinusoid, rope; borrowed */
    double base;      /* of the model; NaN without RoPE */
    char scaling[96]; /* of the model, as text (rope_scaling.h); "none" without RoPE */
    bool half;        /* the model's pairing */
    int head_dim;
    long farthest; /* of table distance */
    long shift;    /* of the second pass; 0: there is none */
} PositionFacts;

/* False: the snapshot does not say. */
bool observe_positions(const Snapshot *s, PositionFacts *out);

/* NULL: there is no RoPE in the snapshot, or no such cell. Angles in radians, scores are q.k, not divided.
 * hands:    pair,radians_per_token,period_tokens,query_angle,key_angle
 * vectors:  which,index,pair,before,after,engine (q, k, v; engine: what the model itself works with; v is not turned)
 * distance: distance,score,model_score (the same q and k at every distance from 0; model_score as the model is) */
Table *observe_rope_hands(const Snapshot *s, const RopeLook *look);
Table *observe_rope_vectors(const Snapshot *s, const RopeLook *look);
Table *observe_rope_distance(const Snapshot *s, const RopeLook *look);
/* shift: scheme,t,j,score,t_shifted,j_shifted,score_shifted,difference. Row engine is what the model computed, in its
 * own passes; the formulas follow when it has RoPE, with the base and pairing of LOOK. NULL: no attention. */
Table *observe_rope_shift(const Snapshot *s, const RopeLook *look);
/* similarity: a,b,cosine of the vectors that the model adds. NULL: it adds none. */
Table *observe_rope_similarity(const Snapshot *s);

#endif
