/* Two runs side by side: each has the bits that it would have alone, whatever is looked at, with one thread and two. */
#include "lab_fixture.h"

#include "mem.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 80 };

#define PLAN   "epochs=2"
#define RECIPE "window=2 ffn=geglu lr=0.01"

/* Hashes of all steps of a run alone. */
static void alone(const char *pairs, uint64_t hash[STEPS + 1]) {
    Lab *l = fixture_lab(pairs);
    for (int i = 0; i <= STEPS; i++) {
        if (i > 0) fixture_do(l, "step");
        hash[i] = lab_hash(l);
    }
    lab_free(l);
}

static void both_alone(uint64_t a[STEPS + 1], uint64_t b[STEPS + 1]) {
    alone(PLAN, a);
    alone(PLAN " " RECIPE, b);
    assert_true(a[0] == b[0] && a[1] != b[1]); /* the same beginning */
}

static void expect_run(Lab *l, char letter, long step, const uint64_t hash[STEPS + 1]) {
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.versus, letter);
    assert_int_equal(f.step, step);
    if (lab_hash(l) != hash[step]) fail_msg("run %c differs at step %ld", letter, step);
}

static void both_are_as_if_alone(void **state) {
    (void)state;
    uint64_t a[STEPS + 1], b[STEPS + 1];
    both_alone(a, b);
    for (int threads = 1; threads <= 2; threads++) {
        Lab *l = fixture_lab(threads == 1 ? PLAN : PLAN " threads=2");
        fixture_do(l, "until 3");
        fixture_do(l, "versus " RECIPE);
        expect_run(l, 'A', 3, a);
        assert_int_equal(fixture_facts(l).rival_head, 3); /* it has caught up */
        for (int i = 4; i <= 20; i++) {
            fixture_do(l, "step");
            expect_run(l, 'A', i, a);
            fixture_do(l, "versus other");
            expect_run(l, 'B', i, b);
            fixture_do(l, "versus other");
        }
        fixture_do(l, "versus B");
        fixture_do(l, "run");
        expect_run(l, 'B', STEPS, b);
        assert_int_equal(fixture_facts(l).state, RUN_FINISHED);
        fixture_do(l, "versus A");
        expect_run(l, 'A', STEPS, a);
        assert_int_equal(fixture_facts(l).state, RUN_FINISHED);
        lab_free(l);
    }
}

static void the_clock_goes_on_when_the_other_one_is_looked_at(void **state) {
    (void)state;
    uint64_t a[STEPS + 1], b[STEPS + 1];
    both_alone(a, b);
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "until 20");
    assert_ok(lab_do(l, "versus " RECIPE));
    for (int i = 0; i < 5; i++) assert_true(lab_turn(l)); /* B is at step 5 */
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.rival_head, 5);
    assert_int_equal(f.head, 20);
    assert_ok(lab_do(l, "versus B"));
    expect_run(l, 'B', 5, b);
    assert_ok(lab_do(l, "versus A"));
    assert_ok(lab_do(l, "versus B"));
    fixture_finish(l); /* as far as A is */
    expect_run(l, 'B', 20, b);
    assert_ok(lab_do(l, "run"));
    for (int i = 0; i < 10; i++) assert_true(lab_turn(l));
    assert_ok(lab_do(l, "versus A"));
    expect_run(l, 'A', 30, a);
    assert_int_equal(fixture_facts(l).state, RUN_RUNNING);
    for (int i = 0; i < 10; i++) assert_true(lab_turn(l));
    assert_ok(lab_do(l, "pause"));
    assert_false(lab_busy(l));
    fixture_do(l, "versus B");
    expect_run(l, 'B', 40, b);
    assert_false(lab_busy(l));
    lab_free(l);
}

