#include "decode/beam_model.h"

#include "bug.h"
#include "decode/log_softmax.h"
#include "mem.h"

#include <string.h>

/* Beams that are decoded at once: few at first, as they tell how many of the others are worth it. */
enum { TOGETHER_FIRST = 6, TOGETHER = 12 };

struct BeamModel {
    Decoder *decoder;
    int width, capacity, vocabulary;
    int *fed;             /* [width x capacity] the tokens that each stream holds */
    int *stream, *before; /* [width] of the open beams, of those a step before */
    bool *busy;           /* [width] streams that the new beams have */
    const int *prompt;    /* [prompts] of the search */
    int prompts, open;    /* open beams that may be asked for */
    const int *token;     /* [open] their last, not fed before first */
    int first, end;       /* the open beams that have logits now; those from end on are not decoded yet */
    const real *logits;   /* [end - first x V] */
};

/* Takes D over. */
static BeamModel *make(Decoder *d, int width, int capacity) {
    BeamModel *b = MEM_NEW(BeamModel);
    b->decoder = d;
    b->width = width;
    b->capacity = capacity;
    b->vocabulary = decoder_vocabulary(d);
    b->fed = MEM_ARRAY(int, (size_t)width *(size_t)capacity);
    b->stream = MEM_ARRAY(int, (size_t)width);
    b->before = MEM_ARRAY(int, (size_t)width);
    b->busy = MEM_ARRAY(bool, (size_t)width);
    return b;
}

BeamModel *beam_model_new(const Model *m, const ModelTweak *tweak, int width, int capacity) {
    BeamModel *b = make(decoder_new(m, width, capacity), width, capacity);
    if (tweak) decoder_set_tweak(b->decoder, tweak);
    return b;
}

BeamModel *beam_model_beside(const Decoder *d, int width, int capacity) {
    return make(decoder_beside(d, width, capacity), width, capacity);
}

void beam_model_set_tweak(BeamModel *m, const ModelTweak *tweak) {
    decoder_set_tweak(m->decoder, tweak);
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
    m->open = n;
    m->token = id;
    if (parent) {
        fork_streams(m, n, parent);
        m->first = m->end = 0;
    } else {
        begin(m);
        m->first = 0;
        m->end = 1;
    }
    return status_ok();
}

/* The next beams that have no logits yet. */
static void decode(BeamModel *m) {
    int most = m->end == 0 ? TOGETHER_FIRST : TOGETHER, n = m->open - m->end < most ? m->open - m->end : most;
    const int *stream = m->stream + m->end, *id = m->token + m->end;
    for (int i = 0; i < n; i++) {
        int position = decoder_position(m->decoder, stream[i]);
        if (position < m->capacity) fed_by(m, stream[i])[position] = id[i];
    }
    m->logits = decoder_step(m->decoder, stream, id, n);
    m->first = m->end;
    m->end += n;
}

/* Beams that are asked for are decoded, a few at once; those behind them never when nobody asks. */
static Status model_row(void *owner, int i, double *log_p) {
    BeamModel *m = owner;
    BUG_ON(i < m->first || i > m->end || i >= m->open);
    if (i == m->end) decode(m);
    log_softmax(m->vocabulary, m->logits + (size_t)(i - m->first) * (size_t)m->vocabulary, log_p);
    return status_ok();
}

static void model_only(void *owner, int end) {
    BeamModel *m = owner;
    m->open = end;
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
                        .only = model_only,
                        .has_room = model_has_room};
}
