/* file: whole files in and out. Writing is atomic: a temporary file in the same folder, fsync, rename, fsync of the
 * folder; when anything fails the old file is untouched and no temporary file is left. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "status.h"
#include "str.h"

#include <stdio.h>

/* Adds the whole file to OUT, which stays as it was when that fails. PATH "-" reads standard input. Refuses
 * directories, FIFOs, devices and files over LIMIT bytes (0: 1 GiB). */
Status file_read(const char *path, size_t limit, Str *out) STATUS_CHECKED;
/* The same of a text: refuses a byte 0, behind which nobody would see anything. */
Status file_read_text(const char *path, size_t limit, Str *out) STATUS_CHECKED;

typedef struct FileWriter FileWriter;

/* PATH "-" is standard output; that, pipes and character devices are written directly. A symbolic link is followed to
 * the file that it stands for. The new file has the mode of the old one, or the one that the umask gives. STATUS_USAGE
 * when PATH cannot be written to: then nothing was changed and *W is NULL. */
Status file_begin(const char *path, FileWriter **w) STATUS_CHECKED;

const char *file_name(const FileWriter *w); /* for sentences: the path, or "standard output" */
FILE *file_stream(FileWriter *w);           /* borrowed. Single writes need no check: file_commit finds every failure */

/* Both free W. A commit that fails (STATUS_FAILED) leaves the old file as it was; so does a discard. */
Status file_commit(FileWriter *w) STATUS_CHECKED;
void file_discard(FileWriter *w); /* NULL is fine */

const char *file_base_name(const char *path); /* behind the last /, unless nothing stands there; borrowed */
/* Adds PATH from the root, as it is found from any folder; where there is no such file, as it is. */
void file_add_whole_path(const char *path, Str *out);
bool file_is_folder(const char *path);        /* there is one */

#endif
