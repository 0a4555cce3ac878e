#include "decode/decoder.h"

#include "angles.h"
#include "bug.h"
#include "decode/kv.h"
#include "decode/row.h"
#include "decode/weights.h"
#include "mem.h"
#include "sinusoid.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { ROWS = 32 }; /* tokens that go through the layers together */

/* Cosines and sines of RoPE, or of the sinusoids; positions beyond the table are worked out when they come. */
typedef struct {
    int half, positions; /* half 0: the model needs none */
    double base;
    RopeScaling scaling;
    real *cosine, *sine; /* [(positions + ROWS) x half]; the last rows are for positions beyond, one a row of a pass */
} Angles;

typedef struct {
    int fed;  /* tokens seen: the next one's position */
    int most; /* the largest fed since the reset: slots up to there were written */
} Stream;

typedef struct {
    int stream, position;
    int told;                  /* what the embedding takes for the position: the same but for the lesson's mistake */
    const real *cosine, *sine; /* [half] */
} Row;

struct Decoder {
    ModelConfig config;
    Weights *weights;
    bool lent;  /* the weights are another decoder's */
    Team *team; /* NULL: one thread */
    int streams, capacity;
    int window;              /* of the tweak; -1: the model's */
    unsigned char *head_off; /* [L x H], all 0 without a tweak */
    bool length_positions;
    bool rolls; /* slots are used again */
    Stream *stream;
    KvShape shape;
    size_t cache_numbers; /* of one stream in one layer */
    real *cache;          /* [streams x L][cache_numbers] */
    Angles angles;
    Row row[ROWS];
    int q, kv, up;                    /* numbers in a row: H hd, Hkv hd, and F or 2F */
    real *x, *u;                      /* [ROWS x D] the residual stream; what a branch reads */
    real *qkv;                        /* [ROWS x (q + 2 kv)] */
    real *mix, *ffn;                  /* [ROWS x q], [ROWS x up] */
    real *branch[2], *branch_norm[2]; /* [ROWS x D] what attention and feed-forward give, before and after its norm */
    real *scratch;
    real *logits; /* [logit_rows x V] */
    int logit_rows;
    void (*seen)(void *data, int layer, int rows, const real *x); /* decoder_watch */
    void *seen_data;
};

/* --- making --- */

/* Rows ROW .. of the table, for N positions from FIRST on. */
static void fill_rows(Angles *a, int row, int first, int n) {
    size_t at = (size_t)row * (size_t)a->half;
    angles_fill(2 * a->half, a->base, &a->scaling, first, n, a->cosine + at, a->sine + at);
}

static void angles_init(Angles *a, const ModelConfig *c, int positions) {
    *a = (Angles){.positions = positions};
    if (c->pos == POS_ROPE) a->half = c->head_dim / 2, a->base = c->rope_base, a->scaling = c->rope_scaling;
    if (c->pos == POS_SINUSOID) a->half = c->d / 2, a->base = SINUSOID_BASE;
    a->cosine = MEM_ARRAY(real, ((size_t)positions + ROWS) * (size_t)a->half);
    a->sine = MEM_ARRAY(real, ((size_t)positions + ROWS) * (size_t)a->half);
    fill_rows(a, 0, 0, positions);
}

static int window_of(const Decoder *d, int layer) {
    return d->window >= 0 ? d->window : config_window(&d->config, layer);
}

/* Every layer forgets what the slots no longer hold. */
static bool may_roll(const Decoder *d) {
    for (int l = 0; l < d->config.layers; l++)
        if (window_of(d, l) == 0 || window_of(d, l) > d->capacity) return false;
    return true;
}

int decoder_slots(const Model *m, const ModelTweak *tweak) {
    const ModelConfig *c = model_config(m);
    int widest = 0;
    for (int l = 0; l < c->layers; l++) {
        int window = model_mask(m, tweak, l).window;
        if (window == 0 || window >= c->context) return c->context;
        if (window > widest) widest = window;
    }
    return widest > 0 ? widest : c->context;
}

static real *rows_of(int numbers) {
    return mem_aligned((size_t)ROWS * (size_t)numbers, sizeof(real));
}

