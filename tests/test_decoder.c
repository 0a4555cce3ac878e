/* decoder: cached decoding gives what the whole forward pass gives, for every option of a model, and the same bits
 * however a text is fed; streams, forks, going back, rolling caches. */
#include "expect.h"

#include "decode/decoder.h"
#include "mem.h"
#include "rng.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 96 };
#define TOLERANCE (REAL_IS_DOUBLE ? 1e-10 : 1e-5)

/* Small, with sizes that fill no vector. */
static ModelConfig base(void) {
    ModelConfig c = config_modern();
    c.vocab = 11;
    c.context = MOST;
    c.d = 12;
    c.layers = 2;
    c.heads = 4;
    c.kv_heads = 2;
    c.head_dim = 6;
    c.d_ff = 10;
    return c;
}

/* Every parameter is moved, so that biases and gains matter. */
static Model *make_model(const ModelConfig *c) {
    assert_ok(config_check(c));
    Model *m = model_new(c, 3);
    Params *p = model_params(m);
    Rng r = rng_at(4, "test", 0);
    for (int s = 0; s < p->slices; s++)
        for (size_t i = 0; i < slice_count(&p->slice[s]); i++)
            p->x[p->slice[s].at + i] += (real)((p->slice[s].rows == 1 ? 0.2 : 0.05) * rng_normal(&r));
    return m;
}

static void make_ids(int vocab, int n, int *ids) {
    Rng r = rng_at(5, "ids", 0);
    for (int i = 0; i < n; i++) ids[i] = (int)rng_below(&r, (uint64_t)vocab);
}

/* The logits of the whole forward pass: out [n x V]. */
static void forward(const Model *m, const int *ids, int n, const ModelTweak *tweak, real *out) {
    Tape *t = tape_new(TAPE_EVAL);
    Batch b;
    batch_init(&b);
    batch_add(&b, ids, n, false);
    tape_begin(t, model_read_params(m), &b, 0, 0);
    Vid logits = model_graph(m, t, tweak);
    tape_forward(t);
    int rows, cols;
    const real *x = tape_value(t, logits, &rows, &cols);
    assert_int_equal(rows, n);
    assert_int_equal(cols, model_config(m)->vocab);
    memcpy(out, x, (size_t)rows * (size_t)cols * sizeof *out);
    batch_done(&b);
    tape_free(t);
}

static double difference(const real *a, const real *b, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        double scale = fmax(1, fabs((double)b[i])), off = fabs((double)a[i] - (double)b[i]) / scale;
        if (!(off <= most)) most = off; /* a NaN too */
    }
    return most;
}

