/* Every operation and every kind of model against central differences, in double. A row of ops.def that no case records
 * fails the first test. */
#include "gradient.h"

#include "mem.h"
#include "model.h"
#include "op.h"
#include "rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT 1e-7

/* --- material for the cases of single operations --- */

enum { X, Y, Z, QUERY, KEY, VALUE, QUERY_BIAS, KEY_BIAS, VALUE_BIAS, GAIN, SHIFT, HEAD_GAIN, POSITION, TARGET, SLICES };
enum { D = 8, VOCAB = 9, CONTEXT = 90 };

static void make_params(Params *p) {
    params_init(p);
    assert_int_equal(params_add(p, "x", VOCAB, D, INIT_NORMAL, 1), X);
    assert_int_equal(params_add(p, "y", VOCAB, D, INIT_NORMAL, 1), Y);
    assert_int_equal(params_add(p, "z", VOCAB, D, INIT_NORMAL, 1), Z);
    assert_int_equal(params_add(p, "query", D, D, INIT_NORMAL, .5), QUERY);
    assert_int_equal(params_add(p, "key", D / 2, D, INIT_NORMAL, .5), KEY);
    assert_int_equal(params_add(p, "value", D / 2, D, INIT_NORMAL, .5), VALUE);
    assert_int_equal(params_add(p, "query_bias", 1, D, INIT_NORMAL, 1), QUERY_BIAS);
    assert_int_equal(params_add(p, "key_bias", 1, D / 2, INIT_NORMAL, 1), KEY_BIAS);
    assert_int_equal(params_add(p, "value_bias", 1, D / 2, INIT_NORMAL, 1), VALUE_BIAS);
    assert_int_equal(params_add(p, "gain", 1, D, INIT_NORMAL, 1), GAIN);
    assert_int_equal(params_add(p, "shift", 1, D, INIT_NORMAL, 1), SHIFT);
    assert_int_equal(params_add(p, "head_gain", 1, D / 2, INIT_NORMAL, 1), HEAD_GAIN);
    assert_int_equal(params_add(p, "position", CONTEXT, D, INIT_NORMAL, 1), POSITION);
    assert_int_equal(params_add(p, "target", VOCAB, D, INIT_NORMAL, 1), TARGET);
    params_seal(p);
    params_fill(p, 5);
}

static void add_sentence(Batch *b, Rng *rng, int n, bool with_last) {
    int id[CONTEXT + 1];
    for (int i = 0; i <= n; i++) id[i] = (int)rng_below(rng, VOCAB);
    batch_add(b, id, n, with_last);
}

/* Sentences of 5, 1 and 3 rows; one row without a target. */
static void make_batch(Batch *b) {
    Rng rng = rng_at(1, "gradient", 0);
    batch_init(b);
    add_sentence(b, &rng, 5, true);
    add_sentence(b, &rng, 1, true);
    add_sentence(b, &rng, 3, false);
}

static Vid rows_of(Tape *t, int slice) {
    return tape_embed(t, slice, EMBED_TOKEN);
}
/* A different vector in every row. */
static Vid input(Tape *t, int slice) {
    return tape_add(t, rows_of(t, slice), tape_embed(t, POSITION, EMBED_POSITION));
}
static Vid against_target(Tape *t, Vid y) {
    return tape_mse(t, y, rows_of(t, TARGET));
}
/* Half the width: against half of z's product. */
static Vid against_half(Tape *t, Vid y) {
    return tape_mse(t, y, tape_linear(t, rows_of(t, Z), VALUE, VALUE_BIAS));
}

/* --- the cases: one graph each --- */

#define CASE(name) static Vid name(Tape *t, const void *context)
#define UNUSED     (void)context