static void make_buffers(Decoder *d) {
    const ModelConfig *c = &d->config;
    d->q = c->heads * c->head_dim;
    d->kv = c->kv_heads * c->head_dim;
    d->up = config_is_gated(c->ffn) ? 2 * c->d_ff : c->d_ff;
    d->x = rows_of(c->d);
    d->u = rows_of(c->d);
    d->qkv = rows_of(d->q + 2 * d->kv);
    d->mix = rows_of(d->q);
    d->ffn = rows_of(d->up);
    for (int i = 0; i < 2; i++) {
        d->branch[i] = rows_of(c->d);
        d->branch_norm[i] = rows_of(c->d);
    }
    d->scratch = mem_aligned(kv_scratch_numbers(&d->shape), sizeof *d->scratch);
    d->logit_rows = d->streams;
    d->logits = mem_aligned((size_t)d->logit_rows * (size_t)c->vocab, sizeof *d->logits);
}

static Decoder *make(const ModelConfig *c, Weights *weights, bool lent, int streams, int capacity) {
    BUG_ON(streams < 1 || capacity < 1);
    Decoder *d = MEM_NEW(Decoder);
    d->config = *c;
    d->weights = weights;
    d->lent = lent;
    d->streams = streams;
    d->capacity = capacity;
    d->window = -1;
    d->head_off = MEM_ARRAY(unsigned char, (size_t)c->layers *(size_t)c->heads);
    d->stream = MEM_ARRAY(Stream, (size_t)streams);
    d->rolls = may_roll(d);
    d->shape = (KvShape){.heads = c->heads,
                         .kv_heads = c->kv_heads,
                         .head_dim = c->head_dim,
                         .slots = capacity,
                         .scale = (real)(1 / sqrt(c->head_dim)),
                         .softcap = (real)c->softcap};
    d->cache_numbers = kv_numbers(&d->shape);
    d->cache = mem_room((size_t)streams * (size_t)c->layers * d->cache_numbers, sizeof *d->cache);
    angles_init(&d->angles, c, capacity);
    make_buffers(d);
    return d;
}

Decoder *decoder_new(const Model *m, int streams, int capacity) {
    return make(model_config(m), weights_new(m), false, streams, capacity);
}

Decoder *decoder_beside(const Decoder *d, int streams, int capacity) {
    return make(&d->config, d->weights, true, streams, capacity);
}

void decoder_free(Decoder *d) {
    if (!d) return;
    if (!d->lent) weights_free(d->weights);
    team_free(d->team);
    real *numbers[] = {
        d->cache,     d->angles.cosine,  d->angles.sine,    d->x,       d->u,     d->qkv, d->mix, d->ffn, d->branch[0],
        d->branch[1], d->branch_norm[0], d->branch_norm[1], d->scratch, d->logits};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) mem_free(numbers[i]);
    mem_free(d->head_off);
    mem_free(d->stream);
    mem_free(d);
}

void decoder_set_threads(Decoder *d, int threads) {
    if (!weights_shares(d->weights) || threads == team_threads(d->team)) return;
    team_free(d->team);
    d->team = threads > 1 ? team_new(threads < TEAM_MOST ? threads : TEAM_MOST) : NULL;
}

void decoder_set_forgetful(Decoder *d, bool on) {
    weights_set_forgetful(d->weights, on);
}

void decoder_reset(Decoder *d) {
    memset(d->stream, 0, (size_t)d->streams * sizeof *d->stream);
}

void decoder_refresh(Decoder *d) {
    if (!d->lent) weights_refresh(d->weights);
    decoder_reset(d);
}

void decoder_set_tweak(Decoder *d, const ModelTweak *tweak) {
    size_t heads = (size_t)d->config.layers * (size_t)d->config.heads;
    d->window = tweak ? tweak->window : -1;
    if (tweak && tweak->head_off)
        memcpy(d->head_off, tweak->head_off, heads);
    else
        memset(d->head_off, 0, heads);
    d->rolls = may_roll(d);
    decoder_reset(d);
}

void decoder_set_length_positions(Decoder *d, bool on) {
    d->length_positions = on;
    decoder_reset(d);
}

