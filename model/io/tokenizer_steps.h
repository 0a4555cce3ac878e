/* tokenizer_steps: what a tokenizer.json says of its normalizer, its pre_tokenizer and its decoder. A kind of step, a
 * setting or a value that is not known is refused by its name. */
#ifndef IO_TOKENIZER_STEPS_H
#define IO_TOKENIZER_STEPS_H

#include "status.h"
#include "text/pipeline.h"

#include <jansson.h>

/* NULL and null: there is none. */
Status tokenizer_read_normalizer(const json_t *normalizer, Pipeline *p) STATUS_CHECKED;
Status tokenizer_read_pre_tokenizer(const json_t *pre_tokenizer, Pipeline *p) STATUS_CHECKED;
Status tokenizer_read_decoder(const json_t *decoder, Pipeline *p) STATUS_CHECKED;

/* Small readers, for all files of a vocabulary. */
const char *tokenizer_text(const json_t *object, const char *key); /* NULL: no text */
bool tokenizer_is_true(const json_t *object, const char *key);
bool tokenizer_has_type(const json_t *object, const char *type);
Status tokenizer_add_pieces(const json_t *vocab, PieceTable *pieces) STATUS_CHECKED; /* of {piece: id} */
Status tokenizer_unknown(const char *what, const json_t *object);                    /* the refusal of its type */
/* Refused: a key of OBJECT that is not among KEYS, which ends with NULL. */
Status tokenizer_check_keys(const char *what, const json_t *object, const char *const *keys) STATUS_CHECKED;

#endif
