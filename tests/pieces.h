/* Checks of what a tokenizer makes of a text. */
#ifndef TESTS_PIECES_H
#define TESTS_PIECES_H

#include "expect.h"

#include "text/tokenizer.h"

#include <string.h>

/* The pieces of TEXT are WANT, "name=stretch|...": a name that is not known is empty. */
static inline void expect_pieces(Tokenizer *t, const char *text, const char *want) {
    Pieces pieces = {0};
    Str got;
    str_init(&got);
    tokenizer_encode(t, text, strlen(text), &pieces);
    for (long i = 0; i < pieces.count; i++) {
        const Piece *p = &pieces.piece[i];
        if (i) str_add_char(&got, '|');
        if (p->id >= 0) tokenizer_name(t, p->id, &got);
        str_addf(&got, "=%.*s", (int)p->bytes, text + p->start);
    }
    assert_string_equal(got.s, want);
    str_done(&got);
    pieces_done(&pieces);
}

#endif
