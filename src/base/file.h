/* file: whole files in and out. Writing is atomic: a temporary file in the same folder, fsync, rename, fsync of the
 * folder; when anything fails the old file is untouched and no temporary file is left. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "status.h"
#include "str.h"

#include <stdio.h>

/* PATH "-" reads standard input. Refuses directories, FIFOs and files over LIMIT bytes (0: 1 GiB). */
Status file_read(const char *path, size_t limit, Str *out) STATUS_CHECKED;

typedef struct FileWriter FileWriter;
Status file_begin(const char *path, FileWriter **w) STATUS_CHECKED; /* exit 2 kind when it cannot be opened */
FILE *file_stream(FileWriter *w);                                   /* borrowed */
Status file_commit(FileWriter *w) STATUS_CHECKED;                   /* frees W */
void file_discard(FileWriter *w);                                   /* frees W, removes the temporary file */

#endif
