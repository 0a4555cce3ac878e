#include "bpe_corpus.h"

#include "assets.h"
#include "corpora.h"
#include "file.h"
#include "intl.h"
#include "mem.h"
#include "rng.h"
#include "utf8.h"

#include <string.h>

const Option bpe_corpus_rows[] = {
    {"corpus", OPTION_TEXT, "morph", 0, 0, NULL, "file",
     N_("what to learn from: morph, farm, stories, tags, a grammar or a text; - for standard input")},
    {"sentences", OPTION_INT, "20000", 1, 10000000, NULL, "", N_("how many to draw when the corpus is a grammar")},
    {"lowercase", OPTION_FLAG, "0", 0, 0, NULL, "", N_("1: capitals count as small letters")},
    {0},
};
const Option bpe_unit_rows[] = {
    {"unit", OPTION_CHOICE, "char", 0, 0, "char|byte", "", N_("what words are made of before the first merge")},
    {0},
};

BpeUnit bpe_unit_option(const Options *o) {
    return options_choice(o, "unit") == 0 ? BPE_CHAR : BPE_BYTE;
}

Status bpe_corpus_check(const Options *o) {
    return corpora_check(options_text(o, "corpus"));
}

/* ---- a grammar ---- */

static Status draw(Study *s, Language *l, BpeWords *words) {
    long n = (long)options_int(study_options(s), "sentences");
    Str text;
    str_init(&text);
    Status status = status_ok();
    for (long i = 0; status_is_ok(&status) && i < n; i++) {
        Rng r = rng_at(study_seed(s), "corpus.train", (uint64_t)i);
        str_clear(&text);
        status = language_sample(l, &r, &text);
        if (status_is_ok(&status) && (size_t)words->total > BPE_WORDS_MOST_BYTES)
            status = status_usage(_("sentences: %ld are more words than can be counted"), n);
        if (status_is_ok(&status)) bpe_words_add(words, text.s, text.len);
        if (!study_progress(s, 0.5 * (double)i / (double)n, _("sentence %ld of %ld"), i + 1, n))
            status = status_cancelled();
    }
    str_done(&text);
    return status;
}

static Status draw_from(Study *s, const Grammar *g, BpeWords *words) {
    Language *l;
    STATUS_TRY(language_new(g, NULL, NULL, &l));
    Status status = draw(s, l, words);
    language_free(l);
    return status;
}

static Status read_and_draw(Study *s, const char *path, BpeWords *words) {
    Grammar *g;
    STATUS_TRY(grammar_read(path, &g));
    Status status = draw_from(s, g, words);
    grammar_free(g);
    return status;
}

Status bpe_corpus_draw(Study *s, const Grammar *g, BpeWords *words) {
    bpe_words_init(words, BPE_CHAR, false);
    Status status = draw_from(s, g, words);
    if (status_is_ok(&status) && words->words == 0) status = status_usage(_("grammar: its sentences have no words"));
    if (!status_is_ok(&status)) bpe_words_done(words);
    return status;
}

/* ---- a text ---- */

enum { PART_BYTES = 1 << 20 }; /* between two looks at whether to stop */

static long line_of(const char *s, size_t at) {
    long line = 1;
    for (size_t i = 0; i < at; i++) line += s[i] == '\n';
    return line;
}

/* Where the part that begins S ends: behind a line, so that no word is cut. */
static size_t part_of(const char *s, size_t n) {
    if (n <= PART_BYTES) return n;
    const char *end = memchr(s + PART_BYTES, '\n', n - PART_BYTES);
    return end ? (size_t)(end - s) + 1 : n;
}

static Status count(Study *s, const char *text, size_t n, BpeWords *words) {
    for (size_t at = 0, part; at < n; at += part) {
        part = part_of(text + at, n - at);
        bpe_words_add(words, text + at, part);
        if (!study_progress(s, 0.5 * (double)at / (double)n, _("counting words"))) return status_cancelled();
    }
    return status_ok();
}

