/* llama2c_write: a model as a file of llama2.c, version 0: what its run.c loads. Read back (llama2c.h), it is the same
 * model, bit by bit. Cosines and sines of all positions, which version 0 has among the numbers, are as llama2.c writes
 * them. */
#ifndef IO_LLAMA2C_WRITE_H
#define IO_LLAMA2C_WRITE_H

#include "model.h"
#include "status.h"

/* Says what such a file cannot say of a model. */
Status llama2c_write_check(const ModelConfig *c) STATUS_CHECKED;
/* C was checked. STATUS_FAILED: a number is not finite, or writing failed; the old file is as it was. */
Status llama2c_write(const char *path, const Model *m) STATUS_CHECKED;

#endif