CASE(embed) {
    UNUSED;
    return against_target(t, input(t, X));
}
CASE(sinusoid) {
    UNUSED;
    return against_target(t, tape_add(t, rows_of(t, X), tape_sinusoid(t, D)));
}
CASE(linear) {
    UNUSED;
    return against_target(t, tape_linear(t, input(t, X), QUERY, SLICE_NONE));
}
CASE(linear_bias) {
    UNUSED;
    return against_target(t, tape_linear(t, input(t, X), QUERY, QUERY_BIAS));
}
CASE(linear_twice) {
    UNUSED;
    Vid x = input(t, X);
    return against_target(t, tape_linear(t, tape_linear(t, x, QUERY, QUERY_BIAS), QUERY, QUERY_BIAS));
}
/* Only two of three parts are used, the third must get no gradient. */
CASE(linear_parts) {
    UNUSED;
    Vid out[3];
    tape_linear_parts(t, input(t, X), QUERY, QUERY_BIAS, 3, out);
    Vid k = tape_scale(t, out[1], 1.5);
    return tape_add(t, against_target(t, tape_act(t, out[0], ACT_TANH)), against_half(t, tape_add(t, k, out[1])));
}
CASE(layer_norm) {
    UNUSED;
    return against_target(t, tape_norm(t, input(t, X), NORM_LAYER, GAIN, SHIFT, 0, 1e-5));
}
CASE(layer_norm_no_bias) {
    UNUSED;
    return against_target(t, tape_norm(t, input(t, X), NORM_LAYER, GAIN, SLICE_NONE, 0, 1e-5));
}
CASE(layer_norm_bare) {
    UNUSED;
    return against_target(t, tape_norm(t, input(t, X), NORM_LAYER, SLICE_NONE, SLICE_NONE, 0, 1e-5));
}
CASE(rms_norm) {
    UNUSED;
    return against_target(t, tape_norm(t, input(t, X), NORM_RMS, GAIN, SLICE_NONE, 0, 1e-6));
}
CASE(rms_norm_heads) {
    UNUSED;
    return against_target(t, tape_norm(t, input(t, X), NORM_RMS, HEAD_GAIN, SLICE_NONE, D / 2, 1e-6));
}
/* The input has another user recorded before: the norm writes first, the other adds; and after. */
CASE(norm_shared) {
    UNUSED;
    Vid x = input(t, X), before = tape_act(t, x, ACT_SIGMOID);
    Vid n = tape_norm(t, x, NORM_RMS, GAIN, SLICE_NONE, 0, 1e-6), after = tape_act(t, x, ACT_TANH);
    return against_target(t, tape_add(t, tape_add(t, before, n), after));
}
CASE(rope_adjacent) {
    UNUSED;
    return against_target(t, tape_rope(t, input(t, X), D / 2, 100, &rope_unscaled, PAIRING_ADJACENT));
}
CASE(rope_half) {
    UNUSED;
    return against_target(t, tape_rope(t, input(t, X), D, 100, &rope_unscaled, PAIRING_HALF));
}

typedef struct {
    AttentionShape shape;
    bool parts; /* q, k, v from one product */
} AttentionCase;

static const unsigned char first_head_off[4] = {1, 0, 0, 0};

static Vid attention_case(Tape *t, const AttentionCase *c) {
    Vid x = input(t, X), qkv[3];
    bool grouped = c->shape.kv_heads < c->shape.heads;
    if (c->parts) {
        tape_linear_parts(t, x, QUERY, QUERY_BIAS, 3, qkv);
    } else {
        qkv[0] = tape_linear(t, x, QUERY, QUERY_BIAS);
        qkv[1] = grouped ? tape_linear(t, input(t, Y), KEY, KEY_BIAS) : input(t, Y);
        qkv[2] = grouped ? tape_linear(t, input(t, Z), VALUE, VALUE_BIAS) : input(t, Z);
    }
    Vid y = tape_attention(t, qkv[0], qkv[1], qkv[2], &c->shape);
    /* other users of q and k: attention must add to their gradients */
    return against_target(t, tape_add(t, tape_add(t, y, tape_scale(t, qkv[0], .3)), x));
}

