/* safetensors: named arrays in a file: eight bytes that say how long the header is, the header as JSON, then the
 * numbers of all arrays, one after the other without gaps. Or several such files and an index that says which array is
 * in which. The files are mapped; nothing is copied. */
#ifndef IO_SAFETENSORS_H
#define IO_SAFETENSORS_H

#include "io/tensor.h"

enum { SAFETENSORS_DIMS = 8 };

typedef struct {
    const char *name;
    const char *dtype; /* "F32" */
    int dims;
    long long dim[SAFETENSORS_DIMS];
    const unsigned char *data;
    size_t bytes;
} SafeTensor;

typedef struct Safetensors Safetensors;

/* PATH is such a file, or an index (ends in .json) of files beside it. */
Status safetensors_open(const char *path, Safetensors **out) STATUS_CHECKED;
/* One mapped file called NAME; MAPPING passes to it or is closed. */
Status safetensors_parse(const char *name, Mapping *mapping, Safetensors **out) STATUS_CHECKED;
void safetensors_close(Safetensors *s); /* NULL is fine */

int safetensors_count(const Safetensors *s);
const SafeTensor *safetensors_at(const Safetensors *s, int i);              /* rising names; borrowed */
const SafeTensor *safetensors_find(const Safetensors *s, const char *name); /* NULL: not there */
/* The mappings pass to the caller, and S is freed; tensors that were borrowed stay good as long as the mappings do.
 * *mapping is allocated. */
int safetensors_release(Safetensors *s, Mapping ***mapping);

#endif
