/* tape: a recorded sequence of coarse operations. A builder appends nodes; forward walks up, backward walks down.
 *
 * Every value is a matrix [rows x cols], rows = tokens of the batch (or sequences). Recording only reserves room;
 * memory is kept from one recording to the next, so a training step allocates nothing once the largest batch has been
 * seen. Gradients: the last recorded user of a value writes its gradient first, the others add. */
#ifndef MODEL_TAPE_H
#define MODEL_TAPE_H

#include "batch.h"
#include "config.h"
#include "mask.h"
#include "params.h"

typedef struct Tape Tape;
typedef int Vid; /* a value on the tape; VID_NONE: no value */
#define VID_NONE   (-1)
#define SLICE_NONE (-1)

typedef enum {
    TAPE_TRAIN, /* keeps what backward needs; dropout is on */
    TAPE_EVAL,  /* forward only: keeps every value and nothing else */
    TAPE_PROBE, /* forward and backward, keeps every stage of every node, for looking at */
} TapeMode;

Tape *tape_new(TapeMode mode);
void tape_free(Tape *t);
/* Forgets the nodes. PARAMS and BATCH are borrowed until the next beginning. SEED and STEP feed dropout's stream. */
void tape_begin(Tape *t, const Params *params, const Batch *batch, uint64_t seed, uint64_t step);
/* The same on a tape for tests or a probe, of a recording that needs little room: a value whose readers have all run
 * gives its room to others, and nothing is kept for backward or inside attention. It is run by tape_forward, any number
 * of times, and by nothing else. SEEN (NULL: nobody) is told of each node when its outputs stand and its inputs still
 * do; after a pass only the last value stands. DATA is SEEN's, and must live as long as passes are run. The next
 * beginning is as its own call says. */
typedef void TapeSeen(void *data, const Tape *t, int node);
void tape_begin_lean(Tape *t, const Params *params, const Batch *batch, TapeSeen *seen, void *data);

/* --- recording; each returns the output value. Slices are numbers of params_add or SLICE_NONE. --- */
typedef enum { EMBED_TOKEN, EMBED_POSITION } EmbedBy;
typedef enum { ACT_RELU, ACT_GELU, ACT_GELU_TANH, ACT_SILU, ACT_SQUARED_RELU, ACT_TANH, ACT_SIGMOID } ActKind;
typedef struct {
    int heads, kv_heads, head_dim; /* H, Hkv, hd */
    MaskRule mask;
    double softcap;                /* 0: off */
    const unsigned char *head_off; /* [heads] 1: this head's output is zero; NULL: all on; borrowed */
} AttentionShape;

Vid tape_embed(Tape *t, int slice, EmbedBy by);        /* [R x D] rows of a table */
Vid tape_sinusoid(Tape *t, int cols);                  /* [R x D] fixed positions (Vaswani et al. 2017) */
Vid tape_linear(Tape *t, Vid x, int weight, int bias); /* y = x W^T + b, W [out x in] */
/* PARTS (at most 3) linear maps of one x, weights in slices weight, weight+1, .. and biases likewise: out[i] = x W_i^T
 * + b_i. On training tapes this is one product and the outputs are columns of one matrix; a probe tape has a node for
 * each. Name the outputs with tape_name_value. */
void tape_linear_parts(Tape *t, Vid x, int weight, int bias, int parts, Vid *out);
Vid tape_norm(Tape *t, Vid x, NormKind kind, int gain, int bias, int group,
              double eps); /* over groups of `group` columns (0: the row) */
/* Turns each head by its row's position. */
Vid tape_rope(Tape *t, Vid x, int head_dim, double base, const RopeScaling *scaling, Pairing pairing);
Vid tape_attention(Tape *t, Vid q, Vid k, Vid v, const AttentionShape *shape); /* q, k, v: three different values */
Vid tape_act(Tape *t, Vid x, ActKind kind);
Vid tape_glu(Tape *t, Vid gate, Vid up, ActKind kind); /* act(gate) * up; two different values */
Vid tape_add(Tape *t, Vid a, Vid b);
Vid tape_scale(Tape *t, Vid x, double factor);
Vid tape_softcap(Tape *t, Vid x, double cap); /* cap tanh(x / cap) */
Vid tape_dropout(Tape *t, Vid x, double p);
Vid tape_rows(Tape *t, Vid x, const int *rows, int n); /* gather; ROWS is copied */
Vid tape_stop(Tape *t, Vid x);                         /* no gradient passes */
/* Mean cross-entropy in nats over the rows that have a target, + z_loss * mean (log Z)^2. [1 x 1]; LOGITS has a row for
 * each row of the batch. DENOMINATOR: number to divide by (0: the batch's targets), so that shards of one batch add up.
 */
Vid tape_cross_entropy(Tape *t, Vid logits, double z_loss, double denominator);
Vid tape_mse(Tape *t, Vid x, Vid y); /* mean over all numbers of (x - y)^2 [1 x 1] */

/* Names the last recorded node (and its output value): "block0.attention". */
void tape_name(Tape *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tape_name_value(Tape *t, Vid v, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- running --- */
void tape_forward(Tape *t);
void tape_backward(Tape *t, Vid loss, real *grad);      /* ADDS to grad [params->count] */
void tape_backward_over(Tape *t, Vid loss, real *grad); /* OVERWRITES grad: nothing has to be cleared before */
/* Gives the memory of all values and gradients back until the next pass. What was recorded stays, and so do the scalars
 * of losses. */
void tape_rest(Tape *t);
int tape_nodes(const Tape *t);
void tape_run(Tape *t, int from, int to);      /* forward of nodes [from, to); not of a lean recording */
void tape_run_back(Tape *t, int from, int to); /* backward of nodes from-1 down to `to`, after tape_seed_grad */
void tape_seed_grad(Tape *t, Vid loss, real *grad);

/* --- looking --- */
typedef struct {
    const char *name;    /* "block0.attention" */
    const char *op;      /* "attention" */
    const char *formula; /* for the reader */
    Vid in[3], out;      /* VID_NONE where unused */
    int weight, bias;    /* slices or SLICE_NONE */
} NodeInfo;
NodeInfo tape_node(const Tape *t, int node);
int tape_find(const Tape *t, const char *name); /* the node that gives the value of this name, or -1 */
/* The numbers of a value and of its gradient, borrowed until the next recording; NULL after tape_rest. An output of
 * tape_linear_parts stands alone (rows * cols numbers without gaps) only on a probe tape: a BUG elsewhere. ROWS and
 * COLS may be NULL. */
const real *tape_value(const Tape *t, Vid v, int *rows, int *cols);
const real *tape_grad(const Tape *t,
                      Vid v); /* NULL when it has none, and on all but probe tapes: there its room has been reused */
double tape_scalar(const Tape *t, Vid v);
/* A named stage of a node of a TAPE_PROBE tape with ONE sequence of T rows. Attention has scores, scaled, softcapped
 * (when on), masked, weights: [heads x T x T], rows are queries; masked cells of `masked` are -INFINITY, of `weights`
 * exactly 0. NULL when there is no such stage. */
const real *tape_stage(const Tape *t, int node, const char *stage, int dim[3]);
/* The first value with a NaN or infinity, or VID_NONE. */
Vid tape_first_bad(const Tape *t);
const char *tape_value_name(const Tape *t, Vid v);

#endif
