#include "io/tokenizer_write.h"

#include "bug.h"
#include "intl.h"
#include "mem.h"
#include "text/byte_level.h"
#include "utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* --- the parts of a file --- */

/* A pre-tokenizer that cuts at the matches of a regular expression. */
static json_t *split(const char *pattern, const char *behavior) {
    return json_pack("{s:s, s:{s:s}, s:s, s:b}", "type", "Split", "pattern", "Regex", pattern, "behavior", behavior,
                     "invert", 0);
}

static json_t *replace(const char *pattern, const char *content) {
    return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", pattern, "content", content);
}

static json_t *byte_level(void) {
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0, "trim_offsets", 0, "use_regex",
                     0);
}

/* <s> before every text. */
static json_t *template(void) {
    json_t *first = json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", vocab_special[VOCAB_BOS], "type_id", 0);
    json_t *a = json_pack("{s:{s:s, s:i}}", "Sequence", "id", "A", "type_id", 0);
    json_t *b = json_pack("{s:{s:s, s:i}}", "Sequence", "id", "B", "type_id", 1);
    json_t *t = json_pack("{s:s, s:[O,O], s:[O,O,O], s:{s:{s:s, s:[i], s:[s]}}}", "type", "TemplateProcessing",
                          "single", first, a, "pair", first, a, b, "special_tokens", vocab_special[VOCAB_BOS], "id",
                          vocab_special[VOCAB_BOS], "ids", VOCAB_BOS, "tokens", vocab_special[VOCAB_BOS]);
    json_decref(first);
    json_decref(a);
    json_decref(b);
    return t;
}

/* Cut out of a text wherever they stand alone, as our own words are. */
static json_t *added_tokens(void) {
    json_t *list = json_array();
    for (int id = 0; id < VOCAB_SPECIALS; id++)
        json_array_append_new(list,
                              json_pack("{s:i, s:s, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", vocab_special[id],
                                        "single_word", 1, "lstrip", 0, "rstrip", 0, "normalized", 0, "special", 1));
    return list;
}

/* Takes over all of them. */
static json_t *file_of(json_t *added, json_t *normalizer, json_t *pre, json_t *decoder, json_t *model) {
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding",
                     "added_tokens", added, "normalizer", normalizer, "pre_tokenizer", pre, "post_processor",
                     template(), "decoder", decoder, "model", model);
}

/* The unknown token is no piece, so what is unknown is refused: its name is one that no word has. */
static json_t *word_level(json_t *vocab) {
    Str unknown;
    str_init(&unknown);
    str_add(&unknown, "<unk>");
    while (json_object_get(vocab, unknown.s)) str_add_char(&unknown, '>');
    json_t *model = json_pack("{s:s, s:o, s:s}", "type", "WordLevel", "vocab", vocab, "unk_token", unknown.s);
    str_done(&unknown);
    return model;
}

static json_t *bpe_model(json_t *vocab, json_t *merges) {
    return json_pack("{s:s, s:n, s:n, s:n, s:n, s:b, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", 0, "byte_fallback", 0,
                     "ignore_merges", 0, "vocab", vocab, "merges", merges);
}

static json_t *specials(void) {
    json_t *vocab = json_object();
    for (int id = 0; id < VOCAB_SPECIALS; id++) json_object_set_new(vocab, vocab_special[id], json_integer(id));
    return vocab;
}

/* --- pieces --- */

/* Adds a piece; gives why it cannot be one. */
static const char *add_piece(json_t *vocab, const char *s, size_t n, int id) {
    size_t bad;
    if (!utf8_valid(s, n, &bad)) return N_("a token is no UTF-8");
    if (json_object_get(vocab, s)) return N_("a token is called as another, or as <pad>, <s> or </s>");
    json_object_set_new(vocab, s, json_integer(id));
    return NULL;
}

/* Words or characters. */
static const char *add_texts(const Vocab *v, json_t *vocab) {
    const char *reason = NULL;
    Str text;
    str_init(&text);
    for (int id = VOCAB_SPECIALS; !reason && id < vocab_size(v); id++) {
        str_clear(&text);
        vocab_join(v, &id, 1, &text);
        reason = add_piece(vocab, text.s, text.len, id);
    }
    str_done(&text);
    return reason;
}

/* A word that has <s> in it would be cut there. */
static bool hides_special(const Vocab *v) {
    for (int id = VOCAB_SPECIALS; id < vocab_size(v); id++)
        for (int i = 0; i < VOCAB_SPECIALS; i++)
            if (strstr(vocab_token(v, id), vocab_special[i])) return true;
    return false;
}

static const char *words_file(const Vocab *v, json_t **out) {
    json_t *vocab = specials();
    const char *reason = add_texts(v, vocab);
    json_t *added = hides_special(v) ? json_array() : added_tokens();
    *out = file_of(added, json_null(), split("[ \\t]+", "Removed"), json_null(), word_level(vocab));
    return reason;
}

static const char *chars_file(const Vocab *v, json_t **out) {
    json_t *vocab = specials();
    const char *reason = add_texts(v, vocab);
    json_t *fuse = json_pack("{s:s}", "type", "Fuse");
    *out = file_of(json_array(), json_null(), split("[\\s\\S]", "Isolated"), fuse, word_level(vocab));
    return reason;
}

