/* decode.beam, decode.width: the tree is a beam search's by its own numbers, width 1 is decode.greedy, the truth's beam
 * finds the mode, and what is asked for otherwise changes what it ought to. */
#include <math.h>
#include <string.h>

#include "small_model.h"

static bool state_is(const Table *tree, long row, const char *state) {
    return strcmp(cell_text(tree, row, "state"), state) == 0;
}

static bool has_parent(const Table *tree, long row) {
    return !table_is_empty(tree, row, table_find(tree, "parent"));
}

/* What must hold in every tree, whatever the numbers: WIDTH are taken per step, at most PRUNED more are listed and are
 * no likelier, and every node is its parent and a token. */
static void check_tree(const Table *tree, int width, int pruned, bool length_norm, long *steps) {
    *steps = 0;
    for (long i = 0; i < table_rows(tree);) {
        long long depth = cell_int(tree, i, "depth");
        int taken = 0, left = 0;
        double last = 0;
        assert_int_equal(depth, ++*steps);
        for (; i < table_rows(tree) && cell_int(tree, i, "depth") == depth; i++) {
            double log_p = cell_real(tree, i, "log_p"), before = 0;
            assert_int_equal(cell_int(tree, i, "node"), i);
            assert_int_equal(has_parent(tree, i), depth > 1);
            if (has_parent(tree, i)) {
                long parent = (long)cell_int(tree, i, "parent");
                assert_int_equal(cell_int(tree, parent, "depth"), depth - 1);
                assert_true(state_is(tree, parent, "kept"));
                before = cell_real(tree, parent, "log_p");
            }
            assert_true(log_p <= before);
            if (i > 0 && cell_int(tree, i - 1, "depth") == depth) assert_true(log_p <= last + 1e-9);
            assert_near(cell_real(tree, i, "score"), length_norm ? log_p / (double)depth : log_p, 1e-12);
            if (state_is(tree, i, "pruned"))
                left++;
            else
                assert_int_equal(left, 0), taken++;
            last = log_p;
        }
        assert_in_range(taken, 1, width);
        assert_in_range(left, 0, pruned);
        if (left) assert_int_equal(taken, width);
    }
}

