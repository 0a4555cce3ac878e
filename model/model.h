/* model: a decoder-only Transformer built from a ModelConfig: its slices and its graph. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "config.h"
#include "params.h"
#include "tape.h"

typedef struct Model Model;

/* Builds and initialises: embeddings std .02, weights std 1/sqrt(inputs), gains 1, biases 0. CONFIG was checked. */
Model *model_new(const ModelConfig *config, uint64_t seed);
/* Its slices without numbers, which params_seal or params_lend brings. config_check_shape has accepted CONFIG. */
Model *model_shell(const ModelConfig *config);
/* How many numbers such a model has, without room for them. CONFIG was checked. */
size_t model_count(const ModelConfig *config);
/* How the slices of two such models differ; true: not at all (see params_same). Both were checked. */
bool model_same_slices(const ModelConfig *a, const ModelConfig *b, ParamsDifference *out);
/* M is built as CONFIG says from here on; the numbers stay. The slices are the same. */
void model_rebuild(Model *m, const ModelConfig *config);
Model *model_copy(const Model *m);
void model_free(Model *m);

const ModelConfig *model_config(const Model *m);
/* Another window in every layer, 0: none; the parameters do not know. */
void model_set_window(Model *m, int window);
Params *model_params(Model *m);
const Params *model_read_params(const Model *m);

/* What an observer may change about a pass without touching the parameters. */
typedef struct {
    const unsigned char *head_off; /* [layers x heads] or NULL */
    int window;                    /* -1: the model's; 0: none; n: n tokens, in every layer */
} ModelTweak;

/* The rule of who sees whom in a layer of such a pass: the one that attention is given. TWEAK may be NULL. */
MaskRule model_mask(const Model *m, const ModelTweak *tweak, int layer);

/* Records the graph of BATCH (given to tape_begin) and returns the logits [R x V]. TWEAK may be NULL.
 * Node names: embed, position, block{l}.norm1, .attention.query .key .value .query.rope .key.rope .attention,
 * .attention.out, .residual1, .norm2, .ffn.*, .residual2, final_norm, logits. */
Vid model_graph(const Model *m, Tape *t, const ModelTweak *tweak);

#endif
