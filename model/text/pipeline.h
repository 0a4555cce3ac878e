/* pipeline: a byte-pair encoding as Hugging Face's tokenizer.json describes it: added tokens are cut out, the rest is
 * normalised, cut into words, each word laid out in characters and merged; a decoder writes tokens back.
 *
 * A character that is no piece becomes its bytes when those are pieces and byte_fallback is on, else the unknown piece,
 * else it vanishes and is a gap (tokenizer.h). Pairs are merged one by one. */
#ifndef TEXT_PIPELINE_H
#define TEXT_PIPELINE_H

#include "added_tokens.h"
#include "normalizer.h"
#include "piece_table.h"
#include "pre_tokenizer.h"
#include "status.h"
#include "tokenizer.h"

#include <stdbool.h>

/* What is done to a token, one after the other, to write it. */
typedef enum {
    DECODE_BYTES,    /* its characters stand for bytes (byte_level.h) */
    DECODE_REPLACE,  /* .text by .content */
    DECODE_FALLBACK, /* <0x0A> is a byte */
    DECODE_FUSE,     /* from here on the text is one */
    DECODE_STRIP,    /* .count times .content is taken away where the text begins; before fusing, every token */
    DECODE_BLANKS,   /* .text becomes a blank, or nothing where the text begins and .strips */
    DECODE_SUFFIX,   /* .text at its end becomes a blank */
} DecodeKind;

typedef struct {
    DecodeKind kind;
    char *text, *content;
    int count;
    bool strips;
} DecodeStep;

typedef struct {
    PieceTable pieces;
    MergeRules rules;
    AddedTokens added;
    Normalizer normalizer;
    PreTokenizer pre;
    DecodeStep *decode; /* [decodes] */
    int decodes, decode_capacity;
    bool spaced;            /* no decoder: a blank between tokens */
    bool byte_fallback;     /* see above */
    bool words;             /* a word is a piece as a whole, or not known */
    bool whole_words;       /* a word that is a piece is not merged from its characters */
    bool fuses;             /* neighbours that are unknown are one */
    int unknown;            /* -1: none */
    int first, last;        /* put before every text, after which it is over; -1: none */
    char *inside, *at_end;  /* put before every character of a word but the first, behind the last; NULL: nothing */
    int byte_id[256];       /* of <0x00> ... <0xFF>, -1: none */
    Cutting cutting, spare; /* of the text at hand */
    long word;              /* the span of it that comes next */
} Pipeline;

Pipeline *pipeline_new(void);
void pipeline_free(Pipeline *p);
void pipeline_add_decode(Pipeline *p, DecodeStep step); /* takes over what it points to */
/* Adds a merge of two pieces as the last one. Refused: a piece, or what they make together, that is not there; a pair
 * that was merged before. */
Status pipeline_add_merge(Pipeline *p, const char *left, size_t left_bytes, const char *right,
                          size_t right_bytes) STATUS_CHECKED;
/* Adds how a token is spelt and looks for in texts once they are normalised, with the steps added so far. */
void pipeline_add_token(Pipeline *p, AddedToken token, const char *spelling, size_t bytes);
/* Refused unless ids are 0 ... n-1. Takes P over, also when it is refused. */
Status pipeline_finish(Pipeline *p, Tokenizer **out) STATUS_CHECKED;

#endif
