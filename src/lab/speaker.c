#include "speaker.h"

#include "attention_stages.h"
#include "bug.h"
#include "mem.h"
#include "thread.h"

#include <math.h>
#include <string.h>

enum { SPEAKER_THREADS = 4 }; /* for a large model that is not trained beside it (decoder_set_threads) */

struct Speaker {
    Decoder *decoder; /* one stream; NULL before speaker_reset */
    const Model *model;
    ModelConfig config; /* of the model */
    bool lent;
    int *fed;       /* what the stream has seen, [context] */
    double *logits; /* [V] */
    int vocab, context;
};

Speaker *speaker_new(void) {
    return MEM_NEW(Speaker);
}

void speaker_free(Speaker *s) {
    if (!s) return;
    decoder_free(s->decoder);
    mem_free(s->fed);
    mem_free(s->logits);
    mem_free(s);
}

/* Whether the parameters are only read: then a decoder uses them where they are, and must go with them. */
static bool is_lent(const Model *m) {
    return model_read_params(m)->view != NULL;
}

bool speaker_knows(const Speaker *s, const Model *m) {
    if (!s->decoder || s->lent || is_lent(m)) return false;
    return s->model == m && memcmp(&s->config, model_config(m), sizeof s->config) == 0;
}

void speaker_reset(Speaker *s, const Model *m, const ModelTweak *tweak) {
    const ModelConfig *config = model_config(m);
    if (speaker_knows(s, m)) {
        decoder_refresh(s->decoder);
    } else {
        decoder_free(s->decoder);
        s->decoder = decoder_new(m, 1, config->context);
        decoder_set_threads(s->decoder, thread_cores(SPEAKER_THREADS));
        s->lent = is_lent(m);
        s->model = m;
        memcpy(&s->config, config, sizeof *config);
    }
    decoder_set_tweak(s->decoder, tweak);
    s->vocab = config->vocab;
    s->context = config->context;
    s->logits = mem_resize(s->logits, (size_t)s->vocab, sizeof *s->logits);
    s->fed = mem_resize(s->fed, (size_t)s->context, sizeof *s->fed);
}

Decoder *speaker_decoder(Speaker *s) {
    BUG_ON(!s->decoder);
    return s->decoder;
}

void speaker_expect(Speaker *s, int n) {
    BUG_ON(!s->decoder);
    decoder_set_forgetful(s->decoder, attention_stages_are_many(&s->config, n));
}

/* How many of ids[0..n-1] the stream has seen; less than n, for the last gives the logits. */
static int seen(const Speaker *s, const int *ids, int n) {
    int most = decoder_position(s->decoder, 0), same = 0;
    if (most > n - 1) most = n - 1;
    while (same < most && s->fed[same] == ids[same]) same++;
    return decoder_can_truncate(s->decoder, 0, same) ? same : 0;
}

const double *speaker_logits(Speaker *s, const int *ids, int n) {
    BUG_ON(!s->decoder || n < 1 || n > s->context);
    speaker_expect(s, n);
    int same = seen(s, ids, n);
    if (same) {
        decoder_truncate(s->decoder, 0, same);
    } else {
        decoder_reset(s->decoder);
    }
    const real *last = decoder_feed(s->decoder, 0, ids + same, n - same);
    memcpy(s->fed + same, ids + same, (size_t)(n - same) * sizeof *ids);
    for (int i = 0; i < s->vocab; i++) s->logits[i] = (double)last[i];
    return s->logits;
}

int speaker_best(const double *logits, int vocab) {
    int best = 0;
    for (int i = 1; i < vocab; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

double speaker_log_z(const double *logits, int vocab) {
    double most = logits[speaker_best(logits, vocab)], sum = 0;
    for (int i = 0; i < vocab; i++) sum += exp(logits[i] - most);
    return most + log(sum);
}
