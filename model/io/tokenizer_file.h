/* tokenizer_file: the vocabulary of a model, whichever of the known files it comes in. */
#ifndef IO_TOKENIZER_FILE_H
#define IO_TOKENIZER_FILE_H

#include "status.h"
#include "str.h"
#include "text/tokenizer.h"

/* PATH: a tokenizer.json (its name ends so, or it begins with a brace) or llama2.c's tokenizer.bin; a folder: its
 * tokenizer.json, else tokenizer.bin, else GPT-2's two files (gpt2_vocab). */
Status tokenizer_file_read(const char *path, Tokenizer **out) STATUS_CHECKED;

/* --- the files themselves, for a model that goes elsewhere and takes them along --- */

/* Adds what tokenizer_file_read reads: of each file a line "NAME BYTES", then so many bytes. */
Status tokenizer_file_gather(const char *path, Str *out) STATUS_CHECKED;
/* The tokenizer of such bytes. */
Status tokenizer_file_parse(const char *s, size_t bytes, Tokenizer **out) STATUS_CHECKED;
/* Writes the files into FOLDER, which is there, and takes others of theirs away that would be read in their place. */
Status tokenizer_file_scatter(const char *folder, const char *s, size_t bytes) STATUS_CHECKED;

#endif