static void the_past_is_looked_at_in_both(void **state) {
    (void)state;
    uint64_t a[STEPS + 1], b[STEPS + 1];
    both_alone(a, b);
    Lab *l = fixture_lab(PLAN " history=1");
    fixture_do(l, "versus " RECIPE);
    fixture_do(l, "until 50");
    static const int order[] = {33, 7, 0, 49, 8};
    for (int i = 0; i < 5; i++) {
        char line[32];
        snprintf(line, sizeof line, "seek %d", order[i]);
        fixture_do(l, line);
        bool of_a = i % 2 == 0;
        expect_run(l, of_a ? 'A' : 'B', order[i], of_a ? a : b);
        fixture_do(l, "versus other");
        expect_run(l, of_a ? 'B' : 'A', order[i], of_a ? b : a);
        assert_int_equal(fixture_facts(l).head, 50);
    }
    fixture_do(l, "seek 20");
    fixture_do(l, "fork"); /* of B: both */
    fixture_do(l, "until 30");
    expect_run(l, 'B', 30, b);
    fixture_do(l, "versus A");
    expect_run(l, 'A', 30, a);
    Snapshot *s = lab_snapshot(l);
    assert_int_equal(table_rows(snapshot_table(s, "curve")), 30);
    assert_int_equal(table_rows(snapshot_table(s, "rival_curve")), 30);
    snapshot_unref(s);
    lab_free(l);
}

static void what_is_set_is_of_the_one_that_is_looked_at(void **state) {
    (void)state;
    uint64_t a[STEPS + 1], b[STEPS + 1];
    both_alone(a, b);
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "until 10");
    fixture_do(l, "versus " RECIPE);
    fixture_do(l, "versus B");
    fixture_do(l, "until 20");
    fixture_do(l, "set softcap 3");
    assert_string_equal(fixture_log(l), "20 set softcap 3");
    assert_string_equal(fixture_facts(l).run_name[1], "ffn=geglu window=2 softcap=3 lr=0.01");
    fixture_do(l, "until 40");
    assert_true(lab_hash(l) != b[40]);
    uint64_t changed = lab_hash(l);
    fixture_do(l, "versus A");
    expect_run(l, 'A', 40, a);
    assert_string_equal(fixture_log(l), "");
    fixture_do(l, "until 50");
    fixture_do(l, "seek 40");
    fixture_do(l, "versus B");
    assert_true(lab_hash(l) == changed);
    fixture_do(l, "seek 20");
    expect_run(l, 'B', 20, b);
    fixture_do(l, "live");
    fixture_do(l, "set layers 1"); /* other parameters: B alone begins again, and catches up */
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.versus, 'A');
    assert_int_equal(f.rival_head, 50);
    fixture_do(l, "versus B");
    assert_int_equal(fixture_facts(l).layers, 1);
    fixture_do(l, "versus off");
    assert_int_equal(fixture_facts(l).versus, 0);
    fixture_do(l, "run");
    assert_true(lab_hash(l) == a[STEPS]);
    lab_free(l);
}

static void both_learn_from_the_same_batches(void **state) {
    (void)state;
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "until 10");
    uint64_t hash = lab_hash(l);
    static const char *const others[] = {"batch=8", "epochs=3", "seed=2", "sentences=320", "corpus=morph"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char line[64];
        snprintf(line, sizeof line, "versus %s", others[i]);
        fixture_refused(l, line, "same batches");
    }
    fixture_refused(l, "versus window=0 heads=3", "16 / 3");
    fixture_refused(l, "versus d=16", "different");
    fixture_refused(l, "versus window", "window");
    fixture_refused(l, "versus off", "one run");
    fixture_refused(l, "versus B", "versus KEY=VALUE");
    assert_int_equal(fixture_facts(l).versus, 0);
    fixture_do(l, "versus layers=1 arch=gpt");
    SnapshotFacts f = fixture_facts(l);
    assert_string_equal(f.run_name[0], "modern context=32");
    assert_string_equal(f.run_name[1], "arch=gpt layers=1");
    fixture_refused(l, "set batch 8", "versus off");
    fixture_refused(l, "versus seed=3", "same batches"); /* and B is still there */
    assert_int_equal(fixture_facts(l).versus, 'A');
    assert_true(lab_hash(l) == hash);
    fixture_do(l, "restart");
    assert_int_equal(fixture_facts(l).versus, 0); /* a new run is alone */
    lab_free(l);
}