void decoder_watch(Decoder *d, void (*seen)(void *data, int layer, int rows, const real *x), void *data) {
    d->seen = seen;
    d->seen_data = data;
}

/* --- streams --- */

static Stream *stream_at(const Decoder *d, int stream) {
    BUG_ON(stream < 0 || stream >= d->streams);
    return &d->stream[stream];
}

int decoder_position(const Decoder *d, int stream) {
    return stream_at(d, stream)->fed;
}

int decoder_capacity(const Decoder *d) {
    return d->capacity;
}

int decoder_vocabulary(const Decoder *d) {
    return d->config.vocab;
}

int decoder_room(const Decoder *d, int stream) {
    int fed = stream_at(d, stream)->fed, room = INT_MAX;
    if (!d->rolls) room = d->capacity - fed;
    if (d->config.pos == POS_LEARNED && d->config.context - fed < room) room = d->config.context - fed;
    return room;
}

static real *cache_at(const Decoder *d, int stream, int layer) {
    return d->cache + ((size_t)stream * (size_t)d->config.layers + (size_t)layer) * d->cache_numbers;
}

void decoder_fork_after(Decoder *d, int from, int to, int same) {
    Stream *source = stream_at(d, from), *target = stream_at(d, to);
    BUG_ON(same < 0 || same > source->fed || same > target->fed);
    if (from == to) return;
    bool twice = source->most > d->capacity || target->most > d->capacity; /* some slot was used so */
    int first = twice ? 0 : same, end = source->most > d->capacity ? d->capacity : source->fed;
    for (int l = 0; l < d->config.layers; l++) kv_copy(&d->shape, cache_at(d, from, l), cache_at(d, to, l), first, end);
    *target = *source;
}

void decoder_fork(Decoder *d, int from, int to) {
    decoder_fork_after(d, from, to, 0);
}

/* Positions below most - capacity are gone; a query at POSITION looks back over the widest window. */
bool decoder_can_truncate(const Decoder *d, int stream, int position) {
    const Stream *s = stream_at(d, stream);
    if (position < 0 || position > s->fed) return false;
    int widest = 1;
    for (int l = 0; l < d->config.layers; l++)
        if (window_of(d, l) > widest) widest = window_of(d, l);
    int oldest = position - widest + 1;
    return s->most <= d->capacity || position == s->fed || (oldest > 0 ? oldest : 0) >= s->most - d->capacity;
}

void decoder_truncate(Decoder *d, int stream, int position) {
    BUG_ON(!decoder_can_truncate(d, stream, position));
    stream_at(d, stream)->fed = position;
}

int decoder_cached(const Decoder *d, int stream) {
    int fed = stream_at(d, stream)->fed;
    return fed < d->capacity ? fed : d->capacity;
}

int decoder_slot_position(const Decoder *d, int stream, int slot) {
    BUG_ON(slot < 0 || slot >= decoder_cached(d, stream));
    int newest = stream_at(d, stream)->fed - 1;
    return newest - (newest - slot) % d->capacity;
}

void decoder_cache(const Decoder *d, int stream, int layer, bool values, real *out) {
    BUG_ON(layer < 0 || layer >= d->config.layers);
    kv_read(&d->shape, cache_at(d, stream, layer), values, decoder_cached(d, stream), out);
}

/* --- one pass of up to ROWS tokens through the layers --- */

static void begin_row(Decoder *d, int r, int stream) {
    Stream *s = stream_at(d, stream);
    Angles *a = &d->angles;
    BUG_ON(decoder_room(d, stream) < 1);
    int position = s->fed++, told = position;
    if (s->fed > s->most) s->most = s->fed;
    if (d->length_positions && told > d->capacity) told = d->capacity;
    int at = told < a->positions ? told : a->positions + r;
    if (told >= a->positions) fill_rows(a, at, told, 1);
    d->row[r] = (Row){.stream = stream,
                      .position = position,
                      .told = told,
                      .cosine = a->cosine + (size_t)at * (size_t)a->half,
                      .sine = a->sine + (size_t)at * (size_t)a->half};
}

