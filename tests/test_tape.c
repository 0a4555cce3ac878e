/* Operations against numbers worked out by hand, and the tape's own promises. */
#include "hash.h"
#include "mem.h"
#include "tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A tape over one table of four columns; the batch has one row per token: row r is table row r. */
typedef struct {
    Params params;
    Batch batch;
    Tape *tape;
} Bench;

enum { TABLE, GAIN, SHIFT, WEIGHT };

static void begin(Bench *b, TapeMode mode, const double *table, int rows, int cols) {
    params_init(&b->params);
    (void)params_add(&b->params, "table", rows, cols, INIT_ZERO, 0);
    (void)params_add(&b->params, "gain", 1, cols, INIT_ONE, 0);
    (void)params_add(&b->params, "shift", 1, cols, INIT_ZERO, 0);
    (void)params_add(&b->params, "weight", 2, cols, INIT_ZERO, 0);
    params_seal(&b->params);
    params_fill(&b->params, 1);
    for (int i = 0; i < rows * cols; i++) b->params.x[i] = (real)table[i];
    batch_init(&b->batch);
    int id[8];
    for (int i = 0; i < rows; i++) id[i] = i;
    batch_add(&b->batch, id, rows, false);
    b->tape = tape_new(mode);
    tape_begin(b->tape, &b->params, &b->batch, 1, 1);
}

static void end(Bench *b) {
    tape_free(b->tape);
    batch_done(&b->batch);
    params_done(&b->params);
}

static void expect_row(const Bench *b, Vid v, int row, const double *right, double tolerance) {
    int rows, cols;
    const real *x = tape_value(b->tape, v, &rows, &cols);
    assert_true(row < rows);
    for (int c = 0; c < cols; c++)
        if (!(fabs((double)x[row * cols + c] - right[c]) <= tolerance))
            fail_msg("row %d [%d] is %.9g instead of %.9g", row, c, (double)x[row * cols + c], right[c]);
}

static const double one_to_four[8] = {1, 2, 3, 4, 1, 2, 3, 4};

static void test_layer_norm(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 1, 4);
    b.params.x[b.params.slice[GAIN].at + 1] = 2;
    b.params.x[b.params.slice[SHIFT].at + 3] = 10;
    Vid y = tape_norm(b.tape, tape_embed(b.tape, TABLE, EMBED_TOKEN), NORM_LAYER, GAIN, SHIFT, 0, 0);
    tape_forward(b.tape);
    /* mean 2.5, variance 1.25: +-1.5 and +-.5 over sqrt(1.25) */
    const double right[] = {-1.3416407865, -0.4472135955 * 2, 0.4472135955, 11.3416407865};
    expect_row(&b, y, 0, right, 2e-6);
    end(&b);
}

static void test_rms_norm(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 1, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    Vid y = tape_norm(b.tape, x, NORM_RMS, GAIN, SLICE_NONE, 0, 0);
    Vid z = tape_norm(b.tape, x, NORM_RMS, SLICE_NONE, SLICE_NONE, 2, 0); /* heads of two */
    tape_forward(b.tape);
    /* mean square 7.5; 2.5; 12.5 */
    const double right[] = {0.3651483717, 0.7302967433, 1.0954451150, 1.4605934867};
    const double heads[] = {0.6324555320, 1.2649110641, 0.8485281374, 1.1313708499};
    expect_row(&b, y, 0, right, 2e-6);
    expect_row(&b, z, 0, heads, 2e-6);
    end(&b);
}

