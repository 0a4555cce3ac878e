#include "tokenizer_steps.h"

#include "intl.h"
#include "io/json_text.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

enum { STEPS = 64, DEEP = 8 }; /* of one kind in a file, and sequences in sequences */

/* ---- small readers ---- */

const char *tokenizer_text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

bool tokenizer_is_true(const json_t *object, const char *key) {
    return json_is_true(json_object_get(object, key));
}

bool tokenizer_has_type(const json_t *object, const char *type) {
    const char *is = tokenizer_text(object, "type");
    return is && strcmp(is, type) == 0;
}

Status tokenizer_add_pieces(const json_t *vocab, PieceTable *pieces) {
    const char *piece;
    json_t *id;
    json_object_foreach((json_t *)vocab, piece, id) {
        if (!json_is_integer(id)) return status_usage(_("the id of piece '%s' is not a whole number"), piece);
        STATUS_TRY(piece_table_add(pieces, piece, strlen(piece), json_integer_value(id)));
    }
    return status_ok();
}

Status tokenizer_unknown(const char *what, const json_t *object) {
    const char *type = tokenizer_text(object, "type");
    return status_usage(_("%s '%s' is not known here"), what, type ? type : "?");
}

Status tokenizer_check_keys(const char *what, const json_t *object, const char *const *keys) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        bool known = false;
        for (int i = 0; keys[i] && !known; i++) known = strcmp(key, keys[i]) == 0;
        if (!known) return status_usage(_("%s: '%s' is not known here"), what, key);
    }
    return status_ok();
}

typedef Status ReadStep(const json_t *object, Pipeline *p);

/* A step, or a Sequence of them under the key LIST, and so on inside. */
static Status read_sequence(const char *what, const json_t *object, const char *list, ReadStep *read, Pipeline *p,
                            int deep) {
    if (!tokenizer_has_type(object, "Sequence")) return read(object, p);
    const json_t *steps = json_object_get(object, list);
    if (!json_is_array(steps)) return status_usage(_("%s: a Sequence has no list '%s'"), what, list);
    if (deep == DEEP || json_array_size(steps) > STEPS)
        return status_usage(_("%s: more than %d steps, or sequences in more than %d sequences"), what, STEPS, DEEP);
    for (size_t i = 0; i < json_array_size(steps); i++)
        STATUS_TRY(read_sequence(what, json_array_get(steps, i), list, read, p, deep + 1));
    return status_ok();
}

/* {"String": text} or {"Regex": pattern}; *pattern is NULL for a text. */
static Status read_pattern(const char *what, const json_t *object, char **text, Pattern **pattern) {
    const char *plain = tokenizer_text(object, "String"), *regex = tokenizer_text(object, "Regex");
    if (plain && *plain) {
        *text = mem_text(plain);
        return status_ok();
    }
    if (!regex) return status_usage(_("%s: its pattern is neither a String nor a Regex"), what);
    Status s = pattern_parse(regex, pattern);
    return status_is_ok(&s) ? s : status_usage("%s: %s", what, s.text);
}

/* ---- normalizer ---- */

static Status read_replace(const json_t *object, Pipeline *p) {
    static const char *const keys[] = {"type", "pattern", "content", NULL};
    const char *content = tokenizer_text(object, "content");
    NormalizeStep step = {.kind = NORMALIZE_REPLACE};
    STATUS_TRY(tokenizer_check_keys("normalizer Replace", object, keys));
    if (!content) return status_usage(_("normalizer Replace: it has no content"));
    STATUS_TRY(read_pattern("normalizer Replace", json_object_get(object, "pattern"), &step.text, &step.pattern));
    step.content = mem_text(content);
    normalizer_add(&p->normalizer, step);
    return status_ok();
}

static Status read_normalize_step(const json_t *object, Pipeline *p) {
    static const struct {
        const char *type;
        NormalizeStep step;
    } known[] = {
        {"NFC", {.kind = NORMALIZE_FORM, .form = UTF8_NFC}},
        {"NFD", {.kind = NORMALIZE_FORM, .form = UTF8_NFD}},
        {"NFKC", {.kind = NORMALIZE_FORM, .form = UTF8_NFKC}},
        {"NFKD", {.kind = NORMALIZE_FORM, .form = UTF8_NFKD}},
        {"Lowercase", {.kind = NORMALIZE_LOWERCASE}},
        {"StripAccents", {.kind = NORMALIZE_STRIP_ACCENTS}},
        {"Strip", {.kind = NORMALIZE_STRIP}},
        {"Prepend", {.kind = NORMALIZE_PREPEND}},
    };
    static const char *const keys[] = {"type", "prepend", "strip_left", "strip_right", NULL};
    if (tokenizer_has_type(object, "Replace")) return read_replace(object, p);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!tokenizer_has_type(object, known[i].type)) continue;
        STATUS_TRY(tokenizer_check_keys("normalizer", object, keys));
        NormalizeStep step = known[i].step;
        step.left = tokenizer_is_true(object, "strip_left");
        step.right = tokenizer_is_true(object, "strip_right");
        const char *prepend = tokenizer_text(object, "prepend");
        if (step.kind == NORMALIZE_PREPEND && !prepend) return status_usage(_("normalizer Prepend: it has no prepend"));
        if (step.kind == NORMALIZE_PREPEND) step.content = mem_text(prepend);
        normalizer_add(&p->normalizer, step);
        return status_ok();
    }
    return tokenizer_unknown("normalizer", object);
}

