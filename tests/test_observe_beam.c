/* The beam's observer: its tree is decode.beam's, the marks lie on it, and what changed is told truly. */
#include "lab_fixture.h"

#include "beam_watch.h"
#include "decode/beam_model.h"
#include "decode/beam_truth.h"
#include "mem.h"
#include "observe.h"
#include "scene.h"
#include "stage.h"

#include <math.h>
#include <string.h>

static const char *cell_text(const Table *t, long row, const char *column) {
    return table_text(t, row, table_find(t, column));
}
static long cell_int(const Table *t, long row, const char *column) {
    return (long)table_int(t, row, table_find(t, column));
}
static double cell_real(const Table *t, long row, const char *column) {
    return table_real(t, row, table_find(t, column));
}
static bool cell_empty(const Table *t, long row, const char *column) {
    return table_is_empty(t, row, table_find(t, column));
}

static Snapshot *look(Stage *s, BeamSettings settings, long step) {
    s->scene.beam = settings;
    s->scene.step = step;
    return stage_look(s, "beam_samples"); /* and with them the tree */
}

/* Ids from the root to a node. */
static int path_of(const Table *tree, long node, int *ids) {
    int depth = (int)cell_int(tree, node, "depth");
    for (int at = depth; at > 0; at--) {
        ids[at - 1] = (int)cell_int(tree, node, "id");
        node = cell_empty(tree, node, "parent") ? -1 : cell_int(tree, node, "parent");
    }
    return depth;
}

/* Searched here once more, by hand. */
static void the_tree_is_that_of_a_search(void **state) {
    (void)state;
    static const BeamSettings settings[] = {{0}, {.width = 7, .length_norm = true}, {.width = 3, .truth = true}};
    for (size_t k = 0; k < 3; k++) {
        Stage *s = stage_new("the dogs near the cat", config_modern());
        Snapshot *seen = look(s, settings[k], 0);
        const Table *tree = snapshot_table(seen, "tree"), *row = snapshot_table(seen, "beam");
        BeamConfig c = {.width = settings[k].width ? settings[k].width : 4,
                        .tokens = 64,
                        .end = VOCAB_EOS,
                        .length_norm = settings[k].length_norm};
        c.pruned = c.width;
        NextMemo *memo = next_memo_new(s->corpus->language);
        BeamTruth *truth = beam_truth_new(memo, s->corpus->vocab, c.width);
        BeamModel *model = beam_model_new(s->model, NULL, c.width, 64);
        BeamSource source =
            settings[k].truth ? beam_truth_source(truth, s->ids, s->n) : beam_model_source(model, s->ids, s->n);
        Beam *b = beam_new(&c, &source);
        assert_ok(beam_run(b));
        assert_int_equal(table_rows(tree), beam_nodes(b));
        for (int i = 0; i < beam_nodes(b); i++) {
            const BeamNode *n = beam_node(b, i);
            assert_int_equal(cell_int(tree, i, "id"), n->id);
            assert_true(cell_real(tree, i, "log_p") == n->log_p && cell_real(tree, i, "score") == n->score);
            assert_string_equal(cell_text(tree, i, "state"), beam_state_name(n->state));
        }
        assert_int_equal(cell_int(row, 0, "width"), c.width);
        assert_int_equal(cell_int(row, 0, "length_norm"), c.length_norm);
        assert_string_equal(cell_text(row, 0, "of"), settings[k].truth ? "truth" : "model");
        assert_int_equal(cell_int(row, 0, "prompt_tokens"), s->n);
        assert_string_equal(cell_text(snapshot_table(seen, "stop"), 0, "reason"), beam_reason_name(beam_reason(b)));
        beam_free(b);
        beam_truth_free(truth);
        beam_model_free(model);
        next_memo_free(memo);
        snapshot_unref(seen);
        stage_free(s);
    }
}