static void test_norm_of_zeros_is_finite(void **state) {
    (void)state;
    const double zeros[4] = {0};
    Bench b;
    begin(&b, TAPE_EVAL, zeros, 1, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    Vid y = tape_norm(b.tape, x, NORM_RMS, GAIN, SLICE_NONE, 0, 1e-6);
    Vid z = tape_norm(b.tape, x, NORM_LAYER, GAIN, SHIFT, 0, 1e-5);
    tape_forward(b.tape);
    expect_row(&b, y, 0, zeros, 0);
    expect_row(&b, z, 0, zeros, 0);
    end(&b);
}

/* The lecture's numbers: x = 1, 2, 3, 4 at position 1. */
static void test_rope(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 2, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    Vid adjacent = tape_rope(b.tape, x, 4, 10000, &rope_unscaled, PAIRING_ADJACENT),
        half = tape_rope(b.tape, x, 4, 10000, &rope_unscaled, PAIRING_HALF);
    Vid heads = tape_rope(b.tape, x, 2, 10000, &rope_unscaled, PAIRING_ADJACENT);
    tape_forward(b.tape);
    const double by_adjacent[] = {-1.1426396637, 1.9220755966, 2.9598506679, 4.0297995017};
    const double by_half[] = {-1.9841106486, 1.9599006675, 2.4623779024, 4.0197996683};
    const double by_heads[] = {-1.1426396637, 1.9220755966, -1.7449770216, 4.6856221804};
    expect_row(&b, adjacent, 0, one_to_four, 0); /* position 0: not turned */
    expect_row(&b, adjacent, 1, by_adjacent, 1e-6);
    expect_row(&b, half, 0, one_to_four, 0);
    expect_row(&b, half, 1, by_half, 1e-6);
    expect_row(&b, heads, 1, by_heads, 1e-6);
    end(&b);
}

/* Scores after rope depend on the distance alone, also far out. */
static void test_rope_is_relative(void **state) {
    (void)state;
    const double table[] = {.3, -1, 2, .5, 1, .2, -.7, 1.5};
    const int at[][2] = {{5, 2}, {105, 102}, {1005, 1002}};
    double first = 0;
    for (int i = 0; i < 3; i++) {
        Bench b;
        begin(&b, TAPE_EVAL, table, 2, 4);
        b.batch.position[0] = at[i][0];
        b.batch.position[1] = at[i][1];
        tape_begin(b.tape, &b.params, &b.batch, 1, 1);
        Vid y = tape_rope(b.tape, tape_embed(b.tape, TABLE, EMBED_TOKEN), 4, 10000, &rope_unscaled, PAIRING_HALF);
        tape_forward(b.tape);
        const real *x = tape_value(b.tape, y, NULL, NULL);
        double dot = 0;
        for (int c = 0; c < 4; c++) dot += (double)x[c] * (double)x[4 + c];
        if (i == 0) first = dot;
        assert_true(fabs(dot - first) < 1e-5);
        end(&b);
    }
}

static void test_sinusoid(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 2, 4);
    Vid y = tape_sinusoid(b.tape, 4);
    tape_forward(b.tape);
    const double zero[] = {0, 1, 0, 1}, one[] = {0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004};
    expect_row(&b, y, 0, zero, 0);
    expect_row(&b, y, 1, one, 1e-7);
    end(&b);
}

static void test_cross_entropy(void **state) {
    (void)state;
    const double table[] = {1, 2, 3, 4, 0, 0, 0, 0, 5, 5, 5, 5};
    Bench b;
    begin(&b, TAPE_TRAIN, table, 3, 4);
    b.batch.target[0] = 3;
    b.batch.target[1] = TARGET_NONE;
    b.batch.target[2] = 0;
    b.batch.targets = 2;
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    Vid plain = tape_cross_entropy(b.tape, x, 0, 0), z = tape_cross_entropy(b.tape, x, .1, 1);
    tape_forward(b.tape);
    /* log(1 + e^-1 + e^-2 + e^-3) = .4401896985; log 4 = 1.3862943611; log Z is 4.44019 and 6.38629 */
    double sum = 0.4401896986 + 1.3862943611;
    assert_true(fabs(tape_scalar(b.tape, plain) - sum / 2) < 1e-6);
    assert_true(
        fabs(tape_scalar(b.tape, z) - (sum + .1 * (4.4401896986 * 4.4401896986 + 6.3862943611 * 6.3862943611))) < 1e-5);
    real *g = MEM_ARRAY(real, b.params.count);
    tape_backward(b.tape, plain, g);
    /* (softmax - one) / 2 */
    const double right[] = {0.0160293, 0.0435723, 0.1184414, -0.1780430, 0, 0, 0, 0, -.375, .125, .125, .125};
    for (int i = 0; i < 12; i++) assert_true(fabs((double)g[i] - right[i]) < 1e-6);
    mem_free(g);
    end(&b);
}