Status tokenizer_read_normalizer(const json_t *normalizer, Pipeline *p) {
    if (json_text_is_absent(normalizer)) return status_ok();
    return read_sequence("normalizer", normalizer, "normalizers", read_normalize_step, p, 0);
}

/* ---- pre_tokenizer ---- */

static Status read_place(const char *what, const json_t *object, PrePlace *place) {
    static const char *const names[] = {[PRE_REMOVED] = "Removed",
                                        [PRE_ISOLATED] = "Isolated",
                                        [PRE_WITH_PREVIOUS] = "MergedWithPrevious",
                                        [PRE_WITH_NEXT] = "MergedWithNext",
                                        [PRE_CONTIGUOUS] = "Contiguous"};
    const char *name = tokenizer_text(object, "behavior");
    *place = PRE_ISOLATED;
    if (!name) return status_ok();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *place = (PrePlace)i;
        return status_ok();
    }
    return status_usage(_("%s: behavior '%s' is not known here"), what, name);
}

static Status read_split(const json_t *object, Pipeline *p) {
    static const char *const keys[] = {"type", "pattern", "behavior", "invert", NULL};
    PreStep step = {.kind = PRE_SPLIT, .invert = tokenizer_is_true(object, "invert")};
    STATUS_TRY(tokenizer_check_keys("pre_tokenizer Split", object, keys));
    STATUS_TRY(read_place("pre_tokenizer Split", object, &step.place));
    STATUS_TRY(read_pattern("pre_tokenizer Split", json_object_get(object, "pattern"), &step.text, &step.pattern));
    pre_tokenizer_add(&p->pre, step);
    return status_ok();
}

static Status read_byte_level(const json_t *object, Pipeline *p) {
    static const char *const keys[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL};
    STATUS_TRY(tokenizer_check_keys("pre_tokenizer ByteLevel", object, keys));
    if (tokenizer_is_true(object, "add_prefix_space")) pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_PREFIX_BLANK});
    if (!json_is_false(json_object_get(object, "use_regex"))) pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_GPT2});
    pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_BYTES});
    return status_ok();
}

/* Older files say add_prefix_space, newer ones prepend_scheme. */
static Status read_scheme(const json_t *object, PreStep *step) {
    static const char *const names[] = {[PREFIX_NEVER] = "never", [PREFIX_FIRST] = "first", [PREFIX_ALWAYS] = "always"};
    const char *scheme = tokenizer_text(object, "prepend_scheme");
    step->prefix = json_is_false(json_object_get(object, "add_prefix_space")) ? PREFIX_NEVER : PREFIX_ALWAYS;
    if (!scheme) return status_ok();
    for (int i = 0; i < 3; i++) {
        if (strcmp(scheme, names[i]) != 0) continue;
        step->prefix = i;
        return status_ok();
    }
    return status_usage(_("Metaspace: prepend_scheme '%s' is not known here"), scheme);
}

static Status read_metaspace(const json_t *object, Pipeline *p) {
    static const char *const keys[] = {"type",           "replacement", "str_rep", "add_prefix_space",
                                       "prepend_scheme", "split",       NULL};
    const char *replacement = tokenizer_text(object, "replacement");
    PreStep step = {.kind = PRE_METASPACE, .splits = !json_is_false(json_object_get(object, "split"))};
    STATUS_TRY(tokenizer_check_keys("pre_tokenizer Metaspace", object, keys));
    if (!replacement || !*replacement) return status_usage(_("Metaspace: it has no replacement"));
    STATUS_TRY(read_scheme(object, &step));
    step.text = mem_text(replacement);
    pre_tokenizer_add(&p->pre, step);
    return status_ok();
}

static Status read_kinds(const json_t *object, Pipeline *p) {
    static const char *const keys[] = {"type", "behavior", "individual_digits", NULL};
    PrePlace place;
    STATUS_TRY(tokenizer_check_keys("pre_tokenizer", object, keys));
    STATUS_TRY(read_place("pre_tokenizer", object, &place));
    bool bert = tokenizer_has_type(object, "BertPreTokenizer");
    if (tokenizer_has_type(object, "Digits")) {
        place = tokenizer_is_true(object, "individual_digits") ? PRE_ISOLATED : PRE_CONTIGUOUS;
        pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_DIGITS, .place = place});
    } else if (tokenizer_has_type(object, "Whitespace")) {
        pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_WHITESPACE, .place = PRE_ISOLATED});
    } else if (tokenizer_has_type(object, "WhitespaceSplit") || bert) {
        pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_BLANKS, .place = PRE_ISOLATED});
    }
    if (tokenizer_has_type(object, "Punctuation") || bert)
        pre_tokenizer_add(&p->pre, (PreStep){.kind = PRE_PUNCTUATION, .place = place});
    return status_ok();
}

