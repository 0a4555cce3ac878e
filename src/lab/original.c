#include "original.h"

#include "corpora.h"
#include "intl.h"
#include "run.h"

#include <unistd.h>

const char *original_spec(const Checkpoint *c, const Options *o) {
    const char *asked = options_text(o, "corpus");
    if (c->corpus[0]) return c->corpus;
    if (c->grammar) return asked;
    return c->text || corpora_is_grammar(asked) ? c->text : asked; /* corpus= may be left from another run */
}

/* A text is cut where it was: its first sentences are in the same parts, however many follow. */
static Status load_text(const Checkpoint *c, const char *spec, CorpusTokens tokens, Corpus **out) {
    if (!spec) return status_usage(_("it was trained on a text, which a checkpoint does not hold"));
    if (access(spec, R_OK) != 0)
        return status_usage(_("it was trained on the text '%s', which cannot be read any more"), spec);
    STATUS_TRY(corpora_load(spec, tokens, 1, 0, 1, c->seed, out));
    corpus_part(*out, model_config(c->model)->context);
    Sentences *train = &(*out)->train;
    if (c->sentences > 0 && train->sentences > c->sentences) train->sentences = c->sentences;
    return status_ok();
}

static Status load(const Checkpoint *c, const Options *o, Corpus **out) {
    const char *spec = original_spec(c, o);
    long sentences = c->sentences ? c->sentences : (long)options_int(o, "sentences");
    CorpusTokens tokens = {vocab_unit(c->vocab), vocab_merges(c->vocab)};
    if (c->grammar) return corpora_sample(spec, c->grammar, tokens, sentences, RUN_TEST_SENTENCES, c->seed, out);
    if (!c->corpus[0]) return load_text(c, spec, tokens, out);
    STATUS_TRY(corpora_load(spec, tokens, sentences, sentences, RUN_TEST_SENTENCES, c->seed, out));
    if (!(*out)->language) corpus_part(*out, model_config(c->model)->context);
    return status_ok();
}

Status original_corpus(const Checkpoint *c, const Options *o, Corpus **out) {
    STATUS_TRY(load(c, o, out));
    if (vocab_same((*out)->vocab, c->vocab)) return status_ok();
    corpus_free(*out);
    *out = NULL;
    if (!c->corpus[0] && !c->text) return status_usage(_("it was trained on a text, which a checkpoint does not hold"));
    return status_usage(_("'%s' has other words now than the model"), original_spec(c, o));
}
