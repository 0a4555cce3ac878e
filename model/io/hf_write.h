/* hf_write: a model as a folder in the Hugging Face layout, which other programs load: config.json and
 * model.safetensors (F32). As a llama, mistral or qwen2 what has RMS norm, RoPE and a gated feed-forward, as a gpt2
 * what has layer norm, learned positions and biases. Read back (hf_model.h), it is the same model, bit by bit. */
#ifndef IO_HF_WRITE_H
#define IO_HF_WRITE_H

#include "io/hf_config.h"
#include "model.h"

/* Says what neither layout can say of such a model. *layout may be NULL. */
Status hf_write_check(const ModelConfig *c, HfLayout *layout) STATUS_CHECKED;
/* FOLDER is there. FIRST and LAST are the ids that begin and end a text, -1: none. M's shape was checked. */
Status hf_write(const char *folder, const Model *m, int first, int last) STATUS_CHECKED;

#endif