static Status read_text(Study *s, const char *path, BpeWords *words) {
    Str text;
    str_init(&text);
    Status status = file_read(path, BPE_WORDS_MOST_BYTES / 2, &text);
    size_t mark = 0, bad;
    if (status_is_ok(&status) && words->unit == BPE_CHAR) {
        if (text.len >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0) mark = 3;
        if (!utf8_valid(text.s, text.len, &bad))
            status = status_usage(_("corpus: '%s' line %ld is not UTF-8; unit=byte takes any bytes"), path,
                                  line_of(text.s, bad));
    }
    if (status_is_ok(&status)) status = count(s, text.s + mark, text.len - mark, words);
    str_done(&text);
    return status;
}

Status bpe_corpus_words(Study *s, BpeUnit unit, BpeWords *words) {
    const Options *o = study_options(s);
    const char *spec = options_text(o, "corpus");
    Str path;
    str_init(&path);
    bpe_words_init(words, unit, options_flag(o, "lowercase"));
    Status status;
    if (assets_grammar(spec, &path)) {
        status = read_and_draw(s, path.s, words);
    } else if (str_ends_in(spec, ".grammar")) {
        status = read_and_draw(s, spec, words);
    } else {
        status = read_text(s, spec, words);
    }
    if (status_is_ok(&status) && words->words == 0) status = status_usage(_("corpus: '%s' has no words"), spec);
    if (!status_is_ok(&status)) bpe_words_done(words);
    str_done(&path);
    return status;
}

Status bpe_corpus_step(Study *s, BpeTrainer *t, long done, long merges, bool *more) {
    *more = bpe_trainer_step(t);
    if (study_progress(s, 0.5 + 0.5 * (double)done / (double)merges, _("merge %ld of %ld"), done + 1, merges))
        return status_ok();
    return status_cancelled();
}

Status bpe_corpus_train(Study *s, const BpeWords *words, long merges, BpeTrainer **out) {
    *out = bpe_trainer_new(words);
    bool more = true;
    for (long i = 0; more && i < merges; i++) STATUS_TRY(bpe_corpus_step(s, *out, i, merges, &more));
    return status_ok();
}

void bpe_corpus_conventions(Study *s, BpeUnit unit) {
    study_about(s, "words", "cut at %s",
                unit == BPE_BYTE ? "the six ASCII blanks" : "Unicode white space (the property White_Space)");
    study_about(s, "end_of_word", "%s, a symbol of its own before any merge", BPE_END);
    study_about(s, "ties_rule",
                "of the most frequent pairs the smallest by the bytes of left, then right; %s sorts as "
                "its four bytes",
                BPE_END);
    study_about(s, "counting", "every place counts (aaaa has three aa); merging runs from left to right");
    study_about(s, "not_utf_8", "bytes that are not UTF-8 are shown as \\xhh; columns in hex are exact");
}

/* ---- symbols in tables ---- */

void bpe_add_shown(Str *out, const char *s, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        uint32_t code;
        int n = utf8_decode(s + i, bytes - i, &code);
        if (n > 0) {
            str_add_n(out, s + i, (size_t)n);
            i += (size_t)n;
        } else {
            str_addf(out, "\\x%02x", (unsigned)(unsigned char)s[i++]);
        }
    }
}

void bpe_add_hex(Str *out, const char *s, size_t bytes) {
    static const char digit[] = "0123456789abcdef";
    str_reserve(out, 2 * bytes);
    for (size_t i = 0; i < bytes; i++) {
        str_add_char(out, digit[(unsigned char)s[i] >> 4]);
        str_add_char(out, digit[(unsigned char)s[i] & 15]);
    }
}

void bpe_add_pieces(const Bpe *b, const int *symbol, int n, Str *shown, Str *hex) {
    for (int i = 0; i < n; i++) {
        size_t bytes;
        const char *name = bpe_name(b, symbol[i], &bytes);
        if (i > 0) {
            str_add_char(shown, ' ');
            str_add_char(hex, ' ');
        }
        bpe_add_shown(shown, name, bytes);
        bpe_add_hex(hex, name, bytes);
    }
}

void bpe_add_shown_cell(Table *t, const char *s, size_t bytes) {
    Str text;
    str_init(&text);
    bpe_add_shown(&text, s, bytes);
    table_add_text_n(t, text.s, text.len);
    str_done(&text);
}

void bpe_add_hex_cell(Table *t, const char *s, size_t bytes) {
    Str text;
    str_init(&text);
    bpe_add_hex(&text, s, bytes);
    table_add_text_n(t, text.s, text.len);
    str_done(&text);
}