static void test_linear_and_friends(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 1, 4);
    real *w = b.params.x + b.params.slice[WEIGHT].at;
    const double rows[] = {1, 0, 0, 1, 2, 1, 1, 0};
    for (int i = 0; i < 8; i++) w[i] = (real)rows[i];
    Tape *t = b.tape;
    Vid x = tape_embed(t, TABLE, EMBED_TOKEN), y = tape_linear(t, x, WEIGHT, SLICE_NONE);
    const int pick[] = {0, 0};
    Vid doubled = tape_scale(t, y, 2), picked = tape_rows(t, tape_add(t, y, doubled), pick, 2);
    Vid capped = tape_softcap(t, y, 30), mse = tape_mse(t, y, doubled), stopped = tape_stop(t, y);
    Vid relu = tape_act(t, tape_scale(t, x, -1), ACT_RELU), squared = tape_act(t, x, ACT_SQUARED_RELU);
    Vid glu = tape_glu(t, x, tape_scale(t, x, -1), ACT_SIGMOID);
    tape_forward(t);
    const double product[] = {5, 7}, threefold[] = {15, 21}, soft[] = {30 * tanh(5 / 30.), 30 * tanh(7 / 30.)};
    const double none[] = {0, 0, 0, 0}, squares[] = {1, 4, 9, 16};
    const double gated[] = {-1 / (1 + exp(-1)), -2 / (1 + exp(-2)), -3 / (1 + exp(-3)), -4 / (1 + exp(-4))};
    expect_row(&b, y, 0, product, 0);
    expect_row(&b, picked, 1, threefold, 0);
    expect_row(&b, capped, 0, soft, 1e-5);
    expect_row(&b, stopped, 0, product, 0);
    expect_row(&b, relu, 0, none, 0);
    expect_row(&b, squared, 0, squares, 0);
    expect_row(&b, glu, 0, gated, 1e-6);
    assert_true(fabs(tape_scalar(t, mse) - (25 + 49) / 2.) < 1e-9);
    end(&b);
}

static void test_dropout(void **state) {
    (void)state;
    double table[8 * 100];
    for (int i = 0; i < 800; i++) table[i] = 1;
    Bench b;
    begin(&b, TAPE_TRAIN, table, 8, 100);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN), y = tape_dropout(b.tape, x, .25), z = tape_dropout(b.tape, x, .25);
    tape_forward(b.tape);
    const real *dropped = tape_value(b.tape, y, NULL, NULL), *other = tape_value(b.tape, z, NULL, NULL);
    int zeros = 0;
    for (int i = 0; i < 800; i++) {
        assert_true(dropped[i] == 0 || fabs((double)dropped[i] - 4 / 3.) < 1e-6);
        zeros += dropped[i] == 0;
    }
    assert_in_range(zeros, 140, 260);                            /* 200 +- 5 standard deviations */
    assert_memory_not_equal(dropped, other, 800 * sizeof(real)); /* each node has numbers of its own */
    uint64_t first = hash_bytes(HASH_START, dropped, 800 * sizeof(real));
    tape_forward(b.tape);
    assert_true(hash_bytes(HASH_START, dropped, 800 * sizeof(real)) == first);
    end(&b);
    begin(&b, TAPE_EVAL, table, 8, 100);
    y = tape_dropout(b.tape, tape_embed(b.tape, TABLE, EMBED_TOKEN), .25);
    tape_forward(b.tape);
    dropped = tape_value(b.tape, y, NULL, NULL);
    for (int i = 0; i < 800; i++) assert_true(dropped[i] == 1);
    end(&b);
}

/* --- the tape itself --- */

