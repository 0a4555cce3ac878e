/* Observers: what they show is what the model and the language say. */
#include "lab_fixture.h"

#include "bug.h"
#include "corpora.h"
#include "decode/decoder.h"
#include "decode/filter.h"
#include "decode/log_softmax.h"
#include "mem.h"
#include "observe.h"
#include "rng.h"
#include "scene.h"
#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Attention. */

static void rows_sum_to_one_and_masked_cells_are_zero(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat behind the owl", stage_rich());
    Snapshot *seen = stage_look(s, "attention");
    for (int l = 0; l < 2; l++) {
        int window = config_window(model_config(s->model), l);
        const Field *w = snapshot_field(seen, "attention.%d.weights", l);
        const Field *masked = snapshot_field(seen, "attention.%d.masked", l);
        assert_int_equal(w->dim[0], 4);
        assert_int_equal(w->dim[1], s->n);
        for (int h = 0; h < 4; h++)
            for (int q = 0; q < s->n; q++) {
                double sum = 0;
                for (int k = 0; k < s->n; k++) {
                    bool allowed = k <= q && (window == 0 || q - k < window);
                    double x = (double)field_at(w, h, q, k, 0);
                    sum += x;
                    if (allowed != (x > 0)) fail_msg("layer %d head %d cell %d,%d is %g", l, h, q, k, x);
                    assert_int_equal(isinf(field_at(masked, h, q, k, 0)) != 0, !allowed);
                }
                assert_true(fabs(sum - 1) < 1e-5);
            }
    }
    snapshot_unref(seen);
    stage_free(s);
}

/* Of a long text the stages are made when they are asked for: the same bits, and blocks of their weights. */
static void stages_of_a_long_text_are_made_again(void **state) {
    (void)state;
    static const char *const stages[] = {"scores", "scaled", "softcapped", "masked", "weights", "mix", "query_before"};
    ModelConfig c = stage_rich();
    Str text;
    str_init(&text);
    for (int i = 0; i < 148; i++) str_add(&text, "the dogs near the cat ");
    c.context = 800;
    Stage *s = stage_new(text.s, c);
    assert_true(observers_stages_later(&s->scene));
    Snapshot *made = stage_look(s, "attention");
    s->scene.whole = true;
    Snapshot *whole = stage_look(s, "attention");
    for (int l = 1; l >= 0; l--) {
        const Field *weights = snapshot_field(made, "attention.%d.weights", l);
        assert_ptr_equal(snapshot_field(made, "attention.%d.weights", l), weights);
        for (int i = 0; i < 7; i++) {
            const Field *a = snapshot_field(made, "attention.%d.%s", l, stages[i]);
            const Field *b = snapshot_field(whole, "attention.%d.%s", l, stages[i]);
            assert_int_equal(field_count(a), field_count(b));
            if (l == 0) assert_memory_equal(a->x, b->x, field_count(a) * sizeof *a->x);
            for (size_t at = 0; at < field_count(a); at++) /* above, what is read went through another kernel */
                if (!(a->x[at] == b->x[at]) && !(fabs((double)(a->x[at] - b->x[at])) < 1e-5)) fail_msg("%s", a->name);
        }
        const Field *blocks = snapshot_field(made, "attention.%d.blocks", l);
        const Field *w = snapshot_field(whole, "attention.%d.weights", l);
        real most = 0;
        int T = w->dim[1], n = blocks->dim[1], from = 40 * T / n, to = 41 * T / n;
        for (int q = from; q < to; q++)
            for (int k = from; k <= q; k++)
                if (field_at(w, 2, q, k, 0) > most) most = field_at(w, 2, q, k, 0);
        assert_true(fabs((double)(field_at(blocks, 2, 40, 40, 0) - most)) < 1e-6);
        assert_true(field_at(blocks, 2, 40, 41, 0) == -1);
    }
    assert_null(snapshot_field(made, "attention.2.weights"));
    assert_null(snapshot_field(whole, "attention.0.blocks"));
    snapshot_unref(made);
    snapshot_unref(whole);
    stage_free(s);
    str_done(&text);
}

