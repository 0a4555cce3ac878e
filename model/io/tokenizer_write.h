/* tokenizer_write: a vocabulary of our own as tokenizer.json, which Hugging Face's tokenizers and lantern itself read
 * (tokenizer_json.h) and cut texts with into the same ids. Words are a WordLevel model behind a cut at blanks,
 * characters one behind a cut at every character; both refuse what they do not know. Bytes are a BPE model that merges
 * nothing; sub-words are one whose end of a word is a character put in place of the blanks. <s> is put before a text.
 */
#ifndef IO_TOKENIZER_WRITE_H
#define IO_TOKENIZER_WRITE_H

#include "str.h"
#include "text/vocab.h"

/* Adds the file's text and gives NULL; or gives why it cannot be said, marked for gettext, and adds nothing. */
const char *tokenizer_write(const Vocab *v, Str *out);
/* The words beside it (tokenizer_config.json), by which other programs know the tokens that begin, end and fill up. */
void tokenizer_write_config(int context, Str *out);

#endif
