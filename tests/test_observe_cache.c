/* The observer of the cache: what it shows is what attention used, slot by slot; what it counts is what was done. */
#include "account.h"
#include "observe.h"
#include "stage.h"

#include <math.h>

#define SENTENCE "the dogs near the cat behind the owl"

static long long cell(const Table *t, long row, const char *column) {
    return table_int(t, row, table_find(t, column));
}

static const char *word(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}

/* K and V of the probe are those of the cache, wherever they are kept. */
static void expect_cells(Stage *s, int slots) {
    Snapshot *cache = stage_look(s, "cache"), *attention = stage_look(s, "attention");
    const Table *where = snapshot_table(cache, "cache_slots");
    const ModelConfig *c = model_config(s->model);
    assert_int_equal(table_rows(where), slots);
    for (int layer = 0; layer < c->layers; layer++)
        for (int values = 0; values < 2; values++) {
            const Field *got = snapshot_field(cache, values ? "cache.%d.values" : "cache.%d.keys", layer);
            const Field *want = snapshot_field(attention, values ? "attention.%d.value" : "attention.%d.key", layer);
            assert_int_equal(got->dim[0], c->kv_heads);
            assert_int_equal(got->dim[1], slots);
            for (int h = 0; h < c->kv_heads; h++)
                for (int slot = 0; slot < slots; slot++)
                    for (int i = 0; i < c->head_dim; i++) {
                        int position = (int)cell(where, slot, "position");
                        double off =
                            fabs((double)field_at(got, h, slot, i, 0) - (double)field_at(want, h, position, i, 0));
                        if (!(off < 1e-5)) fail_msg("layer %d slot %d differs by %g", layer, slot, off);
                    }
        }
    assert_null(snapshot_field(cache, "cache.%d.keys", c->layers));
    snapshot_unref(cache);
    snapshot_unref(attention);
}

static void cells_are_those_of_attention(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich());
    s->scene.prompt = 5;
    expect_cells(s, 9);
    stage_free(s);
    s = stage_new(SENTENCE, config_gpt());
    expect_cells(s, 9);
    stage_free(s);
}

/* Slot = position mod window, the newest positions; what is left of the sentence is in its place. */
static void slots_are_used_again(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, config_modern());
    s->scene.tweak.window = 4;
    s->scene.prompt = 3;
    expect_cells(s, 4);
    Snapshot *seen = stage_look(s, "cache");
    const Table *slots = snapshot_table(seen, "cache_slots"), *layers = snapshot_table(seen, "cache_layers");
    for (long slot = 0; slot < 4; slot++) {
        long long position = cell(slots, slot, "position");
        assert_int_equal(position % 4, slot);
        assert_in_range(position, 5, 8);
        assert_string_equal(word(slots, slot, "token"), vocab_token(s->corpus->vocab, s->ids[position]));
        assert_string_equal(word(slots, slot, "phase"), "decode");
    }
    assert_int_equal(cell(layers, 0, "window"), 4);
    assert_int_equal(cell(layers, 1, "slots"), 4);
    snapshot_unref(seen);
    s->scene.visible = 3; /* not full yet */
    expect_cells(s, 3);
    stage_free(s);
}

/* The prompt at once, then a token a step; with a cache every operation is done once. */
static void steps_are_counted(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich());
    s->scene.prompt = 5;
    Snapshot *seen = stage_look(s, "cache");
    const Table *t = snapshot_table(seen, "cache_steps");
    const ModelConfig *c = model_config(s->model);
    assert_int_equal(table_rows(t), 1 + 4);
    long long with = 0;
    for (long row = 0; row < table_rows(t); row++) {
        long long all = account_flops(c, 5 + row, 1, ACCOUNT_ALLOWED_SCORES).total;
        with += cell(t, row, "with");
        assert_string_equal(word(t, row, "phase"), row == 0 ? "prefill" : "decode");
        assert_int_equal(cell(t, row, "tokens"), 5 + row);
        assert_int_equal(cell(t, row, "without"), all);
        assert_int_equal(with, all);
        assert_int_equal(cell(t, row, "bytes"),
                         2 * c->layers * c->kv_heads * c->head_dim * (5 + row) * (long long)sizeof(real));
    }
    snapshot_unref(seen);
    stage_free(s);
}