/* q k / sqrt(hd), capped, softmax, times v: again in double from the fields themselves. */
static void stages_follow_from_queries_keys_and_values(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat", stage_rich());
    Snapshot *seen = stage_look(s, "attention");
    const Field *q = snapshot_field(seen, "attention.0.query"), *k = snapshot_field(seen, "attention.0.key");
    const Field *v = snapshot_field(seen, "attention.0.value"), *mix = snapshot_field(seen, "attention.0.mix");
    const Field *score = snapshot_field(seen, "attention.0.scores"),
                *capped = snapshot_field(seen, "attention.0.softcapped");
    const Field *scaled = snapshot_field(seen, "attention.0.scaled"),
                *weight = snapshot_field(seen, "attention.0.weights");
    int hd = q->dim[2];
    assert_int_equal(k->dim[0], 2); /* key/value heads */
    for (int h = 0; h < 4; h++)
        for (int i = 0; i < s->n; i++) {
            for (int j = 0; j < s->n; j++) {
                double dot = 0;
                for (int c = 0; c < hd; c++)
                    dot += (double)field_at(q, h, i, c, 0) * (double)field_at(k, h / 2, j, c, 0);
                assert_true(fabs(dot - (double)field_at(score, h, i, j, 0)) < 1e-4);
                assert_true(fabs(dot / sqrt(hd) - (double)field_at(scaled, h, i, j, 0)) < 1e-4);
                assert_true(fabs(5 * tanh(dot / sqrt(hd) / 5) - (double)field_at(capped, h, i, j, 0)) < 1e-4);
            }
            double sum = 0;
            for (int j = 0; j < s->n; j++)
                sum += (double)field_at(weight, h, i, j, 0) * (double)field_at(v, h / 2, j, 3, 0);
            assert_true(fabs(sum - (double)field_at(mix, h, i, 3, 0)) < 1e-4);
        }
    assert_non_null(snapshot_field(seen, "attention.0.query_before"));
    assert_null(snapshot_field(seen, "attention.2.weights"));
    snapshot_unref(seen);
    stage_free(s);
}

/* RoPE at position 0 turns nothing, later it does. */
static void before_is_before_rope(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs", config_modern());
    Snapshot *seen = stage_look(s, "attention");
    const Field *before = snapshot_field(seen, "attention.0.key_before"),
                *after = snapshot_field(seen, "attention.0.key");
    double first = 0, last = 0;
    for (int c = 0; c < after->dim[2]; c++) {
        first += fabs((double)field_at(before, 0, 0, c, 0) - (double)field_at(after, 0, 0, c, 0));
        last += fabs((double)field_at(before, 0, 2, c, 0) - (double)field_at(after, 0, 2, c, 0));
    }
    assert_true(first < 1e-6 && last > 1e-3);
    assert_null(snapshot_field(seen, "attention.0.softcapped")); /* off in this model */
    snapshot_unref(seen);
    stage_free(s);
    s = stage_new("the dogs", config_gpt());
    seen = stage_look(s, "attention");
    assert_null(snapshot_field(seen, "attention.0.key_before"));
    snapshot_unref(seen);
    stage_free(s);
}

static void tables_hold_every_cell(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near", stage_rich());
    Snapshot *seen = stage_look(s, "attention");
    Table *all = observe_attention_table(seen, -1, -1), *one = observe_attention_table(seen, 1, 2);
    assert_int_equal(table_rows(all), 2 * 4 * 4 * 4);
    assert_int_equal(table_rows(one), 4 * 4);
    for (long i = 0; i < table_rows(one); i++) {
        int q = (int)table_int(one, i, table_find(one, "query")), k = (int)table_int(one, i, table_find(one, "key"));
        double weight = table_real(one, i, table_find(one, "weight"));
        assert_int_equal(table_int(one, i, table_find(one, "layer")), 1);
        assert_true(fabs(weight - (double)field_at(snapshot_field(seen, "attention.1.weights"), 2, q, k, 0)) <= 0);
        if (q == 1) assert_string_equal(table_text(one, i, table_find(one, "query_token")), "the");
        if (k == 0) assert_string_equal(table_text(one, i, table_find(one, "key_token")), "<s>");
    }
    table_free(all);
    table_free(one);
    Table *vectors = observe_vectors_table(seen, -1, -1), *of_head = observe_vectors_table(seen, 0, 3);
    assert_int_equal(table_rows(vectors), 2 * (4 + 2 + 2) * 4 * 16);
    assert_int_equal(table_rows(of_head), 3 * 4 * 16);
    assert_int_equal(table_int(of_head, 0, table_find(of_head, "head")), 3);
    assert_string_equal(table_text(of_head, 64, table_find(of_head, "which")), "k");
    assert_int_equal(table_int(of_head, 64, table_find(of_head, "head")), 1); /* query head 3 reads KV head 1 */
    table_free(vectors);
    table_free(of_head);
    assert_null(observe_attention_table(seen, 2, 0));
    snapshot_unref(seen);
    seen = stage_look(s, "next");
    assert_null(observe_attention_table(seen, -1, -1));
    assert_null(observe_vectors_table(seen, -1, -1));
    snapshot_unref(seen);
    stage_free(s);
}