static void test_looking(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_PROBE, one_to_four, 1, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    tape_name(b.tape, "embed");
    Vid y = tape_norm(b.tape, x, NORM_LAYER, GAIN, SHIFT, 0, 1e-5);
    tape_name(b.tape, "block%d.norm%d", 3, 1);
    Vid unused = tape_scale(b.tape, x, 2), loss = tape_mse(b.tape, y, x);
    assert_int_equal(tape_nodes(b.tape), 4);
    assert_int_equal(tape_find(b.tape, "block3.norm1"), 1);
    assert_int_equal(tape_find(b.tape, "none"), -1);
    NodeInfo n = tape_node(b.tape, 1);
    assert_string_equal(n.name, "block3.norm1");
    assert_string_equal(n.op, "norm");
    assert_true(strlen(n.formula) > 0);
    assert_true(n.in[0] == x && n.in[1] == VID_NONE && n.out == y && n.weight == GAIN && n.bias == SHIFT);
    tape_forward(b.tape);
    assert_null(tape_grad(b.tape, y));
    real *g = MEM_ARRAY(real, b.params.count);
    tape_backward(b.tape, loss, g);
    assert_non_null(tape_grad(b.tape, y));
    assert_null(tape_grad(b.tape, unused)); /* nothing depends on it */
    assert_string_equal(tape_value_name(b.tape, y), "block3.norm1");
    assert_int_equal(tape_first_bad(b.tape), VID_NONE);
    mem_free(g);
    end(&b);
}

/* Node by node gives the same bits as all at once, forward and back; backward adds. */
static void test_step_by_step(void **state) {
    (void)state;
    const double table[] = {.1, .2, -.3, .4, 1, -1, .5, .25};
    Bench b;
    begin(&b, TAPE_PROBE, table, 2, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN), y = tape_norm(b.tape, x, NORM_LAYER, GAIN, SHIFT, 0, 1e-5);
    Vid loss = tape_mse(b.tape, tape_act(b.tape, y, ACT_GELU), tape_scale(b.tape, x, .5));
    int n = tape_nodes(b.tape);
    real *g = MEM_ARRAY(real, b.params.count), *steps = MEM_ARRAY(real, b.params.count);
    tape_forward(b.tape);
    double whole = tape_scalar(b.tape, loss);
    tape_backward(b.tape, loss, g);
    for (int i = 0; i < n; i++) tape_run(b.tape, i, i + 1);
    assert_true(tape_scalar(b.tape, loss) == whole);
    tape_seed_grad(b.tape, loss, steps);
    for (int i = n; i > 0; i--) tape_run_back(b.tape, i, i - 1);
    assert_memory_equal(g, steps, b.params.count * sizeof *g);
    tape_backward(b.tape, loss, steps);
    for (size_t i = 0; i < b.params.count; i++) assert_true(fabs((double)(steps[i] - 2 * g[i])) < 1e-6);
    mem_free(g);
    mem_free(steps);
    end(&b);
}

/* A longer recording keeps what a shorter one on the same tape made possible, and needs no new memory when it comes
 * again. */
static void test_recording_again_allocates_nothing(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_TRAIN, one_to_four, 2, 4);
    real *g = MEM_ARRAY(real, b.params.count);
    for (int round = 0; round < 3; round++) {
        MemCount before = mem_count();
        tape_begin(b.tape, &b.params, &b.batch, 1, 1);
        Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN),
            y = tape_rope(b.tape, x, 4, 10000, &rope_unscaled, PAIRING_HALF);
        Vid loss = tape_mse(b.tape, tape_norm(b.tape, y, NORM_RMS, GAIN, SLICE_NONE, 0, 1e-6), x);
        tape_name(b.tape, "loss");
        tape_forward(b.tape);
        tape_backward_over(b.tape, loss, g);
        if (round > 0) assert_int_equal((int)(mem_count().allocations - before.allocations), 0);
    }
    mem_free(g);
    end(&b);
}

static void test_first_bad(void **state) {
    (void)state;
    Bench b;
    begin(&b, TAPE_EVAL, one_to_four, 1, 4);
    Vid x = tape_embed(b.tape, TABLE, EMBED_TOKEN);
    Vid y = tape_scale(b.tape, x, HUGE_VAL), z = tape_scale(b.tape, y, 0);
    tape_forward(b.tape);
    assert_int_equal(tape_first_bad(b.tape), y);
    assert_true(isnan(tape_value(b.tape, z, NULL, NULL)[0]));
    end(&b);
}

/* --- batch --- */