/* The greedy path is marked from the root on, one node a step; samples pass as many nodes as they say. */
static void the_marks_lie_on_the_tree(void **state) {
    (void)state;
    for (int truth = 0; truth < 2; truth++) {
        Stage *s = stage_new("the dog", config_modern());
        Snapshot *seen = look(s, (BeamSettings){.width = 6, .truth = truth}, 0);
        const Table *tree = snapshot_table(seen, "tree"), *marks = snapshot_table(seen, "beam_marks");
        const Table *samples = snapshot_table(seen, "beam_samples"), *rivals = snapshot_table(seen, "beam_rivals");
        assert_int_equal(table_rows(marks), table_rows(tree));
        assert_int_equal(table_rows(samples), 20);
        long greedy = 0, visits = 0, depths = 0;
        for (long i = 0; i < table_rows(marks); i++) {
            bool on = cell_int(marks, i, "greedy") == 1, root = cell_empty(tree, i, "parent");
            if (on && !root) assert_int_equal(cell_int(marks, cell_int(tree, i, "parent"), "greedy"), 1);
            if (on) assert_int_equal(cell_int(tree, i, "depth"), ++greedy);
            if (!root)
                assert_true(cell_int(marks, cell_int(tree, i, "parent"), "samples") >= cell_int(marks, i, "samples"));
            visits += cell_int(marks, i, "samples");
            assert_true(cell_empty(marks, i, "new")); /* nothing to compare with */
        }
        assert_true(greedy >= 1);
        for (long i = 0; i < table_rows(samples); i++) {
            depths += cell_int(samples, i, "depth");
            assert_int_equal(cell_empty(samples, i, "node"), cell_int(samples, i, "depth") == 0);
            if (truth) assert_true(fabs(cell_real(samples, i, "log_p") - cell_real(samples, i, "true_log_p")) < 1e-9);
        }
        assert_int_equal(visits, depths);
        assert_string_equal(cell_text(rivals, 0, "of"), "beam");
        assert_string_equal(cell_text(rivals, 1, "of"), "greedy");
        assert_string_equal(cell_text(rivals, 2, "of"), "mode");
        assert_string_equal(cell_text(rivals, 2, "text"), "the dog eats bones every day .");
        assert_true(fabs(exp(cell_real(rivals, 2, "true_log_p")) - 0.45 * 3 / 12 * 6 / 7 * 4 / 9) < 1e-12);
        assert_string_equal(cell_text(rivals, 0, "text"), cell_text(snapshot_table(seen, "best"), 0, "text"));
        if (truth) {
            assert_string_equal(cell_text(rivals, 1, "text"), "the dog chases the cat in the morning .");
            assert_true(cell_real(rivals, 2, "log_p") >= cell_real(rivals, 0, "log_p") - 1e-9);
        }
        snapshot_unref(seen);
        stage_free(s);
    }
}

/* Only of the prompt, as far as it is visible; nothing follows the end; a prompt that no sentence has knows no truth.
 */
static void where_it_begins(void **state) {
    (void)state;
    Stage *s = stage_new("the dogs near the cat", config_modern());
    s->scene.prompt = 3;
    Snapshot *seen = look(s, (BeamSettings){0}, 0);
    assert_int_equal(cell_int(snapshot_table(seen, "beam"), 0, "prompt_tokens"), 3);
    snapshot_unref(seen);
    s->scene.visible = 2;
    seen = look(s, (BeamSettings){0}, 0);
    assert_int_equal(cell_int(snapshot_table(seen, "beam"), 0, "prompt_tokens"), 2);
    snapshot_unref(seen);
    stage_free(s);
    s = stage_new("dog dog", config_modern());
    seen = look(s, (BeamSettings){0}, 0);
    assert_true(cell_empty(snapshot_table(seen, "tree"), 0, "true_log_p"));
    assert_int_equal(table_rows(snapshot_table(seen, "beam_rivals")), 2); /* no mode */
    snapshot_unref(seen);
    seen = look(s, (BeamSettings){.truth = true}, 0);
    assert_null(snapshot_table(seen, "tree"));
    assert_int_equal(table_rows(snapshot_table(seen, "beam")), 1);
    snapshot_unref(seen);
    stage_free(s);
}