/* x [D] = token row, plus position row or sinusoids. */
static void embed(Decoder *d, int r, int id) {
    size_t D = (size_t)d->config.d;
    real *x = d->x + (size_t)r * D;
    const Row *row = &d->row[r];
    BUG_ON(id < 0 || id >= d->config.vocab);
    memcpy(x, weights_token(d->weights) + (size_t)id * D, D * sizeof *x);
    if (d->config.pos == POS_LEARNED) row_add(d->config.d, weights_position(d->weights) + (size_t)row->told * D, x);
    for (int i = 0; d->config.pos == POS_SINUSOID && i < d->angles.half; i++) {
        x[2 * i] += row->sine[i];
        x[2 * i + 1] += row->cosine[i];
    }
}

/* The norm of X [rows x D] in TO; X itself when there is no such norm. */
static const real *normed(const Decoder *d, NormWeights n, int rows, const real *x, real *to) {
    int D = d->config.d;
    if (!n.gain) return x;
    for (int r = 0; r < rows; r++)
        row_norm(d->config.norm, D, x + r * D, n.gain, n.bias, (real)d->config.norm_eps, to + r * D);
    return to;
}

static KvSight sight_of(const Decoder *d, int layer, int position) {
    int window = window_of(d, layer), capacity = d->capacity;
    int from = window > 0 && position >= window ? position - window + 1 : 0;
    if (position < capacity) return (KvSight){{from, 0}, {position + 1, 0}};
    from %= capacity;
    int to = position % capacity + 1;
    return from < to ? (KvSight){{from, 0}, {to, 0}} : (KvSight){{from, 0}, {capacity, to}};
}

/* One token's query, key and value: norms, position, into the cache; then it looks at what it sees, itself included. */
static void attend(Decoder *d, const BlockWeights *b, int layer, int r) {
    const ModelConfig *c = &d->config;
    const Row *row = &d->row[r];
    real *q = d->qkv + (size_t)r * (size_t)(d->q + 2 * d->kv), *k = q + d->q;
    if (c->qk_norm) {
        row_norm_heads(c->heads, c->head_dim, b->query_norm.gain, (real)c->norm_eps, q);
        row_norm_heads(c->kv_heads, c->head_dim, b->key_norm.gain, (real)c->norm_eps, k);
    }
    if (c->pos == POS_ROPE) {
        row_turn(c->heads, c->head_dim, c->pairing, row->cosine, row->sine, q);
        row_turn(c->kv_heads, c->head_dim, c->pairing, row->cosine, row->sine, k);
    }
    real *cache = cache_at(d, row->stream, layer);
    KvShape shape = d->shape;
    KvSight sight = sight_of(d, layer, row->position);
    shape.head_off = d->head_off + (size_t)layer * (size_t)c->heads;
    kv_store(&shape, cache, row->position % d->capacity, k, k + d->kv);
    kv_attend(&shape, cache, &sight, q, d->scratch, d->mix + (size_t)r * (size_t)d->q);
}

/* What attention adds to the residual stream, of u [rows x D]: [rows x D]. */
static const real *attention_branch(Decoder *d, int layer, int rows, const real *u) {
    const BlockWeights *b = weights_block(d->weights, layer);
    matrix_apply(&b->qkv, d->team, rows, u, d->config.d, d->qkv, d->q + 2 * d->kv);
    for (int r = 0; r < rows; r++) attend(d, b, layer, r);
    matrix_apply(&b->out, d->team, rows, d->mix, d->q, d->branch[0], d->config.d);
    return normed(d, b->norm1_out, rows, d->branch[0], d->branch_norm[0]);
}

static const real *ffn_branch(Decoder *d, int layer, int rows, const real *u) {
    const BlockWeights *b = weights_block(d->weights, layer);
    matrix_apply(&b->up, d->team, rows, u, d->config.d, d->ffn, d->up);
    for (int r = 0; r < rows; r++) {
        real *gate = d->ffn + (size_t)r * (size_t)d->up;
        row_activate(d->config.ffn, d->config.d_ff, gate, gate + d->config.d_ff);
    }
    matrix_apply(&b->down, d->team, rows, d->ffn, d->up, d->branch[1], d->config.d);
    return normed(d, b->norm2_out, rows, d->branch[1], d->branch_norm[1]);
}

