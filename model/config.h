/* config: what a Transformer is made of. One description builds the model, counts it and stands in a checkpoint.
 * Letters: V vocabulary, D width, L layers, H heads, F feed-forward width. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "rope_scaling.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum { NORM_LAYER, NORM_RMS, NORM_NONE } NormKind;
typedef enum { PLACE_PRE, PLACE_POST, PLACE_BOTH, PLACE_OUTPUT } NormPlace;
typedef enum {
    FFN_RELU,
    FFN_GELU,
    FFN_GELU_TANH,
    FFN_SILU,
    FFN_SQUARED_RELU,
    FFN_SWIGLU,
    FFN_GEGLU,
    FFN_REGLU
} FfnKind;
typedef enum { POS_NONE, POS_LEARNED, POS_SINUSOID, POS_ROPE } PosKind;
typedef enum { PAIRING_ADJACENT, PAIRING_HALF } Pairing;

typedef struct {
    int vocab;    /* V */
    int context;  /* longest sequence; learned positions have as many rows */
    int d;        /* D */
    int layers;   /* L */
    int heads;    /* H query heads */
    int kv_heads; /* divides heads; query head i reads KV head i / (heads / kv_heads) */
    int head_dim; /* not always d / heads */
    int d_ff;     /* F */
    NormKind norm;
    NormPlace norm_place;
    FfnKind ffn;
    PosKind pos;
    double rope_base; /* 10000 */
    RopeScaling rope_scaling;
    Pairing pairing;  /* of RoPE; part of a checkpoint */
    int window;       /* tokens a query sees, itself included; 0: all before it */
    int global_every; /* every n-th layer ignores the window; 0: none */
    bool bias;        /* biases in linear layers and in layer norm (RMS norm never has one) */
    bool qkv_bias;    /* without bias: of queries, keys and values only (Qwen 2) */
    bool out_bias;    /* without bias: of what attention gives */
    bool ffn_bias;    /* without bias: of the feed-forward layer's matrices */
    bool tie;         /* head weight = token embedding */
    bool qk_norm;     /* RMS norm per head on q and k before RoPE */
    double softcap;   /* of attention scores: c tanh(s/c); 0: off */
    double z_loss;    /* coefficient of (log Z)^2 in the loss; 0: off */
    bool parallel;    /* x + attention(norm(x)) + ffn(norm(x)) */
    double dropout;   /* of the embedding and of what attention and ffn add to the residual; training only */
    double norm_eps;  /* 1e-5 layer, 1e-6 rms */
} ModelConfig;

/* Presets of the lectures on the farm language: "gpt" (111,360 parameters with V=56) and "modern" (99,648). */
ModelConfig config_gpt(void);
ModelConfig config_modern(void);
bool config_preset(const char *name, ModelConfig *out);

/* Sets one field from text (in range, but not checked against the other fields: config_check does that) by the name
 * used on the command line ("kv_heads", "norm_place", ...). */
Status config_set(ModelConfig *c, const char *field, const char *value) STATUS_CHECKED;
/* Writes the field as text; false when there is no such field. */
bool config_get(const ModelConfig *c, const char *field, char *out, size_t bytes);
const char *const *config_fields(void); /* NULL-terminated names in display order */

/* Says in words why the configuration cannot be built: heads not divisible by kv_heads, odd head_dim with RoPE, ... */
Status config_check(const ModelConfig *c) STATUS_CHECKED;
/* The same but for its size: what can be described and counted, though no machine here holds it. */
Status config_check_shape(const ModelConfig *c) STATUS_CHECKED;

/* The window of layer L (0: all): layers global_every-1, 2 global_every-1, ... are global and see everything. */
int config_window(const ModelConfig *c, int layer);
/* Which linear layers have a bias. */
bool config_has_qkv_bias(const ModelConfig *c);
bool config_has_out_bias(const ModelConfig *c);
bool config_has_ffn_bias(const ModelConfig *c);
/* Three matrices (gate, up, down) instead of two. */
bool config_is_gated(FfnKind kind);
/* The usual d_ff: 4 d, or 8/3 d rounded up to a multiple of 16 when gated, which is as many parameters (Shazeer 2020).
 * d <= 1e6. */
int config_usual_d_ff(FfnKind kind, int d);

#endif
