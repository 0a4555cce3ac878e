/* Models: counts, names, initial numbers, and what holds of every decoder: the past does not see the future, sentences
 * do not see each other, a wide window is no window. And the configuration's fields by name. */
#include "expect.h"

#include "model.h"
#include "op.h"
#include "rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static ModelConfig preset(const char *name) {
    ModelConfig c;
    assert_true(config_preset(name, &c));
    return c;
}

static void set(ModelConfig *c, const char *field, const char *value) {
    Status s = config_set(c, field, value);
    if (!status_is_ok(&s)) fail_msg("%s", s.text);
}

static size_t count_of(const ModelConfig *c) {
    Model *m = model_new(c, 1);
    size_t n = model_params(m)->count;
    model_free(m);
    return n;
}

/* --- counts --- */

static void test_presets_have_the_lectures_size(void **state) {
    (void)state;
    ModelConfig gpt = preset("gpt"), modern = preset("modern");
    assert_int_equal((int)count_of(&gpt), 111360);
    assert_int_equal((int)count_of(&modern), 99648);
    ModelConfig c;
    assert_false(config_preset("bert", &c));
}

static void test_counts_of_variants(void **state) {
    (void)state;
    ModelConfig c = preset("modern");
    c.tie = true;
    assert_int_equal((int)count_of(&c), 99648 - 56 * 64);
    c = preset("modern");
    c.kv_heads = 4; /* MHA: K and V twice as wide, in two layers */
    assert_int_equal((int)count_of(&c), 99648 + 2 * 2 * 32 * 64);
    c = preset("modern");
    c.qk_norm = true;
    assert_int_equal((int)count_of(&c), 99648 + 2 * 2 * 16);
    c = preset("modern");
    c.norm_place = PLACE_BOTH;
    assert_int_equal((int)count_of(&c), 99648 + 2 * 2 * 64);
    c.norm_place = PLACE_POST; /* no final norm */
    assert_int_equal((int)count_of(&c), 99648 - 64);
    c = preset("modern");
    c.parallel = true; /* one norm a block less */
    assert_int_equal((int)count_of(&c), 99648 - 2 * 64);
    c = preset("gpt");
    c.bias = false;
    assert_int_equal((int)count_of(&c), 111360 - 2 * (192 + 64 + 256 + 64 + 64 + 64) - 64);
    /* the lecture's accounting: V = 10000, d = 512, 4 layers, d_ff = 1344 */
    c = preset("modern");
    c.vocab = 10000, c.d = 512, c.layers = 4, c.heads = c.kv_heads = 8, c.head_dim = 64, c.d_ff = 1344;
    assert_int_equal((int)count_of(&c), 22696448);
}

static void test_initial_numbers(void **state) {
    (void)state;
    ModelConfig c = preset("gpt");
    Model *m = model_new(&c, 7), *same = model_new(&c, 7), *other = model_new(&c, 8);
    const Params *p = model_read_params(m);
    assert_true(params_hash(p) == params_hash(model_read_params(same)));
    assert_true(params_hash(p) != params_hash(model_read_params(other)));
    for (int i = 0; i < p->slices; i++) {
        const Slice *s = &p->slice[i];
        bool table = strcmp(s->name, "token.weight") == 0 || strcmp(s->name, "position.weight") == 0;
        bool gain = strstr(s->name, ".gain") != NULL, bias = strstr(s->name, ".bias") != NULL;
        double want = gain || bias ? 0 : table ? .02 : 1 / sqrt(s->cols), sum = 0, squares = 0;
        for (size_t k = s->at; k < s->at + slice_count(s); k++) sum += (double)p->x[k];
        double n = (double)slice_count(s), mean = sum / n;
        for (size_t k = s->at; k < s->at + slice_count(s); k++) squares += pow((double)p->x[k] - mean, 2);
        assert_true(fabs(sqrt(squares / n) - want) <= .06 * want);
        if (gain || bias) assert_true(mean == (gain ? 1 : 0));
        assert_int_equal(s->decay, !gain && !bias);
    }
    model_free(m);
    model_free(same);
    model_free(other);
}