static void one_may_diverge(void **state) {
    (void)state;
    uint64_t a[STEPS + 1];
    alone(PLAN, a);
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "versus norm=none optimizer=sgd lr=1000");
    fixture_do(l, "run");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.step, STEPS);
    assert_true(lab_hash(l) == a[STEPS]);
    assert_true(f.rival_head < STEPS);
    fixture_do(l, "versus B");
    assert_int_equal(fixture_facts(l).state, RUN_DIVERGED);
    fixture_refused(l, "run", "diverged");
    lab_free(l);
}

static void tables_hold_both(void **state) {
    (void)state;
    size_t before = mem_count().live;
    char path[80], line[120], text[100];
    snprintf(path, sizeof path, "/tmp/lantern_test_versus_%ld.csv", (long)getpid());
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "versus " RECIPE);
    fixture_do(l, "until 60");
    fixture_do(l, "versus B"); /* the order is that of the letters, whatever is looked at */
    Snapshot *s = lab_snapshot(l);
    Table *curve = lab_versus_curve(s), *test = lab_versus_test(s);
    assert_int_equal(table_rows(curve), 120);
    assert_int_equal(table_rows(test), 2); /* at step 50 */
    assert_string_equal(table_text(curve, 59, 0), "A");
    assert_string_equal(table_text(curve, 60, 0), "B");
    assert_int_equal(table_int(curve, 60, 1), 1);
    const SnapshotFacts *f = snapshot_facts(s);
    double of_a = table_real(curve, 59, 3), of_b = table_real(curve, 119, 3);
    assert_true(fabs(of_b - f->loss) <= 0 && fabs(of_a - f->rival_loss) <= 0 && of_a != of_b);
    assert_true(fabs(table_real(test, 0, 3) - f->rival_test_nll) <= 0);
    assert_true(fabs(table_real(test, 1, 3) - f->test_nll) <= 0);
    assert_int_equal(f->rival_test_step, 50);
    table_free(curve);
    table_free(test);
    snapshot_unref(s);
    snprintf(line, sizeof line, "write versus %s", path);
    fixture_do(l, line);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "run,step,tokens,loss,learning_rate,grad_norm,tokens_per_s\n");
    fclose(file);
    remove(path);
    fixture_do(l, "versus off");
    fixture_refused(l, line, "no table");
    lab_free(l);
    assert_int_equal(mem_count().live, before);
}

static void both_are_kept_in_files(void **state) {
    (void)state;
    uint64_t a[STEPS + 1], b[STEPS + 1];
    both_alone(a, b);
    char path[2][80], line[200];
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "/tmp/lantern_test_versus_%ld_%d.model", (long)getpid(), i);
    for (int front = 0; front < 2; front++) { /* A is looked at, then B */
        Lab *l = fixture_lab(PLAN);
        fixture_do(l, "versus " RECIPE);
        fixture_do(l, "until 20");
        if (front) fixture_do(l, "versus B");
        snprintf(line, sizeof line, "save %s", path[0]);
        fixture_do(l, line);
        snprintf(line, sizeof line, "versus save %s", path[1]);
        fixture_do(l, line);
        lab_free(l);
        l = fixture_lab("arch=gpt batch=8");
        snprintf(line, sizeof line, "open %s", path[0]);
        fixture_do(l, line);
        snprintf(line, sizeof line, "versus open %s %c", path[1], front ? 'A' : 'B');
        fixture_do(l, line);
        assert_string_equal(fixture_facts(l).run_name[1], "ffn=geglu window=2 lr=0.01");
        fixture_do(l, "until 30");
        expect_run(l, front ? 'B' : 'A', 30, front ? b : a);
        fixture_do(l, "versus other");
        expect_run(l, front ? 'A' : 'B', 30, front ? a : b);
        fixture_do(l, "versus off");
        fixture_do(l, "until 40");
        assert_true(lab_hash(l) == a[40]);
        fixture_do(l, "restart batch=8");
        snprintf(line, sizeof line, "versus open %s B", path[1]);
        fixture_refused(l, line, "did not learn from the batches");
        lab_free(l);
    }
    remove(path[0]);
    remove(path[1]);
}