static const AttentionCase attention_cases[] = {
    {{2, 2, 4, {0, true}, 0, NULL}, false},
    {{4, 2, 2, {0, true}, 0, NULL}, true},
    {{2, 1, 4, {0, true}, 0, NULL}, false},
    {{2, 2, 4, {2, true}, 0, NULL}, false},
    {{2, 2, 4, {0, false}, 0, NULL}, false},
    {{2, 2, 4, {0, true}, 1.5, NULL}, false},
    {{4, 2, 2, {2, true}, .8, NULL}, true},
    {{2, 1, 4, {0, true}, 0, first_head_off}, true},
    {{4, 4, 2, {0, true}, 0, first_head_off}, false},
    {{1, 1, 8, {3, true}, 0, NULL}, false},
    {{8, 4, 1, {0, true}, 0, NULL}, true},
};
#define ATTENTION_CASES ((int)(sizeof attention_cases / sizeof *attention_cases))

CASE(attention) {
    return attention_case(t, context);
}

CASE(act) {
    return against_target(t, tape_act(t, input(t, X), *(const ActKind *)context));
}
CASE(glu) {
    return against_target(t, tape_glu(t, input(t, X), input(t, Y), *(const ActKind *)context));
}
/* gate and up have other users, and come as parts of one product. */
CASE(glu_parts) {
    Vid out[3];
    tape_linear_parts(t, input(t, X), QUERY, QUERY_BIAS, 3, out);
    Vid y = tape_glu(t, out[1], out[2], *(const ActKind *)context);
    return against_half(t, tape_add(t, tape_add(t, y, out[1]), tape_scale(t, out[2], .5)));
}
/* Recorded before the glu, so that the glu is the first to write. */
CASE(glu_first) {
    Vid gate = input(t, X), up = input(t, Y), sum = tape_add(t, gate, up);
    return against_target(t, tape_add(t, sum, tape_glu(t, gate, up, *(const ActKind *)context)));
}
CASE(add_self) {
    UNUSED;
    Vid x = input(t, X);
    return against_target(t, tape_act(t, tape_add(t, x, x), ACT_TANH));
}
CASE(scale) {
    UNUSED;
    return against_target(t, tape_scale(t, input(t, X), -2.5));
}
CASE(softcap) {
    UNUSED;
    return against_target(t, tape_softcap(t, input(t, X), 1.2));
}
CASE(dropout) {
    UNUSED;
    return against_target(t, tape_dropout(t, input(t, X), .3));
}
CASE(rows) {
    UNUSED;
    const int pick[] = {2, 0, 2, 8};
    Vid a = tape_rows(t, input(t, X), pick, 4);
    return tape_mse(t, tape_act(t, a, ACT_TANH), tape_rows(t, rows_of(t, TARGET), pick, 4));
}
CASE(rows_added) {
    UNUSED;
    const int pick[] = {1, 1, 3};
    Vid x = input(t, X), part = tape_rows(t, x, pick, 3);
    return tape_add(t, against_target(t, tape_act(t, x, ACT_TANH)),
                    tape_mse(t, part, tape_rows(t, rows_of(t, Y), pick, 3)));
}
CASE(cross_entropy) {
    UNUSED;
    return tape_cross_entropy(t, tape_linear(t, input(t, X), Y, SLICE_NONE), 0, 0);
}
CASE(cross_entropy_z) {
    UNUSED;
    return tape_cross_entropy(t, tape_linear(t, input(t, X), Y, SLICE_NONE), .2, 5);
}
CASE(cross_entropy_added) {
    UNUSED;
    Vid x = tape_linear(t, input(t, X), Y, SLICE_NONE);
    Vid a = tape_cross_entropy(t, x, .1, 0), b = tape_cross_entropy(t, tape_softcap(t, x, 2), 0, 0);
    return tape_add(t, tape_add(t, a, tape_scale(t, b, .5)), tape_cross_entropy(t, x, 0, 0));
}
CASE(mse_self) {
    UNUSED;
    Vid x = input(t, X);
    return tape_add(t, tape_mse(t, x, x), against_target(t, x));
}
/* What does not lead to the loss is left alone. */
CASE(dead_end) {
    UNUSED;
    Vid x = input(t, X);
    (void)tape_act(t, x, ACT_TANH);
    Vid loss = against_target(t, x);
    (void)tape_mse(t, x, tape_scale(t, x, 2));
    return loss;
}

