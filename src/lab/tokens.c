#include "tokens.h"

#include "bpe_corpus.h"

#include <stddef.h>

const char *tokens_name(const Vocab *v, int id) {
    return v && id < vocab_size(v) ? vocab_token(v, id) : "";
}

void tokens_text(const Vocab *v, const int *ids, int n, Str *out) {
    Str bytes;
    str_init(&bytes);
    vocab_join(v, ids, n, &bytes);
    bpe_add_shown(out, bytes.s, bytes.len);
    str_done(&bytes);
}