static void test_copy_stands_alone(void **state) {
    (void)state;
    ModelConfig c = preset("modern");
    Model *m = model_new(&c, 7), *copy = model_copy(m);
    uint64_t before = params_hash(model_read_params(m));
    assert_true(params_hash(model_read_params(copy)) == before);
    model_params(copy)->x[0] += 1;
    model_params(copy)->slice[0].frozen = true;
    assert_true(params_hash(model_read_params(m)) == before && !model_read_params(m)->slice[0].frozen);
    model_free(m);
    assert_int_equal(model_config(copy)->kv_heads, 2);
    model_free(copy);
}

/* --- graphs --- */

static void random_batch(Batch *b, const int *lengths, int n, uint64_t seed) {
    Rng rng = rng_at(seed, "model", 0);
    batch_init(b);
    for (int s = 0; s < n; s++) {
        int id[64];
        for (int i = 0; i < lengths[s]; i++) id[i] = (int)rng_below(&rng, 56);
        batch_add(b, id, lengths[s], false);
    }
}

/* Logits [R x V]; the caller frees. */
static real *logits_of(const Model *m, const Batch *b, TapeMode mode, const ModelTweak *tweak) {
    Tape *t = tape_new(mode);
    int rows, cols;
    tape_begin(t, model_read_params(m), b, 1, 1);
    Vid y = model_graph(m, t, tweak);
    tape_forward(t);
    const real *x = tape_value(t, y, &rows, &cols);
    assert_int_equal(rows, batch_rows(b));
    real *copy = MEM_ARRAY(real, (size_t)(rows * cols));
    memcpy(copy, x, (size_t)(rows * cols) * sizeof *copy);
    tape_free(t);
    return copy;
}

static double difference(const real *a, const real *b, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static const char *const presets[] = {"gpt", "modern"};

static void expect_node(const Tape *t, const char *name, const char *op) {
    int node = tape_find(t, name);
    if (node < 0) fail_msg("no node \"%s\"", name);
    assert_string_equal(tape_node(t, node).op, op);
}

static void test_names(void **state) {
    (void)state;
    const int lengths[] = {9};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = preset(presets[i]);
        Model *m = model_new(&c, 1);
        Batch b;
        random_batch(&b, lengths, 1, 1);
        Tape *t = tape_new(TAPE_PROBE);
        tape_begin(t, model_read_params(m), &b, 1, 1);
        (void)model_graph(m, t, NULL);
        expect_node(t, "embed", "embed");
        if (i == 0) expect_node(t, "position", "embed");
        expect_node(t, "block0.norm1", "norm");
        expect_node(t, "block0.attention.query", "linear");
        expect_node(t, "block0.attention.key", "linear");
        expect_node(t, "block1.attention.value", "linear");
        if (i == 1) expect_node(t, "block1.attention.query.rope", "rope");
        if (i == 1) expect_node(t, "block1.attention.key.rope", "rope");
        expect_node(t, "block1.attention", "attention");
        expect_node(t, "block1.attention.out", "linear");
        expect_node(t, "block1.residual1", "add");
        expect_node(t, "block1.norm2", "norm");
        expect_node(t, i ? "block1.ffn.gate" : "block1.ffn.act", i ? "linear" : "act");
        expect_node(t, "block1.ffn.up", "linear");
        expect_node(t, "block1.ffn.down", "linear");
        expect_node(t, "block1.residual2", "add");
        expect_node(t, "final_norm", "norm");
        expect_node(t, "logits", "linear");
        for (int n = 0; n < tape_nodes(t); n++) assert_true(tape_node(t, n).name[0] != '\0');
        tape_free(t);
        batch_done(&b);
        model_free(m);
    }
}

