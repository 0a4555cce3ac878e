/* Rotary positions in double: the hand calculations of the lectures, every way of writing them, the engine's own
 * rotation; plain attention beside the engine's. */
#include "expect.h"

#include "plain_attention.h"
#include "rng.h"
#include "rotary.h"
#include "sinusoid.h"
#include "tape.h"

#include "decode/row.h"

#include <math.h>
#include <string.h>

#define assert_near(got, want, tolerance)                                                                              \
    do {                                                                                                               \
        double got_ = (double)(got), want_ = (double)(want);                                                           \
        if (!(fabs(got_ - want_) <= (tolerance))) fail_msg("%s is %.17g, not %.17g", #got, got_, want_);               \
    } while (0)
#define TOLERANCE (REAL_IS_DOUBLE ? 1e-12 : 2e-6)

/* Lecture 4, 4.2: 1,2,3,4 at position 1; angles 1 and 0.01. */
static void by_hand(void **state) {
    (void)state;
    const double x[4] = {1, 2, 3, 4}, c = cos(1), s = sin(1), c2 = cos(.01), s2 = sin(.01);
    const double adjacent[4] = {c - 2 * s, s + 2 * c, 3 * c2 - 4 * s2, 3 * s2 + 4 * c2};
    const double half[4] = {c - 3 * s, 2 * c2 - 4 * s2, s + 3 * c, 2 * s2 + 4 * c2};
    for (int pairing = PAIRING_ADJACENT; pairing <= PAIRING_HALF; pairing++) {
        Rotary r;
        rotary_init(&r, 4, 10000, (Pairing)pairing);
        double y[4];
        rotary_turn(&r, 1, x, y);
        for (int i = 0; i < 4; i++) assert_near(y[i], pairing == PAIRING_ADJACENT ? adjacent[i] : half[i], 1e-15);
        rotary_turn(&r, -1, y, y);
        for (int i = 0; i < 4; i++) assert_near(y[i], x[i], 1e-15);
        rotary_done(&r);
    }
}

static void places_and_pairs_are_inverse(void **state) {
    (void)state;
    for (int pairing = PAIRING_ADJACENT; pairing <= PAIRING_HALF; pairing++) {
        Rotary r;
        rotary_init(&r, 10, 10000, (Pairing)pairing);
        bool seen[10] = {0};
        for (int i = 0; i < 5; i++) {
            int a, b;
            rotary_places(&r, i, &a, &b);
            assert_int_equal(b - a, pairing == PAIRING_ADJACENT ? 1 : 5);
            assert_int_equal(rotary_pair(&r, a), i);
            assert_int_equal(rotary_pair(&r, b), i);
            assert_false(seen[a] || seen[b]);
            seen[a] = seen[b] = true;
        }
        rotary_done(&r);
    }
}

static void speeds(void **state) {
    (void)state;
    Rotary r;
    rotary_init(&r, 128, 10000, PAIRING_ADJACENT);
    assert_near(r.speed[0], 1, 0);
    assert_near(r.speed[63], 1.1547819846894582e-4, 1e-18);
    assert_near(rotary_similarity(&r, 0) * 128, 128, 1e-12);
    assert_near(rotary_similarity(&r, 1024) * 128, 26.168501664582642, 1e-10); /* seminar 3, 5.5: about 26 */
    rotary_done(&r);
    rotary_init_single(&r, 64, PAIRING_ADJACENT);
    assert_near(rotary_similarity(&r, 44), cos(44), 1e-15);
    rotary_done(&r);
}

static double product(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Lecture 4, 4.4, at any place: also where the angle's own rounding would cost half of the digits. */
static void only_the_distance_counts(void **state) {
    (void)state;
    enum { D = 64 };
    double q[D], k[D], a[D], b[D], first = 0;
    Rng rng = rng_at(1, "rotary", 0);
    for (int i = 0; i < D; i++) q[i] = rng_normal(&rng), k[i] = rng_normal(&rng);
    Rotary r;
    rotary_init(&r, D, 10000, PAIRING_HALF);
    static const double at[] = {5, 105, 1005, 1000005, 999999999};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        rotary_turn(&r, at[i], q, a);
        rotary_turn(&r, at[i] - 3, k, b);
        if (i == 0) first = product(a, b, D);
        assert_near(product(a, b, D), first, 1e-13);
        assert_near(product(a, a, D), product(q, q, D), 1e-13);
    }
    assert_true(fabs(first - product(q, k, D)) > 1e-3);
    rotary_turn(&r, 3, q, a); /* the wrong formula */
    rotary_turn(&r, 3, k, b);
    assert_near(product(a, b, D), product(q, k, D), 1e-13);
    rotary_done(&r);
}

static void all_forms_agree(void **state) {
    (void)state;
    static const int widths[] = {2, 6, 8, 64};
    double x[64], y[64];
    long double exact[64];
    Rng rng = rng_at(2, "rotary", 0);
    for (int i = 0; i < 64; i++) x[i] = rng_normal(&rng);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        Rotary r;
        rotary_init(&r, widths[w], 10000, PAIRING_ADJACENT);
        rotary_exact(&r, 5, x, exact);
        void (*const forms[])(const Rotary *, double, const double *, double *) = {rotary_turn, rotary_by_matrix,
                                                                                   rotary_by_complex, rotary_by_halves};
        for (int f = 0; f < 4; f++) {
            forms[f](&r, 5, x, y);
            for (int i = 0; i < r.d; i++) assert_near(y[i], (double)exact[i], 1e-15);
        }
        rotary_done(&r);
    }
}

