#include "corpora.h"

#include "assets.h"
#include "file.h"
#include "intl.h"
#include "lines.h"
#include "mem.h"
#include "rng.h"
#include "str.h"

#include <string.h>
#include <unistd.h>

const Option corpora_option_rows[] = {
    {"corpus", OPTION_TEXT, "farm", 0, 0, NULL, "file",
     N_("farm, morph, stories, tags, a .grammar file, or a text file with one sentence a line")},
    {0},
};
const Option corpora_sentences_rows[] = {
    {"sentences", OPTION_INT, "20000", 1, 1e7, NULL, "", N_("how many to draw when the corpus is a grammar")},
    {0},
};

Status corpora_check(const char *spec) {
    Str path;
    str_init(&path);
    bool there = strcmp(spec, "-") == 0 || assets_grammar(spec, &path) || access(spec, R_OK) == 0;
    str_done(&path);
    if (there) return status_ok();
    return status_usage(_("corpus: '%s' is neither a built-in grammar (farm, morph, stories, tags) nor a file to read"),
                        spec);
}

bool corpora_is_grammar(const char *spec) {
    Str path;
    str_init(&path);
    bool built_in = assets_grammar(spec, &path);
    str_done(&path);
    return built_in || str_ends_in(spec, ".grammar");
}

Status corpora_sample(const char *spec, const char *grammar, CorpusTokens tokens, long sentences, long test,
                      uint64_t seed, Corpus **out) {
    Grammar *g;
    STATUS_TRY(grammar_parse(grammar, strlen(grammar), &g));
    return corpus_sample(g, file_base_name(spec), NULL, NULL, tokens, sentences, test, seed, out);
}

void corpora_fit(Corpus *c, int context, long most) {
    if (!c->language) corpus_part(c, context);
    if (!c->grammar && most > 0 && c->train.sentences > most) c->train.sentences = most;
}

/* The file of the grammar that SPEC names; false: it names a text. */
static bool find_grammar(const char *spec, Str *path) {
    if (assets_grammar(spec, path)) return true;
    if (!str_ends_in(spec, ".grammar")) return false;
    str_add(path, spec);
    return true;
}

Status corpora_load_rule(const char *spec, const char *start, const char *set, CorpusTokens tokens, long sentences,
                         long test, uint64_t seed, Corpus **out) {
    STATUS_TRY(corpora_check(spec));
    Grammar *g;
    Str path;
    str_init(&path);
    bool grammar = find_grammar(spec, &path);
    Status s = grammar ? grammar_read(path.s, &g) : status_ok();
    str_done(&path);
    STATUS_TRY(s);
    if (grammar) return corpus_sample(g, file_base_name(spec), start, set, tokens, sentences, test, seed, out);
    if (start || set) return status_usage(_("corpus: '%s' is a text; only a grammar has rules to start with"), spec);
    return corpus_read_lines(spec, tokens, out);
}

Status corpora_load(const char *spec, CorpusTokens tokens, long sentences, long test, uint64_t seed, Corpus **out) {
    return corpora_load_rule(spec, NULL, NULL, tokens, sentences, test, seed, out);
}

Status corpora_words(const char *spec, uint64_t seed, Vocab **out) {
    Corpus *corpus;
    STATUS_TRY(corpora_load(spec, (CorpusTokens){.unit = VOCAB_WORD}, 1, 1, seed, &corpus));
    *out = vocab_copy(corpus->vocab);
    corpus_free(corpus);
    return status_ok();
}

/* ---- sentence by sentence ---- */

typedef struct {
    Study *study;
    const char *stream;
    double share;
    CorporaTake *take;
    void *user;
    CorporaWord *word; /* [capacity] */
    int capacity;
} Reader;

/* LINE 0: the sentence is of a grammar. */
static Status read_sentence(Reader *r, const char *s, long line, bool *any) {
    static const char *const reserved[] = {"<pad>", "<s>", "</s>"};
    int words = 0;
    for (s += strspn(s, " \t"); *s; s += strspn(s, " \t")) {
        MEM_GROW(r->word, words, r->capacity);
        CorporaWord *w = &r->word[words++];
        *w = (CorporaWord){s, strcspn(s, " \t")};
        for (int i = 0; i < 3; i++)
            if (w->bytes == strlen(reserved[i]) && memcmp(s, reserved[i], w->bytes) == 0)
                return status_usage(_("corpus: '%s' is reserved and cannot be a word (line %ld)"), reserved[i], line);
        s += w->bytes;
    }
    if (words == 0) return status_ok();
    *any = true;
    return r->take(r->user, r->word, words);
}

static Status progress(const Reader *r, long done, long all) {
    double share = r->share * (double)done / (double)all;
    return study_progress(r->study, share, _("sentence %ld of %ld"), done, all) ? status_ok() : status_cancelled();
}

static Status each_line(Reader *r, const char *path, bool *any) {
    Lines lines;
    STATUS_TRY(lines_read(path, &lines));
    Status status = status_ok();
    for (long i = 0; i < lines.count && status_is_ok(&status); i++) {
        status = read_sentence(r, lines.line[i], i + 1, any);
        if (status_is_ok(&status)) status = progress(r, i + 1, lines.count);
    }
    lines_done(&lines);
    return status;
}

static Status each_draw(Reader *r, Language *l, bool *any) {
    long n = (long)options_int(study_options(r->study), "sentences");
    Str text;
    str_init(&text);
    Status status = status_ok();
    for (long i = 0; i < n && status_is_ok(&status); i++) {
        Rng rng = rng_at(study_seed(r->study), r->stream, (uint64_t)i);
        str_clear(&text);
        status = language_sample(l, &rng, &text);
        if (status_is_ok(&status)) status = read_sentence(r, text.s, 0, any);
        if (status_is_ok(&status)) status = progress(r, i + 1, n);
    }
    str_done(&text);
    return status;
}

static Status each_of_grammar(Reader *r, const char *path, bool *any) {
    Grammar *g;
    Language *l;
    STATUS_TRY(grammar_read(path, &g));
    Status status = language_new(g, NULL, NULL, &l);
    if (status_is_ok(&status)) {
        status = each_draw(r, l, any);
        language_free(l);
    }
    grammar_free(g);
    return status;
}

Status corpora_each(Study *s, const char *stream, double share, CorporaTake *take, void *user) {
    const char *spec = options_text(study_options(s), "corpus");
    Reader r = {.study = s, .stream = stream, .share = share, .take = take, .user = user};
    Str path;
    str_init(&path);
    bool any = false;
    Status status = corpora_check(spec);
    if (status_is_ok(&status)) {
        if (assets_grammar(spec, &path) || str_ends_in(spec, ".grammar")) {
            status = each_of_grammar(&r, path.len ? path.s : spec, &any);
        } else {
            status = each_line(&r, spec, &any);
        }
    }
    if (status_is_ok(&status) && !any) status = status_usage(_("corpus: '%s' has no words"), spec);
    mem_free(r.word);
    str_done(&path);
    return status;
}
