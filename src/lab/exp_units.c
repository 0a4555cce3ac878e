/* text.units, bpe.bytes: what a token may be: a word, a character, a byte, a sub-word (lecture 3, 5.1, 5.5). */
#include "bpe_corpus.h"
#include "experiment.h"
#include "intl.h"
#include "io/gpt2_vocab.h"
#include "mem.h"
#include "text/bpe_encode.h"
#include "utf8.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN "<OOV>"
#define BLANK   "\xe2\x90\xa3" /* an open box stands for a blank where blanks separate */

static Status check_text(const Options *o) {
    const char *text = options_text(o, "text");
    if (!*text) return status_usage(_("text: it is empty"));
    if (!utf8_valid(text, strlen(text), NULL)) return status_usage(_("text: it is not UTF-8"));
    return bpe_corpus_check(o);
}

/* ---- counting ---- */

typedef struct {
    long tokens, unknown;
    Str text; /* the tokens with blanks between them */
} Count;

static void count_token(Count *c, const char *token, size_t bytes, bool known) {
    if (c->tokens++ > 0) str_add_char(&c->text, ' ');
    c->unknown += !known;
    if (known) {
        str_add_n(&c->text, token, bytes);
    } else {
        str_add(&c->text, UNKNOWN);
    }
}

static void count_words(Count *c, const BpeWords *words, const char *s, size_t n) {
    for (size_t blank, word; n > 0; s += blank + word, n -= blank + word) {
        bpe_next_word(s, n, BPE_CHAR, &blank, &word);
        if (word > 0) count_token(c, s + blank, word, bpe_words_find(words, s + blank, word) >= 0);
    }
}

/* CHARACTERS is an encoding with unit=char that knows those of the corpus. A blank is known. */
static void count_characters(Count *c, const Bpe *characters, const char *s, size_t n) {
    uint32_t code;
    for (int bytes; n > 0; s += bytes, n -= (size_t)bytes) {
        bytes = utf8_decode(s, n, &code);
        bool blank = utf8_is_space(code);
        bool known = blank || bpe_find(characters, s, (size_t)bytes, false) >= 0;
        count_token(c, blank ? BLANK : s, blank ? strlen(BLANK) : (size_t)bytes, known);
    }
}

static void count_bytes(Count *c, const char *s, size_t n) {
    Str hex;
    str_init(&hex);
    for (size_t i = 0; i < n; i++) {
        str_clear(&hex);
        bpe_add_hex(&hex, s + i, 1);
        count_token(c, hex.s, hex.len, true);
    }
    str_done(&hex);
}

static void count_pieces(Count *c, Tokenizer *t, const char *s, size_t n) {
    Pieces pieces = {0};
    Str name, shown;
    str_init(&name);
    str_init(&shown);
    tokenizer_encode(t, s, n, &pieces);
    for (long i = 0; i < pieces.count; i++) {
        str_clear(&name);
        str_clear(&shown);
        if (pieces.piece[i].id >= 0) tokenizer_name(t, pieces.piece[i].id, &name);
        bpe_add_shown(&shown, name.s, name.len);
        count_token(c, shown.s, shown.len, pieces.piece[i].id >= 0);
    }
    pieces_done(&pieces);
    str_done(&name);
    str_done(&shown);
}

/* The characters of a corpus as an encoding without merges. */
static BpeTrainer *characters_of(const BpeWords *words) {
    BpeWords same = *words;
    same.unit = BPE_CHAR;
    return bpe_trainer_new(&same);
}

/* ---- text.units ---- */

static const Option units_options[] = {
    {"text", OPTION_TEXT, "the farmer is paintng the brihgt walls", 0, 0, NULL, "", N_("what to cut")},
    {"merges", OPTION_INT, "400", 0, BPE_MOST_MERGES, NULL, "", N_("of the sub-words")},
    {"unit", OPTION_CHOICE, "byte", 0, 0, "char|byte", "", N_("what sub-words are made of")},
    {0},
};
static const Column units_columns[] = {{"unit", COLUMN_TEXT, ""},   {"tokens", COLUMN_INT, ""},
                                       {"unknown", COLUMN_INT, ""}, {"vocabulary", COLUMN_INT, ""},
                                       {"text", COLUMN_TEXT, ""},   {0}};

static void add_unit(Study *s, const char *unit, Count *c, int vocabulary) {
    Table *t = study_table(s, "units");
    table_add_text(t, unit);
    table_add_int(t, c->tokens);
    table_add_int(t, c->unknown);
    table_add_int(t, vocabulary);
    table_add_text_n(t, c->text.s, c->text.len);
    str_done(&c->text);
}

static Count count_new(void) {
    Count c = {0};
    str_init(&c.text);
    return c;
}

static void add_units(Study *s, const BpeWords *words, const Bpe *bpe, const Str *text) {
    Count word = count_new(), character = count_new(), byte = count_new(), piece = count_new();
    BpeTrainer *characters = characters_of(words);
    count_words(&word, words, text->s, text->len);
    add_unit(s, "word", &word, words->words);
    count_characters(&character, bpe_trainer_bpe(characters), text->s, text->len);
    add_unit(s, "char", &character, bpe_symbols(bpe_trainer_bpe(characters))); /* the blank in the place of </w> */
    count_bytes(&byte, text->s, text->len);
    add_unit(s, "byte", &byte, 256);
    Tokenizer *t = bpe_tokenizer(bpe, -1);
    count_pieces(&piece, t, text->s, text->len);
    add_unit(s, "bpe", &piece, bpe_symbols(bpe));
    tokenizer_free(t);
    bpe_trainer_free(characters);
}

