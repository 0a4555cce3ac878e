/* bpe_encode: cuts texts into the sub-words of a byte-pair encoding (lecture 3, 5.3).
 *
 * Words are cut at white space; each begins as its units and </w>, and the merges are applied in the order in which
 * they were learnt. The token that holds </w> stands also for the white space that follows, so nothing of a text is
 * lost; white space that it begins with follows an empty word, </w> alone. */
#ifndef TEXT_BPE_ENCODE_H
#define TEXT_BPE_ENCODE_H

#include "bpe.h"
#include "tokenizer.h"

/* B is borrowed. Only its first MERGES merges are applied (< 0: all). As bytes, </w> is written as one blank. */
Tokenizer *bpe_tokenizer(const Bpe *b, int merges);

#endif
