#include "tokens.h"

#include <stdbool.h>
#include <stddef.h>

const char *tokens_name(const Vocab *v, int id) {
    return v && id < vocab_size(v) ? vocab_token(v, id) : "";
}

void tokens_text(const Vocab *v, const int *ids, int n, Str *out) {
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (ids[i] < VOCAB_SPECIALS || ids[i] >= vocab_size(v)) continue;
        if (!first) str_add_char(out, ' ');
        str_add(out, vocab_token(v, ids[i]));
        first = false;
    }
}
