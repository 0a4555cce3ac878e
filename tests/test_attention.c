/* Attention against plain loops in double, and what must hold of any attention: rows sum to 1, what is masked is
 * exactly 0, a row that sees nothing gives zeros, sentences packed together do not see each other. */
#include "mem.h"
#include "op.h"
#include "rng.h"
#include "tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { Q, K, V, QUERY_ROWS = 160, TOKENS = 40 };
#define TOLERANCE (REAL_IS_DOUBLE ? 1e-12 : 1e-5)

typedef struct {
    Params params;
    Batch batch;
    Tape *tape;
    AttentionShape shape;
    Vid y;
} Case;

/* q, k and v are tables by token: any row of the batch may hold any vector. */
static void begin(Case *c, TapeMode mode, const AttentionShape *shape, const int *lengths, int sentences) {
    c->shape = *shape;
    c->tape = tape_new(mode);
    params_init(&c->params);
    (void)params_add(&c->params, "q", TOKENS, shape->heads * shape->head_dim, INIT_NORMAL, 1);
    (void)params_add(&c->params, "k", TOKENS, shape->kv_heads * shape->head_dim, INIT_NORMAL, 1);
    (void)params_add(&c->params, "v", TOKENS, shape->kv_heads * shape->head_dim, INIT_NORMAL, 1);
    params_seal(&c->params);
    params_fill(&c->params, 3);
    batch_init(&c->batch);
    Rng rng = rng_at(1, "attention", 0);
    for (int s = 0; s < sentences; s++) {
        int id[QUERY_ROWS];
        for (int i = 0; i < lengths[s]; i++) id[i] = (int)rng_below(&rng, TOKENS);
        batch_add(&c->batch, id, lengths[s], false);
    }
}

static void run(Case *c) {
    tape_begin(c->tape, &c->params, &c->batch, 0, 0);
    Vid q = tape_embed(c->tape, Q, EMBED_TOKEN), k = tape_embed(c->tape, K, EMBED_TOKEN);
    c->y = tape_attention(c->tape, q, k, tape_embed(c->tape, V, EMBED_TOKEN), &c->shape);
    tape_name(c->tape, "attention");
    tape_forward(c->tape);
}

static void end(Case *c) {
    tape_free(c->tape);
    batch_done(&c->batch);
    params_done(&c->params);
}

static const real *vector(const Case *c, int slice, int row, int head) {
    const Slice *s = &c->params.slice[slice];
    return c->params.x + s->at + (size_t)(c->batch.id[row] * s->cols + head * c->shape.head_dim);
}

static bool sees(const Case *c, int query, int key) {
    return !(c->batch.pad && c->batch.pad[key]) &&
           mask_allows(&c->shape.mask, c->batch.position[query], c->batch.position[key]);
}

static double score(const Case *c, int head, int query, int key) {
    int kv = head / (c->shape.heads / c->shape.kv_heads);
    double s = 0;
    for (int d = 0; d < c->shape.head_dim; d++)
        s += (double)vector(c, Q, query, head)[d] * (double)vector(c, K, key, kv)[d];
    s /= sqrt(c->shape.head_dim);
    return c->shape.softcap > 0 ? c->shape.softcap * tanh(s / c->shape.softcap) : s;
}

/* One output vector [hd] by the book. */
static void right_row(const Case *c, int first, int last, int head, int query, double *y) {
    double sum = 0, weight[QUERY_ROWS];
    int kv = head / (c->shape.heads / c->shape.kv_heads);
    for (int key = first; key < last; key++) {
        weight[key - first] = sees(c, query, key) ? exp(score(c, head, query, key)) : 0;
        sum += weight[key - first];
    }
    for (int d = 0; d < c->shape.head_dim; d++) {
        y[d] = 0;
        for (int key = first; key < last && sum > 0; key++)
            y[d] += weight[key - first] / sum * (double)vector(c, V, key, kv)[d];
    }
}

static void expect_right(const Case *c) {
    int hd = c->shape.head_dim, cols;
    const real *y = tape_value(c->tape, c->y, NULL, &cols);
    double right[64];
    for (int s = 0; s < c->batch.sequences; s++)
        for (int r = c->batch.start[s]; r < c->batch.start[s + 1]; r++)
            for (int h = 0; h < c->shape.heads; h++) {
                right_row(c, c->batch.start[s], c->batch.start[s + 1], h, r, right);
                bool off = c->shape.head_off && c->shape.head_off[h];
                for (int d = 0; d < hd; d++) {
                    double got = (double)y[r * cols + h * hd + d], wanted = off ? 0 : right[d];
                    if (!(fabs(got - wanted) < TOLERANCE))
                        fail_msg("row %d head %d [%d]: %.9g instead of %.9g", r, h, d, got, wanted);
                }
            }
}