static const char *bytes_file(json_t **out) {
    json_t *vocab = specials();
    const char *reason = NULL;
    ByteSpellings spelling;
    byte_spellings(&spelling);
    for (int byte = 0; !reason && byte < 256; byte++)
        reason = add_piece(vocab, spelling.of[byte], strlen(spelling.of[byte]), VOCAB_SPECIALS + byte);
    *out = file_of(json_array(), json_null(), byte_level(), byte_level(), bpe_model(vocab, json_array()));
    return reason;
}

/* --- sub-words --- */

/* A character that no unit is, to stand for the end of a word. */
static bool find_marker(const Bpe *b, char marker[5]) {
    enum { USUAL = 0x2581, PRIVATE = 0xE000, LAST = 0xF8FF };
    for (uint32_t code = USUAL; code <= LAST; code = code == USUAL ? PRIVATE : code + 1) {
        int n = utf8_encode(code, marker);
        marker[n] = '\0';
        if (bpe_find(b, marker, (size_t)n, false) < 0) return true;
    }
    return false;
}

static void add_symbol(const Bpe *b, int symbol, const char *marker, Str *out) {
    size_t n;
    const char *name = bpe_name(b, symbol, &n);
    bool ends = bpe_ends_word(b, symbol);
    str_add_n(out, name, ends ? n - BPE_END_BYTES : n);
    if (ends) str_add(out, marker);
}

/* Ours are applied one after the other, theirs as long as any fits: the same, unless a symbol that an earlier merge
 * takes is made once more by a later one. */
static bool depends_on_order(const Bpe *b) {
    int *made = MEM_ARRAY(int, (size_t)bpe_symbols(b));
    bool depends = false;
    for (int rank = 1; rank <= bpe_merges(b); rank++) made[bpe_merge(b, rank)->merged] = rank;
    for (int rank = 1; rank <= bpe_merges(b) && !depends; rank++)
        depends = made[bpe_merge(b, rank)->left] >= rank || made[bpe_merge(b, rank)->right] >= rank;
    mem_free(made);
    return depends;
}

static const char *add_symbols(const Bpe *b, const char *marker, json_t *vocab, json_t *merges) {
    const char *reason = NULL;
    Str text;
    str_init(&text);
    for (int symbol = 0; !reason && symbol < bpe_symbols(b); symbol++) {
        str_clear(&text);
        add_symbol(b, symbol, marker, &text);
        reason = add_piece(vocab, text.s, text.len, VOCAB_SPECIALS + symbol);
    }
    for (int rank = 1; !reason && rank <= bpe_merges(b); rank++) {
        str_clear(&text);
        add_symbol(b, bpe_merge(b, rank)->left, marker, &text);
        str_add_char(&text, ' ');
        add_symbol(b, bpe_merge(b, rank)->right, marker, &text);
        json_array_append_new(merges, json_string(text.s));
    }
    str_done(&text);
    return reason;
}

/* Blanks become the end of a word, and the text ends with one. */
static json_t *end_words(const char *marker) {
    Str missing;
    str_init(&missing);
    str_addf(&missing, "(?<=[^%s])(?![\\s\\S])", marker);
    json_t *strip = json_pack("{s:s, s:b, s:b}", "type", "Strip", "strip_left", 1, "strip_right", 0);
    json_t *n = json_pack("{s:s, s:[o,o,o]}", "type", "Sequence", "normalizers", strip, replace("\\s+", marker),
                          replace(missing.s, marker));
    str_done(&missing);
    return n;
}

static const char *merges_file(const Bpe *b, json_t **out) {
    char marker[5] = "";
    if (bpe_unit(b) != BPE_CHAR || !find_marker(b, marker)) return N_("its sub-words are not of characters");
    if (depends_on_order(b)) return N_("a later merge makes a sub-word that an earlier one takes");
    Str word;
    str_init(&word);
    str_addf(&word, "[^%s]*%s", marker, marker);
    json_t *vocab = specials(), *merges = json_array(), *pre = split(word.s, "Isolated");
    str_done(&word);
    const char *reason = add_symbols(b, marker, vocab, merges);
    json_t *decoder = json_pack("{s:s, s:[{s:s, s:{s:s}, s:s}, {s:s}]}", "type", "Sequence", "decoders", "type",
                                "Replace", "pattern", "String", marker, "content", " ", "type", "Fuse");
    *out = file_of(json_array(), end_words(marker), pre, decoder, bpe_model(vocab, merges));
    return reason;
}

/* --- a file --- */

static void add_json(const json_t *root, Str *out) {
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    BUG_ON(!text);
    str_add(out, text);
    str_add_char(out, '\n');
    free(text);
}

const char *tokenizer_write(const Vocab *v, Str *out) {
    json_t *root = NULL;
    const char *reason;
    switch (vocab_unit(v)) {
    case VOCAB_WORD:
        reason = words_file(v, &root);
        break;
    case VOCAB_CHAR:
        reason = chars_file(v, &root);
        break;
    case VOCAB_BYTE:
        reason = bytes_file(&root);
        break;
    case VOCAB_BPE:
        reason = merges_file(vocab_bpe(v), &root);
        break;
    default:
        reason = N_("it came with a model of others");
        break;
    }
    if (!reason) add_json(root, out);
    json_decref(root);
    return reason;
}

void tokenizer_write_config(int context, Str *out) {
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:i, s:b}", "tokenizer_class", "PreTrainedTokenizerFast",
                             "bos_token", vocab_special[VOCAB_BOS], "eos_token", vocab_special[VOCAB_EOS], "pad_token",
                             vocab_special[VOCAB_PAD], "model_max_length", context, "clean_up_tokenization_spaces", 0);
    add_json(root, out);
    json_decref(root);
}