#define assert_near(a, b, n)                                                                                           \
    do {                                                                                                               \
        double off_ = difference(a, b, n);                                                                             \
        if (!(off_ <= TOLERANCE)) fail_msg("%s and %s differ by %g", #a, #b, off_);                                    \
    } while (0)

/* Feeds ids in pieces of FIRST, then NEXT tokens, and compares the logits after each piece: with the whole pass to
 * rounding, with SAME (NULL: none) to the bit. */
static void check_feed(Decoder *d, const int *ids, int n, int first, int next, const real *whole, const real *same) {
    const int V = 11;
    decoder_reset(d);
    for (int done = 0, piece = first; done < n; done += piece, piece = next) {
        if (piece > n - done) piece = n - done;
        const real *logits = decoder_feed(d, 0, ids + done, piece);
        size_t at = (size_t)(done + piece - 1);
        assert_near(logits, whole + at * (size_t)V, V);
        if (same) assert_memory_equal(logits, same + at * (size_t)V, (size_t)V * sizeof *logits);
    }
    assert_int_equal(decoder_position(d, 0), n);
}

static void check_config(const char *name, ModelConfig c, int n) {
    Model *m = make_model(&c);
    int ids[MOST];
    real whole[MOST * 11], all[MOST * 11];
    make_ids(c.vocab, n, ids);
    forward(m, ids, n, NULL, whole);
    Decoder *d = decoder_new(m, 1, n);
    memcpy(all, decoder_feed_all(d, 0, ids, n), (size_t)(n * c.vocab) * sizeof *all);
    double off = difference(all, whole, n * c.vocab);
    if (!(off <= TOLERANCE)) fail_msg("%s: cached and full differ by %g", name, off);
    double size = 0;
    for (int i = 0; i < c.vocab; i++) size = fmax(size, fabs((double)whole[i] - (double)whole[c.vocab + i]));
    if (!(size > 1e-3)) fail_msg("%s: the model gives the same for every token", name);
    check_feed(d, ids, n, n, n, whole, all);
    check_feed(d, ids, n, 1, 1, whole, all);
    check_feed(d, ids, n, 5, 1, whole, all);
    check_feed(d, ids, n, 3, 3, whole, all);
    decoder_free(d);
    model_free(m);
}

/* --- every option --- */

#define CASE(name, ...)                                                                                                \
    do {                                                                                                               \
        ModelConfig c = base();                                                                                        \
        __VA_ARGS__;                                                                                                   \
        check_config(name, c, 23);                                                                                     \
    } while (0)

static void test_norms(void **state) {
    (void)state;
    for (int norm = NORM_LAYER; norm <= NORM_NONE; norm++)
        for (int place = PLACE_PRE; place <= PLACE_OUTPUT; place++)
            for (int parallel = 0; parallel < 2; parallel++)
                for (int bias = 0; bias < 2; bias++) {
                    ModelConfig c = base();
                    char name[80];
                    c.norm = (NormKind)norm;
                    c.norm_place = (NormPlace)place;
                    c.parallel = parallel;
                    c.bias = bias;
                    (void)snprintf(name, sizeof name, "norm %d place %d parallel %d bias %d", norm, place, parallel,
                                   bias);
                    check_config(name, c, 23);
                }
}

static void test_feed_forwards(void **state) {
    (void)state;
    for (int ffn = FFN_RELU; ffn <= FFN_REGLU; ffn++)
        for (int bias = 0; bias < 2; bias++) CASE("ffn", c.ffn = (FfnKind)ffn, c.bias = bias);
}

static void test_positions(void **state) {
    (void)state;
    for (int pos = POS_NONE; pos <= POS_ROPE; pos++)
        for (int qk_norm = 0; qk_norm < 2; qk_norm++)
            for (int pairing = PAIRING_ADJACENT; pairing <= PAIRING_HALF; pairing++)
                CASE("position", c.pos = (PosKind)pos, c.qk_norm = qk_norm, c.pairing = (Pairing)pairing);
    CASE("rope_base", c.rope_base = 50);
    CASE("rope_scaling", c.rope_scaling = (RopeScaling){SCALING_LINEAR, 3, 0, 0, 0});
    CASE("rope_scaling", c.rope_scaling = (RopeScaling){SCALING_LLAMA3, 8, 1, 4, 12});
    CASE("sinusoid at an odd width", c.pos = POS_SINUSOID, c.d = 14);
}

static void test_attention(void **state) {
    (void)state;
    CASE("one KV head", c.kv_heads = 1);
    CASE("as many KV heads", c.kv_heads = 4);
    CASE("one head", c.heads = c.kv_heads = 1);
    CASE("wide heads", c.head_dim = 34);
    CASE("heads of whole vectors", c.head_dim = 16);
    CASE("heads of eight", c.head_dim = 8);
    CASE("heads of eight, one KV head", c.head_dim = 8, c.kv_heads = 1);
    CASE("heads of eight, as many KV heads", c.head_dim = 8, c.kv_heads = 4);
    CASE("heads of eight, three to a KV head", c.head_dim = 8, c.heads = 6);
    CASE("heads of eight, softcap", c.head_dim = 8, c.softcap = 2);
    CASE("heads of eight, a window", c.head_dim = 8, c.window = 5);
    CASE("heads of two", c.head_dim = 2);
    CASE("heads of one", c.head_dim = 1, c.pos = POS_LEARNED);
    CASE("softcap", c.softcap = 2);
    CASE("softcap and qk_norm", c.softcap = 2, c.qk_norm = true);
    CASE("window", c.window = 4);
    CASE("window of one", c.window = 1);
    CASE("window and global layers", c.window = 3, c.global_every = 2, c.layers = 4);
    CASE("window longer than the text", c.window = 40);
}

static void test_sizes(void **state) {
    (void)state;
    CASE("tied", c.tie = true);
    CASE("tied and biased", c.tie = c.bias = true);
    CASE("no layers", c.layers = 0);
    CASE("five layers", c.layers = 5);
    CASE("width of one", c.d = 1);
    CASE("wide", c.d = 70, c.d_ff = 131);
    CASE("d_ff of one", c.d_ff = 1);
    CASE("no effect here", c.dropout = .5, c.z_loss = 1);
    ModelConfig c = base();
    check_config("one token", c, 1);
    check_config("two passes", c, 33);
    check_config("a long text", c, MOST);
    c.window = 20;
    check_config("a long text with a window", c, MOST);
    c.head_dim = 8;
    check_config("heads of eight, a long text with a window", c, MOST);
    c.window = 0;
    check_config("heads of eight, a long text", c, MOST);
    c = config_gpt();
    c.vocab = 11;
    check_config("gpt", c, 40);
    c = config_modern();
    c.vocab = 11;
    check_config("modern", c, 40);
}

/* --- streams --- */

static ModelConfig everything(void) {
    ModelConfig c = base();
    c.norm_place = PLACE_BOTH;
    c.bias = c.qk_norm = true;
    c.window = 7;
    c.global_every = 2;
    return c;
}

/* What stream S gives for the ids so far, alone, to the bit. */
static void expect_as_alone(const Model *m, const int *ids, int n, const real *logits) {
    Decoder *d = decoder_new(m, 1, MOST);
    const real *alone = decoder_feed(d, 0, ids, n);
    assert_memory_equal(alone, logits, 11 * sizeof *logits);
    decoder_free(d);
}

/* 40 streams of different lengths, in another order each time, more than go through the layers together. */
static void test_streams(void **state) {
    (void)state;
    enum { STREAMS = 40, STEPS = 9 };
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, STREAMS, 30);
    Rng r = rng_at(6, "streams", 0);
    int text[STREAMS][30], length[STREAMS] = {0}, order[STREAMS], ids[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        length[s] = s % 4;
        make_ids(c.vocab - s % 3, length[s], text[s]);
        if (length[s]) (void)decoder_feed(d, s, text[s], length[s]);
        order[s] = s;
    }
    for (int step = 0; step < STEPS; step++) {
        int n = STREAMS - 4 * step; /* fewer and fewer: 40, 36, ... 8 */
        rng_shuffle(&r, order, STREAMS);
        for (int i = 0; i < n; i++) {
            ids[i] = (int)rng_below(&r, 11);
            text[order[i]][length[order[i]]++] = ids[i];
        }
        const real *logits = decoder_step(d, order, ids, n);
        for (int i = 0; i < n; i++) {
            int s = order[i];
            assert_int_equal(decoder_position(d, s), length[s]);
            expect_as_alone(m, text[s], length[s], logits + 11 * i);
        }
    }
    decoder_free(d);
    model_free(m);
}

