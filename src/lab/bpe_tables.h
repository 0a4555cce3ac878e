/* bpe_tables: what byte-pair encoding learns and cuts, as rows: made here for the experiments and for the live pane, so
 * both show the same. Private to the laboratory. */
#ifndef LAB_BPE_TABLES_H
#define LAB_BPE_TABLES_H

#include "bpe_source.h"

extern const Column bpe_merges_columns[]; /* rank,left,right,merged,count,ties,left_hex,right_hex,merged_hex */
extern const Column bpe_words_columns[];  /* word,count,pieces,pieces_hex */
extern const Column bpe_tokens_columns[]; /* index,token,id,bytes_hex */
extern const Column bpe_steps_columns[];  /* step,rank,left,right,pieces,pieces_hex */
extern const Column bpe_facts_columns[];  /* as observe.h has the table bpe */

void bpe_add_merge_row(Table *t, const Bpe *b, int rank);
/* The MOST most frequent words (< 0: all) in pieces, equals by their bytes. */
void bpe_add_word_rows(Table *t, const BpeWords *words, const BpeTrainer *trainer, int most);

/* Told after each row; false: stop. NULL: nobody asks. */
typedef bool BpeGoOn(void *data, long row);
/* The tokens of a text; false: stopped. */
bool bpe_add_token_rows(Table *t, const BpeSource *b, const char *s, size_t n, BpeGoOn *go_on, void *data);
/* The beginning of a text, of MOST units, merge by merge; *END: where that ends. FIRST gets the units as pieces
 * (NULL: not asked for). False: stopped. */
bool bpe_add_step_rows(Table *t, const BpeSource *b, const char *s, size_t n, int most, size_t *end, Str *first,
                       BpeGoOn *go_on, void *data);

#endif
