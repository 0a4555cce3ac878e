/* llama2c_vocab: reads the vocabulary of a llama2.c model, tokenizer.bin: the longest piece (int32), then of each id
 * its score (float32), its bytes (int32) and those bytes; numbers are little-endian.
 *
 * Ids 0, 1 and 2 are the unknown piece, BOS and EOS; 3 to 258 are the bytes. Two neighbours that make a piece are
 * merged, the piece of the highest score first. */
#ifndef IO_LLAMA2C_VOCAB_H
#define IO_LLAMA2C_VOCAB_H

#include "status.h"
#include "text/tokenizer.h"

#include <stddef.h>

/* NAME is for sentences. The file must end behind a piece. */
Status llama2c_vocab_parse(const char *name, const unsigned char *data, size_t bytes, Tokenizer **out) STATUS_CHECKED;

#endif
