/* hf_config: config.json of the Hugging Face layout: what model its folder holds. Known are gpt2, and llama with its
 * relatives mistral (a sliding window) and qwen2 (biases of queries, keys and values). What such a file can say and is
 * not known here is refused by its name: a model read nearly right would be wrong without a sign. */
#ifndef IO_HF_CONFIG_H
#define IO_HF_CONFIG_H

#include "config.h"
#include "status.h"

#include <stddef.h>

/* A key of our own: "adjacent" says that the model was turned in adjacent pairs before it was written in halves, so
 * that it comes back as it was. To others it says nothing. */
#define HF_PAIRING "lantern_pairing"

typedef enum { HF_GPT2, HF_LLAMA } HfLayout; /* how its tensors are called and lie */

typedef struct {
    ModelConfig model;
    HfLayout layout;
    int first, last; /* ids that begin and end a text; -1: not said */
} HfConfig;

/* NAME is for sentences. The model has passed config_check_shape. */
Status hf_config_parse(const char *name, const char *s, size_t bytes, HfConfig *out) STATUS_CHECKED;
Status hf_config_read(const char *path, HfConfig *out) STATUS_CHECKED;

#endif
