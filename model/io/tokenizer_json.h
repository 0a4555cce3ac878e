/* tokenizer_json: reads a vocabulary from Hugging Face's tokenizer.json: byte-pair encodings of every usual kind, among
 * them GPT-2's, Llama's 1 to 3, Mistral's, Qwen's, SmolLM's. What such a file can say and is not known here is refused
 * by its name: a text cut nearly right would be wrong without a sign. truncation and padding are left aside: they are
 * for batches. */
#ifndef IO_TOKENIZER_JSON_H
#define IO_TOKENIZER_JSON_H

#include "status.h"
#include "text/tokenizer.h"

#include <stddef.h>

/* NAME is for sentences. */
Status tokenizer_json_parse(const char *name, const char *s, size_t bytes, Tokenizer **out) STATUS_CHECKED;

#endif
