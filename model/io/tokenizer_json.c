#include "tokenizer_json.h"

#include "intl.h"
#include "mem.h"
#include "text/byte_level.h"
#include "text/sentence_piece.h"

#include <jansson.h>
#include <string.h>

#define LOWER_ONE_EIGHTH "\xe2\x96\x81" /* U+2581: how SentencePiece spells a blank */

/* ---- what a file may say ---- */

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static bool is_absent(const json_t *value) {
    return !value || json_is_null(value);
}

static bool is_true(const json_t *object, const char *key) {
    return json_is_true(json_object_get(object, key));
}

static bool has_type(const json_t *object, const char *type) {
    const char *is = text_of(object, "type");
    return is && strcmp(is, type) == 0;
}

static Status unknown(const char *what, const json_t *object) {
    const char *type = text_of(object, "type");
    return status_usage(_("%s '%s' is not known here"), what, type ? type : "?");
}

/* ---- added tokens ---- */

static Status add_special(PieceTable *t, const json_t *token, bool plain) {
    static const char *const flags[] = {"lstrip", "rstrip", "single_word"};
    const char *content = text_of(token, "content");
    const json_t *id = json_object_get(token, "id");
    if (!content || !json_is_integer(id)) return status_usage(_("an added token has no content or no id"));
    for (int i = 0; i < 3; i++)
        if (is_true(token, flags[i]))
            return status_usage(_("added token '%s': %s is not known here"), content, flags[i]);
    if (is_true(token, "normalized") && !plain)
        return status_usage(_("added token '%s': normalized is not known here beside a normalizer"), content);
    return piece_table_add_special(t, content, strlen(content), json_integer_value(id));
}

static Status add_specials(PieceTable *t, const json_t *root) {
    const json_t *tokens = json_object_get(root, "added_tokens");
    bool plain = is_absent(json_object_get(root, "normalizer"));
    size_t i;
    json_t *token;
    if (!is_absent(tokens) && !json_is_array(tokens)) return status_usage(_("added_tokens is no list"));
    json_array_foreach(tokens, i, token) STATUS_TRY(add_special(t, token, plain));
    return status_ok();
}

/* ---- what is put before a text ---- */

/* A template of one special token and the text: the token; of the text alone: -1. */
static Status read_template(const json_t *processor, int *first) {
    const json_t *single = json_object_get(processor, "single"), *before = json_array_get(single, 0);
    size_t parts = json_array_size(single);
    const json_t *text = parts ? json_object_get(json_array_get(single, parts - 1), "Sequence") : NULL;
    if (!text || parts > 2) return status_usage(_("post_processor: only one token before the text is known here"));
    if (parts == 1) return status_ok();
    const char *name = text_of(json_object_get(before, "SpecialToken"), "id");
    const json_t *special = name ? json_object_get(json_object_get(processor, "special_tokens"), name) : NULL;
    const json_t *ids = json_object_get(special, "ids");
    long long id = json_array_size(ids) == 1 ? json_integer_value(json_array_get(ids, 0)) : -1;
    if (id < 0 || id >= PIECE_TABLE_IDS) return status_usage(_("post_processor: its special token has no id"));
    *first = (int)id;
    return status_ok();
}

static Status read_first(const json_t *processor, int *first) {
    *first = -1;
    if (is_absent(processor) || has_type(processor, "ByteLevel")) return status_ok();
    if (has_type(processor, "TemplateProcessing")) return read_template(processor, first);
    if (!has_type(processor, "Sequence")) return unknown("post_processor", processor);
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(processor, "processors"), i, part) {
        if (has_type(part, "ByteLevel")) continue;
        if (!has_type(part, "TemplateProcessing") || *first >= 0) return unknown("post_processor", part);
        STATUS_TRY(read_template(part, first));
    }
    return status_ok();
}

/* ---- merges ---- */

/* "left right", or ["left", "right"]. */
static bool read_pair(const json_t *merge, const char **left, size_t *left_bytes, const char **right) {
    if (json_is_array(merge)) {
        *left = json_string_value(json_array_get(merge, 0));
        *right = json_string_value(json_array_get(merge, 1));
        *left_bytes = *left ? strlen(*left) : 0;
        return *left && *right && json_array_size(merge) == 2;
    }
    const char *s = json_string_value(merge), *blank = s ? strchr(s, ' ') : NULL;
    if (!blank || strchr(blank + 1, ' ')) return false;
    *left = s;
    *left_bytes = (size_t)(blank - s);
    *right = blank + 1;
    return true;
}

typedef Status AddMerge(void *vocabulary, const char *left, size_t left_bytes, const char *right, size_t right_bytes,
                        int rank);

