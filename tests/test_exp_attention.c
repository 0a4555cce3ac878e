/* attn.step: rows add up, masked is masked, and every number follows from those before it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/checkpoint.h"
#include "small_model.h"

enum { T = 6, HEADS = 4, LAYERS = 2, HEAD_DIM = 4 }; /* <s> the dogs near the cat; d 16 */

static Table *attention(const char *a, const char *b) {
    Study *s = run_study("attn.step", small_model_pair, a, b, NULL);
    Table *t = study_result(s, "attention");
    study_free(s);
    return t;
}

static void every_pair_is_there(void **state) {
    (void)state;
    Table *t = attention("layer=all", "head=all");
    assert_int_equal(table_rows(t), LAYERS * HEADS * T * T);
    for (long i = 0; i < table_rows(t); i++) {
        assert_int_equal(cell_int(t, i, "key"), i % T);
        assert_int_equal(cell_int(t, i, "query"), i / T % T);
        assert_int_equal(cell_int(t, i, "head"), i / (T * T) % HEADS);
        assert_int_equal(cell_int(t, i, "layer"), i / (T * T * HEADS));
    }
    assert_string_equal(cell_text(t, 2, "key_token"), "dogs");
    assert_string_equal(cell_text(t, 2, "query_token"), "<s>");
    table_free(t);
}

static void stages_follow(void **state) {
    (void)state;
    Table *t = attention("layer=all", "head=all");
    for (long row = 0; row < table_rows(t); row += T) {
        double sum = 0, largest = -(double)INFINITY, z = 0;
        for (long i = row; i < row + T; i++) largest = fmax(largest, cell_real(t, i, "masked"));
        for (long i = row; i < row + T; i++) z += exp(cell_real(t, i, "masked") - largest);
        for (long i = row; i < row + T; i++) {
            double scaled = cell_real(t, i, "scaled"), masked = cell_real(t, i, "masked"),
                   weight = cell_real(t, i, "weight");
            bool hidden = cell_int(t, i, "key") > cell_int(t, i, "query");
            assert_near(scaled, cell_real(t, i, "score") / sqrt(HEAD_DIM), 1e-5);
            assert_near(cell_real(t, i, "softcapped"), scaled, 0);
            if (hidden) {
                assert_true(isinf(masked) && masked < 0 && weight == 0);
            } else {
                assert_near(masked, scaled, 0);
                assert_near(weight, exp(masked - largest) / z, 1e-6);
            }
            sum += weight;
        }
        assert_near(sum, 1, 1e-6);
    }
    table_free(t);
}

static void one_head_is_a_part_of_all(void **state) {
    (void)state;
    Table *all = attention("layer=all", "head=all"), *one = attention("layer=1", "head=2");
    assert_int_equal(table_rows(one), T * T);
    for (long i = 0; i < T * T; i++) {
        assert_int_equal(cell_int(one, i, "layer"), 1);
        assert_int_equal(cell_int(one, i, "head"), 2);
        assert_near(cell_real(one, i, "weight"), cell_real(all, (HEADS + 2) * T * T + i, "weight"), 0);
    }
    table_free(all);
    table_free(one);
}

static void a_window_hides_what_is_far(void **state) {
    (void)state;
    Table *t = attention("window=2", NULL);
    for (long i = 0; i < table_rows(t); i++) {
        long long distance = cell_int(t, i, "query") - cell_int(t, i, "key");
        assert_int_equal(cell_real(t, i, "weight") > 0, distance == 0 || distance == 1);
    }
    table_free(t);
}

/* The row of a vector's number. */
static long find(const Table *t, int layer, int head, int position, const char *which, int index) {
    for (long i = 0; i < table_rows(t); i++)
        if (cell_int(t, i, "layer") == layer && cell_int(t, i, "head") == head &&
            cell_int(t, i, "position") == position && cell_int(t, i, "index") == index &&
            strcmp(cell_text(t, i, "which"), which) == 0)
            return i;
    fail_msg("no %s %d of layer %d head %d position %d", which, index, layer, head, position);
    return -1;
}

/* Query head 3 reads KV head 1 of 2. */
static void scores_are_products_of_vectors(void **state) {
    (void)state;
    Study *s = run_study("attn.step", small_model_pair, "layer=1", "head=3", NULL);
    Table *attention = study_result(s, "attention"), *vectors = study_result(s, "vectors");
    assert_int_equal(table_rows(vectors), 3 * T * HEAD_DIM);
    for (int q = 0; q < T; q++)
        for (int k = 0; k < T; k++) {
            double score = 0;
            for (int i = 0; i < HEAD_DIM; i++)
                score += cell_real(vectors, find(vectors, 1, 3, q, "q", i), "value") *
                         cell_real(vectors, find(vectors, 1, 1, k, "k", i), "value");
            assert_near(cell_real(attention, q * T + k, "score"), score, 1e-4);
        }
    table_free(attention);
    table_free(vectors);
    study_free(s);
}

static void ids_stand_for_the_prompt(void **state) {
    (void)state;
    Table *a = attention("prompt=the dog", NULL), *b = attention("ids=1,54,21", NULL);
    assert_int_equal(table_rows(a), table_rows(b));
    for (long i = 0; i < table_rows(a); i++) assert_near(cell_real(a, i, "score"), cell_real(b, i, "score"), 0);
    table_free(a);
    table_free(b);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"layer=2", "head=4", "layer=-1", "head=some", "ids=56", "prompt=the zebra"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        study_free(run_study_until(STATUS_USAGE, "attn.step", small_model_pair, bad[i], NULL));
    study_free(run_study_until(STATUS_USAGE, "attn.step", small_model_pair, "ids=1", "prompt=the", NULL));
}

/* All heads of a long text would be more rows than anybody reads: a part is offered. */
static void too_many_rows_are_refused(void **state) {
    (void)state;
    ModelConfig c = config_modern();
    c.vocab = 5;
    c.d = c.d_ff = 8;
    c.head_dim = 2;
    c.context = 1000;
    Model *m = model_new(&c, 1);
    char path[64], model[80];
    Str ids;
    str_init(&ids);
    str_add(&ids, "ids=1");
    for (int i = 1; i < 900; i++) str_add(&ids, ",1");
    snprintf(path, sizeof path, "/tmp/lantern_test_rows_%ld", (long)getpid());
    snprintf(model, sizeof model, "model=%s", path);
    Status s = checkpoint_write(path, m, NULL, NULL, 1, 0, 0, NULL);
    assert_int_equal(s.code, STATUS_OK);
    Study *study = run_study_until(STATUS_USAGE, "attn.step", model, ids.s, NULL);
    assert_string_equal(study_state(study).status.text,
                        "6480000 rows are more than the 5000000 that a table takes: layer= and head= take a part");
    study_free(study);
    assert_int_equal(remove(path), 0);
    str_done(&ids);
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_there),
        cmocka_unit_test(stages_follow),
        cmocka_unit_test(one_head_is_a_part_of_all),
        cmocka_unit_test(a_window_hides_what_is_far),
        cmocka_unit_test(scores_are_products_of_vectors),
        cmocka_unit_test(ids_stand_for_the_prompt),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(too_many_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
