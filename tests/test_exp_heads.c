/* attn.causal, attn.scale, gqa.equal, pos.permute: lecture 4, 5.2 and exercise 4, seminar 3, 5.1, 6.2, 6.3. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_study.h"

static Table *table_of(const char *id, const char *table, const char *a, const char *b, const char *c) {
    Study *s = run_study(id, a ? a : "seed=1", b, b ? c : NULL, NULL);
    Table *t = study_result(s, table);
    study_free(s);
    return t;
}

static void refuse(const char *id, const char *a, const char *b) {
    study_free(run_study_until(STATUS_USAGE, id, a, b, NULL));
}

/* The last number in the text of a row of about. */
static double about_number(const char *id, const char *key) {
    Table *t = table_of(id, "about", NULL, NULL, NULL);
    double x = (double)NAN;
    for (long i = 0; i < table_rows(t); i++)
        if (strcmp(table_text(t, i, 0), key) == 0) x = strtod(strrchr(table_text(t, i, 1), ' '), NULL);
    table_free(t);
    return x;
}

/* ---- attn.causal ---- */

static void nothing_before_the_last_changes(void **state) {
    (void)state;
    static const int lengths[] = {1, 2, 12, 130};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int seed = 1; seed <= 2; seed++) {
            char T[20], with[20];
            snprintf(T, sizeof T, "T=%d", lengths[i]);
            snprintf(with, sizeof with, "seed=%d", seed);
            Table *t = table_of("attn.causal", "diff", T, with, NULL);
            assert_int_equal(table_rows(t), lengths[i]);
            for (int k = 0; k < lengths[i]; k++) {
                assert_int_equal(cell_int(t, k, "position"), k);
                if (k < lengths[i] - 1) assert_true(cell_real(t, k, "change") == 0);
            }
            assert_true(cell_real(t, lengths[i] - 1, "change") > 0.01);
            table_free(t);
        }
}

static void without_the_mask_it_does(void **state) {
    (void)state;
    assert_true(about_number("attn.causal", "with_mask") == 0);
    assert_true(about_number("attn.causal", "without_mask") > 0.01);
}

/* ---- attn.scale ---- */

static void only_unscaled_weights_grow(void **state) {
    (void)state;
    Table *t = table_of("attn.scale", "weight", "draws=400", NULL, NULL);
    static const int dims[] = {4, 16, 64, 256, 1024};
    assert_int_equal(table_rows(t), 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(cell_int(t, i, "d_k"), dims[i]);
        /* standard normal scores: the largest of 32 has about .16 */
        assert_near(cell_real(t, i, "max_weight_scaled"), 0.16, 0.02);
        if (i) assert_true(cell_real(t, i, "max_weight_unscaled") > cell_real(t, i - 1, "max_weight_unscaled"));
    }
    assert_true(cell_real(t, 0, "max_weight_unscaled") < 0.4);
    assert_true(cell_real(t, 4, "max_weight_unscaled") > 0.93);
    table_free(t);
}

static void one_width_is_as_among_many(void **state) {
    (void)state;
    Table *all = table_of("attn.scale", "weight", "draws=20", NULL, NULL);
    Table *one = table_of("attn.scale", "weight", "draws=20", "dims=64", NULL);
    assert_near(cell_real(one, 0, "max_weight_scaled"), cell_real(all, 2, "max_weight_scaled"), 0);
    table_free(all);
    table_free(one);
    one = table_of("attn.scale", "weight", "keys=1", "dims=1,8", NULL);
    for (int i = 0; i < 2; i++) assert_near(cell_real(one, i, "max_weight_unscaled"), 1, 0);
    table_free(one);
    one = table_of("attn.scale", "weight", "dims=1", NULL, NULL); /* the root of 1 is 1 */
    assert_near(cell_real(one, 0, "max_weight_unscaled"), cell_real(one, 0, "max_weight_scaled"), 0);
    table_free(one);
}

/* ---- gqa.equal ---- */