static void test_fork(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 3, 30);
    int a[] = {1, 5, 3, 3, 8}, b[] = {1, 5, 3, 9, 2, 2}, other[] = {4, 4};
    (void)decoder_feed(d, 2, other, 2);
    (void)decoder_feed(d, 0, a, 3);
    decoder_fork(d, 0, 2); /* what stream 2 had is gone */
    decoder_fork(d, 0, 0);
    assert_int_equal(decoder_position(d, 2), 3);
    expect_as_alone(m, b, 6, decoder_feed(d, 2, b + 3, 3));
    expect_as_alone(m, a, 5, decoder_feed(d, 0, a + 3, 2));
    assert_int_equal(decoder_position(d, 1), 0);
    expect_as_alone(m, a, 2, decoder_feed(d, 1, a, 2));
    decoder_free(d);
    model_free(m);
}

/* What both were fed stays where it is; the rest comes from the other stream. */
static void test_fork_after(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 2, 30);
    int a[] = {1, 5, 3, 3, 8, 7}, b[] = {1, 5, 2, 9};
    for (int same = 0; same <= 2; same++) {
        decoder_reset(d);
        (void)decoder_feed(d, 0, a, 5);
        (void)decoder_feed(d, 1, b, 4);
        decoder_fork_after(d, 0, 1, same);
        assert_int_equal(decoder_position(d, 1), 5);
        expect_as_alone(m, a, 6, decoder_feed(d, 1, a + 5, 1));
        expect_as_alone(m, a, 6, decoder_feed(d, 0, a + 5, 1));
    }
    decoder_reset(d);
    (void)decoder_feed(d, 0, a, 5);
    (void)decoder_feed(d, 1, a, 4); /* the longer one holds all of it already */
    decoder_fork_after(d, 1, 0, 4);
    expect_as_alone(m, a, 6, decoder_feed(d, 0, a + 4, 2));
    assert_bug(decoder_fork_after(d, 0, 1, 5));
    assert_bug(decoder_fork_after(d, 0, 1, -1));
    decoder_free(d);
    model_free(m);
}