static const ActKind kinds[] = {ACT_RELU, ACT_GELU, ACT_GELU_TANH, ACT_SILU, ACT_SQUARED_RELU, ACT_TANH, ACT_SIGMOID};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct {
    const char *name;
    GraphBuilder build;
    const void *context;
} Case;

#define PLAIN(name)                                                                                                    \
    { #name, name, NULL }
#define EACH_KIND(name)                                                                                                \
    {#name " relu", name, &kinds[0]}, {#name " gelu", name, &kinds[1]}, {#name " gelu_tanh", name, &kinds[2]},         \
        {#name " silu", name, &kinds[3]}, {#name " squared_relu", name, &kinds[4]}, {#name " tanh", name, &kinds[5]},  \
    {                                                                                                                  \
#name " sigmoid", name, &kinds[6]                                                                              \
    }

static const Case cases[] = {
    PLAIN(embed),
    PLAIN(sinusoid),
    PLAIN(linear),
    PLAIN(linear_bias),
    PLAIN(linear_twice),
    PLAIN(linear_parts),
    PLAIN(layer_norm),
    PLAIN(layer_norm_no_bias),
    PLAIN(layer_norm_bare),
    PLAIN(rms_norm),
    PLAIN(rms_norm_heads),
    PLAIN(norm_shared),
    PLAIN(rope_adjacent),
    PLAIN(rope_half),
    EACH_KIND(act),
    EACH_KIND(glu),
    EACH_KIND(glu_parts),
    EACH_KIND(glu_first),
    PLAIN(add_self),
    PLAIN(scale),
    PLAIN(softcap),
    PLAIN(dropout),
    PLAIN(rows),
    PLAIN(rows_added),
    PLAIN(cross_entropy),
    PLAIN(cross_entropy_z),
    PLAIN(cross_entropy_added),
    PLAIN(mse_self),
    PLAIN(dead_end),
    {"attention 0", attention, &attention_cases[0]},
    {"attention 1", attention, &attention_cases[1]},
    {"attention 2", attention, &attention_cases[2]},
    {"attention 3", attention, &attention_cases[3]},
    {"attention 4", attention, &attention_cases[4]},
    {"attention 5", attention, &attention_cases[5]},
    {"attention 6", attention, &attention_cases[6]},
    {"attention 7", attention, &attention_cases[7]},
    {"attention 8", attention, &attention_cases[8]},
    {"attention 9", attention, &attention_cases[9]},
    {"attention 10", attention, &attention_cases[10]},
};
enum { CASES = sizeof cases / sizeof *cases };

static void expect_right(const char *name, const GradientCheck *c) {
    if (!(c->error < LIMIT) || c->frozen > 0 || c->over > 1e-12)
        fail_msg("%s: relative error %.3g of a gradient of norm %.3g; frozen %.3g; overwriting %.3g", name, c->error,
                 c->norm, c->frozen, c->over);
}

static void check_case(const Case *one, Params *p, const Batch *b) {
    const TapeMode modes[] = {TAPE_TRAIN, TAPE_PROBE};
    for (int m = 0; m < 2; m++) {
        GradientCheck c = gradient_check(modes[m], GRADIENT_SMOOTH, p, b, one->build, one->context);
        assert_true(c.norm > 1e-3);
        expect_right(one->name, &c);
    }
}

static void test_operations(void **state) {
    (void)state;
    Params p;
    Batch b;
    make_params(&p);
    make_batch(&b);
    for (int i = 0; i < CASES; i++) check_case(&cases[i], &p, &b);
    batch_done(&b);
    params_done(&p);
}

static void test_every_operation_has_a_case(void **state) {
    (void)state;
    bool seen[OP_COUNT] = {false};
    Params p;
    Batch b;
    make_params(&p);
    make_batch(&b);
    Tape *t = tape_new(TAPE_TRAIN);
    for (int i = 0; i < CASES; i++) {
        tape_begin(t, &p, &b, 1, 1);
        (void)cases[i].build(t, cases[i].context);
        for (int k = 0; k < t->nodes; k++) seen[t->node[k].op] = true;
    }
    /* stop has no gradient of its own: see below */
    seen[OP_STOP] = true;
    for (int i = 0; i < OP_COUNT; i++)
        if (!seen[i]) fail_msg("no gradient case records the operation \"%s\"", op_info((OpKind)i)->name);
    tape_free(t);
    batch_done(&b);
    params_done(&p);
}

/* Each slice frozen once: the others' gradients stay right and its own is not touched. */
static void test_frozen_slices(void **state) {
    (void)state;
    Params p;
    Batch b;
    make_params(&p);
    make_batch(&b);
    for (int s = 0; s < SLICES; s++) {
        p.slice[s].frozen = true;
        for (int i = s % 4; i < CASES; i += 4) {
            GradientCheck c = gradient_check(TAPE_TRAIN, GRADIENT_SMOOTH, &p, &b, cases[i].build, cases[i].context);
            expect_right(cases[i].name, &c);
        }
        p.slice[s].frozen = false;
    }
    batch_done(&b);
    params_done(&p);
}

/* d/dx of x * stop(x) through the tape is as if the stopped factor were a constant. */
static void test_stop(void **state) {
    (void)state;
    Params p;
    Batch b;
    make_params(&p);
    make_batch(&b);
    Tape *t = tape_new(TAPE_TRAIN);
    real *g = MEM_ARRAY(real, p.count), *expected = MEM_ARRAY(real, p.count);
    tape_begin(t, &p, &b, 1, 1);
    Vid x = rows_of(t, X), loss = tape_mse(t, x, tape_stop(t, tape_scale(t, x, 3)));
    tape_forward(t);
    tape_backward(t, loss, g);
    /* loss = mean((x - c)^2) with c = 3x: slope 2 (x - c) / n = -4 x / n */
    int n = batch_rows(&b) * D;
    for (int r = 0; r < batch_rows(&b); r++)
        for (int c = 0; c < D; c++) {
            size_t at = p.slice[X].at + (size_t)(b.id[r] * D + c);
            expected[at] -= 4 * p.x[at] / (real)n;
        }
    for (size_t i = 0; i < p.count; i++) assert_true(fabs((double)(g[i] - expected[i])) < 1e-12);
    mem_free(g);
    mem_free(expected);
    tape_free(t);
    batch_done(&b);
    params_done(&p);
}

/* Pads, odd positions, and sentences long enough for the block products. */
static void test_attention_batches(void **state) {
    (void)state;
    Params p;
    make_params(&p);
    for (int kind = 0; kind < 4; kind++) {
        Batch b;
        Rng rng = rng_at(2, "gradient", (uint64_t)kind);
        batch_init(&b);
        add_sentence(&b, &rng, kind >= 2 ? 80 : 6, true);
        add_sentence(&b, &rng, 4, true);
        if (kind == 0) batch_mark_pad(&b, 0), batch_mark_pad(&b, 4), batch_mark_pad(&b, 9);
        if (kind == 1) b.position[1] = 7, b.position[3] = 0;
        if (kind == 3) batch_mark_pad(&b, 0), batch_mark_pad(&b, 30), batch_mark_pad(&b, 60);
        for (int s = 0; s < SLICES && kind >= 2; s++)
            p.slice[s].frozen = s == POSITION || s == X;               /* fewer differences */
        for (int i = 0; i < ATTENTION_CASES; i += kind == 3 ? 5 : 1) { /* plain, with a softcap, with one key head */
            GradientCheck c = gradient_check(TAPE_TRAIN, GRADIENT_SMOOTH, &p, &b, attention, &attention_cases[i]);
            expect_right("attention with pads, positions or blocks", &c);
        }
        batch_done(&b);
    }
    params_done(&p);
}

/* --- models --- */

static Vid model_loss(Tape *t, const void *context) {
    const Model *m = context;
    return tape_cross_entropy(t, model_graph(m, t, NULL), model_config(m)->z_loss, 0);
}

static ModelConfig tiny(const char *preset) {
    ModelConfig c;
    assert_true(config_preset(preset, &c));
    c.vocab = VOCAB;
    c.context = 6;
    c.d = 8;
    c.heads = 4;
    c.kv_heads = c.kv_heads == 4 ? 4 : 2;
    c.head_dim = 2;
    c.d_ff = 10;
    return c;
}

static const char *const changes[] = {
    "",
    "norm=layer",
    "norm=rms",
    "norm=none",
    "norm_place=post",
    "norm_place=both",
    "norm_place=output",
    "ffn=relu",
    "ffn=gelu",
    "ffn=gelu_tanh",
    "ffn=silu",
    "ffn=squared_relu",
    "ffn=swiglu",
    "ffn=geglu",
    "ffn=reglu",
    "pos=none",
    "pos=learned",
    "pos=sinusoid",
    "pos=rope",
    "pos=rope rope_base=50",
    "pos=rope rope_scaling=llama3:8:1:4:12",
    "pos=rope pairing=half",
    "window=2",
    "window=2 global_every=2",
    "bias=0",
    "bias=1",
    "tie=1",
    "qk_norm=1",
    "softcap=1",
    "z_loss=0.1",
    "parallel=1",
    "parallel=1 norm_place=post",
    "parallel=1 norm_place=both",
    "parallel=1 norm_place=output",
    "dropout=0.3",
    "kv_heads=1",
    "kv_heads=4",
    "head_dim=6",
    "layers=0",
    "layers=1",
    "qk_norm=1 pos=rope pairing=half softcap=2 bias=1 norm_place=both tie=1 window=3 dropout=0.1 z_loss=0.01",
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void apply(ModelConfig *c, const char *text) {
    char copy[200], *next = copy;
    (void)snprintf(copy, sizeof copy, "%s", text);
    while (*next) {
        char *pair = next, *end = strchr(next, ' ');
        next = end ? end + 1 : next + strlen(next);
        if (end) *end = '\0';
        char *value = strchr(pair, '=');
        *value++ = '\0';
        Status s = config_set(c, pair, value);
        if (!status_is_ok(&s)) fail_msg("%s", s.text);
    }
}

/* Away from the start, where many gradients are tiny: gains and biases random, weights larger. */
static void shake(Params *p) {
    Rng rng = rng_at(3, "shake", 0);
    for (size_t i = 0; i < p->count; i++) p->x[i] += (real)(.3 * rng_normal(&rng));
}

static void check_models(const char *preset) {
    Batch b;
    make_batch(&b);
    for (int i = 0; i < CHANGES; i++) {
        ModelConfig c = tiny(preset);
        apply(&c, changes[i]);
        Model *m = model_new(&c, 11);
        shake(model_params(m));
        const TapeMode mode = i % 5 == 4 && c.dropout == 0 ? TAPE_PROBE : TAPE_TRAIN;
        bool kinked = c.ffn == FFN_RELU || c.ffn == FFN_SQUARED_RELU || c.ffn == FFN_REGLU;
        double step = kinked ? GRADIENT_KINKED : GRADIENT_SMOOTH;
        GradientCheck check = gradient_check(mode, step, model_params(m), &b, model_loss, m);
        char name[240];
        (void)snprintf(name, sizeof name, "%s %s", preset, changes[i]);
        expect_right(name, &check);
        model_free(m);
    }
    batch_done(&b);
}

static void test_gpt(void **state) {
    (void)state;
    check_models("gpt");
}
static void test_modern(void **state) {
    (void)state;
    check_models("modern");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation_has_a_case),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_frozen_slices),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_attention_batches),
        cmocka_unit_test(test_gpt),
        cmocka_unit_test(test_modern),
    };
    return cmocka_run_group_tests_name("gradient", tests, NULL, NULL);
}