static void every_tree_is_one(void **state) {
    (void)state;
    static const struct {
        const char *pairs[5];
        int width, pruned;
        bool length_norm;
    } cases[] = {{{"width=4"}, 4, 4, false},
                 {{"width=1", "pruned=3"}, 1, 3, false},
                 {{"width=5", "pruned=0", "length_norm=1", "tokens=14"}, 5, 0, true},
                 {{"width=16", "of=truth", "prompt="}, 16, 16, false},
                 {{"width=3", "of=truth", "length_norm=1", "pruned=1"}, 3, 1, true},
                 {{"width=2", "ids=54,21", "tokens=6"}, 2, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const *p = cases[i].pairs;
        Study *s = run_study("decode.beam", small_model_pair, p[0], p[1], p[2], p[3], p[4], NULL);
        Table *tree = study_result(s, "tree"), *stop = study_result(s, "stop");
        long steps;
        check_tree(tree, cases[i].width, cases[i].pruned, cases[i].length_norm, &steps);
        assert_int_equal(table_rows(stop), 1);
        assert_int_equal(cell_int(stop, 0, "step"), steps - 1);
        table_free(tree);
        table_free(stop);
        study_free(s);
    }
}

/* The rows of `best` are the finished nodes by falling score. */
static void the_best_are_the_finished(void **state) {
    (void)state;
    Study *s = run_study("decode.beam", "of=truth", "width=6", "length_norm=1", NULL);
    Table *tree = study_result(s, "tree"), *best = study_result(s, "best"), *stop = study_result(s, "stop");
    int finished = 0;
    double most = (double)-INFINITY, attainable = (double)-INFINITY;
    for (long i = 0; i < table_rows(tree); i++) {
        finished += state_is(tree, i, "finished");
        if (state_is(tree, i, "finished")) most = fmax(most, cell_real(tree, i, "score"));
        if (state_is(tree, i, "open")) attainable = fmax(attainable, cell_real(tree, i, "log_p") / 64);
        assert_int_equal(state_is(tree, i, "finished"),
                         !state_is(tree, i, "pruned") && strcmp(cell_text(tree, i, "token"), "</s>") == 0);
        assert_near(cell_real(tree, i, "true_log_p"), cell_real(tree, i, "log_p"), 1e-9);
    }
    assert_true(finished > 1);
    assert_int_equal(table_rows(best), finished);
    assert_near(cell_real(best, 0, "score"), most, 0);
    for (long i = 0; i < finished; i++) {
        assert_int_equal(cell_int(best, i, "rank"), i + 1);
        if (i > 0) assert_true(cell_real(best, i, "score") <= cell_real(best, i - 1, "score") + 1e-9);
        assert_int_equal(strncmp(cell_text(best, i, "text"), "the dog ", 8), 0);
    }
    assert_string_equal(cell_text(stop, 0, "reason"), "finished");
    assert_true(most >= attainable - 1e-9);
    table_free(tree);
    table_free(best);
    table_free(stop);
    study_free(s);
}

/* Lecture 3: greedy on the truth has .01389, the mode .04286; the beam finds it. */
static void the_truth_has_its_mode(void **state) {
    (void)state;
    Study *s = run_study("decode.beam", "of=truth", "width=8", NULL);
    Table *best = study_result(s, "best");
    assert_string_equal(cell_text(best, 0, "text"), "the dog eats bones every day .");
    assert_near(exp(cell_real(best, 0, "log_p")), 0.45 * 3 / 12 * 6 / 7 * 4 / 9, 1e-12);
    table_free(best);
    study_free(s);
    s = run_study("decode.beam", "of=truth", "width=1", NULL);
    best = study_result(s, "best");
    assert_string_equal(cell_text(best, 0, "text"), "the dog chases the cat in the morning .");
    assert_near(exp(cell_real(best, 0, "true_log_p")), 0.45 * 5 / 12 * 4 / 9 / 2 * 3 / 9, 1e-12);
    table_free(best);
    study_free(s);
}

static void width_one_is_greedy(void **state) {
    (void)state;
    static const char *const prompts[] = {"prompt=the owl", "prompt=the dogs near the", "prompt=", "ids=54,21"};
    for (size_t i = 0; i < sizeof prompts / sizeof *prompts; i++) {
        Study *beam = run_study("decode.beam", small_model_pair, prompts[i], "width=1", "pruned=0", "tokens=20", NULL);
        Study *greedy = run_study("decode.greedy", small_model_pair, prompts[i], "tokens=20", NULL);
        Table *tree = study_result(beam, "tree"), *path = study_result(greedy, "path");
        assert_int_equal(table_rows(tree), table_rows(path));
        double sum = 0, true_sum = 0;
        for (long k = 0; k < table_rows(path); k++) {
            sum += cell_real(path, k, "log_p");
            true_sum += log(cell_real(path, k, "true_p"));
            assert_int_equal(cell_int(tree, k, "id"), cell_int(path, k, "id"));
            assert_string_equal(cell_text(tree, k, "token"), cell_text(path, k, "token"));
            assert_near(cell_real(tree, k, "log_p"), sum, 1e-9);
            double got = cell_real(tree, k, "true_log_p");
            if (isnan(true_sum) || isinf(true_sum))
                assert_int_equal(isnan(got) + 2 * isinf(got), isnan(true_sum) + 2 * isinf(true_sum));
            else
                assert_near(got, true_sum, 1e-9);
        }
        table_free(tree);
        table_free(path);
        study_free(beam);
        study_free(greedy);
    }
}

/* No sentence is finished: the open ones are what there is. */
static void limits(void **state) {
    (void)state;
    Study *s = run_study("decode.beam", "of=truth", "tokens=2", "width=3", NULL);
    Table *best = study_result(s, "best"), *stop = study_result(s, "stop"), *tree = study_result(s, "tree");
    assert_string_equal(cell_text(stop, 0, "reason"), "tokens");
    assert_int_equal(cell_int(stop, 0, "step"), 1);
    assert_int_equal(table_rows(best), 3);
    assert_string_equal(cell_text(best, 0, "text"), "the dog chases the");
    assert_true(state_is(tree, 3 + 3, "open")); /* 3 kept and 3 pruned before */
    table_free(best);
    table_free(stop);
    table_free(tree);
    study_free(s);
    s = run_study("decode.beam", "of=truth", "end=3", "width=4", NULL); /* '.' ends it */
    best = study_result(s, "best");
    assert_string_equal(cell_text(best, 0, "text") + strlen(cell_text(best, 0, "text")) - 2, " .");
    table_free(best);
    study_free(s);
    s = run_study("decode.beam", small_model_pair, "end=0", "tokens=1000", "width=2", NULL); /* 64 tokens of context */
    stop = study_result(s, "stop");
    assert_string_equal(cell_text(stop, 0, "reason"), "context");
    assert_int_equal(cell_int(stop, 0, "step"), 64 - 3);
    table_free(stop);
    study_free(s);
}

static void what_is_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"end=56", "of=truth"}, {"of=truth", "prompt=dog the"}, {"of=truth", "ids=54,21"}, {"prompt=the zebra", NULL}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        study_free(run_study_until(STATUS_USAGE, "decode.beam", small_model_pair, bad[i][0], bad[i][1], NULL));
    study_free(run_study_until(STATUS_USAGE, "decode.width", small_model_pair, "prompt=dog", NULL));
    study_free(run_study_until(STATUS_USAGE, "decode.width", small_model_pair, "prompt=the dog eats bones every day .",
                               NULL)); /* no word follows */
}

