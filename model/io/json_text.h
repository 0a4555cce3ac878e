/* json_text: JSON that a stranger wrote: an object, without a name twice, not deeper than sense makes. With json_, the
 * library's own functions read what comes out. */
#ifndef IO_JSON_TEXT_H
#define IO_JSON_TEXT_H

#include "status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define JSON_TEXT_DEPTH 64

/* The object that the N bytes at S are; json_decref frees it. The sentence of a refusal has no name in it. */
Status json_text_parse(const char *s, size_t n, json_t **out) STATUS_CHECKED;
/* Not there, or null. */
bool json_text_is_absent(const json_t *value);

#endif