/* The kinds of tape agree, though a training tape makes one product where a probe makes three. */
static void test_tapes_agree(void **state) {
    (void)state;
    const int lengths[] = {9, 13, 1};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = preset(presets[i]);
        Model *m = model_new(&c, 1);
        Batch b;
        random_batch(&b, lengths, 3, 1);
        real *train = logits_of(m, &b, TAPE_TRAIN, NULL), *eval = logits_of(m, &b, TAPE_EVAL, NULL);
        real *probe = logits_of(m, &b, TAPE_PROBE, NULL);
        assert_memory_equal(train, eval, 23 * 56 * sizeof(real));
        assert_true(difference(train, probe, 23 * 56) < 1e-5);
        mem_free(train);
        mem_free(eval);
        mem_free(probe);
        batch_done(&b);
        model_free(m);
    }
}

/* Another last token changes its own row and no bit of an earlier one. */
static void test_causal_exactness(void **state) {
    (void)state;
    const int lengths[] = {12};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = preset(presets[i]);
        Model *m = model_new(&c, 1);
        Batch b;
        random_batch(&b, lengths, 1, 1);
        for (int mode = TAPE_TRAIN; mode <= TAPE_PROBE; mode++) {
            real *before = logits_of(m, &b, (TapeMode)mode, NULL);
            b.id[11] = (b.id[11] + 1) % 56;
            real *after = logits_of(m, &b, (TapeMode)mode, NULL);
            assert_memory_equal(before, after, 11 * 56 * sizeof(real));
            assert_memory_not_equal(before + 11 * 56, after + 11 * 56, 56 * sizeof(real));
            mem_free(before);
            mem_free(after);
        }
        batch_done(&b);
        model_free(m);
    }
}

/* Packed among others and padded at either end, a sentence gives what it gives alone. */
static void test_packing_and_pads(void **state) {
    (void)state;
    const int lengths[] = {10, 7, 17}, padded[] = {14};
    for (int i = 0; i < 2; i++) {
        ModelConfig c = preset(presets[i]);
        Model *m = model_new(&c, 1);
        Batch all, alone, longer;
        random_batch(&all, lengths, 3, 1);
        real *packed = logits_of(m, &all, TAPE_TRAIN, NULL);
        batch_init(&alone);
        batch_add(&alone, all.id + 10, 7, false);
        real *single = logits_of(m, &alone, TAPE_TRAIN, NULL);
        assert_true(difference(packed + 10 * 56, single, 7 * 56) < 1e-5);
        random_batch(&longer, padded, 1, 2); /* 3 pads, the 7 tokens, 4 pads */
        for (int r = 0; r < 14; r++) {
            if (r < 3 || r >= 10) {
                batch_mark_pad(&longer, r);
            } else {
                longer.id[r] = all.id[10 + r - 3];
                longer.position[r] = r - 3;
            }
        }
        real *with_pads = logits_of(m, &longer, TAPE_TRAIN, NULL);
        assert_true(difference(with_pads + 3 * 56, single, 7 * 56) < 1e-5);
        mem_free(packed);
        mem_free(single);
        mem_free(with_pads);
        batch_done(&all);
        batch_done(&alone);
        batch_done(&longer);
        model_free(m);
    }
}

static void test_window(void **state) {
    (void)state;
    const int lengths[] = {12};
    ModelConfig c = preset("modern");
    Model *m = model_new(&c, 1);
    c.window = 3;
    Model *narrow = model_new(&c, 1);
    Batch b;
    random_batch(&b, lengths, 1, 1);
    ModelTweak wide = {NULL, 12}, three = {NULL, 3}, none = {NULL, 0}, own = {NULL, -1};
    real *full = logits_of(m, &b, TAPE_EVAL, NULL), *x;
    const size_t bytes = 12 * 56 * sizeof(real);
    assert_memory_equal(full, x = logits_of(m, &b, TAPE_EVAL, &wide), bytes);
    mem_free(x);
    assert_memory_equal(full, x = logits_of(m, &b, TAPE_EVAL, &own), bytes);
    mem_free(x);
    assert_memory_equal(full, x = logits_of(narrow, &b, TAPE_EVAL, &none), bytes);
    mem_free(x);
    real *cut = logits_of(m, &b, TAPE_EVAL, &three);
    assert_memory_not_equal(full, cut, bytes);
    assert_memory_equal(cut, x = logits_of(narrow, &b, TAPE_EVAL, NULL), bytes);
    mem_free(x);
    mem_free(cut);
    mem_free(full);
    batch_done(&b);
    model_free(m);
    model_free(narrow);
}