static void test_truncate(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 1, 30);
    int a[20], b[20];
    make_ids(11, 20, a);
    (void)decoder_feed(d, 0, a, 20);
    memcpy(b, a, sizeof b);
    for (int i = 4; i < 20; i++) b[i] = (a[i] + 1 + i % 3) % 11;
    decoder_truncate(d, 0, 4);
    assert_int_equal(decoder_position(d, 0), 4);
    expect_as_alone(m, b, 20, decoder_feed(d, 0, b + 4, 16));
    decoder_truncate(d, 0, 20);
    decoder_truncate(d, 0, 0);
    expect_as_alone(m, a, 6, decoder_feed(d, 0, a, 6));
    assert_false(decoder_can_truncate(d, 0, 7));
    assert_false(decoder_can_truncate(d, 0, -1));
    assert_bug(decoder_truncate(d, 0, 7));
    decoder_free(d);
    model_free(m);
}

/* --- rolling caches --- */

static void check_rolling(int head_dim, int window, int capacity, PosKind pos) {
    enum { N = 40 };
    ModelConfig c = base();
    c.head_dim = head_dim;
    c.window = window;
    c.pos = pos;
    Model *m = make_model(&c);
    int ids[N];
    real whole[N * 11];
    make_ids(11, N, ids);
    forward(m, ids, N, NULL, whole);
    Decoder *d = decoder_new(m, 2, capacity);
    assert_int_equal(decoder_room(d, 0), pos == POS_LEARNED ? MOST : INT_MAX);
    for (int i = 0; i < N; i++) {
        assert_near(decoder_feed(d, 0, &ids[i], 1), whole + 11 * i, 11);
        assert_int_equal(decoder_cached(d, 0), i + 1 < capacity ? i + 1 : capacity);
        for (int slot = 0; slot < decoder_cached(d, 0); slot++) {
            int position = decoder_slot_position(d, 0, slot);
            assert_true(position % capacity == slot && position <= i && position > i - capacity);
        }
    }
    const real *all = decoder_feed_all(d, 1, ids, N); /* in passes longer than the cache */
    assert_near(all, whole, N * 11);
    Decoder *roomy = decoder_new(m, 1, MOST); /* slots that are used once: the same bits */
    assert_memory_equal(decoder_feed_all(roomy, 0, ids, N), all, N * 11 * sizeof *all);
    decoder_free(roomy);
    decoder_fork(d, 1, 0);
    int next = 3;
    real kept[11];
    memcpy(kept, decoder_feed(d, 0, &next, 1), sizeof kept);
    assert_memory_equal(kept, decoder_feed(d, 1, &next, 1), sizeof kept);
    decoder_free(d);
    model_free(m);
}

static void test_rolling(void **state) {
    (void)state;
    for (int pos = POS_NONE; pos <= POS_ROPE; pos++)
        for (int head_dim = 6; head_dim <= 8; head_dim += 2) {
            check_rolling(head_dim, 6, 6, (PosKind)pos);
            check_rolling(head_dim, 6, 11, (PosKind)pos);
            check_rolling(head_dim, 1, 1, (PosKind)pos);
            check_rolling(head_dim, 17, 17, (PosKind)pos);
        }
}

/* Going back needs the keys that the window reaches; they may be overwritten. */
static void test_rolling_back(void **state) {
    (void)state;
    ModelConfig c = base();
    c.window = 4;
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 1, 6);
    int ids[12];
    make_ids(11, 12, ids);
    (void)decoder_feed(d, 0, ids, 12); /* slots hold 6 .. 11 */
    for (int p = 0; p < 9; p++) assert_false(decoder_can_truncate(d, 0, p));
    for (int p = 9; p <= 12; p++) assert_true(decoder_can_truncate(d, 0, p));
    assert_bug(decoder_truncate(d, 0, 8));
    decoder_truncate(d, 0, 9);
    expect_as_alone(m, ids, 11, decoder_feed(d, 0, ids + 9, 2));
    assert_false(decoder_can_truncate(d, 0, 8)); /* the slots still hold 6 .. 11 */
    decoder_reset(d);
    (void)decoder_feed(d, 0, ids, 6); /* nothing overwritten yet */
    for (int p = 0; p <= 6; p++) assert_true(decoder_can_truncate(d, 0, p));
    decoder_free(d);
    model_free(m);
}