/* The next token. */

static void model_and_truth_are_distributions(void **state) {
    (void)state;
    Stage *s = stage_new("the dog", config_modern());
    Snapshot *seen = stage_look(s, "next");
    const Table *t = snapshot_table(seen, "next");
    assert_int_equal(table_rows(t), 56);
    double model = 0, truth = 0, before = 2;
    for (long i = 0; i < 56; i++) {
        double p = table_real(t, i, 3);
        assert_true(p <= before);
        before = p;
        model += p;
        truth += table_real(t, i, 4);
        if (strcmp(table_text(t, i, 0), "chases") == 0) assert_true(fabs(table_real(t, i, 4) - .1875) < 1e-9);
        if (strcmp(table_text(t, i, 0), "<pad>") == 0) assert_true(table_real(t, i, 4) <= 0);
    }
    assert_true(fabs(model - 1) < 1e-9 && fabs(truth - 1) < 1e-9);
    snapshot_unref(seen);
    s->scene.language = NULL;
    seen = stage_look(s, "next");
    assert_true(table_is_empty(snapshot_table(seen, "next"), 0, 4));
    snapshot_unref(seen);
    stage_free(s);
}

/* The likeliest sentence of the language, and what the model gives it, token by token. */
static void the_path_of_the_truth_is_judged_by_the_model(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs", config_modern());
    Snapshot *seen = stage_look(s, "path");
    const Table *t = snapshot_table(seen, "sentence");
    assert_int_equal(table_rows(t), 2);
    assert_string_equal(table_text(t, 1, 0), "truth");
    int *ids, n, first = VOCAB_BOS;
    assert_ok(vocab_encode(s->scene.vocab, table_text(t, 1, 1), &ids, &n));
    assert_true(n > 3);
    ids = mem_resize(ids, (size_t)n + 1, sizeof *ids);
    ids[n] = VOCAB_EOS;
    double sum = 0, log_p[64];
    int vocab = model_config(s->model)->vocab;
    Decoder *d = decoder_new(s->model, 1, 64);
    const real *logits = decoder_feed(d, 0, &first, 1);
    for (int i = 0; i <= n; i++) {
        log_softmax(vocab, logits, log_p);
        if (i >= 2) sum += log_p[ids[i]];
        logits = decoder_feed(d, 0, &ids[i], 1);
    }
    decoder_free(d);
    mem_free(ids);
    if (!(fabs(sum - table_real(t, 1, 2)) < 1e-4)) fail_msg("%g, not %g", table_real(t, 1, 2), sum);
    snapshot_unref(seen);
    stage_free(s);
}

static void an_impossible_prefix_has_no_truth(void **state) {
    (void)state;
    Stage *s = stage_new("dog the", config_modern());
    Snapshot *seen = stage_look(s, "next");
    assert_true(table_is_empty(snapshot_table(seen, "next"), 0, 4));
    snapshot_unref(seen);
    seen = stage_look(s, "path");
    const Table *t = snapshot_table(seen, "sentence");
    assert_int_equal(table_rows(t), 1); /* the model's alone */
    assert_string_equal(table_text(t, 0, 0), "model");
    snapshot_unref(seen);
    stage_free(s);
}

static void only_what_is_visible_counts(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat", config_modern());
    s->scene.visible = 3;
    s->scene.prompt = 4;
    Snapshot *seen = stage_look(s, "attention");
    assert_int_equal(snapshot_field(seen, "attention.0.weights")->dim[1], 3);
    const Table *tokens = snapshot_table(seen, "tokens");
    assert_int_equal(table_rows(tokens), 6);
    assert_string_equal(table_text(tokens, 3, 3), "prompt");
    assert_string_equal(table_text(tokens, 4, 3), "generated");
    snapshot_unref(seen);
    Snapshot *part = stage_look(s, "next");
    Stage *alone = stage_new("the dogs", config_modern());
    Snapshot *whole = stage_look(alone, "next");
    for (long i = 0; i < 56; i++)
        assert_true(fabs(table_real(snapshot_table(part, "next"), i, 3) -
                         table_real(snapshot_table(whole, "next"), i, 3)) <= 0);
    snapshot_unref(part);
    snapshot_unref(whole);
    stage_free(alone);
    stage_free(s);
}

/* The pipeline. */

