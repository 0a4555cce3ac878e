/* fuzz_gpt2_vocab: any bytes as the two files of a byte-level vocabulary, a NUL between them. One that is accepted cuts
 * these same bytes without loss; one that is refused says why and leaves nothing behind. */
#include "fuzz.h"

#include "io/gpt2_vocab.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

static void cut(Tokenizer *t, const char *s, size_t n) {
    Pieces pieces = {0};
    Str back;
    str_init(&back);
    tokenizer_encode(t, s, n, &pieces);
    for (long i = 0; i < pieces.count; i++) {
        if (pieces.piece[i].id < 0 || pieces.piece[i].start != back.len) abort();
        tokenizer_bytes(t, pieces.piece[i].id, -1, &back);
    }
    if (back.len != n || (n && memcmp(back.s, s, n) != 0)) abort();
    str_done(&back);
    pieces_done(&pieces);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes) {
    const unsigned char *border = bytes ? memchr(data, '\0', bytes) : NULL;
    if (!border) return 0;
    const char *merges = (const char *)border + 1;
    size_t pieces_bytes = (size_t)(border - data);
    Tokenizer *t;
    Status s =
        gpt2_vocab_parse("pieces", (const char *)data, pieces_bytes, "merges", merges, bytes - pieces_bytes - 1, &t);
    if (status_is_ok(&s)) {
        cut(t, (const char *)data, bytes);
    } else if (t || s.text[0] == '\0') {
        abort();
    }
    tokenizer_free(t);
    return 0;
}
