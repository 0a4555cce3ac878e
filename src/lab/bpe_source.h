/* bpe_source: a sub-word vocabulary by the options vocab=, tokenizer=, merges_file=, or corpus= merges= unit=
 * lowercase=. Private to the laboratory. */
#ifndef LAB_BPE_SOURCE_H
#define LAB_BPE_SOURCE_H

#include "bpe_corpus.h"
#include "text/tokenizer.h"

extern const Option
    bpe_source_rows[]; /* vocab, tokenizer, merges_file, merges; beside bpe_corpus_rows, bpe_unit_rows */

typedef struct {
    Tokenizer *tokenizer;
    BpeTrainer *trainer; /* of a corpus, else NULL */
    Bpe *read;           /* of a file of merges, else NULL */
    const Bpe *bpe;      /* either; NULL: a vocabulary that does not mark the ends of words */
} BpeSource;

Status bpe_source_check(const Options *o) STATUS_CHECKED;
Status bpe_source_open(Study *s, BpeSource *out) STATUS_CHECKED;
void bpe_source_close(BpeSource *b);
void bpe_source_conventions(Study *s, const BpeSource *b);

/* The spelling of a token for a table, and its bytes as columns in hex have them: </w> is written out. */
void bpe_source_name(const BpeSource *b, int id, Str *out);
void bpe_source_hex(const BpeSource *b, int id, Str *out);

#endif
