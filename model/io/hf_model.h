/* hf_model: models in the Hugging Face layout: a folder with config.json (hf_config.h) and model.safetensors, or
 * several such files with model.safetensors.index.json (safetensors.h).
 *
 * Tensors may be called with or without the prefix of the whole ("transformer.", "model."). GPT-2's matrices lie [in x
 * out] and stay so; its queries, keys and values are parts of one. Each tensor must have a name that belongs there and
 * the shape that config.json says. */
#ifndef IO_HF_MODEL_H
#define IO_HF_MODEL_H

#include "io/hf_config.h"
#include "io/safetensors.h"

/* The parts of a path that is such a folder, or a .safetensors file in one: owned by the caller (mem_free). False: the
 * folder has no weights of a known name. */
bool hf_model_files(const char *path, char **config, char **weights);
/* PATH as above. CONFIG is what config.json says. */
Status hf_model_read(const char *path, TensorUse use, HfConfig *config, Model **out) STATUS_CHECKED;
/* The same of tensors that are open; S passes to the model or is closed. */
Status hf_model_take(const char *name, const HfConfig *config, Safetensors *s, TensorUse use,
                     Model **out) STATUS_CHECKED;

#endif