/* A model that moves a little: what is new is what the tree before had not taken. */
static void what_changed_is_told_truly(void **state) {
    (void)state;
    Stage *s = stage_new("the dog", config_modern());
    Snapshot *before = look(s, (BeamSettings){0}, 10);
    assert_true(cell_empty(snapshot_table(before, "beam"), 0, "compared_step"));
    Params *p = model_params(s->model);
    for (size_t i = 0; i < p->count; i++) p->x[i] += (real)(.002 * sin((double)i));
    Snapshot *after = look(s, (BeamSettings){0}, 11);
    assert_int_equal(cell_int(snapshot_table(after, "beam"), 0, "compared_step"), 10);
    const Table *old = snapshot_table(before, "tree"), *tree = snapshot_table(after, "tree");
    const Table *marks = snapshot_table(after, "beam_marks");
    int changed = 0, kept = 0;
    for (long i = 0; i < table_rows(tree); i++) {
        int ids[64], other[64], depth = path_of(tree, i, ids);
        bool was = false, taken = strcmp(cell_text(tree, i, "state"), "pruned") != 0;
        for (long k = 0; k < table_rows(old) && !was; k++)
            was = strcmp(cell_text(old, k, "state"), "pruned") != 0 && path_of(old, k, other) == depth &&
                  memcmp(ids, other, (size_t)depth * sizeof *ids) == 0;
        assert_int_equal(cell_int(marks, i, "new"), taken && !was);
        changed += taken && !was;
        kept += taken && was;
    }
    assert_true(changed > 0 && kept > 0);
    Snapshot *again = look(s, (BeamSettings){0}, 11); /* the same step: still against the one before */
    assert_int_equal(cell_int(snapshot_table(again, "beam"), 0, "compared_step"), 10);
    Snapshot *wider = look(s, (BeamSettings){.width = 5}, 12); /* another search has nothing before it */
    assert_true(cell_empty(snapshot_table(wider, "beam"), 0, "compared_step"));
    snapshot_unref(before);
    snapshot_unref(after);
    snapshot_unref(again);
    snapshot_unref(wider);
    stage_free(s);
}

static void expect_best(BeamWatch *w, uint64_t key, long step, const char *text, long since, const char *before) {
    long got;
    const char *was;
    beam_watch_best(w, key, step, text, &got, &was);
    assert_int_equal(got, since);
    assert_string_equal(was, before);
}

static void since_when_it_is_the_best(void **state) {
    (void)state;
    BeamWatch *w = beam_watch_new();
    expect_best(w, 1, 5, "a", 5, "");
    expect_best(w, 1, 6, "a", 5, "");
    expect_best(w, 1, 6, "a", 5, ""); /* the same step again */
    expect_best(w, 1, 9, "b", 9, "a");
    expect_best(w, 1, 12, "b", 9, "a");
    expect_best(w, 1, 13, "a", 13, "b");
    expect_best(w, 1, 4, "a", 4, "");   /* looking back */
    expect_best(w, 2, 14, "a", 14, ""); /* another prompt */
    beam_watch_forget(w);
    expect_best(w, 2, 15, "c", 15, "");
    beam_watch_free(w);
}

static void the_laboratory_takes_the_settings(void **state) {
    (void)state;
    Lab *l = fixture_lab(NULL);
    fixture_do(l, "watch beam");
    fixture_do(l, "beam width=3 length_norm=1 of=truth");
    Snapshot *s = lab_snapshot(l);
    const Table *row = snapshot_table(s, "beam"), *lines = snapshot_table(s, "state");
    assert_int_equal(cell_int(row, 0, "width"), 3);
    assert_string_equal(cell_text(row, 0, "of"), "truth");
    bool found = false;
    for (long i = 0; i < table_rows(lines); i++)
        found = found || strcmp(table_text(lines, i, 0), "beam width=3 length_norm=1 of=truth") == 0;
    assert_true(found);
    snapshot_unref(s);
    fixture_do(l, "beam length_norm=0");
    s = lab_snapshot(l);
    assert_int_equal(cell_int(snapshot_table(s, "beam"), 0, "length_norm"), 0);
    assert_int_equal(cell_int(snapshot_table(s, "beam"), 0, "width"), 3);
    snapshot_unref(s);
    fixture_do(l, "beam wider wider");
    fixture_do(l, "beam narrower");
    s = lab_snapshot(l);
    assert_int_equal(cell_int(snapshot_table(s, "beam"), 0, "width"), 4);
    snapshot_unref(s);
    fixture_refused(l, "beam width=33", "32");
    fixture_do(l, "beam width=32");
    fixture_refused(l, "beam wider", "32");
    fixture_do(l, "beam width=1");
    fixture_refused(l, "beam narrower", "at least 1");
    fixture_refused(l, "beam deep=3", "deep");
    lab_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_is_that_of_a_search),
        cmocka_unit_test(the_marks_lie_on_the_tree),
        cmocka_unit_test(where_it_begins),
        cmocka_unit_test(what_changed_is_told_truly),
        cmocka_unit_test(since_when_it_is_the_best),
        cmocka_unit_test(the_laboratory_takes_the_settings),
        cmocka_unit_test(all_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