static const unsigned char second_off[4] = {0, 1, 0, 0};
static const AttentionShape shapes[] = {
    {4, 4, 16, {0, true}, 0, NULL},       {4, 2, 16, {0, true}, 0, NULL},  {4, 1, 5, {0, true}, 0, NULL},
    {2, 2, 24, {3, true}, 0, NULL},       {2, 2, 16, {0, false}, 0, NULL}, {2, 1, 16, {0, true}, 2, NULL},
    {4, 2, 8, {20, true}, 0, second_off}, {1, 1, 64, {0, true}, 0, NULL},  {2, 2, 3, {5, false}, 0, NULL},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Short ones by vector loops (also at 16, 17, 64), long ones by blocks. */
static const int lengths[] = {1, 12, 16, 17, 64, 65, 150, 5};
enum { SENTENCES = sizeof lengths / sizeof *lengths };

static void test_against_loops(void **state) {
    (void)state;
    const TapeMode modes[] = {TAPE_TRAIN, TAPE_EVAL, TAPE_PROBE};
    for (int i = 0; i < SHAPES; i++)
        for (int m = 0; m < 3; m++) {
            Case c;
            begin(&c, modes[m], &shapes[i], lengths, SENTENCES);
            run(&c);
            expect_right(&c);
            end(&c);
        }
}

/* The vector loops turn all keys of a short sequence at once, which may take more room than the blocks of a long one.
 */
static void test_room_for_short_beside_long(void **state) {
    (void)state;
    const AttentionShape wide = {1, 1, 512, {0, true}, 0, NULL};
    const int sizes[] = {65, 64};
    Case c;
    begin(&c, TAPE_TRAIN, &wide, sizes, 2);
    run(&c);
    assert_true(c.tape->scratch_size >= attention_scratch(64, 512));
    end(&c);
}

/* Pads, shifted and shuffled positions; in a short and in a long sentence. */
static void test_pads_and_positions(void **state) {
    (void)state;
    const int two[] = {12, 100};
    for (int i = 0; i < SHAPES; i++) {
        Case c;
        begin(&c, TAPE_TRAIN, &shapes[i], two, 2);
        batch_mark_pad(&c.batch, 0);
        batch_mark_pad(&c.batch, 1);
        batch_mark_pad(&c.batch, 9);
        for (int r = 90; r < 112; r++) batch_mark_pad(&c.batch, r);
        for (int r = 12; r < 50; r++) c.batch.position[r] += 3;
        c.batch.position[5] = 11;
        c.batch.position[60] = 0;
        run(&c);
        expect_right(&c);
        if (shapes[i].mask.causal) { /* row 0 is a pad before everything: it sees nothing */
            const real *y = tape_value(c.tape, c.y, NULL, NULL);
            for (int k = 0; k < shapes[i].heads * shapes[i].head_dim; k++) assert_true(y[k] == 0);
        }
        end(&c);
    }
}

static const real *stage(const Case *c, const char *name, int T) {
    int dim[3];
    const real *x = tape_stage(c->tape, tape_find(c->tape, "attention"), name, dim);
    assert_non_null(x);
    assert_int_equal(dim[0], c->shape.heads);
    assert_int_equal(dim[1], T);
    assert_int_equal(dim[2], T);
    return x;
}

static void check_stages(const Case *c, int T) {
    bool capped = c->shape.softcap > 0;
    const real *scores = stage(c, "scores", T), *scaled = stage(c, "scaled", T), *masked = stage(c, "masked", T);
    const real *weights = stage(c, "weights", T), *before = capped ? stage(c, "softcapped", T) : scaled;
    for (int h = 0; h < c->shape.heads; h++)
        for (int i = 0; i < T; i++) {
            double sum = 0;
            for (int j = 0; j < T; j++) {
                size_t at = (size_t)((h * T + i) * T + j);
                double root = sqrt(c->shape.head_dim), s = score(c, h, i, j);
                assert_true(fabs((double)before[at] - s) < TOLERANCE * 10);
                assert_true(fabs((double)(scores[at]) / root - (double)scaled[at]) < TOLERANCE * 10);
                if (sees(c, i, j))
                    assert_true(masked[at] == before[at] && weights[at] > 0);
                else
                    assert_true(masked[at] == -(real)HUGE_VAL && weights[at] == 0);
                sum += (double)weights[at];
            }
            assert_true(fabs(sum - 1) < TOLERANCE);
        }
}

static void test_stages(void **state) {
    (void)state;
    const int sizes[] = {1, 7, 16, 33, 64, 90};
    for (int i = 0; i < SHAPES; i++)
        for (int k = 0; k < 6; k++) {
            Case c;
            begin(&c, TAPE_PROBE, &shapes[i], &sizes[k], 1);
            run(&c);
            check_stages(&c, sizes[k]);
            int dim[3], node = tape_find(c.tape, "attention");
            assert_null(tape_stage(c.tape, node, "none", dim));
            if (!(shapes[i].softcap > 0)) assert_null(tape_stage(c.tape, node, "softcapped", dim));
            assert_null(tape_stage(c.tape, 0, "weights", dim)); /* embed has none */
            end(&c);
        }
}

static void test_no_stages_elsewhere(void **state) {
    (void)state;
    const int two[] = {4, 4};
    int dim[3];
    Case c;
    begin(&c, TAPE_TRAIN, &shapes[0], two, 1);
    run(&c);
    assert_null(tape_stage(c.tape, tape_find(c.tape, "attention"), "weights", dim));
    end(&c);
    begin(&c, TAPE_PROBE, &shapes[0], two, 2);
    run(&c);
    assert_null(tape_stage(c.tape, tape_find(c.tape, "attention"), "weights", dim));
    end(&c);
}

static void values_of(const AttentionShape *shape, const int *sizes, int n, real *out, int rows) {
    Case c;
    begin(&c, TAPE_EVAL, shape, sizes, n);
    run(&c);
    int cols;
    const real *y = tape_value(c.tape, c.y, NULL, &cols);
    memcpy(out, y, (size_t)(rows * cols) * sizeof *out);
    end(&c);
}

static void test_wide_window_is_causal(void **state) {
    (void)state;
    const int sizes[] = {12, 100};
    real a[112 * 64], b[112 * 64];
    AttentionShape shape = shapes[0];
    values_of(&shape, sizes, 2, a, 112);
    for (int window = 100; window < 103; window++) {
        shape.mask.window = window;
        values_of(&shape, sizes, 2, b, 112);
        assert_memory_equal(a, b, sizeof a);
    }
    shape.mask.window = 99;
    values_of(&shape, sizes, 2, b, 112);
    assert_memory_not_equal(a, b, sizeof a);
}

/* A sentence gives the same bits alone and behind others. */
static void test_packing(void **state) {
    (void)state;
    const int sizes[] = {12, 16, 70};
    real alone[12 * 64], packed[98 * 64];
    values_of(&shapes[0], sizes, 1, alone, 12);
    values_of(&shapes[0], sizes, 3, packed, 98);
    assert_memory_equal(alone, packed, sizeof alone);
}

/* Grouped queries equal full attention whose K and V heads are copies. */
static void test_grouped_is_copied(void **state) {
    (void)state;
    const int sizes[] = {14};
    enum { HD = 16, H = 4 };
    AttentionShape grouped = {H, 2, HD, {0, true}, 0, NULL}, full = {H, H, HD, {0, true}, 0, NULL};
    Case a, b;
    begin(&a, TAPE_EVAL, &grouped, sizes, 1);
    begin(&b, TAPE_EVAL, &full, sizes, 1);
    memcpy(b.params.x, a.params.x, (size_t)(TOKENS * H * HD) * sizeof(real));
    for (int slice = K; slice <= V; slice++)
        for (int token = 0; token < TOKENS; token++)
            for (int head = 0; head < H; head++)
                memcpy(b.params.x + b.params.slice[slice].at + (size_t)((token * H + head) * HD),
                       a.params.x + a.params.slice[slice].at + (size_t)((token * 2 + head / 2) * HD),
                       HD * sizeof(real));
    run(&a);
    run(&b);
    assert_memory_equal(tape_value(a.tape, a.y, NULL, NULL), tape_value(b.tape, b.y, NULL, NULL),
                        14 * H * HD * sizeof(real));
    end(&a);
    end(&b);
}

static void test_nan_stays_visible(void **state) {
    (void)state;
    const int sizes[] = {12, 80};
    Case c;
    begin(&c, TAPE_EVAL, &shapes[0], sizes, 2);
    c.batch.id[3] = TOKENS - 1;
    for (int r = 0; r < 92; r++)
        if (r != 3 && c.batch.id[r] == TOKENS - 1) c.batch.id[r] = 0;
    c.params.x[c.params.slice[K].at + (size_t)((TOKENS - 1) * 64)] = (real)NAN; /* key of row 3, head 0 */
    run(&c);
    const real *y = tape_value(c.tape, c.y, NULL, NULL);
    for (int r = 0; r < 92; r++) assert_int_equal(isnan(y[r * 64]) != 0, r >= 3 && r < 12);
    assert_int_equal(tape_first_bad(c.tape), 1);
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_loops),
        cmocka_unit_test(test_room_for_short_beside_long),
        cmocka_unit_test(test_pads_and_positions),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_no_stages_elsewhere),
        cmocka_unit_test(test_wide_window_is_causal),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_grouped_is_copied),
        cmocka_unit_test(test_nan_stays_visible),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