/* x += branch; with PLACE_POST then x = norm(x). */
static void add_branch(Decoder *d, const real *branch, NormWeights norm, int rows) {
    row_add(rows * d->config.d, branch, d->x);
    if (d->config.norm_place != PLACE_POST || !norm.gain) return;
    (void)normed(d, norm, rows, d->x, d->u);
    memcpy(d->x, d->u, (size_t)rows * (size_t)d->config.d * sizeof *d->x);
}

/* As in the model: PRE x + f(norm x), POST norm(x + f x), BOTH x + norm f(norm x), OUTPUT x + norm f(x). */
static void block(Decoder *d, int layer, int rows) {
    const BlockWeights *b = weights_block(d->weights, layer);
    const NormWeights none = {NULL, NULL};
    bool first = d->config.norm_place == PLACE_PRE || d->config.norm_place == PLACE_BOTH;
    const real *u = normed(d, first ? b->norm1 : none, rows, d->x, d->u);
    const real *attention = attention_branch(d, layer, rows, u);
    if (d->config.parallel) {
        const real *ffn = ffn_branch(d, layer, rows, u);
        add_branch(d, attention, none, rows);
        add_branch(d, ffn, b->norm1, rows);
        return;
    }
    add_branch(d, attention, b->norm1, rows);
    u = normed(d, first ? b->norm2 : none, rows, d->x, d->u);
    add_branch(d, ffn_branch(d, layer, rows, u), b->norm2, rows);
}

/* Rows and positions are set; x holds what the last block gives. */
static void pass(Decoder *d, const int *ids, int rows) {
    for (int r = 0; r < rows; r++) embed(d, r, ids[r]);
    for (int l = 0; l < d->config.layers; l++) {
        block(d, l, rows);
        weights_used(d->weights);
        if (d->seen) d->seen(d->seen_data, l, rows, d->x);
    }
}

/* Logits of rows FIRST .. of the pass, into OUT [rows x V]. The head is as large as a layer. */
static void give_logits(Decoder *d, int first, int rows, real *out) {
    int D = d->config.d;
    const real *u = normed(d, weights_final_norm(d->weights), rows, d->x + first * D, d->u);
    matrix_apply(weights_head(d->weights), d->team, rows, u, D, out, d->config.vocab);
    weights_used(d->weights);
}

/* --- feeding --- */

static real *logits_at(const Decoder *d, int row) {
    return d->logits + (size_t)row * (size_t)d->config.vocab;
}

static void feed(Decoder *d, int stream, const int *ids, int n, bool all) {
    BUG_ON(n < 1);
    for (int done = 0, rows; done < n; done += rows) {
        rows = n - done < ROWS ? n - done : ROWS;
        for (int r = 0; r < rows; r++) begin_row(d, r, stream);
        pass(d, ids + done, rows);
        if (all) give_logits(d, 0, rows, logits_at(d, done));
        if (!all && done + rows == n) give_logits(d, rows - 1, 1, d->logits);
    }
}

const real *decoder_feed(Decoder *d, int stream, const int *ids, int n) {
    feed(d, stream, ids, n, false);
    return d->logits;
}

const real *decoder_feed_all(Decoder *d, int stream, const int *ids, int n) {
    if (n > d->logit_rows) {
        mem_free(d->logits);
        d->logits = mem_aligned((size_t)n * (size_t)d->config.vocab, sizeof *d->logits);
        d->logit_rows = n;
    }
    feed(d, stream, ids, n, true);
    return d->logits;
}

const real *decoder_step(Decoder *d, const int *stream, const int *ids, int n) {
    BUG_ON(n < 1 || n > d->streams);
    for (int done = 0, rows; done < n; done += rows) {
        rows = n - done < ROWS ? n - done : ROWS;
        for (int r = 0; r < rows; r++) begin_row(d, r, stream[done + r]);
        pass(d, ids + done, rows);
        give_logits(d, 0, rows, logits_at(d, done));
    }
    return d->logits;
}
