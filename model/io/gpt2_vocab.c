#include "gpt2_vocab.h"

#include "file.h"
#include "intl.h"
#include "io/json_text.h"
#include "mem.h"
#include "str.h"
#include "text/byte_level.h"
#include "text/pipeline.h"
#include "tokenizer_steps.h"
#include "utf8.h"

#include <string.h>
#include <unistd.h>

enum { VOCAB_FILE_BYTES = 64 << 20 };

/* ---- encoder.json ---- */

/* A sentence of ours with the file it is about before it. */
static Status about_file(const char *name, const Status *s) {
    return status_usage("'%s': %s", name, s->text);
}

static Status add_piece(ByteLevel *b, const char *piece, const json_t *id) {
    if (!json_is_integer(id)) return status_usage(_("the id of piece '%s' is not a whole number"), piece);
    return byte_level_add(b, piece, json_integer_value(id));
}

static Status add_pieces(ByteLevel *b, json_t *root) {
    if (json_object_size(root) == 0) return status_usage(_("it has no pieces"));
    const char *piece;
    json_t *id;
    json_object_foreach(root, piece, id) STATUS_TRY(add_piece(b, piece, id));
    return status_ok();
}

static Status parse_pieces(ByteLevel *b, const char *name, const char *s, size_t bytes) {
    json_t *root;
    Status status = json_text_parse(s, bytes, &root);
    if (status_is_ok(&status)) status = add_pieces(b, root);
    json_decref(root);
    return status_is_ok(&status) ? status : about_file(name, &status);
}

/* ---- vocab.bpe ---- */

static Status parse_merge(ByteLevel *b, const char *s, size_t n) {
    const char *blank = memchr(s, ' ', n);
    if (!utf8_valid(s, n, NULL)) return status_usage(_("it is not UTF-8"));
    if (!blank || blank == s || blank + 1 == s + n || memchr(blank + 1, ' ', (size_t)(s + n - blank - 1)))
        return status_usage(_("it is not two pieces with one blank between them"));
    return byte_level_add_merge(b, s, (size_t)(blank - s), blank + 1, (size_t)(s + n - blank - 1));
}

/* Only the first line may be a comment, and only "#version ...": merges begin with # too. */
static Status parse_merges(ByteLevel *b, const char *name, const char *s, size_t bytes) {
    const char *end = s + bytes;
    for (long line = 1; s < end; line++) {
        const char *stop = memchr(s, '\n', (size_t)(end - s)), *next = stop ? stop + 1 : end;
        if (!stop) stop = end;
        if (stop > s && stop[-1] == '\r') stop--;
        size_t n = (size_t)(stop - s);
        bool comment = line == 1 && n >= 8 && memcmp(s, "#version", 8) == 0;
        Status status = n == 0 || comment ? status_ok() : parse_merge(b, s, n);
        if (!status_is_ok(&status)) return status_usage(_("'%s' line %ld: %s"), name, line, status.text);
        s = next;
    }
    return status_ok();
}

Status gpt2_vocab_parse(const char *pieces_name, const char *pieces, size_t pieces_bytes, const char *merges_name,
                        const char *merges, size_t merges_bytes, Tokenizer **out) {
    *out = NULL;
    ByteLevel *b = byte_level_new();
    Status s = parse_pieces(b, pieces_name, pieces, pieces_bytes);
    if (status_is_ok(&s)) s = parse_merges(b, merges_name, merges, merges_bytes);
    if (!status_is_ok(&s)) {
        byte_level_free(b);
        return s;
    }
    s = byte_level_finish(b, out);
    return status_is_ok(&s) ? s : about_file(pieces_name, &s);
}

/* ---- a folder ---- */

/* DIR/FIRST when it is there, else DIR/SECOND. */
static void choose_file(const char *dir, const char *first, const char *second, Str *path) {
    str_addf(path, "%s/%s", dir, first);
    if (access(path->s, F_OK) == 0) return;
    str_clear(path);
    str_addf(path, "%s/%s", dir, second);
    if (access(path->s, F_OK) == 0) return;
    str_clear(path);
    str_addf(path, "%s/%s", dir, first); /* the one to miss */
}

Status gpt2_vocab_letters(const char *name, const char *s, size_t bytes, Tokenizer **out) {
    Pipeline *p = pipeline_new();
    pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_BYTES});
    pipeline_add_decode(p, (DecodeStep){.kind = DECODE_BYTES});
    json_t *root = NULL;
    *out = NULL;
    Status status = json_text_parse(s, bytes, &root);
    if (status_is_ok(&status)) status = tokenizer_add_pieces(root, &p->pieces);
    if (status_is_ok(&status))
        status = pipeline_finish(p, out);
    else
        pipeline_free(p);
    json_decref(root);
    return status_is_ok(&status) ? status : about_file(name, &status);
}

bool gpt2_vocab_files(const char *dir, Str *pieces, Str *merges) {
    choose_file(dir, "encoder.json", GPT2_PIECES, pieces);
    choose_file(dir, "vocab.bpe", GPT2_MERGES, merges);
    return access(pieces->s, F_OK) == 0 && access(merges->s, F_OK) != 0;
}

Status gpt2_vocab_read(const char *dir, Tokenizer **out) {
    Str pieces_name, merges_name, pieces, merges;
    Str *const all[] = {&pieces_name, &merges_name, &pieces, &merges};
    for (size_t i = 0; i < 4; i++) str_init(all[i]);
    bool letters = gpt2_vocab_files(dir, &pieces_name, &merges_name);
    Status s = file_read(pieces_name.s, VOCAB_FILE_BYTES, &pieces);
    if (status_is_ok(&s) && letters) s = gpt2_vocab_letters(pieces_name.s, pieces.s, pieces.len, out);
    if (status_is_ok(&s) && !letters) s = file_read(merges_name.s, VOCAB_FILE_BYTES, &merges);
    if (status_is_ok(&s) && !letters)
        s = gpt2_vocab_parse(pieces_name.s, pieces.s, pieces.len, merges_name.s, merges.s, merges.len, out);
    for (size_t i = 0; i < 4; i++) str_done(all[i]);
    return s;
}