static void the_pipeline_ends_where_the_draws_begin(void **state) {
    (void)state;
    Stage *s = stage_new("the dog", config_modern());
    s->scene.filter = (FilterConfig){.tau = 0.8, .top_k = 5, .top_p = 0.9};
    Snapshot *seen = stage_look(s, "filter");
    const Table *t = snapshot_table(seen, "filter"), *draws = snapshot_table(seen, "draws");
    assert_int_equal(table_rows(t), 5 * 56); /* logits, temperature, top_k, top_p, final */
    double sum = 0;
    int kept = 0;
    for (long i = 4L * 56; i < 5L * 56; i++) {
        assert_string_equal(table_text(t, i, 0), "final");
        sum += table_real(t, i, 2);
        kept += (int)table_int(t, i, 3);
    }
    assert_true(fabs(sum - 1) < 1e-9 && kept >= 1 && kept <= 5);
    Rng r = rng_at(1, "sample", 3);
    for (long i = 0; i < table_rows(draws); i++) {
        assert_true(fabs(table_real(draws, i, 0) - rng_unit(&r)) <= 0);
        long at = 4L * 56 + (long)table_int(draws, i, 1);
        assert_int_equal(table_int(t, at, 3), 1);
    }
    snapshot_unref(seen);
    stage_free(s);
}

/* Looking. */

static void looking_changes_no_parameter(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat", stage_rich());
    uint64_t before = params_hash(model_read_params(s->model));
    unsigned char off[8] = {0, 1};
    s->scene.tweak = (ModelTweak){.head_off = off, .window = 2};
    SnapshotFacts facts = {0};
    Snapshot *seen = snapshot_new(&facts);
    observers_look(s->observers, &s->scene, OBSERVE_ALL, seen);
    assert_true(params_hash(model_read_params(s->model)) == before);
    assert_non_null(snapshot_table(seen, "model"));
    assert_null(snapshot_table(seen, "curve")); /* there is no run */
    snapshot_unref(seen);
    stage_free(s);
}

static void paths_of_a_tampered_model_are_its_own(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat", config_modern());
    unsigned char off[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    Snapshot *plain = stage_look(s, "path");
    s->scene.tweak.head_off = off;
    Snapshot *tampered = stage_look(s, "path");
    const Table *a = snapshot_table(plain, "path"), *b = snapshot_table(tampered, "path");
    assert_true(table_rows(a) > 0 && table_rows(b) > 0);
    assert_true(fabs(table_real(a, 0, 3) - table_real(b, 0, 3)) > 1e-6);
    /* the truth is the same */
    const Table *sa = snapshot_table(plain, "sentence"), *sb = snapshot_table(tampered, "sentence");
    assert_string_equal(table_text(sa, 1, 1), table_text(sb, 1, 1));
    assert_string_equal(table_text(sa, 1, 1), "the dogs near the cat chase the cat in the morning .");
    snapshot_unref(plain);
    snapshot_unref(tampered);
    stage_free(s);
}

static void nothing_follows_the_end(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs", config_modern());
    s->ids[2] = VOCAB_EOS;
    Snapshot *seen = stage_look(s, "path");
    assert_int_equal(table_rows(snapshot_table(seen, "path")), 0);
    assert_int_equal(table_rows(snapshot_table(seen, "sentence")), 0);
    snapshot_unref(seen);
    stage_free(s);
}

static void observers_are_found_by_name(void **state) {
    (void)state;
    ObserverSet set = 0;
    assert_ok(observers_add("curve", &set));
    assert_ok(observers_add("next", &set));
    assert_int_equal(set, 1u << OBSERVE_curve | 1u << OBSERVE_next);
    assert_status(observers_add("atention", &set), STATUS_USAGE,
                  "nothing to watch is called 'atention'; did you mean 'attention'?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_sum_to_one_and_masked_cells_are_zero),
        cmocka_unit_test(stages_of_a_long_text_are_made_again),
        cmocka_unit_test(stages_follow_from_queries_keys_and_values),
        cmocka_unit_test(before_is_before_rope),
        cmocka_unit_test(tables_hold_every_cell),
        cmocka_unit_test(model_and_truth_are_distributions),
        cmocka_unit_test(the_path_of_the_truth_is_judged_by_the_model),
        cmocka_unit_test(an_impossible_prefix_has_no_truth),
        cmocka_unit_test(only_what_is_visible_counts),
        cmocka_unit_test(the_pipeline_ends_where_the_draws_begin),
        cmocka_unit_test(looking_changes_no_parameter),
        cmocka_unit_test(paths_of_a_tampered_model_are_its_own),
        cmocka_unit_test(nothing_follows_the_end),
        cmocka_unit_test(observers_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
