/* vocab: tokens and ids, and how a text is cut into them. Of our own: specials first (<pad> 0, <s> 1, </s> 2), then the
 * tokens: words or characters in byte order, the 256 bytes, or the symbols of a byte-pair encoding. Or those of a
 * tokenizer that came with somebody else's model: its ids are as they are, and vocab_first and vocab_last say which
 * tokens begin and end a text. Immutable: threads may share it. */
#ifndef TEXT_VOCAB_H
#define TEXT_VOCAB_H

#include "bpe.h"
#include "status.h"
#include "str.h"
#include "tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

#define VOCAB_PAD      0
#define VOCAB_BOS      1
#define VOCAB_EOS      2
#define VOCAB_SPECIALS 3

extern const char *const vocab_special[VOCAB_SPECIALS]; /* what these are called in every vocabulary of our own */

typedef enum {
    VOCAB_WORD, /* what stands between blanks; a text is its words with single blanks */
    VOCAB_CHAR, /* a character, blanks too */
    VOCAB_BYTE, /* id 3 + byte: nothing is ever unknown */
    VOCAB_BPE,  /* sub-words (bpe.h): id 3 + symbol */
    VOCAB_UNITS,
    VOCAB_TOKENIZER = VOCAB_UNITS, /* of a file (tokenizer.h); no name finds it */
} VocabUnit;

const char *vocab_unit_name(VocabUnit u); /* word, char, byte, bpe */
bool vocab_unit_find(const char *name, VocabUnit *out);

typedef struct Vocab Vocab;

Vocab *vocab_new(const char *const *words, int n);       /* words; sorted and made unique; copied */
Vocab *vocab_new_chars(const char *const *chars, int n); /* the same of characters, each as UTF-8 */
Vocab *vocab_new_bytes(void);
Vocab *vocab_new_bpe(Bpe *b); /* B passes to it */
/* T passes to it. FIRST: the id before every text, LAST: the one that ends it, -1: none. */
Vocab *vocab_new_tokenizer(Tokenizer *t, int first, int last);
Vocab *vocab_copy(const Vocab *v);
void vocab_free(Vocab *v);
VocabUnit vocab_unit(const Vocab *v);
int vocab_merges(const Vocab *v); /* of sub-words; 0 of all others */
int vocab_size(const Vocab *v);
int vocab_first(const Vocab *v);            /* what a text begins with: <s>; -1: nothing */
int vocab_last(const Vocab *v);             /* what ends it: </s>; -1: nothing */
const Bpe *vocab_bpe(const Vocab *v);       /* NULL: no sub-words; borrowed */
Tokenizer *vocab_tokenizer(const Vocab *v); /* NULL: it is of our own; borrowed */
/* The files that a tokenizer was read from, as bytes that tokenizer_file.h makes and reads, for those who write them
 * again; V is told before anybody shares it. */
void vocab_set_source(Vocab *v, const Str *source);
const Str *vocab_source(const Vocab *v); /* empty: nobody told; borrowed */
bool vocab_is_foreign(const Vocab *v);   /* of a tokenizer: no id is special but those two */
/* Not the specials, nor the rows that a model has beyond its vocabulary. */
bool vocab_is_word(const Vocab *v, int id);
/* What a token is called on a screen and in a table; borrowed. "<s>" for specials; a word is itself; a blank character
 * is U+2423, a byte that is no visible ASCII is <0x0A>, a sub-word at the end of a word ends in </w>. */
const char *vocab_token(const Vocab *v, int id);
int vocab_find(const Vocab *v, const char *token, size_t bytes); /* the token whose text this is; -1: unknown */

/* Adds the ids of the N bytes at S, no specials; -1 for what is unknown. CUTTER: of vocab_cutter. */
typedef struct {
    int *id; /* [count]; zeroed is empty */
    int count, capacity;
} TokenIds;
Tokenizer *vocab_cutter(const Vocab *v); /* what cutting needs: one per thread; NULL where it needs nothing */
void vocab_cut(const Vocab *v, Tokenizer *cutter, const char *s, size_t n, TokenIds *out);
/* Cuts a whole text. Unknown tokens: a sentence that names them and, of words, the nearest known ones; a tokenizer of a
 * file may leave them out instead (tokenizer_left_out). *ids is allocated. */
Status vocab_encode(const Vocab *v, const char *text, int **ids, int *n) STATUS_CHECKED;
/* Adds the text of N ids: words and sub-words with single blanks between words; specials and ids beyond the vocabulary
 * are left out. The bytes are those of the tokens, which need not be UTF-8 when tokens are bytes. */
void vocab_join(const Vocab *v, const int *ids, int n, Str *out);
bool vocab_same(const Vocab *a, const Vocab *b); /* unit and tokens */

/* The tokens as bytes for a file, each ended by a zero byte: of words and characters all tokens in the order of their
 * ids; of bytes nothing; of sub-words the units, an empty text, then left and right of every merge. */
void vocab_store(const Vocab *v, Str *out);
/* The vocabulary of those bytes, at most MOST tokens; NULL when they are none. */
Vocab *vocab_restore(VocabUnit unit, const char *bytes, size_t n, int most);

#endif
