#include "decode/beam_model.h"

#include "bug.h"
#include "decode/decoder.h"
#include "mem.h"

#include <math.h>
#include <string.h>

struct BeamModel {
    Decoder *decoder;
    int width, capacity, vocabulary;
    int *fed;                  /* [width x capacity] the tokens that each stream holds */
    int *stream, *before;      /* [width] of the open beams, of those a step before */
    bool *busy;                /* [width] streams that the new beams have */
    const int *prompt, *token; /* of the search; [n] */
    int prompts;
    const real *logits; /* [open beams x V] */
};

BeamModel *beam_model_new(const Model *m, const ModelTweak *tweak, int width, int capacity) {
    BeamModel *b = MEM_NEW(BeamModel);
    b->decoder = decoder_new(m, width, capacity);
    if (tweak) decoder_set_tweak(b->decoder, tweak);
    b->width = width;
    b->capacity = capacity;
    b->vocabulary = model_config(m)->vocab;
    b->fed = MEM_ARRAY(int, (size_t)width *(size_t)capacity);
    b->stream = MEM_ARRAY(int, (size_t)width);
    b->before = MEM_ARRAY(int, (size_t)width);
    b->busy = MEM_ARRAY(bool, (size_t)width);
    return b;
}

void beam_model_free(BeamModel *m) {
    if (!m) return;
    decoder_free(m->decoder);
    mem_free(m->fed);
    mem_free(m->stream);
    mem_free(m->before);
    mem_free(m->busy);
    mem_free(m);
}

void beam_model_refresh(BeamModel *m) {
    decoder_refresh(m->decoder);
}

static int *fed_by(const BeamModel *m, int stream) {
    return m->fed + (size_t)stream * (size_t)m->capacity;
}

/* How many tokens at its beginning the stream has in common with IDS[0..n-1]; none once slots are used again. */
static int common(const BeamModel *m, int stream, const int *ids, int n) {
    int most = decoder_position(m->decoder, stream), same = 0;
    if (most > m->capacity || n > m->capacity) return 0;
    if (most > n) most = n;
    const int *fed = fed_by(m, stream);
    while (same < most && fed[same] == ids[same]) same++;
    return same;
}

/* The last token of the prompt is always fed: it gives the logits. */
static void begin(BeamModel *m) {
    int same = common(m, 0, m->prompt, m->prompts - 1);
    if (same && decoder_can_truncate(m->decoder, 0, same))
        decoder_truncate(m->decoder, 0, same);
    else
        decoder_reset(m->decoder), same = 0;
    m->logits = decoder_feed(m->decoder, 0, m->prompt + same, m->prompts - same);
    memcpy(fed_by(m, 0) + same, m->prompt + same, (size_t)(m->prompts - same) * sizeof *m->prompt);
    m->stream[0] = 0;
}

/* The free stream that has most in common with stream FROM. */
static int free_stream(const BeamModel *m, int from, int *same) {
    int best = -1, position = decoder_position(m->decoder, from);
    *same = -1;
    for (int s = 0; s < m->width; s++) {
        if (m->busy[s]) continue;
        int shared = common(m, s, fed_by(m, from), position);
        if (shared > *same) best = s, *same = shared;
    }
    BUG_ON(best < 0);
    return best;
}

/* The first child of each beam stays in its stream; then the others are copied from there. */
static void fork_streams(BeamModel *m, int n, const int *parent) {
    int *before = m->stream;
    m->stream = m->before;
    m->before = before;
    memset(m->busy, 0, (size_t)m->width * sizeof *m->busy);
    for (int i = 0; i < n; i++) {
        int from = before[parent[i]];
        m->stream[i] = m->busy[from] ? -1 : from;
        m->busy[from] = true;
    }
    for (int i = 0; i < n; i++) {
        if (m->stream[i] >= 0) continue;
        int from = before[parent[i]], same, to = free_stream(m, from, &same);
        decoder_fork_after(m->decoder, from, to, same);
        int position = decoder_position(m->decoder, from), end = position < m->capacity ? position : m->capacity;
        for (int k = same; k < end; k++) fed_by(m, to)[k] = fed_by(m, from)[k];
        m->stream[i] = to;
        m->busy[to] = true;
    }
}

static Status model_advance(void *owner, int n, const int *parent, const int *id) {
    BeamModel *m = owner;
    if (!parent) {
        begin(m);
        return status_ok();
    }
    fork_streams(m, n, parent);
    for (int i = 0; i < n; i++) {
        int position = decoder_position(m->decoder, m->stream[i]);
        if (position < m->capacity) fed_by(m, m->stream[i])[position] = id[i];
    }
    m->logits = decoder_step(m->decoder, m->stream, id, n);
    return status_ok();
}

/* logits - log sum exp, in double. */
static Status model_row(void *owner, int i, double *log_p) {
    const BeamModel *m = owner;
    const real *logits = m->logits + (size_t)i * (size_t)m->vocabulary;
    double most = (double)logits[0], sum = 0;
    for (int k = 1; k < m->vocabulary; k++) most = fmax(most, (double)logits[k]);
    for (int k = 0; k < m->vocabulary; k++) sum += exp((double)logits[k] - most);
    double log_z = most + log(sum);
    for (int k = 0; k < m->vocabulary; k++) log_p[k] = (double)logits[k] - log_z;
    return status_ok();
}

static bool model_has_room(void *owner) {
    const BeamModel *m = owner;
    return decoder_room(m->decoder, m->stream[0]) > 0;
}

BeamSource beam_model_source(BeamModel *m, const int *ids, int n) {
    BUG_ON(n < 1 || n > m->capacity);
    m->prompt = ids;
    m->prompts = n;
    return (BeamSource){.owner = m,
                        .vocabulary = m->vocabulary,
                        .advance = model_advance,
                        .row = model_row,
                        .has_room = model_has_room};
}
