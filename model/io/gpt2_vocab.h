/* gpt2_vocab: reads the vocabulary of GPT-2 as OpenAI publishes it, encoder.json and vocab.bpe, or under the names that
 * Hugging Face gives the same files, vocab.json and merges.txt. */
#ifndef IO_GPT2_VOCAB_H
#define IO_GPT2_VOCAB_H

#include "status.h"
#include "str.h"
#include "text/tokenizer.h"

#include <stddef.h>

#define GPT2_PIECES "vocab.json"
#define GPT2_MERGES "merges.txt"

/* The two files of the folder DIR; where there are no merges, characters are tokens. What is wrong is told with the
 * file and, of merges, the line. */
Status gpt2_vocab_read(const char *dir, Tokenizer **out) STATUS_CHECKED;
/* Where these files are; true: there are no merges. */
bool gpt2_vocab_files(const char *dir, Str *pieces, Str *merges);
/* A vocabulary without merges, such as a toy's letters: each character of a text that is a piece, all others vanish. */
Status gpt2_vocab_letters(const char *name, const char *s, size_t bytes, Tokenizer **out) STATUS_CHECKED;
/* The same of their bytes; the names are for sentences. */
Status gpt2_vocab_parse(const char *pieces_name, const char *pieces, size_t pieces_bytes, const char *merges_name,
                        const char *merges, size_t merges_bytes, Tokenizer **out) STATUS_CHECKED;

#endif
