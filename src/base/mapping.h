/* mapping: a whole file as memory that is only read: nothing is copied, and the system may take pages back that it can
 * read again. When a file is cut while it is open, what was mapped of it is gone: then a sentence says so, the terminal
 * is given back (bug_set_hook) and the program ends with status 1. */
#ifndef BASE_MAPPING_H
#define BASE_MAPPING_H

#include "status.h"

#include <stddef.h>

typedef struct Mapping Mapping;

/* Refuses directories, FIFOs, devices and empty files. */
Status mapping_open(const char *path, Mapping **out) STATUS_CHECKED;
/* Bytes in memory, which are copied, as if they were a file. */
Mapping *mapping_of(const void *data, size_t bytes);
void mapping_close(Mapping *m); /* NULL is fine */
const unsigned char *mapping_data(const Mapping *m);
size_t mapping_bytes(const Mapping *m);
/* What SIGBUS comes to that is of no mapping: OTHER(SIGBUS) in the handler, which calls what is async-signal-safe only;
 * NULL: what it came to before files were mapped. For who would set a handler of his own. Thread-safe. */
typedef void MappingFault(int number);
void mapping_set_fault(MappingFault *other);
/* Nothing of it is needed for now: its pages may go. */
void mapping_forget(const Mapping *m);

#endif