static Status read_pre_step(const json_t *object, Pipeline *p) {
    static const struct {
        const char *type;
        ReadStep *read;
    } known[] = {{"ByteLevel", read_byte_level},  {"Split", read_split},           {"Metaspace", read_metaspace},
                 {"Digits", read_kinds},          {"Punctuation", read_kinds},     {"Whitespace", read_kinds},
                 {"WhitespaceSplit", read_kinds}, {"BertPreTokenizer", read_kinds}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tokenizer_has_type(object, known[i].type)) return known[i].read(object, p);
    return tokenizer_unknown("pre_tokenizer", object);
}

Status tokenizer_read_pre_tokenizer(const json_t *pre_tokenizer, Pipeline *p) {
    if (json_text_is_absent(pre_tokenizer)) return status_ok();
    return read_sequence("pre_tokenizer", pre_tokenizer, "pretokenizers", read_pre_step, p, 0);
}

/* ---- decoder ---- */

static Status read_decode_replace(const json_t *object, Pipeline *p) {
    const char *text = tokenizer_text(json_object_get(object, "pattern"), "String"),
               *content = tokenizer_text(object, "content");
    if (!text || !*text || !content)
        return status_usage(_("decoder Replace: only a text that another text replaces is known here"));
    pipeline_add_decode(p, (DecodeStep){.kind = DECODE_REPLACE, .text = mem_text(text), .content = mem_text(content)});
    return status_ok();
}

static Status read_decode_strip(const json_t *object, Pipeline *p) {
    const char *content = tokenizer_text(object, "content");
    json_int_t start = json_integer_value(json_object_get(object, "start"));
    if (json_integer_value(json_object_get(object, "stop")) != 0)
        return status_usage(_("decoder Strip: stop is not known here"));
    if (!content || !*content || start < 0 || start > INT_MAX)
        return status_usage(_("decoder Strip: it has no content, or start is out of range"));
    pipeline_add_decode(p, (DecodeStep){.kind = DECODE_STRIP, .content = mem_text(content), .count = (int)start});
    return status_ok();
}

static Status read_decode_metaspace(const json_t *object, Pipeline *p) {
    const char *replacement = tokenizer_text(object, "replacement");
    PreStep scheme = {.kind = PRE_METASPACE};
    if (!replacement || !*replacement) return status_usage(_("Metaspace: it has no replacement"));
    STATUS_TRY(read_scheme(object, &scheme));
    pipeline_add_decode(
        p, (DecodeStep){.kind = DECODE_BLANKS, .text = mem_text(replacement), .strips = scheme.prefix != PREFIX_NEVER});
    return status_ok();
}

static Status read_decode_suffix(const json_t *object, Pipeline *p) {
    const char *suffix = tokenizer_text(object, "suffix");
    pipeline_add_decode(p, (DecodeStep){.kind = DECODE_SUFFIX, .text = mem_text(suffix ? suffix : "</w>")});
    return status_ok();
}

static Status read_decode_plain(const json_t *object, Pipeline *p) {
    DecodeKind kind = tokenizer_has_type(object, "ByteLevel") ? DECODE_BYTES
                      : tokenizer_has_type(object, "Fuse")    ? DECODE_FUSE
                                                              : DECODE_FALLBACK;
    pipeline_add_decode(p, (DecodeStep){.kind = kind});
    return status_ok();
}

static Status read_decode_step(const json_t *object, Pipeline *p) {
    static const char *const
        plain[] = {"type", "add_prefix_space", "trim_offsets", "use_regex", NULL},
        *const replace[] = {"type", "pattern", "content", NULL},
        *const strip[] = {"type", "content", "start", "stop", NULL}, *const suffix[] = {"type", "suffix", NULL},
        *const metaspace[] = {"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split", NULL};
    static const struct {
        const char *type;
        const char *const *keys;
        ReadStep *read;
    } known[] = {{"ByteLevel", plain, read_decode_plain},   {"ByteFallback", plain, read_decode_plain},
                 {"Fuse", plain, read_decode_plain},        {"Replace", replace, read_decode_replace},
                 {"Strip", strip, read_decode_strip},       {"Metaspace", metaspace, read_decode_metaspace},
                 {"BPEDecoder", suffix, read_decode_suffix}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!tokenizer_has_type(object, known[i].type)) continue;
        STATUS_TRY(tokenizer_check_keys("decoder", object, known[i].keys));
        return known[i].read(object, p);
    }
    return tokenizer_unknown("decoder", object);
}

Status tokenizer_read_decoder(const json_t *decoder, Pipeline *p) {
    p->spaced = json_text_is_absent(decoder);
    return p->spaced ? status_ok() : read_sequence("decoder", decoder, "decoders", read_decode_step, p, 0);
}