static Status add_merges(const json_t *model, AddMerge *add, void *vocabulary) {
    const json_t *merges = json_object_get(model, "merges");
    size_t i;
    json_t *merge;
    if (!json_is_array(merges)) return status_usage(_("model.merges is no list"));
    json_array_foreach(merges, i, merge) {
        const char *left, *right;
        size_t left_bytes;
        Status s = status_usage(_("it is not two pieces"));
        if (read_pair(merge, &left, &left_bytes, &right))
            s = add(vocabulary, left, left_bytes, right, strlen(right), (int)i);
        if (!status_is_ok(&s)) return status_usage(_("merge %zu: %s"), i + 1, s.text);
    }
    return status_ok();
}

/* ---- byte-level ---- */

static Status add_byte_merge(void *vocabulary, const char *left, size_t left_bytes, const char *right,
                             size_t right_bytes, int rank) {
    (void)rank; /* they come in order */
    return byte_level_add_merge(vocabulary, left, left_bytes, right, right_bytes);
}

static Status read_byte_splitter(const json_t *splitter) {
    const json_t *regex = json_object_get(splitter, "use_regex");
    if (is_true(splitter, "add_prefix_space"))
        return status_usage(_("pre_tokenizer: add_prefix_space is not known here"));
    if (json_is_false(regex)) return status_usage(_("pre_tokenizer: ByteLevel without use_regex is not known here"));
    return status_ok();
}

/* ByteLevel, or Digits one by one and then ByteLevel. */
static Status read_splitter(const json_t *splitter, ByteLevelStyle *style) {
    if (!has_type(splitter, "Sequence")) return read_byte_splitter(splitter);
    const json_t *parts = json_object_get(splitter, "pretokenizers");
    size_t i, n = json_array_size(parts);
    json_t *part;
    json_array_foreach(parts, i, part) {
        if (i + 1 == n && has_type(part, "ByteLevel")) return read_byte_splitter(part);
        if (i > 0 || !has_type(part, "Digits") || !is_true(part, "individual_digits"))
            return unknown("pre_tokenizer", part);
        style->digits = true;
    }
    return unknown("pre_tokenizer", splitter);
}

static Status fill_byte_level(ByteLevel *b, const json_t *root, ByteLevelStyle *style) {
    const json_t *model = json_object_get(root, "model");
    const char *piece;
    json_t *id;
    if (!is_absent(json_object_get(root, "normalizer")))
        return unknown("normalizer", json_object_get(root, "normalizer"));
    if (!is_absent(json_object_get(model, "unk_token")))
        return status_usage(_("model.unk_token beside a byte-level vocabulary is not known here"));
    STATUS_TRY(read_splitter(json_object_get(root, "pre_tokenizer"), style));
    STATUS_TRY(read_first(json_object_get(root, "post_processor"), &style->first));
    STATUS_TRY(add_specials(byte_level_pieces(b), root));
    json_object_foreach(json_object_get(model, "vocab"), piece, id) {
        if (!json_is_integer(id)) return status_usage(_("the id of piece '%s' is not a whole number"), piece);
        STATUS_TRY(byte_level_add(b, piece, json_integer_value(id)));
    }
    return add_merges(model, add_byte_merge, b);
}

static Status read_byte_level(const json_t *root, Tokenizer **out) {
    ByteLevel *b = byte_level_new(MERGE_ONE_BY_ONE);
    ByteLevelStyle style = {.loses_bytes = true, .first = -1};
    style.whole_words = is_true(json_object_get(root, "model"), "ignore_merges");
    Status s = fill_byte_level(b, root, &style);
    if (status_is_ok(&s)) return byte_level_finish(b, style, out);
    byte_level_free(b);
    return s;
}

/* ---- SentencePiece's ---- */

static Status find_piece(const PieceTable *t, const char *s, size_t bytes, int *id) {
    *id = piece_table_find(t, s, bytes);
    if (*id >= 0) return status_ok();
    return status_usage(_("'%.*s' is no piece of the vocabulary"), (int)(bytes > 100 ? 100 : bytes), s);
}

static Status add_piece_merge(void *vocabulary, const char *left, size_t left_bytes, const char *right,
                              size_t right_bytes, int rank) {
    PieceTable *t = sentence_piece_pieces(vocabulary);
    int l, r, id;
    STATUS_TRY(find_piece(t, left, left_bytes, &l));
    STATUS_TRY(find_piece(t, right, right_bytes, &r));
    char *merged = mem_alloc(left_bytes + right_bytes);
    memcpy(merged, left, left_bytes);
    memcpy(merged + left_bytes, right, right_bytes);
    Status s = find_piece(t, merged, left_bytes + right_bytes, &id);
    mem_free(merged);
    return status_is_ok(&s) ? sentence_piece_add_merge(vocabulary, l, r, id, rank) : s;
}

