/* Sentences drawn from what is looked at, many at once, and what they are worth. */
#include "intl.h"
#include "lab_internal.h"

#include <string.h>

enum { SAMPLES_MOST = 1000000, SAMPLE_TOKENS = 64 };

Status lab_do_sampling(Lab *l, const Words *w) {
    Decoding *d = &l->decode;
    long n;
    if (strcmp(w->word[1], "stop") == 0) {
        if (!sample_run_pending(l->samples)) return status_usage(_("no sentences are being drawn"));
        sample_run_stop(l->samples);
        return status_ok();
    }
    STATUS_TRY(lab_number(_("sentences"), w->word[1], 1, SAMPLES_MOST, &n));
    decode_refresh(l);
    Run *r = lab_shown(l);
    const Corpus *c = run_corpus(r);
    ModelTweak tweak = lab_tweak(l);
    int visible = decode_visible(d);
    if (visible > 1 && d->ids[visible - 1] == d->last) return status_usage(_("the sentence is over: nothing follows"));
    sample_run_start(l->samples, &(SampleRunStart){.plan = {.model = run_model(r),
                                                            .tweak = &tweak,
                                                            .filter = d->filter,
                                                            .ids = d->ids,
                                                            .n = visible,
                                                            .sentences = n,
                                                            .tokens = SAMPLE_TOKENS,
                                                            .end = d->last,
                                                            .seed = decode_seed(l)},
                                                   .grammar = c->grammar,
                                                   .language = c->language,
                                                   .vocab = c->vocab,
                                                   .step = run_done(r)});
    return status_ok();
}