/* Two layers of window 3 reach 2 (3 - 1) = 4 tokens back and not a token further. */
static void test_window_reach(void **state) {
    (void)state;
    const int lengths[] = {12};
    ModelConfig c = preset("modern");
    c.window = 3;
    Model *m = model_new(&c, 1);
    Batch b;
    random_batch(&b, lengths, 1, 1);
    real *before = logits_of(m, &b, TAPE_EVAL, NULL);
    b.id[0] = (b.id[0] + 1) % 56;
    real *after = logits_of(m, &b, TAPE_EVAL, NULL);
    for (int r = 0; r < 12; r++)
        assert_int_equal(memcmp(before + r * 56, after + r * 56, 56 * sizeof(real)) != 0, r <= 4);
    mem_free(before);
    mem_free(after);
    batch_done(&b);
    model_free(m);
}

static void test_head_off(void **state) {
    (void)state;
    const int lengths[] = {8};
    ModelConfig c = preset("modern");
    Model *m = model_new(&c, 1);
    Batch b;
    random_batch(&b, lengths, 1, 1);
    unsigned char off[8] = {0, 0, 0, 0, 0, 1, 0, 0}; /* layer 1, head 1 */
    ModelTweak tweak = {off, -1};
    Tape *t = tape_new(TAPE_PROBE);
    tape_begin(t, model_read_params(m), &b, 1, 1);
    (void)model_graph(m, t, &tweak);
    tape_forward(t);
    for (int layer = 0; layer < 2; layer++) {
        int node = tape_find(t, layer ? "block1.attention" : "block0.attention"), cols;
        const real *y = tape_value(t, tape_node(t, node).out, NULL, &cols);
        for (int r = 0; r < 8; r++)
            for (int k = 0; k < cols; k++) assert_int_equal(y[r * cols + k] == 0, layer == 1 && k / 16 == 1);
        int dim[3];
        assert_non_null(tape_stage(t, node, "weights", dim)); /* the weights can still be looked at */
    }
    tape_free(t);
    batch_done(&b);
    model_free(m);
}

static void test_global_layers(void **state) {
    (void)state;
    ModelConfig c = preset("modern");
    c.window = 4;
    c.global_every = 3;
    const int right[] = {4, 4, 0, 4, 4, 0};
    for (int l = 0; l < 6; l++) assert_int_equal(config_window(&c, l), right[l]);
    c.global_every = 0;
    assert_int_equal(config_window(&c, 2), 4);
}

/* --- configuration --- */

static void test_fields_round_trip(void **state) {
    (void)state;
    const char *const *names = config_fields();
    int n = 0;
    for (; names[n]; n++) {
        ModelConfig a = preset("gpt"), b = preset("modern");
        char text[64], other[64];
        assert_true(config_get(&b, names[n], text, sizeof text));
        set(&a, names[n], text);
        assert_true(config_get(&a, names[n], other, sizeof other));
        assert_string_equal(text, other);
    }
    assert_int_equal(n, 28);
    ModelConfig c = preset("gpt");
    for (int i = 0; i < n; i++) { /* all fields together turn one preset into the other */
        char text[64];
        ModelConfig modern = preset("modern");
        assert_true(config_get(&modern, names[i], text, sizeof text));
        set(&c, names[i], text);
    }
    assert_int_equal((int)count_of(&c), 99648);
    char text[8];
    assert_false(config_get(&c, "colour", text, sizeof text));
}

