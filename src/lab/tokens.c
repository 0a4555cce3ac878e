#include "tokens.h"

void tokens_text(const Vocab *v, const int *ids, int n, Str *out) {
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (ids[i] < VOCAB_SPECIALS) continue;
        if (!first) str_add_char(out, ' ');
        str_add(out, vocab_token(v, ids[i]));
        first = false;
    }
}
