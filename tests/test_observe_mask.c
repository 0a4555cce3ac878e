/* The observer of masks: the mask drawn is the mask used, for the sentence, for packed sentences and for pads; what is
 * counted is what is drawn; and a changed word is felt exactly as far as the states say. */
#include "stage.h"

#include "observe.h"
#include "window_kernel.h"

#include <math.h>
#include <stdio.h>

#define SENTENCE "the dogs near the cat behind the owl"

static Snapshot *look_with(Stage *s, int window) {
    s->scene.tweak.window = window;
    return stage_look(s, "mask");
}

static bool allowed(const Field *mask, int query, int key) {
    double x = (double)field_at(mask, query, key, 0, 0);
    assert_true(x == 0 || x == 1);
    return x == 1;
}

/* --- what is drawn is what is used --- */

/* Against what enters the softmax of the same model: -inf where it may not look. */
static void expect_used(Stage *s, int window) {
    Snapshot *drawn = look_with(s, window), *used = stage_look(s, "attention");
    for (int l = 0; l < model_config(s->model)->layers; l++) {
        const Field *mask = snapshot_field(drawn, "mask.%d", l),
                    *scores = snapshot_field(used, "attention.%d.masked", l);
        assert_int_equal(mask->dim[0], s->n);
        assert_int_equal(mask->dim[1], s->n);
        for (int q = 0; q < s->n; q++)
            for (int k = 0; k < s->n; k++) assert_int_equal(allowed(mask, q, k), !isinf(field_at(scores, 0, q, k, 0)));
    }
    assert_null(snapshot_field(drawn, "mask.%d", model_config(s->model)->layers));
    snapshot_unref(drawn);
    snapshot_unref(used);
}

static void the_mask_drawn_is_the_mask_used(void **state) {
    (void)state;
    ModelConfig c = stage_rich();
    c.layers = 4;
    Stage *s = stage_new(SENTENCE, c);
    static const int windows[] = {-1, 0, 1, 3, 100};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) expect_used(s, windows[i]);
    stage_free(s);
}

/* What attention of the first layer gives for BATCH: [rows x cols]; the caller frees it. */
static real *attend(const Model *m, const Batch *b, int *cols) {
    Tape *t = tape_new(TAPE_EVAL);
    tape_begin(t, model_read_params(m), b, 0, 0);
    (void)model_graph(m, t, NULL);
    tape_forward(t);
    int rows, node = tape_find(t, "block0.attention");
    const real *x = tape_value(t, tape_node(t, node).out, &rows, cols);
    real *copy = MEM_ARRAY(real, (size_t)rows * (size_t)*cols);
    memcpy(copy, x, (size_t)rows * (size_t)*cols * sizeof *copy);
    tape_free(t);
    return copy;
}

/* A row of attention changes when another row's token does if, and only if, the mask lets it look there. */
static void expect_felt(const Stage *s, const Field *mask, const Batch *b) {
    int n = batch_rows(b), cols;
    assert_int_equal(mask->dim[0], n);
    assert_int_equal(mask->dim[1], n);
    real *before = attend(s->model, b, &cols);
    for (int key = 0; key < n; key++) {
        int id = b->id[key];
        b->id[key] = id == 5 ? 6 : 5;
        real *after = attend(s->model, b, &cols);
        for (int query = 0; query < n; query++) {
            size_t at = (size_t)query * (size_t)cols;
            bool same = memcmp(before + at, after + at, (size_t)cols * sizeof *after) == 0;
            if (query != key && same == allowed(mask, query, key))
                fail_msg("row %d %s row %d", query, same ? "does not feel" : "feels", key);
        }
        mem_free(after);
        b->id[key] = id;
    }
    mem_free(before);
}

/* Rows of BATCH as the table VIEW names them. */
static void expect_rows(const Snapshot *seen, const Vocab *v, const char *view, const Batch *b) {
    const Table *t = snapshot_table(seen, view);
    assert_int_equal(table_rows(t), batch_rows(b));
    for (int i = 0; i < batch_rows(b); i++) {
        assert_int_equal(table_int(t, i, table_find(t, "row")), i);
        assert_int_equal(table_int(t, i, table_find(t, "sentence")), batch_sequence(b, i));
        assert_int_equal(table_int(t, i, table_find(t, "position")), b->position[i]);
        assert_string_equal(table_text(t, i, table_find(t, "token")), vocab_token(v, b->id[i]));
        assert_int_equal(table_int(t, i, table_find(t, "pad")), b->pad ? b->pad[i] : 0);
    }
}