static void add_text(const Options *o, Str *out) {
    const char *text = options_text(o, "text");
    if (options_flag(o, "lowercase")) {
        bpe_lowercase(text, strlen(text), out);
    } else {
        str_add(out, text);
    }
}

static Status run_units(Study *s) {
    BpeWords words;
    STATUS_TRY(bpe_corpus_words(s, bpe_unit_option(study_options(s)), &words));
    BpeTrainer *trainer;
    Status status = bpe_corpus_train(s, &words, (long)options_int(study_options(s), "merges"), &trainer);
    Str text;
    str_init(&text);
    add_text(study_options(s), &text);
    if (status_is_ok(&status)) add_units(s, &words, bpe_trainer_bpe(trainer), &text);
    study_about(s, "unknown_rule", "a token that the corpus does not have; it is written %s", UNKNOWN);
    study_about(s, "char", "blanks count as characters, are known and written %s", BLANK);
    study_about(s, "byte", "every byte of the text, in hex; all 256 are known");
    study_about(s, "bpe", "%s is part of the last token of a word or a token of its own", BPE_END);
    bpe_corpus_conventions(s, words.unit);
    str_done(&text);
    bpe_trainer_free(trainer);
    bpe_words_done(&words);
    return status;
}

const Experiment experiment_text_units = {
    .entry = {.id = "text.units",
              .section = "L3 5.1",
              .title = N_("a text as words, characters, bytes and sub-words"),
              .see = N_("A misspelt word is out of vocabulary as a word. As sub-words it falls into pieces that are "
                        "known; characters and bytes make the sequence several times longer."),
              .options = (const Option *const[]){units_options, bpe_corpus_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"units", units_columns}, {0}}},
    .check = check_text,
    .run = run_units,
};

/* ---- bpe.bytes ---- */

static const Option bytes_options[] = {
    {"text", OPTION_TEXT, "\xe7\x94\x9f\xe6\x88\x90\xe5\xbc\x8f", 0, 0, NULL, "", N_("what to take apart")},
    {"vocab", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("a folder with GPT-2's encoder.json and vocab.bpe, to count its tokens too")},
    {0},
};
static const Column bytes_columns[] = {
    {"index", COLUMN_INT, ""}, {"char", COLUMN_TEXT, ""}, {"byte_hex", COLUMN_TEXT, ""}, {0}};
static const Column counts_columns[] = {
    {"unit", COLUMN_TEXT, ""}, {"count", COLUMN_INT, ""}, {"unknown", COLUMN_INT, ""}, {0}};

static Status check_bytes(const Options *o) {
    const char *vocab = options_text(o, "vocab");
    STATUS_TRY(check_text(o));
    if (!vocab || access(vocab, R_OK) == 0) return status_ok();
    return status_usage(_("vocab: cannot read '%s': %s"), vocab, strerror(errno));
}

static void add_bytes(Table *t, const char *s, size_t n) {
    uint32_t code;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        bytes = (size_t)utf8_decode(s + i, n - i, &code);
        for (size_t k = 0; k < bytes; k++) {
            table_add_int(t, (long long)(i + k));
            table_add_text_n(t, s + i, bytes);
            bpe_add_hex_cell(t, s + i + k, 1);
        }
    }
}

static void add_count(Study *s, const char *unit, Count *c) {
    Table *t = study_table(s, "counts");
    table_add_text(t, unit);
    table_add_int(t, c->tokens);
    table_add_int(t, c->unknown);
    str_done(&c->text);
}

static Status add_vocabulary(Study *s, const char *dir, const Str *text) {
    Tokenizer *t;
    STATUS_TRY(gpt2_vocab_read(dir, &t));
    Count piece = count_new();
    count_pieces(&piece, t, text->s, text->len);
    add_count(s, "bpe", &piece);
    tokenizer_free(t);
    return status_ok();
}

static Status run_bytes(Study *s) {
    const char *vocab = options_text(study_options(s), "vocab");
    BpeWords words;
    STATUS_TRY(bpe_corpus_words(s, BPE_CHAR, &words));
    BpeTrainer *characters = characters_of(&words);
    Count character = count_new(), byte = count_new();
    Str text;
    str_init(&text);
    add_text(study_options(s), &text);
    add_bytes(study_table(s, "bytes"), text.s, text.len);
    count_characters(&character, bpe_trainer_bpe(characters), text.s, text.len);
    add_count(s, "char", &character);
    count_bytes(&byte, text.s, text.len);
    add_count(s, "byte", &byte);
    Status status = vocab ? add_vocabulary(s, vocab, &text) : status_ok();
    study_about(s, "unknown_rule", "char: a character that the corpus does not have; all 256 bytes are known");
    study_about(s, "char", "the character that the byte is part of; blanks are known");
    study_about(s, "bpe", "the tokens of vocab=, when that is given");
    str_done(&text);
    bpe_trainer_free(characters);
    bpe_words_done(&words);
    return status;
}

const Experiment experiment_bpe_bytes = {
    .entry = {.id = "bpe.bytes",
              .section = "L3 5.5",
              .title = N_("characters as bytes: the units that nothing is unknown to"),
              .see =
                  N_("Three Chinese characters are nine bytes. Characters that the corpus never had are unknown; bytes "
                     "never are, at the price of longer sequences."),
              .options = (const Option *const[]){bytes_options, bpe_corpus_rows, experiment_common_options, NULL},
              .tables = (const TableSpec[]){{"bytes", bytes_columns}, {"counts", counts_columns}, {0}}},
    .check = check_bytes,
    .run = run_bytes,
};
