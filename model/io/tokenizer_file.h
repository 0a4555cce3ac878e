/* tokenizer_file: the vocabulary of a model, whichever of the known files it comes in. */
#ifndef IO_TOKENIZER_FILE_H
#define IO_TOKENIZER_FILE_H

#include "status.h"
#include "text/tokenizer.h"

/* PATH: a tokenizer.json (its name ends so, or it begins with a brace) or llama2.c's tokenizer.bin; a folder: its
 * tokenizer.json, else GPT-2's two files (gpt2_vocab). */
Status tokenizer_file_read(const char *path, Tokenizer **out) STATUS_CHECKED;

#endif