/* The file names its text by the whole path, the run beside it by the one that was typed. */
static void the_same_text_is_the_same_by_any_path(void **state) {
    (void)state;
    char text[80], path[80], line[200];
    snprintf(text, sizeof text, "/tmp/lantern_test_versus_%ld.txt", (long)getpid());
    snprintf(path, sizeof path, "/tmp/lantern_test_versus_%ld.model", (long)getpid());
    FILE *f = fopen(text, "w");
    assert_non_null(f);
    for (int i = 0; i < 90; i++) fprintf(f, "the owl of %d sings of %d foxes\n", i, i % 7);
    assert_int_equal(fclose(f), 0);
    snprintf(line, sizeof line, PLAN " corpus=../../../../../../../../..%s lr=0.02", text);
    Lab *l = fixture_lab(line);
    fixture_do(l, "until 5");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    fixture_do(l, "restart lr=0.01");
    snprintf(line, sizeof line, "versus open %s B", path);
    fixture_do(l, line);
    assert_string_equal(fixture_facts(l).run_name[1], "lr=0.02");
    fixture_do(l, "until 10");
    f = fopen(text, "a");
    assert_non_null(f);
    fputs("one more\n", f);
    assert_int_equal(fclose(f), 0);
    fixture_refused(l, line, "cannot be trained on: ");
    lab_free(l);
    remove(text);
    remove(path);
}

/* While the model of an experiment is looked at both wait; the sentence stays when runs of other shapes take turns. */
static void others_may_be_looked_at_meanwhile(void **state) {
    (void)state;
    size_t before = mem_count().live;
    char path[80], line[120];
    snprintf(path, sizeof path, "/tmp/lantern_test_versus_%ld.model", (long)getpid());
    Lab *l = fixture_lab(PLAN);
    fixture_do(l, "prompt the owl");
    fixture_do(l, "versus heads=4 layers=3 head_dim=4 kv_heads=4");
    fixture_do(l, "until 5");
    fixture_do(l, "head 2 2 off");
    fixture_do(l, "versus B");
    SnapshotFacts f = fixture_facts(l);
    assert_int_equal(f.prompt_tokens, 3);
    assert_int_equal(f.layers, 3);
    assert_string_equal(f.tamper, "");
    fixture_do(l, "head 3 4 off");
    snprintf(line, sizeof line, "save %s", path);
    fixture_do(l, line);
    snprintf(line, sizeof line, "visit %s it", path);
    fixture_do(l, line);
    assert_int_equal(fixture_facts(l).versus, 0);
    fixture_do(l, "leave");
    f = fixture_facts(l);
    assert_int_equal(f.versus, 'B');
    assert_int_equal(f.step, 5);
    fixture_do(l, "step");
    fixture_do(l, "versus A");
    assert_int_equal(fixture_facts(l).head, 6);
    assert_ok(lab_do(l, line)); /* and the end comes while they wait */
    lab_free(l);
    remove(path);
    assert_int_equal(mem_count().live, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_as_if_alone),
        cmocka_unit_test(the_clock_goes_on_when_the_other_one_is_looked_at),
        cmocka_unit_test(the_past_is_looked_at_in_both),
        cmocka_unit_test(what_is_set_is_of_the_one_that_is_looked_at),
        cmocka_unit_test(both_learn_from_the_same_batches),
        cmocka_unit_test(one_may_diverge),
        cmocka_unit_test(tables_hold_both),
        cmocka_unit_test(both_are_kept_in_files),
        cmocka_unit_test(the_same_text_is_the_same_by_any_path),
        cmocka_unit_test(others_may_be_looked_at_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