static void the_matrix_is_block_diagonal_and_orthogonal(void **state) {
    (void)state;
    Rotary r;
    rotary_init(&r, 8, 10000, PAIRING_ADJACENT);
    double m[64];
    rotary_matrix(&r, 5, m);
    assert_near(m[0], cos(5), 1e-16);
    assert_near(m[1], -sin(5), 1e-16);
    assert_near(m[8], sin(5), 1e-16);
    assert_near(m[18], cos(.5), 1e-16);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            assert_near(product(m + i * 8, m + j * 8, 8), i == j, 1e-15);
            if (i / 2 != j / 2) assert_true(m[i * 8 + j] == 0);
        }
    rotary_matrix(&r, 0, m);
    for (int i = 0; i < 64; i++) assert_false(signbit(m[i]));
    rotary_done(&r);
}

/* --- the engine --- */

enum { T = 9, HEADS = 2, WIDTH = 6 };

/* One table [T x HEADS*WIDTH] by token, row by row at positions 0 .. T-1, through OPERATION. */
typedef struct {
    Params p;
    Batch b;
    Tape *t;
    Vid x;
} Engine;

static void engine_begin(Engine *e) {
    int row[T];
    for (int i = 0; i < T; i++) row[i] = i;
    params_init(&e->p);
    (void)params_add(&e->p, "x", T, HEADS * WIDTH, INIT_NORMAL, 1);
    params_seal(&e->p);
    params_fill(&e->p, 7);
    batch_init(&e->b);
    batch_add(&e->b, row, T, false);
    e->t = tape_new(TAPE_EVAL);
    tape_begin(e->t, &e->p, &e->b, 0, 0);
    e->x = tape_embed(e->t, 0, EMBED_TOKEN);
}

static void engine_end(Engine *e) {
    tape_free(e->t);
    batch_done(&e->b);
    params_done(&e->p);
}

static void the_engine_turns_alike(void **state) {
    (void)state;
    for (int pairing = PAIRING_ADJACENT; pairing <= PAIRING_HALF; pairing++) {
        Engine e;
        engine_begin(&e);
        Vid y = tape_rope(e.t, e.x, WIDTH, 500, &rope_unscaled, (Pairing)pairing);
        tape_forward(e.t);
        const real *turned = tape_value(e.t, y, NULL, NULL);
        Rotary r;
        rotary_init(&r, WIDTH, 500, (Pairing)pairing);
        for (int head = 0; head < T * HEADS; head++) {
            double x[WIDTH];
            for (int i = 0; i < WIDTH; i++) x[i] = (double)e.p.x[head * WIDTH + i];
            rotary_turn(&r, head / HEADS, x, x);
            for (int i = 0; i < WIDTH; i++) assert_near(turned[head * WIDTH + i], x[i], TOLERANCE);
        }
        rotary_done(&r);
        engine_end(&e);
    }
}

static void the_engine_adds_the_same_sinusoids(void **state) {
    (void)state;
    Engine e;
    engine_begin(&e);
    Vid y = tape_sinusoid(e.t, WIDTH);
    tape_forward(e.t);
    for (int row = 0; row < T; row++) {
        double x[WIDTH];
        sinusoid(WIDTH, SINUSOID_BASE, row, x);
        for (int i = 0; i < WIDTH; i++) assert_near(tape_value(e.t, y, NULL, NULL)[row * WIDTH + i], x[i], TOLERANCE);
    }
    engine_end(&e);
}

static void plain_attention_is_the_engines(void **state) {
    (void)state;
    static const MaskRule rules[] = {{.causal = true}, {.causal = false}, {.causal = true, .window = 3}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        Engine e;
        engine_begin(&e);
        Vid k = tape_scale(e.t, e.x, -0.5), v = tape_scale(e.t, e.x, 2);
        AttentionShape shape = {.heads = 1, .kv_heads = 1, .head_dim = HEADS * WIDTH, .mask = rules[i]};
        Vid y = tape_attention(e.t, e.x, k, v, &shape);
        tape_forward(e.t);
        enum { N = T * HEADS * WIDTH };
        double in[3][N], out[N];
        for (int j = 0; j < N; j++) {
            double x = (double)e.p.x[j];
            in[0][j] = x;
            in[1][j] = -0.5 * x;
            in[2][j] = 2 * x;
        }
        plain_attention(T, HEADS * WIDTH, HEADS * WIDTH, &rules[i], in[0], in[1], in[2], out);
        for (int j = 0; j < N; j++) assert_near(tape_value(e.t, y, NULL, NULL)[j], out[j], 2 * TOLERANCE);
        engine_end(&e);
    }
}