static void test_batch(void **state) {
    (void)state;
    const int id[] = {5, 6, 7, 8};
    Batch b, part;
    batch_init(&b);
    batch_init(&part);
    assert_int_equal(batch_rows(&b), 0);
    batch_add(&b, id, 3, true);
    batch_add(&b, id + 1, 3, false);
    batch_add(&b, id, 1, false);
    assert_int_equal(batch_rows(&b), 7);
    assert_int_equal(b.sequences, 3);
    assert_int_equal(b.targets, 5);
    const int targets[] = {6, 7, 8, 7, 8, TARGET_NONE, TARGET_NONE}, positions[] = {0, 1, 2, 0, 1, 2, 0};
    assert_memory_equal(b.target, targets, sizeof targets);
    assert_memory_equal(b.position, positions, sizeof positions);
    batch_slice(&b, 1, 3, &part);
    assert_int_equal(part.sequences, 2);
    assert_int_equal(batch_rows(&part), 4);
    assert_int_equal(part.start[1], 3);
    assert_int_equal(part.id[0], 6);
    assert_int_equal(part.targets, 2);
    batch_slice(&b, 2, 2, &part);
    assert_int_equal(batch_rows(&part), 0);
    batch_mark_pad(&b, 3);
    batch_mark_pad(&b, 5);
    assert_int_equal(b.targets, 4);
    assert_int_equal(b.target[3], TARGET_NONE);
    for (int i = 0; i < 100; i++) batch_add(&b, id, 4, false); /* pads survive growing */
    assert_true(b.pad[3] == 1 && b.pad[4] == 0 && b.pad[5] == 1 && b.pad[400] == 0);
    batch_clear(&b);
    assert_null(b.pad);
    assert_int_equal(batch_rows(&b), 0);
    batch_slice_done(&part);
    batch_done(&b);
}

/* --- params --- */

static void test_params(void **state) {
    (void)state;
    Params p, copy;
    params_init(&p);
    int w = params_add(&p, "w", 300, 40, INIT_NORMAL, .5), g = params_add(&p, "g", 1, 7, INIT_ONE, 0);
    int z = params_add(&p, "z", 1, 3, INIT_ZERO, 0), v = params_add(&p, "v", 300, 40, INIT_NORMAL, .5);
    params_seal(&p);
    params_fill(&p, 1);
    assert_int_equal((int)p.count, 300 * 40 * 2 + 10);
    assert_int_equal(params_find(&p, "g"), g);
    assert_int_equal(params_find(&p, "none"), -1);
    assert_true(p.slice[w].decay && !p.slice[g].decay && p.slice[w].rate == 1 && !p.slice[w].frozen);
    assert_true(((size_t)p.x & (MEM_ALIGN - 1)) == 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < 12000; i++) sum += (double)p.x[i], squares += (double)p.x[i] * (double)p.x[i];
    assert_true(fabs(sum / 12000) < .02 && fabs(sqrt(squares / 12000) - .5) < .02);
    for (int i = 0; i < 7; i++) assert_true(p.x[p.slice[g].at + (size_t)i] == 1);
    for (int i = 0; i < 3; i++) assert_true(p.x[p.slice[z].at + (size_t)i] == 0);
    assert_memory_not_equal(p.x, p.x + p.slice[v].at, 12000 * sizeof(real));
    params_init(&copy);
    params_copy(&copy, &p);
    assert_true(params_hash(&copy) == params_hash(&p));
    copy.x[5] += 1;
    assert_true(params_hash(&copy) != params_hash(&p));
    params_fill(&copy, 1);
    assert_true(params_hash(&copy) == params_hash(&p));
    params_fill(&copy, 2);
    assert_true(params_hash(&copy) != params_hash(&p));
    assert_true(params_adjacent(&p, g, 1) && !params_adjacent(&p, w, 2) && !params_adjacent(&p, v, 2));
    params_done(&copy);
    params_done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_norm_of_zeros_is_finite),
        cmocka_unit_test(test_rope),
        cmocka_unit_test(test_rope_is_relative),
        cmocka_unit_test(test_sinusoid),
        cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_linear_and_friends),
        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_looking),
        cmocka_unit_test(test_step_by_step),
        cmocka_unit_test(test_recording_again_allocates_nothing),
        cmocka_unit_test(test_first_bad),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_params),
    };
    return cmocka_run_group_tests_name("tape", tests, NULL, NULL);
}
