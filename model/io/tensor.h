/* tensor: numbers as a file holds them, and how they become a model's parameters: lent where a model is large and the
 * file's numbers are the engine's own (float32, little-endian, aligned), else turned into such once. */
#ifndef IO_TENSOR_H
#define IO_TENSOR_H

#include "mapping.h"
#include "model.h"
#include "status.h"

#include <stddef.h>

typedef enum { TENSOR_F32, TENSOR_F16, TENSOR_BF16, TENSOR_KINDS } TensorKind;

size_t tensor_bytes(TensorKind k);     /* of a number */
const char *tensor_name(TensorKind k); /* F32, F16, BF16 */

/* Where the numbers of one slice of a model lie: lines of numbers, LD numbers from one to the next. */
typedef struct {
    const unsigned char *data; /* its first number; any alignment */
    TensorKind kind;
    int ld;
    int interleaved; /* numbers of a head whose halves are pairs in the file, and neighbours in the slice; 0: not */
    bool turned;     /* a line is a column of the slice, else a row */
    char name[96];   /* what the file calls it, for sentences */
} TensorSource;

/* What is done with the numbers: copied in the engine's type, so that the model may learn; or left where they are. */
typedef enum {
    TENSORS_BY_SIZE, /* of more than TENSORS_COPIED_MOST parameters: lent */
    TENSORS_COPIED,
    TENSORS_LENT,
} TensorUse;
#define TENSORS_COPIED_MOST 8000000

/* Gives M (model_shell) its numbers: SOURCE [slices]. The N mappings of FILE pass to M or are closed, also when it
 * fails. Refuses a number that is not finite. */
Status tensors_adopt(const char *file, Model *m, const TensorSource *source, TensorUse use, Mapping **mapping,
                     int n) STATUS_CHECKED;

#endif