static void sentences_of_a_batch_do_not_meet(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.window = 3;
    Stage *s = stage_new("the cat", c);
    const Sentences *train = &s->corpus->train;
    s->scene.others = train;
    Snapshot *seen = stage_look(s, "mask");
    Batch b;
    batch_init(&b);
    batch_add(&b, s->ids, s->n, false);
    for (int i = 0; i < 2; i++) {
        int n = (int)(train->start[i + 1] - train->start[i]) - 1;
        batch_add(&b, train->id + train->start[i], n < 8 ? n : 8, false);
    }
    expect_rows(seen, s->corpus->vocab, "packed", &b);
    expect_felt(s, snapshot_field(seen, "mask.0.packed"), &b);
    batch_done(&b);
    snapshot_unref(seen);
    stage_free(s);
}

static void pads_are_seen_by_nobody(void **state) {
    (void)state;
    Stage *s = stage_new("the cat eats", config_modern());
    Snapshot *seen = stage_look(s, "mask");
    Batch b;
    int ids[8] = {0};
    memcpy(ids, s->ids, 4 * sizeof *ids);
    batch_init(&b);
    batch_add(&b, ids, 8, false);
    for (int i = 4; i < 8; i++) batch_mark_pad(&b, i);
    expect_rows(seen, s->corpus->vocab, "padded", &b);
    const Field *mask = snapshot_field(seen, "mask.1.padded");
    expect_felt(s, mask, &b);
    for (int q = 0; q < 8; q++)
        for (int k = 4; k < 8; k++) assert_false(allowed(mask, q, k));
    batch_done(&b);
    snapshot_unref(seen);
    stage_free(s);
}

/* --- what is counted --- */

static long long count(const Field *f) {
    long long n = 0;
    for (size_t i = 0; i < field_count(f); i++) n += f->x[i] != 0;
    return n;
}

static void counts_are_those_of_the_picture(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich());
    static const int windows[] = {-1, 0, 2, 100};
    int T = s->n;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        Snapshot *seen = look_with(s, windows[i]);
        const Table *t = snapshot_table(seen, "scores");
        assert_int_equal(table_rows(t), 2);
        for (int l = 0; l < 2; l++) {
            const Field *mask = snapshot_field(seen, "mask.%d", l), *chunks = snapshot_field(seen, "mask.%d.chunks", l);
            assert_int_equal(table_int(t, l, table_find(t, "layer")), l);
            assert_int_equal(table_int(t, l, table_find(t, "window")), windows[i] < 0 ? (l ? 0 : 4) : windows[i]);
            assert_int_equal(table_int(t, l, table_find(t, "full")), T * T);
            assert_int_equal(table_int(t, l, table_find(t, "causal")), T * (T + 1) / 2);
            assert_int_equal(table_int(t, l, table_find(t, "allowed")), count(mask));
            assert_int_equal(table_int(t, l, table_find(t, "masked")), T * T);
            assert_int_equal(table_int(t, l, table_find(t, "loop")), count(mask));
            assert_int_equal(table_int(t, l, table_find(t, "chunks")), count(chunks));
            for (int q = 0; q < T; q++)
                for (int k = 0; k < T; k++) assert_true(!allowed(mask, q, k) || allowed(chunks, q, k));
        }
        snapshot_unref(seen);
    }
    stage_free(s);
}

static void the_table_holds_every_cell(void **state) {
    (void)state;
    Stage *s = stage_new("the cat", stage_rich());
    Snapshot *seen = stage_look(s, "mask");
    const Field *mask = snapshot_field(seen, "mask.0"), *padded = snapshot_field(seen, "mask.0.padded");
    Table *t = observe_mask_table(seen, 0, "");
    assert_int_equal(table_rows(t), 9);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(table_int(t, i, table_find(t, "allowed")), allowed(mask, i / 3, i % 3));
        assert_false(table_is_empty(t, i, table_find(t, "chunks")));
    }
    assert_string_equal(table_text(t, 5, table_find(t, "query_token")), "the");
    assert_string_equal(table_text(t, 5, table_find(t, "key_token")), "cat");
    table_free(t);
    t = observe_mask_table(seen, 0, "padded");
    assert_int_equal(table_rows(t), 49);
    for (int i = 0; i < 49; i++) {
        assert_int_equal(table_int(t, i, table_find(t, "allowed")), allowed(padded, i / 7, i % 7));
        assert_true(table_is_empty(t, i, table_find(t, "chunks")));
    }
    table_free(t);
    assert_null(observe_mask_table(seen, 2, ""));
    snapshot_unref(seen);
    stage_free(s);
}

/* --- a word changed --- */