/* Prepend a blank, replace blanks: the two steps that are known, in this order, both or the second alone. */
static Status read_normalizer(const json_t *normalizer, SentencePieceStyle *style) {
    const json_t *steps = json_object_get(normalizer, "normalizers");
    size_t i;
    json_t *step;
    bool replaces = false;
    if (!has_type(normalizer, "Sequence")) return unknown("normalizer", normalizer);
    json_array_foreach(steps, i, step) {
        const char *prepend = text_of(step, "prepend"), *content = text_of(step, "content"),
                   *pattern = text_of(json_object_get(step, "pattern"), "String");
        bool prepends = has_type(step, "Prepend") && prepend && strcmp(prepend, LOWER_ONE_EIGHTH) == 0;
        bool blank = has_type(step, "Replace") && pattern && strcmp(pattern, " ") == 0 && content &&
                     strcmp(content, LOWER_ONE_EIGHTH) == 0;
        if ((!prepends && !blank) || replaces || (prepends && style->prefix)) return unknown("normalizer", step);
        style->prefix = style->prefix || prepends;
        replaces = blank;
    }
    return replaces ? status_ok() : unknown("normalizer", normalizer);
}

static Status fill_pieces(SentencePiece *p, const json_t *root, SentencePieceStyle *style) {
    const json_t *model = json_object_get(root, "model");
    PieceTable *t = sentence_piece_pieces(p);
    const char *piece, *name = text_of(model, "unk_token");
    json_t *id;
    STATUS_TRY(read_normalizer(json_object_get(root, "normalizer"), style));
    STATUS_TRY(read_first(json_object_get(root, "post_processor"), &style->first));
    STATUS_TRY(add_specials(t, root));
    if (!is_true(model, "byte_fallback")) return status_usage(_("model.byte_fallback is needed with this normalizer"));
    if (is_true(model, "ignore_merges"))
        return status_usage(_("model.ignore_merges is not known with this normalizer"));
    json_object_foreach(json_object_get(model, "vocab"), piece, id) {
        if (!json_is_integer(id)) return status_usage(_("the id of piece '%s' is not a whole number"), piece);
        int known = piece_table_find(t, piece, strlen(piece));
        if (known < 0 || known != json_integer_value(id))
            STATUS_TRY(piece_table_add(t, piece, strlen(piece), json_integer_value(id)));
    }
    style->unknown = name ? piece_table_find(t, name, strlen(name)) : -1;
    style->fuses = is_true(model, "fuse_unk");
    return add_merges(model, add_piece_merge, p);
}

static Status read_sentence_piece(const json_t *root, Tokenizer **out) {
    SentencePiece *p = sentence_piece_new();
    SentencePieceStyle style = {.blank = LOWER_ONE_EIGHTH, .first = -1, .last = -1};
    Status s = fill_pieces(p, root, &style);
    if (status_is_ok(&s)) return sentence_piece_finish(p, style, out);
    sentence_piece_free(p);
    return s;
}

/* ---- a file ---- */

static Status read_root(const json_t *root, Tokenizer **out) {
    const json_t *model = json_object_get(root, "model"), *splitter = json_object_get(root, "pre_tokenizer");
    static const char *const empty[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    if (!json_is_object(model)) return status_usage(_("it has no model"));
    if (!has_type(model, "BPE")) return unknown("model", model);
    if (!json_is_object(json_object_get(model, "vocab"))) return status_usage(_("model.vocab is no object"));
    for (int i = 0; i < 2; i++) {
        const char *value = text_of(model, empty[i]);
        if (value && *value) return status_usage(_("model.%s is not known here"), empty[i]);
    }
    if (is_absent(splitter)) return read_sentence_piece(root, out);
    if (has_type(splitter, "ByteLevel") || has_type(splitter, "Sequence")) return read_byte_level(root, out);
    return unknown("pre_tokenizer", splitter);
}

Status tokenizer_json_parse(const char *name, const char *s, size_t bytes, Tokenizer **out) {
    json_error_t error;
    *out = NULL;
    json_t *root = json_loadb(s, bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root) return status_usage(_("'%s' line %d is not JSON: %s"), name, error.line, error.text);
    Status status = read_root(root, out);
    json_decref(root);
    return status_is_ok(&status) ? status : status_usage("'%s': %s", name, status.text);
}