/* The sums over the rows; width 3 finds what decode.beam finds after the same words. */
static void widths_and_subjects(void **state) {
    (void)state;
    Study *s = run_study("decode.width", small_model_pair, "widths=1,3", NULL);
    Table *found = study_result(s, "found"), *rows = study_result(s, "rows");
    assert_int_equal(table_rows(found), 2);
    assert_int_equal(table_rows(rows), 32);
    for (long w = 0; w < 2; w++) {
        double sum = 0;
        assert_int_equal(cell_int(found, w, "width"), w == 0 ? 1 : 3);
        assert_int_equal(cell_int(found, w, "subjects"), 16);
        for (long i = 0; i < 16; i++) sum += cell_real(rows, 16 * w + i, "log_p");
        assert_near(cell_real(found, w, "mean_log_p"), sum / 16, 1e-9);
    }
    assert_string_equal(cell_text(rows, 16, "subject"), "bat");
    Study *beam = run_study("decode.beam", small_model_pair, "prompt=the bat", "width=3", NULL);
    Table *best = study_result(beam, "best");
    assert_string_equal(cell_text(rows, 16, "text"), cell_text(best, 0, "text"));
    assert_near(cell_real(rows, 16, "log_p"), cell_real(best, 0, "log_p"), 0);
    assert_true(cell_real(rows, 16, "true_log_p") == cell_real(best, 0, "true_log_p")); /* -inf too */
    table_free(found);
    table_free(rows);
    table_free(best);
    study_free(s);
    study_free(beam);
}

/* A sentence counts as found when none after its subject is likelier. */
static void modes_are_counted(void **state) {
    (void)state;
    Study *s = run_study("decode.width", small_model_pair, "widths=4", "prompt=the cat eats", NULL);
    Table *found = study_result(s, "found"), *rows = study_result(s, "rows");
    int modes = 0;
    for (long i = 0; i < table_rows(rows); i++) {
        Str prompt;
        str_init(&prompt);
        str_addf(&prompt, "prompt=the cat eats %s", cell_text(rows, i, "subject"));
        Study *wide = run_study("decode.beam", "of=truth", "width=64", prompt.s, NULL);
        Table *best = study_result(wide, "best");
        double got = cell_real(rows, i, "true_log_p"), most = cell_real(best, 0, "log_p");
        modes += got >= most - 1e-9;
        table_free(best);
        study_free(wide);
        str_done(&prompt);
    }
    assert_int_equal(cell_int(found, 0, "modes_found"), modes);
    assert_int_equal(cell_int(found, 0, "subjects"), table_rows(rows));
    table_free(found);
    table_free(rows);
    study_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tree_is_one),
        cmocka_unit_test(the_best_are_the_finished),
        cmocka_unit_test(the_truth_has_its_mode),
        cmocka_unit_test(width_one_is_greedy),
        cmocka_unit_test(limits),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(widths_and_subjects),
        cmocka_unit_test(modes_are_counted),
    };
    return cmocka_run_group_tests(tests, small_model_make, small_model_remove);
}
