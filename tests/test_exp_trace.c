/* model.trace: every stage is there, and follows from those before it. */
#include <math.h>
#include <stdlib.h>

#include "saved_model.h"

static Table *trace(const char *model, const char *a, const char *b) {
    Study *s = run_study("model.trace", model, a, b, NULL);
    Table *t = study_result(s, "values");
    study_free(s);
    return t;
}

/* The number at a place; LAYER and HEAD -1: empty. */
static double value(const Table *t, const char *name, long layer, long head, long row, long column) {
    int l = table_find(t, "layer"), h = table_find(t, "head");
    for (long i = 0; i < table_rows(t); i++) {
        if (cell_int(t, i, "row") != row || cell_int(t, i, "column") != column) continue;
        if (strcmp(cell_text(t, i, "name"), name) != 0) continue;
        if ((table_is_empty(t, i, l) ? -1 : table_int(t, i, l)) != layer) continue;
        if ((table_is_empty(t, i, h) ? -1 : table_int(t, i, h)) == head) return cell_real(t, i, "value");
    }
    fail_msg("no %s of layer %ld, head %ld at %ld,%ld", name, layer, head, row, column);
    return 0;
}

/* As often as sizes say: modern, d 8, 2 heads of 4, 1 KV head, 5 tokens. */
static void every_stage_is_there(void **state) {
    (void)state;
    SavedModel m = saved_model("arch=modern", "d=8", "heads=2", "epochs=0");
    Table *t = trace(m.pair, "prompt=the dogs near cats", NULL);
    enum { T = 5, V = 56, D = 8, F = 32, LAYERS = 2 };
    long attention = 2 * (T * 4) * 2 + T * 4 * 3 + 4 * 2 * T * T + T * D;   /* q, k and v; stages; mix */
    long block = 2 * T * D + attention + 2 * T * D + 3 * T * F + 2 * T * D; /* norms, out and down, ffn, sums */
    assert_int_equal(table_rows(t), T * D + LAYERS * block + T * D + T * V);
    assert_string_equal(cell_text(t, 0, "name"), "embed");
    assert_string_equal(cell_text(t, table_rows(t) - 1, "name"), "logits");
    table_free(t);
    saved_model_remove(&m);
}

static void stages_follow(void **state) {
    (void)state;
    SavedModel m = saved_model("d=8", "heads=2", "epochs=1", "softcap=3");
    Table *t = trace(m.pair, "prompt=the dogs", NULL);
    for (long head = 0; head < 2; head++)
        for (long query = 0; query < 3; query++) {
            double sum = 0, mix = 0;
            for (long key = 0; key < 3; key++) {
                double score = 0, weight = value(t, "attention.weights", 1, head, query, key);
                for (long i = 0; i < 4; i++)
                    score +=
                        value(t, "attention.query", 1, head, query, i) * value(t, "attention.key", 1, head, key, i);
                assert_near(value(t, "attention.scores", 1, head, query, key), score, 1e-5);
                double scaled = value(t, "attention.scaled", 1, head, query, key);
                assert_near(scaled, score / 2, 1e-5);
                assert_near(value(t, "attention.softcapped", 1, head, query, key), 3 * tanh(scaled / 3), 1e-5);
                assert_int_equal(isinf(value(t, "attention.masked", 1, head, query, key)) != 0, key > query);
                sum += weight;
                mix += weight * value(t, "attention.value", 1, head, key, 2);
            }
            assert_near(sum, 1, 1e-6);
            assert_near(value(t, "attention.mix", 1, head, query, 2), mix, 1e-5);
        }
    for (long i = 0; i < 8; i++) {
        double before = value(t, "residual2", 0, -1, 2, i), out = value(t, "attention.out", 1, -1, 2, i);
        assert_near(value(t, "residual1", 1, -1, 2, i), before + out, 1e-5);
        double embedded = value(t, "embed", -1, -1, 2, i) + value(t, "position", -1, -1, 2, i);
        assert_near(value(t, "embedded", -1, -1, 2, i), embedded, 1e-6);
    }
    table_free(t);
    saved_model_remove(&m);
}

/* The attention pane's export has the same numbers. */
static void it_agrees_with_attn_step(void **state) {
    (void)state;
    SavedModel m = saved_model("arch=modern", "d=16", "epochs=0", NULL);
    Study *s = run_study("attn.step", m.pair, "layer=1", "ids=1,20,30", NULL);
    Table *step = study_result(s, "attention"), *t = trace(m.pair, "ids=1,20,30", "layer=1");
    for (long i = 0; i < table_rows(step); i++)
        assert_near(value(t, "attention.weights", 1, (long)cell_int(step, i, "head"), (long)cell_int(step, i, "query"),
                          (long)cell_int(step, i, "key")),
                    cell_real(step, i, "weight"), 0);
    for (long i = 0; i < table_rows(t); i++) assert_int_equal(cell_int(t, i, "layer"), 1);
    table_free(step);
    table_free(t);
    study_free(s);
    saved_model_remove(&m);
}

static void parts_can_be_asked_for(void **state) {
    (void)state;
    SavedModel m = saved_model("arch=modern", "d=16", "epochs=0", "context=700");
    Table *t = trace(m.pair, "name=logits", "ids=1,2,3");
    assert_int_equal(table_rows(t), 3 * 56);
    table_free(t);
    study_free(run_study_until(STATUS_USAGE, "model.trace", m.pair, "layer=2", NULL));
    study_free(run_study_until(STATUS_USAGE, "model.trace", m.pair, "name=nothing", NULL));
    Str ids; /* 600 tokens: scores alone are millions */
    str_init(&ids);
    str_add(&ids, "ids=1");
    for (int i = 1; i < 600; i++) str_add(&ids, ",5");
    Study *s = run_study_until(STATUS_USAGE, "model.trace", m.pair, ids.s, NULL);
    assert_non_null(strstr(study_state(s).status.text, "name= and layer="));
    study_free(s);
    t = trace(m.pair, ids.s, "name=final_norm");
    assert_int_equal(table_rows(t), 600 * 16);
    table_free(t);
    str_done(&ids);
    saved_model_remove(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_is_there),
        cmocka_unit_test(stages_follow),
        cmocka_unit_test(it_agrees_with_attn_step),
        cmocka_unit_test(parts_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