/* The lesson's mistake: right until the cache is full, then wrong. */
static void test_length_positions(void **state) {
    (void)state;
    enum { N = 20, W = 6 };
    ModelConfig c = base();
    c.window = W;
    Model *m = make_model(&c);
    int ids[N];
    real whole[N * 11];
    make_ids(11, N, ids);
    forward(m, ids, N, NULL, whole);
    Decoder *d = decoder_new(m, 1, W);
    decoder_set_length_positions(d, true);
    double worst = 0;
    for (int i = 0; i < N; i++) {
        const real *logits = decoder_feed(d, 0, &ids[i], 1);
        if (i <= W) assert_near(logits, whole + 11 * i, 11);
        if (i > W) worst = fmax(worst, difference(logits, whole + 11 * i, 11));
    }
    assert_true(worst > 1e-3);
    decoder_set_length_positions(d, false);
    assert_near(decoder_feed(d, 0, ids, N), whole + 11 * (N - 1), 11);
    decoder_free(d);
    model_free(m);
}

static void test_room(void **state) {
    (void)state;
    ModelConfig c = base();
    c.context = 8;
    int ids[20] = {0};
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 1, 12); /* RoPE goes beyond the context */
    assert_int_equal(decoder_room(d, 0), 12);
    (void)decoder_feed(d, 0, ids, 10);
    assert_int_equal(decoder_room(d, 0), 2);
    assert_bug((void)decoder_feed(d, 0, ids, 3));
    decoder_free(d);
    model_free(m);
    c.pos = POS_LEARNED; /* has no more rows */
    m = make_model(&c);
    d = decoder_new(m, 1, 12);
    assert_int_equal(decoder_room(d, 0), 8);
    (void)decoder_feed(d, 0, ids, 8);
    assert_int_equal(decoder_room(d, 0), 0);
    assert_bug((void)decoder_feed(d, 0, ids, 1));
    decoder_free(d);
    model_free(m);
}

/* --- what else may change --- */

static void test_refresh(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 1, 30);
    int ids[9];
    real whole[9 * 11];
    make_ids(11, 9, ids);
    forward(m, ids, 9, NULL, whole);
    Params *p = model_params(m);
    Rng r = rng_at(7, "other", 0);
    for (size_t i = 0; i < p->count; i++) p->x[i] += (real)(0.1 * rng_normal(&r));
    assert_near(decoder_feed(d, 0, ids, 9), whole + 8 * 11, 11); /* the old ones still, every one of them */
    forward(m, ids, 9, NULL, whole);
    decoder_refresh(d);
    assert_int_equal(decoder_position(d, 0), 0);
    assert_near(decoder_feed(d, 0, ids, 9), whole + 8 * 11, 11);
    decoder_free(d);
    model_free(m);
}

static void test_tweak(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    Decoder *d = decoder_new(m, 1, 30);
    int ids[20];
    real whole[20 * 11], plain[20 * 11];
    make_ids(11, 20, ids);
    forward(m, ids, 20, NULL, plain);
    static const unsigned char off[] = {0, 1, 0, 0, 1, 0, 0, 1}; /* [2 x 4] */
    static const ModelTweak tweaks[] = {{NULL, -1}, {off, -1}, {NULL, 0}, {NULL, 3}, {off, 3}};
    for (size_t i = 0; i < sizeof tweaks / sizeof *tweaks; i++) {
        forward(m, ids, 20, &tweaks[i], whole);
        decoder_set_tweak(d, &tweaks[i]);
        assert_near(decoder_feed_all(d, 0, ids, 20), whole, 20 * 11);
        assert_true(i == 0 || difference(whole, plain, 20 * 11) > 1e-3);
    }
    decoder_set_tweak(d, NULL);
    assert_near(decoder_feed_all(d, 0, ids, 20), plain, 20 * 11);
    decoder_free(d);
    model_free(m);
}

