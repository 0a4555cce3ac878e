#include "llama2c_vocab.h"

#include "intl.h"
#include "io/little.h"
#include "mem.h"
#include "text/sentence_piece.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTE = 3, BYTE_PIECES = 256, LONGEST = 4096 };

/* A file while it is read. */
typedef struct {
    const char *name;
    const unsigned char *data;
    size_t bytes, at;
    SentencePiece *pieces;
    float *score; /* [ids] */
    int ids, capacity;
} Reading;

static Status read_piece(Reading *r, uint32_t longest) {
    const unsigned char *p = r->data + r->at;
    if (r->bytes - r->at < 8) return status_usage(_("'%s' is cut off within piece %d"), r->name, r->ids);
    uint32_t bits = little_word(p), length = little_word(p + 4);
    if (length > longest)
        return status_usage(_("'%s': piece %d has %u bytes, though the longest has %u"), r->name, r->ids,
                            (unsigned)length, (unsigned)longest);
    if (r->bytes - r->at - 8 < length) return status_usage(_("'%s' is cut off within piece %d"), r->name, r->ids);
    MEM_GROW(r->score, r->ids, r->capacity);
    memcpy(&r->score[r->ids], &bits, sizeof bits);
    if (!isfinite(r->score[r->ids]))
        return status_usage(_("'%s': the score of piece %d is no number"), r->name, r->ids);
    Status s = piece_table_add(sentence_piece_pieces(r->pieces), (const char *)p + 8, length, r->ids);
    if (!status_is_ok(&s)) return status_usage("'%s': %s", r->name, s.text);
    r->ids++;
    r->at += 8 + length;
    return s;
}

static Status read_pieces(Reading *r) {
    if (r->bytes < 4) return status_usage(_("'%s' is too short for a vocabulary"), r->name);
    uint32_t longest = little_word(r->data);
    if (longest == 0 || longest > LONGEST)
        return status_usage(_("'%s' is no tokenizer.bin: its longest piece would have %u bytes"), r->name,
                            (unsigned)longest);
    for (r->at = 4; r->at < r->bytes;) STATUS_TRY(read_piece(r, longest));
    if (r->ids < FIRST_BYTE + BYTE_PIECES)
        return status_usage(_("'%s' has %d pieces; the 256 bytes and three more are needed"), r->name, r->ids);
    return status_ok();
}

/* ---- which pairs make a piece ---- */

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x > y ? -1 : x < y;
}

/* The place of a score among the N different ones, which fall. */
static int rank_of(const float *sorted, int n, float score) {
    const float *found = bsearch(&score, sorted, (size_t)n, sizeof score, by_value);
    return (int)(found - sorted);
}

static Status add_splits(Reading *r, int id, int rank) {
    const PieceTable *t = sentence_piece_pieces(r->pieces);
    size_t bytes;
    const char *piece = piece_table_piece(t, id, &bytes);
    for (size_t cut = 1; cut < bytes; cut++) {
        int left = piece_table_find(t, piece, cut), right = piece_table_find(t, piece + cut, bytes - cut);
        if (left >= 0 && right >= 0) STATUS_TRY(sentence_piece_add_merge(r->pieces, left, right, id, rank));
    }
    return status_ok();
}

static Status add_merges(Reading *r) {
    float *sorted = MEM_ARRAY(float, (size_t)r->ids);
    int different = 0;
    memcpy(sorted, r->score, (size_t)r->ids * sizeof *sorted);
    qsort(sorted, (size_t)r->ids, sizeof *sorted, by_value);
    for (int i = 0; i < r->ids; i++)
        if (different == 0 || sorted[different - 1] > sorted[i]) sorted[different++] = sorted[i];
    Status s = status_ok();
    for (int id = 0; status_is_ok(&s) && id < r->ids; id++) {
        size_t bytes;
        const char *piece = piece_table_piece(sentence_piece_pieces(r->pieces), id, &bytes);
        if (piece_table_find(sentence_piece_pieces(r->pieces), piece, bytes) == id) /* the first of equal pieces */
            s = add_splits(r, id, rank_of(sorted, different, r->score[id]));
    }
    mem_free(sorted);
    return s;
}

Status llama2c_vocab_parse(const char *name, const unsigned char *data, size_t bytes, Tokenizer **out) {
    *out = NULL;
    Reading r = {.name = name, .data = data, .bytes = bytes, .pieces = sentence_piece_new()};
    Status s = read_pieces(&r);
    if (status_is_ok(&s)) s = add_merges(&r);
    mem_free(r.score);
    if (!status_is_ok(&s)) {
        sentence_piece_free(r.pieces);
        return s;
    }
    s = sentence_piece_finish(r.pieces, out);
    return status_is_ok(&s) ? s : status_usage("'%s': %s", name, s.text);
}