/* The states that the blocks leave: [L][T x D]; the caller frees it. */
static real *states_of(const Stage *s, const int *ids) {
    const ModelConfig *c = model_config(s->model);
    size_t each = (size_t)s->n * (size_t)c->d;
    real *out = MEM_ARRAY(real, (size_t)c->layers * each);
    Batch b;
    Tape *t = tape_new(TAPE_PROBE);
    batch_init(&b);
    batch_add(&b, ids, s->n, false);
    tape_begin(t, model_read_params(s->model), &b, 0, 0);
    (void)model_graph(s->model, t, &s->scene.tweak);
    tape_forward(t);
    for (int l = 0; l < c->layers; l++) {
        char name[40];
        snprintf(name, sizeof name, "block%d.residual2", l);
        memcpy(out + (size_t)l * each, tape_value(t, tape_node(t, tape_find(t, name)).out, NULL, NULL),
               each * sizeof *out);
    }
    batch_done(&b);
    tape_free(t);
    return out;
}

/* Changes at POSITION, from the sentence with ID there, worked out from the whole forward passes. */
static void expect_changes(Stage *s, const Snapshot *seen, int position, int id) {
    const Field *change = snapshot_field(seen, "poke.change");
    const ModelConfig *c = model_config(s->model);
    real *before = states_of(s, s->ids);
    int old = s->ids[position];
    s->ids[position] = id;
    real *after = states_of(s, s->ids);
    s->ids[position] = old;
    assert_int_equal(change->dim[0], c->layers);
    assert_int_equal(change->dim[1], s->n);
    for (int i = 0; i < c->layers * s->n; i++) {
        double most = 0;
        for (int j = 0; j < c->d; j++)
            most = fmax(most, fabs((double)before[i * c->d + j] - (double)after[i * c->d + j]));
        assert_true(fabs((double)change->x[i] - most) < 1e-5);
        assert_int_equal(change->x[i] > 0, most > 0);
    }
    mem_free(before);
    mem_free(after);
}

static void expect_reach(const Snapshot *seen, int layer, int measured, int formula) {
    const Table *t = snapshot_table(seen, "reach");
    assert_int_equal(table_int(t, layer, table_find(t, "farthest_measured")), measured);
    int column = table_find(t, "farthest_formula");
    if (formula < 0)
        assert_true(table_is_empty(t, layer, column));
    else
        assert_int_equal(table_int(t, layer, column), formula);
}

static void a_change_is_felt_through_the_window(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.window = 3;
    Stage *s = stage_new(SENTENCE " near the dogs", c);
    Snapshot *seen = stage_look(s, "mask");
    const Table *poke = snapshot_table(seen, "poke");
    assert_int_equal(table_int(poke, 0, table_find(poke, "position")), 1); /* the first word */
    assert_string_equal(table_text(poke, 0, table_find(poke, "token")), "the");
    assert_string_not_equal(table_text(poke, 0, table_find(poke, "other")), "the");
    expect_reach(seen, 0, 2, 2);
    expect_reach(seen, 1, 4, 4);
    snapshot_unref(seen);
    s->scene.poke = 4;
    s->scene.poke_id = 20;
    seen = stage_look(s, "mask");
    expect_changes(s, seen, 4, 20);
    expect_reach(seen, 1, 4, 4);
    snapshot_unref(seen);
    seen = look_with(s, 5); /* another window for the look alone */
    expect_changes(s, seen, 4, 20);
    expect_reach(seen, 0, 4, 4);
    expect_reach(seen, 1, s->n - 1 - 4, 8); /* the text ends before the reach does */
    snapshot_unref(seen);
    s->scene.poke = 100; /* beyond the text: its last word */
    seen = look_with(s, -1);
    expect_changes(s, seen, s->n - 1, 20);
    expect_reach(seen, 1, 0, 4);
    snapshot_unref(seen);
    stage_free(s);
}

static void a_global_layer_has_no_bound(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich()); /* the second layer sees everything */
    Snapshot *seen = stage_look(s, "mask");
    expect_reach(seen, 0, 3, 3);
    expect_reach(seen, 1, s->n - 2, -1);
    Table *t = observe_poke_table(seen, 1);
    assert_int_equal(table_rows(t), s->n);
    assert_true(table_real(t, 0, table_find(t, "change")) == 0); /* nobody looks forward */
    assert_true(table_real(t, s->n - 1, table_find(t, "change")) > 0);
    table_free(t);
    snapshot_unref(seen);
    s->scene.visible = 1; /* <s> alone */
    seen = stage_look(s, "mask");
    assert_null(snapshot_field(seen, "poke.change"));
    assert_null(snapshot_table(seen, "poke"));
    assert_null(snapshot_table(seen, "reach"));
    assert_non_null(snapshot_field(seen, "mask.0"));
    snapshot_unref(seen);
    stage_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mask_drawn_is_the_mask_used), cmocka_unit_test(sentences_of_a_batch_do_not_meet),
        cmocka_unit_test(pads_are_seen_by_nobody),         cmocka_unit_test(counts_are_those_of_the_picture),
        cmocka_unit_test(the_table_holds_every_cell),      cmocka_unit_test(a_change_is_felt_through_the_window),
        cmocka_unit_test(a_global_layer_has_no_bound),     cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
