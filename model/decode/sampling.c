#include "decode/sampling.h"

#include "bug.h"
#include "decode/decoder.h"
#include "mem.h"
#include "rng.h"

#include <string.h>

enum { TOGETHER = 32 }; /* sentences under way; the stream after theirs keeps the prompt */

struct Sampling {
    Decoder *decoder;
    Filter filter;
    FilterConfig config;
    int vocabulary, tokens, end;
    uint64_t seed;
    long sentences, taken;
    double *wide;   /* [V] a row of logits as doubles */
    double *prompt; /* [V] the logits after the prompt */
    int group;      /* sentences under way: taken .. taken + group - 1; 0: none yet */
    int *ids;       /* [TOGETHER x tokens] */
    int length[TOGETHER];
    bool ended[TOGETHER];
    Rng rng[TOGETHER];
    int open[TOGETHER], last[TOGETHER], opens; /* streams that go on, and the token that each is to be fed */
};

static void widen(const real *from, double *to, int n) {
    for (int i = 0; i < n; i++) to[i] = (double)from[i];
}

Sampling *sampling_new(const SamplingPlan *p) {
    const ModelConfig *c = model_config(p->model);
    BUG_ON(p->n < 1 || p->n > c->context || p->sentences < 0 || p->tokens < 1);
    Sampling *s = MEM_NEW(Sampling);
    int most = c->context - p->n + 1; /* the last token is not fed */
    s->tokens = p->tokens < most ? p->tokens : most;
    s->decoder = decoder_new(p->model, TOGETHER + 1, p->n + s->tokens - 1);
    if (p->tweak) decoder_set_tweak(s->decoder, p->tweak);
    s->vocabulary = c->vocab;
    s->config = p->filter;
    s->end = p->end;
    s->seed = p->seed;
    s->sentences = p->sentences;
    s->wide = MEM_ARRAY(double, (size_t)c->vocab);
    s->prompt = MEM_ARRAY(double, (size_t)c->vocab);
    s->ids = MEM_ARRAY(int, (size_t)TOGETHER *(size_t)s->tokens);
    filter_init(&s->filter, c->vocab);
    widen(decoder_feed(s->decoder, TOGETHER, p->ids, p->n), s->prompt, c->vocab);
    return s;
}

void sampling_free(Sampling *s) {
    if (!s) return;
    decoder_free(s->decoder);
    filter_done(&s->filter);
    mem_free(s->wide);
    mem_free(s->prompt);
    mem_free(s->ids);
    mem_free(s);
}

/* Draws a token from the filter's distribution; the sentence stays open unless that is END or its last. */
static void draw(Sampling *s, int stream) {
    int id = filter_draw(&s->filter, rng_unit(&s->rng[stream]));
    s->ids[(size_t)stream * (size_t)s->tokens + (size_t)s->length[stream]++] = id;
    s->ended[stream] = id == s->end;
    if (s->ended[stream] || s->length[stream] == s->tokens) return;
    s->open[s->opens] = stream;
    s->last[s->opens++] = id;
}

/* The first token of the next sentences: all have the same distribution. */
static Status begin(Sampling *s) {
    long left = s->sentences - s->taken;
    s->group = left < TOGETHER ? (int)left : TOGETHER;
    STATUS_TRY(filter_run(&s->filter, &s->config, s->prompt, false));
    for (int i = 0; i < s->group; i++) {
        s->rng[i] = rng_at(s->seed, "samples", (uint64_t)(s->taken + i));
        s->length[i] = 0;
        decoder_fork(s->decoder, TOGETHER, i);
        draw(s, i);
    }
    return status_ok();
}

static Status go_on(Sampling *s) {
    int n = s->opens, stream[TOGETHER];
    memcpy(stream, s->open, (size_t)n * sizeof *stream);
    const real *row = decoder_step(s->decoder, stream, s->last, n);
    s->opens = 0;
    for (int i = 0; i < n; i++, row += s->vocabulary) {
        widen(row, s->wide, s->vocabulary);
        STATUS_TRY(filter_run(&s->filter, &s->config, s->wide, false));
        draw(s, stream[i]);
    }
    return status_ok();
}

static Status hand_over(Sampling *s, SamplingTake *take, void *user) {
    for (int i = 0; i < s->group; i++) {
        Sample one = {.index = s->taken,
                      .ids = s->ids + (size_t)i * (size_t)s->tokens,
                      .length = s->length[i],
                      .ended = s->ended[i]};
        STATUS_TRY(take(user, &one));
        s->taken++;
    }
    s->group = 0;
    return status_ok();
}

Status sampling_step(Sampling *s, SamplingTake *take, void *user) {
    if (sampling_ended(s)) return status_ok();
    STATUS_TRY(s->group == 0 ? begin(s) : go_on(s));
    return s->opens == 0 ? hand_over(s, take, user) : status_ok();
}

bool sampling_ended(const Sampling *s) {
    return s->taken == s->sentences;
}

Status sampling_run(Sampling *s, SamplingTake *take, void *user) {
    while (!sampling_ended(s)) STATUS_TRY(sampling_step(s, take, user));
    return status_ok();
}
