/* What the rope pane reads: the model's own vectors, turned as the formulas say; the same sentence later; models that
 * turn nothing. */
#include "lab_fixture.h"

#include "corpora.h"
#include "mem.h"
#include "observe_rope.h"
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define assert_near(got, want, tolerance)                                                                              \
    do {                                                                                                               \
        double got_ = (double)(got), want_ = (double)(want);                                                           \
        if (!(fabs(got_ - want_) <= (tolerance))) fail_msg("%s is %.17g, not %.17g", #got, got_, want_);               \
    } while (0)
#define ROUNDING (REAL_IS_DOUBLE ? 1e-10 : 2e-5)

typedef struct {
    Model *model;
    Snapshot *seen;
    int tokens;
} Seen;

/* A model of C on words 1, 2, .. after <s>, seen by the observer. */
static Seen see(ModelConfig c, int tokens) {
    Seen s = {.tokens = tokens};
    int ids[300];
    for (int i = 0; i < tokens; i++) ids[i] = i == 0 ? VOCAB_BOS : VOCAB_SPECIALS + i * 7 % (c.vocab - VOCAB_SPECIALS);
    s.model = model_new(&c, 5);
    Scene scene = {.model = s.model,
                   .ids = ids,
                   .known = tokens,
                   .visible = tokens,
                   .prompt = tokens,
                   .tweak = {.window = -1},
                   .filter = filter_defaults(),
                   .seed = 1};
    SnapshotFacts facts = {0};
    s.seen = snapshot_new(&facts);
    ObserverSet set = 0;
    assert_ok(observers_add("rope", &set));
    Observers *o = observers_new();
    observers_look(o, &scene, set, s.seen);
    observers_free(o);
    return s;
}

static void seen_done(Seen *s) {
    snapshot_unref(s->seen);
    model_free(s->model);
}

/* Everything that may stand around RoPE: grouped heads, norms of q and k, a window, half pairs, another base. */
static ModelConfig rich(void) {
    ModelConfig c = config_modern();
    c.window = 4;
    c.global_every = 2;
    c.qk_norm = true;
    c.pairing = PAIRING_HALF;
    c.rope_base = 500;
    return c;
}

static RopeLook look_at(int layer, int head, int query, int key) {
    return (RopeLook){.layer = layer, .head = head, .query = query, .key = key, .pairing = -1};
}

static double cell(const Table *t, long row, const char *column) {
    int c = table_find(t, column);
    assert_true(c >= 0 && row < table_rows(t));
    return table_real(t, row, c);
}

static const char *word(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}

/* Number I of x turned by ANGLES of its pair: written out once more. */
static double turned(const double *x, int d, bool half, int i, double base, double position) {
    int pair = half ? i % (d / 2) : i / 2, a = half ? pair : 2 * pair, b = half ? pair + d / 2 : 2 * pair + 1;
    double angle = position * pow(base, -2.0 * pair / d);
    return i == a ? x[a] * cos(angle) - x[b] * sin(angle) : x[a] * sin(angle) + x[b] * cos(angle);
}

static void read_before(const Snapshot *s, const char *which, int layer, int head, int row, double *x) {
    const Field *f = snapshot_field(s, "attention.%d.%s_before", layer, which);
    assert_non_null(f);
    for (int i = 0; i < f->dim[2]; i++) x[i] = (double)field_at(f, head, row, i, 0);
}

static void facts_of_the_positions(void **state) {
    (void)state;
    Seen s = see(rich(), 5);
    PositionFacts f;
    assert_true(observe_positions(s.seen, &f));
    assert_string_equal(f.kind, "rope");
    assert_near(f.base, 500, 0);
    assert_true(f.half);
    assert_int_equal(f.head_dim, 16);
    assert_int_equal(f.farthest, 64);
    assert_int_equal(f.shift, 100);
    seen_done(&s);
    SnapshotFacts none = {0};
    Snapshot *empty = snapshot_new(&none);
    assert_false(observe_positions(empty, &f));
    RopeLook look = look_at(0, 0, 0, 0);
    assert_null(observe_rope_hands(empty, &look));
    assert_null(observe_rope_shift(empty, &look));
    snapshot_unref(empty);
}

/* With the model's own settings the vectors are those that it works with. */
static void vectors_are_the_engines(void **state) {
    (void)state;
    ModelConfig both[3] = {config_modern(), rich(), config_modern()};
    both[2].rope_scaling = (RopeScaling){SCALING_LLAMA3, 8, 1, 4, 64};
    for (int m = 0; m < 3; m++) {
        Seen s = see(both[m], 6);
        for (int head = 0; head < 4; head++) {
            RopeLook look = look_at(1, head, 5, 2);
            Table *t = observe_rope_vectors(s.seen, &look);
            assert_int_equal(table_rows(t), 3 * 16);
            double x[2][16];
            read_before(s.seen, "query", 1, head, 5, x[0]);
            read_before(s.seen, "key", 1, head / 2, 2, x[1]);
            for (long i = 0; i < 48; i++) {
                int v = (int)i / 16, index = (int)i % 16;
                assert_string_equal(word(t, i, "which"), v == 0 ? "q" : v == 1 ? "k" : "v");
                assert_near(cell(t, i, "after"), cell(t, i, "engine"), ROUNDING);
                if (v == 2) {
                    assert_near(cell(t, i, "before"), cell(t, i, "after"), 0);
                    continue;
                }
                assert_near(cell(t, i, "before"), x[v][index], 0);
                if (m < 2)
                    assert_near(cell(t, i, "after"), turned(x[v], 16, m == 1, index, m ? 500 : 10000, v ? 2 : 5),
                                1e-12);
            }
            table_free(t);
        }
        seen_done(&s);
    }
}

static void hands_turn_with_the_position(void **state) {
    (void)state;
    Seen s = see(config_modern(), 6);
    for (int formula = 0; formula < ROPE_FORMULAS; formula++) {
        RopeLook look = look_at(0, 1, 4, 1);
        look.formula = (RopeFormula)formula;
        look.base = 100;
        Table *t = observe_rope_hands(s.seen, &look);
        assert_int_equal(table_rows(t), 8);
        for (int i = 0; i < 8; i++) {
            double speed = formula == ROPE_NONE ? 0 : formula == ROPE_SINGLE ? 1 : pow(100, -i / 8.0);
            assert_near(cell(t, i, "radians_per_token"), speed, 1e-15);
            assert_near(cell(t, i, "query_angle"), (formula == ROPE_WRONG ? 3 : 4) * speed, 1e-14);
            assert_near(cell(t, i, "key_angle"), (formula == ROPE_WRONG ? 3 : 1) * speed, 1e-14);
            if (speed > 0)
                assert_near(cell(t, i, "period_tokens") * speed, 6.283185307179586, 1e-12);
            else
                assert_true(isinf(cell(t, i, "period_tokens")));
        }
        table_free(t);
    }
    seen_done(&s);
}

static double expected_score(const Seen *s, const RopeLook *look, double base, bool half, double distance) {
    double q[16], k[16], sum = 0;
    read_before(s->seen, "query", look->layer, look->head, look->query, q);
    read_before(s->seen, "key", look->layer, look->head / 2, look->key, k);
    for (int i = 0; i < 16; i++) sum += turned(q, 16, half, i, base, distance) * k[i];
    return sum;
}

static void products_against_the_distance(void **state) {
    (void)state;
    Seen s = see(config_modern(), 7);
    RopeLook look = look_at(1, 2, 6, 3);
    look.base = 300;
    look.pairing = 1;
    Table *t = observe_rope_distance(s.seen, &look);
    assert_int_equal(table_rows(t), 65);
    for (int i = 0; i <= 64; i++) {
        assert_near(cell(t, i, "distance"), i, 0);
        assert_near(cell(t, i, "score"), expected_score(&s, &look, 300, true, i), 1e-11);
        assert_near(cell(t, i, "model_score"), expected_score(&s, &look, 10000, false, i), 1e-11);
    }
    const Field *scores = snapshot_field(s.seen, "attention.1.scores");
    assert_near(cell(t, 3, "model_score"), field_at(scores, 2, 6, 3, 0), 10 * ROUNDING);
    table_free(t);
    seen_done(&s);
}

/* a cos + b sin comes back after every turn: f(i+1) + f(i-1) = 2 cos(1) f(i). What does not turn is flat. */
static void one_speed_comes_back(void **state) {
    (void)state;
    Seen s = see(config_modern(), 7);
    RopeLook look = look_at(0, 3, 5, 1);
    look.formula = ROPE_SINGLE;
    Table *t = observe_rope_distance(s.seen, &look);
    for (int i = 1; i < 64; i++)
        assert_near(cell(t, i + 1, "score") + cell(t, i - 1, "score"), 2 * cos(1) * cell(t, i, "score"), 1e-11);
    assert_near(cell(t, 44, "score"), cell(t, 0, "score"),
                0.05 * fabs(cell(t, 11, "score")) + 0.05 * fabs(cell(t, 0, "score")));
    table_free(t);
    for (int formula = ROPE_WRONG; formula <= ROPE_NONE; formula++) {
        look.formula = (RopeFormula)formula;
        t = observe_rope_distance(s.seen, &look);
        for (int i = 0; i <= 64; i++)
            assert_near(cell(t, i, "score"), expected_score(&s, &look, 10000, false, 0), 1e-12);
        table_free(t);
    }
    seen_done(&s);
}

/* --- further on --- */

static void only_the_distance_counts(void **state) {
    (void)state;
    static const char *const schemes[] = {"engine", "rope", "single", "wrong", "none"};
    static const long shifts[] = {0, 1, 100, 1000000};
    Seen s = see(rich(), 6);
    for (int i = 0; i < 4; i++) {
        RopeLook look = look_at(1, 1, 5, 3);
        look.shift = shifts[i];
        Table *t = observe_rope_shift(s.seen, &look);
        assert_int_equal(table_rows(t), 5);
        for (int row = 0; row < 5; row++) {
            assert_string_equal(word(t, row, "scheme"), schemes[row]);
            long shift = row == 0 ? 100 : shifts[i];
            assert_near(cell(t, row, "t"), 5, 0);
            assert_near(cell(t, row, "j"), 3, 0);
            assert_near(cell(t, row, "t_shifted"), 5 + (double)shift, 0);
            assert_near(cell(t, row, "j_shifted"), 3 + (double)shift, 0);
            assert_near(cell(t, row, "difference"), 0, row == 0 ? 10 * ROUNDING : 1e-11);
        }
        assert_near(cell(t, 0, "score"), cell(t, 1, "score"), 10 * ROUNDING);
        assert_near(cell(t, 3, "score"), cell(t, 4, "score"), 1e-12);
        assert_true(fabs(cell(t, 1, "score") - cell(t, 4, "score")) > 1e-3);
        table_free(t);
    }
    seen_done(&s);
}

/* In every layer and head, not only where the cursor stands. */
static void the_whole_model_is_the_same_later(void **state) {
    (void)state;
    Seen s = see(rich(), 9);
    for (int layer = 0; layer < 2; layer++) {
        const Field *now = snapshot_field(s.seen, "attention.%d.scores", layer),
                    *later = snapshot_field(s.seen, "rope.%d.shifted", layer);
        assert_int_equal(field_count(now), field_count(later));
        for (size_t i = 0; i < field_count(now); i++) assert_near(later->x[i], now->x[i], 20 * ROUNDING);
    }
    seen_done(&s);
}

static void added_positions_know_their_place(void **state) {
    (void)state;
    static const PosKind kinds[] = {POS_LEARNED, POS_SINUSOID};
    for (int k = 0; k < 2; k++) {
        ModelConfig c = config_gpt();
        c.pos = kinds[k];
        Seen s = see(c, 6);
        PositionFacts f;
        assert_true(observe_positions(s.seen, &f));
        assert_string_equal(f.kind, k ? "sinusoid" : "learned");
        assert_true(isnan(f.base));
        assert_int_equal(f.shift, k ? 100 : 8);
        RopeLook look = look_at(0, 0, 5, 2);
        assert_null(observe_rope_hands(s.seen, &look));
        assert_null(observe_rope_vectors(s.seen, &look));
        assert_null(observe_rope_distance(s.seen, &look));
        Table *t = observe_rope_shift(s.seen, &look);
        assert_int_equal(table_rows(t), 1);
        assert_true(fabs(cell(t, 0, "difference")) > 1e-3);
        table_free(t);
        t = observe_rope_similarity(s.seen);
        assert_int_equal(table_rows(t), 64 * 64);
        for (long i = 0; i < 64; i++) assert_near(cell(t, i * 65, "cosine"), 1, ROUNDING);
        for (long i = 0; i < 64; i++)
            assert_near(cell(t, 3 * 64 + i, "cosine"), cell(t, i * 64 + 3, "cosine"), ROUNDING);
        table_free(t);
        seen_done(&s);
    }
}

/* Sinusoids: the product depends on the distance, and every vector has d/2 ones: sum of cos / (d/2). */
static void sinusoids_are_alike_where_near(void **state) {
    (void)state;
    ModelConfig c = config_gpt();
    c.pos = POS_SINUSOID;
    Seen s = see(c, 4);
    const Field *cosine = snapshot_field(s.seen, "rope.cosine"), *length = snapshot_field(s.seen, "rope.length");
    for (int i = 0; i < 64; i++) {
        double sum = 0;
        for (int p = 0; p < 32; p++) sum += cos(i * pow(10000, -p / 32.0));
        assert_near(field_at(cosine, 0, i, 0, 0), sum / 32, ROUNDING);
        assert_near(length->x[i], sqrt(32), ROUNDING);
    }
    seen_done(&s);
}

static void no_room_for_later_positions(void **state) {
    (void)state;
    ModelConfig c = config_gpt();
    c.context = 6;
    Seen s = see(c, 6);
    PositionFacts f;
    assert_true(observe_positions(s.seen, &f));
    assert_int_equal(f.shift, 0);
    RopeLook look = look_at(1, 3, 5, 5);
    Table *t = observe_rope_shift(s.seen, &look);
    assert_true(table_is_empty(t, 0, table_find(t, "score_shifted")));
    table_free(t);
    assert_int_equal(snapshot_field(s.seen, "rope.cosine")->dim[0], 6);
    seen_done(&s);
    c = config_modern();
    c.context = 300;
    s = see(c, 257); /* more than the second pass takes */
    assert_true(observe_positions(s.seen, &f));
    assert_int_equal(f.shift, 0);
    assert_int_equal(f.farthest, 256);
    assert_null(snapshot_field(s.seen, "rope.0.shifted"));
    t = observe_rope_shift(s.seen, &look);
    assert_int_equal(table_rows(t), 5);
    assert_true(table_is_empty(t, 0, table_find(t, "score_shifted")));
    assert_false(table_is_empty(t, 1, table_find(t, "score_shifted")));
    table_free(t);
    seen_done(&s);
}

static void a_model_without_positions_is_the_same_anywhere(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.pos = POS_NONE;
    Seen s = see(c, 6);
    RopeLook look = look_at(1, 3, 5, 1);
    Table *t = observe_rope_shift(s.seen, &look);
    assert_int_equal(table_rows(t), 1);
    assert_true(cell(t, 0, "difference") == 0);
    table_free(t);
    assert_null(observe_rope_similarity(s.seen));
    seen_done(&s);
}

static void cells_that_are_not_there(void **state) {
    (void)state;
    Seen s = see(config_modern(), 3);
    static const int bad[][4] = {{2, 0, 0, 0}, {-1, 0, 0, 0}, {0, 4, 0, 0}, {0, -1, 0, 0},
                                 {0, 0, 3, 0}, {0, 0, 0, 3},  {0, 0, -1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        RopeLook look = look_at(bad[i][0], bad[i][1], bad[i][2], bad[i][3]);
        assert_null(observe_rope_hands(s.seen, &look));
        assert_null(observe_rope_vectors(s.seen, &look));
        assert_null(observe_rope_shift(s.seen, &look));
    }
    seen_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_the_positions),
        cmocka_unit_test(vectors_are_the_engines),
        cmocka_unit_test(hands_turn_with_the_position),
        cmocka_unit_test(products_against_the_distance),
        cmocka_unit_test(one_speed_comes_back),
        cmocka_unit_test(only_the_distance_counts),
        cmocka_unit_test(the_whole_model_is_the_same_later),
        cmocka_unit_test(added_positions_know_their_place),
        cmocka_unit_test(sinusoids_are_alike_where_near),
        cmocka_unit_test(no_room_for_later_positions),
        cmocka_unit_test(a_model_without_positions_is_the_same_anywhere),
        cmocka_unit_test(cells_that_are_not_there),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
