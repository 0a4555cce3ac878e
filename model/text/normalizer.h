/* normalizer: what happens to a text before it is cut into words (Hugging Face's normalizers, by their names there):
 * steps that each rewrite every span of a cutting. */
#ifndef TEXT_NORMALIZER_H
#define TEXT_NORMALIZER_H

#include "cutting.h"
#include "pattern.h"
#include "utf8.h"

typedef enum {
    NORMALIZE_PREPEND, /* .content before the span */
    NORMALIZE_REPLACE, /* .text, or what .pattern matches, by .content */
    NORMALIZE_FORM,    /* Unicode's .form: NFC, NFD, NFKC, NFKD; a cluster of characters at a time */
    NORMALIZE_LOWERCASE,
    NORMALIZE_STRIP,         /* white space at the .left and the .right */
    NORMALIZE_STRIP_ACCENTS, /* marks that take no room of their own */
} NormalizeKind;

typedef struct {
    NormalizeKind kind;
    char *content, *text;
    Pattern *pattern;
    Utf8Form form;
    bool left, right;
} NormalizeStep;

typedef struct {
    NormalizeStep *step; /* [count]; zeroed is empty */
    int count, capacity;
} Normalizer;

void normalizer_done(Normalizer *n);
void normalizer_add(Normalizer *n, NormalizeStep step); /* takes over what it points to */
void normalizer_run(const Normalizer *n, Cutting *c, Cutting *spare);

#endif