static void the_check_compares_every_position(void **state) {
    (void)state;
    Stage *s = stage_new(SENTENCE, stage_rich());
    s->scene.prompt = 2;
    for (int window = -1; window <= 3; window += 2) {
        s->scene.tweak.window = window;
        Snapshot *seen = stage_look(s, "cache");
        const Table *t = snapshot_table(seen, "cache_check");
        assert_int_equal(table_rows(t), 9);
        for (long row = 0; row < 9; row++) {
            assert_int_equal(cell(t, row, "position"), row);
            assert_int_equal(cell(t, row, "same_token"), 1);
            assert_true(table_real(t, row, table_find(t, "max_difference")) < 1e-4);
        }
        snapshot_unref(seen);
    }
    stage_free(s);
}

static long row_of(const Table *t, const char *model, const char *scheme, long long tokens) {
    for (long row = 0; row < table_rows(t); row++)
        if (!strcmp(word(t, row, "model"), model) && !strcmp(word(t, row, "scheme"), scheme) &&
            cell(t, row, "tokens") == tokens)
            return row;
    fail_msg("no %s of '%s' with %lld tokens", scheme, model, tokens);
    return 0;
}

/* Lecture 3, 4.5; lecture 4, exercise 3 and 5.3; seminar 3, 10.3. */
static void sizes_are_those_of_the_lectures(void **state) {
    (void)state;
    const long long GIB = 1LL << 30;
    Stage *s = stage_new("the dogs near", config_modern());
    Snapshot *seen = stage_look(s, "cache");
    const Table *t = snapshot_table(seen, "cache_sizes");
    long row = row_of(t, "llama3-8b", "gqa", 131072);
    assert_int_equal(cell(t, row, "own"), 1);
    assert_int_equal(cell(t, row, "bytes"), 16 * GIB);
    assert_true(table_real(t, row, table_find(t, "weights_bytes")) < 16. * (double)GIB); /* smaller than the cache */
    assert_int_equal(cell(t, row_of(t, "llama3-8b", "mha", 131072), "bytes"), 64 * GIB);
    assert_int_equal(cell(t, row_of(t, "llama3-8b", "mqa", 8192), "bytes"), GIB / 8);
    row = row_of(t, "mistral-7b", "gqa", 131072);
    assert_int_equal(cell(t, row, "bytes_per_token"), 128 << 10);
    assert_int_equal(cell(t, row, "rolling_bytes"), GIB / 2);
    row = row_of(t, "deepseek-v3", "mla", 8192);
    assert_int_equal(cell(t, row, "own"), 1);
    assert_int_equal(cell(t, row, "bytes_per_token"), 61 * 576 * 2);
    assert_int_equal(cell(t, row_of(t, "deepseek-v3", "mha", 8192), "own"), 0);
    /* the run's: 4 heads of 16, 2 of them for keys and values, 2 layers */
    int value = (int)sizeof(real);
    assert_int_equal(cell(t, row_of(t, "", "mha", 4), "bytes_per_token"), 2 * 2 * 4 * 16 * value);
    row = row_of(t, "", "gqa", 4);
    assert_int_equal(cell(t, row, "own"), 1);
    assert_int_equal(cell(t, row, "bytes"), 4 * 2 * 2 * 2 * 16 * value);
    assert_int_equal(cell(t, row_of(t, "", "mqa", 4), "bytes_per_token"), 2 * 2 * 16 * value);
    assert_int_equal(cell(t, row_of(t, "", "mla", 4), "bytes_per_token"), 2 * 72 * value);
    snapshot_unref(seen);
    stage_free(s);
}

static void the_table_has_every_cell(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs", config_modern());
    Snapshot *seen = stage_look(s, "cache");
    Table *all = observe_cache_table(seen, -1, -1), *one = observe_cache_table(seen, 1, 1);
    assert_int_equal(table_rows(all), 2 * 2 * 2 * 3 * 16);
    assert_int_equal(table_rows(one), 2 * 3 * 16);
    long last = table_rows(all) - 1;
    const Field *f = snapshot_field(seen, "cache.1.values");
    assert_string_equal(word(all, last, "which"), "v");
    assert_string_equal(word(all, last, "token"), "dogs");
    assert_int_equal(cell(all, last, "position"), 2);
    assert_true(table_real(all, last, table_find(all, "value")) == (double)field_at(f, 1, 2, 15, 0));
    table_free(all);
    table_free(one);
    assert_null(observe_cache_table(seen, 2, -1));
    snapshot_unref(seen);
    SnapshotFacts facts = {0};
    seen = snapshot_new(&facts);
    assert_null(observe_cache_table(seen, -1, -1));
    snapshot_unref(seen);
    stage_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_those_of_attention),
        cmocka_unit_test(slots_are_used_again),
        cmocka_unit_test(steps_are_counted),
        cmocka_unit_test(the_check_compares_every_position),
        cmocka_unit_test(sizes_are_those_of_the_lectures),
        cmocka_unit_test(the_table_has_every_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
