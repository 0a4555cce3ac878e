/* gpt2_vocab: reads the vocabulary of GPT-2 as OpenAI publishes it, encoder.json and vocab.bpe, or under the names that
 * Hugging Face gives the same files, vocab.json and merges.txt. */
#ifndef IO_GPT2_VOCAB_H
#define IO_GPT2_VOCAB_H

#include "status.h"
#include "text/tokenizer.h"

#include <stddef.h>

/* The two files of the folder DIR; where there are no merges, characters are tokens. What is wrong is told with the
 * file and, of merges, the line. */
Status gpt2_vocab_read(const char *dir, Tokenizer **out) STATUS_CHECKED;
/* The same of their bytes; the names are for sentences. */
Status gpt2_vocab_parse(const char *pieces_name, const char *pieces, size_t pieces_bytes, const char *merges_name,
                        const char *merges, size_t merges_bytes, Tokenizer **out) STATUS_CHECKED;

#endif