/* The cache holds the keys after RoPE and the values that the forward pass has. */
static void test_cache(void **state) {
    (void)state;
    ModelConfig c = base();
    Model *m = make_model(&c);
    int ids[9], rows, cols;
    make_ids(11, 9, ids);
    Tape *t = tape_new(TAPE_PROBE);
    Batch b;
    batch_init(&b);
    batch_add(&b, ids, 9, false);
    tape_begin(t, model_read_params(m), &b, 0, 0);
    (void)model_graph(m, t, NULL);
    tape_forward(t);
    Decoder *d = decoder_new(m, 2, 12);
    (void)decoder_feed(d, 1, ids, 9);
    assert_int_equal(decoder_cached(d, 0), 0);
    assert_int_equal(decoder_cached(d, 1), 9);
    real got[9 * 12];
    decoder_cache(d, 1, 1, false, got);
    NodeInfo rope = tape_node(t, tape_find(t, "block1.attention.key.rope"));
    const real *key = tape_value(t, rope.out, &rows, &cols);
    assert_int_equal(rows * cols, 9 * 12);
    assert_near(got, key, 9 * 12);
    batch_done(&b);
    tape_free(t);
    decoder_free(d);
    model_free(m);
}

/* What the blocks leave, in the order fed: [L x 20 x D] in all. */
typedef struct {
    real state[2][20 * 12];
    int rows[2];
} Seen;

static void remember(void *data, int layer, int rows, const real *x) {
    Seen *seen = data;
    assert_true(layer < 2 && seen->rows[layer] + rows <= 20);
    memcpy(seen->state[layer] + seen->rows[layer] * 12, x, (size_t)rows * 12 * sizeof *x);
    seen->rows[layer] += rows;
}

static void test_watch(void **state) {
    (void)state;
    ModelConfig c = base();
    Model *m = make_model(&c);
    int ids[20];
    make_ids(11, 20, ids);
    Tape *t = tape_new(TAPE_PROBE);
    Batch b;
    batch_init(&b);
    batch_add(&b, ids, 20, false);
    tape_begin(t, model_read_params(m), &b, 0, 0);
    (void)model_graph(m, t, NULL);
    tape_forward(t);
    Seen seen = {0};
    Decoder *d = decoder_new(m, 1, 20);
    decoder_watch(d, remember, &seen);
    (void)decoder_feed(d, 0, ids, 13);
    (void)decoder_step(d, (const int[]){0}, ids + 13, 1);
    (void)decoder_feed_all(d, 0, ids + 14, 6);
    for (int l = 0; l < 2; l++) {
        char name[32];
        snprintf(name, sizeof name, "block%d.residual2", l);
        assert_int_equal(seen.rows[l], 20);
        assert_near(seen.state[l], tape_value(t, tape_node(t, tape_find(t, name)).out, NULL, NULL), 20 * 12);
    }
    decoder_watch(d, NULL, NULL);
    decoder_reset(d);
    (void)decoder_feed(d, 0, ids, 3);
    assert_int_equal(seen.rows[0], 20);
    decoder_free(d);
    tape_free(t);
    batch_done(&b);
    model_free(m);
}

static void test_allocates_nothing(void **state) {
    (void)state;
    ModelConfig c = everything();
    Model *m = make_model(&c);
    size_t live = mem_count().live;
    Decoder *d = decoder_new(m, 2, 90);
    int ids[80], streams[] = {1, 0};
    make_ids(11, 80, ids);
    size_t before = mem_count().allocations;
    (void)decoder_feed(d, 0, ids, 80);
    (void)decoder_step(d, streams, ids, 2);
    decoder_fork(d, 0, 1);
    decoder_truncate(d, 0, 3);
    decoder_refresh(d);
    assert_int_equal(mem_count().allocations, before);
    assert_bug((void)decoder_feed(d, 2, ids, 1));
    assert_bug((void)decoder_feed(d, 0, ids, 0));
    ids[0] = 11;
    assert_bug((void)decoder_feed(d, 0, ids, 1));
    decoder_free(d);
    assert_int_equal(mem_count().live, live);
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_feed_forwards),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_attention),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_after),
        cmocka_unit_test(test_truncate),
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_rolling_back),
        cmocka_unit_test(test_length_positions),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_tweak),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