typedef struct {
    const char *field, *value, *word; /* a word of the sentence */
} Refusal;

static void test_bad_values(void **state) {
    (void)state;
    const Refusal refusals[] = {
        {"heads", "0", "from 1"},
        {"heads", "two", "whole number"},
        {"heads", "4.5", "whole number"},
        {"norm", "batch", "layer, rms"},
        {"ffn", "", "swiglu"},
        {"bias", "yes", "0 or 1"},
        {"dropout", "1", "0.999"},
        {"softcap", "nan", "number"},
        {"colour", "1", "no field"},
        {"vocab", "99999999999", "from 1"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        ModelConfig c = preset("gpt"), before = c;
        Status s = config_set(&c, refusals[i].field, refusals[i].value);
        assert_int_equal(s.code, STATUS_USAGE);
        if (!strstr(s.text, refusals[i].word)) fail_msg("\"%s\" lacks \"%s\"", s.text, refusals[i].word);
        assert_int_equal(c.heads, before.heads);
    }
}

static void expect_refused(const ModelConfig *c, const char *word) {
    Status s = config_check(c);
    assert_int_equal(s.code, STATUS_USAGE);
    if (!strstr(s.text, word)) fail_msg("\"%s\" lacks \"%s\"", s.text, word);
}

static void test_impossible_shapes(void **state) {
    (void)state;
    ModelConfig c = preset("modern");
    Status s = config_check(&c);
    assert_true(status_is_ok(&s));
    c.kv_heads = 3;
    expect_refused(&c, "multiple");
    c.kv_heads = 8;
    expect_refused(&c, "multiple");
    c = preset("modern");
    c.head_dim = 15;
    expect_refused(&c, "even");
    c = preset("gpt");
    c.pos = POS_SINUSOID, c.d = 63;
    expect_refused(&c, "even");
    c = preset("modern");
    c.global_every = 2;
    expect_refused(&c, "window");
    c = preset("modern");
    c.norm_eps = 0;
    expect_refused(&c, "norm_eps");
    c = preset("modern");
    c.d = 100000, c.d_ff = 1000000;
    expect_refused(&c, "parameters");
    c = preset("modern");
    c.layers = -1;
    expect_refused(&c, "layers");
    c = preset("modern");
    c.ffn = (FfnKind)77;
    expect_refused(&c, "ffn");
    c = preset("modern");
    c.dropout = (double)NAN;
    expect_refused(&c, "dropout");
}

/* --- what passes keep --- */

/* Tokens 0 .. N-1 of model M, recorded in a mode; LEAN: by tape_begin_lean. */
typedef struct {
    Model *m;
    Batch batch;
    Tape *tape;
} Pass;

static void see_nothing(void *data, const Tape *t, int node) {
    (void)data, (void)t, (void)node;
}

static void record(Pass *p, const char *name, const char *field, const char *value, TapeMode mode, bool lean) {
    ModelConfig c = preset(name);
    if (field) set(&c, field, value);
    p->m = model_new(&c, 2);
    p->tape = tape_new(mode);
    int id[20];
    for (int i = 0; i < 20; i++) id[i] = i * 7 % c.vocab;
    batch_init(&p->batch);
    batch_add(&p->batch, id, 20, false);
    if (lean)
        tape_begin_lean(p->tape, model_read_params(p->m), &p->batch, see_nothing, NULL);
    else
        tape_begin(p->tape, model_read_params(p->m), &p->batch, 0, 0);
    (void)tape_cross_entropy(p->tape, model_graph(p->m, p->tape, NULL), 0, 0);
}

static void done(Pass *p) {
    tape_free(p->tape);
    batch_done(&p->batch);
    model_free(p->m);
}

static size_t numbers_of_values(const Tape *t) {
    size_t sum = 0;
    for (int v = 0; v < t->values; v++)
        if (t->value[v].whole == v) sum += op_aligned((size_t)t->value[v].rows * (size_t)t->value[v].ld);
    return sum;
}

/* Where no backward can follow, nothing is kept for it: a tape for tests has its values and no more, a lean one has
 * no room of its own at all before its values are placed. */
static void test_nothing_is_kept_without_backward(void **state) {
    (void)state;
    static const struct {
        const char *name, *field, *value;
    } models[] = {{"gpt", NULL, NULL}, {"modern", NULL, NULL}, {"modern", "softcap", "3"}, {"modern", "qk_norm", "1"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        Pass eval, lean, train;
        record(&eval, models[i].name, models[i].field, models[i].value, TAPE_EVAL, false);
        record(&lean, models[i].name, models[i].field, models[i].value, TAPE_PROBE, true);
        record(&train, models[i].name, models[i].field, models[i].value, TAPE_TRAIN, false);
        assert_int_equal(eval.tape->used, numbers_of_values(eval.tape));
        assert_int_equal(lean.tape->used, 0);
        assert_true(train.tape->used > numbers_of_values(train.tape));
        done(&eval);
        done(&lean);
        done(&train);
    }
}

/* A lean recording is run as a whole, and has no way back. */
static void test_lean_recordings_have_one_way(void **state) {
    (void)state;
    Pass lean, train;
    record(&lean, "gpt", NULL, NULL, TAPE_PROBE, true);
    record(&train, "gpt", NULL, NULL, TAPE_TRAIN, false);
    Vid loss = tape_node(lean.tape, tape_nodes(lean.tape) - 1).out;
    real *grad = MEM_ARRAY(real, model_read_params(lean.m)->count);
    tape_forward(lean.tape);
    assert_bug(tape_run(lean.tape, 0, 1));
    assert_bug(tape_backward(lean.tape, loss, grad));
    assert_bug(tape_seed_grad(lean.tape, loss, grad));
    assert_bug(tape_begin_lean(train.tape, model_read_params(train.m), &train.batch, NULL, NULL));
    mem_free(grad);
    done(&lean);
    done(&train);
}

/* --- lean passes --- */

typedef struct {
    const Tape *whole; /* of the same pass, with everything kept */
    int seen;
    const real *low, *high; /* where outputs lay */
} Lean;

static void expect_same_node(void *data, const Tape *t, int node) {
    Lean *l = data;
    int rows, cols, dim[3];
    NodeInfo info = tape_node(t, node);
    for (int i = -1; i < 3; i++) { /* what comes out, and what goes in */
        Vid v = i < 0 ? info.out : info.in[i];
        if (v == VID_NONE) continue;
        const real *x = tape_value(t, v, &rows, &cols);
        assert_memory_equal(x, tape_value(l->whole, v, NULL, NULL), (size_t)rows * (size_t)cols * sizeof *x);
    }
    const real *y = tape_value(t, info.out, NULL, NULL);
    if (!l->low || y < l->low) l->low = y;
    if (!l->high || y > l->high) l->high = y;
    assert_null(tape_stage(t, node, "weights", dim));
    assert_int_equal(node, l->seen++);
}

static void check_lean(const char *name, const char *field, const char *value) {
    ModelConfig c = preset(name);
    if (field) set(&c, field, value);
    set(&c, "layers", "5");
    Model *m = model_new(&c, 2);
    Batch b;
    int id[20];
    for (int i = 0; i < 20; i++) id[i] = i * 7 % c.vocab;
    batch_init(&b);
    batch_add(&b, id, 20, false);
    Tape *whole = tape_new(TAPE_PROBE), *lean = tape_new(TAPE_PROBE);
    tape_begin(whole, model_read_params(m), &b, 0, 0);
    Vid logits = model_graph(m, whole, NULL);
    tape_forward(whole);
    Lean l = {.whole = whole};
    tape_begin_lean(lean, model_read_params(m), &b, expect_same_node, &l);
    assert_int_equal(model_graph(m, lean, NULL), logits);
    for (int pass = 0; pass < 2; pass++) { /* and again: in the same room */
        l.seen = 0;
        l.low = l.high = NULL;
        tape_forward(lean);
        assert_int_equal(l.seen, tape_nodes(whole));
        assert_true(l.high - l.low < 20 * 1000); /* of a token: of one block, and not of five */
        assert_memory_equal(tape_value(lean, logits, NULL, NULL), tape_value(whole, logits, NULL, NULL),
                            20 * (size_t)c.vocab * sizeof(real));
    }
    tape_rest(lean);
    assert_null(tape_value(lean, logits, NULL, NULL));
    assert_int_equal(tape_find(lean, "block4.attention"), tape_find(whole, "block4.attention"));
    l.seen = 0;
    tape_forward(lean); /* it asks for room anew */
    assert_int_equal(l.seen, tape_nodes(whole));
    tape_rest(lean);
    tape_begin(lean, model_read_params(m), &b, 0, 0); /* the next one is lean no more */
    (void)model_graph(m, lean, NULL);
    tape_forward(lean);
    int dim[3];
    assert_non_null(tape_stage(lean, tape_find(lean, "block4.attention"), "weights", dim));
    tape_free(lean);
    tape_free(whole);
    batch_done(&b);
    model_free(m);
}

/* Of a tape for tests, too, on which queries, keys and values are parts of one matrix. */
static void check_lean_eval(const char *name, const char *field, const char *value) {
    Pass whole, lean;
    record(&whole, name, field, value, TAPE_EVAL, false);
    record(&lean, name, field, value, TAPE_EVAL, true);
    NodeInfo loss = tape_node(whole.tape, tape_nodes(whole.tape) - 1);
    tape_forward(whole.tape);
    tape_forward(lean.tape);
    assert_true(tape_scalar(lean.tape, loss.out) == tape_scalar(whole.tape, loss.out));
    tape_begin_lean(lean.tape, model_read_params(lean.m), &lean.batch, NULL, NULL);
    assert_int_equal(model_graph(lean.m, lean.tape, NULL), loss.in[0]);
    tape_forward(lean.tape);
    int rows, cols;
    const real *logits = tape_value(whole.tape, loss.in[0], &rows, &cols);
    assert_memory_equal(tape_value(lean.tape, loss.in[0], NULL, NULL), logits,
                        (size_t)rows * (size_t)cols * sizeof *logits);
    assert_true(lean.tape->size < whole.tape->size / 2);
    done(&whole);
    done(&lean);
}

static void test_lean_passes_give_the_same(void **state) {
    (void)state;
    check_lean_eval("gpt", NULL, NULL);
    check_lean_eval("modern", NULL, NULL);
    check_lean_eval("modern", "softcap", "3");
    check_lean_eval("modern", "parallel", "1");
    check_lean("gpt", NULL, NULL);
    check_lean("modern", NULL, NULL);
    check_lean("modern", "parallel", "1");
    check_lean("modern", "qk_norm", "1");
    check_lean("modern", "norm_place", "both");
    check_lean("gpt", "norm_place", "post");
    check_lean("modern", "softcap", "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets_have_the_lectures_size),
        cmocka_unit_test(test_counts_of_variants),
        cmocka_unit_test(test_initial_numbers),
        cmocka_unit_test(test_copy_stands_alone),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_tapes_agree),
        cmocka_unit_test(test_causal_exactness),
        cmocka_unit_test(test_packing_and_pads),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_window_reach),
        cmocka_unit_test(test_head_off),
        cmocka_unit_test(test_global_layers),
        cmocka_unit_test(test_fields_round_trip),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_impossible_shapes),
        cmocka_unit_test(test_nothing_is_kept_without_backward),
        cmocka_unit_test(test_lean_recordings_have_one_way),
        cmocka_unit_test(test_lean_passes_give_the_same),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
