#include "bpe_source.h"

#include "bpe_merges.h"
#include "intl.h"
#include "io/gpt2_vocab.h"
#include "io/tokenizer_file.h"
#include "text/bpe_encode.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const Option bpe_source_rows[] = {
    {"vocab", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("a folder with GPT-2's encoder.json and vocab.bpe")},
    {"tokenizer", OPTION_TEXT, NULL, 0, 0, NULL, "file",
     N_("a tokenizer.json, llama2.c's tokenizer.bin, or a folder of one")},
    {"merges_file", OPTION_TEXT, NULL, 0, 0, NULL, "file", N_("merges as bpe.train writes them, instead of a corpus")},
    {"merges", OPTION_INT, "400", 0, BPE_MOST_MERGES, NULL, "",
     N_("how many to use; of a file all, when this is not given")},
    {0},
};

/* ---- which ---- */

static const char *const given_sources[] = {"vocab", "tokenizer", "merges_file", "corpus"};
static const char *const settings[] = {"sentences", "merges", "unit", "lowercase"};

static Status check_together(const Options *o) {
    const char *source = NULL;
    for (size_t i = 0; i < sizeof given_sources / sizeof *given_sources; i++) {
        if (!options_is_given(o, given_sources[i])) continue;
        if (source)
            return status_usage(_("give one of vocab=, tokenizer=, merges_file= and corpus=, not %s= and %s="), source,
                                given_sources[i]);
        source = given_sources[i];
    }
    for (size_t i = 0; source && strcmp(source, "corpus") != 0 && i < sizeof settings / sizeof *settings; i++) {
        bool fits = strcmp(source, "merges_file") == 0 && i > 0;
        if (options_is_given(o, settings[i]) && !fits)
            return status_usage(_("%s= says nothing about %s="), settings[i], source);
    }
    return status_ok();
}

Status bpe_source_check(const Options *o) {
    STATUS_TRY(check_together(o));
    for (size_t i = 0; i < 3; i++) {
        const char *path = options_text(o, given_sources[i]);
        if (path && access(path, R_OK) != 0)
            return status_usage(_("%s: cannot read '%s': %s"), given_sources[i], path, strerror(errno));
    }
    return bpe_corpus_check(o);
}

/* ---- opening ---- */

static Status learn(Study *s, BpeSource *b) {
    BpeWords words;
    STATUS_TRY(bpe_corpus_words(s, bpe_unit_option(study_options(s)), &words));
    Status status = bpe_corpus_train(s, &words, (long)options_int(study_options(s), "merges"), &b->trainer);
    bpe_words_done(&words);
    b->bpe = bpe_trainer_bpe(b->trainer);
    return status;
}

static Status read_merges(Study *s, BpeSource *b) {
    const Options *o = study_options(s);
    BpeUnit unit = bpe_unit_option(o);
    long merges = options_is_given(o, "merges") ? (long)options_int(o, "merges") : -1;
    STATUS_TRY(
        bpe_merges_read(options_text(o, "merges_file"), options_is_given(o, "unit") ? &unit : NULL, merges, &b->read));
    b->bpe = b->read;
    return status_ok();
}

Status bpe_source_open(Study *s, BpeSource *b) {
    const Options *o = study_options(s);
    *b = (BpeSource){0};
    if (options_is_set(o, "vocab")) return gpt2_vocab_read(options_text(o, "vocab"), &b->tokenizer);
    if (options_is_set(o, "tokenizer")) return tokenizer_file_read(options_text(o, "tokenizer"), &b->tokenizer);
    Status status = options_is_set(o, "merges_file") ? read_merges(s, b) : learn(s, b);
    if (status_is_ok(&status)) {
        b->tokenizer = bpe_tokenizer(b->bpe, -1);
    } else {
        bpe_source_close(b);
    }
    return status;
}

void bpe_source_close(BpeSource *b) {
    tokenizer_free(b->tokenizer);
    bpe_trainer_free(b->trainer);
    bpe_free(b->read);
    *b = (BpeSource){0};
}

void bpe_source_conventions(Study *s, const BpeSource *b) {
    study_about(s, "vocabulary", "%d tokens, %d merges", tokenizer_size(b->tokenizer),
                tokenizer_rules(b->tokenizer)->count);
    if (b->bpe) {
        study_about(s, "unit_used", "%s", bpe_unit(b->bpe) == BPE_CHAR ? "char" : "byte");
        study_about(s, "order_of_ids", "0 is %s, then the units in byte order, then what merges made, in their order",
                    BPE_END);
        study_about(s, "order_of_merges", "each merge once, in the order in which they were learnt");
    } else {
        bool ranks = tokenizer_rules(b->tokenizer)->order == MERGE_BY_RANK;
        study_about(s, "order_of_merges", "the pair of lowest rank, %s",
                    ranks ? "wherever it stands, again and again" : "one place at a time, the leftmost of equals");
        study_about(s, "spelling",
                    "as the vocabulary has it: of bytes, \xc4\xa0 (U+0120) is a blank and \xc4\x8a "
                    "(U+010A) a newline; of SentencePiece, \xe2\x96\x81 (U+2581) is a blank");
    }
    study_about(s, "rank", "merges count from 1");
}

/* ---- tokens in tables ---- */

void bpe_source_name(const BpeSource *b, int id, Str *out) {
    Str name;
    str_init(&name);
    tokenizer_name(b->tokenizer, id, &name);
    bpe_add_shown(out, name.s, name.len);
    str_done(&name);
}

void bpe_source_hex(const BpeSource *b, int id, Str *out) {
    Str bytes;
    str_init(&bytes);
    if (b->bpe) {
        tokenizer_name(b->tokenizer, id, &bytes);
    } else {
        tokenizer_bytes(b->tokenizer, id, -1, &bytes);
    }
    bpe_add_hex(out, bytes.s, bytes.len);
    str_done(&bytes);
}
