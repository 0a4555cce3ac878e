#include "corpora.h"

#include "assets.h"
#include "intl.h"
#include "str.h"

#include <string.h>
#include <unistd.h>

Status corpora_check(const char *spec) {
    Str path;
    str_init(&path);
    bool there = strcmp(spec, "-") == 0 || assets_grammar(spec, &path) || access(spec, R_OK) == 0;
    str_done(&path);
    if (there) return status_ok();
    return status_usage(_("corpus: '%s' is neither a built-in grammar (farm, morph, stories, tags) nor a file to read"),
                        spec);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static Status sample(const char *spec, const char *path, CorpusTokens tokens, long sentences, long test, uint64_t seed,
                     Corpus **out) {
    Grammar *g;
    STATUS_TRY(grammar_read(path, &g));
    return corpus_sample(g, base_name(spec), NULL, NULL, tokens, sentences, test, seed, out);
}

static Status read_text(const char *spec, CorpusTokens tokens, long most, Corpus **out) {
    STATUS_TRY(corpus_read_lines(spec, tokens, out));
    Sentences *train = &(*out)->train;
    if (most > 0 && train->sentences > most) train->sentences = most;
    return status_ok();
}

Status corpora_load(const char *spec, CorpusTokens tokens, long sentences, long most, long test, uint64_t seed,
                    Corpus **out) {
    STATUS_TRY(corpora_check(spec));
    Str path;
    str_init(&path);
    Status s;
    if (assets_grammar(spec, &path))
        s = sample(spec, path.s, tokens, sentences, test, seed, out);
    else if (str_ends_in(spec, ".grammar"))
        s = sample(spec, spec, tokens, sentences, test, seed, out);
    else
        s = read_text(spec, tokens, most, out);
    str_done(&path);
    return s;
}