static void groups_equal_copies(void **state) {
    (void)state;
    static const char *const kv[] = {"kv_heads=1", "kv_heads=2", "kv_heads=4", "kv_heads=8"};
    for (int i = 0; i < 4; i++) {
        Table *t = table_of("gqa.equal", "diff", kv[i], "T=21", "seed=5");
        assert_int_equal(table_rows(t), 1);
        assert_string_equal(cell_text(t, 0, "against"), "mha_copied");
        assert_true(cell_real(t, 0, "max_difference") == 0);
        table_free(t);
    }
    assert_true(about_number("gqa.equal", "another_map") > 0.01);
}

static void expect_parameters(Table *t, int rows, const long long *kv, const long long *count) {
    assert_int_equal(table_rows(t), rows);
    for (int i = 0; i < rows; i++) {
        assert_int_equal(cell_int(t, i, "kv_heads"), kv[i]);
        assert_int_equal(cell_int(t, i, "count"), count[i]);
    }
    table_free(t);
}

static void parameters_of_the_lecture(void **state) {
    (void)state;
    expect_parameters(table_of("gqa.equal", "parameters", NULL, NULL, NULL), 4, (const long long[]){1, 2, 4, 8},
                      (const long long[]){2304, 2560, 3072, 4096});
    expect_parameters(table_of("gqa.equal", "parameters", "heads=6", "kv_heads=3", "head_dim=5"), 4,
                      (const long long[]){1, 2, 3, 6},
                      (const long long[]){2 * 32 * 5 * 7, 2 * 32 * 5 * 8, 2 * 32 * 5 * 9, 2 * 32 * 5 * 12});
}

/* Exercise 4 has d = 4096; this is a quarter of each side. */
static void larger_layers(void **state) {
    (void)state;
    expect_parameters(table_of("gqa.equal", "parameters", "d=1024", "heads=4", "kv_heads=4"), 3,
                      (const long long[]){1, 2, 4}, (const long long[]){2621440, 3145728, 4194304});
}

static void impossible_heads(void **state) {
    (void)state;
    refuse("gqa.equal", "kv_heads=3", NULL);
    refuse("gqa.equal", "kv_heads=16", NULL);
    refuse("gqa.equal", "d=30", NULL);
    refuse("gqa.equal", "d=1000000", "head_dim=1000");
    refuse("gqa.equal", "T=4096", NULL);
    study_free(run_study_until(STATUS_USAGE, "gqa.equal", "T=4096", "heads=1", "kv_heads=1", "d=20000", NULL));
}

/* ---- pos.permute ---- */

static void only_positions_notice_a_shuffle(void **state) {
    (void)state;
    static const char *const encodings[] = {"none", "learned", "sinusoid", "rope"};
    static const char *const how[][2] = {{"T=12", "d=16"}, {"T=2", "d=2"}, {"T=40", "d=6"}};
    for (int h = 0; h < 3; h++) {
        Table *t = table_of("pos.permute", "diff", how[h][0], how[h][1], NULL);
        assert_int_equal(table_rows(t), 4);
        for (int i = 0; i < 4; i++) {
            assert_string_equal(cell_text(t, i, "encoding"), encodings[i]);
            double difference = cell_real(t, i, "max_difference");
            if (i == 0) assert_near(difference, 0, 1e-14);
            if (i > 0) assert_true(difference > 1e-3);
        }
        table_free(t);
    }
    refuse("pos.permute", "d=5", NULL);
    Table *about = table_of("pos.permute", "about", NULL, NULL, NULL);
    bool said = false;
    for (long i = 0; i < table_rows(about); i++)
        said |= strcmp(table_text(about, i, 0), "with_a_causal_mask") == 0 && !strstr(table_text(about, i, 1), "is 0:");
    assert_true(said);
    table_free(about);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_before_the_last_changes),
        cmocka_unit_test(without_the_mask_it_does),
        cmocka_unit_test(only_unscaled_weights_grow),
        cmocka_unit_test(one_width_is_as_among_many),
        cmocka_unit_test(groups_equal_copies),
        cmocka_unit_test(parameters_of_the_lecture),
        cmocka_unit_test(larger_layers),
        cmocka_unit_test(impossible_heads),
        cmocka_unit_test(only_positions_notice_a_shuffle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
