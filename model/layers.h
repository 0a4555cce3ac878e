/* layers: plain layers one upon the other over a table of pictures, and all that greedy pre-training hangs on them: for
 * every layer a way back (autoencoder) and a classifier (lecture 4, 2.3, 2.4; Bengio et al. 2006). Recorded on a tape.
 *
 * Picture n goes in as row n of the slice "pictures", which never learns; the target of the classifier is its label. */
#ifndef MODEL_LAYERS_H
#define MODEL_LAYERS_H

#include "optim.h"
#include "tape.h"

enum { LAYERS_MOST = 8 };

typedef struct {
    int pictures, pixels, classes, layers;
    int size[LAYERS_MOST];
    ActKind act; /* of codes; what comes back of pictures is a number from 0 to 1 */
} LayersShape;

typedef struct {
    LayersShape shape;
    Params params; /* pictures, then for every layer: weight, bias, back.weight, back.bias, class.weight, class.bias */
    Tape *tape;    /* learning */
    Batch batch;
    real *grad; /* [count] */
    Optim optim;
} Layers;

/* PICTURE [pictures x pixels] is copied. */
void layers_init(Layers *l, const LayersShape *shape, const real *picture, uint64_t seed);
void layers_done(Layers *l);

/* What a stage learns. Layers are counted from 0. */
typedef enum {
    LAYERS_BACK,  /* one layer and its way back: mean (x - x')^2 of what goes into it; those below stand still */
    LAYERS_CLASS, /* one layer and the classifier on it; those below stand still */
    LAYERS_ALL,   /* all up to this one and the classifier on it */
} LayersStage;
/* Makes ready: learning begins anew with CONFIG. */
void layers_begin(Layers *l, LayersStage stage, int layer, const OptimConfig *config);
/* One update with N pictures and their labels; the loss before it. */
double layers_step(Layers *l, LayersStage stage, int layer, const int *picture, const int *label, int n, double rate);

/* The class of highest score, with the layers up to LAYER. */
void layers_classify(Layers *l, int layer, const int *picture, int n, int *label);
/* CODE [n x size of LAYER] */
void layers_code(Layers *l, int layer, const int *picture, int n, real *code);

#endif
