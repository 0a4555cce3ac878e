#include "original.h"

#include "corpora.h"
#include "intl.h"
#include "run.h"

#include <string.h>
#include <unistd.h>

/* A pipe is read once: what came in by it then is not there now. */
static const char *asked_text(const Options *o) {
    const char *asked = options_text(o, "corpus");
    return corpora_is_grammar(asked) || strcmp(asked, "-") == 0 ? NULL : asked; /* may be left from another run */
}

const char *original_spec(const Checkpoint *c, const Options *o) {
    if (c->corpus[0]) return c->corpus;
    if (c->grammar) return options_text(o, "corpus");
    return c->text ? c->text : asked_text(o);
}

long original_sentences(const Checkpoint *c, const Options *o) {
    return c->sentences ? c->sentences : (long)options_int(o, "sentences");
}

static Status cannot_read(const Checkpoint *c, const char *spec) {
    if (c->text) return status_usage(_("it was trained on the text '%s', which cannot be read any more"), spec);
    if (spec) return status_usage(_("it was trained on a text that it does not name, and '%s' cannot be read"), spec);
    return status_usage(_("it was trained on a text, which a checkpoint does not hold"));
}

/* A text is cut where it was: its first sentences are in the same parts, however many follow. */
static Status load_text(const Checkpoint *c, const char *spec, CorpusTokens tokens, Corpus **out) {
    if (!spec || access(spec, R_OK) != 0) return cannot_read(c, spec);
    return corpora_load(spec, tokens, 1, 1, c->seed, out);
}

/* A vocabulary that came with the model cuts; ours is learnt again from the sentences, and is the same. */
static Status load(const Checkpoint *c, const Options *o, Corpus **out) {
    const char *spec = original_spec(c, o);
    long sentences = original_sentences(c, o);
    CorpusTokens tokens = {
        .unit = vocab_unit(c->vocab), .merges = vocab_merges(c->vocab), .vocab = c->origin ? c->vocab : NULL};
    if (c->grammar) return corpora_sample(spec, c->grammar, tokens, sentences, RUN_TEST_SENTENCES, c->seed, out);
    if (!c->corpus[0]) return load_text(c, spec, tokens, out);
    return corpora_load(spec, tokens, sentences, RUN_TEST_SENTENCES, c->seed, out);
}

static Status other_words(const Checkpoint *c, const char *spec) {
    if (c->corpus[0] || c->grammar || c->text) return status_usage(_("'%s' has other words now than the model"), spec);
    return status_usage(_("it was trained on a text that it does not name, and '%s' has other words than the model"),
                        spec);
}

Status original_corpus(const Checkpoint *c, const Options *o, Corpus **out) {
    STATUS_TRY(load(c, o, out));
    corpora_fit(*out, c->part ? c->part : model_config(c->model)->context, c->sentences);
    if (vocab_same((*out)->vocab, c->vocab)) return status_ok();
    corpus_free(*out);
    *out = NULL;
    return other_words(c, original_spec(c, o));
}
