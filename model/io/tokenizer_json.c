#include "tokenizer_json.h"

#include "intl.h"
#include "io/json_text.h"
#include "mem.h"
#include "tokenizer_steps.h"

#include <string.h>

/* ---- added tokens ---- */

static Status add_token(Pipeline *p, const json_t *token) {
    static const char *const keys[] = {"id",     "content",    "special",     "lstrip",
                                       "rstrip", "normalized", "single_word", NULL};
    const char *content = tokenizer_text(token, "content");
    const json_t *id = json_object_get(token, "id");
    if (!content || !json_is_integer(id)) return status_usage(_("an added token has no content or no id"));
    STATUS_TRY(tokenizer_check_keys("added token", token, keys));
    int known = piece_table_find(&p->pieces, content, strlen(content));
    if (known < 0 || known != json_integer_value(id))
        STATUS_TRY(piece_table_add(&p->pieces, content, strlen(content), json_integer_value(id)));
    AddedToken added = {.id = (int)json_integer_value(id),
                        .normalized = tokenizer_is_true(token, "normalized"),
                        .single_word = tokenizer_is_true(token, "single_word"),
                        .left = tokenizer_is_true(token, "lstrip"),
                        .right = tokenizer_is_true(token, "rstrip")};
    if (added_tokens_has(&p->added, added.id)) return status_usage(_("id %d is cut out twice"), added.id);
    pipeline_add_token(p, added, content, strlen(content));
    return status_ok();
}

static Status add_tokens(Pipeline *p, const json_t *root) {
    const json_t *tokens = json_object_get(root, "added_tokens");
    size_t i;
    json_t *token;
    if (!json_text_is_absent(tokens) && !json_is_array(tokens)) return status_usage(_("added_tokens is no list"));
    json_array_foreach(tokens, i, token) STATUS_TRY(add_token(p, token));
    return status_ok();
}

/* Files do not say which token ends a text; by these names everybody calls it. */
static void find_last(Pipeline *p) {
    static const char *const names[] = {"</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>"};
    for (size_t i = 0; p->last < 0 && i < sizeof names / sizeof *names; i++) {
        int id = piece_table_find(&p->pieces, names[i], strlen(names[i]));
        if (id >= 0 && added_tokens_has(&p->added, id)) p->last = id;
    }
}

/* ---- what is put before a text ---- */

/* A template of one special token and the text: the token; of the text alone: nothing. */
static Status read_template(const json_t *processor, int *first) {
    const json_t *single = json_object_get(processor, "single"), *before = json_array_get(single, 0);
    size_t parts = json_array_size(single);
    const json_t *text = parts ? json_object_get(json_array_get(single, parts - 1), "Sequence") : NULL;
    if (!text || parts > 2) return status_usage(_("post_processor: only one token before the text is known here"));
    if (parts == 1) return status_ok();
    const char *name = tokenizer_text(json_object_get(before, "SpecialToken"), "id");
    const json_t *special = name ? json_object_get(json_object_get(processor, "special_tokens"), name) : NULL;
    const json_t *ids = json_object_get(special, "ids");
    long long id = json_array_size(ids) == 1 ? json_integer_value(json_array_get(ids, 0)) : -1;
    if (id < 0 || id >= PIECE_TABLE_IDS) return status_usage(_("post_processor: its special token has no id"));
    *first = (int)id;
    return status_ok();
}

static Status read_first(const json_t *processor, int *first) {
    if (json_text_is_absent(processor) || tokenizer_has_type(processor, "ByteLevel")) return status_ok();
    if (tokenizer_has_type(processor, "TemplateProcessing")) return read_template(processor, first);
    if (!tokenizer_has_type(processor, "Sequence")) return tokenizer_unknown("post_processor", processor);
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(processor, "processors"), i, part) {
        if (tokenizer_has_type(part, "ByteLevel")) continue;
        if (!tokenizer_has_type(part, "TemplateProcessing") || *first >= 0)
            return tokenizer_unknown("post_processor", part);
        STATUS_TRY(read_template(part, first));
    }
    return status_ok();
}

/* ---- the model ---- */

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

