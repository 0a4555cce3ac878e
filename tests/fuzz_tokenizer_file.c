/* fuzz_tokenizer_file: any bytes as a tokenizer.json or a tokenizer.bin. One that is accepted cuts these same bytes in
 * order, with ids that can be written; one that is refused says why and leaves nothing behind. */
#include "fuzz.h"

#include "io/llama2c_vocab.h"
#include "io/tokenizer_json.h"

#include <stdlib.h>

static void cut(Tokenizer *t, const char *s, size_t n) {
    Pieces pieces = {0};
    Str out;
    size_t at = 0;
    str_init(&out);
    tokenizer_encode(t, s, n, &pieces);
    for (long i = 0; i < pieces.count; i++) {
        const Piece *p = &pieces.piece[i];
        if (p->start < at || p->bytes > n || p->start > n - p->bytes) abort();
        at = p->start + p->bytes;
        if (p->id >= 0) tokenizer_bytes(t, p->id, i ? pieces.piece[i - 1].id : -1, &out);
        if (p->id >= 0) tokenizer_name(t, p->id, &out);
    }
    str_done(&out);
    pieces_done(&pieces);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    Tokenizer *t;
    Status s = bytes && *data == '{' ? tokenizer_json_parse("input", (const char *)data, bytes, &t)
                                     : llama2c_vocab_parse("input", data, bytes, &t);
    if (status_is_ok(&s)) {
        cut(t, (const char *)data, bytes);
    } else if (t || s.text[0] == '\0') {
        abort();
    }
    tokenizer_free(t);
    return 0;
}
