/* llama2c: checkpoints of llama2.c, .bin files of version 0 and 1: a header of seven numbers, then float32, each name
 * for all layers before the next name.
 *
 * Version 0 has no magic number and says with a negative vocabulary that the output layer has a weight of its own;
 * version 1 begins with "24ka". The order of the names differs. In both the file must be exactly as long as its header
 * says. The model: RMS norm (1e-5), SwiGLU, RoPE (10000) in adjacent pairs, no biases. */
#ifndef IO_LLAMA2C_H
#define IO_LLAMA2C_H

#include "io/tensor.h"

/* The slices in the order of version 0, but for what stands behind cosines and sines; "*" before those that every layer
 * has; ends in NULL. */
extern const char *const llama2c_order[];

/* Says what the header of a file describes, without its numbers. */
Status llama2c_config(const char *name, const unsigned char *data, size_t bytes, ModelConfig *out) STATUS_CHECKED;
/* The sentence of a refusal names the file and the fault. */
Status llama2c_read(const char *path, TensorUse use, Model **out) STATUS_CHECKED;
/* The same of a mapped file called NAME; MAPPING passes to the model or is closed. */
Status llama2c_parse(const char *name, Mapping *mapping, TensorUse use, Model **out) STATUS_CHECKED;

#endif