static void a_row_that_sees_nothing_is_zero(void **state) {
    (void)state;
    MaskRule none = {.causal = true, .window = -1};
    const double x[4] = {1, 2, 3, 4};
    double y[4];
    plain_attention(2, 2, 2, &none, x, x, x, y);
    for (int i = 0; i < 4; i++) assert_true(y[i] == 0);
}

/* Worked out beforehand in double (numpy) from the definition of Llama 3.1: wavelengths above original / low are
 * slowed by the factor, those below original / high are not, and a line in turns leads from one to the other. */
static const struct {
    double base;
    int d, pair;
    const char *scaling;
    double speed;
} slowed[] = {
    {500000, 128, 0, "llama3:8:1:4:8192", 1},
    {500000, 128, 20, "llama3:8:1:4:8192", 0.016560440080994446},
    {500000, 128, 28, "llama3:8:1:4:8192", 0.0032114459947525913},
    {500000, 128, 29, "llama3:8:1:4:8192", 0.002166570763503359},
    {500000, 128, 30, "llama3:8:1:4:8192", 0.0013718935677611381},
    {500000, 128, 32, "llama3:8:1:4:8192", 0.0005248461609929549},
    {500000, 128, 34, "llama3:8:1:4:8192", 0.00017850781276799638},
    {500000, 128, 35, "llama3:8:1:4:8192", 9.556212353964683e-05},
    {500000, 128, 63, "llama3:8:1:4:8192", 3.068925988914511e-07},
    {10000, 16, 0, "llama3:32:1:4:64", 1},
    {10000, 16, 1, "llama3:32:1:4:64", 0.23668711730167266},
    {10000, 16, 2, "llama3:32:1:4:64", 0.0037253549056583705},
    {10000, 16, 3, "llama3:32:1:4:64", 0.0009882117688026185},
    {10000, 16, 2, "linear:4", 0.025},
    {10000, 16, 2, "linear:0.5", 0.2},
    {10000, 16, 2, "none", 0.1},
};

static void scaled_speeds(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof slowed / sizeof *slowed; i++) {
        RopeScaling s;
        Rotary r;
        assert_ok(rope_scaling_parse(slowed[i].scaling, &s));
        rotary_init_scaled(&r, slowed[i].d, slowed[i].base, &s, PAIRING_HALF);
        assert_near(r.speed[slowed[i].pair], slowed[i].speed, 1e-14 * slowed[i].speed);
        rotary_done(&r);
        Str text;
        str_init(&text);
        rope_scaling_text(&s, &text);
        assert_string_equal(text.s, slowed[i].scaling);
        str_done(&text);
    }
}

static void senseless_scaling_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "yarn:2",
                                      "linear",
                                      "linear:",
                                      "linear:0",
                                      "linear:-2",
                                      "linear:x",
                                      "linear:nan",
                                      "linear:inf",
                                      "linear:2:3",
                                      "none:1",
                                      "llama3:8",
                                      "llama3:8:4:1:8192",
                                      "llama3:8:1:1:8192",
                                      "llama3:8:0:4:8192",
                                      "llama3:8:1:4:0",
                                      "llama3:0:1:4:8192",
                                      "llama3:8:1:4:8192:",
                                      "llama3:8:1:4:8192:9",
                                      "linear:1e300"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        RopeScaling s;
        Status status = rope_scaling_parse(bad[i], &s);
        if (status.code != STATUS_USAGE) fail_msg("'%s' passed", bad[i]);
    }
}

static void odd_widths_are_bugs(void **state) {
    (void)state;
    static Rotary r;
    assert_bug(rotary_init(&r, 3, 10000, PAIRING_HALF));
    assert_bug(rotary_init(&r, 0, 10000, PAIRING_HALF));
    assert_bug(rotary_init(&r, 4, 0, PAIRING_HALF));
    assert_bug(rotary_init(&r, 4, (double)NAN, PAIRING_HALF));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(places_and_pairs_are_inverse),
        cmocka_unit_test(speeds),
        cmocka_unit_test(scaled_speeds),
        cmocka_unit_test(senseless_scaling_is_refused),
        cmocka_unit_test(only_the_distance_counts),
        cmocka_unit_test(all_forms_agree),
        cmocka_unit_test(the_matrix_is_block_diagonal_and_orthogonal),
        cmocka_unit_test(the_engine_turns_alike),
        cmocka_unit_test(the_engine_adds_the_same_sinusoids),
        cmocka_unit_test(plain_attention_is_the_engines),
        cmocka_unit_test(a_row_that_sees_nothing_is_zero),
        cmocka_unit_test(odd_widths_are_bugs),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
