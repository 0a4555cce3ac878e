/* hf_names: what the tensors of the Hugging Face layout are called, and how they lie. Private to those who read and
 * write it. */
#ifndef IO_HF_NAMES_H
#define IO_HF_NAMES_H

#include "io/hf_config.h"
#include "params.h"

enum { HF_NAME_BYTES = 96 };

typedef struct {
    const char *slice; /* of a layer: without "blockN."; NULL ends a list */
    const char *file;  /* of a layer: without "h.N." or "layers.N." */
    int part, parts;   /* outputs of one matrix of several; parts 0: a tensor of its own */
    bool turned;       /* [in x out] */
} HfName;

typedef struct {
    const char *prefix, *layers;
    const HfName *layer, *whole;
} HfNames;

extern const HfNames hf_layouts[]; /* by HfLayout */

/* LAYER -1: of none. */
void hf_file_name(HfLayout layout, bool prefixed, const HfName *n, int layer, char out[HF_NAME_BYTES]);
int hf_slice(const Params *p, const HfName *n, int layer); /* -1: the model has none */
/* Queries and keys whose pairs lie side by side here, and half a head apart in the file. */
bool hf_is_interleaved(const ModelConfig *c, const HfName *n);

#endif
