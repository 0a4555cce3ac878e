/* pre_tokenizer: how a text is cut into words before anything is merged (Hugging Face's pre_tokenizers, by their names
 * there): steps that cut every span of a cutting smaller, and some that rewrite it too. */
#ifndef TEXT_PRE_TOKENIZER_H
#define TEXT_PRE_TOKENIZER_H

#include "cutting.h"
#include "gpt2_split.h"
#include "pattern.h"

typedef enum {
    PRE_SPLIT,        /* at .text or what .pattern matches */
    PRE_DIGITS,       /* at every digit */
    PRE_PUNCTUATION,  /* at every sign */
    PRE_WHITESPACE,   /* words and runs of signs; white space is dropped */
    PRE_BLANKS,       /* what stands between white space */
    PRE_METASPACE,    /* blanks become .text, which is also put before by .prefix; cut before each when .splits */
    PRE_GPT2,         /* gpt2_split */
    PRE_PREFIX_BLANK, /* a blank before a span that begins with none */
    PRE_BYTES,        /* each byte becomes the character that stands for it (byte_level.h) */
} PreKind;

/* What becomes of what is cut at. */
typedef enum { PRE_REMOVED, PRE_ISOLATED, PRE_WITH_PREVIOUS, PRE_WITH_NEXT, PRE_CONTIGUOUS } PrePlace;

typedef struct {
    PreKind kind;
    char *text;
    Pattern *pattern;
    PrePlace place;
    bool invert; /* cut at what does not match */
    bool splits;
    enum { PREFIX_NEVER, PREFIX_FIRST, PREFIX_ALWAYS } prefix;
} PreStep;

typedef struct {
    PreStep *step; /* [count]; zeroed is empty */
    int count, capacity;
    Gpt2Split *gpt2; /* NULL until it is needed */
} PreTokenizer;

void pre_tokenizer_done(PreTokenizer *p);
void pre_tokenizer_add(PreTokenizer *p, PreStep step); /* takes over what it points to */
void pre_tokenizer_run(PreTokenizer *p, Cutting *c, Cutting *spare);

#endif