static Status add_merges(const json_t *model, Pipeline *p) {
    const json_t *merges = json_object_get(model, "merges");
    size_t i;
    json_t *merge;
    if (!json_is_array(merges)) return status_usage(_("model.merges is no list"));
    json_array_foreach(merges, i, merge) {
        const char *left, *right;
        size_t left_bytes;
        Status s = status_usage(_("it is not two pieces"));
        if (read_pair(merge, &left, &left_bytes, &right))
            s = pipeline_add_merge(p, left, left_bytes, right, strlen(right));
        if (!status_is_ok(&s)) return status_usage(_("merge %zu: %s"), i + 1, s.text);
    }
    return status_ok();
}

static char *affix(const json_t *model, const char *key) {
    const char *text = tokenizer_text(model, key);
    return text && *text ? mem_text(text) : NULL;
}

/* A word is a piece, or the unknown one; where that is none, it is refused. */
static Status read_words(const json_t *model, Pipeline *p) {
    static const char *const keys[] = {"type", "vocab", "unk_token", NULL};
    STATUS_TRY(tokenizer_check_keys("model", model, keys));
    if (!json_is_object(json_object_get(model, "vocab"))) return status_usage(_("model.vocab is no object"));
    p->words = true;
    return tokenizer_add_pieces(json_object_get(model, "vocab"), &p->pieces);
}

static Status read_model(const json_t *model, Pipeline *p) {
    static const char *const keys[] = {"type",
                                       "dropout",
                                       "unk_token",
                                       "continuing_subword_prefix",
                                       "end_of_word_suffix",
                                       "fuse_unk",
                                       "byte_fallback",
                                       "ignore_merges",
                                       "vocab",
                                       "merges",
                                       NULL};
    if (!json_is_object(model)) return status_usage(_("it has no model"));
    if (tokenizer_has_type(model, "WordLevel")) return read_words(model, p);
    if (!tokenizer_has_type(model, "BPE")) return tokenizer_unknown("model", model);
    STATUS_TRY(tokenizer_check_keys("model", model, keys));
    if (!json_is_object(json_object_get(model, "vocab"))) return status_usage(_("model.vocab is no object"));
    if (json_number_value(json_object_get(model, "dropout")) > 0)
        return status_usage(_("model.dropout is not known here"));
    STATUS_TRY(tokenizer_add_pieces(json_object_get(model, "vocab"), &p->pieces));
    p->byte_fallback = tokenizer_is_true(model, "byte_fallback");
    p->whole_words = tokenizer_is_true(model, "ignore_merges");
    p->fuses = tokenizer_is_true(model, "fuse_unk");
    p->inside = affix(model, "continuing_subword_prefix");
    p->at_end = affix(model, "end_of_word_suffix");
    return add_merges(model, p);
}

static Status find_unknown(const json_t *model, Pipeline *p) {
    const char *name = tokenizer_text(model, "unk_token");
    if (!name) return status_ok();
    p->unknown = piece_table_find(&p->pieces, name, strlen(name));
    return p->unknown >= 0 || p->words ? status_ok() : status_usage(_("model.unk_token '%s' is no piece"), name);
}

/* ---- a file ---- */

static Status fill(const json_t *root, Pipeline *p) {
    static const char *const keys[] = {"version",       "truncation",     "padding", "added_tokens", "normalizer",
                                       "pre_tokenizer", "post_processor", "decoder", "model",        NULL};
    STATUS_TRY(tokenizer_check_keys("tokenizer.json", root, keys));
    STATUS_TRY(read_model(json_object_get(root, "model"), p));
    STATUS_TRY(tokenizer_read_normalizer(json_object_get(root, "normalizer"), p));
    STATUS_TRY(tokenizer_read_pre_tokenizer(json_object_get(root, "pre_tokenizer"), p));
    STATUS_TRY(tokenizer_read_decoder(json_object_get(root, "decoder"), p));
    STATUS_TRY(add_tokens(p, root));
    STATUS_TRY(find_unknown(json_object_get(root, "model"), p));
    find_last(p);
    return read_first(json_object_get(root, "post_processor"), &p->first);
}

Status tokenizer_json_parse(const char *name, const char *s, size_t bytes, Tokenizer **out) {
    json_t *root;
    *out = NULL;
    Pipeline *p = pipeline_new();
    Status status = json_text_parse(s, bytes, &root);
    if (status_is_ok(&status)) status = fill(root, p);
    json_decref(root);
    if (status_is_ok(&status)) {
        status = pipeline_finish(p, out);
    } else {
        pipeline_free(p);
    }
    return status_is_ok(&status) ? status : status_usage("'%s': %s", name, status.text);
}
